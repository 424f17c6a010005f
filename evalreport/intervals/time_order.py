"""Intervals of values and differences whose examples follow one another in time."""

from __future__ import annotations

import math

from evalreport.engine.time_order import lags_of, newey_west_variance
from evalreport.intervals.proportions import quantile
from evalreport.intervals.registry import Bounds, interval
from evalreport.metrics.difference import Difference
from evalreport.metrics.estimate import Estimate
from evalreport.samplings import InOrder


@interval(
    "Newey-West",
    needs=("some_interval", "influence", "time_order", "one_set"),
    source="Newey and West (1987), Econometrica 55:703; lags: Newey and West (1994), Rev Econ Stud 61:631",
)
def newey_west(estimate: Estimate | Difference, level: float) -> Bounds:
    """Value plus or minus z errors from autocovariances of the influence values; too narrow where they fade slowly.

    Bartlett's weights, 4 (n / 100)^(2/9) lags.
    """
    assert isinstance(estimate.sampling, InOrder)
    series = estimate.sampling.series(estimate)
    assert series is not None
    half = quantile(level) * math.sqrt(max(newey_west_variance(series, lags_of(len(series))), 0.0))
    return Bounds(estimate.value - half, estimate.value + half, estimate.sampling.same if half == 0 else None)
