"""Intervals of areas under the ROC and the precision-recall curve, and of their paired differences."""

from __future__ import annotations

import math
from functools import partial

from evalreport.engine.counts import by_kurtosis
from evalreport.engine.distributions import dot, logit_limits, t_quantile
from evalreport.intervals.label_tables import made_up_share
from evalreport.intervals.normal import FEW_OF_A_CLASS
from evalreport.intervals.proportions import mover, score_limits
from evalreport.intervals.registry import (
    EXAMPLES_ALIKE,
    ITS_DIFFERENCE,
    ITS_VALUE,
    Bounds,
    Function,
    evidence_of,
    interval,
)
from evalreport.metrics.difference import Difference
from evalreport.metrics.estimate import Estimate
from evalreport.metrics.evidence import PairedRanking, Ranking
from evalreport.metrics.metric import Ranks
from evalreport.predictions.arrays import required
from evalreport.texts import Message

MADE_UP = 1 / 20
"""The weight of either of two made-up placements of a class, 0 and 1, in the partial area."""

NO_VARIATION = Bounds(None, None, Message("limits.no_variation"))

NEGLIGIBLE = 1e-12
"""So near to an end of its range a value is there up to rounding."""


@interval(
    "DeLong, scaled to the pair",
    of=PairedRanking,
    needs=(*EXAMPLES_ALIKE, "one_set", "auc"),
    source="DeLong, DeLong and Clarke-Pearson (1988), Biometrics 44:837; the degrees of freedom Welch's and"
    " Satterthwaite's (1946), Biometrics Bull 2:110; the added placements are our own (docs/coverage.md)",
)
def plus_delong(difference: Difference, level: float) -> Bounds:
    """Difference D of two areas under the ROC curve by DeLong's placements, after made-up ones, by Student's t.

    d_i are the differences of the two models' placements of m positives, k the negatives, q = min(m, k). Two made-up
    differences D + a and D - a are added, a = min(1, max |d_i - D| + 2/q), each with the weight f/2 and
    f = (z / z(95 %))^2: w = m + f, C10 = (sum (d_i - D)^2 + f a^2)/((w - 1) w). The same of the negatives; the
    variances are added, the degrees of freedom are Welch's of m - 1 and k - 1. Where no placement differs, nothing
    varies.
    """
    ranking, spreads, d = (
        evidence_of(difference, PairedRanking).a,
        difference.spread_by_class,
        difference.value,
    )
    q = min(ranking.class_sizes)
    if spreads is None or q < 2:
        return FEW_OF_A_CLASS
    if d == 0 and not any(spread.squares for spread in spreads):
        return NO_VARIATION
    f = made_up_share(level)
    variances, freedom = [], [m - 1 for m in ranking.class_sizes]
    for m, spread in zip(ranking.class_sizes, spreads, strict=True):
        # The placements' differences are d + m times the derivatives.
        a = min(1.0, m * spread.largest + 2 / q)
        variances.append((m * m * spread.squares + f * a * a) / ((m + f - 1) * (m + f)))
    variance = sum(variances)
    df = variance**2 / sum(v * v / n for v, n in zip(variances, freedom, strict=True))
    half = t_quantile((1 + level) / 2, df) * math.sqrt(variance)
    return Bounds(d - half, d + half)


FEW_POSITIVES = Bounds(None, None, Message("limits.few_positives"))


_of_ranking = partial(interval, of=Ranking, needs=ITS_VALUE)


@_of_ranking(
    "Logit (shared scores: Wilson), t of the positives",
    source="Boyd, Eng and Page (2013), ECML; m - 1 degrees of freedom (docs/coverage.md) and shared scores"
    " (docs/curve-areas.csv) are our own",
)
def ap_logit(estimate: Estimate, level: float) -> Bounds:
    """Average precision on the logit scale, mapped back: Student's t with one less than the m positives.

    The variance V is that of the influence values times m / (m - 1). Where the value is 1, or nothing varies: Wilson's
    limits with n = m, and that quantile of t for z. Where five examples or more share a score, on average: Wilson's
    limits with that quantile. The trials are v (1 - v) over V + f s, of the value v; f = (z / z(95 %))^2, and s is the
    sum of the squares of the steepest derivatives, of a positive and of a negative, at any of the scores: an example
    may weigh much that these examples do not show. It takes away at most half of v (1 - v) / V or m, whichever is
    smaller.
    """
    m = _positives(estimate)
    return _on_logit_scale(estimate, level, raised=m / (m - 1), df=m - 1) if m > 1 else FEW_POSITIVES


@_of_ranking(
    "Logit (shared scores: Wilson), t by the kurtosis",
    source="Boyd, Eng and Page (2013), ECML; degrees of freedom by the kurtosis: Satterthwaite (1946), Biometrics Bull"
    " 2:110; the factor (m + 2) / (m - 1) (docs/coverage.md) and shared scores (docs/curve-areas.csv) are"
    " our own",
)
def pr_auc_logit(estimate: Estimate, level: float) -> Bounds:
    """Area under the precision-recall curve by trapezoids on the logit scale, mapped back: Student's t.

    The variance is that of the influence values times (m + 2) / (m - 1), with m positives of n examples; the degrees of
    freedom are 2 n / (kurtosis of the influence values - 1), at most m - 1. Where the value is 1, or nothing varies:
    Wilson's limits with n = m, and the quantile of t with m - 1 for z. Of sums of scores the kurtosis is not known: the
    degrees of freedom are m - 1. Where five examples or more share a score, on average: as of average precision.
    """
    m, n, kurtosis = _positives(estimate), estimate.sampling.n_examples, estimate.kurtosis
    if m < 2:
        return FEW_POSITIVES
    df = m - 1.0 if kurtosis is None else by_kurtosis(m - 1.0, n, kurtosis)
    return _on_logit_scale(estimate, level, raised=(m + 2) / (m - 1), df=df)


def _positives(estimate: Estimate) -> int:
    return evidence_of(estimate, Ranking).class_sizes[0]


_of_two_models = partial(
    interval,
    "Squared and added, correlated",
    of=PairedRanking,
    needs=ITS_DIFFERENCE,
    source="Zou (2007), Psychol Methods 12:399",
)


def _on_logit_scale(estimate: Estimate, level: float, *, raised: float, df: float) -> Bounds:
    """Return limits by Student's t of a mean over positives, whose variance is raised by a factor."""
    value, error, p, m = estimate.value, estimate.standard_error, (1 + level) / 2, _positives(estimate)
    if error is None:
        return FEW_POSITIVES
    if error == 0 or 1 - value <= NEGLIGIBLE:
        return Bounds(*score_limits(min(value, 1.0), m, t_quantile(p, m - 1)), Message("limits.positives"))
    if (unseen := _unseen(estimate, level)) > 0:
        trials = _trials(value, error**2 * raised, unseen, m)
        return Bounds(*score_limits(value, trials, t_quantile(p, m - 1)))
    half = t_quantile(p, df) * error * math.sqrt(raised) / (value * (1 - value))
    return Bounds(*logit_limits(value, half))


def _unseen(estimate: Estimate, level: float) -> float:
    """Return the variance that one example of each class adds where it weighs most; 0 of scores that are not shared."""
    ranking = evidence_of(estimate, Ranking)
    if ranking.steepest is None:
        return 0.0
    return made_up_share(level) * sum(slope**2 for slope in ranking.steepest)


def _trials(value: float, variance: float, unseen: float, most: float) -> float:
    """Return the trials of a share that a variance amounts to; what is unseen takes away half of them at most."""
    varies = value * (1 - value)
    return max(varies / (variance + unseen), min(varies / variance, most) / 2)


@_of_two_models()
def ap_mover(difference: Difference, level: float) -> Bounds:
    """Difference of two average precisions: the distances of the two models' own limits, squared and added.

    Less their products times the correlation of the influence values, since the examples are the same.
    """
    return _squared_and_added(difference, level, ap_logit)


@_of_two_models()
def pr_auc_mover(difference: Difference, level: float) -> Bounds:
    """Difference of two areas under precision-recall curves: the distances of the models' limits, squared and added.

    Less their products times the correlation of the influence values, since the examples are the same.
    """
    return _squared_and_added(difference, level, pr_auc_logit)


def _squared_and_added(difference: Difference, level: float, own: Function) -> Bounds:
    """Combine the two models' own limits, with the correlation of their influence values."""
    a, b = difference.a, difference.b
    first, second = own(a, level), own(b, level)
    if first.low is None or first.high is None or second.low is None or second.high is None:
        return Bounds(None, None, first.reason or second.reason)
    r = 0.0
    if a.standard_error and b.standard_error:
        shared = dot(
            required(a.influence).values / a.standard_error, required(b.influence).values / b.standard_error
        )
        r = min(max(shared, -1.0), 1.0)
    limits = mover((a.value, first.low, first.high), (b.value, second.low, second.high), r)
    return Bounds(*limits)


@_of_ranking(
    "Wilson, effective trials",
    source="Wilson (1927), J Am Stat Assoc 22:209; the degrees of freedom Welch's and Satterthwaite's (1946),"
    " Biometrics Bull 2:110; the effective trials and the added placements are our own (docs/coverage.md)",
)
def partial_auc_wilson(estimate: Estimate, level: float) -> Bounds:
    """Partial area under the ROC curve by Wilson's limits of a share, with the trials that its variance amounts to.

    u is the area as a share of what the range of false positive rates [0, c] holds, and k = c N of the N negatives are
    in that range. The m positives and those k get made-up placements 0 and 1, each with the weight 1/20; the variances
    have the factors m / (m - 1) and N / (N - 1), the degrees of freedom are Welch's of m - 1 and k, and the trials are
    u (1 - u) over the variance. Where u is 0 or 1: min(m, k). Where five examples or more share a score, on average,
    fewer: as of average precision, with min(m, k) for m.
    """
    spreads, computation = estimate.spread_by_class, estimate.metric.of(Ranks)
    ranking = evidence_of(estimate, Ranking)
    if spreads is None or min(ranking.class_sizes) < 2:
        return FEW_OF_A_CLASS
    (low, high), (m, n) = estimate.range, ranking.class_sizes
    u, k = (estimate.value - low) / (high - low), required(computation.most_false_positives) * n
    made_up = MADE_UP * (u * u + (1 - u) ** 2)
    of_positives, of_negatives = (
        (spread.squares / (high - low) ** 2 + made_up / inside**2) * size / (size - 1)
        for spread, inside, size in zip(spreads, (m, k), (m, n), strict=True)
    )
    variance = of_positives + of_negatives
    df = variance**2 / (of_positives**2 / (m - 1) + of_negatives**2 / max(k, 1.0))
    at_an_end = min(u, 1 - u) <= NEGLIGIBLE
    unseen = _unseen(estimate, level) / (high - low) ** 2
    trials = min(m, k) if at_an_end else _trials(u, variance, unseen, min(m, k))
    least, most = score_limits(min(max(u, 0.0), 1.0), trials, t_quantile((1 + level) / 2, df))
    return Bounds(low + (high - low) * least, low + (high - low) * most)


@_of_two_models()
def partial_auc_mover(difference: Difference, level: float) -> Bounds:
    """Difference of two partial areas under the ROC curve: the distances of the models' limits, squared and added.

    Less their products times the correlation of the influence values, since the examples are the same.
    """
    return _squared_and_added(difference, level, partial_auc_wilson)
