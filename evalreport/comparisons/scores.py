"""Tests of two areas under the ROC curve on the same examples."""

from __future__ import annotations

from evalreport.comparisons.registry import Outcome, Pair, comparison_test, probability
from evalreport.engine.distributions import normal_tail
from evalreport.texts import Message


@comparison_test(
    "DeLong",
    "placements",
    beside=("bootstrap_difference", "permutation"),
)
def delong(pair: Pair) -> Outcome:
    """Normal test of the difference of two areas with the covariance of their placement values."""
    error, value = pair.difference.delong_error, pair.difference.value
    if error is None:
        return Outcome(None, None, reason=Message("reason.too_few_to_place"))
    if error == 0:
        if abs(value) < 1e-15:
            return Outcome(0.0, 1.0)
        return Outcome(None, None, reason=Message("reason.no_spread_of_placements"))
    statistic = value / error
    return Outcome(statistic, probability(2 * normal_tail(abs(statistic))))
