"""Curves with their bands, their summaries, and operating points."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial

import numpy as np

from evalreport.engine.distributions import log
from evalreport.intervals.proportions import wilson_limits
from evalreport.metrics.curves import CURVES, Points, record_of, rejection_area, right_at_coverage
from evalreport.metrics.registry import Quantity
from evalreport.metrics.sample import Sample
from evalreport.metrics.sample_rankings import all_threshold_counts, forecasts
from evalreport.metrics.threshold_counts import Forecasts, ThresholdCounts
from evalreport.options import Options
from evalreport.predictions.arrays import Floats
from evalreport.questions.thresholds.operating_points import (
    MOST_BANDS,
    USUAL_RATES,
    Band,
    band,
    criteria,
    curve_replicates,
    operating_points,
)
from evalreport.questions.thresholds.options import shares_of
from evalreport.questions.thresholds.records import CurveRecord, CurveSummaryRecord, OperatingPointRecord
from evalreport.samplings import Sampling
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


def with_band(record: CurveRecord, grid: Floats, limits: Band) -> CurveRecord:
    """Add the band, limits (T,) at rates (T,), to an ROC curve, read at the curve's own false positive rates."""
    low, high = (tuple(np.interp(record.x, grid, side).tolist()) for side in limits)
    return replace(record, low=low, high=high, band="pointwise")


def with_bin_limits(record: CurveRecord, points: Points, units: Sampling, level: float) -> CurveRecord:
    """Add Wilson's interval of the observed frequency to each bin; none where examples are not independent."""
    if points.count is None or points.successes is None or not units.plain:
        return record
    limits = [
        wilson_limits(float(x), float(n), level) for x, n in zip(points.successes, points.count, strict=True)
    ]
    low, high = (tuple(one[side] for one in limits) for side in (0, 1))
    return replace(record, low=low, high=high, band="pointwise")


# --- numbers of curves ------------------------------------------------------------------------------------------------

AT = (0.9, 0.8)
"""Partial areas are taken where specificity, or sensitivity, is at least this."""

FIRST = (0.1, 0.2)
"""Shares of the examples at which gain and lift are stated."""


def ranking_summaries(counts: ThresholdCounts) -> tuple[CurveSummaryRecord, ...]:
    """Return the numbers of a ranking's curves."""
    fpr, tpr = counts.fpr, counts.tpr
    summaries: list[CurveSummaryRecord] = []

    def add(curve: str, quantity: str, at: float | None, value: float) -> None:
        summaries.append(
            CurveSummaryRecord(
                model=counts.model, curve=curve, label=counts.label, quantity=quantity, at=at, value=value
            )
        )

    for at in AT if counts.label is None else ():
        # For sensitivity the classes change places: the curve is read from its other end.
        for side, x, y in (("specificity", fpr, tpr), ("sensitivity", 1 - tpr[::-1], 1 - fpr[::-1])):
            area = partial_area(x, y, 1 - at)
            add("roc", f"partial_area_{side}", at, area)
            add("roc", f"partial_auc_{side}", at, standardised(area, 1 - at))
    corners = counts.hull
    add("roc_hull", "area", None, float(np.trapezoid(tpr[corners], fpr[corners])))
    add("pr", "area_interpolated", None, interpolated_area(counts))
    if counts.label is None:
        called = (counts.found + counts.wrong) / (counts.positives + counts.negatives)
        for share in FIRST:
            caught = float(np.interp(share, called, tpr))
            add("gain", "found", share, caught)
            add("lift", "lift", share, caught / share)
    return tuple(summaries)


def partial_area(x: Floats, y: Floats, limit: float) -> float:
    """Return the area under a polygon from x = 0 to ``limit``; straight lines join the points.

    ``x`` (g,) rises from 0 and reaches ``limit``; ``y`` (g,) are the heights.
    """
    inside = int(np.searchsorted(x, limit, side="right"))
    end = float(np.interp(limit, x, y))
    xs, ys = np.concatenate([x[:inside], [limit]]), np.concatenate([y[:inside], [end]])
    return float(np.trapezoid(ys, xs))


def standardised(area: float, width: float) -> float:
    """Put a partial area on McClish's (1989) scale: 1/2 for guessing, 1 at best."""
    least, most = width * width / 2, width
    return (1 + (area - least) / (most - least)) / 2


def interpolated_area(counts: ThresholdCounts) -> float:
    """Return the area under the precision-recall curve with false positives rising in line between thresholds.

    Between two thresholds with h = change of FP by change of TP, precision at TP = x is x / (x (1 + h) + c), c = FP - h
    TP: its integral is closed (Davis and Goadrich 2006; Keilwagen, Grosse and Grau 2014).
    """
    before = np.flatnonzero(counts.found[1:] > counts.found[:-1])
    tp0, tp1, fp0, fp1 = (
        part[corner] for part in (counts.found, counts.wrong) for corner in (before, before + 1)
    )
    h = (fp1 - fp0) / (tp1 - tp0)
    c, slope = fp0 - h * tp0, 1 + h
    # The first piece begins at 0 with c = 0: precision is 1 / (1 + h) along it.
    logs = log((slope * tp1 + c) / np.where(slope * tp0 + c > 0, slope * tp0 + c, 1))
    logs = np.where((tp0 == 0) & (fp0 == 0), 0.0, logs)
    return float(((tp1 - tp0) / slope - c / slope**2 * logs).sum() / counts.positives)


COVERAGES = (0.9, 0.8, 0.5)
"""Shares of the examples answered at which the risk is stated."""


def rejection_summaries(given: Forecasts, units: Sampling, level: float) -> tuple[CurveSummaryRecord, ...]:
    """Return the area under the accuracy-rejection curve, and the risk at fixed coverages with Wilson's interval."""
    if given.confidence is None:
        return ()
    kept, right = given.kept_and_right[1:]
    total = float(kept[-1])
    area = rejection_area(kept, right)
    of_curve = partial(CurveSummaryRecord, model=given.model, curve="accuracy_rejection", label=None)
    records = [of_curve(quantity="area", value=area, at=None)]
    for coverage in COVERAGES:
        n = coverage * total
        wrong = n - float(right_at_coverage(kept, right, np.array([coverage]))[0])
        risk = of_curve(quantity="risk", at=coverage, value=wrong / n, reason=Message("limits.not_binomial"))
        if units.plain:
            low, high = wilson_limits(min(max(wrong, 0.0), n), n, level)
            risk = replace(risk, low=low, high=high, level=level, method="wilson", reason=None)
        records.append(risk)
    return tuple(records)
