"""L-moments against Hosking's table of distributions and against the definition by subsets."""

from __future__ import annotations

import math
from itertools import combinations

import numpy as np
import pytest
from scipy import stats

from evalreport.engine.l_moments import l_ratios, upper_tail

SHARES = (np.arange(200_000) + 0.5) / 200_000


@pytest.mark.parametrize(
    ("law", "skewness", "kurtosis"),
    [
        (stats.uniform(), 0, 0),
        (stats.norm(), 0, 30 / math.pi * math.atan(math.sqrt(2)) - 9),
        (stats.logistic(), 0, 1 / 6),
        (stats.expon(), 1 / 3, 1 / 6),
        (stats.gumbel_r(), 0.1699, 0.1504),
        (stats.t(4), 0, 111 / 512),
    ],
)
def test_ratios_are_those_of_the_distribution(
    law: stats.rv_continuous, skewness: float, kurtosis: float
) -> None:
    """Hosking (1990), tables 1 and 2 (of t with 4 df the integral of its quantile 111/512); of a fine grid, 1e-3."""
    assert l_ratios(law.ppf(SHARES)) == pytest.approx((skewness, kurtosis), abs=1e-3)


def test_ratios_are_means_over_subsets() -> None:
    """By the definition: the r-th L-moment is a mean over all subsets of r values of differences of their order."""
    x = np.random.default_rng(3).standard_t(3, size=9)
    signs = {2: (-1, 1), 3: (1, -2, 1), 4: (-1, 3, -3, 1)}
    second, third, fourth = (
        np.mean([np.dot(signs[r], sorted(some)) / r for some in combinations(x, r)]) for r in (2, 3, 4)
    )
    assert l_ratios(x) == pytest.approx((third / second, fourth / second), rel=1e-12)


def test_ratios_do_not_change_with_the_unit() -> None:
    """Other units and another origin leave both, a mirror turns the skewness; equal values have none."""
    x = np.random.default_rng(4).exponential(size=40)
    skewness, kurtosis = l_ratios(x)
    assert l_ratios(3 + 1e6 * x) == pytest.approx((skewness, kurtosis), rel=1e-8)
    assert l_ratios(-x) == pytest.approx((-skewness, kurtosis), rel=1e-8)
    assert l_ratios(np.full(20, 7.0)) == (0, 0)


def test_a_tail_is_that_upwards() -> None:
    """Values that reach far down weigh as much as their mirror image, those of a long upper tail more."""
    normal = stats.norm.ppf((np.arange(400) + 0.5) / 400)
    assert upper_tail(normal) == pytest.approx(0.1226, abs=2e-3)
    low = normal.copy()
    low[:3] = -1e9
    assert upper_tail(low) < 0.13
    assert upper_tail(-low) > 0.9
    assert upper_tail(stats.t(4).ppf((np.arange(400) + 0.5) / 400)) > 0.2


def test_a_tail_of_equal_or_infinite_values_is_none() -> None:
    """Nothing is divided by 0, and no warning of numpy is raised."""
    assert (
        upper_tail(np.zeros(12))
        == upper_tail(np.full(12, 3.0))
        == upper_tail(np.array([1.0] * 11 + [np.inf]))
        == 0
    )
    assert np.isfinite(upper_tail(np.array([1e308, -1e308, *range(10)])))
