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
from evalreport.numbers import percent
from evalreport.records import ComparisonRecord, WarningRecord

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
            text = f"No overall winner between {a} and {b}: {a} is ahead on {_some(for_a)}, {b} on {_some(for_b)},"
            text += (
                " each by the interval of its own difference (exploratory). Decide which errors matter first."
            )
            yield WarningRecord("metrics_disagree", text, (a, b))


def _tells_apart(row: ComparisonRecord, options: Options) -> bool:
    """Say whether a pair is told apart: by the verdict on the primary metric, elsewhere by the row's interval."""
    if row.low is None or row.high is None or not row.difference:
        return False
    if row.p_adjusted is not None:
        return row.p_adjusted <= 1 - options.confidence
    return not row.low <= 0 <= row.high


def _named(quantity: Quantity) -> str:
    return definition(quantity).phrase + (f" ({quantity.average})" if quantity.average else "")


def _some(names: Sequence[str]) -> str:
    more = len(names) - MOST_NAMED
    shown = ", ".join(names[:MOST_NAMED])
    return f"{shown} and {more} more" if more > 0 else shown


def _of_curves(dominance: Sequence[DominanceRecord]) -> Iterator[WarningRecord]:
    """Tell of ROC curves that cross clearly; a warning where it is more than the bands allow for."""
    clear = [record for record in dominance if record.clear]
    beyond = [record for record in clear if record.beyond_bands]
    named = [f"{record.a} and {record.b}" for record in beyond or clear]
    if not named:
        return
    more = len(named) - MOST_NAMED
    pairs = "; ".join(named[:MOST_NAMED]) + (f"; {more} more pairs" if more > 0 else "")
    text = f"ROC curves cross ({pairs}): no overall winner, which of two models is better depends on the false positive"
    if beyond:
        yield WarningRecord("curves_cross", text + " rate that is acceptable; areas do not settle it.")
    else:
        text += " rate that is acceptable; but the crossings lie within the bands and may be chance."
        yield WarningRecord("curves_cross", text, level="info")


def _of_chosen(points: Sequence[OperatingPointRecord], options: Options) -> Iterator[WarningRecord]:
    """Say that thresholds were chosen on the data that they are judged on: a warning where one was asked for."""
    if any(record.optimistic for record in points):
        text = "The best thresholds are chosen on the examples that they are judged on, so their values are too good;"
        text += " the intervals beside them say what to expect on fresh examples. Choose on validation data."
        if options.cost_ratio is not None:
            yield WarningRecord("threshold_chosen_here", text, ("cost_ratio",))
        else:
            yield WarningRecord("threshold_chosen_here", text, level="info")


def _of_thresholds(sample: Sample) -> Iterator[WarningRecord]:
    """Warn of decisions that lie exactly at the threshold with the best accuracy or F1 on these very examples."""
    predictions = sample.predictions
    if predictions.task != "binary" or predictions.design != "test-set" or predictions.y_true is None:
        return
    positive = predictions.y_true == predictions.positive_code
    for model in predictions.models:
        best = _best_at_own_threshold(model, positive, predictions.positive_code)
        if best is not None:
            text = f"{model.name} decides exactly at the threshold with the highest {best} on this test set: if it was"
            text += " chosen here, its figures are too good. Choose it on validation data."
            yield WarningRecord("suspicious_threshold", text, (model.name,))


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
        share = percent(round(float((predictions.y_true == predictions.positive_code).mean()), 3))
        text = f"{share} of the examples are positive. Where positives are rarer or more frequent, precision, F1,"
        text += " accuracy and average precision change; recall, specificity and ROC AUC keep their meaning."
        yield WarningRecord("prevalence_of_this_set", text, level="info")
    if models > 1:
        text = "Overlap of two models' own intervals is not a test: read the interval of their difference."
        yield WarningRecord("overlap_is_no_test", text, level="info")
    if models >= MANY_MODELS:
        text = f"{models} models were tried on the same examples: the best of them looks better than it is, the more"
        yield WarningRecord("reused_test_set", text + " so the more often this test set has been used to choose.",
                            level="info")  # fmt: skip
