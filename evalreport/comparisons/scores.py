"""Tests of two areas under the ROC curve on the same examples."""

from __future__ import annotations

from evalreport.comparisons.registry import Outcome, Pair, comparison_test, probability
from evalreport.engine.distributions import normal_tail


@comparison_test(
    "DeLong",
    "placements",
    null_hypothesis="both models have the same area under the ROC curve",
    assumptions="examples are independent; 30 or more of each class for the normal approximation",
    source="DeLong, DeLong and Clarke-Pearson (1988), Biometrics 44:837; placements as in Sun and Xu (2014)",
)
def delong(pair: Pair) -> Outcome:
    """Normal test of the difference of two areas with the covariance of their placement values."""
    error, value = pair.difference.delong_error, pair.difference.value
    if error is None:
        return Outcome(None, None, reason="fewer than two examples of a class: no variance of the placements")
    if error == 0:
        if abs(value) < 1e-15:
            return Outcome(0.0, 1.0)
        return Outcome(
            None, None, reason="the placement values have no spread to judge the difference against"
        )
    statistic = value / error
    return Outcome(statistic, probability(2 * normal_tail(abs(statistic))))
