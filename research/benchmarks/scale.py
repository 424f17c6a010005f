"""What counting costs by the number of rows: ``python -m research.benchmarks.scale`` writes the table of docs/scale.md.

Two models of three classes in a Parquet file each, in different orders, joined by a text id. Each program is a process
of its own, whose processor time and largest memory the system reports; the peer is DuckDB's own join and GROUP BY of
the same files under the same limits.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from research.benchmarks.timing import Accuracy, Row, Timed

PAGE = Path(__file__).resolve().parents[2] / "docs" / "scale.md"
BEGIN, END = "<!-- measured: python -m research.benchmarks.scale -->", "<!-- end -->"
OF_SCORES = "<!-- measured: scores -->"
SIZES_OF_SCORES = (1_000_000, 20_000_000)
SIZES = (1_000_000, 10_000_000, 20_000_000, 100_000_000)
MODELS = ("forest", "logreg")
MEMORY = "500MB"
# A hash instead of a random number: the same files everywhere. The second model's rows stand in another order.
_FILE = """
COPY (
    SELECT 'e' || i AS id, 'class ' || (hash(i) % 3) AS y_true,
        'class ' || (CASE WHEN hash(i + {shift}) % 10 < {right} THEN hash(i) ELSE hash(i + 1) END % 3) AS y_pred
    FROM range({n}) AS t(i) {order}
) TO '{path}' (FORMAT parquet)
"""
_PEER = """
import duckdb, sys, tempfile
with tempfile.TemporaryDirectory() as spill:
    settings = {{"threads": "2", "memory_limit": "{memory}", "temp_directory": spill}}
    with duckdb.connect(config=settings) as connection:
        connection.execute("SET preserve_insertion_order = false")
        print(connection.sql('''SELECT a.y_true, a.y_pred, b.y_pred, count(*) FROM read_parquet('{a}') a
            JOIN read_parquet('{b}') b USING (id) GROUP BY ALL''').fetchall())
"""
_MEASURED = """
import json, os, sys
quiet = [(os.POSIX_SPAWN_OPEN, stream, os.devnull, os.O_WRONLY, 0) for stream in (1, 2)]
process = os.posix_spawnp(sys.argv[1], sys.argv[1:], os.environ, file_actions=quiet)
_, status, used = os.wait4(process, 0)
print(json.dumps([os.waitstatus_to_exitcode(status), used.ru_utime + used.ru_stime, used.ru_maxrss * 1024]))
"""


@dataclass(frozen=True, slots=True)
class Cost:
    """Processor seconds, seconds by the clock and the largest memory (bytes) of a process."""

    processor: float
    clock: float
    memory: int


def cost_of(*words: str) -> Cost:
    """Run a program and return what it took.

    Raises
    ------
    RuntimeError
        It failed.
    """
    # A process's largest memory begins with that of the one that started it: so a small one starts it.
    start = time.perf_counter()
    done = subprocess.run(
        [sys.executable, "-S", "-c", _MEASURED, *words], capture_output=True, text=True, check=True
    )
    status, processor, memory = json.loads(done.stdout)
    if status != 0:
        raise RuntimeError(f"{' '.join(words)[:200]} ended with {status}")
    return Cost(processor, time.perf_counter() - start, memory)


def write_files(folder: Path, n: int) -> list[Path]:
    """Write the predictions of ``n`` examples, a file a model."""
    paths = []
    for place, model in enumerate(MODELS):
        paths.append(folder / f"{model}.parquet")
        order = "" if place == 0 else "ORDER BY hash(i + 7)"
        query = _FILE.format(n=n, shift=3 + place, right=8 - place, order=order, path=paths[-1])
        cost_of(
            sys.executable,
            "-c",
            f"import duckdb; duckdb.sql(\"SET memory_limit = '2GB'\"); duckdb.sql({query!r})",
        )
    return paths


def counted(n: int) -> tuple[int, Cost, Cost, Cost]:
    """Count two models of ``n`` rows each: the files' bytes, DuckDB's join and GROUP BY, ours, and the run after it."""
    with tempfile.TemporaryDirectory(prefix="scale-") as place:
        folder = Path(place) / "models"
        folder.mkdir()
        paths = write_files(folder, n)
        peer = cost_of(sys.executable, "-c", _PEER.format(a=paths[0], b=paths[1], memory=MEMORY))
        return _size(folder), peer, *aggregated(folder, f"{place}/counts")


def aggregated(folder: Path, counts: str) -> tuple[Cost, Cost]:
    """Count a folder, and analyse the counts."""
    program = (sys.executable, "-m", "evalreport")
    ours = cost_of(*program, "aggregate", str(folder), "-o", counts, "--memory-limit", MEMORY)
    return ours, cost_of(*program, "run", counts, "-o", f"{counts}-out", "-f", "json")


def _size(folder: Path) -> int:
    return sum(path.stat().st_size for path in folder.iterdir())


def counting(*, quick: bool) -> Iterator[Row]:
    """Yield the row of ``make bench``: processor time beside DuckDB's own, and the largest memory."""
    n = 1_000_000 if quick else 20_000_000
    _, peer, ours, _ = counted(n)
    yield Row(
        f"counting the labels of two Parquet files of {n:,} rows, in different orders, under {MEMORY}",
        "duckdb's own join and GROUP BY",
        Timed(ours.processor),
        Timed(peer.processor),
        least_ratio=1 / 3,
        remark=f"at most 3 times as long; most memory {ours.memory / 1e9:.2g} GB of at most 1.5 GB",
    )


def _begin(n: int, size: int, ours: Cost) -> str:
    """Return the first cells of both tables."""
    spent = f"{ours.processor:.1f} s | {ours.clock:.1f} s | {ours.memory / 1e9:.2f} GB"
    return f"| {n:,} | {size / 1e6:,.0f} MB | {spent}"


def measured(n: int) -> str:
    """Return one row of the table."""
    size, peer, ours, run = counted(n)
    ratio, each = ours.processor / peer.processor, 1e6 * ours.processor / n
    cells = f"{peer.processor:.1f} s | {ratio:.1f} | {each:.2f} s | {run.clock:.1f} s"
    return f"{_begin(n, size, ours)} | {cells} |"


_SCORES = """
import sys
import numpy as np, pyarrow as pa, pyarrow.parquet as pq
n, folder = int(sys.argv[1]), sys.argv[2]
rng = np.random.default_rng(9)
y = (rng.random(n) < 0.01).astype(np.int8)
shared = rng.normal(size=n) + 1.5 * y
for model, noise in (("forest", 0.6), ("logreg", 0.9), ("tree", 1.2)):
    p = 1 / (1 + np.exp(5.5 - 1.3 * (shared + noise * rng.normal(size=n))))
    table = pa.table({"id": np.arange(n), "y_true": y, "p_1": p})
    pq.write_table(table, f"{folder}/{model}.parquet", row_group_size=1_000_000)
"""
_METRICS = ("roc_auc", "average_precision", "pr_auc", "partial_auc", "log_loss", "brier")


def summed(n: int) -> tuple[int, Cost, Cost, float | None]:
    """Add up the scores of three models of ``n`` rows; the error where the rows can be had in memory, else None."""
    with tempfile.TemporaryDirectory(prefix="scale-") as place:
        folder, sums = Path(place) / "models", Path(place) / "sums"
        folder.mkdir()
        cost_of(sys.executable, "-c", _SCORES, str(n), str(folder))
        ours, run = aggregated(folder, str(sums))
        return _size(folder), ours, run, largest_error(folder, sums) if n <= 1_000_000 else None


def adding_up(*, quick: bool) -> Iterator[Accuracy]:
    """Yield the row of ``make bench`` about scores: the largest error of what follows from their sums."""
    n = 100_000 if quick else 1_000_000
    _, ours, _, error = summed(n)
    assert error is not None
    yield Accuracy(
        f"adding up the scores of three models of {n:,} rows: ROC AUC, average precision, PR AUC, partial AUC, log"
        " loss, Brier score and the differences of all pairs; largest error",
        "the rows themselves",
        error,
        most=0.02,
        remark=f"{ours.processor:.1f} s of processor time, most memory {ours.memory / 1e9:.2g} GB",
    )


def measured_scores(n: int) -> str:
    """Return one row of the table of scores."""
    size, ours, run, error = summed(n)
    return f"{_begin(n, size, ours)} | {run.clock:.1f} s | {'' if error is None else f'{error:.4f}'} |"


def largest_error(folder: Path, sums: Path) -> float:
    """Return the largest distance between values from sums and from rows, differences too, in standard errors."""
    import evalreport as er

    found, own = (er.evaluate(source, metrics=_METRICS, resamples=100) for source in (sums, folder))
    errors = [
        abs((one.value or 0) - (other.value or 0)) / (other.standard_error or 1)
        for one, other in zip(found.metrics, own.metrics, strict=True)
    ]
    first, second = ([row for row in r.comparisons if row.recommended] for r in (found, own))
    for one, other in zip(first, second, strict=True):
        if one.difference is not None and other.difference is not None and other.low is not None:
            error = ((other.high or 0) - other.low) / (2 * 1.96)
            errors.append(abs(one.difference - other.difference) / error)
    return max(errors)


def written(page: str, begin: str, lines: Sequence[str]) -> str:
    """Return a page with a table in its place."""
    before, _, rest = page.partition(begin)
    return before + "\n".join([begin, "", *lines, "", END]) + rest.partition(END)[2]


HEAD = (
    "| rows a model | files | processor | clock | peak memory | DuckDB's own processor | ours in times of it"
)
TABLES: tuple[tuple[str, str, Callable[[int], str], Sequence[int]], ...] = (
    (BEGIN, f"{HEAD} | a million rows | `run` after |", measured, SIZES),
    (
        OF_SCORES, "| examples | files | processor | clock | peak memory | `run` after | largest error |",
        measured_scores, SIZES_OF_SCORES,
    ),
)  # fmt: skip


def main(arguments: Sequence[str]) -> int:
    """Measure every size, print the tables, and write them into the page where the usual sizes were measured."""
    for begin, head, row, usual in TABLES:
        lines = [head, "|---" * (head.count("|") - 1) + "|"]
        for n in [int(float(word)) for word in arguments] or usual:
            lines.append(row(n))
            print(lines[-1], flush=True)
        if not arguments and PAGE.exists():
            PAGE.write_text(written(PAGE.read_text(encoding="utf-8"), begin, lines), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
