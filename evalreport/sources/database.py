"""DuckDB in this process, and the memory that it may use."""

from __future__ import annotations

import re
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from contextvars import ContextVar
from pathlib import Path

import duckdb

from evalreport import platform
from evalreport.errors import UsageError

SHARE_OF_MEMORY = 0.8
"""What may be used of this machine's memory (or this container's) where no limit is given."""


_NO_ROOM = re.compile("^(out of memory error|.*no space left on device)", re.IGNORECASE)


_SHARED: ContextVar[tuple[ExitStack, dict[int | None, duckdb.DuckDBPyConnection]] | None] = ContextVar(
    "databases", default=None
)
"""The databases that are open, by their limits, and what closes them."""


_CGROUP_LIMITS = ("/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory/memory.limit_in_bytes")


@contextmanager
def database(memory_limit: int | None = None) -> Iterator[duckdb.DuckDBPyConnection]:
    """Open an in-memory DuckDB that fetches nothing from anywhere.

    Parameters
    ----------
    memory_limit
        Bytes; beyond them DuckDB writes to a temporary folder. None: a share of this machine's memory.

    Raises
    ------
    UsageError
        Where the limit leaves no room to work in.
    """
    shared = _SHARED.get()
    try:
        if shared is None:
            with ExitStack() as stack:
                yield _opened_database(memory_limit, stack)
            return
        stack, known = shared
        if memory_limit not in known:
            known[memory_limit] = _opened_database(memory_limit, stack)
        with known[memory_limit].cursor() as connection:
            connection.execute("SET enable_progress_bar = false")
            yield connection
    except (duckdb.Error, OSError) as error:
        # While rows are fetched, Arrow passes DuckDB's errors on as OSErrors.
        if type(error).__name__ == "OutOfMemoryException" or _NO_ROOM.search(str(error)):
            raise _no_room(memory_limit or usable_memory(), error) from None
        raise


@contextmanager
def one_database() -> Iterator[None]:
    """Open no database twice within: it takes 20 ms, nearly all that reading a small file takes."""
    if _SHARED.get() is not None:
        yield
        return
    with ExitStack() as stack:
        token = _SHARED.set((stack, {}))
        try:
            yield
        finally:
            _SHARED.reset(token)


def _opened_database(memory_limit: int | None, stack: ExitStack) -> duckdb.DuckDBPyConnection:
    settings: dict[str, str | bool | int | float | list[str]] = {
        "autoinstall_known_extensions": "false",
        "autoload_known_extensions": "false",
        "threads": "2",
        "memory_limit": f"{memory_limit or usable_memory()}B",
        "temp_directory": stack.enter_context(tempfile.TemporaryDirectory(prefix="evalreport-")),
    }
    connection = stack.enter_context(duckdb.connect(":memory:", config=settings))
    # Standard output carries the requested output alone.
    connection.execute("SET enable_progress_bar = false")
    return connection


def usable_memory() -> int:
    """Return the bytes that may be used: a share of the machine's memory, or of what its container is given."""
    total = platform.memory()
    for name in _CGROUP_LIMITS:
        try:
            given = Path(name).read_text(encoding="ascii").strip()
        except (OSError, ValueError):
            continue
        if given.isdigit():
            total = min(total, int(given))
    return int(SHARE_OF_MEMORY * total)


def _no_room(limit: int, error: Exception) -> UsageError:
    reason = str(error).splitlines()[0][:160]
    return UsageError(
        f"the memory limit of {limit / 1e6:,.0f} MB leaves no room to read and sort ({reason});"
        " give more with --memory-limit, and see that the folder for temporary files has room"
    )
