"""Tests and sizes of changed data, each against scipy or a calculation by hand."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import stats

from evalreport.audit.drift import (
    drift_of_counts,
    drift_of_numbers,
    drift_of_pairs,
    fisher_exact,
    stability_index,
    wasserstein,
)

RNG = np.random.default_rng(3)
THEN, NOW = RNG.normal(0, 1, 400), RNG.normal(0.3, 1.2, 250)


def test_a_mix_of_categories_is_chi_square():
    """scipy.stats.chi2_contingency without continuity correction; Cramer's V is scipy's association."""
    then, now = np.array([120, 60, 20]), np.array([70, 90, 40])
    found = drift_of_counts(then, now)
    wanted = stats.chi2_contingency([then, now], correction=False)
    assert (found.statistic, found.p_value) == pytest.approx((wanted.statistic, wanted.pvalue), rel=1e-10)
    by_scipy = stats.contingency.association(np.array([then, now]), method="cramer")
    assert found.effect_size == pytest.approx(by_scipy, rel=1e-10)


def test_rare_categories_are_tested_together():
    """Seven values that are seen once to thrice count as one: the table of two columns that remains is scipy's."""
    then, now = np.array([300, 1, 2, 0, 1, 3, 1, 1]), np.array([250, 3, 3, 4, 2, 1, 2, 3])
    found = drift_of_counts(then, now)
    pooled = [[300, then[1:].sum()], [250, now[1:].sum()]]
    assert found.p_value == pytest.approx(stats.chi2_contingency(pooled, correction=False).pvalue, rel=1e-10)


@pytest.mark.parametrize("table", [((48, 2), (41, 9)), ((200, 0), (150, 4)), ((3, 5), (5, 3))])
def test_two_rare_categories_are_fishers_test(table):
    """scipy.stats.fisher_exact, two-sided; drift_of_counts takes it where fewer than 5 are expected."""
    wanted = stats.fisher_exact(table).pvalue
    assert fisher_exact(*np.array(table, dtype=float)) == pytest.approx(wanted, rel=1e-8)
    found = drift_of_counts(*np.array(table))
    if found.test == "fisher_exact":
        assert found.p_value == pytest.approx(wanted, rel=1e-8)
    else:
        assert stats.contingency.expected_freq(table).min() >= 5


def test_distributions_are_compared_as_scipy_does():
    """The statistic and the distance exactly; Stephens' approximate tail keeps its order of size out to 1e-5.

    A tenth of a p-value is much less than what the next look costs.
    """
    found = drift_of_numbers(THEN, NOW)
    wanted = stats.ks_2samp(THEN, NOW, method="exact")
    assert found.statistic == pytest.approx(wanted.statistic, rel=1e-12)
    assert found.p_value == pytest.approx(wanted.pvalue, rel=0.1)
    distance = stats.wasserstein_distance(THEN, NOW)
    assert wasserstein(np.sort(THEN), np.sort(NOW)) == pytest.approx(distance, rel=1e-10)
    assert found.effect_size == pytest.approx(distance / THEN.std(), rel=1e-10)


def test_the_stability_index_follows_by_hand():
    """Shares 100.5/201 then and 150.5/201 now: (q - p) ln(q / p) of both values."""
    p, q = 100.5 / 201, 150.5 / 201
    by_hand = (q - p) * math.log(q / p) + (p - q) * math.log((1 - q) / (1 - p))
    assert stability_index(np.array([100.0, 100.0]), np.array([150.0, 50.0])) == pytest.approx(
        by_hand, rel=1e-12
    )


def test_numbers_of_the_same_examples_are_wilcoxons():
    """scipy.stats.wilcoxon without correction by the normal limit, with ties and zeros."""
    then = np.round(RNG.uniform(0, 1, 120), 1)
    now = np.clip(then + np.round(RNG.normal(0.05, 0.2, 120), 1), 0, 1)
    wanted = stats.wilcoxon(now - then, method="asymptotic", correction=False)
    assert drift_of_pairs(then, now).p_value == pytest.approx(wanted.pvalue, rel=1e-6)


@pytest.mark.slow
@pytest.mark.parametrize("sizes", [(60, 40), (400, 150)])
def test_tests_of_unchanged_data_keep_their_level(sizes):
    """2,000 pairs of samples of one distribution: at most 5 % are significant, by counts and by numbers.

    Two standard errors of a rate of 5 % are 1 point; chi-square of three values may be a little above.
    """
    generator = np.random.default_rng(17)
    low = {"counts": 0, "numbers": 0}
    for _ in range(2000):
        first, second = (generator.multinomial(n, (0.6, 0.37, 0.03)) for n in sizes)
        low["counts"] += (drift_of_counts(first, second).p_value or 1) <= 0.05
        numbers = (generator.normal(size=n) for n in sizes)
        low["numbers"] += (drift_of_numbers(*numbers).p_value or 1) <= 0.05
    assert max(low.values()) / 2000 <= 0.05 + 0.01


def test_what_cannot_be_tested_says_why():
    """An empty sample, and a single value."""
    assert drift_of_numbers(np.array([]), NOW).reason == "one of the two samples is empty"
    assert drift_of_counts(np.array([5]), np.array([9])).reason == "one value only, then and now"
    assert drift_of_pairs(THEN, THEN).p_value == 1.0
