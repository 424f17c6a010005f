"""The rows that metrics and comparisons are about: test predictions, out of the bag."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt

from evalreport.data.predictions import Column, ModelOutputs, Predictions
from evalreport.errors import InputError
from evalreport.records import FoundRecord
from evalreport.texts import Message

Rows = npt.NDArray[np.int64]


def test_rows(predictions: Predictions) -> Predictions:
    """Keep the test predictions: no training or validation rows, and of bootstrap replicates those out of the bag.

    Parameters
    ----------
    predictions
        Any design.

    Returns
    -------
    Predictions
        The same object where every row is a test row; ``ids`` stay as they are.

    Raises
    ------
    InputError
        Where no test row is left, or where models have different rows out of the bag.
    """
    keep = np.ones(predictions.n, dtype=bool)
    part = predictions.keys.get("part")
    if part is not None and part.categories is not None:
        test = part.categories.index("test") if "test" in part.categories else -2
        # An empty cell means a test row.
        keep &= (part.values == test) | (part.values < 0)
    inner = predictions.keys.get("inner_fold")
    if inner is not None and (keep & (inner.values < 0)).any():
        keep &= inner.values < 0  # beside outer test rows, those of an inner fold chose parameters
    inbag = predictions.keys.get("inbag")
    if inbag is not None:
        keep &= ~(inbag.values > 0)
    if any("inbag" in model.columns for model in predictions.models):
        raise InputError(
            "the models were trained on different bootstrap samples",
            column="inbag",
            expected="the same samples for every model, which is what pairs them",
            remedy="draw the samples once and train every model on each of them",
        )
    if keep.all():
        return predictions
    if not keep.any():
        raise InputError(
            "every row is a training row",
            column="part" if part is not None else "inbag",
            expected="predictions of examples that the model was not trained on",
            remedy="add test predictions (part = test, or inbag = 0)",
        )
    kept = FoundRecord(
        "rows",
        Message("found.test_rows.value", n=int(keep.sum()), total=predictions.n),
        Message("found.test_rows.why"),
    )
    return replace(subset(predictions, np.flatnonzero(keep)), found=(*predictions.found, kept))


# A name that begins with "test" is no test.
test_rows.__test__ = False  # type: ignore[attr-defined]


def subset(predictions: Predictions, rows: Rows) -> Predictions:
    """Return the table of some rows, in their order."""
    return replace(
        predictions,
        example=predictions.example[rows],
        y_true=None if predictions.y_true is None else predictions.y_true[rows],
        models=tuple(_of_model(model, rows) for model in predictions.models),
        keys=_of_columns(predictions.keys, rows),
        metadata=_of_columns(predictions.metadata, rows),
    )


def _of_model(model: ModelOutputs, rows: Rows) -> ModelOutputs:
    def taken(values: npt.NDArray[Any] | None) -> npt.NDArray[Any] | None:
        return None if values is None else values[rows]

    return replace(
        model,
        y_pred=taken(model.y_pred),
        score=taken(model.score),
        proba=taken(model.proba),
        outcome=taken(model.outcome),
        present=taken(model.present),
        columns=_of_columns(model.columns, rows),
    )


def _of_columns(columns: Mapping[str, Column], rows: Rows) -> dict[str, Column]:
    return {name: replace(column, values=column.values[rows]) for name, column in columns.items()}
