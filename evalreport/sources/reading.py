"""What every reader returns, and the readers of all formats by the suffixes of files."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path, PurePath
from typing import Protocol

import pyarrow as pa
import pyarrow.compute as pc

from evalreport.errors import InputError
from evalreport.predictions.arrays import Arrow
from evalreport.predictions.cells import Kind, all_numbers, keep, stacked
from evalreport.texts import Message, has, say

UNSAFE_SUFFIXES = (".pkl", ".pickle", ".joblib", ".pt", ".pth", ".rds", ".rdata", ".h5", ".bin")


def how_written(suffix: str) -> str:
    """Say how the predictions in a file of a format that is not read are written as one that is."""
    key = f"converted.{suffix.lower().removeprefix('.')}"
    return say(key) if has(key) else say("converted.other")


MOST_COLUMNS = 5_000


MOST_TEXTS = 100_000
"""A column of more different texts is no column of groups: prompts, answers, explanations."""


OF_AGGREGATE = {b"evalreport": b"aggregate"}
"""The remark in a Parquet file that it belongs to an aggregate, whose manifest says how it is read."""


Choose = Callable[[tuple[str, ...]], Mapping[str, Kind]]
"""Given the headers, say which are to be read and how they are kept."""


Locate = Callable[[int, str | None], tuple[int | None, str]]
"""Given a row (from 0) and a header: the line of the file (None in a binary one) and the cell's own text."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Dialect:
    """How a file of delimited text is written.

    Attributes
    ----------
    delimiter
        What separates its cells.
    decimal_comma
        Whether its numbers have a decimal comma.
    quotes_text
        Whether every text stands in quotes, so that a bare NA is a missing value and one in quotes is text.
    nameless
        Whether the header is one name short: R leaves out that of its row names, which stand first.
    announced
        Whether the first line is no header but names the separator, as ``sep=;`` does for Excel.
    """

    delimiter: str
    decimal_comma: bool = False
    quotes_text: bool = False
    nameless: bool = False
    announced: bool = False


@dataclass(frozen=True, slots=True)
class Columns:
    """The columns of a source: Arrow arrays, whole or in chunks, by header (string, dictionary of strings, or double).

    In a double array nan marks a cell that is not a finite number, null an empty one.
    """

    names: tuple[str, ...]
    arrays: Mapping[str, Arrow]
    rows: int
    locate: Locate
    left_out: Mapping[str, Message] = field(default_factory=dict)
    """Metadata that was not kept, with the reason."""
    texts: frozenset[str] = frozenset()
    """Headers of the columns whose type is text, in a typed source."""
    of_aggregate: bool = False
    """Whether the file says that it belongs to an aggregate."""
    dialect: Dialect | None = None
    """How a file of delimited text is written."""


@dataclass(frozen=True, slots=True)
class Source:
    """One table of predictions or of true values that is not read yet.

    Attributes
    ----------
    name
        What messages call it.
    model
        The model whose predictions it holds where it has no column ``model``.
    read
        Reads the columns that are chosen.
    part
        Other sources may hold more rows of the same model: parts in one folder.
    in_memory
        It is no file: where it has no ids, its rows are known by their position.
    """

    name: str
    model: str
    read: Callable[[Choose], Columns]
    part: bool = False
    in_memory: bool = False


class Reader(Protocol):
    """The function that reads a format; ``read_file`` documents parameters, result and errors."""

    def __call__(
        self, path: Path, name: str, choose: Choose, /, *, memory_limit: int | None = None
    ) -> Columns:
        """Read one file."""


FORMATS: dict[str, Reader] = {}
"""The reader of each format, by suffix without the first dot."""


WRITABLE: list[str] = []
"""The formats that ``evalreport import`` can write, too."""


def reads(*suffixes: str, writable: bool = False) -> Callable[[Reader], Reader]:
    """Register the reader of the files whose names end so; ``writable``: imports are written so, too.

    Raises
    ------
    ValueError
        A suffix has a reader already.
    """

    def register(reader: Reader) -> Reader:
        for suffix in suffixes:
            if suffix in FORMATS:
                raise ValueError(f"the format {suffix} is registered twice")
            FORMATS[suffix] = reader
            if writable:
                WRITABLE.append(suffix)
        return reader

    return register


def file_format(path: PurePath) -> str | None:
    """Return the format that a file's name says, None where it is none of ours."""
    name = path.name.lower()
    matching = [suffix for suffix in FORMATS if name.endswith("." + suffix)]
    return max(matching, key=len) if matching else None


def dotted(formats: Iterable[str] = FORMATS.keys()) -> tuple[str, ...]:
    """Return the suffixes of formats as names of files end."""
    return tuple(f".{suffix}" for suffix in formats)


def readable() -> str:
    """List the suffixes of all formats, as messages and help do."""
    return ", ".join(dotted())


def model_name(path: PurePath) -> str:
    """Return the name that a file gives its model: everything before the format's suffix."""
    suffix = file_format(path)
    return path.name[: -len(suffix) - 1] if suffix else path.stem


class NoRowError(InputError):
    """A file holds no row, which a part of a model may."""


def empty_file(name: str) -> InputError:
    """Say that a file holds no row."""
    return NoRowError.of("no_row", file=name)


def too_many_columns(count: int, name: str) -> InputError:
    """Say that a file has more columns than predictions have."""
    return InputError.of("too_many_columns", file=name, line=1, n=count, most_columns=MOST_COLUMNS)


def literal_path(path: Path) -> str:
    """Spell a path so that DuckDB's file patterns match it literally."""
    text = str(path.absolute())
    return "".join(f"[{mark}]" if mark in "*?[" else mark for mark in text)


def quote_name(name: str) -> str:
    """Quote an SQL name."""
    return '"' + name.replace('"', '""') + '"'


def quote_text(text: str) -> str:
    """Quote an SQL string."""
    return "'" + text.replace("'", "''") + "'"


def keep_batches(
    batches: Iterator[pa.RecordBatch],
    names: tuple[str, ...],
    kinds: Mapping[str, Kind],
    locate: Locate,
    *,
    decimal_comma: bool = False,
) -> Columns:
    """Turn a stream of record batches into one chunked array a column, each batch in its small form at once.

    Parameters
    ----------
    batches
        Record batches with the columns of ``kinds``, in that order.
    names, locate
        Every header of the file, and where a row of it stands.
    kinds
        How each column is kept.
    decimal_comma
        Whether columns of numbers may have a decimal comma.
    """
    pieces: dict[str, list[pa.Array]] = {header: [] for header in kinds}
    optional = [header for header, kind in kinds.items() if kind == "optional"]
    texts: dict[str, pa.Array] = {header: pa.nulls(0, pa.string()) for header in optional}
    rows = 0
    for batch in batches:
        rows += batch.num_rows
        for position, (header, kind) in enumerate(kinds.items()):
            if header not in pieces:
                continue
            column = batch.column(position)
            if decimal_comma and kind == "number":
                column = pc.replace_substring_regex(column, r"^([^,]*),([^,]*)$", r"\1.\2")
            kept = keep(column, kind)
            # Text is kept as it came, and would keep all the other columns of its batch alive: copied.
            pieces[header].append(pa.concat_arrays([kept]) if kind == "text" else kept)
            if header in texts and not all_numbers(kept):
                texts[header] = pc.unique(pa.concat_arrays([texts[header], kept.dictionary]))
                if len(texts[header]) > MOST_TEXTS:
                    del pieces[header]
    arrays = {header: stacked(arrays) for header, arrays in pieces.items()} if rows else {}
    why = Message("unused.free_text", most=MOST_TEXTS)
    left_out = {header: why for header in kinds if header not in pieces}
    return Columns(names, arrays, rows, locate, left_out)
