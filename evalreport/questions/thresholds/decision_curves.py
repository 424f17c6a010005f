"""Decision curves: net benefit over the declared thresholds, of each model and of pairs; description, no test."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from evalreport.comparisons.pairs import model_pairs
from evalreport.intervals.at_rates import benefit_difference_limits, benefit_limits, benefit_over_all
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


@dataclass(frozen=True, slots=True)
class DecisionCurves:
    """The records of decision curves."""

    curves: tuple[DecisionCurveRecord, ...] = ()
    differences: tuple[DecisionCurveDifferenceRecord, ...] = ()


def decision_curves(samples: Sequence[Sample], options: Options) -> DecisionCurves:
    """Return every model's net benefit at every declared threshold, and the differences of pairs on the same examples.

    Pairs are those with the baseline where one is named, else all. Nothing without ``--thresholds``, or without the
    probability of a positive class.
    """
    if options.thresholds is None:
        return DecisionCurves()
    thresholds = threshold_range(options.thresholds)
    curves: list[DecisionCurveRecord] = []
    differences: list[DecisionCurveDifferenceRecord] = []
    for sample in samples:
        given = dict(_probabilities(sample))
        for name, (p, positive) in given.items():
            curves += [_point(name, p, positive, sample.units, at, options) for at in thresholds]
        for a, b in model_pairs([*given], options.baseline if options.baseline in given else None):
            differences += [_difference((a, b), given, sample.units, at, options) for at in thresholds]
    return DecisionCurves(tuple(curves), tuple(differences))


def _probabilities(sample: Sample) -> Iterator[tuple[str, tuple[Floats, Mask]]]:
    predictions = sample.predictions
    for outputs in predictions.models:
        seen = view(predictions, outputs)
        if seen.proba is None or seen.positive_code is None or outputs.present is not None:
            continue
        yield outputs.name, (seen.proba[:, seen.positive_code], np.asarray(seen.true == seen.positive_code))


def _point(
    name: str, p: Floats, positive: Mask, units: Sampling, at: float, options: Options
) -> DecisionCurveRecord:
    odds, level, w = at / (1 - at), options.confidence, units.base
    n, flagged, y = float(w.sum()), p >= at, positive.astype(np.float64)
    prevalence = float((w * y).sum()) / n
    added, of_all = rows_of_benefit(p, y, at), y - odds * (1 - y)
    value, everyone = float((w * added).sum()) / n, float((w * of_all).sum()) / n
    over_all = value - everyone
    low: float | None
    high: float | None
    over_low: float | None
    over_high: float | None
    if units.plain:
        tp, fp, tn, fn = (
            float((side & of).sum())
            for side, of in (
                (flagged, positive),
                (flagged, ~positive),
                (~flagged, ~positive),
                (~flagged, positive),
            )
        )
        low, high = benefit_limits(tp, fp, n, at, level)
        over_all, over_low, over_high = benefit_over_all(tn, fn, n, at, level)
    else:
        low, high = _by_influence(added, units, level)
        over_low, over_high = _by_influence(added - of_all, units, level)
    return DecisionCurveRecord(
        model=name, threshold=at, net_benefit=value, low=low, high=high, treat_all=everyone, minus_all=over_all,
        minus_all_low=over_low, minus_all_high=over_high, standardised=value / prevalence if prevalence else None,
        avoided=over_all / odds, avoided_low=None if over_low is None else over_low / odds,
        avoided_high=None if over_high is None else over_high / odds, prevalence=prevalence,
    )  # fmt: skip


def _by_influence(values: Floats, units: Sampling, level: float) -> Limits:
    """Return limits of a weighted mean of the examples' values (n,), by the t of their sampling."""
    mean, student = error_of_mean(values, units)
    if student is None:
        return None, None
    half = half_width(student, level)
    return mean - half, mean + half


def _difference(
    pair: tuple[str, str], given: dict[str, tuple[Floats, Mask]], units: Sampling, at: float, options: Options
) -> DecisionCurveDifferenceRecord:
    (p, positive), (q, _) = given[pair[0]], given[pair[1]]
    a, b = p >= at, q >= at
    y = positive.astype(np.float64)
    added = rows_of_benefit(p, y, at) - rows_of_benefit(q, y, at)
    value = float((units.base * added).sum()) / float(units.base.sum())
    low: float | None
    high: float | None
    if units.plain:
        kinds = [(float((a & ~b & of).sum()), float((b & ~a & of).sum())) for of in (positive, ~positive)]
        low, high = benefit_difference_limits(kinds[0], kinds[1], len(a), at, options.confidence)
    else:
        low, high = _by_influence(added, units, options.confidence)
    return DecisionCurveDifferenceRecord(
        a=pair[0], b=pair[1], threshold=at, difference=value, low=low, high=high
    )
