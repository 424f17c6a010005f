"""From samples to what the results say of thresholds: curves, operating points, dominance, changed thresholds."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from evalreport.comparisons.dominance import Drawn, dominance, point_dominance
from evalreport.config import Options
from evalreport.curve_records import (
    CurveRecord,
    CurveSummaryRecord,
    DominanceRecord,
    OperatingPointRecord,
    ThresholdChangeRecord,
)
from evalreport.intervals.curves import band, rejection_summaries, with_band, with_bin_limits
from evalreport.intervals.operating_points import operating_points
from evalreport.metrics.curves import CURVES
from evalreport.metrics.curves.changes import threshold_changes
from evalreport.metrics.curves.criteria import Criterion, criteria
from evalreport.metrics.curves.ladder import forecasts, ladders
from evalreport.metrics.curves.registry import Curve, record_of
from evalreport.metrics.curves.summaries import ranking_summaries
from evalreport.metrics.curves.tally import MOST_BANDS, Tally, tallies
from evalreport.metrics.quantities import Quantity
from evalreport.metrics.sample import Sample
from evalreport.records import FoundRecord
from evalreport.texts import Message


def threshold_fields(samples: Sequence[Sample], options: Options) -> dict[str, Any]:
    """Return the fields of the results that are about thresholds, by name; samples apart have draws of their own."""
    curves: list[CurveRecord] = []
    summaries: list[CurveSummaryRecord] = []
    points: list[OperatingPointRecord] = []
    pairs: list[DominanceRecord] = []
    changes: list[ThresholdChangeRecord] = []
    every: list[Drawn] = []
    for sample in samples:
        rungs = ladders(sample)
        chosen_by = criteria(sample.quantities if options.metrics else (), options.cost_ratio)
        tallied = tallies(rungs, sample.units, chosen_by, n_resamples=options.resamples, seed=options.seed)
        for tally in tallied:
            limits = band(tally, sample.units, options.confidence)
            every.append(Drawn(tally.ladder, None if limits is None else (tally.grid, *limits)))
            curves += _of_ranking(tally, sample, options)
            summaries += ranking_summaries(tally.ladder)
            if tally.ladder.label is None:
                points += _operating_points(tally, chosen_by, sample, options)
        of_forecasts, more = _of_forecasts(sample, options)
        curves += of_forecasts
        summaries += more
        pairs += point_dominance(sample, rungs)
        if options.what_if_threshold is not None:
            changes += threshold_changes(sample, options.what_if_threshold)
    return {
        "curves": tuple(curves),
        "curve_summaries": tuple(summaries),
        "operating_points": tuple(points),
        "dominance": (*dominance(every, baseline=options.baseline), *pairs),
        "threshold_changes": tuple(changes),
    }


def _of_ranking(tally: Tally, sample: Sample, options: Options) -> list[CurveRecord]:
    found = []
    for entry in _served(sample, "scores"):
        points = entry.function(tally.ladder)
        if points is None:
            continue
        record = record_of(entry, points, model=tally.ladder.model, label=tally.ladder.label)
        if entry.name == "roc":
            record = with_band(record, tally, sample.units, options.confidence)
        found.append(record)
    return found


def _served(sample: Sample, needs: str) -> list[Curve]:
    return [
        entry for entry in CURVES.values() if entry.needs == needs and sample.predictions.task in entry.tasks
    ]


def _operating_points(
    tally: Tally, chosen_by: Sequence[Criterion], sample: Sample, options: Options
) -> tuple[OperatingPointRecord, ...]:
    return operating_points(
        tally,
        chosen_by,
        sample.units,
        level=options.confidence,
        eer=sample.estimates.get((tally.ladder.model, Quantity("eer"))),
        cost_ratio=options.cost_ratio,
    )


def _of_forecasts(sample: Sample, options: Options) -> tuple[list[CurveRecord], list[CurveSummaryRecord]]:
    """Return reliability and accuracy-rejection of every model that gives probabilities."""
    curves: list[CurveRecord] = []
    summaries: list[CurveSummaryRecord] = []
    for given in forecasts(sample):
        for entry in _served(sample, "probabilities"):
            points = entry.function(given)
            if points is None:
                continue
            record = record_of(entry, points, model=given.model)
            curves.append(with_bin_limits(record, points, sample.units, options.confidence))
        summaries += rejection_summaries(given, sample.units, options.confidence)
    return curves, summaries


def bands_found(curves: Sequence[CurveRecord], options: Options) -> tuple[FoundRecord, ...]:
    """Say of what kind the bands are, where there are any, or why there are none."""
    of_roc = [record for record in curves if record.curve == "roc"]
    if any(record.band for record in of_roc):
        why = Message("found.bands.pointwise", level=options.confidence, resamples=options.resamples)
        return (FoundRecord("ROC bands", "pointwise", why),)
    if len(of_roc) > MOST_BANDS:
        return (FoundRecord("ROC bands", "none", Message("found.bands.none", most=MOST_BANDS)),)
    return ()
