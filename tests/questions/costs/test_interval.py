"""Intervals of costs agree with the reference values, with the rule of METHODS and with hand calculations."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import stats

from evalreport.questions.costs.interval import CostFigure, log_hall, stratum
from tests.reference.third_round import assert_agrees, each


def plain(relative):
    """Return one stratum of questions that count the same."""
    relative = np.asarray(relative, dtype=float)
    return stratum(relative, np.full(len(relative), 1 / len(relative)))


def limits_of(value, relative):
    """Return a figure of plain questions with its limits."""
    found = CostFigure(value, (plain(relative),))
    bounds = log_hall(found, 0.95)
    return {
        "estimate": value,
        "low": bounds.low,
        "high": bounds.high,
        "se": math.sqrt(found.strata[0].variance),
    }


@each("cost_mean")
def test_mean_cost(case):
    """Computed with mpmath in 40 digits."""
    x = np.array(case["input"]["costs"])
    assert_agrees(limits_of(float(x.mean()), x / x.mean() - 1), case)


@each("cost_ratio")
def test_ratio_of_mean_costs(case):
    """Computed with mpmath in 40 digits."""
    a, b = (np.array(case["input"][name]) for name in "ab")
    assert_agrees(limits_of(float(a.mean() / b.mean()), a / a.mean() - b / b.mean()), case)


@each("cost_per_success")
def test_cost_per_success(case):
    """Computed with mpmath in 40 digits."""
    c, s = (np.array(case["input"][name], dtype=float) for name in ("costs", "successes"))
    assert_agrees(limits_of(float(c.sum() / s.sum()), c / c.mean() - s / s.mean()), case)


def test_a_swapped_ratio_has_the_inverted_limits():
    """METHODS 6R: with a and b swapped the limits are inverted."""
    rng = np.random.default_rng(3)
    a, b = rng.lognormal(size=(2, 25))
    z = a / a.mean() - b / b.mean()
    there = log_hall(CostFigure(a.mean() / b.mean(), (plain(z),)), 0.95)
    back = log_hall(CostFigure(b.mean() / a.mean(), (plain(-z),)), 0.95)
    assert [there.low, there.high] == pytest.approx([1 / back.high, 1 / back.low], rel=1e-12)


def test_limits_do_not_depend_on_the_unit_of_the_costs():
    """A ratio scale: dollars or millionths of them."""
    x = np.random.default_rng(4).lognormal(size=20)
    first, second = (
        log_hall(CostFigure(float(v.mean()), (plain(v / v.mean() - 1),)), 0.9) for v in (x, 1e12 * x)
    )
    assert [second.low / 1e12, second.high / 1e12] == pytest.approx([first.low, first.high], rel=1e-12)


def test_costs_that_do_not_vary_have_no_limits():
    """A price list: METHODS 6R, edges."""
    bounds = log_hall(CostFigure(2.0, (plain(np.zeros(8)),)), 0.95)
    assert bounds.low is bounds.high is None
    assert bounds.reason.code == "costs.no_variation"


def test_weights_are_shares_and_kish_gives_the_degrees_of_freedom():
    """By hand: shares .5, .25, .25, so n_K = 1/(.25 + .125) = 8/3."""
    share, z = np.array([0.5, 0.25, 0.25]), np.array([0.2, -0.5, 0.1])
    found = stratum(z, share, weighted=True)
    assert found.df == pytest.approx(8 / 3 - 1)
    assert found.variance == pytest.approx(1.5 * ((share * z) ** 2).sum())


def test_clusters_are_the_units():
    """Singletons: G - 1 degrees of freedom and n/(n - 1) sum u^2, as without clusters."""
    z = np.random.default_rng(5).normal(size=12)
    z -= z.mean()
    apart, clustered = plain(z), stratum(z, np.full(12, 1 / 12), cluster=np.arange(12))
    assert clustered.variance == pytest.approx(apart.variance)
    assert clustered.df == pytest.approx(apart.df)
    assert stratum(z, np.full(12, 1 / 12), cluster=np.zeros(12, dtype=int)) is None


def test_strata_add_their_variances():
    """Two strata of one law: Welch's degrees of freedom, in the cut by the plain t."""
    z = np.array([1.0, -1.0] * 4) / 10
    one, two = stratum(z, np.full(8, 1 / 16)), stratum(z, np.full(8, 1 / 16))
    bounds = log_hall(CostFigure(1.0, (one, two)), 0.95)
    # Kurtosis 1 and skewness 0, so that t with 14 degrees of freedom remains.
    half = stats.t.ppf(0.975, 14) * math.sqrt(one.variance + two.variance)
    assert [bounds.low, bounds.high] == pytest.approx([math.exp(-half), math.exp(half)], rel=1e-12)
