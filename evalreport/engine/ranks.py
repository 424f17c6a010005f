"""Rank metrics: a model's scores are sorted once; weights are added up along that order, ties as groups."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from scipy import sparse

Floats = npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Order:
    """Groups of tied scores in descending order, and which group each example is in.

    Attributes
    ----------
    thresholds
        (g,) the distinct scores, greatest first.
    group
        (n,) index of each example's group.
    positive
        (n,) bool.
    columns
        (n, 2 g) sparse: one at ``group`` for a positive example, at ``g + group`` for a negative one.
    """

    thresholds: Floats
    group: npt.NDArray[np.int64]
    positive: npt.NDArray[np.bool_]
    columns: sparse.csr_array


def descending_order(score: Floats, positive: npt.NDArray[np.bool_]) -> Order:
    """Sort scores once and group their ties."""
    values, inverse = np.unique(score, return_inverse=True)
    return _grouped(values[::-1].copy(), len(values) - 1 - inverse, positive)


def _grouped(thresholds: Floats, group: npt.NDArray[np.int64], positive: npt.NDArray[np.bool_]) -> Order:
    g, n = len(thresholds), len(group)
    column = np.where(positive, group, g + group)
    columns = sparse.csr_array((np.ones(n), column, np.arange(n + 1)), shape=(n, 2 * g))
    return Order(thresholds, group, positive, columns)


def merged(order: Order) -> Order:
    """Merge neighbouring groups without a positive.

    Between two positives the order of the negatives is of no account to the areas under both curves, nor to what is
    measured at the corners of the ROC curve. So the work is that of the rarer class.
    """
    g = len(order.thresholds)
    held = np.bincount(order.group[order.positive], minlength=g) > 0
    starts = held | np.concatenate([[True], held[:-1]])
    return _grouped(order.thresholds[starts], (np.cumsum(starts) - 1)[order.group], order.positive)


def group_weights(weights: Floats, order: Order) -> tuple[Floats, Floats]:
    """Return the weight of positives and of negatives in each group, each (g, ...), under weights (..., n).

    Groups come first, so that running sums go down the rows with all replicates side by side: several times
    faster than along the last axis.
    """
    sums = np.asarray(order.columns.T @ np.ascontiguousarray(weights.T))
    g = len(order.thresholds)
    return sums[:g], sums[g:]


def mid_ranks(score: Floats) -> Floats:
    """Return each score's mid-rank within its model, 1 for the smallest; ties share the mean of their ranks."""
    _, inverse, counts = np.unique(score, return_inverse=True, return_counts=True)
    last = np.cumsum(counts)
    return np.asarray((last - (counts - 1) / 2)[inverse], dtype=np.float64)
