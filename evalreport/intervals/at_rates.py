"""Intervals at a declared threshold or rate: net benefit, recall at a false positive rate, precision at a rate."""

from __future__ import annotations

import math
from collections.abc import Iterator
from functools import partial

import numpy as np
from scipy import special

from evalreport.intervals.proportions import (
    ValueLimits,
    mover,
    quantile,
    score_limits,
    tango_limits,
    wilson_limits,
)
from evalreport.intervals.registry import Bounds, evidence_of, interval
from evalreport.metrics.at_rates import cumulative_groups, hits_at
from evalreport.metrics.difference import Difference
from evalreport.metrics.estimate import Estimate
from evalreport.metrics.evidence import PairedScores, Scores
from evalreport.predictions.arrays import Floats, Mask
from evalreport.texts import Message

OWN = ("of_this_metric", "equal_weights", "independent")


# --- net benefit ------------------------------------------------------------------------------------------------------


def benefit_limits(tp: float, fp: float, n: float, at: float, level: float) -> tuple[float, float]:
    """Return limits of TP / n - t / (1 - t) FP / n, both with n trials of the same examples."""
    return _of_two_shares(tp, fp, n, at / (1 - at), level)


def benefit_over_all(tn: float, fn: float, n: float, at: float, level: float) -> tuple[float, float, float]:
    """Return net benefit less that of treating all, t / (1 - t) TN / n - FN / n, and its limits."""
    odds = at / (1 - at)
    low, high = _of_two_shares(fn, tn, n, odds, level)
    return odds * tn / n - fn / n, -high, -low


def _of_two_shares(first: float, second: float, n: float, odds: float, level: float) -> tuple[float, float]:
    a, b = first / n, second / n
    inside = a * (1 - a) * b * (1 - b)
    rho = -a * b / math.sqrt(inside) if inside > 0 else 0.0
    return mover((a, *wilson_limits(first, n, level)), (b, *wilson_limits(second, n, level)), rho, odds)


def benefit_difference_limits(
    among_positives: tuple[float, float],
    among_negatives: tuple[float, float],
    n: float,
    at: float,
    level: float,
) -> tuple[float, float]:
    """Return limits of the difference of two net benefits on the same n examples.

    Parameters
    ----------
    among_positives, among_negatives
        Examples that only the first, and only the second, model flags.
    """
    d1, l1, u1, v1 = _tango(*among_positives, n, level)
    d0, l0, u0, v0 = _tango(*among_negatives, n, level)
    rho = -d1 * d0 / math.sqrt(v1 * v0) if v1 > 0 and v0 > 0 else 0.0
    return mover((d1, l1, u1), (d0, l0, u0), rho, at / (1 - at))


def _tango(first: float, second: float, n: float, level: float) -> tuple[float, float, float, float]:
    """Return (first - second) / n with Tango's limits, and n times its variance."""
    d = (first - second) / n
    low, high = tango_limits(first, second, n, level)
    return d, low, high, (first + second) / n - d * d


ZOU = "Zou (2007), Psychol Methods 12:399; the combination was chosen by simulation (docs/curves.md)"
SCANS = "Scans of both models, combined"


_of_scores = partial(interval, of=Scores, needs=OWN)
_of_two_scores = partial(interval, of=PairedScores, needs=OWN)


@_of_scores(
    "Wilson's of both shares, combined",
    source="Zou (2007), Psychol Methods 12:399, of Wilson's (1927) limits",
)
def net_benefit_mover(estimate: Estimate, level: float) -> Bounds:
    """Net benefit from Wilson's intervals of its two shares, which exclude each other, squared and added."""
    scores = evidence_of(estimate, Scores)
    flagged = scores.score >= scores.at
    tp, fp = float((flagged & (scores.y == 1)).sum()), float((flagged & (scores.y == 0)).sum())
    return Bounds(*benefit_limits(tp, fp, len(scores.y), scores.at, level))


@_of_two_scores(
    "Tango's of both shares, combined", source="Zou (2007), Psychol Methods 12:399, of Tango's (1998) limits"
)
def net_benefit_tango(difference: Difference, level: float) -> Bounds:
    """Difference of two net benefits from Tango's intervals among positives and negatives, squared and added."""
    pair = evidence_of(difference, PairedScores)
    a, b = (side.score >= side.at for side in (pair.a, pair.b))
    counts = called_apart(a, b, pair.a.y == 1)
    return Bounds(*benefit_difference_limits(*counts, len(a), pair.a.at, level))


def called_apart(
    first: Mask, second: Mask, positive: Mask
) -> tuple[tuple[float, float], tuple[float, float]]:
    """Count the positives, and the negatives, that only the first of two models calls, and only the second."""
    (a, b), (c, d) = (
        (float((first & ~second & of).sum()), float((second & ~first & of).sum()))
        for of in (positive, ~positive)
    )
    return (a, b), (c, d)


# --- recall at a false positive rate ----------------------------------------------------------------------------------


def deviances(j: Floats, n: float, rate: float) -> Floats:
    """Return twice the log likelihood ratios of j (...) among n against a rate, 0 log 0 = 0, each at least 0."""
    terms = special.xlogy(j, j / (n * rate)) + special.xlogy(n - j, (n - j) / (n * (1 - rate)))
    return np.asarray(np.maximum(2 * terms, 0.0))


def agreeing_thresholds(fp: Floats, rate: float, z: float) -> Iterator[tuple[int, float]]:
    """Yield the thresholds whose false positives agree with the rate, each with its deviance, below z squared."""
    negatives = float(fp[-1])
    expected = rate * negatives
    # A threshold below the expected number is as far from it as the next one, if that is below it as well.
    following = np.minimum(np.append(fp[1:], expected), expected)
    nearest = np.where(fp > expected, fp, following)
    apart = np.where(nearest == expected, 0.0, deviances(nearest, negatives, rate))
    return ((int(g), float(apart[g])) for g in np.flatnonzero(apart < z * z))


def at_fpr_limits(tp: Floats, fp: Floats, rate: float, level: float) -> tuple[float, float]:
    """Return the least and the largest of Wilson's limits of recall over all thresholds that agree with the rate."""
    z, positives = quantile(level), float(tp[-1])
    limits = [
        score_limits(float(tp[g]) / positives, positives, math.sqrt(z * z - own))
        for g, own in agreeing_thresholds(fp, rate, z)
    ]
    return min(low for low, _ in limits), max(high for _, high in limits)


def _groups(estimate: Estimate) -> tuple[Floats, Floats, float]:
    """Return the positives and negatives at each distinct score and above, and the declared rate."""
    scores = evidence_of(estimate, Scores)
    return *cumulative_groups(scores.score, scores.y), scores.at


FEWEST_ALARMS = 2
"""Below so many expected false positives there is no lower limit."""


@_of_scores(
    "Scan of thresholds, Wilson",
    source="profile over the threshold: Claeskens et al. (2003), Can J Stat 31:173, with Wilson's limits; the"
    " combination was chosen by simulation (docs/curves.md)",
)
def at_fpr_scan(estimate: Estimate, level: float) -> Bounds:
    """Least and largest of Wilson's limits of recall over all thresholds whose false positives agree with the rate."""
    tp, fp, rate = _groups(estimate)
    few = float(fp[-1]) * rate < FEWEST_ALARMS
    exchanged = estimate.metric.parameter is not None and estimate.metric.parameter.name == "at_recall"
    reason = Message("limits.few_missed" if exchanged else "limits.few_false_positives") if few else None
    return Bounds(*at_fpr_limits(tp, fp, rate, level), reason)


def _slope(tp: Floats, fp: Floats, rate: float, z: float, *, least: float) -> tuple[float, float, float]:
    """Return the slope of the curve of hits over false positives around the rate, and the ends it is taken between."""
    negatives = float(fp[-1])
    expected = negatives * rate
    half = z * math.sqrt(expected * (1 - rate))
    j1, j2 = max(0.0, expected - half), min(negatives, expected + half)
    if j2 - j1 < least:
        j2 = min(negatives, j1 + least)
    positives = float(tp[-1])

    def height(j: float) -> float:
        if j <= 0:
            return 0.0
        g = int(np.flatnonzero(fp <= j)[-1])
        if g == len(fp) - 1:
            return 1.0
        step = (j - float(fp[g])) / float(fp[g + 1] - fp[g])
        return (float(tp[g]) + step * float(tp[g + 1] - tp[g])) / positives

    return negatives * (height(j2) - height(j1)) / (j2 - j1), j1, j2


def _coarse(fp: Floats, rate: float, z: float) -> bool:
    """Say whether the false positives jump far between two thresholds that both agree with the rate."""
    negatives = float(fp[-1])
    half = z * math.sqrt(negatives * rate * (1 - rate))
    agreeing = {g for g, _ in agreeing_thresholds(fp, rate, z)}
    return any(g + 1 in agreeing and fp[g + 1] - fp[g] > max(1.0, 0.6 * half) for g in agreeing)


def _flagged_at_fpr(score: Floats, fp: Floats, rate: float) -> Mask:
    g = int(np.flatnonzero(fp <= rate * fp[-1] + 1e-9)[-1])
    distinct = np.unique(score)[::-1]
    return np.asarray(score >= distinct[g - 1] if g else np.zeros(len(score), dtype=np.bool_))


def _moments(a: Mask, b: Mask) -> tuple[float, float, float]:
    """Return variances and covariance of two shares of the same examples, half a one added to each discordant cell."""
    n = len(a) + 1
    both, only_a, only_b = float((a & b).sum()), float((a & ~b).sum()) + 0.5, float((b & ~a).sum()) + 0.5
    p, q = (both + only_a) / n, (both + only_b) / n
    return p * (1 - p) / n, q * (1 - q) / n, (both / n - p * q) / n


def at_fpr_difference(
    y: Floats, first: Floats, second: Floats, rate: float, level: float
) -> tuple[float, float, float, bool]:
    """Return limits of the difference of two recalls at an FPR, the correlation, and whether scores are coarse."""
    z = quantile(level)
    curves = [cumulative_groups(score, y) for score in (first, second)]
    flags = [
        _flagged_at_fpr(score, curve[1], rate) for score, curve in zip((first, second), curves, strict=True)
    ]
    values = [
        float((flag & (y == 1)).sum()) / float(curve[0][-1])
        for flag, curve in zip(flags, curves, strict=True)
    ]
    sides = [
        _holding(value, at_fpr_limits(*curve, rate, level))
        for value, curve in zip(values, curves, strict=True)
    ]
    v1a, v1b, c1 = _moments(*(flag[y == 1] for flag in flags))
    v0a, v0b, c0 = _moments(*(flag[y == 0] for flag in flags))
    slope_a, slope_b = (_slope(*curve, rate, z, least=1.0)[0] for curve in curves)
    rho = (c1 + slope_a * slope_b * c0) / math.sqrt((v1a + slope_a**2 * v0a) * (v1b + slope_b**2 * v0b))
    coarse = any(_coarse(curve[1], rate, z) for curve in curves)
    (_, low_a, high_a), (_, low_b, high_b) = sides
    if coarse:
        return low_a - high_b, high_a - low_b, rho, True
    return *mover(sides[0], sides[1], rho), rho, False


def _holding(value: float, limits: tuple[float, float]) -> ValueLimits:
    """Return a value with its limits, cut to [0, 1] and holding it."""
    return value, max(0.0, min(limits[0], value)), min(1.0, max(limits[1], value))


@_of_two_scores(SCANS, source=ZOU)
def at_fpr_mover(difference: Difference, level: float) -> Bounds:
    """Difference of two recalls at a false positive rate from both models' limits and their correlation."""
    pair = evidence_of(difference, PairedScores)
    low, high, *_ = at_fpr_difference(pair.a.y, pair.a.score, pair.b.score, pair.a.at, level)
    return Bounds(low, high)


def at_recall_limits(score: Floats, y: Floats, rate: float, level: float) -> tuple[float, float]:
    """Return the least and the largest of Wilson's limits of precision over all thresholds that agree with a recall.

    Parameters
    ----------
    score, y
        With the classes exchanged: larger scores are less positive, and y is 1 of negatives.
    rate
        The share of positives that is missed.
    """
    z = quantile(level)
    left_negatives, left_positives = cumulative_groups(score, y)
    corners = [(1.0, 0.0)]
    for h, own in agreeing_thresholds(left_positives, rate, z):
        hits = float(left_positives[-1] - left_positives[h])
        flagged = hits + float(left_negatives[-1] - left_negatives[h])
        left = math.sqrt(z * z - own)
        corners.append((0.0, 1.0) if flagged == 0 else score_limits(hits / flagged, flagged, left))
    return min(low for low, _ in corners), max(high for _, high in corners)


@_of_scores(
    "Scan of thresholds, Wilson, of alarms",
    source="profile over the threshold: Claeskens et al. (2003), Can J Stat 31:173, with Wilson's limits; our own"
    " combination (docs/curves.md)",
)
def at_recall_scan(estimate: Estimate, level: float) -> Bounds:
    """Least and largest of Wilson's limits of precision over all thresholds whose misses agree with the recall."""
    scores = evidence_of(estimate, Scores)
    return Bounds(*at_recall_limits(scores.score, scores.y, scores.at, level))


# --- precision and recall at a rate of flags --------------------------------------------------------------------------


def at_rate_limits(
    tp: Floats, fp: Floats, rate: float, level: float, *, of_positives: bool
) -> tuple[float, float]:
    """Return the least and the largest of Wilson's limits over all numbers of flags that agree with the rate.

    Parameters
    ----------
    of_positives
        Whether the share is of all positives (recall) or of the flagged examples (precision).
    """
    z, n, positives = quantile(level), int(tp[-1] + fp[-1]), float(tp[-1])
    flagged = rate * n
    trials = positives if of_positives else flagged
    lows, highs = zip(
        score_limits(min(hits_at(tp, fp, flagged) / trials, 1.0), trials, z), *_scan(tp, fp, rate, z, of_positives),
        strict=True,
    )  # fmt: skip
    return min(lows), max(highs)


def _scan(tp: Floats, fp: Floats, rate: float, z: float, of_positives: bool) -> Iterator[tuple[float, float]]:
    n, positives = int(tp[-1] + fp[-1]), float(tp[-1])
    expected = rate * n
    reach = z * math.sqrt(n) + 2 * z * z  # no count beyond agrees: the deviance is at least 2 (j - nX)^2 / n
    counts = np.arange(max(0, math.floor(expected - reach)), min(n, math.ceil(expected + reach)) + 1)
    apart = deviances(counts.astype(np.float64), n, rate)
    agreeing = apart < z * z
    for count, own in zip(counts[agreeing].tolist(), apart[agreeing].tolist(), strict=True):
        left = math.sqrt(z * z - own)
        if count == 0 and not of_positives:
            yield 0.0, 1.0
        else:
            trials = positives if of_positives else count
            yield score_limits(min(hits_at(tp, fp, count) / trials, 1.0), trials, left)


@_of_scores(
    "Scan of counts, Wilson",
    source="own combination, chosen by simulation: Wilson's limits over all numbers of flags that agree with the rate"
    " (docs/curves.md)",
)
def at_rate_scan(estimate: Estimate, level: float) -> Bounds:
    """Least and largest of Wilson's limits over all numbers of flagged examples that agree with the rate."""
    tp, fp, rate = _groups(estimate)
    parameter = estimate.metric.parameter
    of_positives = parameter is not None and parameter.begins == "recall"
    low, high = at_rate_limits(tp, fp, rate, level, of_positives=of_positives)
    empty = not of_positives and low == 0.0 and high == 1.0
    return Bounds(low, high, Message("limits.too_few_flagged") if empty else None)


def at_rate_difference(
    first: tuple[Floats, Floats], second: tuple[Floats, Floats], rate: float, level: float
) -> tuple[float, float, float]:
    """Return limits of the difference of two precisions at a rate of flags, and the correlation.

    Parameters
    ----------
    first, second
        Of each model: 1 for hits and 0 for the others (n,), and the scores (n,). Hits of `precision` are the positives,
        the same for both; those of `accuracy[at_coverage=c]` are the model's own right answers.
    """
    z, n = quantile(level), len(first[0])
    sides, influences = [], []
    for y, score in (first, second):
        tp, fp = cumulative_groups(score, y)
        value = hits_at(tp, fp, rate * n) / (rate * n)
        sides.append(_holding(value, at_rate_limits(tp, fp, rate, level, of_positives=False)))
        half = z * math.sqrt(n * rate * (1 - rate))
        j1, j2 = max(0.0, n * rate - half), min(float(n), n * rate + half)
        at_the_margin = (hits_at(tp, fp, j2) - hits_at(tp, fp, j1)) / (j2 - j1)
        own = _share_flagged(score, tp + fp, rate * n) * (y - at_the_margin)
        influences.append(own - own.sum() / n)
    u, v = influences
    rho = float((u * v).sum()) / math.sqrt((float((u * u).sum()) + 0.5) * (float((v * v).sum()) + 0.5))
    return *mover(sides[0], sides[1], rho), rho


def _share_flagged(score: Floats, total: Floats, flagged: float) -> Floats:
    """Return how much of each example is among the first ``flagged``: those tied there by their share."""
    group = np.unique(-score, return_inverse=True)[1].ravel()
    before, after = total[:-1], total[1:]
    share = np.clip((flagged - before) / (after - before), 0.0, 1.0)
    return np.asarray(share[group])


@_of_two_scores(SCANS, source=ZOU)
def at_rate_mover(difference: Difference, level: float) -> Bounds:
    """Difference of two precisions at a rate of flags from both models' limits and their correlation."""
    pair = evidence_of(difference, PairedScores)
    low, high, _ = at_rate_difference((pair.a.y, pair.a.score), (pair.b.y, pair.b.score), pair.a.at, level)
    return Bounds(low, high)
