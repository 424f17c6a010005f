"""The rankings and forecasts of a sample's models, as curves and thresholds take them."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from evalreport.engine.ranks import descending_order
from evalreport.metrics.sample import Sample
from evalreport.metrics.threshold_counts import Forecasts, ThresholdCounts, count_thresholds
from evalreport.metrics.views import view
from evalreport.predictions.arrays import Mask
from evalreport.predictions.score_sums import ScoreSums

MOST_CLASSES = 50
"""Curves of each class against the rest are computed for up to this many classes."""


def all_threshold_counts(sample: Sample) -> tuple[ThresholdCounts, ...]:
    """Count along the ranking of every model, of each class where there are several.

    Nothing where several fits have scores of their own, which have no common scale, or the truth lacks a class.
    """
    predictions, rows = sample.predictions, sample.rows
    if predictions.scores is not None:
        return tuple(one for one in _of_sums(predictions.scores) if one.positives > 0 and one.negatives > 0)
    if rows.layout.ranked.count > 1 or predictions.y_true is None:
        return ()
    weights = rows.units.heavy
    counts = []
    for outputs in predictions.models:
        if outputs.present is not None:
            continue
        if predictions.task == "binary" and outputs.score is not None and predictions.positive is not None:
            ready = rows.orders.get(outputs.name)
            order = ready[0] if ready else view(predictions, outputs).order
            counts.append(count_thresholds(order, model=outputs.name, weights=weights))
        elif predictions.task == "multiclass" and outputs.proba is not None:
            for code, label in enumerate(predictions.classes[:MOST_CLASSES]):
                order = descending_order(outputs.proba[:, code], _is(sample, label))
                counts.append(count_thresholds(order, model=outputs.name, label=label, weights=weights))
    return tuple(one for one in counts if one.positives > 0 and one.negatives > 0)


def _of_sums(sums: ScoreSums) -> Iterator[ThresholdCounts]:
    """Count along histograms: a bin's lowest score is its threshold."""
    for model, bins in sums.bins.items():
        hits, wrong = (
            np.concatenate([[0.0], np.cumsum(counts)]) for counts in (bins.positives, bins.negatives)
        )
        yield ThresholdCounts(model, None, bins.low, hits, wrong)


def _is(sample: Sample, label: str) -> Mask:
    predictions = sample.predictions
    return np.asarray(predictions.y_true == predictions.labels.codes[label])


def forecasts(sample: Sample) -> Iterator[Forecasts]:
    """Yield the forecasts of every model that gives probabilities of all classes."""
    predictions = sample.predictions
    if predictions.scores is not None:
        yield from _of_histograms(predictions.scores)
    for outputs in predictions.models:
        seen = view(predictions, outputs)
        if seen.proba is None or seen.true is None or outputs.present is not None or not predictions.classes:
            continue
        code = seen.positive_code
        p = seen.proba.max(axis=1) if code is None else seen.proba[:, code]
        forecast = seen.proba.argmax(axis=1) if code is None else code
        confidence = right = None
        if seen.y_pred is not None and (seen.y_pred >= 0).all():
            answer = seen.y_pred.astype(np.intp)
            confidence = np.take_along_axis(seen.proba, answer[:, None], axis=1)[:, 0]
            right = answer == seen.true
        yield Forecasts(
            outputs.name, p, np.asarray(forecast == seen.true), confidence, right, sample.units.base
        )


def _of_histograms(sums: ScoreSums) -> Iterator[Forecasts]:
    """Yield the forecasts of histograms of probabilities; answers may have been cut elsewhere, so none is measured."""
    for model, bins in sums.bins.items():
        if bins.probability:
            p, weights = np.tile(bins.middle, 2), np.concatenate([bins.positives, bins.negatives])
            came_true = np.repeat([True, False], len(bins.middle))
            held = weights > 0
            yield Forecasts(model, p[held], came_true[held], None, None, weights[held])
