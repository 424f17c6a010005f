"""Tails and quantiles agree with scipy.stats, which a run does without (tests/cli/test_start_up.py)."""

import numpy as np
import pytest
from scipy import stats

from evalreport.engine import distributions as d
from evalreport.engine.ranks import mid_ranks_of_rows

TOLERANCE = 1e-12
"""Two routes to the same number in double precision; scipy.stats is the reference."""


@pytest.mark.parametrize("x", [0.0, 0.3, 1.96, 7.0, 30.0])
@pytest.mark.parametrize("df", [1, 2, 9, 1e6])
def test_tails(x: float, df: float) -> None:
    """Upper tails of the normal, t, chi-squared and F distributions, far out as well."""
    assert d.normal_tail(x) == pytest.approx(stats.norm.sf(x), rel=TOLERANCE)
    assert d.t_tail(x, df) == pytest.approx(stats.t.sf(x, df), rel=TOLERANCE)
    assert d.t_tail(-x, df) == pytest.approx(stats.t.cdf(x, df), rel=TOLERANCE)
    assert d.chi2_tail(x, df) == pytest.approx(stats.chi2.sf(x, df), rel=TOLERANCE)
    assert d.f_tail(x, df, 5) == pytest.approx(stats.f.sf(x, df, 5), rel=1e-10)  # by another series


@pytest.mark.parametrize("p", [1e-6, 0.025, 0.5, 0.975])
def test_quantiles(p: float) -> None:
    """Quantiles of the normal, t and beta distributions."""
    assert d.normal_quantile(p) == pytest.approx(stats.norm.ppf(p), rel=TOLERANCE, abs=TOLERANCE)
    assert d.t_quantile(p, 7) == pytest.approx(stats.t.ppf(p, 7), rel=TOLERANCE, abs=TOLERANCE)
    assert d.beta_quantile(p, 0.5, 30.5) == pytest.approx(stats.beta.ppf(p, 0.5, 30.5), rel=TOLERANCE)


@pytest.mark.parametrize(("n", "p"), [(1, 0.5), (30, 0.5), (1000, 0.5), (1_000_000, 0.5), (200, 0.03)])
def test_binomial(n: int, p: float) -> None:
    """Distribution function, tail and fair probabilities of a binomial, at the ends and in the tails."""
    for k in {0, 1, n // 2 - 3, n // 2, n - 1, n}:
        assert d.binomial_at_most(k, n, p) == pytest.approx(stats.binom.cdf(k, n, p), rel=1e-11, abs=1e-300)
        assert d.binomial_at_least(k, n, p) == pytest.approx(
            stats.binom.sf(k - 1, n, p), rel=1e-11, abs=1e-300
        )
    k = np.unique(np.clip(np.linspace(n / 2 - 40, n / 2 + 40, 9).round(), 0, n))
    found = d.fair_binomial(k, np.full(len(k), n))
    # Differences of the distribution function: its rounding, by how many steps it has gone up.
    np.testing.assert_allclose(found, stats.binom.pmf(k, n, 0.5), rtol=1e-9)


def test_no_toss_and_all_outcomes() -> None:
    """No toss has one outcome, of probability 1; the outcomes of seven tosses have their binomial coefficients."""
    assert d.fair_binomial(np.array([0.0]), np.array([0])).tolist() == [1.0]
    found = d.fair_binomial(np.arange(8.0), np.full(8, 7)) * 128
    np.testing.assert_allclose(found, [1, 7, 21, 35, 35, 21, 7, 1], rtol=1e-12)


def test_mid_ranks_of_rows() -> None:
    """Ranks within rows, ties sharing their mean, are those of scipy.stats.rankdata."""
    values = np.random.default_rng(1).integers(0, 4, size=(200, 5)).astype(np.float64)
    np.testing.assert_array_equal(mid_ranks_of_rows(values), stats.rankdata(values, axis=1))


def test_a_root_needs_two_signs() -> None:
    """Ends of one sign are refused; an end that is a root is returned."""
    with pytest.raises(ValueError, match="different signs"):
        d.root(lambda x: x * x + 1, -1, 1)
    assert d.root(lambda x: x, 0, 1) == 0
    assert d.root(lambda x: x - 1, 0, 1) == 1
