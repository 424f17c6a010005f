"""Predictions as plain arrays, matched by position."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from evalreport.errors import InputError

Array = np.ndarray[tuple[int, ...], np.dtype[Any]]
Columns = dict[str, Array]


def by_position(y_true: object, predictions: Mapping[str, object]) -> tuple[Array, dict[str, Columns]]:
    """Return the truth and each model's columns: labels and numbers as ``y_pred``, probabilities as ``y_prob``.

    Numbers within [0, 1] beside a truth of two values are probabilities of the positive class, unless all of them are
    values of the truth; an (n, K) array holds probabilities of K classes. An index or ids of a frame play no part.

    Raises
    ------
    InputError
        An array has another length than the truth, or more than two dimensions.

    Examples
    --------
    >>> _, columns = by_position([0, 1, 1], {"labels": [0, 1, 0], "scores": [0.2, 0.9, 0.6]})
    >>> {name: list(column) for name, column in columns.items()}
    {'labels': ['y_pred'], 'scores': ['y_prob']}
    """
    truth = np.asarray(y_true)
    columns: dict[str, Columns] = {}
    for name, values in predictions.items():
        array = np.asarray(values)
        if array.shape[:1] != truth.shape or array.ndim > 2:
            raise InputError(
                f"model {name!r}: an array of shape {array.shape} beside {truth.size:,} true values",
                expected="one prediction for each true value, or a row of probabilities",
                remedy="give arrays of the same length; predictions with ids go to evaluate()",
            )
        columns[name] = {"y_prob" if array.ndim == 2 or _are_probabilities(array, truth) else "y_pred": array}
    return truth, columns


def _are_probabilities(array: Array, truth: Array) -> bool:
    numbers = np.issubdtype(array.dtype, np.floating) and ((array >= 0) & (array <= 1)).all()
    values = np.unique(truth)
    return bool(numbers) and values.size == 2 and not np.isin(array, values).all()
