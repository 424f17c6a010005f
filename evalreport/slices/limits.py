"""Limits of the difference and the ratio of two values, and the tests that they do not differ.

Proportions keep binomial arithmetic: Wilson's limits of the two groups, squared and added; everything else goes by
influence values.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from scipy import special

from evalreport.comparisons.registry import probability
from evalreport.intervals.choice import leading
from evalreport.intervals.proportions import quantile, wilson_limits
from evalreport.metrics.estimate import Estimate
from evalreport.slices.spread import Contrast

NO_SPREAD = "nothing varies in one of the groups, so nothing says how far its value may be"
NOT_SMOOTH = "not a smooth function of the examples: no influence values say how the two vary together"
NO_OTHERS = "there are too few other examples"
TOO_FINE = "so fine a level needs more replicates than were drawn: raise --resamples"
SPREAD_OF_MIDP = 12.0
"""Tables further than so many standard deviations from the mean have a probability below 1e-30."""


@dataclass(frozen=True, slots=True)
class Limits:
    """A difference's or a ratio's limits with the method; None with a reason where they cannot be had."""

    low: float | None
    high: float | None
    method: str | None = None
    reason: str | None = None


@dataclass(frozen=True, slots=True)
class Successes:
    """Successes and trials of two disjoint groups."""

    x1: float
    n1: float
    x2: float
    n2: float

    @property
    def proportions(self) -> tuple[float, float]:
        """Both groups' shares of successes."""
        return self.x1 / self.n1, self.x2 / self.n2

    @property
    def share(self) -> float:
        """The first group's share of all trials."""
        return self.n1 / (self.n1 + self.n2)


# --- proportions ----------------------------------------------------------------------------------------------------


def proportions_difference(both: Successes, level: float) -> Limits:
    """Return limits of p1 - p2 for independent groups (Newcombe 1998, Stat Med 17:873, method 10).

    Examples
    --------
    >>> found = proportions_difference(Successes(56, 70, 48, 80), 0.95)
    >>> round(found.low, 4), round(found.high, 4)
    (0.0524, 0.3339)
    """
    p1, p2 = both.proportions
    (l1, u1), (l2, u2) = wilson_limits(both.x1, both.n1, level), wilson_limits(both.x2, both.n2, level)
    low, high = p1 - p2 - math.hypot(p1 - l1, u2 - p2), p1 - p2 + math.hypot(u1 - p1, p2 - l2)
    return Limits(low, high, "newcombe_independent")


def proportions_ratio(both: Successes, level: float) -> Limits:
    """Return limits of p1 / p2 for independent groups from their Wilson limits (Donner and Zou 2012).

    The limits are the roots R of (p1 - R p2)^2 = (p1 - l1)^2 + R^2 (u2 - p2)^2 and its mirror image.

    References
    ----------
    Donner and Zou (2012), Stat Methods Med Res 21:347.
    """
    p1, p2 = both.proportions
    (l1, u1), (l2, u2) = wilson_limits(both.x1, both.n1, level), wilson_limits(both.x2, both.n2, level)
    middle = p1 * p2
    lower_root = math.sqrt(max(middle**2 - u2 * (2 * p2 - u2) * l1 * (2 * p1 - l1), 0.0))
    low = l1 * (2 * p1 - l1) / (middle + lower_root) if middle + lower_root > 0 else 0.0
    curvature = l2 * (2 * p2 - l2)
    if curvature <= 0:
        return Limits(low, None, "donner_zou", "the reference may be 0, so the ratio has no upper limit")
    upper_root = math.sqrt(max(middle**2 - curvature * u1 * (2 * p1 - u1), 0.0))
    return Limits(low, (middle + upper_root) / curvature, "donner_zou")


def to_whole_difference(both: Successes, limits: Limits, level: float) -> Limits:
    """Turn limits of p1 - p2 into those of p1 - p, where p is the share in both groups together.

    p1 - p = (1 - w)(p1 - p2) with w the first group's share of the trials; that w varies as well adds
    (p1 - p2)^2 w (1 - w) / n to the variance.
    """
    assert limits.low is not None
    assert limits.high is not None
    p1, p2 = both.proportions
    w, n, d = both.share, both.n1 + both.n2, p1 - p2
    extra = quantile(level) * abs(d) * math.sqrt(w * (1 - w) / n)
    low = (1 - w) * d - math.hypot((1 - w) * (d - limits.low), extra)
    high = (1 - w) * d + math.hypot((1 - w) * (limits.high - d), extra)
    return Limits(low, high, limits.method)


def to_whole_ratio(both: Successes, limits: Limits) -> Limits:
    """Turn limits of R = p1 / p2 into those of p1 / p = 1 / (w + (1 - w) / R), given the groups' sizes."""
    w = both.share
    low, high = limits.low, limits.high
    return Limits(
        0.0 if not low else 1 / (w + (1 - w) / low),
        1 / w if high is None else 1 / (w + (1 - w) / high) if high else 0.0,
        limits.method,
    )


def fisher_midp(both: Successes) -> float:
    """Test that two groups have the same proportion: Fisher's exact test with half of the observed table's weight.

    Given the margins the first group's successes are hypergeometric; tables at most as probable as the observed one
    count, those of equal probability by one half (Lancaster 1961; Agresti 2013, section 3.5.5).

    Examples
    --------
    >>> round(fisher_midp(Successes(3, 4, 1, 4)), 4)
    0.2571
    """
    from scipy import stats

    x, n1, n2 = round(both.x1), round(both.n1), round(both.n2)
    successes, total = x + round(both.x2), n1 + n2
    mean = n1 * successes / total
    spread = math.sqrt(mean * (1 - successes / total) * n2 / max(total - 1, 1))
    reach = SPREAD_OF_MIDP * spread + 1
    low = max(0, successes - n2, min(x, math.floor(mean - reach)))
    high = min(n1, successes, max(x, math.ceil(mean + reach)))
    log_p = stats.hypergeom.logpmf(np.arange(low, high + 1), total, successes, n1)
    observed = float(log_p[x - low])
    equal = np.abs(log_p - observed) <= 1e-9 * max(abs(observed), 1.0)
    rarer = (log_p < observed) & ~equal
    return probability(float(np.exp(log_p[rarer]).sum() + np.exp(log_p[equal]).sum() / 2))


# --- by influence values --------------------------------------------------------------------------------------------


def influence_difference(difference: float, contrast: Contrast, level: float) -> Limits:
    """Return the difference plus or minus t standard errors from influence values (Welch's t for two means)."""
    half = float(special.stdtrit(contrast.df, (1 + level) / 2)) * math.sqrt(contrast.variance)
    return Limits(difference - half, difference + half, "welch")


def influence_ratio(ratio: float, contrast: Contrast, level: float) -> Limits:
    """Return limits of a ratio of positive values: t standard errors on the logarithmic scale.

    Parameters
    ----------
    contrast
        Of the logarithms: D_s / value_s - D / value.
    """
    half = float(special.stdtrit(contrast.df, (1 + level) / 2)) * math.sqrt(contrast.variance)
    if half > 700:  # beyond, the limits are no numbers any more
        return Limits(0.0, None, "welch", "the values vary too much for an upper limit of their ratio")
    return Limits(ratio * math.exp(-half), ratio * math.exp(half), "welch")


def welch(difference: float, contrast: Contrast) -> float:
    """Test that two groups have the same value: Student's t with Welch's degrees of freedom."""
    if contrast.variance <= 0:
        return 1.0
    t = abs(difference) / math.sqrt(contrast.variance)
    return probability(2 * float(special.stdtr(contrast.df, -t)))


def squared_and_added(first: Estimate, second: Estimate, level: float) -> Limits:
    """Return limits of a difference of independent values from their own recommended intervals.

    The distances of the limits from the values are squared and added (Zou and Donner 2008, Stat Med 27:1693).
    """
    sides = [leading(e, level) for e in (first, second)]
    for side, estimate in zip(sides, (first, second), strict=True):
        if side.low is None or side.high is None:
            return Limits(None, None, None, side.reason or NOT_SMOOTH)
        drawn = 0 if estimate.replicates is None else len(estimate.replicates)
        if side.method.startswith("bootstrap") and (1 - level) / 2 * (drawn + 1) < 1:
            return Limits(None, None, None, TOO_FINE)
    (l1, u1), (l2, u2) = ((side.low or 0.0, side.high or 0.0) for side in sides)
    d = first.value - second.value
    low = d - math.hypot(first.value - l1, u2 - second.value)
    high = d + math.hypot(u1 - first.value, second.value - l2)
    return Limits(low, high, "squared_and_added")
