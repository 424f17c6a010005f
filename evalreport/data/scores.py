"""The task scores: one value a model and data set, whatever repeats and folds it was averaged over."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from evalreport.data.predictions import ModelOutputs, Predictions
from evalreport.data.selection import subset
from evalreport.records import FoundRecord
from evalreport.texts import Message


def one_value_a_dataset(predictions: Predictions) -> Predictions:
    """Average the scores of each data set over its repeats, folds and seeds, so that data sets are the examples.

    Parameters
    ----------
    predictions
        Any task and design.

    Returns
    -------
    Predictions
        The same object unless the task is scores, the design data sets, and a data set has several rows.
    """
    if predictions.task != "scores" or predictions.design != "datasets":
        return predictions
    dataset = predictions.keys["dataset"]
    _, first, codes = np.unique(dataset.values, return_index=True, return_inverse=True)
    if len(first) == predictions.n:
        return predictions
    counts = np.bincount(codes)

    def averaged(model: ModelOutputs, whole: ModelOutputs) -> ModelOutputs:
        assert whole.outcome is not None
        return replace(model, outcome=np.bincount(codes, weights=whole.outcome) / counts)

    kept = subset(predictions, first)
    why = Message("found.dataset_values.why", least=int(counts.min()), most=int(counts.max()))
    said = FoundRecord("values", Message("found.dataset_values.value", n=len(first)), why)
    return replace(
        kept,
        models=tuple(averaged(m, w) for m, w in zip(kept.models, predictions.models, strict=True)),
        keys={"dataset": kept.keys["dataset"]},
        found=(*predictions.found, said),
    )
