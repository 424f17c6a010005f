"""Tests of proportions: two independent test sets, and one model against a stated rate."""

from __future__ import annotations

import math
from dataclasses import dataclass

from evalreport.comparisons.registry import Outcome, Pair, comparison_test, probability
from evalreport.engine.distributions import binomial_at_least, normal_tail


@comparison_test(
    "Two-proportion z, pooled",
    "independent",
    beside=("bootstrap_difference",),
)
def two_proportions_z(pair: Pair) -> Outcome:
    """Difference of two proportions from independent test sets over its error under one common proportion."""
    assert pair.difference.independent is not None
    (x1, n1), (x2, n2) = pair.difference.independent
    # Cohen's h: the difference of the angles whose squared sines are the proportions.
    h = 2 * math.asin(math.sqrt(x1 / n1)) - 2 * math.asin(math.sqrt(x2 / n2))
    difference = x1 / n1 - x2 / n2
    pooled = (x1 + x2) / (n1 + n2)
    if abs(difference) <= 1e-15:
        return Outcome(0.0, 1.0, None, "cohen_h", 0.0)
    statistic = difference / math.sqrt(pooled * (1 - pooled) * (1 / n1 + 1 / n2))
    return Outcome(statistic, probability(2 * normal_tail(abs(statistic))), None, "cohen_h", h)


@dataclass(frozen=True, slots=True)
class AgainstRate:
    """One model's successes in independent trials, and the rate that it has to beat."""

    successes: float
    trials: float
    rate: float


@comparison_test(
    "Exact binomial, one sample",
    "one_model",
)
def binomial_exact(one: AgainstRate) -> Outcome:
    """Probability of at least so many right answers if each were right with the rate of the most frequent class."""
    p = binomial_at_least(one.successes, one.trials, one.rate)
    return Outcome(one.successes, probability(p), None, details={"rate": one.rate, "n": one.trials})
