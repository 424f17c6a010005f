"""One file of predictions -> its columns, by the reader of its format, which is fetched when it is needed."""

from __future__ import annotations

import csv
import io
import itertools
import json
import re
import zlib
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from pathlib import Path

import duckdb
import numpy as np
import pyarrow as pa

from evalreport.errors import InputError
from evalreport.files import with_each_key_once
from evalreport.predictions.cells import Kind, combined, from_numpy, from_texts, keep
from evalreport.predictions.spelling import MISSING_WORDS, is_missing
from evalreport.sources.database import database
from evalreport.sources.dialects import (
    DECIMAL_COMMA,
    BrokenRecord,
    Record,
    dialect_of,
    has_decimal_comma,
    records,
)
from evalreport.sources.files import File
from evalreport.sources.reading import (
    FORMATS,
    MOST_COLUMNS,
    Choose,
    Columns,
    Dialect,
    Locate,
    Source,
    empty_file,
    file_format,
    keep_batches,
    literal_path,
    quote_name,
    quote_text,
    reads,
    too_many_columns,
)
from evalreport.sources.unpacking import BYTES_A_BLOCK, blocks, is_gzipped, opened, room_of
from evalreport.texts import say

_ROWS_A_BATCH = 500_000
_ROWS_A_SLOW_BATCH = 50_000
_LONGEST_CELL = 16_000_000
_LONGEST_LINE = 2 * _LONGEST_CELL
_CUT_IN_TWO = re.compile(r"(?<![^,])[+-]?\d+,\d+(?![^,])", re.ASCII)
_LONE_RETURN = re.compile(rb"(?<=\r)(?!\n)")


@reads("csv", "tsv", "csv.gz", "tsv.gz", writable=True)
def read_delimited(path: Path, name: str, choose: Choose, *, memory_limit: int | None = None) -> Columns:
    """Read a .csv, .tsv, .csv.gz or .tsv.gz file.

    Raises
    ------
    InputError
        Where it is not UTF-8, ragged, truncated or no text at all; the message names the line.
    """
    dialect, names = header_of(path, name)
    kinds = choose(names)
    room = room_of(path, name, memory_limit, streamed=True)

    def locate(row: int, header: str | None) -> tuple[int | None, str]:
        for number, record in enumerate(_filled(_records(path, name, dialect))):
            if number == row + 1:
                return record.line, record.cells[names.index(header)] if header is not None else ""
        return None, ""

    try:
        # DuckDB takes a NUL byte for a letter; to us it says that the file is no text. And it finds no row at all below
        # a header that holds a line break, where the rows end otherwise.
        broken = any(set("\r\n") & set(header) for header in names)
        if broken or any(b"\0" in block for block in blocks(path, room)):
            raise duckdb.InvalidInputException
        read = _read_fast(path, names, kinds, dialect, locate, memory_limit)
    except (duckdb.Error, OSError, EOFError, zlib.error):
        read = _read_slowly(path, name, names, kinds, dialect, locate)
    return replace(_with_decimal_points(read, kinds) if dialect.decimal_comma else read, dialect=dialect)


def header_of(path: Path, name: str) -> tuple[Dialect, tuple[str, ...]]:
    """Return how a file of delimited text is written, and its header.

    Raises
    ------
    InputError
        It is no text in UTF-8, or has no header.
    """
    dialect = _dialect(path, name)
    return dialect, _header(path, name, dialect)


def _dialect(path: Path, name: str) -> Dialect:
    usual = "\t" if ".tsv" in path.name.lower()[-7:] else ","
    with _faults(path, name), ExitStack() as stack:
        return dialect_of(lambda: _lines(stack.enter_context(opened(path)), name), usual)


def _read_fast(
    path: Path,
    names: tuple[str, ...],
    kinds: Mapping[str, Kind],
    dialect: Dialect,
    locate: Locate,
    memory_limit: int | None,
) -> Columns:
    # Columns are named by their positions: a header can hold anything.
    layout = ", ".join(f"{quote_text(f'c{i}')}: 'VARCHAR'" for i in range(len(names)))
    places = [f"c{place}" for place in _places(names, kinds)]
    chosen = ", ".join(map(quote_name, places))
    options = [
        f"columns={{{layout}}}",
        f"delim={quote_text(dialect.delimiter)}",
        f"compression='{'gzip' if is_gzipped(path) else 'none'}'",
        f"header={'false' if dialect.nameless else 'true'}, skip={dialect.nameless + dialect.announced}",
    ]
    if dialect.quotes_text:
        kept = [place for place, kind in zip(places, kinds.values(), strict=True) if kind != "labels"]
        words = ", ".join(map(quote_text, ("", *MISSING_WORDS)))
        options.append(f"nullstr=[{words}], allow_quoted_nulls=false")
        if kept:
            options.append(f"force_not_null=[{', '.join(map(quote_text, kept))}]")
            chosen = ", ".join(f"nullif({quote_name(place)}, '')" for place in places)
    source = f"read_csv(?, auto_detect=false, {', '.join(options)}, quote='\"', escape='\"')"
    query = f"SELECT {chosen or '1'} FROM {source}"  # noqa: S608  every part is quoted, the path is bound
    with database(memory_limit) as connection:
        reader = connection.sql(query, params=[literal_path(path)]).to_arrow_reader(_ROWS_A_BATCH)
        return keep_batches(iter(reader), names, kinds, locate, decimal_comma=dialect.decimal_comma)


def _places(names: tuple[str, ...], kinds: Mapping[str, Kind]) -> list[int]:
    """Return where the columns in use stand; a header may be repeated where it is empty."""
    first = {header: place for place, header in reversed(list(enumerate(names)))}
    return [first[header] for header in kinds]


def _read_slowly(
    path: Path, name: str, names: tuple[str, ...], kinds: Mapping[str, Kind], dialect: Dialect, locate: Locate
) -> Columns:
    """Find the fault and name its line; one without (mixed line ends, long cells) is read after all."""
    records = _filled(_records(path, name, dialect))
    next(records)
    places = _places(names, kinds)
    labels = [place for place, kind in zip(places, kinds.values(), strict=True) if kind == "labels"]
    whole = _whole_rows(records, names, name)
    rows = (_without_bare_words(r, labels) if dialect.quotes_text else r.cells for r in whole)
    batches = _batches(rows, places)
    return keep_batches(batches, names, kinds, locate, decimal_comma=dialect.decimal_comma)


def _without_bare_words(record: Record, places: Sequence[int]) -> list[str]:
    """Empty the cells of labels that hold a word for a missing value without quotes."""
    quoted = record.quoted()
    cells = list(record.cells)
    for place in places:
        if not quoted[place] and is_missing(cells[place]):
            cells[place] = ""
    return cells


def _batches(rows: Iterator[list[str]], places: list[int]) -> Iterator[pa.RecordBatch]:
    """Turn some records at a time into a record batch of the columns at these positions."""
    while some := list(itertools.islice(rows, _ROWS_A_SLOW_BATCH)):
        columns = [pa.array([row[place] or None for row in some], pa.string()) for place in places]
        yield pa.record_batch(columns, names=[str(place) for place in places])


def _halves(cells: Sequence[str]) -> int:
    """Count the numbers with a decimal comma that a comma as separator cuts in two: a whole number, then digits."""
    return len(_CUT_IN_TWO.findall(",".join(cells)))


def _whole_rows(records: Iterator[Record], names: tuple[str, ...], name: str) -> Iterator[Record]:
    for record in records:
        if len(record.cells) != len(names):
            cells, headers = len(record.cells), len(names)
            commas = record.delimiter == "," and _halves(record.cells) >= cells - headers > 0
            or_comma = say("unusable.or_comma") if commas else ""
            raise InputError.of(
                "ragged_row", file=name, line=record.line, cells=cells, headers=headers, or_comma=or_comma
            )
        yield record


def _with_decimal_points(read: Columns, kinds: Mapping[str, Kind]) -> Columns:
    """Write decimal points into texts that are numbers with a decimal comma; into all columns of labels or none."""
    coded = {h: combined(array) for h, array in read.arrays.items() if kinds[h] not in ("text", "number")}
    texts = {header: array.dictionary.to_pylist() for header, array in coded.items()}
    numbers = {header for header in coded if has_decimal_comma(texts[header], ";")}
    labels = {header for header in coded if kinds[header] == "labels"}
    if any(DECIMAL_COMMA.fullmatch(text) for header in labels - numbers for text in texts[header]):
        numbers -= labels  # in one of their columns 2,5 is text
    arrays = dict(read.arrays)
    for header, array in coded.items():
        if header in numbers:
            pointed = from_texts([text.replace(",", ".") for text in texts[header]])
            arrays[header] = pa.DictionaryArray.from_arrays(array.indices, pointed)
    return replace(read, arrays=arrays)


def _header(path: Path, name: str, dialect: Dialect) -> tuple[str, ...]:
    for record in _records(path, name, dialect):
        if record.cells:
            return ("", *record.cells) if dialect.nameless else tuple(record.cells)
        break
    raise InputError.of("no_header", file=name, line=1)


def _records(path: Path, name: str, dialect: Dialect) -> Iterator[Record]:
    """Yield each record with the line on which it begins; of an empty line it has no cells.

    Raises
    ------
    InputError
        Where a line is not text in UTF-8 or a quote is never closed, or the archive is broken.
    """
    with _faults(path, name), opened(path) as stream:
        begun = itertools.islice(_lines(stream, name), dialect.announced, None)
        for record in records(begun, dialect.delimiter):
            yield replace(record, line=record.line + dialect.announced)


@contextmanager
def _faults(path: Path, name: str) -> Iterator[None]:
    """Turn the errors of delimited text into an InputError, and allow long cells."""
    previous_limit = csv.field_size_limit(_LONGEST_CELL)
    try:
        yield
    except BrokenRecord as error:
        raise InputError.of("broken_row", file=name, line=error.line, error=error) from None
    except (OSError, EOFError, zlib.error) as error:
        raise _cut_short(path, name, error) from None
    finally:
        csv.field_size_limit(previous_limit)


def _filled(records: Iterator[Record]) -> Iterator[Record]:
    return (record for record in records if record.cells)


def _lines(stream: io.BufferedIOBase, name: str) -> Iterator[str]:
    for number, raw in enumerate(_split(stream), start=1):
        if number == 1 and raw.startswith((b"\xff\xfe", b"\xfe\xff")):
            raise InputError.of("text_in_utf_16", file=name, line=number)
        if len(raw) > _LONGEST_LINE:
            raise InputError.of(
                "long_line", file=name, line=number, longest_line=f"{_LONGEST_LINE / 1000000.0:,.0f}"
            )
        if number == 1 and raw.startswith(b"PK\x03\x04"):
            raise InputError.of("archive_as_text", file=name, line=number)
        if b"\0" in raw:
            raise InputError.of("not_text", file=name, line=number)
        try:
            yield raw.decode("utf-8-sig" if number == 1 else "utf-8")
        except UnicodeDecodeError as error:
            raise _not_utf_8(name, number, raw, error.start) from None


def _not_utf_8(name: str, line: int, raw: bytes, place: int) -> InputError:
    """Return the error of a line with the encoding that it has most likely: of Windows, or of Unix and R."""
    found = f"{raw[place]:#04x}"
    likely = "cp1252" if any(0x80 <= byte <= 0x9F for byte in raw) else "latin-1"
    return InputError.of("not_utf_8", file=name, line=line, byte=found, encoding=likely)


def _split(stream: io.BufferedIOBase) -> Iterator[bytes]:
    """Split at line feeds and at lone carriage returns; a line that is too long is cut."""
    left = b""
    while piece := stream.readline(BYTES_A_BLOCK):
        left += piece
        if b"\r" in left.removesuffix(b"\r\n"):
            # One at the very end may be half of an end of line: what follows tells.
            held = b"\r" if left.endswith(b"\r") else b""
            *whole, left = _LONE_RETURN.split(left.removesuffix(held))
            left += held
            yield from whole
        if left.endswith(b"\n") or len(left) > _LONGEST_LINE:
            yield left
            left = b""
    if left:
        yield left


def _cut_short(path: Path, name: str, error: Exception) -> InputError:
    return InputError.of("cut_short_archive" if is_gzipped(path) else "cut_short", file=name, error=error)


_LONGEST_JSON_LINE = 1 << 24


@reads("jsonl", "jsonl.gz", writable=True)
def read_json_lines(path: Path, name: str, choose: Choose, *, memory_limit: int | None = None) -> Columns:
    """Read a .jsonl or .jsonl.gz file.

    Raises
    ------
    InputError
        Where a line is no JSON object in UTF-8, or the archive is broken; the message names the line.
    """

    def locate(row: int, header: str | None) -> tuple[int | None, str]:
        for number, (line, record) in enumerate(_json_records(path, name)):
            if number == row:
                cell = None if header is None else record.get(header)
                return line, "" if cell is None else str(cell)
        return None, ""

    compression = "gzip" if is_gzipped(path) else "uncompressed"  # which every version of duckdb knows
    # A line of JSON can be long (a prompt beside its judgement), yet not endless.
    source = f"read_ndjson_objects(?, compression='{compression}', maximum_object_size={_LONGEST_JSON_LINE})"
    parameters = [literal_path(path)]
    if is_gzipped(path):
        _check_room(path, name, memory_limit)
    try:
        with database(memory_limit) as connection:
            # An object that names a key twice leaves a doubt which value is meant.
            keys = "json_keys(json)"
            objects = f"json_type(json) = 'OBJECT' AND len({keys}) = len(list_distinct({keys}))"
            objects = f"count(*) FILTER ({objects})"
            counted = connection.execute(_select(f"count(*), {objects}", source), parameters).fetchone()
            if counted is None or counted[0] == 0:
                return Columns((), {}, 0, lambda _row, _header: (None, ""))
            if counted[1] < counted[0]:
                raise _fault(path, name, "a line is no JSON object, or names a key twice")
            keys = _select("DISTINCT unnest(json_keys(json)) AS name", source) + " ORDER BY name"
            rows = connection.execute(keys, parameters).fetchall()
            names = tuple(row[0] for row in rows if row[0])
            kinds = choose(names)
            reader = connection.sql(_query(kinds, source), params=parameters).to_arrow_reader(_ROWS_A_BATCH)
            return keep_batches(iter(reader), names, kinds, locate)
    except duckdb.Error as error:
        raise _fault(path, name, str(error).splitlines()[0]) from None


def _check_room(path: Path, name: str, memory_limit: int | None) -> None:
    """Unpack the archive once: DuckDB neither keeps to a limit nor compares the check sum."""
    try:
        for _ in blocks(path, room_of(path, name, memory_limit, streamed=True)):
            pass
    except (OSError, EOFError, zlib.error) as error:
        raise _fault(path, name, str(error)) from None


def _query(kinds: Mapping[str, Kind], source: str) -> str:
    cells = []
    for header in kinds:
        pointer = quote_text("/" + header.replace("~", "~0").replace("/", "~1"))
        # A JSON true is written as pandas writes it to a CSV file, the text "true" is left alone; a number that is
        # whole, such as 1e5 or 1.0, without exponent and decimals, as those of a column of numbers.
        text, kind = f"json_extract_string(json, {pointer})", f"json_type(json, {pointer})"
        number = f"TRY_CAST({text} AS DOUBLE)"
        cells.append(
            f"CASE WHEN {kind} = 'BOOLEAN' THEN upper({text}[1]) || {text}[2:] "
            f"WHEN {kind} = 'DOUBLE' AND {number} = floor({number}) AND abs({number}) < 1e15 "
            f"THEN CAST(CAST({number} AS BIGINT) AS VARCHAR) ELSE {text} END"
        )
    return _select(", ".join(cells) or "1", source)


def _select(what: str, source: str) -> str:
    return f"SELECT {what} FROM {source}"  # noqa: S608  headers are quoted, the path is bound


def _fault(path: Path, name: str, fallback: str) -> InputError:
    try:
        for _ in _json_records(path, name):
            pass
    except InputError as error:
        return error
    problem = f"the file cannot be read as JSON Lines ({fallback[:160]})"
    return InputError.of("broken_json_lines", file=name, problem=problem)


def _json_records(path: Path, name: str) -> Iterator[tuple[int, dict[str, object]]]:
    line = 0
    try:
        with opened(path) as stream:
            for line, raw in enumerate(iter(lambda: stream.readline(_LONGEST_JSON_LINE + 1), b""), start=1):
                if len(raw) > _LONGEST_JSON_LINE:
                    raise _not_an_object(
                        name, line, f"the line is longer than {_LONGEST_JSON_LINE / 1e6:,.0f} MB"
                    )
                if not raw.strip():
                    continue
                record = json.loads(raw.decode("utf-8"), object_pairs_hook=with_each_key_once)
                if not isinstance(record, dict):
                    raise _not_an_object(name, line, "the line is no JSON object")
                yield line, record
    except UnicodeDecodeError as error:
        raise _not_utf_8(name, line, error.object, error.start) from None
    except ValueError as error:
        raise _not_an_object(name, line, f"the line is no JSON ({error})") from None
    except RecursionError:
        raise _not_an_object(name, line, "the line is nested too deeply") from None
    except (OSError, EOFError, zlib.error) as error:
        raise _cut_short(path, name, error) from None


def _not_an_object(name: str, line: int, problem: str) -> InputError:
    return InputError.of("broken_json_line", file=name, line=line, problem=problem)


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
        Bytes that DuckDB may use; None: a share of this machine's memory.

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

    read = FORMATS[suffix](path, name, few, memory_limit=memory_limit)
    if read.rows == 0:
        raise empty_file(name)
    return read


def _check_readable(path: Path, name: str) -> None:
    try:
        path.open("rb").close()
    except OSError as error:
        raise InputError.of("file_unreadable", file=name, why=error.strerror) from None


def source_of(file: File, *, memory_limit: int | None = None) -> Source:
    """Return a file as a source of its own columns and of those that its folders give."""

    def read(choose: Choose) -> Columns:
        given = file.belongs.columns
        if not given:
            return read_file(file.path, file.name, choose, memory_limit=memory_limit)
        chosen: Mapping[str, Kind] = {}

        def both(names: tuple[str, ...]) -> Mapping[str, Kind]:
            nonlocal chosen
            twice = next((name for name in names if name.strip() in given), None)
            if twice is not None:
                raise InputError.of("column_of_folder_too", file=file.name, column=twice)
            chosen = choose((*names, *given))
            return {name: kind for name, kind in chosen.items() if name not in given}

        columns = read_file(file.path, file.name, both, memory_limit=memory_limit)
        added = {name: (given[name], chosen[name]) for name in given if name in chosen}
        return _with_constants(columns, added, given)

    # The rows of an array are known by their position.
    array = file_format(file.path) == "npy"
    return Source(file.name, file.belongs.model, read, file.belongs.part, in_memory=array)


def _with_constants(
    columns: Columns, added: Mapping[str, tuple[str | None, Kind]], given: Mapping[str, str | None]
) -> Columns:
    """Add columns that have one value in every row."""
    first = from_numpy(np.zeros(columns.rows, np.int8))
    arrays = {n: keep(pa.array([value], pa.string()), kind).take(first) for n, (value, kind) in added.items()}
    locate_own = columns.locate  # holds no column, as ``columns`` does

    def locate(row: int, header: str | None) -> tuple[int | None, str]:
        if header is not None and header in given:
            return locate_own(row, None)[0], given[header] or ""
        return locate_own(row, header)

    names = (*columns.names, *given)
    return replace(columns, names=names, arrays={**columns.arrays, **arrays}, locate=locate)
