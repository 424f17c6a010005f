"""Small prediction files that tests write themselves, and what an analysis reads of them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np

from evalreport.predictions.table import Predictions

Write = Callable[[str, str | bytes], Path]


def arrays_of(predictions: Predictions) -> Iterator[tuple[str, Any]]:
    """Yield everything that an analysis reads, as plain values."""
    yield "task", (predictions.task, predictions.design, predictions.classes, predictions.positive)
    yield "ids", predictions.ids.to_pylist()
    yield "example", predictions.example.tolist()
    yield "y_true", None if predictions.y_true is None else predictions.y_true.tolist()
    yield "multiplicity", plain(predictions.multiplicity)
    for model in predictions.models:
        yield (
            model.name,
            [plain(getattr(model, f)) for f in ("y_pred", "score", "proba", "outcome", "present")],
        )
        yield f"{model.name} columns", columns_of(model.columns)
    yield "keys", columns_of(predictions.keys)
    yield "metadata", columns_of(predictions.metadata)


def columns_of(columns: Any) -> Any:
    """Return columns as plain values; nan as text, since nan is not equal to itself."""
    return {name: (plain(column.values), column.categories) for name, column in columns.items()}


def plain(values: Any) -> Any:
    """Return an array as a list, with nan as text."""
    if values is None:
        return None
    return np.where(np.isnan(values), -1e99, values).tolist() if values.dtype.kind == "f" else values.tolist()
