"""Tests on the per-example differences of two models' losses."""

from __future__ import annotations

import math

from scipy import stats

from evalreport.comparisons.registry import Outcome, Pair, comparison_test, probability


@comparison_test(
    "Paired t",
    "losses",
    null_hypothesis="the mean difference of the two models' per-example losses is 0",
    assumptions="examples are independent; n large enough for the mean difference to be nearly normal",
    source="Student (1908), Biometrika 6:1",
)
def paired_t(pair: Pair) -> Outcome:
    """Student's t test on the differences of the two models' losses, example by example."""
    assert pair.losses is not None
    differences = pair.losses[:, 0] - pair.losses[:, 1]
    n, mean = len(differences), float(differences.mean())
    if not differences.any():
        return Outcome(0.0, 1.0, n - 1, "cohen_d", 0.0)
    if n < 2:
        return Outcome(None, None, reason="one example: no estimate of the spread")
    deviation = float(differences.std(ddof=1))
    if deviation <= 1e-12 * abs(mean):
        return Outcome(
            None, None, n - 1, reason="all differences are equal: no spread to judge the mean against"
        )
    statistic = mean / deviation * math.sqrt(n)
    return Outcome(
        statistic, probability(2 * stats.t.sf(abs(statistic), n - 1)), n - 1, "cohen_d", mean / deviation
    )
