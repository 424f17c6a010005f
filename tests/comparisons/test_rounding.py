"""Differences that are rounding: models whose losses agree in every row are neither better nor worse."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest

import evalreport as er
from tests.samples.cases import every

Y = np.random.default_rng(81).normal(size=60)


def rows(a: dict[str, Any], b: dict[str, Any], **options: Any) -> dict[str, Any]:
    """Return the recommended rows of two models' columns, by metric."""
    ids = {"id": [f"i{k:02d}" for k in range(60)]}
    frames = {name: pd.DataFrame(ids | columns) for name, columns in (("a", a), ("b", b))}
    results = er.evaluate(frames, resamples=20, **options)
    return {row.metric: row for row in results.comparisons if row.recommended}


@pytest.mark.parametrize("unit", [1e-6, 1.0, 1e6])
@pytest.mark.parametrize("metric", ["interval_score[level=0.9]", "interval_width[level=0.9]"])
def test_intervals_of_one_width_do_not_differ(metric: str, unit: float) -> None:
    """Y - 0.7 to y + 0.5 and y - 0.5 to y + 0.7: the widths differ in the last bit, which decided with p = 1e-8."""
    a, b = (
        {"y_true": Y * unit, "y_low": (Y - low) * unit, "y_high": (Y + high) * unit}
        for low, high in ((0.7, 0.5), (0.5, 0.7))
    )
    row = rows(a, b, level=0.9)[metric]
    assert (row.difference, row.low, row.high, row.p_value) == (0.0, None, None, 1.0)
    assert "no variation" in str(row.reason)


@pytest.mark.parametrize("metric", ["rmse", "mae", "mse", "r2"])
@pytest.mark.parametrize("offset", every(2, [0.0, 1e3]))
def test_errors_of_one_size_do_not_differ(metric: str, offset: float) -> None:
    """Errors of 0.3 upwards and of 0.3 downwards: MAE's p was 2e-6, and the headline had seventeen digits."""
    truth = Y + offset
    row = rows({"y_true": truth, "y_pred": truth + 0.3}, {"y_true": truth, "y_pred": truth - 0.3})[metric]
    assert (row.difference, row.low, row.high, row.p_value) == (0.0, None, None, 1.0)


def test_outcomes_that_are_equal_but_for_rounding_do_not_differ() -> None:
    """0.1 + 0.2 and 0.3 are one outcome: p is 1, as of two models that are the same."""
    steps = np.arange(60) % 7 * 0.1
    row = rows({"outcome": steps + 0.3}, {"outcome": steps + 0.1 + 0.2})["mean_outcome"]
    assert (row.difference, row.p_value) == (0.0, 1.0)


def test_a_small_difference_in_every_row_is_one() -> None:
    """A millionth of the losses, with a spread of its own, is no rounding: the paired t test's own p-value."""
    errors = np.abs(Y) + 0.5
    wider = errors * (1 + 1e-6 * (1 + np.arange(60) % 2))
    row = rows({"y_true": Y, "y_pred": Y + errors}, {"y_true": Y, "y_pred": Y + wider})["mae"]
    assert row.p_value is not None
    assert row.p_value < 1e-10
    assert row.difference == pytest.approx(-(wider - errors).mean(), rel=1e-6)
