"""The study of few losses: its intervals are the program's and scipy's, and nothing beside what leads holds."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from scipy import stats

import evalreport
from research.studies import tables
from research.studies.few_losses import intervals_of, johnson
from research.studies.numeric_designs import ERRORS

ROWS = tables.read(Path(__file__).resolve().parents[2] / "docs" / "few-losses.csv")


def test_what_leads_is_the_program_s() -> None:
    """The interval of the mean squared error of 30 skewed errors."""
    errors = ERRORS["skewed errors"](np.random.default_rng(2), 30)
    truth = np.random.default_rng(3).normal(size=30)
    results = evalreport.evaluate(
        {"a": {"y_pred": truth + errors}}, truth=truth, metrics=["mse"], resamples=2
    )
    leading = results.metrics[0].intervals[0]
    low, high = intervals_of(errors**2, np.random.default_rng(1))["hall_tail"]
    assert leading.method == "hall_tail"
    assert [leading.low, leading.high] == pytest.approx([low, high], rel=1e-9)


def test_bca_is_scipy_s() -> None:
    """The same interval by scipy, and Johnson's centre by its skewness.

    The 99 % point of 1,000 replicates has an error of 0.12 standard errors of the mean (sqrt(.01 x .99 / 1,000) over
    the normal density there): three of them.
    """
    x = ERRORS["normal errors"](np.random.default_rng(5), 100) ** 2
    found = intervals_of(x, np.random.default_rng(1))["bootstrap, BCa"]
    theirs = stats.bootstrap(
        (x,), np.mean, n_resamples=20_000, rng=np.random.default_rng(2)
    ).confidence_interval
    error = float(stats.sem(x))
    assert found == pytest.approx((theirs.low, theirs.high), abs=0.36 * error)
    low, high = johnson(x)
    moved = stats.skew(x) * x.std() ** 3 / (6 * 100 * x.var(ddof=1))
    assert (low + high) / 2 == pytest.approx(x.mean() + moved, rel=1e-12)


def test_nothing_measured_holds_where_what_leads_is_short() -> None:
    """Of 30 t3 errors and of 30 skewed ones: nothing else both holds 93 % and is less than twice as wide."""
    for errors in ("t3 errors", "skewed errors"):
        cell = [row for row in ROWS if (row["errors"], row["n"]) == (errors, "30")]
        assert float(cell[0]["upper"]) < 0.93
        for row in cell[1:]:
            assert float(row["upper"]) < 0.93 or float(row["width"]) > 2, row
    others = [row for row in ROWS if row["interval"] == "log-normal" and row["errors"] == "normal errors"]
    assert max(float(row["upper"]) for row in others) < 0.9
