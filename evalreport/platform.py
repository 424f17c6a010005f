"""Every call to the system that is not on every system, each with a plain fallback.

Linux has all of them. What else a system lacks is in SECURITY.md and docs/reliability.md: ``limits_processes`` and
``exchanges_folders`` say it at run time.
"""

from __future__ import annotations

import contextlib
import errno
import os
import signal
from pathlib import Path
from types import ModuleType
from typing import Any

# --- files --------------------------------------------------------------------------------------------------------


def open_to_read(path: str | Path) -> int:
    """Open a file to be read as bytes; a pipe that nobody writes to is not waited for where the system allows it."""
    return os.open(path, os.O_RDONLY | _flag("O_NONBLOCK") | _flag("O_BINARY"))


def open_to_lock(path: str | Path, mode: int = 0o600, *, follow: bool = False) -> int:
    """Open a file to be read, written and locked; make it where there is none. A link is refused unless followed."""
    flags = os.O_RDWR | os.O_CREAT | _flag("O_BINARY")
    return os.open(path, flags if follow else flags | _flag("O_NOFOLLOW"), mode)


def _flag(name: str) -> int:
    flag: int = getattr(os, name, 0)
    return flag


LOCKED_BYTE = 1 << 30
"""Windows locks bytes and not files, also beyond the end of a file: this one holds nothing."""


def lock(descriptor: int) -> bool:
    """Lock an open file against other processes, without waiting; the lock ends with the descriptor.

    Returns
    -------
    bool
        False: another process has it. On a system or file system without locks it is always got.
    """
    fcntl, msvcrt = _fcntl(), _msvcrt()
    try:
        if fcntl is not None:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        elif msvcrt is not None:
            place = os.lseek(descriptor, 0, os.SEEK_CUR)
            os.lseek(descriptor, LOCKED_BYTE, os.SEEK_SET)
            try:
                msvcrt.locking(descriptor, msvcrt.LK_NBLCK, 1)
            finally:
                os.lseek(descriptor, place, os.SEEK_SET)
    except (BlockingIOError, PermissionError):
        return False
    except OSError as error:
        return error.errno not in (errno.EAGAIN, errno.EACCES, errno.EDEADLK)
    return True


def remove_and_close(path: Path, descriptor: int) -> None:
    """Remove an open file and close it; where a system removes no open file, in the other order."""
    try:
        path.unlink(missing_ok=True)
    except PermissionError:
        os.close(descriptor)
        with contextlib.suppress(OSError):  # another process has opened it meanwhile, and removes it
            path.unlink(missing_ok=True)
        return
    os.close(descriptor)


def read_at_start(descriptor: int, size: int) -> bytes:
    """Read the first bytes of an open file."""
    os.lseek(descriptor, 0, os.SEEK_SET)
    return os.read(descriptor, size)


def overwrite(descriptor: int, content: bytes) -> None:
    """Replace the content of an open file."""
    os.ftruncate(descriptor, 0)
    os.lseek(descriptor, 0, os.SEEK_SET)
    os.write(descriptor, content)


def flush_to_disk(path: Path) -> None:
    """Have a file's content written to the disk; Windows wants it open for writing.

    Raises
    ------
    OSError
        The disk is full or broken.
    """
    with path.open("r+b") as stream:
        os.fsync(stream)


def link(source: Path, target: Path) -> None:
    """Give a file a second name, or copy it where the system or the file system has no such links."""
    try:
        os.link(source, target, follow_symlinks=False)
    except (AttributeError, NotImplementedError, OSError):
        import shutil

        shutil.copy2(source, target, follow_symlinks=False)


def attributes(folder: Path) -> dict[str, bytes]:
    """Return the extended attributes of a folder; none where the system or the file system has none."""
    try:
        return {name: os.getxattr(folder, name) for name in os.listxattr(folder)}
    except (AttributeError, OSError):
        return {}


_CURRENT_FOLDER = -100  # AT_FDCWD
_EXCHANGE = 2  # RENAME_EXCHANGE


def exchange(a: Path, b: Path) -> None:
    """Let two folders change places in one step.

    Raises
    ------
    OSError
        This system or file system cannot do that; nothing was changed.
    """
    call = _renameat2()
    if call is None:
        raise OSError(errno.ENOSYS, os.strerror(errno.ENOSYS))
    import ctypes

    if call(_CURRENT_FOLDER, os.fsencode(a), _CURRENT_FOLDER, os.fsencode(b), _EXCHANGE):
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number), str(b))


def exchanges_folders() -> bool:
    """Return whether this system can exchange two folders in one step; a file system may still refuse."""
    return _renameat2() is not None


def _renameat2() -> Any | None:
    """Return the system call of Linux, or None."""
    import ctypes

    try:
        return ctypes.CDLL(None, use_errno=True).renameat2
    except (AttributeError, OSError, TypeError):  # Windows has no library without a name
        return None


# --- memory and processes -----------------------------------------------------------------------------------------

ASSUMED_MEMORY = 4 * 1024**3
"""Bytes that a machine is taken to have where the system does not say."""


def memory() -> int:
    """Return the bytes of memory that this machine has."""
    try:
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (AttributeError, OSError, ValueError):
        return ASSUMED_MEMORY


def limits_processes() -> bool:
    """Return whether this system limits the memory and the processor time of a process."""
    return _resource() is not None


def limit_memory(more: int) -> None:
    """Limit this process to so many bytes more than it has; where the system cannot, nothing happens."""
    resource = _resource()
    if resource is None:
        return
    with contextlib.suppress(OSError, ValueError):
        used = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[0]) * resource.getpagesize()
        resource.setrlimit(resource.RLIMIT_AS, (used + more, used + more))
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


def limit_time(seconds: float) -> None:
    """Let the system end this process after this much more processor time, even if its parent is gone."""
    resource = _resource()
    if resource is None:
        return
    with contextlib.suppress(OSError, ValueError):
        used = resource.getrusage(resource.RUSAGE_SELF)
        limit = int(used.ru_utime + used.ru_stime + seconds) + 1
        resource.setrlimit(resource.RLIMIT_CPU, (limit, resource.getrlimit(resource.RLIMIT_CPU)[1]))


def out_of_time(code: int) -> bool:
    """Return whether an exit code is that of a process which had used up its processor time."""
    number = getattr(signal, "SIGXCPU", None)
    return number is not None and code == -number


def _fcntl() -> ModuleType | None:
    try:
        import fcntl
    except ImportError:
        return None
    return fcntl


def _msvcrt() -> ModuleType | None:
    try:
        import msvcrt
    except ImportError:
        return None
    return msvcrt


def _resource() -> ModuleType | None:
    try:
        import resource
    except ImportError:
        return None
    return resource
