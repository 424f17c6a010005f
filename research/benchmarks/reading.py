"""Reading, joining and checking two large files, against DuckDB reading and joining them alone."""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

from research.benchmarks.scale import cost_of
from research.benchmarks.timing import Row, best_of, in_turn, timed

GIGABYTE = 1e9
BYTES_A_ROW = 12 + 4 + 8
"""A row's columns as they are kept: an id of eight letters with its offset, the code of a label, a probability."""


def two_files(*, quick: bool) -> Iterator[Row]:
    """Two models' CSV files, each with id, y_true and p_1, rows in different orders."""
    n = 100_000 if quick else 10_000_000
    with tempfile.TemporaryDirectory() as folder:
        write_files(Path(folder), n)
        ours, theirs = peak_memory("by_evalreport", folder), peak_memory("by_duckdb", folder)
        columns = 2 * n * BYTES_A_ROW / GIGABYTE
        mine, others = in_turn(
            lambda: best_of(lambda: by_evalreport(folder), 1), lambda: best_of(lambda: by_duckdb(folder), 1)
        )
        yield timed(
            f"reading, joining and checking two CSV files of {n:,} rows",
            "duckdb: read both, join on id, order by id, fetch as arrays",
            mine,
            others,
            least_ratio=1 / 1.2,
            remark=f"at most 1.2 times as long; most memory {ours / GIGABYTE:.2g} GB, peer {theirs / GIGABYTE:.2g} GB,"
            f" the columns in use {columns:.2g} GB",
        )


def write_files(folder: Path, n: int) -> None:
    """Write n rows for each of two models; each has its own order and its own probabilities."""
    import duckdb

    with duckdb.connect() as connection:
        for name, step in (("first", 7919), ("second", 104_729)):
            # Multiplying by a prime modulo n is a shuffle; ids are text.
            number = f"((i * {step}) % {n})"
            columns = f"'e' || {number} AS id, ({number} % 10 < 3)::int AS y_true, round(random(), 6) AS p_1"
            rows = f"SELECT {columns} FROM range({n}) t(i)"  # noqa: S608 - nothing comes from outside
            connection.execute(f"COPY ({rows}) TO '{folder / name}.csv' (HEADER)")


def by_evalreport(folder: str) -> object:
    """Read, check and align everything, as ``evalreport check`` does."""
    from evalreport.loading.load import load

    return load(folder)


def by_duckdb(folder: str) -> object:
    """Read and join the columns, without any check."""
    import duckdb

    with duckdb.connect() as connection:
        a, b = (f"read_csv('{folder}/{name}.csv', types={{'id': 'VARCHAR'}})" for name in ("first", "second"))
        columns = "id, a.y_true, b.y_true, a.p_1, b.p_1"
        joined = f"SELECT {columns} FROM {a} a JOIN {b} b USING (id) ORDER BY id"  # noqa: S608 - our own names
        return connection.execute(joined).fetchnumpy()


def peak_memory(work: str, folder: str) -> int:
    """Return the bytes that a process of its own holds at most while it does the work, libraries not counted."""
    begin = f"import duckdb, pyarrow.compute; from research.benchmarks.reading import {work}; duckdb.connect().close()"
    loaded, done = (
        cost_of(sys.executable, "-c", f"{begin}; {then}").memory for then in ("", f"{work}({folder!r})")
    )
    return done - loaded
