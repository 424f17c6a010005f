"""The exact binomial test of one model's accuracy against the share of the most frequent class."""

import pytest
from scipy import stats

import evalreport

SOURCE = {"m": {"y_pred": ["a"] * 27 + ["b"] * 3}}
TRUTH = ["a"] * 20 + ["b"] * 10  # 20 + 3 = 23 of 30 right; always "a" would be right in 20


def test_against_the_most_frequent_class() -> None:
    """The p-value is scipy's one-sided binomial test of 23 in 30 against 20 in 30, which the row names."""
    rate = 20 / 30
    results = evalreport.evaluate(SOURCE, truth=TRUTH, tests=["binomial_exact"], resamples=50)
    (row,) = (r for r in results.comparisons if r.test == "binomial_exact")
    assert row.b is None
    assert row.p_value == pytest.approx(stats.binomtest(23, 30, rate, alternative="greater").pvalue)
    assert row.difference == pytest.approx(23 / 30 - rate)
    assert row.caution is not None
    assert f"{rate:.4g}" in row.caution
