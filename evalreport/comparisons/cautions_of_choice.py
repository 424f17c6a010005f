"""Warnings about choosing: metrics or curves that point opposite ways, thresholds fitted to the test set, reuse."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from evalreport.config import Options
from evalreport.curve_records import DominanceRecord, OperatingPointRecord
from evalreport.data.predictions import ModelOutputs
from evalreport.metrics.quantities import Quantity, definition, greater_is_better
from evalreport.metrics.sample import Sample
from evalreport.records import ComparisonRecord, WarningRecord, warning
from evalreport.texts import Message, shortened

Floats = npt.NDArray[np.float64]

MOST_NAMED = 3
MANY_MODELS = 10
FEW_SCORES = 20
"""With fewer distinct scores than this the best threshold is hit by chance too often to say anything."""


def of_choice(
    sample: Sample,
    rows: Sequence[ComparisonRecord],
    thresholds: Mapping[str, Sequence[Any]],
    options: Options,
) -> Iterator[WarningRecord]:
    """Yield the warnings of this room, in a fixed order."""
    yield from _of_metrics(sample, rows, options)
    yield from _of_curves(thresholds.get("dominance", ()))
    yield from _of_chosen(thresholds.get("operating_points", ()), options)
    yield from _of_thresholds(sample)
    yield from _of_test_set(sample)


def _of_metrics(
    sample: Sample, rows: Sequence[ComparisonRecord], options: Options
) -> Iterator[WarningRecord]:
    """Warn of pairs in which each model is ahead on some metric, by the interval of the difference."""
    ahead: dict[tuple[str, str], tuple[list[str], list[str]]] = {}
    known: dict[tuple[str, str | None, str | None], Quantity] = {
        (q.metric, q.average, q.label): q for q in sample.quantities
    }
    for row in rows:
        quantity = known.get((row.metric, row.average, row.label))
        if not row.recommended or row.slice is not None or quantity is None or row.b is None:
            continue
        if quantity.label is not None or not _tells_apart(row, options):
            continue
        if not definition(quantity).intervals:
            continue  # no interval of the metric is honest, so none of its difference tells who is ahead
        assert row.difference is not None
        first = (row.difference > 0) == greater_is_better(quantity, lower_is_better=options.lower_is_better)
        ahead.setdefault((row.a, row.b), ([], []))[0 if first else 1].append(_named(quantity))
    for (a, b), (for_a, for_b) in ahead.items():
        if for_a and for_b:
            of_a, of_b = shortened(for_a, MOST_NAMED), shortened(for_b, MOST_NAMED)
            yield warning("metrics_disagree", about=(a, b), a=a, b=b, for_a=of_a, for_b=of_b)


def _tells_apart(row: ComparisonRecord, options: Options) -> bool:
    """Say whether a pair is told apart: by the verdict on the primary metric, elsewhere by the row's interval."""
    if row.low is None or row.high is None or not row.difference:
        return False
    if row.p_adjusted is not None:
        return row.p_adjusted <= 1 - options.confidence
    return not row.low <= 0 <= row.high


def _named(quantity: Quantity) -> str:
    return definition(quantity).phrase + (f" ({quantity.average})" if quantity.average else "")


def _of_curves(dominance: Sequence[DominanceRecord]) -> Iterator[WarningRecord]:
    """Tell of ROC curves that cross clearly; a warning where it is more than the bands allow for."""
    clear = [record for record in dominance if record.clear]
    beyond = [record for record in clear if record.beyond_bands]
    pairs = [Message("list.and", names=record.a, last=record.b) for record in beyond or clear]
    if len(pairs) > MOST_NAMED:
        pairs[MOST_NAMED:] = [Message("list.more_pairs", n=len(pairs) - MOST_NAMED)]
    if beyond:
        yield warning("curves_cross", "clearly", pairs=tuple(pairs))
    elif pairs:
        yield warning("curves_cross", "within_bands", level="info", pairs=tuple(pairs))


def _of_chosen(points: Sequence[OperatingPointRecord], options: Options) -> Iterator[WarningRecord]:
    """Say that thresholds were chosen on the data that they are judged on: a warning where one was asked for."""
    if any(record.optimistic for record in points):
        if options.cost_ratio is not None:
            yield warning("threshold_chosen_here", about=("cost_ratio",))
        else:
            yield warning("threshold_chosen_here", level="info")


def _of_thresholds(sample: Sample) -> Iterator[WarningRecord]:
    """Warn of decisions that lie exactly at the threshold with the best accuracy or F1 on these very examples."""
    predictions = sample.predictions
    if predictions.task != "binary" or predictions.design != "test-set" or predictions.y_true is None:
        return
    positive = predictions.y_true == predictions.positive_code
    for model in predictions.models:
        best = _best_at_own_threshold(model, positive, predictions.positive_code)
        if best is not None:
            yield warning("suspicious_threshold", about=(model.name,), model=model.name, metric=best)


def _best_at_own_threshold(model: ModelOutputs, positive: npt.NDArray[np.bool_], code: int) -> str | None:
    if model.score is None or model.y_pred is None or model.present is not None:
        return None
    called = model.y_pred == code
    usual = model.proba is not None and np.array_equal(called, model.score >= 0.5)
    if usual or not called.any() or called.all() or model.score[called].min() <= model.score[~called].max():
        return None  # the usual threshold, none at all, or labels that no threshold on the score gives
    scores, group = np.unique(-model.score, return_inverse=True)
    if len(scores) < FEW_SCORES:
        return None
    tp = np.cumsum(np.bincount(group, weights=positive))
    fp = np.cumsum(np.bincount(group, weights=~positive))
    place = len(np.unique(model.score[called])) - 1
    right = tp + ((~positive).sum() - fp)
    f1 = 2 * tp / (tp + fp + positive.sum())
    for name, values in (("accuracy", right), ("F1", f1)):
        if values[place] == values.max():
            return name
    return None


def _of_test_set(sample: Sample) -> Iterator[WarningRecord]:
    """Tell what a test set alone cannot show: other prevalences, earlier use, and how to read two intervals."""
    predictions = sample.predictions
    models = len(predictions.models)
    if predictions.task == "binary" and predictions.y_true is not None:
        share = float((predictions.y_true == predictions.positive_code).mean())
        yield warning("prevalence_of_this_set", level="info", share=share)
    if models > 1:
        yield warning("overlap_is_no_test", level="info")
    if models >= MANY_MODELS:
        yield warning("reused_test_set", level="info", models=models)
