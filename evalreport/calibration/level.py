"""Level and spread of probabilities: observed over expected events, calibration in the large, and the line's limits."""

from __future__ import annotations

import math

from scipy import special

from evalreport.calibration.limits import NO_LIMITS, Limits, rising_root
from evalreport.calibration.line import calibration_line, line_influence
from evalreport.calibration.risks import Risks, around
from evalreport.engine.distributions import normal_quantile, t_quantile
from evalreport.predictions.arrays import Floats


def observed_expected(risks: Risks) -> float:
    """Return observed over expected events; nan where none are expected."""
    expected = float((risks.w * risks.p).sum())
    return float((risks.w * risks.y).sum()) / expected if expected > 0 else math.nan


def observed_expected_limits(risks: Risks, level: float) -> Limits:
    """Return limits of observed over expected: all q with (O - qE)^2 <= k (q E - q^2 sum p^2).

    k = z^2 phi, where phi >= 1 is how much more the outcomes vary than probabilities r p would let them. O = sum w y,
    E = sum w p; under weights q sum w^2 p - q^2 sum w^2 p^2 takes the place of the bracket. Of clusters k = t^2
    max(1, V E^2 / v) with the variance and the degrees of freedom of ``engine.cluster_variance``.
    """
    w, r = risks.w, observed_expected(risks)
    if math.isnan(r):
        return NO_LIMITS
    observed, expected = float((w * risks.y).sum()), float((w * risks.p).sum())
    linear, squares = float((w * w * risks.p).sum()), float((w * w * risks.p**2).sum())
    variance = r * linear - r * r * squares
    left = w * (risks.y - r * risks.p)
    if risks.cluster is None:
        ratio = float((left**2).sum()) / variance if variance > 0 else 1.0
        quantile = normal_quantile((1 + level) / 2)
    else:
        found = risks.clustered_variance(left / expected)
        if found is None:
            return NO_LIMITS
        ratio = found[0] * expected**2 / variance if variance > 0 else 1.0
        quantile = t_quantile((1 + level) / 2, found[1])
    k = quantile**2 * max(1.0, ratio)
    if observed == 0:
        return 0.0, k * linear / (expected**2 + k * squares)
    a, b, c = expected**2 + k * squares, 2 * observed * expected + k * linear, observed**2
    inside = b * b - 4 * a * c
    if inside < 0:
        return NO_LIMITS
    high = (b + math.sqrt(inside)) / (2 * a)
    return c / (a * high), high


def in_the_large_influence(risks: Risks, a: float) -> tuple[Floats, float]:
    """Return the derivatives (n,) of the shift by each example, and its variance if the shifted probabilities hold."""
    w, m = risks.w, special.expit(risks.logit + a)
    information = float((w * m * (1 - m)).sum())
    least = float((w * w * m * (1 - m)).sum()) / information**2
    return w * (risks.y - m) / information, least


def in_the_large_limits(risks: Risks, level: float) -> Limits:
    """Return limits of calibration in the large: a -+ z times the larger of model's and robust error.

    Where no event occurred, or nothing else, only one limit: where (sum y - sum m)^2 = z^2 sum m (1 - m).
    """
    a = risks.shift
    if math.isinf(a):
        return _one_limit(risks, level, upper=a < 0)
    derivative, least = in_the_large_influence(risks, a)
    return around(a, level, risks, derivative, least)


def _one_limit(risks: Risks, level: float, *, upper: bool) -> Limits:
    w, z = risks.w, normal_quantile((1 + level) / 2)
    x = risks.logit if upper else -risks.logit

    def excess(a: float) -> float:
        m = special.expit(x + a)
        return float((w * m).sum()) - z * math.sqrt(float((w * w * m * (1 - m)).sum()))

    limit = rising_root(excess, -float(x.max()) - 60.0, -float(x.min()) + 60.0)
    return (None, limit) if upper else (-limit, None)


def line_limits(risks: Risks, coefficient: int, level: float) -> Limits:
    """Return limits of the line's intercept (0) or slope (1): the larger of the sandwich's and the model's error, z.

    With few events the sandwich alone is too small. Under weights the model's variance is that of weighted outcomes
    with the fitted probabilities; of clusters the robust one is summed by cluster, with Student's t.
    """
    if risks.logits.reason:
        return NO_LIMITS
    value = float(calibration_line(risks.logits, risks.w)[coefficient])
    derivative, least = line_influence(risks.logits, risks.w, coefficient)
    return around(value, level, risks, derivative, least)
