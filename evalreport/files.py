"""Files that are handed in, read whole: regular ones, and no larger than what they can be."""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Iterable
from pathlib import Path
from typing import Any

MOST_BYTES = 500_000_000
"""The largest file that is read whole: the results of a thousand classes have a fifth of this."""
MOST_NESTED = 100
_DEEP = "it is nested too deeply"


def content_of(path: str | Path) -> bytes:
    """Return a file's bytes.

    Raises
    ------
    OSError
        There is none that this user may read, it is no regular file (a pipe would be waited for without end), or it
        is larger than ``MOST_BYTES``.
    """
    # Without O_NONBLOCK the call itself waits until somebody writes to the pipe.
    descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC | getattr(os, "O_NONBLOCK", 0))
    with open(descriptor, "rb") as stream:  # noqa: PTH123 - a descriptor, not a path
        found = os.fstat(descriptor)
        if stat.S_ISDIR(found.st_mode):
            raise IsADirectoryError(errno.EISDIR, "it is a folder")
        if not stat.S_ISREG(found.st_mode):
            raise OSError(errno.EINVAL, "it is no regular file")
        if found.st_size > MOST_BYTES:
            raise OSError(errno.EFBIG, f"it is larger than {MOST_BYTES // 10**6} MB")
        return stream.read(MOST_BYTES)


def toml_of(path: Path) -> dict[str, Any]:
    """Return the content of a TOML file.

    Raises
    ------
    OSError, UnicodeDecodeError, tomllib.TOMLDecodeError
        It cannot be read, is no UTF-8 or no TOML; also where it is nested too deeply, or holds a number without end.
    """
    import tomllib

    text = content_of(path).decode("utf-8-sig")
    try:
        found = tomllib.loads(text)
    except RecursionError:
        raise tomllib.TOMLDecodeError(_DEEP) from None
    except ValueError as error:
        raise tomllib.TOMLDecodeError(str(error)) from None
    level: list[Any] = [found]
    for _ in range(MOST_NESTED):
        level = [part for value in level for part in _parts(value)]
        if not level:
            return found
    raise tomllib.TOMLDecodeError(_DEEP)


def _parts(value: Any) -> Iterable[Any]:
    return value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
