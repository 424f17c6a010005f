"""Warnings about ROC curves that cross and thresholds chosen on the test set."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from evalreport.engine.ranks import descending_order, running_weights
from evalreport.metrics.registry import METRICS
from evalreport.metrics.sample import Sample
from evalreport.options import Options
from evalreport.predictions.arrays import Mask
from evalreport.predictions.table import ModelOutputs
from evalreport.questions.thresholds.compute import Thresholds
from evalreport.schema.warnings import WarningRecord, warning
from evalreport.texts import Message
from evalreport.warnings.checks import check
from evalreport.warnings.needs import NEEDS

NEEDS["curves"] = lambda thresholds: bool(thresholds.dominance)
NEEDS["points_on_curves"] = lambda thresholds: bool(thresholds.operating_points)

MOST_NAMED = 3

FEW_SCORES = 20
"""With fewer distinct scores than this the best threshold is hit by chance too often to say anything."""


@check("curves_cross", needs=("models", "curves"))
def curves_cross(thresholds: Thresholds) -> Iterator[WarningRecord]:
    """Warn of ROC curves that cross, where it is decided; information only where they seem to cross clearly."""
    clear = [record for record in thresholds.dominance if record.clear]
    decided = [record for record in clear if record.decided]
    pairs = [Message("list.and", names=record.a, last=record.b) for record in decided or clear]
    if len(pairs) > MOST_NAMED:
        pairs[MOST_NAMED:] = [Message("list.more_pairs", n=len(pairs) - MOST_NAMED)]
    if decided:
        yield warning("curves_cross", "clearly", pairs=tuple(pairs))
    elif pairs:
        yield warning("curves_cross", "not_decided", level="info", pairs=tuple(pairs))


@check("threshold_chosen_here", needs=("points_on_curves",))
def thresholds_chosen_here(thresholds: Thresholds, options: Options) -> Iterator[WarningRecord]:
    """Warn of thresholds chosen on the data they are measured on; information only where none was requested."""
    if any(record.optimistic for record in thresholds.operating_points):
        if options.cost_ratio is not None:
            yield warning("threshold_chosen_here", about=("cost_ratio",))
        else:
            yield warning("threshold_chosen_here", level="info")


@check("suspicious_threshold", needs=("two_classes", "test_set", "own_labels", "scores"), of_models=True)
def suspicious_thresholds(sample: Sample) -> Iterator[WarningRecord]:
    """Warn of labels cut exactly at the threshold with the best accuracy or F1 on the test set."""
    predictions = sample.predictions
    positive = np.asarray(predictions.y_true == predictions.positive_code)
    for model in predictions.models:
        best = _best_at_own_threshold(model, positive, predictions.positive_code)
        if best is not None:
            about = (model.name, best)
            yield warning(
                "suspicious_threshold", about=about, model=model.name, metric=METRICS[best].display.phrase
            )


def _best_at_own_threshold(model: ModelOutputs, positive: Mask, code: int) -> str | None:
    if model.score is None or model.y_pred is None or model.present is not None:
        return None
    called = model.y_pred == code
    usual = model.proba is not None and np.array_equal(called, model.score >= 0.5)
    if usual or not called.any() or called.all() or model.score[called].min() <= model.score[~called].max():
        return None  # the usual threshold, none at all, or labels that no threshold on the score gives
    order = descending_order(model.score, positive)
    if len(order.starts) < FEW_SCORES:
        return None
    tp, fp = (running[1:] for running in running_weights(None, order))
    own = len(np.unique(model.score[called])) - 1
    right = tp + ((~positive).sum() - fp)
    f1 = 2 * tp / (tp + fp + positive.sum())
    for name, values in (("accuracy", right), ("f1", f1)):
        if values[own] == values.max():
            return name
    return None
