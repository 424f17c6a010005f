"""Reading, joining and checking two large files, against DuckDB reading and joining them alone."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from pathlib import Path

from benchmarks.timing import Row, best_of


def two_files(*, quick: bool) -> Iterator[Row]:
    """Two models' CSV files, each with id, y_true and p_1, rows in different orders."""
    import duckdb

    from evalreport.data import load

    n = 100_000 if quick else 10_000_000
    with tempfile.TemporaryDirectory() as folder:
        paths = [Path(folder) / f"{name}.csv" for name in ("first", "second")]
        with duckdb.connect() as connection:
            for path, step in zip(paths, (7919, 104_729), strict=True):
                # Multiplying by a prime modulo n is a shuffle; ids are text.
                number = f"((i * {step}) % {n})"
                columns = (
                    f"'e' || {number} AS id, ({number} % 10 < 3)::int AS y_true, round(random(), 6) AS p_1"
                )
                rows = f"SELECT {columns} FROM range({n}) t(i)"  # noqa: S608 - nothing comes from outside
                connection.execute(f"COPY ({rows}) TO '{path}' (HEADER)")
        yield Row(
            f"reading, joining and checking two CSV files of {n:,} rows",
            "duckdb: read both, join on id, order by id, fetch as arrays",
            best_of(lambda: load(folder), 1),
            best_of(lambda: by_duckdb(paths), 1),
            least_ratio=1 / 1.2,
            remark="at most 1.2 times as long",
        )


def by_duckdb(paths: list[Path]) -> None:
    """Read and join the columns, without any check."""
    import duckdb

    with duckdb.connect() as connection:
        a, b = (f"read_csv('{path}', types={{'id': 'VARCHAR'}})" for path in paths)
        columns = "id, a.y_true, b.y_true, a.p_1, b.p_1"
        joined = f"SELECT {columns} FROM {a} a JOIN {b} b USING (id) ORDER BY id"  # noqa: S608 - our own names
        connection.execute(joined).fetchnumpy()
