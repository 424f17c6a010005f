"""The clause on learning curves that cross."""

from __future__ import annotations

import dataclasses

import pytest

from evalreport.headline.facts import Facts
from evalreport.headline.lead import Lead
from evalreport.questions.algorithms.clause import clause
from evalreport.questions.algorithms.records import LearningPointRecord
from evalreport.texts import plain
from tests.samples.gates import metric, results_with

AHEAD = Lead("ahead", plain("deep is ahead of shallow"), "deep", "shallow")
ERRORS = {
    ("deep", 50): 0.4,
    ("shallow", 50): 0.2,
    ("deep", 400): 0.2,
    ("shallow", 400): 0.12,
    ("deep", 1600): 0.04,
}


def point(model: str, size: int, error: float) -> LearningPointRecord:
    """A point of the curve of test errors; the last size is where the models are compared."""
    empty = dict.fromkeys(f.name for f in dataclasses.fields(LearningPointRecord))
    values = {"model": model, "x": float(size), "axis": "train_size", "part": "test", "metric": "error_rate"}
    return LearningPointRecord(**empty | values | {"value": error, "used": size == 1600})  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "primary, words", [("accuracy", "the better accuracy"), ("mcc", "the better error rate")]
)
def test_the_curve_is_told_in_the_words_of_the_sentence(primary: str, words: str) -> None:
    """Errors are what accuracy leaves of 1, so the clause speaks of accuracy; beside another metric of themselves."""
    curve = [point(model, size, error) for (model, size), error in ERRORS.items()]
    curve.append(point("shallow", 1600, 0.09))
    value = 0.96 if primary == "accuracy" else 0.7
    rows = [metric("deep", primary, value, value - 0.01, value + 0.01)]
    results = results_with(rows, models=("deep", "shallow"))
    results = dataclasses.replace(results, primary_metric=primary, learning_curves=tuple(curve))
    assert str(clause(Facts(results), AHEAD)) == f"with 400 training rows or fewer shallow has {words}"
