"""The same plan from Python: a record instead of a file, the same bytes, and results from what it wrote."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import msgspec
import pytest

import evalreport as er
from evalreport.cli import main
from evalreport.errors import UsageError
from evalreport.refit.plans import (
    Complexity,
    DataSource,
    Estimator,
    Plan,
    Scheme,
    describe,
    read_plan,
    settle,
)

Write = Callable[..., Path]


@pytest.mark.slow
def test_a_plan_in_python_is_the_plan_in_the_file(folder: Path, plan: Write):
    """Field by field, and byte by byte in what comes of it."""
    path = plan(
        'name = "bootstrap"\nreplicates = 4\nstratify = true',
        '[[estimator]]\nname = "tree"\nimport = "sklearn.tree:DecisionTreeClassifier"\n'
        "parameters = {max_features = 1}\ngrid = {min_samples_leaf = [1, 3]}\n"
        "complexity = {parameter = 'max_depth', values = [1, 2], as_models = true}\n",
        top="seed = 4",
    )
    tree = Estimator(
        name="tree",
        factory=("sklearn.tree:DecisionTreeClassifier",),
        parameters={"max_features": 1},
        grid={"min_samples_leaf": (1, 3)},
        complexity=Complexity(parameter="max_depth", values=(1, 2), as_models=True),
    )
    source = DataSource(file=Path("examples.csv"), target="label", features=("first", "second"))
    scheme = Scheme(name="bootstrap", replicates=4, stratify=True)
    own = Plan(data=source, scheme=scheme, estimators=(tree,), folder=folder, seed=4)
    of_file = read_plan(path)
    assert msgspec.structs.replace(of_file, scheme=scheme) == own
    one, two = (er.resample(p, output=folder / f"out{i}") for i, p in enumerate((own, str(path))))
    assert one.models == ("tree (max_depth=1)", "tree (max_depth=2)")
    assert one.predictions is not None
    assert two.predictions is not None
    assert one.predictions.read_bytes() == two.predictions.read_bytes()
    assert (folder / "out0/resample.json").read_bytes() == (folder / "out1/resample.json").read_bytes()


def test_results_come_of_it(folder: Path, plan: Write):
    """resample, then evaluate: folds with the corrected test; progress ends at 1; fields win over the plan's."""
    shares: list[float] = []
    path = plan('name = "kfold"\nfolds = 5')
    done = er.resample(path, output=folder / "out", seed=2, jobs=2, backend="threads",
                       progress=lambda _stage, share: shares.append(share))  # fmt: skip
    assert shares == [pytest.approx(i / 10) for i in range(1, 11)]
    results = er.evaluate(done.predictions, resamples=100)
    assert results.design == "cross-validation"
    assert {row.test for row in results.comparisons if row.recommended} == {"corrected_resampled_t"}


def test_paths_may_be_texts(folder: Path):
    """File and folder as texts settle to the very plan that paths give."""
    tree = Estimator(name="tree", factory=("sklearn.tree:DecisionTreeClassifier",))
    path, text = (
        settle(Plan(data=DataSource(file=file, target="label"), scheme=Scheme(name="kfold"), estimators=(tree,),
                    folder=within))
        for file, within in ((Path("examples.csv"), folder), ("examples.csv", str(folder)))
    )  # fmt: skip
    assert text == path
    assert describe(text) == describe(path)


def test_python_plans_are_checked_as_files_are(folder: Path):
    """A scheme that is none, and a number that is no number of jobs."""
    source = DataSource(file=Path("examples.csv"), target="label")
    tree = Estimator(name="tree", factory=("sklearn.tree:DecisionTreeClassifier",))
    with pytest.raises(UsageError, match="unknown scheme 'cv'"):
        er.resample(
            Plan(data=source, scheme=Scheme(name="cv"), estimators=(tree,), folder=folder),
            output=folder / "out",
        )
    with pytest.raises(UsageError, match="jobs = 0: expected `int` >= 1"):
        er.resample(
            Plan(data=source, scheme=Scheme(name="kfold"), estimators=(tree,), folder=folder, jobs=0),
            output=folder / "out",
        )


def test_an_interrupt_after_the_predictions_says_that_they_are_there(
    folder: Path, plan: Write, monkeypatch, capsys
):
    """In the moment between their moving in and the end of the command."""
    monkeypatch.setattr("evalreport.refit.resampling._arguments", interrupted)
    words = ["resample", str(plan('name = "holdout"')), "-o", str(folder / "out"), "-q"]
    assert main([*words, "--backend", "sequential"]) == 130
    said = f"interrupted; the predictions had been written: {folder / 'out' / 'predictions.parquet'}\n"
    assert capsys.readouterr().err == said
    assert (folder / "out" / "predictions.parquet").is_file()


def interrupted(*_words: object) -> None:
    """Stand in for what a user interrupts."""
    raise KeyboardInterrupt
