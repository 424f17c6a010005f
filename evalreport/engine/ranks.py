"""Rank metrics: a model's scores are sorted once; weights are added up along that order, ties as groups."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt
from scipy import sparse

Floats = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Order:
    """Groups of tied scores in descending order.

    Attributes
    ----------
    thresholds
        (g,) the distinct scores, greatest first.
    rows
        (n,) the examples, highest score first.
    starts
        (g,) where each group begins among them.
    positive
        (n,) bool, by example.
    """

    thresholds: Floats
    rows: npt.NDArray[np.intp]
    starts: npt.NDArray[np.intp]
    positive: npt.NDArray[np.bool_]

    @cached_property
    def found(self) -> npt.NDArray[np.bool_]:
        """Whether each example is positive, (n,), highest score first."""
        return self.positive[self.rows]

    @cached_property
    def group(self) -> npt.NDArray[np.intp]:
        """(n,) index of each example's group."""
        group = np.empty(len(self.rows), dtype=np.intp)
        group[self.rows] = np.repeat(np.arange(len(self.starts)), self.sizes)
        return group

    @cached_property
    def counts(self) -> tuple[Floats, Floats]:
        """Positive and negative examples of each group, (g,) each."""
        if len(self.starts) == len(self.rows):
            positives = self.found.astype(np.float64)
            return positives, 1 - positives
        running = np.concatenate([[0], np.cumsum(self.found)])
        positives = np.diff(running[np.append(self.starts, len(self.rows))]).astype(np.float64)
        return positives, self.sizes - positives

    @property
    def sizes(self) -> npt.NDArray[np.intp]:
        """(g,) examples in each group."""
        return np.diff(self.starts, append=len(self.rows))

    @cached_property
    def columns(self) -> sparse.csr_array:
        """(n, 2 g) sparse: one at ``group`` for a positive example, at ``g + group`` for a negative one."""
        g, n = len(self.thresholds), len(self.rows)
        column = np.where(self.positive, self.group, g + self.group)
        return sparse.csr_array((np.ones(n), column, np.arange(n + 1)), shape=(n, 2 * g))

    @cached_property
    def merged(self) -> Order:
        """The same with neighbouring groups without a positive merged.

        Between two positives the order of the negatives is of no account to the areas under both curves, nor to
        what is measured at the corners of the ROC curve. So the work is that of the rarer class.
        """
        held = np.logical_or.reduceat(self.found, self.starts)
        kept = held | np.concatenate([[True], held[:-1]])
        return Order(self.thresholds[kept], self.rows, self.starts[kept], self.positive)

    def by_example(self, positives: Floats, negatives: Floats) -> Floats:
        """Give each example its group's entry (n,), from (g,) for positive and (g,) for negative examples."""
        if len(self.starts) < len(self.rows):
            positives, negatives = (np.repeat(values, self.sizes) for values in (positives, negatives))
        values = np.empty(len(self.rows))
        values[self.rows] = np.where(self.found, positives, negatives)
        return values


def descending_order(score: Floats, positive: npt.NDArray[np.bool_]) -> Order:
    """Sort scores once and group their ties."""
    rows = np.argsort(-score)
    ranked = score[rows]
    changes = ranked[1:] != ranked[:-1]
    if changes.all():
        return Order(ranked, rows, np.arange(len(rows)), positive)
    starts = np.flatnonzero(np.concatenate([[True], changes]))
    return Order(ranked[starts], rows, starts, positive)


def group_weights(weights: Floats | None, order: Order) -> tuple[Floats, Floats]:
    """Return the weight of positives and of negatives in each group, each (g, ...), under weights (..., n).

    None stands for ones. Groups come first, so that running sums go down the rows with all replicates side by
    side: several times faster than along the last axis.
    """
    if weights is None:
        return order.counts
    g = len(order.thresholds)
    if weights.ndim == 1:
        ranked = weights[order.rows]
        positives = np.where(order.found, ranked, 0.0)
        negatives = ranked - positives
        if g == len(ranked):
            return positives, negatives
        return np.add.reduceat(positives, order.starts), np.add.reduceat(negatives, order.starts)
    sums = np.asarray(order.columns.T @ np.ascontiguousarray(weights.T))
    return sums[:g], sums[g:]


def mid_ranks(score: Floats) -> Floats:
    """Return each score's mid-rank within its model, 1 for the smallest; ties share the mean of their ranks."""
    _, inverse, counts = np.unique(score, return_inverse=True, return_counts=True)
    last = np.cumsum(counts)
    return np.asarray((last - (counts - 1) / 2)[inverse], dtype=np.float64)
