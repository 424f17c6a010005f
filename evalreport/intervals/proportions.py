"""Intervals of a proportion x / m, and of the differences of two."""

from __future__ import annotations

import math
from functools import partial

import numpy as np

from evalreport.engine.counts import by_kurtosis
from evalreport.engine.distributions import beta_quantile, normal_quantile, root, t_quantile
from evalreport.intervals.registry import EXAMPLES_ALIKE, ITS_VALUE, ROWS_ALIKE, Bounds, evidence_of, interval
from evalreport.metrics.difference import Difference
from evalreport.metrics.estimate import Estimate
from evalreport.metrics.evidence import (
    AtThreshold,
    EffectiveProportion,
    EqualErrors,
    PairedLabels,
    PairedProportion,
    Proportion,
    TwoProportions,
    WeightedF1,
)
from evalreport.metrics.metric import ClassCounts
from evalreport.predictions.arrays import required
from evalreport.texts import Message


def quantile(level: float) -> float:
    """Return z with P(-z < Z < z) = level, the lectures' z_N."""
    return normal_quantile((1 + level) / 2)


def wilson_limits(successes: float, trials: float, level: float) -> tuple[float, float]:
    """Return Wilson's score limits of successes / trials, without continuity correction.

    Raises
    ------
    ZeroDivisionError
        Where trials is 0.

    References
    ----------
    Wilson (1927), J Am Stat Assoc 22:209.

    Examples
    --------
    The lecture's 20 errors on 100 examples:

    >>> [round(limit, 6) for limit in wilson_limits(20, 100, 0.95)]
    [0.133367, 0.288829]
    """
    return score_limits(successes / trials, trials, quantile(level))


def score_limits(p: float, trials: float, z: float) -> tuple[float, float]:
    """Return Wilson's limits of a share p of n trials, whole or effective, at z standard errors."""
    centre = (p + z * z / (2 * trials)) / (1 + z * z / trials)
    half = z * math.sqrt(p * (1 - p) / trials + z * z / (4 * trials * trials)) / (1 + z * z / trials)
    # At the ends the limit is exactly 0 or 1; rounding must not move it.
    return 0.0 if p == 0 else max(0.0, centre - half), 1.0 if p == 1 else min(1.0, centre + half)


def _counts(estimate: Estimate) -> tuple[float, float] | None:
    """Return successes and trials; None where there are no trials."""
    evidence = evidence_of(estimate, Proportion)
    return (evidence.successes, evidence.trials) if evidence.trials else None


NO_TRIALS = Bounds(None, None, Message("limits.no_trials"))
ONE_CLUSTER = Message("limits.one_cluster")


def clopper_pearson_limits(successes: float, trials: float, level: float) -> tuple[float, float]:
    """Return Clopper and Pearson's limits of successes / trials, both whole or effective numbers."""
    tail = (1 - level) / 2
    low = 0.0 if successes == 0 else beta_quantile(tail, successes, trials - successes + 1)
    high = 1.0 if successes == trials else beta_quantile(1 - tail, successes + 1, trials - successes)
    return low, high


@interval(
    "Wilson",
    of=(Proportion, EffectiveProportion),
    needs=("some_interval", "one_task", "independent_or_weighted"),
    source="Wilson (1927), J Am Stat Assoc 22:209; Brown, Cai and DasGupta (2001); under weights Korn and Graubard"
    " (1998), Survey Methodology 24:193",
)
def wilson(estimate: Estimate, level: float) -> Bounds:
    """Score interval of a proportion: all values that the score test does not reject, no continuity correction.

    Under weights the effective number of trials takes the place of their number: Kish's (sum w)^2 / sum w^2; of
    weighted clusters Korn and Graubard's p (1 - p) / variance, with Student's t of G - 1 degrees of freedom.
    """
    evidence, p = estimate.evidence, estimate.value
    if not isinstance(evidence, EffectiveProportion):
        counts = _counts(estimate)
        return NO_TRIALS if counts is None else Bounds(*wilson_limits(*counts, level))
    if estimate.sampling.single:
        return Bounds(*score_limits(p, evidence.trials, quantile(level)))
    error, df = estimate.standard_error, estimate.sampling.n_units - 1
    if not error or df < 1:
        sampling = estimate.sampling
        return Bounds(None, None, sampling.same if error == 0 and df >= 1 else sampling.alone)
    return Bounds(*score_limits(p, p * (1 - p) / error**2, t_quantile((1 + level) / 2, df)))


@interval(
    "Wilson, trials by the variance",
    of=Estimate,
    needs=(*ITS_VALUE, "influence"),
    source="Korn and Graubard (1998), Survey Methodology 24:193, with Wilson's limits",
)
def trials_wilson(estimate: Estimate, level: float) -> Bounds:
    """Value v in [0, 1] of n examples by Wilson's limits, with the number of trials that its variance V shows.

    There are v (1 - v) / V trials, V with the factor n / (n - 1), and Student's t with the degrees of freedom by the
    kurtosis of the influence values, at most n - 1, takes the place of z. Where nothing varies, or v is 0 or 1, there
    are n trials; no more where less than one value lies between v and an end: n v or n (1 - v) is below 1.
    """
    error, n, v = estimate.corrected_error, estimate.sampling.n_units, min(max(estimate.value, 0.0), 1.0)
    if error is None or estimate.df is None:
        return Bounds(None, None, estimate.sampling.alone)
    kurtosis = estimate.kurtosis
    df = estimate.df if kurtosis is None else by_kurtosis(estimate.df, n, kurtosis)
    if error == 0 or v in (0, 1):
        limits = score_limits(v, float(n), t_quantile((1 + level) / 2, df))
        return Bounds(*limits, Message("limits.as_proportion"))
    trials = v * (1 - v) / error**2
    if n * min(v, 1 - v) < 1:
        trials = min(trials, float(n))
    return Bounds(*score_limits(v, trials, t_quantile((1 + level) / 2, df)))


_of_proportion = partial(interval, of=Proportion, needs=EXAMPLES_ALIKE)


@_of_proportion("Agresti-Coull", source="Agresti and Coull (1998), Am Stat 52:119")
def agresti_coull(estimate: Estimate, level: float) -> Bounds:
    """Wald interval after z^2/2 successes and as many failures are added."""
    counts = _counts(estimate)
    if counts is None:
        return NO_TRIALS
    z = quantile(level)
    trials = counts[1] + z * z
    p = (counts[0] + z * z / 2) / trials
    half = z * math.sqrt(p * (1 - p) / trials)
    return Bounds(p - half, p + half)


@_of_proportion("Clopper-Pearson", source="Clopper and Pearson (1934), Biometrika 26:404")
def clopper_pearson(estimate: Estimate, level: float) -> Bounds:
    """Exact interval of a proportion: never covers less than its level, usually more."""
    counts = _counts(estimate)
    return NO_TRIALS if counts is None else Bounds(*clopper_pearson_limits(*counts, level))


@_of_proportion("Jeffreys", source="Brown, Cai and DasGupta (2001), Stat Sci 16:101, section 4.3")
def jeffreys(estimate: Estimate, level: float) -> Bounds:
    """Equal-tailed interval of the posterior under Jeffreys' prior Beta(1/2, 1/2)."""
    counts = _counts(estimate)
    if counts is None:
        return NO_TRIALS
    x, m = counts
    tail = (1 - level) / 2
    low, high = (beta_quantile(p, x + 0.5, m - x + 0.5) for p in (tail, 1 - tail))
    return Bounds(low, high)


@interval(
    "Wilson on the Jaccard scale, weighted",
    of=WeightedF1,
    needs=("some_interval", "one_task", "weights"),
    source="Korn and Graubard (1998), Survey Methodology 24:193; F1 = 2J / (1 + J): this combination was chosen by"
    " simulation (docs/coverage.md)",
)
def weighted_wilson(estimate: Estimate, level: float) -> Bounds:
    """Wilson's interval of J = TP / (TP + FP + FN) under weights, mapped to F1 = 2J / (1 + J).

    The trials are the smaller of two effective numbers, Kish's and Korn and Graubard's; Student's t takes the place of
    z, with one degree of freedom less than Kish's number of all examples.
    """
    computation, evidence = estimate.metric.of(ClassCounts), evidence_of(estimate, WeightedF1)
    if evidence.units <= 1:
        return Bounds(None, None, Message("limits.one_example"))
    low, high = score_limits(
        evidence.jaccard, evidence.trials, t_quantile((1 + level) / 2, evidence.units - 1)
    )
    _, scale = required(computation.monotone_of)
    return Bounds(float(scale(low)), float(scale(high)))


def _phi(a: float, b: float, c: float, d: float) -> float:
    """Newcombe's continuity-corrected correlation of a paired 2 x 2 table (method 10)."""
    product = (a + b) * (c + d) * (a + c) * (b + d)
    if product == 0:
        return 0.0
    cross = a * d - b * c
    cross = max(cross - (a + b + c + d) / 2, 0.0) if cross > 0 else cross
    return cross / math.sqrt(product)


@interval(
    "Newcombe, paired",
    of=PairedProportion,
    needs=EXAMPLES_ALIKE,
    source="Newcombe (1998), Stat Med 17:2635, method 10",
)
def newcombe_paired(difference: Difference, level: float) -> Bounds:
    """Difference of two paired proportions by squaring and adding their Wilson limits."""
    return Bounds(*newcombe_paired_limits(evidence_of(difference, PairedProportion).table, level))


def newcombe_paired_limits(table: tuple[float, float, float, float], level: float) -> tuple[float, float]:
    """Return Newcombe's limits of p1 - p2 from the counts of both, only the first, only the second, neither."""
    both, only_first, only_second, _ = table
    n = sum(table)
    first, second = (
        ((both + only) / n, *wilson_limits(both + only, n, level)) for only in (only_first, only_second)
    )
    return mover(first, second, _phi(*table))


@interval(
    "Tango, paired",
    of=(PairedProportion, PairedLabels),
    needs=(*EXAMPLES_ALIKE, "paired_share"),
    source="Tango (1998), Stat Med 17:891",
)
def tango(difference: Difference, level: float) -> Bounds:
    """Difference of two paired proportions: all values that the score test does not reject."""
    shares = required(difference.shares)
    _, only_first, only_second, _ = shares
    n = sum(shares)
    return Bounds(*tango_limits(only_first, only_second, n, level)) if n else NO_TRIALS


def tango_limits(first: float, second: float, n: float, level: float) -> tuple[float, float]:
    """Return Tango's limits of a difference of two paired proportions.

    Parameters
    ----------
    first, second
        Examples on which only the first, only the second succeeds, among n.

    References
    ----------
    Tango (1998), Stat Med 17:891.
    """
    z = quantile(level)

    def score(delta: float) -> float:
        # Tango's equation for the restricted estimate of p_01: A q^2 + B q + C = 0.
        linear = -first - second + (2 * n - first + second) * delta
        constant = -second * delta * (1 - delta)
        q = (math.sqrt(max(linear * linear - 8 * n * constant, 0.0)) - linear) / (4 * n)
        variance = n * (2 * q + delta * (1 - delta))
        distance = first - second - n * delta
        if distance == 0:
            return 0.0  # also where the variance vanishes: no disagreement at all, or all on one side
        return distance / math.sqrt(variance) if variance > 0 else math.copysign(math.inf, distance)

    centre, edge = (first - second) / n, 1 - 1e-12
    low = -1.0 if score(-edge) <= z else root(lambda x: score(x) - z, -edge, centre, tolerance=1e-14)
    high = 1.0 if score(edge) >= -z else root(lambda x: score(x) + z, centre, edge, tolerance=1e-14)
    return low, high


def paired_ratio_limits(
    both: float, only_first: float, only_second: float, n: float, level: float
) -> tuple[float, float | None]:
    """Return the score limits of the ratio of two shares of the same n examples; no upper one where none is reached.

    All ratios r that the restricted score test does not reject: D = x - r y over the root of n ((1 + r) q + (r - 1) t),
    x and y the two models' successes, t = (both + only_first + only_second)/n, and q the most likely share of
    ``only_second`` where the ratio is r: the root of (1 + r) N q^2 + t (r^2 y - x - 2 only_second) q
    + only_second (1 - r) t^2 = 0, N = n t. The second model has successes.

    References
    ----------
    Tang, Tang and Chan (2003), Stat Med 22:1217.

    Examples
    --------
    Both perfect on n examples: the lower limit is 1/(1 + z^2/n).

    >>> round(paired_ratio_limits(100, 0, 0, 100, 0.95)[0], 6) == round(1 / (1 + quantile(0.95) ** 2 / 100), 6)
    True
    """
    z = quantile(level)
    x, y, some = both + only_first, both + only_second, both + only_first + only_second
    t = some / n

    def score(r: float) -> float:
        linear = t * (r * r * y - x - 2 * only_second)
        constant = only_second * (1 - r) * t * t
        leading = (1 + r) * some
        q = (math.sqrt(max(linear * linear - 4 * leading * constant, 0.0)) - linear) / (2 * leading)
        variance = n * ((1 + r) * q + (r - 1) * t)
        distance = x - r * y
        if distance == 0:
            return 0.0
        return distance / math.sqrt(variance) if variance > 0 else math.copysign(math.inf, distance)

    value = x / y
    low = 0.0 if x == 0 else root(lambda r: _finite(score(r) - z), value * 1e-9, value, tolerance=1e-14)
    end = max(value, 1 / n)
    while score(end) > -z:
        end *= 2
        if end > LARGEST_RATIO * max(value, 1.0):
            return low, None
    return low, root(lambda r: _finite(score(r) + z), value, end, tolerance=1e-14)


LARGEST_RATIO = 1e9
"""A ratio that is so many times the observed one, or 1, is no limit."""


def _finite(x: float) -> float:
    return min(max(x, -1e300), 1e300)


ValueLimits = tuple[float, float, float]
"""A value with its limits: value, low, high."""


def difference_limits(first: ValueLimits, second: ValueLimits) -> tuple[float, float]:
    """Return limits of x - y, independent of each other, from (value, low, high) of each: squared and added.

    l = d - sqrt((x - l_x)^2 + (u_y - y)^2) and u = d + sqrt((u_x - x)^2 + (y - l_y)^2): Zou and Donner (2008),
    Stat Med 27:1693, eq. 2; with Wilson's intervals of two proportions it is Newcombe's method 10.
    """
    (x, low_x, high_x), (y, low_y, high_y) = first, second
    return x - y - math.hypot(x - low_x, high_y - y), x - y + math.hypot(high_x - x, y - low_y)


def mover(x: ValueLimits, y: ValueLimits, rho: float, k: float = 1.0) -> tuple[float, float]:
    """Return limits of x - k y, k >= 0, from (value, low, high) of each, whose estimates have the correlation rho.

    l = d - sqrt((x - l_x)^2 + k^2 (u_y - y)^2 - 2 rho k (x - l_x) (u_y - y)), and u likewise: Zou (2007), Psychol
    Methods 12:399, equation 15; Zou and Donner (2008), Stat Med 27:1693.
    """
    (x0, xl, xu), (y0, yl, yu) = x, y
    d = x0 - k * y0

    def distance(a: float, b: float) -> float:
        return math.sqrt(max(a * a + k * k * b * b - 2 * rho * k * a * b, 0.0))

    return d - distance(x0 - xl, yu - y0), d + distance(xu - x0, y0 - yl)


def newcombe_independent_limits(
    first: tuple[float, float], second: tuple[float, float], level: float
) -> tuple[float, float]:
    """Return Newcombe's hybrid score limits of x1/m1 - x2/m2 for independent samples (method 10 of part 1)."""
    x, y = (
        (successes / trials, *wilson_limits(successes, trials, level))
        for successes, trials in (first, second)
    )
    return difference_limits(x, y)


@interval("Newcombe, independent", of=TwoProportions, source="Newcombe (1998), Stat Med 17:873, method 10")
def newcombe_independent(difference: Difference, level: float) -> Bounds:
    """Difference of two proportions from independent test sets by squaring and adding their Wilson limits."""
    evidence = evidence_of(difference, TwoProportions)
    first, second = ((side.successes, side.trials) for side in (evidence.a, evidence.b))
    return Bounds(*newcombe_independent_limits(first, second, level))


@interval(
    "Wilson at the threshold",
    of=(AtThreshold, EqualErrors),
    needs=ROWS_ALIKE,
    source="Wilson (1927), J Am Stat Assoc 22:209; the trials, and the score test of"
    " equal errors over all thresholds, are our own (docs/at-cuts.csv)",
)
def threshold_wilson(estimate: Estimate, level: float) -> Bounds:
    """Wilson's interval of a share at a threshold of the ranking, with as many trials as its variance shows.

    Of the equal error rate: every rate that agrees, at some threshold, with both error rates there.
    """
    if isinstance(estimate.evidence, EqualErrors):
        return Bounds(*equal_error_limits(estimate.evidence, estimate.value, level))
    evidence = evidence_of(estimate, AtThreshold)
    low, high = wilson_limits(estimate.value / evidence.scale * evidence.trials, evidence.trials, level)
    return Bounds(low * evidence.scale, high * evidence.scale)


PLACES = 1_001
"""Thresholds between the corners of a ROC curve that are tried beside them: few where scores are tied."""


def equal_error_limits(errors: EqualErrors, value: float, level: float) -> tuple[float, float]:
    """Return the least and the largest e with P (FNR - e)^2 + N (FPR - e)^2 <= z^2 e (1 - e) at some threshold.

    At the threshold where both error rates are e, the left side over e (1 - e) is the score statistic of two binomial
    counts; the least over all thresholds leaves one degree of freedom. No density is estimated, and with one class
    far larger than the other it is Wilson's interval of the rarer class's error rate.

    Examples
    --------
    Ten positives before twenty negatives, where Wilson's interval of 0 / 10 ends at the same limit:

    >>> errors = EqualErrors(np.array([0.0, 10.0, 10.0]), np.array([0.0, 0.0, 20.0]))
    >>> [round(limit, 4) for limit in equal_error_limits(errors, 0.0, 0.95)]
    [0.0, 0.2775]
    """
    positives, negatives = errors.found[-1], errors.wrong[-1]
    above = errors.found + errors.wrong
    places = np.union1d(above, np.linspace(0.0, above[-1], PLACES))
    missed = 1 - np.interp(places, above, errors.found) / positives
    alarms = np.interp(places, above, errors.wrong) / negatives
    z2 = quantile(level) ** 2
    # A e^2 - 2 B e + C <= 0.
    a = positives + negatives + z2
    b = positives * missed + negatives * alarms + z2 / 2
    c = positives * missed**2 + negatives * alarms**2
    roots = b**2 - a * c
    agree = roots >= 0
    half = np.sqrt(roots[agree]) / a
    low, high = b[agree] / a - half, b[agree] / a + half
    return max(0.0, float(low.min(initial=value))), min(1.0, float(high.max(initial=value)))
