"""One process at a time, and moments in which no signal ends it."""

from __future__ import annotations

import contextlib
import hashlib
import os
import signal
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from evalreport.errors import OutputError

PATIENCE = 60.0
"""Seconds to wait for a living process that writes to the same place: that takes it a moment."""
LONGEST_NAME = 200
"""Bytes; with what makes it hidden, a longer one would not fit into the 255 that file systems take."""


@contextlib.contextmanager
def alone(path: Path) -> Iterator[None]:
    """Keep other processes from the same path until the block has ended, or until this process has.

    The lock is a file beside the path, or inside it where its folder cannot be written to, and goes with the block. On
    a file system without locks nothing keeps two processes apart.

    Raises
    ------
    OutputError
        Another process keeps this one out for ``PATIENCE``.
    OSError
        This user may not write there.
    """
    beside = os.access(path.parent, os.W_OK | os.X_OK)
    lock = hidden(path, "lock") if beside else path / ".evalreport-lock"
    deadline = time.monotonic() + PATIENCE
    while True:
        descriptor = os.open(lock, os.O_RDWR | os.O_CREAT | getattr(os, "O_NOFOLLOW", 0), 0o600)
        held = False
        try:
            held = _locked(descriptor, lock)
            if held:
                yield
                return
        finally:
            with uninterrupted():
                # An interrupt may have come before it was known whether the lock was got.
                if held or _locked(descriptor, lock):
                    lock.unlink(missing_ok=True)
                os.close(descriptor)
        if time.monotonic() > deadline:
            raise OutputError(f"{path}: another evalreport is writing there; wait for it, and try again")
        time.sleep(0.01)


def hidden(path: Path, purpose: str) -> Path:
    """Give the place of a temporary file or folder beside a path."""
    name = path.name
    if len(os.fsencode(name)) > LONGEST_NAME:
        name = hashlib.sha256(os.fsencode(name)).hexdigest()[:16]
    return path.parent / f".{name}.evalreport-{purpose}"


def _locked(descriptor: int, path: Path) -> bool:
    try:
        import fcntl

        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    except (ImportError, OSError):  # there are none
        return True
    try:
        # Whoever held it has removed it, and another process may have made it anew.
        return os.path.samestat(os.fstat(descriptor), path.stat())
    except FileNotFoundError:
        return False


@contextlib.contextmanager
def uninterrupted() -> Iterator[None]:
    """Hold SIGINT and SIGTERM back until the block has ended; then they act as ever."""
    before: dict[signal.Signals, Any] = {}
    held: list[int] = []
    try:
        # Handlers run in the main thread, and no other may set them.
        if threading.current_thread() is threading.main_thread():
            for number in (signal.SIGINT, signal.SIGTERM):
                if (
                    signal.getsignal(number) is not None
                ):  # None: set outside of Python, and could not be put back
                    before[number] = signal.signal(number, lambda number, _frame: held.append(number))
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
        for one in held:
            signal.raise_signal(one)
