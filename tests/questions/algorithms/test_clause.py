"""The clause on learning curves that cross."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping

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


def point(model: str, size: int, error: float, half: float | None = 0.03) -> LearningPointRecord:
    """A point of the curve of test errors; the last size is where the models are compared."""
    empty = dict.fromkeys(f.name for f in dataclasses.fields(LearningPointRecord))
    values = {"model": model, "x": float(size), "axis": "train_size", "part": "test", "metric": "error_rate"}
    limits = {} if half is None else {"low": error - half, "high": error + half}
    return LearningPointRecord(**empty | values | limits | {"value": error, "used": size == 1600})  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "primary, words", [("accuracy", "the better accuracy"), ("mcc", "the better error rate")]
)
def test_the_curve_is_told_in_the_words_of_the_sentence(primary: str, words: str) -> None:
    """Errors are what accuracy leaves of 1, so the clause speaks of accuracy; beside another metric of themselves."""
    found = told(primary, dict.fromkeys((50, 400, 1600), 0.03))
    assert found == f"with 400 training rows or fewer shallow has {words}"


@pytest.mark.parametrize(
    ("halves", "words"),
    [
        ({50: 0.03, 400: 0.06, 1600: 0.03}, "with 50 training rows shallow has the better accuracy"),
        ({50: 0.15, 400: 0.03, 1600: 0.03}, None),
        ({50: None, 400: None, 1600: 0.03}, None),
    ],
)
def test_a_curve_crosses_where_that_is_shown(halves: dict[int, float | None], words: str | None) -> None:
    """Of two learners that are equally good with few rows one was said to be better there in every second run."""
    assert told("accuracy", halves) == words


def told(primary: str, halves: Mapping[int, float | None]) -> str | None:
    """Return the clause on the curves, with half the width of the intervals at each size."""
    errors = ERRORS | {("shallow", 1600): 0.09}
    curve = [point(model, size, error, halves[size]) for (model, size), error in errors.items()]
    value = 0.96 if primary == "accuracy" else 0.7
    rows = [metric("deep", primary, value, value - 0.01, value + 0.01)]
    results = results_with(rows, models=("deep", "shallow"))
    results = dataclasses.replace(results, primary_metric=primary, learning_curves=tuple(curve))
    found = clause(Facts(results), AHEAD)
    return None if found is None else str(found)
