"""Edits of an aggregate's files and of a history's tables, as somebody makes them who also mends the digests."""

# ruff: noqa: S608 - the names in SQL are those of our own tables
from __future__ import annotations

import contextlib
import hashlib
import io
import json
import random
import sqlite3
import tempfile
import zlib
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from research.campaign import grammar

Files = Mapping[str, bytes]

# --- aggregates -----------------------------------------------------------------------------------------------------

COUNTS, HISTOGRAMS, PRODUCTS = "counts.parquet", "score_histograms.parquet", "score_products.parquet"
MANIFEST = "aggregate.json"


def aggregate_edited(rng: random.Random, files: Files) -> tuple[dict[str, bytes], bool]:
    """Return an aggregate with one edit, and whether its files contradict one another now."""
    edited = dict(files)
    kind = rng.random()
    if kind < 0.1:
        edited[MANIFEST] = grammar.mutated(rng, files[MANIFEST])
        return edited, False
    if kind < 0.3:
        edited[MANIFEST] = grammar.as_json(grammar.changed(rng, json.loads(files[MANIFEST])))
        return edited, False
    name = rng.choice([one for one in sorted(files) if one != MANIFEST])
    if kind < 0.4:
        edited[name] = grammar.mutated(rng, files[name])
        if rng.random() < 0.5:
            return edited, edited[name] != files[name]
        return _with_digest(edited, name), False
    content, contradicts = _table_edited(rng, name, files[name])
    if content is None:
        return edited, False
    edited[name] = content
    return _with_digest(edited, name), contradicts


def _with_digest(files: dict[str, bytes], name: str) -> dict[str, bytes]:
    manifest = json.loads(files[MANIFEST])
    manifest["files"][name] = hashlib.sha256(files[name]).hexdigest()
    return {**files, MANIFEST: json.dumps(manifest).encode()}


def without_rows(content: bytes) -> bytes:
    """Return a Parquet file without half of its rows."""
    import pyarrow.parquet as pq

    table = pq.read_table(io.BytesIO(content))
    return _bytes(table.slice(0, table.num_rows // 2))


def _table_edited(rng: random.Random, name: str, content: bytes) -> tuple[bytes | None, bool]:
    """Edit some rows or cells of a table; say whether no predictions give what is there now."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    table = pq.read_table(io.BytesIO(content))
    rows = table.num_rows
    row = rng.randrange(rows)
    match rng.randrange(8):
        case 0:
            kept = sorted(rng.sample(range(rows), rng.randrange(rows)))
            return _bytes(table.take(pa.array(kept, pa.int64()))), True
        case 1:
            return _bytes(pa.concat_tables([table, table.slice(row, 1)])), name != COUNTS or True
        case 2:
            column = rng.choice(table.column_names)
            return _bytes(table.drop_columns([column])), True
        case 3:
            column = rng.choice(table.column_names)
            other = grammar.text(rng).replace("\0", "?") or "x"
            names = [other if one == column else one for one in table.column_names]
            with contextlib.suppress(UnicodeEncodeError):
                return _bytes(table.rename_columns(names)), other != column
            return None, False
        case 4:
            column = rng.choice(table.column_names)
            try:
                changed = table.column(column).cast(
                    rng.choice((pa.string(), pa.float32(), pa.int32(), pa.bool_()))
                )
            except (pa.ArrowException, ValueError):
                return None, False
            place = table.column_names.index(column)
            return _bytes(table.set_column(place, column, changed)), changed.type != table.column(column).type
        case _:
            return _cell_edited(rng, name, table, row)


NUMBERS: tuple[Callable[[float], float], ...] = (
    lambda x: -x if x else -1.0,
    lambda x: x + 1,
    lambda x: x * 3 + 2,
    lambda _: float("nan"),
    lambda _: float("inf"),
    lambda x: -abs(x) - 1e18,
)


def _cell_edited(rng: random.Random, name: str, table: Any, row: int) -> tuple[bytes | None, bool]:
    import pyarrow as pa

    column = rng.choice(table.column_names)
    place, kind = table.column_names.index(column), table.schema.field(column).type
    cells = table.column(column).to_pylist()
    before = cells[row]
    contradicts = True
    if pa.types.is_boolean(kind):
        cells[row] = not before
    elif pa.types.is_string(kind):
        cells[row] = rng.choice((None, "zz", *sorted({str(cell) for cell in cells})))
        # Other labels and slices of labels alone may be those of other predictions.
        contradicts = cells[row] != before and name != COUNTS and column in ("model", "metric", "a")
    else:
        value = rng.choice(NUMBERS)(float(before))
        cells[row] = (
            value if pa.types.is_floating(kind) else int(np.clip(np.nan_to_num(value), -(2**62), 2**62))
        )
        contradicts = cells[row] != before and (column == "count" or not np.isfinite(value))
    if cells[row] == before:
        return None, False
    return _bytes(
        table.set_column(place, table.schema.field(column), pa.array(cells, kind).cast(kind))
    ), contradicts


def _bytes(table: Any) -> bytes:
    import pyarrow.parquet as pq

    sink = io.BytesIO()
    pq.write_table(table, sink)
    return sink.getvalue()


# --- histories ------------------------------------------------------------------------------------------------------


def history_edited(rng: random.Random, content: bytes) -> bytes:
    """Return SQLite's file of a history with one edit of a table; digests of results are made anew."""
    if rng.random() < 0.05:
        return grammar.mutated(rng, content)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "h.db")
        path.write_bytes(content)
        with contextlib.closing(sqlite3.connect(path)) as database, contextlib.suppress(sqlite3.Error):
            database.execute("PRAGMA ignore_check_constraints = ON")
            _edit(rng, database)
            database.commit()
        return path.read_bytes()


CELLS = (None, b"", b"\xff\x00", "", "x", "[]", "{}", -1, 0, 7, 10**12, 1.5, "2025-13-01")


def _edit(rng: random.Random, database: sqlite3.Connection) -> None:
    tables = [
        row[0]
        for row in database.execute(
            "SELECT name FROM sqlite_master WHERE name LIKE 'evalreport%' AND type='table'"
        )
    ]
    table = rng.choice(tables)
    kind = rng.random()
    if kind < 0.06:
        database.execute(f"DROP TABLE {table}")
        return
    if kind < 0.12:
        database.execute(f"DELETE FROM {table}")
        return
    if kind < 0.5:
        table = "evalreport_runs"
    ids = [row[0] for row in database.execute(f"SELECT rowid FROM {table}")]
    columns = [row[1] for row in database.execute(f"PRAGMA table_info({table})")]
    chosen, column = rng.choice(ids), rng.choice(columns)
    if table == "evalreport_runs" and rng.random() < 0.6:
        column = rng.choice(("summary", "results"))
    old = database.execute(f"SELECT {column} FROM {table} WHERE rowid = ?", (chosen,)).fetchone()[0]
    if column == "summary" and rng.random() < 0.8:
        new: Any = grammar.as_json(grammar.changed(rng, json.loads(old))).decode("utf-8", "replace")
    elif column == "results" and rng.random() < 0.8:
        results = grammar.as_json(grammar.changed(rng, json.loads(zlib.decompress(old))))
        new = zlib.compress(results)
        database.execute(
            f"UPDATE {table} SET results_sha256 = ? WHERE rowid = ?",
            (hashlib.sha256(results).hexdigest(), chosen),
        )
    elif column == "content":
        new = grammar.mutated(rng, old)
        if rng.random() < 0.5:
            database.execute(
                f"UPDATE {table} SET content_sha256 = ? WHERE rowid = ?",
                (hashlib.sha256(new).hexdigest(), chosen),
            )
    else:
        new = rng.choice((*CELLS, str(old), "é" * 300))
    database.execute(f"UPDATE {table} SET {column} = ? WHERE rowid = ?", (new, chosen))
