"""The exact binomial test of one model's accuracy against a stated value."""

import pytest
from scipy import stats

import evalreport
from evalreport.errors import UsageError

SOURCE = {"m": {"y_pred": ["a"] * 27 + ["b"] * 3}}
TRUTH = ["a"] * 20 + ["b"] * 10  # 20 + 3 = 23 of 30 right; always "a" would be right in 20


@pytest.mark.parametrize("against, rate", [(None, 20 / 30), (0.6, 0.6)])
def test_against_a_value_or_the_most_frequent_class(against: float | None, rate: float) -> None:
    """The p-value is scipy's one-sided binomial test of 23 in 30 against the value, which the row names."""
    results = evalreport.evaluate(
        SOURCE, truth=TRUTH, tests=["binomial_exact"], against=against, resamples=50
    )
    (row,) = (r for r in results.comparisons if r.test == "binomial_exact")
    assert row.b is None
    assert row.p_value == pytest.approx(stats.binomtest(23, 30, rate, alternative="greater").pvalue)
    assert row.difference == pytest.approx(23 / 30 - rate)
    assert row.caution is not None
    assert f"{rate:.4g}" in row.caution


def test_a_value_outside_the_range_is_refused() -> None:
    """A percentage instead of a share is refused before any file is read."""
    with pytest.raises(UsageError, match="between 0 and 1"):
        evalreport.evaluate(SOURCE, truth=TRUTH, against=60)
