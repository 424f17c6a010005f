"""Level and spread of probabilities: observed over expected events, calibration in the large, and the line's limits."""

from __future__ import annotations

import math

from scipy import special

from evalreport.calibration.limits import NO_LIMITS, Limits, rising_root
from evalreport.calibration.line import calibration_line, line_influence
from evalreport.calibration.risks import Risks, around
from evalreport.engine.distributions import normal_quantile
from evalreport.predictions.arrays import Floats


def observed_expected(risks: Risks) -> float:
    """Return observed over expected events; nan where none are expected."""
    expected = float((risks.w * risks.p).sum())
    return float((risks.w * risks.y).sum()) / expected if expected > 0 else math.nan


def observed_expected_limits(risks: Risks, level: float) -> Limits:
    """Return limits of observed over expected, a quasi-Poisson score interval of the observed events over E.

        phi = (n / (n - 1) sum (y - r p)^2 + 1/2) / (O + 1/2),  r = O / E
        (O + phi z^2 / 2 -+ z sqrt(phi O + (phi z / 2)^2)) / E

    Of clusters (y - r p) is summed by cluster, with their number for n. Weights are scaled to add up to Kish's
    effective number, which takes the place of n.

    Examples
    --------
    >>> import numpy as np
    >>> low, high = observed_expected_limits(Risks(np.full(100, 0.1), np.repeat([1.0, 0.0], [10, 90])), 0.95)
    >>> round(low, 3), round(high, 3)
    (0.558, 1.793)
    """
    w, r = risks.w, observed_expected(risks)
    if math.isnan(r):
        return NO_LIMITS
    total, squares = float(w.sum()), float((w * w).sum())
    w = w * (total / squares)
    observed, expected, n = float((w * risks.y).sum()), float((w * risks.p).sum()), total**2 / squares
    left = w * (risks.y - r * risks.p)
    if risks.cluster is not None:
        left = risks.by_cluster(left)
        n = float(len(left))
    if n <= 1:
        return NO_LIMITS
    phi = (n / (n - 1) * float((left**2).sum()) + 0.5) / (observed + 0.5)
    z = normal_quantile((1 + level) / 2)
    middle, half = observed + phi * z * z / 2, z * math.sqrt(phi * observed + (phi * z / 2) ** 2)
    return max(0.0, middle - half) / expected if observed else 0.0, (middle + half) / expected


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
    if risks.no_line:
        return NO_LIMITS
    value = float(calibration_line(risks, risks.w)[coefficient])
    derivative, least = line_influence(risks, risks.w, coefficient)
    return around(value, level, risks, derivative, least)
