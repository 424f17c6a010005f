"""Two test sets of their own: variances add, and what is drawn is said of both."""

from __future__ import annotations

import numpy as np
import pytest

import evalreport as er
from evalreport.samplings.sampling import StudentError
from evalreport.samplings.two_sets import welch


def test_welch_s_degrees_of_freedom_are_the_formula() -> None:
    """(a + b)^2 / (a^2 / m + b^2 / n), with a and b the squared errors."""
    error = welch(StudentError(0.3, 9), StudentError(0.4, 19))
    assert error is not None
    assert error.error == pytest.approx(0.5)
    assert error.df == pytest.approx(0.25**2 / (0.09**2 / 9 + 0.16**2 / 19))


def test_a_side_without_an_error_leaves_none() -> None:
    """And two sides without spread have the fewer degrees of freedom."""
    assert welch(None, StudentError(0.4, 19)) is None
    assert welch(StudentError(0.0, 9), StudentError(0.0, 19)) == StudentError(0.0, 9)


def test_the_error_of_a_difference_is_the_root_of_both() -> None:
    """Losses of 40 and of 90 rows: the standard error of the difference of means, by numpy."""
    rng = np.random.default_rng(3)
    loss = {"a": rng.normal(1, 1, 40), "b": rng.normal(1.5, 2, 90)}
    frames = {name: {"id": [f"{name}{k}" for k in range(len(x))], "outcome": x} for name, x in loss.items()}
    results = er.evaluate(frames, join="independent", resamples=20, lower_is_better=True)
    (pair,) = [c for c in results.comparisons if c.recommended and c.a in ("a", "b")][:1]
    wanted = abs(loss["a"].mean() - loss["b"].mean())
    assert abs(pair.difference or 0.0) == pytest.approx(wanted, rel=1e-9)


def test_a_mean_of_few_rows_counts_wider_beside_another_set() -> None:
    """Outcomes of five levels, 12 rows and 400: each value's limits 1 + 6 / n as far away, squared and added."""
    rng = np.random.default_rng(9)
    outcome = {name: rng.integers(0, 5, n) / 4 for name, n in (("a", 12), ("b", 400))}
    frames = {
        name: {"id": [f"{name}{k}" for k in range(len(x))], "outcome": x} for name, x in outcome.items()
    }
    results = er.evaluate(frames, join="independent", resamples=20)
    (pair,) = [c for c in results.comparisons if c.recommended]
    sides = {}
    for record in results.metrics:
        if record.metric == "mean_outcome":
            leading = record.intervals[0]
            assert leading.low is not None
            assert leading.high is not None
            wider = 1 + 6 / len(outcome[record.model])
            sides[record.model] = wider * (record.value - leading.low), wider * (leading.high - record.value)
    low = pair.difference - np.hypot(sides["a"][0], sides["b"][1])
    high = pair.difference + np.hypot(sides["a"][1], sides["b"][0])
    assert (pair.low, pair.high) == pytest.approx((low, high), abs=1e-9)


def test_drawn_limits_of_two_sets_do_not_hang_on_units() -> None:
    """Relative absolute error in metres and in millimetres: the same limits."""
    random = np.random.default_rng(8)
    sets = {name: random.normal(size=(2, n)) for name, n in (("a", 60), ("b", 80))}
    in_metres, in_millimetres = (
        {
            name: {
                "id": [f"{name}{k}" for k in range(len(y))],
                "y_true": unit * y,
                "y_pred": unit * (y + error),
            }
            for name, (y, error) in sets.items()
        }
        for unit in (1.0, 1000.0)
    )
    limits = [
        [
            (record.difference, record.low, record.high)
            for record in er.evaluate(rows, join="independent", metrics=("rae",), resamples=200).comparisons
        ]
        for rows in (in_metres, in_millimetres)
    ]
    assert limits[0]
    assert np.array(limits[0], float) == pytest.approx(np.array(limits[1], float), rel=1e-9)
