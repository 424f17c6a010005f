"""Tests on the per-example differences of two models' losses."""

from __future__ import annotations

import math

from evalreport.comparisons.registry import Outcome, Pair, comparison_test, probability
from evalreport.engine.distributions import t_tail


@comparison_test(
    "Paired t",
    "losses",
    null_hypothesis="the mean difference of the two models' per-example losses is 0",
    assumptions="examples are independent; n large enough for the mean difference to be nearly normal",
    source="Student (1908), Biometrika 6:1",
)
def paired_t(pair: Pair) -> Outcome:
    """Student's t test on the differences of the two models' losses, example by example (cluster by cluster)."""
    mean, error, units = pair.difference.value, pair.difference.corrected_error, pair.difference.n_units
    if pair.losses is not None and not (pair.losses[:, 0] - pair.losses[:, 1]).any():
        return Outcome(0.0, 1.0, units - 1, "cohen_d", 0.0)
    if error is None:
        return Outcome(None, None, reason="one example (or one cluster): no estimate of the spread")
    if error <= 1e-12 * abs(mean):
        reason = "all differences are equal: no spread to judge the mean against"
        return Outcome(None, None, units - 1, reason=reason)
    p = probability(2 * t_tail(abs(mean / error), units - 1))
    return Outcome(mean / error, p, units - 1, "cohen_d", mean / (error * math.sqrt(units)))
