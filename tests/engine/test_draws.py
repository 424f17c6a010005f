"""The fast draws of bootstrap weights are exactly multinomial(n, 1/n)."""

from itertools import product

import numpy as np
import pytest
from scipy import stats

from evalreport.engine.draws import TILE_ROWS, bootstrap_rows, column_sums, take_away
from tests.samples.draws import uniform_multinomial


@pytest.mark.parametrize("n", [1, 2, 3, 1000, 20_001])
def test_every_sample_has_full_size(n: int) -> None:
    """Every sample holds n units, whatever the Poisson total was."""
    weights = uniform_multinomial(n, 50, np.random.default_rng(1))
    assert weights.shape == (n, 50)
    assert column_sums(weights).tolist() == [n] * 50
    assert (weights.sum(axis=0, dtype=np.int64) == n).all()


@pytest.mark.parametrize("n_resamples", [0, 1, 128, 129, 300])
def test_so_many_samples_are_drawn_as_were_asked_for(n_resamples: int) -> None:
    """Of very many rows, where the last two blocks are of one size, too; none where none are asked for."""
    blocks = list(bootstrap_rows(20_000, n_resamples, seed=0))
    assert sum(map(len, blocks)) == n_resamples
    assert all((block.sum(axis=1) == 20_000).all() for block in blocks)


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


def test_units_fall_on_tiles_as_on_rows() -> None:
    """Units of a sample fall on both tiles as a binomial number does, and on each tile's rows as on one sample's."""
    n, size = TILE_ROWS + 1000, 4000
    share, pairs = 1000 / n, np.zeros(size)
    for start in range(0, size, 50):
        weights = uniform_multinomial(n, 50, np.random.default_rng(start))
        assert (column_sums(weights) == n).all()
        last = weights[TILE_ROWS:].astype(np.int64)
        pairs[start : start + 50] = last.sum(axis=0)
        assert last.max() < 20
    # Chi-squared with size - 1 degrees of freedom, 5 standard errors to each side.
    ratio = pairs.var(ddof=1) / (n * share * (1 - share))
    assert abs(ratio - 1) < 5 * np.sqrt(2 / size)
    assert abs(pairs.mean() - 1000) < 5 * np.sqrt(n * share / size)


def test_surplus_units_are_taken_away_one_as_likely_as_another() -> None:
    """A row that holds more units loses more: hypergeometric, by mean and variance."""
    held, drawn = np.array([5, 0, 1, 2], dtype=np.uint8), []
    random = np.random.default_rng(6)
    for _ in range(4000):
        sample = held.copy()
        take_away(sample, 3, random)
        drawn.append(held - sample)
    taken, share = np.array(drawn), held / held.sum()
    assert (taken.sum(axis=1) == 3).all()
    variance = 3 * share * (1 - share) * (8 - 3) / (8 - 1)
    assert (np.abs(taken.mean(axis=0) - 3 * share) <= 5 * np.sqrt(variance / 4000)).all()
    np.testing.assert_allclose(taken.var(axis=0), variance, rtol=0.15)


def test_two_rows_of_a_sample_are_negatively_correlated() -> None:
    """The covariance of two rows' counts is -1/n, which independent Poisson counts would not have."""
    n, size = 5, 40_000
    covariance = np.cov(uniform_multinomial(n, size, np.random.default_rng(4)))[0, 1]
    assert covariance == pytest.approx(-1 / n, abs=4 * (1 - 1 / n) / np.sqrt(size))
