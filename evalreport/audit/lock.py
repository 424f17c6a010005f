"""One audit of a series at a time: a file lock beside SQLite's file, an advisory lock on PostgreSQL.

Both end with the process, however it ends, so that no lock is ever left behind.
"""

from __future__ import annotations

import contextlib
import os
import socket
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from evalreport.audit.connection import History, translated
from evalreport.audit.record import series_key
from evalreport.errors import HistoryError
from evalreport.texts import Message, Text

POLL = 0.2
"""Seconds between two looks at a lock that another audit holds."""


@contextmanager
def locked(
    history: History, series: str, *, wait: float, say: Callable[[Text], None] | None = None
) -> Iterator[None]:
    """Hold the lock of a series while the block runs.

    Parameters
    ----------
    wait
        Seconds to wait for another audit of the series; 0: none.
    say
        Told once, in a sentence, that there is something to wait for.

    Raises
    ------
    HistoryError
        Another audit of the series still ran after that time; or the lock could not be made.
    """
    holding = _file_lock(history, series) if history.path is not None else _server_lock(history, series)
    with holding as attempt:
        deadline, told = time.monotonic() + wait, False
        while (holder := attempt()) is not None:
            left = deadline - time.monotonic()
            if left <= 0:
                raise HistoryError(
                    f"another audit of the series {series!r} is running ({holder}): nothing was done; try again when it"
                    " has ended, or wait for it with --wait SECONDS"
                )
            if say is not None and not told:
                say(Message("cli.audit.waiting", seconds=wait, series=series, holder=holder))
            told = True
            time.sleep(min(POLL, left))
        yield


Attempt = Callable[[], Text | None]
"""Tries to take the lock: None where it was taken, else who holds it."""


@contextmanager
def _file_lock(history: History, series: str) -> Iterator[Attempt]:
    import fcntl

    assert history.path is not None
    # The file stays: whoever removed it would take it from under one that waits.
    path = Path(f"{history.path}.{series_key(series, 'audit'):016x}.lock")
    try:
        descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o666)
    except OSError as error:
        raise HistoryError(f"{path}: cannot be made ({error.strerror}): audits lock their history") from error

    def attempt() -> str | None:
        """Take the lock; return who holds it where that fails."""
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return os.pread(descriptor, 200, 0).decode("utf-8", "replace").strip() or "it has just begun"
        # Who holds it is a courtesy: a full disk must not keep an audit from its work.
        with contextlib.suppress(OSError):
            os.ftruncate(descriptor, 0)
            os.pwrite(descriptor, f"process {os.getpid()} on {socket.gethostname()}\n".encode(), 0)
        return None

    try:
        yield attempt
    finally:
        os.close(descriptor)


@contextmanager
def _server_lock(history: History, series: str) -> Iterator[Attempt]:
    from sqlalchemy import text
    from sqlalchemy.exc import DBAPIError

    with translated(history):
        connection = history.engine.connect()
    try:
        # Of the session, not of a transaction, which the server would see idle for as long as the work takes.
        connection.execution_options(isolation_level="AUTOCOMMIT")

        def attempt() -> Message | None:
            """Take the lock; return who holds it where that fails."""
            with translated(history):
                taken = connection.execute(
                    text("SELECT pg_try_advisory_lock(:key)"), {"key": series_key(series, "audit")}
                )
                return None if taken.scalar_one() else Message("lock.server")

        yield attempt
    finally:
        # A connection that was lost on the way took the lock with it; recording notices what came in between.
        with contextlib.suppress(DBAPIError):
            connection.close()
