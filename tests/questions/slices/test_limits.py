"""Limits of differences and ratios of two values, and Fisher's mid-p."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import optimize, stats
from statsmodels.stats.proportion import confint_proportions_2indep, proportion_confint

from evalreport.questions.slices.limits import Successes, fisher, proportions_ratio
from tests.samples.cases import every


@pytest.mark.parametrize("table", [(3, 4, 1, 4), (7, 12, 1, 7), (20, 60, 290, 300), (0, 30, 12, 200)])
def test_midp_is_fishers_p_less_half_of_the_observed_table(table):
    """Scipy's fisher_exact, less half of the probability of the tables that are as probable as the observed one."""
    x1, n1, x2, n2 = table
    exact = stats.fisher_exact([[x1, n1 - x1], [x2, n2 - x2]]).pvalue
    tables = stats.hypergeom(n1 + n2, x1 + x2, n1).pmf(np.arange(max(0, x1 + x2 - n2), min(n1, x1 + x2) + 1))
    observed = stats.hypergeom(n1 + n2, x1 + x2, n1).pmf(x1)
    equal = tables[np.isclose(tables, observed, rtol=1e-7, atol=0)].sum()
    assert fisher(Successes(*table)) == pytest.approx(exact - equal / 2, rel=1e-6)


@pytest.mark.parametrize("n1, n2, p", every(3, [(30, 150, 0.7), (60, 150, 0.85), (40, 80, 0.5)]))
@pytest.mark.parametrize("alpha", [0.05, 0.005, 0.0005])
def test_midp_holds_its_size_far_out(n1, n2, p, alpha):
    """Over all tables of two equal proportions it rejects at most 5 % more often than it says, in the tails too."""
    x1, x2 = np.arange(n1 + 1), np.arange(n2 + 1)
    probability = np.outer(stats.binom.pmf(x1, n1, p), stats.binom.pmf(x2, n2, p))
    likely = np.argwhere(probability > 1e-8)
    rejected = sum(probability[i, j] for i, j in likely if fisher(Successes(i, n1, j, n2)) <= alpha)
    assert 0 < rejected <= 1.05 * alpha


def test_midp_of_a_million_is_quick_and_never_zero():
    """Tables far from the mean are left out, the observed one never: equal shares give 1, unlike ones a tiny p."""
    assert fisher(Successes(90_000, 100_000, 810_000, 900_000)) == pytest.approx(1.0, abs=0.01)
    assert 0 < fisher(Successes(10_000, 100_000, 810_000, 900_000)) < 1e-300


@pytest.mark.parametrize("table", [(56, 70, 48, 80), (20, 60, 290, 300), (3, 40, 1, 50), (0, 30, 12, 200)])
def test_ratio_limits_solve_their_equations(table):
    """(p1 - R p2)^2 = (p1 - l1)^2 + R^2 (u2 - p2)^2 below and its mirror above, with statsmodels' Wilson limits."""
    x1, n1, x2, n2 = table
    p1, p2 = x1 / n1, x2 / n2
    l1, u1 = proportion_confint(x1, n1, method="wilson")
    l2, u2 = proportion_confint(x2, n2, method="wilson")
    found = proportions_ratio(Successes(*table), 0.95)
    assert found.low is not None
    assert found.high is not None

    def lower(r):
        return (p1 - r * p2) ** 2 - (p1 - l1) ** 2 - (r * (u2 - p2)) ** 2

    def upper(r):
        return (p1 - r * p2) ** 2 - (u1 - p1) ** 2 - (r * (p2 - l2)) ** 2

    if p1 > 0:
        assert found.low == pytest.approx(optimize.brentq(lower, 0, p1 / p2), abs=1e-9)
    else:
        assert found.low == 0
    assert found.high == pytest.approx(optimize.brentq(upper, p1 / p2, 1e4), rel=1e-6)


def test_ratio_limits_lie_near_the_score_limits():
    """Statsmodels' score interval of the ratio, another method, differs by a few per cent on a hundred examples."""
    found = proportions_ratio(Successes(56, 70, 48, 80), 0.95)
    low, high = confint_proportions_2indep(56, 70, 48, 80, compare="ratio", method="score")
    assert (found.low, found.high) == pytest.approx((low, high), rel=0.02)
