"""The committed examples are what their plans give, from the data that scikit-learn ships."""

from __future__ import annotations

import json
import runpy
import shutil
from pathlib import Path

import numpy as np
import pyarrow.compute as pc
import pyarrow.parquet as pq
import pytest

import evalreport as er

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"
LARGEST = 1_000_000


@pytest.mark.slow
@pytest.mark.parametrize("name", ["5x2cv", "bias-variance"])
def test_a_plan_gives_the_committed_predictions(tmp_path: Path, name):
    """Carried out again: the same rows and labels, and numbers up to what processors round differently.

    Each replicate has a stream of its own: the first ten of sixty show whether the plan gives all of them.
    """
    folder = tmp_path / name
    shutil.copytree(EXAMPLES / name, folder)
    plan = (folder / "plan.toml").read_text(encoding="utf-8")
    (folder / "plan.toml").write_text(plan.replace("replicates = 60", "replicates = 10"), encoding="utf-8")
    done = er.resample(folder / "plan.toml", output=folder / "again")
    assert not done.failures
    assert done.predictions is not None
    again, committed = (
        pq.read_table(path) for path in (done.predictions, folder / "predictions" / "predictions.parquet")
    )
    if "replicate" in committed.column_names:
        committed = committed.filter(pc.field("replicate") <= 10)
    assert again.schema == committed.schema
    for column in committed.column_names:
        if again.schema.field(column).type == "double":
            one, two = (table.column(column).to_numpy() for table in (again, committed))
            np.testing.assert_allclose(one, two, rtol=1e-6, atol=1e-9, equal_nan=True)
        else:
            assert again.column(column).equals(committed.column(column)), column
    size = sum(path.stat().st_size for path in (EXAMPLES / name).rglob("*") if path.is_file())
    assert size < LARGEST


@pytest.mark.parametrize("name", ["5x2cv", "bias-variance"])
def test_the_data_are_those_that_scikit_learn_ships(tmp_path: Path, name):
    """make_data.py writes the committed file, whose digest stands in the record of the predictions."""
    from evalreport.sources.files import digest

    shutil.copy(EXAMPLES / name / "make_data.py", tmp_path)
    runpy.run_path(str(tmp_path / "make_data.py"))
    assert (tmp_path / "data.csv").read_bytes() == (EXAMPLES / name / "data.csv").read_bytes()
    record = json.loads((EXAMPLES / name / "predictions" / "resample.json").read_text())
    assert record["data"]["sha256"] == digest(EXAMPLES / name / "data.csv")
    assert record["predictions"]["sha256"] == digest(EXAMPLES / name / "predictions" / "predictions.parquet")


def test_bias_falls_and_variance_grows_with_flexibility():
    """What the README of bias-variance says, computed from the file by the definitions (divisor K)."""
    table = pq.read_table(EXAMPLES / "bias-variance" / "predictions" / "predictions.parquet").to_pandas()
    by_example = table.groupby(["model", "complexity", "id"])
    errors = (by_example.y_pred.mean() - by_example.y_true.first()) ** 2
    bias = errors.groupby(["model", "complexity"]).mean()
    variance = by_example.y_pred.var(ddof=0).groupby(["model", "complexity"]).mean()
    for model in ("knn", "ridge"):
        error = bias[model] + variance[model]
        assert variance[model].is_monotonic_increasing
        assert bias[model][3.0] < bias[model][1.0]
        assert error.idxmin() == 3.0
    share = variance / (bias + variance)
    assert round(share["knn", 1.0], 2) == 0.01
    assert round(share["knn", 6.0], 2) == 0.29
    assert round(share["tree", 1.0], 2) == 0.19
