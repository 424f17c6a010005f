"""Intervals of values and differences whose examples follow one another in time."""

from __future__ import annotations

import math

from evalreport.engine.distributions import t_quantile
from evalreport.engine.time_order import LEAST_IN_TIME, lags_of, newey_west_variance
from evalreport.intervals.proportions import quantile
from evalreport.intervals.registry import Bounds, interval
from evalreport.metrics.difference import Difference
from evalreport.metrics.estimate import Estimate
from evalreport.texts import Message

FEW_IN_TIME = Message("limits.few_in_time", least=LEAST_IN_TIME)
ALIKE_IN_TIME = Message("limits.alike_in_time")


@interval(
    "t in order of time (HAC)",
    needs=("some_interval", "influence", "time_order"),
    source="Lazarus, Lewis, Stock and Watson (2018), J Bus Econ Stat 36:541",
)
def hac_t(estimate: Estimate | Difference, level: float) -> Bounds:
    """Value plus or minus t errors that allow for neighbours in time that are alike.

    The error is from the B = max(4, 0.41 n^(2/3)) slowest cosine series of the influence values, with B degrees of
    freedom.
    """
    found = estimate.student
    if found is None:
        return Bounds(None, None, FEW_IN_TIME)
    if found.error == 0:
        return Bounds(None, None, ALIKE_IN_TIME)
    half = t_quantile((1 + level) / 2, found.df) * found.error
    return Bounds(estimate.value - half, estimate.value + half)


@interval(
    "Newey-West",
    needs=("some_interval", "influence", "time_order", "one_set"),
    source="Newey and West (1987), Econometrica 55:703; lags: Newey and West (1994), Rev Econ Stud 61:631",
)
def newey_west(estimate: Estimate | Difference, level: float) -> Bounds:
    """Value plus or minus z errors from autocovariances of the influence values; too narrow where they fade slowly.

    Bartlett's weights, 4 (n / 100)^(2/9) lags.
    """
    derivative = estimate.in_time
    assert derivative is not None
    half = quantile(level) * math.sqrt(max(newey_west_variance(derivative, lags_of(len(derivative))), 0.0))
    return Bounds(estimate.value - half, estimate.value + half, ALIKE_IN_TIME if half == 0 else None)
