"""The heading about calibration: what the corrected test shows, and what a model's own interval doubts."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import evalreport as er
from evalreport.questions.calibration.findings import Finding, calibration_findings, calibration_heading

pytestmark = pytest.mark.usefixtures("primary_alone")

RNG = np.random.default_rng(17)
P = RNG.uniform(0.05, 0.6, 800)
Y = (RNG.random(800) < P).astype(int)
DATA = {"a": {"id": [f"e{k}" for k in range(800)], "y_true": Y, "p_1": P}}


@pytest.mark.parametrize(
    "low, high, begins",
    [
        (0.8, 1.2, "No miscalibration shows"),
        (0.56, 0.91, "Perhaps too high, not shown by the corrected test"),
        (1.1, 1.5, "Perhaps too low, not shown by the corrected test"),
    ],
)
def test_an_interval_that_leaves_out_1_is_not_said_to_show_nothing(
    low: float, high: float, begins: str
) -> None:
    """The test shows nothing in all three; the interval of observed over predicted decides the words."""
    (found,) = calibration_findings(er.evaluate(DATA, resamples=20))
    assert found.kind == "none"
    record = replace(found.record, observed_expected_low=low, observed_expected_high=high)
    heading = calibration_heading([Finding(record, found.kind, found.p_adjusted)], lambda name: name)
    assert str(heading).startswith(begins)


@pytest.mark.slow
def test_where_none_shows_the_heading_names_the_first_of_the_board() -> None:
    """Not the first of the alphabet where all p-values are 1; before it a model whose interval leaves out 1."""
    worse = np.where(np.arange(800) % 4 == 0, RNG.permutation(P), P)
    models = {name: {**DATA["a"], "p_1": p} for name, p in (("a_worse", worse), ("b_better", P))}
    results = er.evaluate(models, resamples=20)
    calm = [
        replace(r, p_value=0.9, observed_expected_low=0.9, observed_expected_high=1.1)
        for r in results.calibration
    ]
    first = calibration_findings(replace(results, calibration=tuple(calm)), ["b_better", "a_worse"])[0]
    assert str(calibration_heading([first], str)).startswith("No miscalibration shows: b_better ")
    doubted = [
        replace(r, observed_expected_low=1.02, observed_expected_high=1.3) if r.model == "a_worse" else r
        for r in calm
    ]
    first = calibration_findings(replace(results, calibration=tuple(doubted)), ["b_better", "a_worse"])[0]
    assert str(calibration_heading([first], str)).startswith(
        "Perhaps too low, not shown by the corrected test: a_worse "
    )
