"""Intervals of averages of areas under ROC curves over several classes, and of their paired differences."""

from __future__ import annotations

import math

import numpy as np

from evalreport.engine.distributions import logit_limits, t_quantile
from evalreport.intervals.label_tables import made_up_share
from evalreport.intervals.normal import FEW_OF_A_CLASS
from evalreport.intervals.rankings import NEGLIGIBLE, NO_VARIATION, plus_delong
from evalreport.intervals.registry import EXAMPLES_ALIKE, Bounds, evidence_of, interval
from evalreport.metrics.difference import Difference
from evalreport.metrics.estimate import Estimate
from evalreport.metrics.evidence import PairedClasses, PairedRanking, RankedClasses
from evalreport.predictions.arrays import Floats, Indices
from evalreport.texts import Message

SOURCE = (
    "the variance by classes: DeLong, DeLong and Clarke-Pearson (1988), Biometrics 44:837; Hand and Till (2001), Mach"
    " Learn 45:171; degrees of freedom: Welch's and Satterthwaite's (1946), Biometrics Bull 2:110; the added placements"
    " are our own (docs/class-areas.csv)"
)
BEYOND = 2.0
"""Over m: by which part made-up examples of a difference exceed the largest of m. With 3 of the rarest class intervals
held 91 to 92 % without it."""
LOST = 3.0
"""Made-up examples lose so many times their class's part of the average more than the worst one there is."""


@interval(
    "Logit, by classes", of=RankedClasses, needs=(*EXAMPLES_ALIKE, "one_set", "its_value"), source=SOURCE
)
def classes_logit(estimate: Estimate, level: float) -> Bounds:
    """Average of areas on the logit scale, mapped back: Student's t, the variances of the classes added.

    e_i = m_k times the derivative by example i of class k, of m_k examples and the part p_k of the average (1 / K;
    m_k / n of the weighted average). Two made-up examples +a and -a are added to each class,
    a = max |e_i| + 3 p_k (1 - v + 1/n), each with the weight f/2, f = (z / z(95 %))^2:
    V_k = (sum e_i^2 + f a^2) / ((m_k + f - 1) (m_k + f)). The degrees of freedom are Welch's of m_k - 1. A value of 0
    or 1 has no logit.
    """
    classes, value = evidence_of(estimate, RankedClasses), estimate.value
    influence = estimate.influence
    if influence is None or classes.sizes.min() < 2:
        return FEW_OF_A_CLASS
    if min(value, 1 - value) <= NEGLIGIBLE:
        return Bounds(None, None, Message("limits.infinite_logit"))
    beyond = LOST * classes.parts * (1 - value + 1 / len(classes.true))
    error, df = _error(influence.values, classes.true, classes.sizes, beyond, level)
    half = t_quantile((1 + level) / 2, df) * error / (value * (1 - value))
    return Bounds(*logit_limits(value, half))


@interval(
    "t by classes",
    of=(PairedClasses, PairedRanking),
    needs=(*EXAMPLES_ALIKE, "one_set", "its_difference"),
    source=SOURCE,
)
def classes_t(difference: Difference, level: float) -> Bounds:
    """Difference of two averages of areas by Student's t, the variances of the classes added.

    e_i = m_k times the derivative of the difference by example i of class k. Two made-up examples +a and -a with
    a = (1 + 2 / m_k) max |e_i| are added to each class as for one value. Of a single class it is ``plus_delong``.
    """
    if isinstance(difference.evidence, PairedRanking):
        return plus_delong(difference, level)
    classes, influence = evidence_of(difference, PairedClasses).a, difference.influence
    d = difference.value
    if influence is None or classes.sizes.min() < 2:
        return FEW_OF_A_CLASS
    if abs(d) <= NEGLIGIBLE and not difference.error_by(1.0):
        return NO_VARIATION
    times = 1 + BEYOND / classes.sizes
    error, df = _error(influence.values, classes.true, classes.sizes, 0 * times, level, times)
    half = t_quantile((1 + level) / 2, df) * error
    return Bounds(d - half, d + half)


def _error(
    derivatives: Floats,
    true: Indices,
    sizes: Indices,
    beyond: Floats,
    level: float,
    times: Floats | None = None,
) -> tuple[float, float]:
    """Return the standard error after the made-up examples, and its degrees of freedom.

    Parameters
    ----------
    beyond
        (K,) by how much a made-up example exceeds the largest of its class.
    times
        (K,) how many times the largest it is before that; None: as large.
    """
    f, variances = made_up_share(level), []
    for code, (m, more) in enumerate(zip(sizes.tolist(), beyond.tolist(), strict=True)):
        placed = m * derivatives[true == code]
        a = float(np.abs(placed).max()) * (1.0 if times is None else float(times[code])) + more
        variances.append((float((placed**2).sum()) + f * a * a) / ((m + f - 1) * (m + f)))
    variance = sum(variances)
    df = variance**2 / sum(v * v / (m - 1) for v, m in zip(variances, sizes.tolist(), strict=True))
    return math.sqrt(variance), df
