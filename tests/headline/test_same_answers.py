"""What the headline says of models whose values are equal: sameness is claimed only where results.json shows it."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest

import evalreport as er

Y = np.arange(60) % 13 * 0.25
SCORES = np.arange(60) % 4 * 1.0


def verdict(a: dict[str, Any], b: dict[str, Any], **options: Any) -> str:
    """Return the headline of two models' columns."""
    ids = {"id": [f"i{k:02d}" for k in range(60)]}
    frames = {name: pd.DataFrame(ids | columns) for name, columns in (("a", a), ("b", b))}
    return str(er.evaluate(frames, resamples=20, **options).verdict)


def intervals(low: float, high: float) -> dict[str, Any]:
    """Return prediction intervals from so far below the truth to so far above."""
    return {"y_true": Y, "y_low": Y - low, "y_high": Y + high}


@pytest.mark.parametrize(("low", "high"), [(0.5, 0.75), (0.7, 0.5)])
def test_intervals_of_one_score_may_be_others(low: float, high: float) -> None:
    """The mirrored intervals have the same score and width in every row: they are no same answers."""
    said = verdict(intervals(low, high), intervals(high, low), level=0.9)
    assert said.startswith("No verdict: 60 examples do not allow an interval of a difference (no variation")


def test_equal_totals_of_unlike_outcomes_are_no_same_outcomes() -> None:
    """Graded outcomes in another order have the same mean."""
    said = verdict({"outcome": SCORES}, {"outcome": SCORES[::-1]})
    assert said.startswith("60 examples do not show which of a and b is better on outcome")


def test_equal_outcomes_are_outcomes_and_no_answers() -> None:
    """Two models that are right on the same questions may have answered them otherwise."""
    said = verdict({"outcome": SCORES}, {"outcome": SCORES})
    assert said.startswith("a and b have the same outcome on all 60 examples (outcome 1.50")
