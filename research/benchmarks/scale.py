"""What counting costs by the number of rows: ``python -m research.benchmarks.scale`` writes docs/scale.csv.

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
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from research.benchmarks.timing import Row, Timed, timed
from research.studies import tables

MOST_ERROR = 0.02
"""Of sums of scores, in standard errors."""
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
    yield timed(
        f"counting the labels of two Parquet files of {n:,} rows, in different orders, under {MEMORY}",
        "duckdb's own join and GROUP BY",
        Timed(ours.processor),
        Timed(peer.processor),
        least_ratio=1 / 3,
        remark=f"at most 3 times as long; most memory {ours.memory / 1e9:.2g} GB of at most 1.5 GB",
    )


def _shared(of: str, n: int, size: int, ours: Cost, run: Cost) -> dict[str, str]:
    """Return the cells that both tables have."""
    return {
        "of": of, "rows": f"{n:,}", "files": f"{size / 1e6:,.0f} MB", "processor": f"{ours.processor:.1f} s",
        "clock": f"{ours.clock:.1f} s", "peak memory": f"{ours.memory / 1e9:.2f} GB", "run after": f"{run.clock:.1f} s",
    }  # fmt: skip


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


def adding_up(*, quick: bool) -> Iterator[Row]:
    """Yield the row of ``make bench`` about scores: the largest error of what follows from their sums."""
    n = 100_000 if quick else 1_000_000
    _, ours, _, error = summed(n)
    assert error is not None
    spent = f"{ours.processor:.1f} s of processor time, most memory {ours.memory / 1e9:.2g} GB"
    yield Row(
        f"adding up the scores of three models of {n:,} rows: ROC AUC, average precision, PR AUC, partial AUC, log"
        f" loss, Brier score and the differences of all pairs; largest error ({spent})",
        "the rows themselves", f"{error:.2g} standard errors", goal=f"≤ {MOST_ERROR:g}", met=error <= MOST_ERROR,
    )  # fmt: skip


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


def rows(sizes: Sequence[int]) -> Iterator[Mapping[str, str]]:
    """Yield the rows of docs/scale.csv: of labels, beside DuckDB's own join, and of scores."""
    for n in sizes or SIZES:
        size, peer, ours, run = counted(n)
        ratio, each = ours.processor / peer.processor, 1e6 * ours.processor / n
        yield {
            **_shared("labels", n, size, ours, run), "DuckDB's own processor": f"{peer.processor:.1f} s",
            "ours in times of it": f"{ratio:.1f}", "a million rows": f"{each:.2f} s", "largest error": "",
        }  # fmt: skip
    for n in sizes or SIZES_OF_SCORES:
        size, ours, run, error = summed(n)
        wrong = "" if error is None else f"{error:.4f}"
        yield {**_shared("scores", n, size, ours, run), "largest error": wrong}


if __name__ == "__main__":
    asked = [int(float(word)) for word in sys.argv[1:]]
    tables.write(tables.DOCS / "scale.csv" if not asked else Path("scale.csv"), rows(asked))
    tables.fill()
