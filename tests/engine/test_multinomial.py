"""The fast draws of bootstrap weights are exactly multinomial(n, 1/n)."""

from itertools import product

import numpy as np
import pytest
from scipy import stats

from evalreport.engine.draws import column_sums, uniform_multinomial


@pytest.mark.parametrize("n", [1, 2, 3, 1000, 20_001])
def test_every_sample_has_full_size(n: int) -> None:
    """Every sample holds n units, whatever the Poisson total was."""
    weights = uniform_multinomial(n, 50, np.random.default_rng(1))
    assert weights.shape == (n, 50)
    assert column_sums(weights).tolist() == [n] * 50
    assert (weights.sum(axis=0, dtype=np.int64) == n).all()


def test_distribution_of_whole_samples() -> None:
    """All 10 outcomes of multinomial(3, 1/3) occur as often as their probabilities say (chi-squared, fixed seed)."""
    draws = uniform_multinomial(3, 60_000, np.random.default_rng(2)).T
    outcomes = [o for o in product(range(4), repeat=3) if sum(o) == 3]
    observed = [int((draws == o).all(axis=1).sum()) for o in outcomes]
    expected = 60_000 * stats.multinomial.pmf(outcomes, 3, [1 / 3] * 3)
    assert stats.chisquare(observed, expected).pvalue > 0.001


def test_counts_of_one_row_are_binomial() -> None:
    """One row's count is binomial(n, 1/n), tails included (chi-squared, fixed seed)."""
    n, size = 500, 4000
    counts = np.bincount(uniform_multinomial(n, size, np.random.default_rng(3)).ravel(), minlength=7)
    probabilities = stats.binom.pmf(np.arange(6), n, 1 / n)
    observed = [*counts[:6], counts[6:].sum()]
    # The counts of one sample are negatively correlated, so the statistic is a little small: the test is valid.
    expected = n * size * np.array([*probabilities, 1 - probabilities.sum()])
    assert stats.chisquare(observed, expected).pvalue > 0.001


def test_two_rows_of_a_sample_are_negatively_correlated() -> None:
    """The covariance of two rows' counts is -1/n, which independent Poisson counts would not have."""
    n, size = 5, 40_000
    covariance = np.cov(uniform_multinomial(n, size, np.random.default_rng(4)))[0, 1]
    assert covariance == pytest.approx(-1 / n, abs=4 * (1 - 1 / n) / np.sqrt(size))
