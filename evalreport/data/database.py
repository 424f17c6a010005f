"""DuckDB, shut off from everything outside, within a limit of memory; what has no room lies in a private folder."""

from __future__ import annotations

import os
import re
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from evalreport.errors import UsageError

SHARE_OF_MEMORY = 0.8
"""What may be used of this machine's memory (or this container's) where no limit is given."""
_NO_ROOM = re.compile("^(out of memory error|.*no space left on device)", re.IGNORECASE)
_CGROUP_LIMITS = ("/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory/memory.limit_in_bytes")


@contextmanager
def database(memory_limit: int | None = None) -> Iterator[Any]:
    """Open an in-memory DuckDB that fetches nothing from anywhere.

    Parameters
    ----------
    memory_limit
        Bytes; beyond them DuckDB writes to a folder of its own, which is removed. None: a share of what is there.

    Raises
    ------
    UsageError
        Where the limit leaves no room to work in.
    """
    import duckdb

    limit = usable_memory() if memory_limit is None else memory_limit
    with tempfile.TemporaryDirectory(prefix="evalreport-") as folder:
        settings: dict[str, str | bool | int | float | list[str]] = {
            "autoinstall_known_extensions": "false",
            "autoload_known_extensions": "false",
            "threads": "2",
            "memory_limit": f"{limit}B",
            "temp_directory": folder,
        }
        try:
            with duckdb.connect(":memory:", config=settings) as connection:
                # Standard output carries what was asked for, and nothing else.
                connection.execute("SET enable_progress_bar = false")
                yield connection
        except (duckdb.Error, OSError) as error:
            # While rows are fetched, Arrow passes DuckDB's errors on as OSErrors.
            if isinstance(error, duckdb.OutOfMemoryException) or _NO_ROOM.search(str(error)):
                raise _no_room(limit, error) from None
            raise


def usable_memory() -> int:
    """Return the bytes that may be used: a share of the machine's memory, or of what its container is given."""
    total = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    for name in _CGROUP_LIMITS:
        try:
            given = Path(name).read_text(encoding="ascii").strip()
        except (OSError, ValueError):
            continue
        if given.isdigit():
            total = min(total, int(given))
    return int(SHARE_OF_MEMORY * total)


def _no_room(limit: int, error: Exception) -> UsageError:
    said = str(error).splitlines()[0][:160]
    return UsageError(
        f"the memory limit of {limit / 1e6:,.0f} MB leaves no room to read and sort ({said});"
        " give more with --memory-limit, and see that the folder for temporary files has room"
    )
