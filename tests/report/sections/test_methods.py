"""How results were decided: what the report says of the tests and of what its intervals are about."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable

import pytest

import evalreport as er
from evalreport.report.sections import methods
from evalreport.report.sections.glossary import holds_here, why_chosen
from evalreport.report.view import view_of
from evalreport.schema.results import Results
from evalreport.texts import say
from tests.samples.differences import TWO, with_differences

Simulate = Callable[..., Results]


@pytest.mark.parametrize(
    "design, words",
    [("test-set", "these fitted models on examples like these"), ("cross-validation", "about the algorithms"),
     ("datasets", "data sets like these"), ("seeds", "retraining"), ("bootstrap", "mean over the fits")],
)  # fmt: skip
def test_the_scope_of_the_intervals_is_that_of_the_design(
    simulate: Simulate, design: str, words: str
) -> None:
    """What an interval is about depends on what was repeated; exactly one sentence of the methods says it."""
    said = methods.describe(view_of(dataclasses.replace(simulate(), design=design))).text
    assert said.count(words) == 1
    assert (say("methods.conditional", n=5) in said) == (design == "test-set")


def test_each_test_says_why_it_is_there(simulate: Callable[..., Results]) -> None:
    """The deciding test says why, a companion that it stands beside; few disagreements are counted."""
    view = view_of(with_differences(simulate(TWO)))
    assert why_chosen(view, "mcnemar_midp").startswith("the models answer the same examples")
    assert "beside" in why_chosen(view, "mcnemar_exact")
    assert "b + c is 35: enough" in holds_here(view, "mcnemar")
    assert "independence of the examples is assumed" in holds_here(view, "mcnemar_midp")


@pytest.mark.usefixtures("primary_alone")
def test_squared_errors_are_spoken_of_where_the_metric_is_made_of_them() -> None:
    """Of RMSE, and not of seconds."""
    truth = [float(i % 9) for i in range(60)]
    off = {"a": 0.5, "b": 1.5}
    numbers = {m: [t + by * (i % 3 - 1) for i, t in enumerate(truth)] for m, by in off.items()}
    of_rmse = methods.describe(view_of(er.evaluate(numbers, truth=truth, task="regression", resamples=50)))
    assert "RMSE and R² are compared by their squared errors" in of_rmse.text
    seconds = {m: {"seconds": [1 + by * (i % 4) for i in range(60)]} for m, by in off.items()}
    of_seconds = methods.describe(view_of(er.evaluate(seconds, outcome="seconds", resamples=50)))
    assert "by the paired t test. The values are means over the same examples. " in of_seconds.text
