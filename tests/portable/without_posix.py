"""Take away what only some systems have, before anything is imported: ``pytest -p tests.portable.without_posix``.

What is left is what Windows has: no fcntl, resource, fork, links without following, positioned reads, sysconf or signal
of processor time; no library without a name (renameat2); no waiting for pipes; and no open lock that can be removed.
"""

from __future__ import annotations

import ctypes
import multiprocessing
import os
import select
import signal
import sys
from typing import Any

MODULES = ("fcntl", "resource", "pwd", "grp", "termios")
OF_OS = ("fork", "forkpty", "O_CLOEXEC", "O_NOFOLLOW", "O_NONBLOCK", "sysconf", "pread", "pwrite", "mkfifo")
OF_SIGNALS = ("SIGXCPU", "SIGALRM", "SIGHUP", "alarm")


def take_away() -> None:
    """Do it, in this process; it is not undone."""
    for name in MODULES:
        sys.modules[name] = None  # type: ignore[assignment]
    for place, names in ((os, OF_OS), (signal, OF_SIGNALS)):
        for name in names:
            if hasattr(place, name):
                delattr(place, name)
    ctypes.CDLL = _named_library_of(ctypes.CDLL)  # type: ignore[misc]
    select.select = _of_sockets_alone(select.select)
    multiprocessing.set_start_method("spawn", force=True)
    os.link = _following(os.link)
    _keep_open_locks()


def _named_library_of(library: Any) -> Any:
    class Named(library):  # type: ignore[misc]
        def __init__(self, name: Any, *arguments: Any, **options: Any) -> None:
            if name is None:
                raise TypeError("argument of type 'NoneType' is not iterable")  # as Windows has it
            super().__init__(name, *arguments, **options)

    return Named


def _of_sockets_alone(wait: Any) -> Any:
    import socket

    def select_sockets(*lists: Any) -> Any:
        if any(not isinstance(one, (socket.socket, int)) for one in (*lists[0], *lists[1], *lists[2])):
            raise OSError(10038, "An operation was attempted on something that is not a socket")
        return wait(*lists)

    return select_sockets


def _following(link: Any) -> Any:
    def plain_link(source: Any, target: Any, *, follow_symlinks: bool = True, **others: Any) -> None:
        if not follow_symlinks or others:
            raise NotImplementedError("link: follow_symlinks unavailable on this platform")
        link(source, target)

    return plain_link


def _keep_open_locks() -> None:
    """Refuse to remove a lock that this process has open."""
    opened: dict[int, str] = {}
    real_open, real_close, real_unlink = os.open, os.close, os.unlink

    def open_noting(path: Any, flags: int, *arguments: Any, **options: Any) -> int:
        descriptor = real_open(path, flags, *arguments, **options)
        if os.fsdecode(path).endswith(("lock", ".fits")):
            opened[descriptor] = os.path.abspath(path)  # noqa: PTH100
        return descriptor

    def close_noting(descriptor: int) -> None:
        opened.pop(descriptor, None)
        real_close(descriptor)

    def unlink_closed(path: Any, **options: Any) -> None:
        if not options and os.path.abspath(path) in opened.values():  # noqa: PTH100
            raise PermissionError(
                13, "The process cannot access the file because it is being used by another process"
            )
        real_unlink(path, **options)

    os.open, os.close, os.unlink = open_noting, close_noting, unlink_closed


take_away()
