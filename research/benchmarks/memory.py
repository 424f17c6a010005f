"""The largest memory of a default run of label rows in folders of Parquet files, beside that of pandas."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np

from research.benchmarks.scale import cost_of
from research.benchmarks.timing import Row, memory

MOST = 1_500_000_000
"""Bytes that 20 million rows of either model may take."""
MODELS, DAYS = ("forest", "logreg"), 10
_PEER = """
import pandas as pd
from sklearn.metrics import accuracy_score, f1_score
table = pd.read_parquet({folder!r})
models = {{name: own.set_index("id").sort_index() for name, own in table.groupby("model", observed=True)}}
for own in models.values():
    assert own.index.equals(models["forest"].index)
    print(accuracy_score(own["y_true"], own["y_pred"]), f1_score(own["y_true"], own["y_pred"], average="macro"))
"""


def beside_pandas(*, quick: bool) -> Iterator[Row]:
    """Yield what a run of two models takes beside pandas and scikit-learn, and what ten times as many rows take."""
    n = 20_000 if quick else 2_000_000
    work = "a run of 2 models x {:,} examples with labels, in folders of Parquet files"
    with TemporaryDirectory() as place:
        folder = _write(Path(place) / "few", n)
        ours, theirs = _of_run(folder), cost_of(sys.executable, "-c", _PEER.format(folder=str(folder))).memory
        yield memory(
            work.format(n), "pandas.read_parquet, accuracy and macro F1 of scikit-learn", ours, theirs
        )
        yield memory(work.format(10 * n), "", _of_run(_write(Path(place) / "many", 10 * n)), None, MOST)


def _of_run(folder: Path) -> int:
    program = (sys.executable, "-m", "evalreport", "run", str(folder), "-f", "json", "-q")
    return cost_of(*program, "-o", str(folder.with_name(f"{folder.name}-out"))).memory


def _write(folder: Path, n: int) -> Path:
    """Write the predictions of n examples as model=NAME/day=D/part.parquet."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    random = np.random.default_rng(8)
    true = random.integers(0, 2, n, dtype=np.int8)
    for model in MODELS:
        predicted = np.where(random.random(n) < 0.8, true, 1 - true)
        for day in range(DAYS):
            rows = slice(day * n // DAYS, (day + 1) * n // DAYS)
            path = folder / f"model={model}" / f"day={day}" / "part.parquet"
            path.parent.mkdir(parents=True)
            columns = {"id": np.arange(n)[rows], "y_true": true[rows], "y_pred": predicted[rows]}
            pq.write_table(pa.table(columns), path)
    return folder
