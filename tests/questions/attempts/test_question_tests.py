"""Tests of single questions agree with scipy, with enumeration and with hand calculations."""

from __future__ import annotations

import math
from itertools import combinations

import numpy as np
import pytest
from scipy import stats

from evalreport.comparisons.adjustment import adjust
from evalreport.questions.attempts.compute import (
    attempts_needed,
    fisher_midp,
    permutation_midp,
    smallest_midp,
)


@pytest.mark.parametrize(
    ("a", "n_a", "b", "n_b"), [(9, 10, 2, 10), (4, 4, 0, 4), (3, 7, 5, 6), (0, 5, 0, 5), (1, 3, 9, 30)]
)
def test_midp_is_half_way_between_fishers_p_and_the_p_of_rarer_tables(a, n_a, b, n_b):
    """Scipy's fisher_exact, less half of the tables that are as probable as the one seen."""
    p = stats.fisher_exact([[a, n_a - a], [b, n_b - b]]).pvalue
    law = stats.hypergeom(n_a + n_b, a + b, n_a)
    every = law.pmf(np.arange(n_a + 1))
    alike = every[np.isclose(every, law.pmf(a), rtol=1e-7)].sum()
    assert fisher_midp(a, n_a, b, n_b) == pytest.approx(p - alike / 2, rel=1e-9)


def test_swapped_models_have_the_same_p():
    """TRAPS C."""
    assert fisher_midp(9, 10, 2, 12) == pytest.approx(fisher_midp(2, 12, 9, 10), rel=1e-12)
    a, b = np.array([0.1, 0.4, 0.9]), np.array([0.5, 0.6])
    assert permutation_midp(a, b) == pytest.approx(permutation_midp(b, a))


def test_permutation_of_passes_is_fishers_midp_where_both_have_as_many_attempts():
    """With equal numbers the tables rank alike by probability and by difference."""
    a, b = np.array([1.0, 1, 1, 0, 1]), np.array([0.0, 0, 1, 0, 0])
    assert permutation_midp(a, b) == pytest.approx(fisher_midp(4, 5, 1, 5))


def test_permutation_against_enumeration():
    """All 35 ways to share out seven outcomes."""
    a, b = np.array([0.2, 0.9, 0.7]), np.array([0.1, 0.3, 0.35, 0.2])
    pooled, seen = np.concatenate([a, b]), abs(a.mean() - b.mean())
    gaps = []
    for chosen in combinations(range(7), 3):
        own = pooled[list(chosen)]
        gaps.append(abs(own.mean() - (pooled.sum() - own.sum()) / 4))
    gaps = np.array(gaps)
    expected = ((gaps > seen + 1e-12).sum() + (np.abs(gaps - seen) <= 1e-12).sum() / 2) / 35
    assert permutation_midp(a, b) == pytest.approx(expected)


@pytest.mark.slow
def test_drawn_arrangements_agree_with_the_normal_law_and_never_give_zero():
    """Twelve attempts each: 2.7 million arrangements, of which some are drawn."""
    rng = np.random.default_rng(8)
    a, b = rng.normal(size=12), rng.normal(size=12) + 0.9
    exact = stats.permutation_test(
        (a, b), lambda x, y, axis: x.mean(axis) - y.mean(axis), vectorized=True, n_resamples=40_000, rng=1
    ).pvalue
    assert permutation_midp(a, b, draws=40_000) == pytest.approx(exact, abs=5 * math.sqrt(exact / 20_000))
    far = permutation_midp(a, b + 100, draws=20_000)
    assert 0 < far < 1e-3
    assert permutation_midp(a, b, draws=40_000) == permutation_midp(a[::-1].copy(), b, draws=40_000)


def test_unit_of_the_outcomes_changes_nothing():
    """TRAPS AP."""
    a, b = np.array([0.2, 0.9, 0.7]), np.array([0.1, 0.3, 0.35, 0.2])
    assert (
        permutation_midp(1e-12 * a, 1e-12 * b) == permutation_midp(1e9 * a, 1e9 * b) == permutation_midp(a, b)
    )


def test_how_many_attempts_a_family_needs():
    """CONTRACT 3: the least k with m / C(2k, k) <= alpha; 20 questions: 6."""
    assert attempts_needed(20, 0.05) == 6
    assert attempts_needed(40, 0.05) == 6
    assert 20 / math.comb(12, 6) <= 0.05 < 20 / math.comb(10, 5)
    # Forty questions of four attempts: an adjusted p of 0.57 even for a fall from 4 of 4 to none.
    assert 40 * smallest_midp(4, 4) == pytest.approx(40 / 70)


def test_holm_and_bh_over_questions_agree_with_statsmodels():
    """statsmodels.stats.multitest.multipletests."""
    multitest = pytest.importorskip("statsmodels.stats.multitest")
    p = [fisher_midp(a, 10, b, 10) for a, b in [(10, 1), (9, 0), (10, 2), (0, 10), (7, 10), (5, 8), (5, 5)]]
    for own, theirs in (("holm", "holm"), ("bh", "fdr_bh"), ("bonferroni", "bonferroni")):
        assert adjust(p, own) == pytest.approx(
            multitest.multipletests(p, method=theirs)[1].tolist(), rel=1e-12
        )
