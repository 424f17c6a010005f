"""Rank metrics: a model's scores are sorted once; weights are added up along that order, ties as groups."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt
from scipy import sparse

from evalreport.engine.memory import keep_running_sum

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
        # Whole numbers add up several times as fast as floating-point ones.
        running = np.cumsum(self.found, dtype=np.int32)
        ends = np.append(self.starts[1:], len(self.rows))
        if len(self.starts) == len(self.rows):
            positives = self.found.astype(np.float64)
            negatives = 1 - positives
        else:
            running = running[ends - 1]
            positives = np.diff(running, prepend=0).astype(np.float64)
            negatives = self.sizes - positives
        found = keep_running_sum(positives, running.astype(np.float64))
        keep_running_sum(negatives, ends - found)
        return positives, negatives

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
        """Give each example its group's entry (n,), from (g,) for positive and (g,) for negative examples.

        What is given may be written over.
        """
        if len(self.starts) < len(self.rows):
            positives, negatives = (np.repeat(values, self.sizes) for values in (positives, negatives))
        np.copyto(negatives, positives, where=self.found)
        values = np.empty(len(self.rows))
        values[self.rows] = negatives
        return values


def descending_order(score: Floats, positive: npt.NDArray[np.bool_]) -> Order:
    """Sort scores once and group their ties."""
    rows = _descending_rows(score)
    ranked = score[rows]
    changes = ranked[1:] != ranked[:-1]
    if changes.all():
        return Order(ranked, rows, np.arange(len(rows)), positive)
    starts = np.flatnonzero(np.concatenate([[True], changes]))
    return Order(ranked[starts], rows, starts, positive)


def _descending_rows(score: Floats) -> npt.NDArray[np.intp]:
    """Return the rows, highest score first.

    Whole numbers made of a score's leading bits and its row sort in a third of the time of ``argsort``. Rows whose
    scores differ in the other bits alone are then put in order.
    """
    row_bits = len(score).bit_length()
    # The bits of a floating-point number count upwards with it; those of a negative one downwards.
    keys = (0.0 - score).view(np.int64)
    sign = keys >> 63
    sign &= np.int64(2**63 - 1)
    keys ^= sign
    keys >>= row_bits
    keys <<= row_bits
    keys |= np.arange(len(score))
    keys.sort()
    rows = keys & ((1 << row_bits) - 1)
    ranked = score[rows]
    wrong = np.flatnonzero(ranked[1:] > ranked[:-1])
    if len(wrong):
        alike = np.unique(keys[wrong] >> row_bits)
        first, last = (np.searchsorted(keys, (alike + end) << row_bits) for end in (0, 1))
        among = np.repeat(last - np.cumsum(last - first), last - first) + np.arange((last - first).sum())
        rows[among] = rows[among][np.lexsort((-ranked[among], keys[among] >> row_bits))]
    return rows.astype(np.intp, copy=False)


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


def mid_ranks_of_rows(values: Floats) -> Floats:
    """Return the mid-ranks (m, k) within each row of a few columns.

    Examples
    --------
    >>> mid_ranks_of_rows(np.array([[3.0, 1.0, 3.0]]))
    array([[2.5, 1. , 2.5]])
    """
    ranks = np.full(values.shape, 0.5)
    for column in values.T:
        ranks += (values > column[:, None]) + (values == column[:, None]) / 2
    return ranks
