"""Draws of bootstrap weights are multinomial(n, 1/n)."""

from itertools import product

import numpy as np
import pytest
from scipy import stats

from evalreport.engine.draws import bootstrap_cells_within, bootstrap_rows, bootstrap_rows_within


def drawn(n: int, size: int, seed: int) -> np.ndarray:
    """Return samples of n rows: how often each was drawn, (n, size)."""
    return np.concatenate([*bootstrap_rows(n, size, seed=seed)]).T.astype(np.int64)


@pytest.mark.parametrize("n", [1, 2, 3, 1000, 20_001])
def test_every_sample_has_full_size(n: int) -> None:
    """Every sample holds n units."""
    weights = drawn(n, 50, 1)
    assert weights.shape == (n, 50)
    assert (weights.sum(axis=0) == n).all()


@pytest.mark.parametrize("n_resamples", [0, 1, 128, 129, 300])
def test_so_many_samples_are_drawn_as_were_asked_for(n_resamples: int) -> None:
    """In every number of blocks; none where none are asked for."""
    blocks = list(bootstrap_rows(20_000, n_resamples, seed=0))
    assert sum(map(len, blocks)) == n_resamples
    assert all((block.sum(axis=1) == 20_000).all() for block in blocks)


def test_distribution_of_whole_samples() -> None:
    """All 10 outcomes of multinomial(3, 1/3) occur as often as their probabilities say (chi-squared, fixed seed)."""
    draws = drawn(3, 60_000, 2).T
    outcomes = [o for o in product(range(4), repeat=3) if sum(o) == 3]
    observed = [int((draws == o).all(axis=1).sum()) for o in outcomes]
    expected = 60_000 * stats.multinomial.pmf(outcomes, 3, [1 / 3] * 3)
    assert stats.chisquare(observed, expected).pvalue > 0.001


def test_counts_of_one_row_are_binomial() -> None:
    """One row's count is binomial(n, 1/n), tails included (chi-squared, fixed seed)."""
    n, size = 500, 4000
    counts = np.bincount(drawn(n, size, 3).ravel(), minlength=7)
    probabilities = stats.binom.pmf(np.arange(6), n, 1 / n)
    observed = [*counts[:6], counts[6:].sum()]
    # The counts of one sample are negatively correlated, so the statistic is a little small: the test is valid.
    expected = n * size * np.array([*probabilities, 1 - probabilities.sum()])
    assert stats.chisquare(observed, expected).pvalue > 0.001


def test_two_rows_of_a_sample_are_negatively_correlated() -> None:
    """The covariance of two rows' counts is -1/n, which independent Poisson counts would not have."""
    n, size = 5, 40_000
    covariance = np.cov(drawn(n, size, 4))[0, 1]
    assert covariance == pytest.approx(-1 / n, abs=4 * (1 - 1 / n) / np.sqrt(size))


def test_names_of_strata_move_no_draw() -> None:
    """Classes 0, 1, 2 that are called 2, 0, 1 are drawn alike, and every class keeps its number of examples."""
    strata = np.array([1, 0, 1, 2, 0, 0, 1, 2, 2, 2])
    renamed = np.array([2, 0, 1])[strata]
    (first,), (second,) = ([*bootstrap_rows_within(codes, 50, seed=1)] for codes in (strata, renamed))
    assert (first == second).all()
    assert all((first[:, strata == k].sum(axis=1) == (strata == k).sum()).all() for k in range(3))
    counts = np.arange(1.0, 11.0)
    cells = [next(bootstrap_cells_within(counts, c.astype(np.int32), 50, seed=1)) for c in (strata, renamed)]
    assert (cells[0] == cells[1]).all()
