"""Intervals of ratios of sums over units: pooled precision, recall, F1, Jaccard index, error rates."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from evalreport.engine.distributions import log, powers, t_quantile
from evalreport.intervals.proportions import score_limits
from evalreport.intervals.registry import Bounds, Value, interval
from evalreport.metrics.difference import Difference
from evalreport.metrics.estimate import Estimate
from evalreport.metrics.evidence import PairedSums, SumsByUnit
from evalreport.texts import Message

NEEDS = ("one_task", "equal_weights", "one_set", "influence")
ROUNDING = 1e-24
"""A variance below this share of the squared value is rounding."""
OWN = "our own combination, chosen by simulation (docs/sums.md)"
KURTOSIS = "degrees of freedom by the kurtosis: Satterthwaite (1946), Biometrics Bull 2:110"


@dataclass(frozen=True, slots=True)
class Spread:
    """How the units' influences on a value vary.

    Attributes
    ----------
    units
        Their number G: of units, or of clusters of units.
    variance
        G / (G - 1) times the sum of the squared influences.
    df
        min(G - 1, 2 G / (kurtosis - 1)), at least 1; G - 1 where nothing varies.
    largest
        The largest size of one unit's influence.
    """

    units: int
    variance: float
    df: float
    largest: float


def spread_of(value: Value) -> Spread | None:
    """Return how the units vary; None for fewer than two."""
    influence = value.influence
    assert influence is not None
    units = len(influence.values)
    if units < 2:
        return None
    largest, squares, _, fourths = powers(influence.values, influence.counts)
    variance = units / (units - 1) * largest**2 * squares
    if squares == 0 or variance <= ROUNDING * max(abs(side.value) for side in value.sides) ** 2:
        return Spread(units, 0.0, units - 1.0, largest if squares else 0.0)
    kurtosis = max(units * fourths / squares**2, 1.0)
    df = units - 1.0 if kurtosis == 1 else min(units - 1.0, 2 * units / (kurtosis - 1))
    return Spread(units, variance, max(df, 1.0), largest)


@interval(
    "Wilson's, by units",
    of=SumsByUnit,
    needs=(*NEEDS, "bounded"),
    source=f"Wilson's limits with the number of trials that the variance over units shows: Korn and Graubard (1998),"
    f" Survey Methodology 24:193; {KURTOSIS}; {OWN}",
)
def unit_wilson(estimate: Estimate, level: float) -> Bounds:
    """Ratio of sums in [0, 1] by Wilson's limits, with the number of trials that its variance over the units shows.

    With V the variance of the value v over the units the trials are v (1 - v) / V, and Student's t takes the place of
    z; where nothing varies, or v is 0 or 1, there are as many trials as units.
    """
    spread = spread_of(estimate)
    if spread is None:
        return Bounds(None, None, estimate.sampling.alone)
    v = estimate.value
    same = spread.variance == 0 or v in (0, 1)
    trials = float(spread.units) if same else v * (1 - v) / spread.variance
    return Bounds(*score_limits(v, trials, t_quantile((1 + level) / 2, spread.df)))


@interval(
    "Log, by units", of=SumsByUnit, needs=NEEDS, source=f"delta method on the logarithm; {KURTOSIS}; {OWN}"
)
def unit_log(estimate: Estimate, level: float) -> Bounds:
    """Ratio of sums without an upper bound, such as an error rate, by Student's t on the scale of its logarithm."""
    spread = spread_of(estimate)
    if spread is None:
        return Bounds(None, None, estimate.sampling.alone)
    if estimate.value == 0:
        return Bounds(0.0, None, Message("limits.no_error", n=spread.units))
    if spread.variance == 0:
        return Bounds(None, None, Message("limits.units_alike", n=spread.units))
    half = t_quantile((1 + level) / 2, spread.df) * math.sqrt(spread.variance) / estimate.value
    centre = float(log(np.array(estimate.value)))
    return Bounds(math.exp(centre - half), math.exp(min(centre + half, 700.0)))


@interval("Student's t, by units, two made-up", of=PairedSums, needs=NEEDS, source=f"Student's t; {OWN}")
def unit_plus(difference: Difference, level: float) -> Bounds:
    """Difference of two ratios of sums over the same units by Student's t, with two made-up units beside them.

    These have the largest influence of any unit, one in each direction, and count half a unit each.
    """
    spread = spread_of(difference)
    if spread is None:
        return Bounds(None, None, difference.sampling.alone)
    if spread.variance == 0:
        return Bounds(None, None, Message("limits.no_variation"))
    half = t_quantile((1 + level) / 2, spread.units - 1.0) * math.sqrt(spread.variance + spread.largest**2)
    return Bounds(difference.value - half, difference.value + half)
