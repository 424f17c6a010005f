"""Curves with their bands, their summaries, and operating points."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from evalreport.metrics.curves import CURVES, Points, record_of
from evalreport.metrics.operating_points import (
    MOST_BANDS,
    USUAL_RATES,
    criteria,
    curve_replicates,
    ranking_summaries,
)
from evalreport.metrics.registry import Quantity
from evalreport.metrics.sample import Sample
from evalreport.metrics.sample_rankings import all_threshold_counts, forecasts
from evalreport.metrics.threshold_counts import Forecasts, ThresholdCounts
from evalreport.options import Options
from evalreport.questions.thresholds.operating_points import (
    band,
    operating_points,
    rejection_summaries,
    with_band,
    with_bin_limits,
)
from evalreport.questions.thresholds.options import shares_of
from evalreport.questions.thresholds.records import CurveRecord, CurveSummaryRecord, OperatingPointRecord
from evalreport.schema.inputs import FoundRecord
from evalreport.texts import Message, plain


@dataclass(frozen=True, slots=True, kw_only=True)
class Curves:
    """The curves of one sample: ROC curves, and the records made of all curves."""

    roc: tuple[ThresholdCounts, ...]
    records: tuple[CurveRecord, ...]
    summaries: tuple[CurveSummaryRecord, ...]
    operating_points: tuple[OperatingPointRecord, ...]


def curve_records(sample: Sample, options: Options) -> Curves:
    """Return a sample's curves; with one model a sample the replicates of each are its own."""
    chosen_by = criteria(sample.quantities if options.metrics else (), options.cost_ratio)
    rates = USUAL_RATES.along_with(alarms=shares_of(options.alarms), finds=shares_of(options.finds))
    roc: list[ThresholdCounts] = []
    records: list[CurveRecord] = []
    summaries: list[CurveSummaryRecord] = []
    points: list[OperatingPointRecord] = []
    for resampled in curve_replicates(
        all_threshold_counts(sample),
        sample.units,
        chosen_by,
        n_resamples=options.resamples,
        seed=options.seed,
        rates=rates,
    ):
        counts = resampled.counts
        limits = band(resampled, sample.units, options.confidence)
        roc.append(counts)
        for record, _ in _drawn(sample, "scores", counts, counts.label):
            if record.curve == "roc" and limits is not None:
                record = with_band(record, resampled.grid, limits)
            records.append(record)
        summaries += ranking_summaries(counts)
        if counts.label is None:
            points += operating_points(
                resampled,
                chosen_by,
                sample.units,
                limits,
                level=options.confidence,
                eer=sample.estimates.get((counts.model, Quantity("eer"))),
                cost_ratio=options.cost_ratio,
                rates=rates,
            )
    for given in forecasts(sample):
        for record, bins in _drawn(sample, "probabilities", given):
            records.append(with_bin_limits(record, bins, sample.units, options.confidence))
        summaries += rejection_summaries(given, sample.units, options.confidence)
    return Curves(
        roc=tuple(roc), records=tuple(records), summaries=tuple(summaries), operating_points=tuple(points)
    )


def _drawn(
    sample: Sample, needs: str, given: ThresholdCounts | Forecasts, label: str | None = None
) -> Iterator[tuple[CurveRecord, Points]]:
    """Yield the registered curves of the sample's task that are made of scores, or of probabilities, of one model."""
    for entry in CURVES.values():
        if entry.needs == needs and sample.predictions.task in entry.tasks:
            points = entry.function(given)
            if points is not None:
                yield record_of(entry, points, model=given.model, label=label), points


def bands_found(curves: Sequence[Curves], options: Options) -> tuple[FoundRecord, ...]:
    """Say which kind of bands the ROC curves have, or why they have none."""
    of_roc = [record for one in curves for record in one.records if record.curve == "roc"]
    if any(record.band for record in of_roc):
        why = Message("found.bands.pointwise", level=options.confidence, resamples=options.resamples)
        return (FoundRecord(what="ROC bands", value=plain("pointwise"), why=why),)
    several = len({record.model for record in of_roc}) > 1 and len(curves) == 1
    if len(of_roc) > MOST_BANDS:
        why = Message("found.bands.none", most=MOST_BANDS)
    elif several and all(record.label is not None for record in of_roc):
        why = Message("found.bands.several")
    else:
        return ()
    return (FoundRecord(what="ROC bands", value=plain("none"), why=why),)
