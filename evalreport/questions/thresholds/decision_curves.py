"""Decision curves: net benefit over the declared thresholds, of each model and of pairs; description, no test."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Literal

import numpy as np

from evalreport.comparisons.pairs import model_pairs
from evalreport.intervals.at_rates import (
    benefit_difference_limits,
    benefit_limits,
    benefit_over_all,
    called_apart,
)
from evalreport.intervals.proportions import wilson_limits
from evalreport.intervals.student import half_width
from evalreport.metrics.at_rates import rows_of_benefit
from evalreport.metrics.sample import Sample
from evalreport.metrics.views import view
from evalreport.options import Options
from evalreport.predictions.arrays import Floats, Mask
from evalreport.questions.thresholds.options import threshold_range
from evalreport.questions.thresholds.records import DecisionCurveDifferenceRecord, DecisionCurveRecord
from evalreport.samplings import Sampling
from evalreport.samplings.linear import error_of_mean

Limits = tuple[float | None, float | None]


def decision_curves(
    samples: Sequence[Sample], options: Options
) -> tuple[list[DecisionCurveRecord], list[DecisionCurveDifferenceRecord]]:
    """Return every model's net benefit at every declared threshold, and the differences of pairs on the same examples.

    Pairs are those with the baseline where one is named, else all. Nothing without ``--thresholds``, or without the
    probability of a positive class.
    """
    curves: list[DecisionCurveRecord] = []
    differences: list[DecisionCurveDifferenceRecord] = []
    thresholds = () if options.thresholds is None else threshold_range(options.thresholds)
    for sample in samples if thresholds else ():
        given = dict(probabilities(sample))
        for name, (p, positive) in given.items():
            curves += [
                _point(name, p, positive, sample.units, at, options, len(thresholds)) for at in thresholds
            ]
        for a, b in model_pairs([*given], options.baseline if options.baseline in given else None):
            differences += [
                _difference((a, b), given, sample.units, at, options, len(thresholds)) for at in thresholds
            ]
    return curves, differences


def probabilities(sample: Sample) -> Iterator[tuple[str, tuple[Floats, Mask]]]:
    """Yield each model that gives the probability of a positive class: that, and which examples are positive."""
    predictions = sample.predictions
    for outputs in predictions.models:
        seen = view(predictions, outputs)
        if seen.proba is None or seen.positive_code is None or outputs.present is not None:
            continue
        yield outputs.name, (seen.proba[:, seen.positive_code], np.asarray(seen.true == seen.positive_code))


def level_of_highest(level: float, thresholds: int) -> float:
    """Return the level of the limits by which a curve is called the highest at one of some thresholds (Bonferroni)."""
    return 1 - (1 - level) / thresholds


def side_of(limits: Limits) -> Literal[-1, 0, 1]:
    """Return 1 where limits lie above 0, -1 below, 0 where they hold it or are not known."""
    low, high = limits
    if low is None or high is None:
        return 0
    return 1 if low > 0 else -1 if high < 0 else 0


def _point(
    name: str, p: Floats, positive: Mask, units: Sampling, at: float, options: Options, thresholds: int
) -> DecisionCurveRecord:
    odds, level, w = at / (1 - at), options.confidence, units.base
    each = level_of_highest(level, thresholds)
    n, flagged, y = float(w.sum()), p >= at, positive.astype(np.float64)
    prevalence = float((w * y).sum()) / n
    added, of_all = rows_of_benefit(p, y, at), y - odds * (1 - y)
    value, everyone = float((w * added).sum()) / n, float((w * of_all).sum()) / n
    over_all = value - everyone
    limits: Limits
    over: Limits
    if units.plain:
        tp, fn = (float((side & positive).sum()) for side in (flagged, ~flagged))
        fp, tn = (float((side & ~positive).sum()) for side in (flagged, ~flagged))
        limits = benefit_limits(tp, fp, n, at, level)
        over_all, *ends = benefit_over_all(tn, fn, n, at, level)
        over = ends[0], ends[1]
        above_none = side_of(benefit_limits(tp, fp, n, at, each))
        above_all = side_of(benefit_over_all(tn, fn, n, at, each)[1:])
        events = wilson_limits(prevalence * n, n, each)
        all_above_none = side_of((events[0] - at, events[1] - at))
    else:
        limits, over = (by_influence(values, units, level) for values in (added, added - of_all))
        above_none, above_all, all_above_none = (
            side_of(by_influence(values, units, each)) for values in (added, added - of_all, of_all)
        )
    avoided_low, avoided_high = (None if limit is None else limit / odds for limit in over)
    return DecisionCurveRecord(
        model=name, threshold=at, net_benefit=value, low=limits[0], high=limits[1], treat_all=everyone,
        minus_all=over_all, minus_all_low=over[0], minus_all_high=over[1],
        standardised=value / prevalence if prevalence else None, avoided=over_all / odds, avoided_low=avoided_low,
        avoided_high=avoided_high, prevalence=prevalence, above_none=above_none, above_all=above_all,
        all_above_none=all_above_none,
    )  # fmt: skip


def by_influence(values: Floats, units: Sampling, level: float) -> Limits:
    """Return limits of a weighted mean of the examples' values (n,), by the t of their sampling."""
    mean, student = error_of_mean(values, units)
    if student is None:
        return None, None
    half = half_width(student, level)
    return mean - half, mean + half


def benefit_differences(
    p: Floats, q: Floats, positive: Mask, units: Sampling, at: float, levels: Sequence[float]
) -> tuple[float, list[Limits]]:
    """Return the difference of two models' net benefits at a threshold, with its limits at each level."""
    y = positive.astype(np.float64)
    added = rows_of_benefit(p, y, at) - rows_of_benefit(q, y, at)
    value = float((units.base * added).sum()) / float(units.base.sum())
    if not units.plain:
        return value, [by_influence(added, units, level) for level in levels]
    counts = called_apart(p >= at, q >= at, positive)
    return value, [benefit_difference_limits(*counts, len(p), at, level) for level in levels]


def _difference(
    pair: tuple[str, str],
    given: dict[str, tuple[Floats, Mask]],
    units: Sampling,
    at: float,
    options: Options,
    thresholds: int,
) -> DecisionCurveDifferenceRecord:
    (p, positive), (q, _) = given[pair[0]], given[pair[1]]
    levels = options.confidence, level_of_highest(options.confidence, thresholds)
    value, ((low, high), each) = benefit_differences(p, q, positive, units, at, levels)
    above = side_of(each)
    return DecisionCurveDifferenceRecord(
        a=pair[0], b=pair[1], threshold=at, difference=value, low=low, high=high, above=above
    )
