"""One file of predictions -> its columns, by the reader of its format, which is fetched when it is needed."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from evalreport.data.columns import Kind
from evalreport.data.reading import (
    MOST_COLUMNS,
    Choose,
    Columns,
    empty_file,
    file_format,
    too_many_columns,
)
from evalreport.errors import InputError


def read_file(path: Path, name: str, choose: Choose, *, memory_limit: int | None = None) -> Columns:
    """Read one prediction file.

    Parameters
    ----------
    path
        Where the file is.
    name
        What messages call it.
    choose
        Which headers are read, and how.
    memory_limit
        Bytes that DuckDB may use; None: a share of what is there.

    Raises
    ------
    InputError
        Where the file may not be read, is empty, no text in UTF-8, ragged, truncated, or not of the format that
        its name says.
    UsageError
        Where the memory limit leaves no room to read it.
    """
    suffix = file_format(path)
    assert suffix is not None, "the folder was sifted before"
    _check_readable(path, name)
    if path.stat().st_size == 0:
        raise empty_file(name)

    def few(names: tuple[str, ...]) -> Mapping[str, Kind]:
        if len(names) > MOST_COLUMNS:
            raise too_many_columns(len(names), name)
        return choose(names)

    if suffix.startswith(("csv", "tsv")):
        from evalreport.data.delimited import read_delimited

        read = read_delimited(path, name, few, memory_limit=memory_limit)
    elif suffix.startswith("jsonl"):
        from evalreport.data.json_lines import read_json_lines

        read = read_json_lines(path, name, few, memory_limit=memory_limit)
    else:
        from evalreport.data.binary import read_binary

        read = read_binary(path, name, few, memory_limit=memory_limit)
    if read.rows == 0:
        raise empty_file(name)
    return read


def _check_readable(path: Path, name: str) -> None:
    try:
        path.open("rb").close()
    except OSError as error:
        raise InputError(
            f"the file cannot be opened: {error.strerror}",
            file=name,
            expected="a file that this user may read",
            remedy="give this user the right to read it, or write the file again",
        ) from None
