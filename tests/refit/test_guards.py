"""What is odd about a division is said before anything is fitted."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np

from evalreport.cli import main
from evalreport.refit.examples import same_features
from evalreport.refit.plans import Scheme
from evalreport.refit.resampling import guards
from evalreport.refit.splits import Fit, fits_of
from tests.refit.conftest import BAYES, examples_of

Write = Callable[..., Path]


def codes(examples, fits) -> list[str]:
    """The codes of the warnings."""
    return [record.code for record in guards(examples, fits)]


def test_copies_across_a_split_are_counted(folder: Path):
    """Rows 0 and 1 have the same features: a warning where they stand on both sides, and only there."""
    lines = (folder / "examples.csv").read_text().splitlines()
    lines[2] = ",".join(["e1", *lines[1].split(",")[1:]])
    (folder / "examples.csv").write_text("\n".join(lines) + "\n")
    examples = examples_of(folder)
    assert len(np.unique(same_features(examples))) == 59
    apart = Fit(keys={"repeat": 1}, train=np.arange(1, 40), test=np.array([0, *range(40, 60)]))
    together = Fit(keys={"repeat": 1}, train=np.arange(40), test=np.arange(40, 60))
    (record,) = guards(examples, [apart, together])
    assert record.code == "duplicates_across_split"
    assert str(record.text).startswith("1 of 60 examples (for example 'e0')")
    assert "in 1 of 2 fits" in record.text
    assert codes(examples, [together]) == []


def test_small_folds_and_missing_classes_are_said(folder: Path):
    """Folds of 6 are small; a fold of one class lacks the other; so does a training sample."""
    examples = examples_of(folder)
    no = np.flatnonzero(examples.target == "no")
    yes = np.flatnonzero(examples.target == "yes")
    folds = [Fit(keys={"fold": 1}, train=no, test=yes), Fit(keys={"fold": 2}, train=yes, test=no)]
    found = guards(examples, folds)
    assert [record.code for record in found] == [
        "small_folds",
        "class_missing_in_fold",
        "class_missing_in_training",
    ]
    assert "tests 20 examples, fewer than 30" in found[0].text
    assert codes(examples, fits_of(examples, Scheme(name="leave-one-out"), 0)) == []


def test_time_stands_in_the_predictions_under_its_standard_name(folder: Path, plan: Write):
    """A column ``day`` that is declared as time is written as ``time``, which the report looks for."""
    import pyarrow.parquet as pq

    path = plan('name = "time-ordered"\nfolds = 3', BAYES, data='time = "day"')
    assert main(["resample", str(path), "-q", "-o", str(folder / "out")]) == 0
    table = pq.read_table(folder / "out" / "predictions.parquet")
    assert "day" not in table.column_names
    rows = table.to_pylist()
    first = {fold: min(row["time"] for row in rows if row["fold"] == fold) for fold in (1, 2, 3)}
    assert first[1] < first[2] < first[3]
    # 60 days in 4 blocks of 15: the model of fold 1 was trained on the first.
    assert {row["fold"]: row["train_size"] for row in rows} == {1: 15, 2: 30, 3: 45}
