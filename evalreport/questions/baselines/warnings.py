"""The warning that a model may be no better than always predicting the most frequent class."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from evalreport.intervals.proportions import wilson_limits
from evalreport.metrics.registry import definition
from evalreport.metrics.sample import Sample
from evalreport.schema.warnings import WarningRecord, warning
from evalreport.warnings.checks import check
from evalreport.warnings.values import examples_of_classes


@check("not_better_than_majority", needs=("labels", "share_of_right"), of_models=True)
def majority(sample: Sample) -> Iterator[WarningRecord]:
    """Warn of models whose share of right answers may be that of the most frequent class.

    The majority class decides what a share of right answers is worth, and no other metric.
    """
    predictions = sample.predictions
    if not predictions.classes or predictions.y_true is None:
        return
    if not definition(sample.quantities[0]).scale.share_of_right:
        return
    counts = examples_of_classes(predictions)
    n, largest = int(counts.sum()), int(counts.argmax())
    share = float(counts[largest] / n)
    for model in sample.label_models:
        outputs = next(m for m in predictions.models if m.name == model)
        hits = np.asarray(outputs.y_pred == predictions.y_true)
        right = predictions.number(hits) / int(predictions.class_counts.sum())
        low, _ = wilson_limits(right * n, n, 0.95)
        if low <= share:
            name = predictions.classes[largest]
            yield warning("not_better_than_majority", about=(model,), model=model, name=name, share=share)
