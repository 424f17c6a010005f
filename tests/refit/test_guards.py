"""What is odd about a division is said before anything is fitted."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from evalreport.cli import main
from evalreport.refit.examples import same_features
from evalreport.refit.plans import Scheme
from evalreport.refit.splits import Fit, fits_of, guards
from tests.refit.conftest import BAYES, TREE, examples_of

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


def test_zeros_of_either_sign_and_equal_texts_are_the_same_features(tmp_path: Path):
    """-0.0 is 0.0; a text column counts as it reads; an empty cell is like an empty cell."""
    rows = ["a,0.0,x,0", "b,-0.0,x,1", "c,0.0,y,0", "d,,x,1", "e,,x,0"]
    (tmp_path / "examples.csv").write_text("id,first,second,label\n" + "\n".join(rows) + "\n")
    code = same_features(examples_of(tmp_path)).tolist()
    assert code[0] == code[1]
    assert code[3] == code[4]
    assert len(set(code)) == 3


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


def test_the_command_says_what_it_runs_and_what_is_odd(folder: Path, plan: Write, capsys):
    """On standard error: the user's code, the warnings, the next command; on standard output the file alone."""
    assert main(["resample", str(plan('name = "kfold"', TREE, BAYES)), "-o", str(folder / "out")]) == 0
    out, err = capsys.readouterr()
    assert out == f"predictions: {folder / 'out' / 'predictions.parquet'}\n"
    assert (
        "running the code that the plan names: sklearn.tree:DecisionTreeClassifier, sklearn.naive_bayes"
        in err
    )
    assert "[small_folds]" in err
    assert f"120 predictions of 2 models from 20 fits; next: evalreport run {folder / 'out'}\n" in err


@pytest.mark.parametrize(
    "data, words",
    [
        ('group = "ward"', " --cluster ward"),
        ('positive = "no"', " --positive no"),
        ('keep = ["ward"]', ""),
    ],
)
def test_the_next_command_names_what_run_cannot_know(folder: Path, plan: Write, capsys, data, words):
    """Groups and a positive class that is not the usual one have to be told; kept columns can be sliced by."""
    import evalreport

    path = plan('name = "kfold"\nfolds = 3', BAYES, data=data)
    assert main(["resample", str(path), "-o", str(folder / "out")]) == 0
    assert f"next: evalreport run {folder / 'out'}{words}\n" in capsys.readouterr().err
    loaded = evalreport.load(folder / "out")
    assert ("ward" in loaded.metadata) is ("ward" in data)


def test_flags_win_over_the_plan(folder: Path, plan: Write):
    """--seed 3 gives what seed = 3 gives."""
    said = 'name = "kfold"\nfolds = 3'
    assert main(["resample", str(plan(said, BAYES)), "-q", "--seed", "3", "-o", str(folder / "flag")]) == 0
    assert main(["resample", str(plan(said, BAYES, top="seed = 3")), "-q", "-o", str(folder / "key")]) == 0
    assert main(["resample", str(plan(said, BAYES)), "-q", "-o", str(folder / "default")]) == 0
    flag, key, default = (
        (folder / name / "predictions.parquet").read_bytes() for name in ("flag", "key", "default")
    )
    assert flag == key != default


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
