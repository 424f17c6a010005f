"""Quantiles of costs agree with scipy's quantile_test and with the reference values."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from evalreport.intervals.order_statistics import fewest_answers, independent_answers, quantile_limits
from tests.reference.third_round import assert_agrees, each
from tests.samples.cases import quick


@each("cost_quantiles")
def test_median_and_95th_percentile_of_attempts(case):
    """Forty questions of four attempts each."""
    x, question = np.array(case["input"]["costs"]), np.array(case["input"]["question"])
    found = {}
    for name, share in (("median", 0.5), ("p95", 0.95)):
        value, bounds = quantile_limits(x, share, 0.95, question)
        found |= {name: value, f"{name}_low": bounds.low, f"{name}_high": bounds.high}
        found[f"{name}_n_star"] = independent_answers(x, value, 0.95, question)
    assert_agrees(found, case)


@pytest.mark.parametrize("n", [1, 5, 6, 10, 30, 71, 72, 200])
@pytest.mark.parametrize("share", [0.5, 0.95])
@pytest.mark.parametrize("level", quick([0.9, 0.95, 0.99], [0.95]))
@pytest.mark.parametrize("ties", [False, True])
def test_limits_are_those_of_scipy(n, share, level, ties):
    """scipy.stats.quantile_test(...).confidence_interval, with ties too; its nan is no limit."""
    x = np.random.default_rng(n).lognormal(size=n)
    x = np.round(x) if ties else x
    value, bounds = quantile_limits(x, share, level)
    theirs = stats.quantile_test(x, q=1.0, p=share).confidence_interval(confidence_level=level)
    assert value == np.quantile(x, share)
    for own, their in zip((bounds.low, bounds.high), theirs, strict=True):
        assert own == their or (own is None and np.isnan(their))


def test_the_95th_percentile_needs_72_answers():
    """METHODS 6R; the median needs 6."""
    assert (fewest_answers(0.95, 0.95), fewest_answers(0.5, 0.95)) == (72, 6)
    x = np.arange(72.0)
    assert quantile_limits(x, 0.95, 0.95)[1].high == 71
    bounds = quantile_limits(x[:71], 0.95, 0.95)[1]
    assert bounds.high is None
    assert (bounds.reason.code, bounds.reason.params["needed"]) == ("costs.few_for_quantile", 72)


def test_attempts_that_are_all_alike_count_once():
    """Thirty questions of five equal answers: not more than thirty independent ones, so no upper limit."""
    x = np.repeat(np.random.default_rng(1).lognormal(size=30), 5)
    _, bounds = quantile_limits(x, 0.95, 0.95, np.repeat(np.arange(30), 5))
    assert bounds.high is None
    assert bounds.reason.params["n"] <= 30
