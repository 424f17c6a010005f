"""Predictions as plain arrays, matched by position."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from evalreport.errors import InputError
from evalreport.predictions.cells import in_unit_interval
from evalreport.sources.frames import is_labelled

Array = np.ndarray[tuple[int, ...], np.dtype[Any]]
Columns = dict[str, Array]


def by_position(y_true: object, predictions: Mapping[str, object]) -> tuple[Array, dict[str, Columns]]:
    """Return the truth and each model's columns: labels and numbers as ``y_pred``, probabilities as ``y_prob``.

    Numbers within [0, 1] beside a truth of two values are probabilities of the positive class, unless all of them are
    values of the truth; an (n, K) array holds probabilities of K classes. A single column is the same as an array of
    one dimension.

    Raises
    ------
    InputError
        There is no model by name, an array has another length than the truth, or more than two dimensions, or a pandas
        index has the rows in another order.

    Examples
    --------
    >>> _, columns = by_position([0, 1, 1], {"labels": [0, 1, 0], "scores": [0.2, 0.9, 0.6]})
    >>> {name: list(column) for name, column in columns.items()}
    {'labels': ['y_pred'], 'scores': ['y_prob']}
    """
    if not isinstance(predictions, Mapping) or not predictions:
        came = "an empty mapping" if isinstance(predictions, Mapping) else f"a {type(predictions).__name__}"
        raise InputError(
            f"the predictions are {came}",
            expected="a mapping of each model's name to its array of predictions",
            remedy='write compare(y_true, {"forest": predictions})',
        )
    truth = _one_column(np.asarray(y_true))
    if truth.ndim != 1 or not truth.size:
        raise InputError(
            f"the true values are {_shape(y_true, truth)}",
            expected="one true value for each example",
            remedy="give an array of one dimension first, the predictions second",
        )
    columns: dict[str, Columns] = {}
    for name, values in predictions.items():
        array = _one_column(np.asarray(values))
        if array.shape[:1] != truth.shape or array.ndim > 2:
            raise InputError(
                f"model {name!r}: {_shape(values, array)} beside {truth.size:,} true values",
                expected="one prediction for each true value, or a row of probabilities",
                remedy="give arrays of the same length; predictions with ids or with columns go to evaluate()",
            )
        columns[name] = {"y_prob" if array.ndim == 2 or _are_probabilities(array, truth) else "y_pred": array}
    _require_one_order(y_true, predictions)
    return truth, columns


def _require_one_order(y_true: object, predictions: Mapping[str, object]) -> None:
    """Refuse an index of pandas that is not that of the true values: by position its rows would be other examples.

    An index that only counts the rows is none, unless the other one holds the same numbers in another order.

    Raises
    ------
    InputError
        With both ways to put them in order.
    """
    first, of_first = _index(y_true), "the true values"
    for name, values in predictions.items():
        index = _index(values)
        if first is None or index is None or index.equals(first):
            first, of_first = (index, f"model {name!r}") if first is None else (first, of_first)
            continue
        if (is_labelled(first) and is_labelled(index)) or set(index) == set(first):
            raise InputError(
                f"model {name!r}: its index is not that of {of_first}",
                expected="the same index, or arrays in the order of the true values",
                remedy="put them in one order, as predictions.loc[y_true.index] does, or give predictions.to_numpy() if"
                " the rows are in order already",
            )


def _index(values: object) -> Any | None:
    """Return the index of a series or a frame of pandas; None of anything else."""
    index = getattr(values, "index", None)
    return index if hasattr(index, "equals") else None


def _one_column(array: Array) -> Array:
    return array[:, 0] if array.ndim == 2 and array.shape[1] == 1 else array


def _shape(values: object, array: Array) -> str:
    return f"an array of shape {array.shape}" if array.ndim else f"a {type(values).__name__}"


def _are_probabilities(array: Array, truth: Array) -> bool:
    """Return whether numbers are probabilities; gaps say nothing about it, and are refused where they are read."""
    if not np.issubdtype(array.dtype, np.floating):
        return False
    numbers, values = _without_gaps(array), np.unique(_without_gaps(truth))
    return in_unit_interval(numbers) and values.size == 2 and not np.isin(numbers, values).all()


def _without_gaps(array: Array) -> Array:
    return array[~np.isnan(array)] if np.issubdtype(array.dtype, np.floating) else array
