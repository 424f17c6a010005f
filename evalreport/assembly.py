"""From samples to records: the values, folds, confusion matrices and curves that stand in the results."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import partial
from typing import Literal

import numpy as np

from evalreport.comparisons.all_models import Drawn, crossing_sentence, dominance, point_dominance
from evalreport.comparisons.fits import trained_once
from evalreport.comparisons.verdicts import Decision, verdict
from evalreport.engine.distributions import parts_of, t_quantile
from evalreport.intervals import all_intervals, leads_as_proportion
from evalreport.intervals.operating_points import (
    band,
    operating_points,
    rejection_summaries,
    with_band,
    with_bin_limits,
)
from evalreport.metrics.criteria import filled_in
from evalreport.metrics.curves import CURVES, Curve, record_of
from evalreport.metrics.estimate import Estimate
from evalreport.metrics.label_estimates import of_tables
from evalreport.metrics.operating_points import (
    MOST_BANDS,
    Criterion,
    Tally,
    criteria,
    ranking_summaries,
    tallies,
    threshold_changes,
)
from evalreport.metrics.registry import Quantity, definition
from evalreport.metrics.sample import Sample
from evalreport.metrics.threshold_counts import Forecasts, forecasts, ladders
from evalreport.numbers import digits_apart
from evalreport.options import Options
from evalreport.predictions.arrays import Floats, Indices, Mask
from evalreport.predictions.table import ModelOutputs, Predictions
from evalreport.schema.curves import (
    CurveRecord,
    CurveSummaryRecord,
    DominanceRecord,
    OperatingPointRecord,
    ResidualRecord,
    ScoreHistogramRecord,
    ThresholdChangeRecord,
)
from evalreport.schema.decisions import VerdictRecord
from evalreport.schema.inputs import FoundRecord
from evalreport.schema.metrics import ConfusionRecord, FoldRecord, MetricRecord
from evalreport.schema.results import ResultFields
from evalreport.texts import Message, Text, sentences

SCORE_BINS = 20
OUTSIDE = 0.001
"""Of bare scores, this share at each end may lie beyond the edges."""

MOST_POINTS, MOST_LARGE = 200, 20
"""Examples that are drawn of one model, and how many of them for the size of their errors."""

VALUE_BINS, LEAST_IN_BIN = 10, 5
"""Bins, fewer of few examples so that each holds the second number at least."""

DIGITS = 6
"""Digits of what is only drawn."""

LARGEST = float(np.finfo(np.float64).max)


def distribution_fields(samples: Sequence[Sample], options: Options) -> ResultFields:
    """Return the fields of the results about how predictions are distributed, by name."""
    return {
        "score_histograms": tuple(record for sample in samples for record in score_histograms(sample)),
        "residuals": tuple(record for s in samples for record in residuals(s, options.confidence)),
    }


# --- scores by class --------------------------------------------------------------------------------------------------


def score_histograms(sample: Sample) -> tuple[ScoreHistogramRecord, ...]:
    """Count each model's scores by true class, in bins of equal width; nothing but for a binary task."""
    found = []
    predictions = sample.predictions
    for model, score, positive, weight, is_probability in _scored(sample):
        scale: Literal["probability", "score"] = "probability" if is_probability else "score"
        edges = np.arange(SCORE_BINS + 1) / SCORE_BINS if is_probability else _edges(score)
        place = _places(score, edges) + (len(edges) - 1) * positive
        both = np.bincount(place, weights=weight, minlength=2 * (len(edges) - 1)).reshape(2, -1)
        for code, name in enumerate(predictions.classes):
            counts = both[int(code == predictions.positive_code)]
            found.append(
                ScoreHistogramRecord(
                    model=model, true=name, positive=code == predictions.positive_code, scale=scale,
                    edges=tuple(edges.tolist()),
                    counts=tuple(counts.tolist()), n=float(counts.sum()),
                )
            )  # fmt: skip
    return tuple(found)


def _places(score: Floats, edges: Floats) -> Indices:
    """Return the bin (n,) of each score; what lies outside belongs to the nearest."""
    place = np.zeros(len(score), dtype=np.uint8)
    for part in parts_of(score):
        for edge in edges[1:-1]:
            place[part] += score[part] >= edge
    return place.astype(np.intp)


def _scored(sample: Sample) -> Iterator[tuple[str, Floats, Mask, Floats, bool]]:
    """Yield each model's scores, which are of positives, their weights, and whether they are probabilities."""
    predictions, true = sample.predictions, sample.predictions.y_true
    if predictions.task != "binary" or predictions.positive is None or true is None:
        return
    for model, bins in {} if predictions.scores is None else predictions.scores.bins.items():
        positive = np.repeat([True, False], len(bins.middle))
        weight = np.concatenate([bins.positives, bins.negatives])
        yield model, np.tile(bins.middle, 2), positive, weight, bins.probability
    for outputs in predictions.models:
        if outputs.score is not None:
            rows = _rows(outputs, len(true))
            # A column of scores ranks even where there are probabilities beside it.
            is_probability = outputs.proba is not None and np.array_equal(
                outputs.score, outputs.proba[:, predictions.positive_code]
            )
            weight, positive = sample.units.base[rows], true[rows] == predictions.positive_code
            yield outputs.name, outputs.score[rows], positive, weight, is_probability


def _rows(outputs: ModelOutputs, n: int) -> Indices:
    return np.arange(n) if outputs.present is None else np.flatnonzero(outputs.present)


def _edges(score: Floats) -> Floats:
    """Return edges of equal width that leave out a few scores at either end, where tails are long."""
    low, high = np.quantile(score, [OUTSIDE, 1 - OUTSIDE])
    with np.errstate(over="ignore"):
        width = high - low
    if not width > 0 or not math.isfinite(width):
        low, high = np.min(score), np.max(score)
        # By more than the last digit of a large score.
        apart = max(0.5, 1e-6 * float(np.abs(score).max()))
        low, high = max(low - apart, -LARGEST), min(high + apart, LARGEST)
    # Halves first: the span of scores near the largest double is infinite.
    return np.unique(_rounded(np.linspace(low / 2, high / 2, SCORE_BINS + 1) * 2))


# --- true against predicted values ------------------------------------------------------------------------------------


def residuals(sample: Sample, level: float) -> tuple[ResidualRecord, ...]:
    """Return each model's predicted and true values, thinned, and its calibration; nothing but for regression."""
    predictions = sample.predictions
    if predictions.task != "regression" or predictions.y_true is None:
        return ()
    found = []
    for outputs in predictions.models:
        if outputs.y_pred is None:
            continue
        rows = _rows(outputs, predictions.n)
        if not len(rows):
            continue
        predicted = outputs.y_pred[rows].astype(np.float64)
        true = predictions.y_true[rows].astype(np.float64)
        order = np.argsort(predicted, kind="stable")
        drawn = _drawn(predicted, true, order)
        weight = sample.units.base[rows]
        bins = [
            _bin(predicted[part], true[part], weight[part], level if sample.units.plain else None)
            for part in _parts(predicted, order)
        ]
        means, truths, lows, highs, counts = (tuple(column) for column in zip(*bins, strict=True))
        found.append(
            ResidualRecord(
                model=outputs.name, predicted=_rounded(predicted[drawn]), true=_rounded(true[drawn]),
                bin_predicted=means, bin_true=truths, bin_low=lows, bin_high=highs,
                bin_count=counts, level=level, n=len(rows),
            )
        )  # fmt: skip
    return tuple(found)


def _drawn(predicted: Floats, true: Floats, order: Indices) -> Indices:
    """Choose the examples that are drawn: evenly along the predictions, and those with the largest errors."""
    if len(order) <= MOST_POINTS:
        return order
    with np.errstate(over="ignore", invalid="ignore"):
        error = np.abs(predicted - true)
    largest = np.argsort(-error, kind="stable")[:MOST_LARGE]
    evenly = order[np.linspace(0, len(order) - 1, MOST_POINTS - MOST_LARGE).round().astype(np.int64)]
    return np.unique(np.concatenate([largest, evenly]))


def _parts(predicted: Floats, order: Indices) -> list[Indices]:
    """Divide the examples into bins of equal size by their prediction; equal predictions stay together."""
    bins = min(VALUE_BINS, max(len(order) // LEAST_IN_BIN, 1))
    cuts = np.linspace(0, len(order), bins + 1)[1:-1].round().astype(np.int64)
    ranked = predicted[order]
    inside = np.unique(np.searchsorted(ranked, ranked[cuts], side="left"))
    return [part for part in np.split(order, inside) if len(part)]


def _bin(
    predicted: Floats, true: Floats, weight: Floats, level: float | None
) -> tuple[float, float, float | None, float | None, float]:
    """Return mean prediction, mean truth, its limits (Student's t of the errors) and the weight of one bin."""
    total = float(weight.sum())
    with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
        mean, truth = (
            (float((weight * values).sum() / total) if total else math.nan) for values in (predicted, true)
        )
        n = len(true)
        if level is None or n < LEAST_IN_BIN:
            return mean, truth, None, None, total
        half = t_quantile((1 + level) / 2, n - 1) * float((true - predicted).std(ddof=1)) / math.sqrt(n)
    if not math.isfinite(half):
        return mean, truth, None, None, total
    return mean, truth, truth - half, truth + half, total


def _rounded(values: Floats) -> tuple[float, ...]:
    """Round values (n,) to the digits that tell them apart."""
    listed = values.tolist()
    digits = digits_apart(listed, DIGITS)
    return tuple(float(f"{value:.{digits}g}") for value in listed)


def threshold_fields(samples: Sequence[Sample], options: Options) -> ResultFields:
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
        of_tally = partial(_of_tally, chosen_by, sample, options)
        for drawn, of_curves, of_summaries, of_points in map(of_tally, tallied):
            every.append(drawn)
            curves += of_curves
            summaries += of_summaries
            points += of_points
        for of_curves, of_summaries in map(partial(_of_forecasts, sample, options), forecasts(sample)):
            curves += of_curves
            summaries += of_summaries
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


def _of_tally(
    chosen_by: Sequence[Criterion], sample: Sample, options: Options, tally: Tally
) -> tuple[Drawn, list[CurveRecord], Sequence[CurveSummaryRecord], tuple[OperatingPointRecord, ...]]:
    """Return one ranking with its band, its curves, what sums them up, and its operating points."""
    limits = band(tally, sample.units, options.confidence)
    drawn = Drawn(tally.ladder, None if limits is None else (tally.grid, *limits))
    points = _operating_points(tally, chosen_by, sample, options) if tally.ladder.label is None else ()
    return drawn, _of_ranking(tally, sample, options), ranking_summaries(tally.ladder), points


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


def _of_forecasts(
    sample: Sample, options: Options, given: Forecasts
) -> tuple[list[CurveRecord], Sequence[CurveSummaryRecord]]:
    """Return reliability and accuracy-rejection of a model that gives probabilities."""
    curves: list[CurveRecord] = []
    for entry in _served(sample, "probabilities"):
        points = entry.function(given)
        if points is None:
            continue
        record = record_of(entry, points, model=given.model)
        curves.append(with_bin_limits(record, points, sample.units, options.confidence))
    return curves, rejection_summaries(given, sample.units, options.confidence)


def bands_found(curves: Sequence[CurveRecord], options: Options) -> tuple[FoundRecord, ...]:
    """Say of what kind the bands are, where there are any, or why there are none."""
    of_roc = [record for record in curves if record.curve == "roc"]
    if any(record.band for record in of_roc):
        why = Message("found.bands.pointwise", level=options.confidence, resamples=options.resamples)
        return (FoundRecord(what="ROC bands", value="pointwise", why=why),)
    if len(of_roc) > MOST_BANDS:
        return (
            FoundRecord(what="ROC bands", value="none", why=Message("found.bands.none", most=MOST_BANDS)),
        )
    return ()


MOST_WHOLE = 50
"""Confusion matrices of up to so many classes are written with their zeros."""


def metric_records(sample: Sample, options: Options) -> tuple[MetricRecord, ...]:
    """Return every model's value of every quantity with its intervals, the recommended one first."""
    predictions, effective = sample.predictions, (sample.n_effective, sample.units.clusters_effective)

    def record(estimate: Estimate) -> MetricRecord:
        quantity, value_of = estimate.quantity, of_tables(estimate, predictions)
        n_effective, clusters_effective = (None, None) if estimate.over_datasets else effective
        code = predictions.classes.index(quantity.label) if quantity.label is not None else None
        if code is None and predictions.task == "binary":
            code = predictions.positive_code
        intervals = all_intervals(estimate, options.intervals, options.confidence, value_of)
        return MetricRecord(
            model=estimate.model,
            **quantity.fields,
            value=None if np.isnan(estimate.value) else float(estimate.value),
            standard_error=estimate.standard_error if estimate.defined else None,
            n=estimate.n,
            reason=estimate.reason,
            intervals=intervals,
            formula=filled_in(estimate, code),
            n_effective=n_effective,
            clusters_effective=clusters_effective,
            clusters=None if clusters_effective is None else estimate.clusters,
            trials=estimate.trials if leads_as_proportion(estimate, intervals[0]) else None,
        )

    every = [sample.estimates[model.name, q] for model in predictions.models for q in sample.quantities]
    return tuple(map(record, every))


def fold_records(sample: Sample) -> tuple[FoldRecord, ...]:
    """Return every model's value of every overall and averaged quantity on each single fit."""
    layout = sample.rows.layout
    parts = layout.pooled if sample.predictions.design == "datasets" else layout.fits
    if parts.count == 1:
        return ()
    names = [dict(name) for name in parts.names]
    found = []
    for (model, quantity), estimate in sample.estimates.items():
        if estimate.fits is None or quantity.label is not None:
            continue
        for name, value, n in zip(names, estimate.fits.values, estimate.fits.n_test, strict=True):
            repeat = name.get("repeat") or name.get("replicate") or name.get("seed") or name.get("dataset")
            found.append(
                FoldRecord(
                    model=model,
                    repeat=repeat,
                    fold=name.get("fold"),
                    metric=quantity.metric,
                    average=quantity.average,
                    label=None,
                    value=None if np.isnan(value) else float(value),
                    n=int(n),
                )
            )
    return tuple(found)


def confusion_records(sample: Sample) -> tuple[ConfusionRecord, ...]:
    """Return every label model's confusion matrix, cell by cell; with very many classes only the cells in use."""
    classes, found = sample.predictions.classes, []
    if sample.tables is None:
        return ()
    for name, table in zip(sample.label_models, sample.tables.tables, strict=True):
        found += [
            ConfusionRecord(model=name, true=true, predicted=predicted, count=float(table[t, p]))
            for t, true in enumerate(classes)
            for p, predicted in enumerate(sample.predictions.answers)
            if len(classes) <= MOST_WHOLE or table[t, p]
        ]
    return tuple(found)


def verdict_records(
    decisions: Sequence[Decision],
    predictions: Predictions,
    options: Options,
    crossed: Sequence[DominanceRecord] = (),
) -> tuple[VerdictRecord, ...]:
    """Return the verdict of each pair on the primary metric.

    Where that is an area under a curve, it is added to the sentence that the pair's curves cross: an area settles
    nothing for one operating point. The verdict itself stays what the declared metric's test settles. Where a model was
    trained with one seed, the sentence says that it is about the models as they were trained.
    """
    clear = {frozenset((record.a, record.b)): record for record in crossed if record.clear}
    found = []
    for decision in decisions:
        said, notes = verdict(decision, options), list[Text]()
        record = clear.get(frozenset(said.about))
        if record is not None and definition(decision.comparison.quantity).area:
            settled = said.verdict in ("better", "worse")
            if not settled or record.beyond_bands:
                notes.append(crossing_sentence(record, settled=settled))
        pair = decision.comparison.pair
        once = None if pair is None else trained_once(pair, predictions)
        if once is not None:
            notes.append(once)
        found.append(replace(said, text=sentences(said.text, *notes)) if notes else said)
    return tuple(found)
