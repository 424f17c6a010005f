"""Label metrics depend on a table of counts: distinct cells, their draws, and the margins of each model's table.

Every label metric of the contract is a function of a model's *margins*, an array (..., 3, K): the diagonal of its
confusion table, the totals by true class, the totals by predicted class. Three times K numbers serve where
K x K would not fit.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
from scipy import sparse

Floats = npt.NDArray[np.float64]
Array = npt.NDArray[Any]
Codes = npt.NDArray[np.int32]


class Counts(NamedTuple):
    """True and false positives and negatives of a class against the rest, arrays of one shape."""

    tp: Array
    fp: Array
    fn: Array
    tn: Array


MOST_CODES = 1 << 22
"""Packed codes up to here are counted in an array of that size; larger ones are sorted."""


@dataclass(frozen=True, slots=True)
class Cells:
    """The distinct combinations (true class, every model's predicted class) and how often each occurs.

    Attributes
    ----------
    counts
        (u,) float64: examples in each cell.
    true
        (u,) int32 class codes.
    predicted
        (models, u) int32 class codes.
    """

    counts: Floats
    true: Codes
    predicted: Codes


def distinct_cells(true: Codes, predicted: Sequence[Codes]) -> Cells:
    """Count the distinct rows of (true, predictions of every model).

    Columns are packed into one integer, made dense again whenever it would outgrow ``MOST_CODES``: so no number of
    classes and models overflows (26 classes and 14 models would, in 64 bits), and small tables are counted in one
    pass without sorting.
    """
    packed, size = true.astype(np.int64), int(true.max(initial=0)) + 1
    for column in predicted:
        base = int(column.max(initial=0)) + 1
        if size * base > MOST_CODES:
            distinct, packed = np.unique(packed, return_inverse=True)
            size = len(distinct)
        packed, size = packed * base + column, size * base
    first, counts = _first_and_counts(packed, size)
    # In the order in which they first occur: neither the names of models nor of classes move a draw.
    order = np.argsort(first)
    first, counts = first[order], counts[order]
    stacked = np.stack([c[first] for c in predicted]) if predicted else np.empty((0, len(first)), np.int32)
    return Cells(counts.astype(np.float64), true[first], stacked)


def _first_and_counts(
    packed: npt.NDArray[np.int64], size: int
) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
    """Return where each distinct code occurs first and how often it occurs."""
    if size > MOST_CODES:
        _, first, counts = np.unique(packed, return_index=True, return_counts=True)
        return first, counts
    counted = np.bincount(packed, minlength=size)
    place = np.empty(size, dtype=np.int64)
    # Written from the last row to the first, so that the first stays.
    place[packed[::-1]] = np.arange(len(packed))[::-1]
    held = np.flatnonzero(counted)
    return place[held], counted[held]


def margin_columns(
    true: Codes,
    predicted: Codes,
    n_classes: int,
    *,
    part: npt.NDArray[np.int64] | None = None,
    n_parts: int = 1,
) -> sparse.csr_array:
    """Say which margins one example of each row (or cell) adds to.

    Parameters
    ----------
    part
        (u,) which of ``n_parts`` evaluations each row belongs to.

    Returns
    -------
    (u, n_parts 3 K) sparse
        In the row's part: one at [0, true] where the prediction is right, at [1, true] and at [2, predicted].
    """
    u = len(true)
    rows, start = np.arange(u), np.zeros(u, np.int64) if part is None else part * (3 * n_classes)
    right = true == predicted
    row = np.concatenate([rows[right], rows, rows])
    place = [(start + true)[right], start + n_classes + true, start + 2 * n_classes + predicted]
    return sparse.csr_array(
        (np.ones(len(row)), (row, np.concatenate(place))), shape=(u, n_parts * 3 * n_classes)
    )


def margins_of(table: Floats) -> Floats:
    """Return the margins (..., 3, K) of confusion tables (..., K, K) with rows true, columns predicted."""
    return np.stack([np.diagonal(table, axis1=-2, axis2=-1), table.sum(-1), table.sum(-2)], axis=-2)


def one_vs_rest(m: Array) -> Counts:
    """Return the counts of each class against the rest, each (..., K), from margins (..., 3, K)."""
    right, true, predicted = m[..., 0, :], m[..., 1, :], m[..., 2, :]
    n = true.sum(-1)[..., None]
    return Counts(right, predicted - right, true - right, n - true - predicted + right)
