"""Intervals of areas under the ROC and the precision-recall curve, and of their paired differences."""

from __future__ import annotations

import math

from evalreport.engine.distributions import dot, t_quantile
from evalreport.intervals.normal import FEW_OF_A_CLASS
from evalreport.intervals.proportions import ValueLimits, score_limits
from evalreport.intervals.registry import EXAMPLES_ALIKE, Bounds, interval
from evalreport.metrics.difference import Difference
from evalreport.metrics.estimate import Estimate
from evalreport.metrics.evidence import PairedRanking, Ranking
from evalreport.texts import Message

MADE_UP = 1 / 20
"""The weight of either of two made-up placements of a class, one for each model, in ``plus_delong``."""

NEGLIGIBLE = 1e-12
"""So near to 1 an average precision is 1 up to rounding."""


@interval(
    "DeLong, plus a tenth",
    of=PairedRanking,
    needs=(*EXAMPLES_ALIKE, "one_set", "auc"),
    source="DeLong, DeLong and Clarke-Pearson (1988), Biometrics 44:837; the degrees of freedom Welch's and"
    " Satterthwaite's (1946), Biometrics Bull 2:110; the added placements are our own (docs/coverage.md)",
)
def plus_delong(difference: Difference, level: float) -> Bounds:
    """Difference of two areas under the ROC curve by DeLong's placements, after made-up ones, by Student's t.

    The differences of the two models' placements of m positives get the values 1 and -1, each with the weight 1/20; so
    do those of the negatives. Their variances have the divisors m - 1 and k - 1, and so have the degrees of freedom,
    which are Welch's.
    """
    ranking, squares, d = difference.evidence, difference.squares_by_class, difference.value
    assert isinstance(ranking, PairedRanking)
    if squares is None or min(ranking.class_sizes) < 2:
        return FEW_OF_A_CLASS
    variances = []
    for m, of_class in zip(ranking.class_sizes, squares, strict=True):
        total = m + 2 * MADE_UP
        mean = m * d / total
        # The placements' differences are d + m times the derivatives, which add up to 0.
        away = m * m * of_class + m * (d - mean) ** 2 + MADE_UP * ((1 - mean) ** 2 + (1 + mean) ** 2)
        variances.append(away / ((total - 1) * total))
    variance, (m, k) = sum(variances), ranking.class_sizes
    df = variance**2 / (variances[0] ** 2 / (m - 1) + variances[1] ** 2 / (k - 1))
    half = t_quantile((1 + level) / 2, df) * math.sqrt(variance)
    return Bounds(d - half, d + half)


FEW_POSITIVES = Bounds(None, None, Message("limits.few_positives"))


@interval(
    "Logit, t of the positives",
    of=Ranking,
    needs=(*EXAMPLES_ALIKE, "one_set", "average_precision"),
    source="Boyd, Eng and Page (2013), ECML; the m - 1 degrees of freedom are our own (docs/coverage.md)",
)
def ap_logit(estimate: Estimate, level: float) -> Bounds:
    """Average precision on the logit scale, mapped back: Student's t with one less than the m positives.

    The variance is that of the influence values times m / (m - 1). Where the value is 1, or nothing varies: Wilson's
    limits with n = m, and that quantile of t for z.
    """
    ranking, value = estimate.evidence, estimate.value
    assert isinstance(ranking, Ranking)
    m, error = ranking.class_sizes[0], estimate.standard_error
    if m < 2 or error is None:
        return FEW_POSITIVES
    t = t_quantile((1 + level) / 2, m - 1)
    if error == 0 or 1 - value <= NEGLIGIBLE:
        return Bounds(*score_limits(min(value, 1.0), m, t), Message("limits.positives"))
    half = t * error * math.sqrt(m / (m - 1)) / (value * (1 - value))
    centre = math.log(value / (1 - value))
    return Bounds(_from_logit(centre - half), _from_logit(centre + half))


def _from_logit(x: float) -> float:
    """Return 1 / (1 + exp(-x)), without overflow."""
    return 1 / (1 + math.exp(-x)) if x > 0 else math.exp(x) / (1 + math.exp(x))


@interval(
    "Squared and added, correlated",
    of=PairedRanking,
    needs=(*EXAMPLES_ALIKE, "one_set", "average_precision"),
    source="Zou (2007), Psychol Methods 12:399; Zou and Donner (2008), Stat Med 27:1693",
)
def ap_mover(difference: Difference, level: float) -> Bounds:
    """Difference of two average precisions: the distances of the two models' own limits, squared and added.

    Less their products times the correlation of the influence values, since the examples are the same.
    """
    a, b = difference.a, difference.b
    first, second = ap_logit(a, level), ap_logit(b, level)
    if first.low is None or first.high is None or second.low is None or second.high is None:
        return FEW_POSITIVES
    r = 0.0
    if a.standard_error and b.standard_error:
        assert a.influence is not None
        assert b.influence is not None
        shared = dot(a.influence.values / a.standard_error, b.influence.values / b.standard_error)
        r = min(max(shared, -1.0), 1.0)
    limits = mover((a.value, first.low, first.high), (b.value, second.low, second.high), r)
    return Bounds(*limits)


def mover(first: ValueLimits, second: ValueLimits, r: float) -> tuple[float, float]:
    """Return limits of x - y from (value, low, high) of each, whose estimates have the correlation r.

    l = d - sqrt((x - l_x)^2 + (u_y - y)^2 - 2 r (x - l_x) (u_y - y)), and u likewise (Zou 2007, equation 15).
    """
    (x, low_x, high_x), (y, low_y, high_y) = first, second
    below, above = (x - low_x, high_y - y), (high_x - x, y - low_y)
    down, up = (math.sqrt(max(p * p + q * q - 2 * r * p * q, 0.0)) for p, q in (below, above))
    return x - y - down, x - y + up
