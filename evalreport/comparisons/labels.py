"""McNemar's tests: only the examples on which the two models disagree tell them apart.

b: right by the first model only; c: right by the second only.
"""

from __future__ import annotations

from evalreport.comparisons.registry import Outcome, Pair, comparison_test, probability
from evalreport.engine.distributions import binomial_at_most, chi2_tail


def _discordant(pair: Pair) -> tuple[int, int]:
    assert pair.difference.agreement is not None
    _, b, c, _ = pair.difference.agreement
    return round(b), round(c)


def _outcome(pair: Pair, statistic: float, p: float, df: float | None = None) -> Outcome:
    """Add the effect size: the odds ratio b / c, undefined where one of them is 0."""
    b, c = _discordant(pair)
    return Outcome(statistic, probability(p), df, "odds_ratio_discordant", b / c if b and c else None)


@comparison_test(
    "McNemar, mid-p",
    "agreement",
    beside=("mcnemar_exact", "mcnemar", "mcnemar_corrected", "bootstrap_difference"),
)
def mcnemar_midp(pair: Pair) -> Outcome:
    """Exact binomial test on the discordant examples in which the observed outcome counts half."""
    b, c = _discordant(pair)
    n, smaller = b + c, min(b, c)
    if b == c:
        return _outcome(pair, smaller, 1.0)
    p = binomial_at_most(smaller, n, 0.5) + binomial_at_most(smaller - 1, n, 0.5)
    return _outcome(pair, smaller, p)


@comparison_test(
    "McNemar, exact",
    "agreement",
)
def mcnemar_exact(pair: Pair) -> Outcome:
    """Exact two-sided binomial test on the discordant examples."""
    b, c = _discordant(pair)
    p = 1.0 if b == c else 2 * binomial_at_most(min(b, c), b + c, 0.5)
    return _outcome(pair, min(b, c), p)


@comparison_test(
    "McNemar, chi-squared",
    "agreement",
    large_samples=True,
)
def mcnemar(pair: Pair) -> Outcome:
    """Chi-squared test (b - c)^2 / (b + c) on the discordant examples."""
    b, c = _discordant(pair)
    statistic = (b - c) ** 2 / (b + c) if b + c else 0.0
    return _outcome(pair, statistic, chi2_tail(statistic, 1), 1)


@comparison_test(
    "McNemar, corrected",
    "agreement",
    large_samples=True,
)
def mcnemar_corrected(pair: Pair) -> Outcome:
    """Chi-squared test on the discordant examples with Edwards' continuity correction, (max(|b - c| - 1, 0))^2."""
    b, c = _discordant(pair)
    statistic = max(abs(b - c) - 1, 0) ** 2 / (b + c) if b + c else 0.0
    return _outcome(pair, statistic, chi2_tail(statistic, 1), 1)
