"""JSON Lines: one object a row; DuckDB reads it fast, Python says where it is broken."""

from __future__ import annotations

import json
import zlib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from evalreport.data.columns import Kind
from evalreport.data.database import database
from evalreport.data.reading import Choose, Columns, keep_batches, literal_path, quote_text
from evalreport.data.unpacking import blocks, is_gzipped, opened, room_of
from evalreport.errors import InputError

_ROWS_A_BATCH = 500_000
_LONGEST_LINE = 1 << 24


def read_json_lines(path: Path, name: str, choose: Choose, *, memory_limit: int | None = None) -> Columns:
    """Read a .jsonl or .jsonl.gz file.

    Raises
    ------
    InputError
        Where a line is no JSON object in UTF-8, or the archive is broken; the message names the line.
    """
    import duckdb

    def locate(row: int, header: str | None) -> tuple[int | None, str]:
        for number, (line, record) in enumerate(_records(path, name)):
            if number == row:
                return line, "" if header is None else str(record.get(header, ""))
        return None, ""

    compression = "gzip" if is_gzipped(path) else "none"
    # A line of JSON can be long (a prompt beside its judgement), yet not endless.
    source = f"read_ndjson_objects(?, compression='{compression}', maximum_object_size={_LONGEST_LINE})"
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
                return Columns((), {}, 0, _nowhere)
            if counted[1] < counted[0]:
                raise _fault(path, name, "a line is no JSON object, or names a key twice")
            keys = _select("DISTINCT unnest(json_keys(json)) AS name", source) + " ORDER BY name"
            found = connection.execute(keys, parameters).fetchall()
            names = tuple(row[0] for row in found if row[0])
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


def _nowhere(_row: int, _header: str | None) -> tuple[None, str]:
    return None, ""


def _query(kinds: Mapping[str, Kind], source: str) -> str:
    cells = []
    for header in kinds:
        pointer = quote_text("/" + header.replace("~", "~0").replace("/", "~1"))
        # A JSON true is written as pandas writes it to a CSV file, the text "true" is left alone.
        cells.append(
            f"CASE json_extract(json, {pointer})::VARCHAR WHEN 'true' THEN 'True' WHEN 'false' THEN 'False' "
            f"ELSE json_extract_string(json, {pointer}) END"
        )
    return _select(", ".join(cells) or "1", source)


def _select(what: str, source: str) -> str:
    return f"SELECT {what} FROM {source}"  # noqa: S608  headers are quoted, the path is bound


def _fault(path: Path, name: str, fallback: str) -> InputError:
    try:
        for _ in _records(path, name):
            pass
    except InputError as error:
        return error
    return InputError(
        f"the file cannot be read as JSON Lines ({fallback[:160]})",
        file=name,
        expected="one JSON object a line",
        remedy="write the file again with one object a line",
    )


def _records(path: Path, name: str) -> Iterator[tuple[int, dict[str, Any]]]:
    line = 0
    try:
        with opened(path) as stream:
            for line, raw in enumerate(iter(lambda: stream.readline(_LONGEST_LINE + 1), b""), start=1):
                if len(raw) > _LONGEST_LINE:
                    raise _not_an_object(name, line, f"the line is longer than {_LONGEST_LINE / 1e6:,.0f} MB")
                if not raw.strip():
                    continue
                record = json.loads(raw.decode("utf-8"), object_pairs_hook=_once)
                if not isinstance(record, dict):
                    raise _not_an_object(name, line, "the line is no JSON object")
                yield line, record
    except UnicodeDecodeError as error:
        raise _not_an_object(name, line, f"the line is not UTF-8 ({error.reason})") from None
    except ValueError as error:
        raise _not_an_object(name, line, f"the line is no JSON ({error})") from None
    except RecursionError:
        raise _not_an_object(name, line, "the line is nested too deeply") from None
    except (OSError, EOFError, zlib.error) as error:
        raise InputError(
            f"the file cannot be read: {error}",
            file=name,
            expected="a whole gzip archive" if is_gzipped(path) else "a whole file",
            remedy="write or copy the file again",
        ) from None


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    record = dict(pairs)
    if len(record) < len(pairs):
        raise ValueError("it names a key twice")
    return record


def _not_an_object(name: str, line: int, problem: str) -> InputError:
    return InputError(
        problem,
        file=name,
        line=line,
        expected="one JSON object a line, in UTF-8",
        remedy="write the file again with one object a line",
    )
