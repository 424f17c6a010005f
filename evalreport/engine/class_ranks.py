"""Areas under the ROC curve among several classes: every class against every other, from one sort of each column.

For the column of class k its positives are sorted once. A negative needs only to know how many positives stand
above it; negatives of one class at the same place are added up first, so that under b replicates the work is one
sparse product and one pass over the distinct places.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt
from scipy import sparse

from evalreport.engine.derivative import ratio
from evalreport.engine.memory import LastUse

Floats = npt.NDArray[np.float64]
Indices = npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Areas:
    """Areas under the ROC curve by class, (b, K) each; nan where a class has no weight.

    Attributes
    ----------
    rest
        Class k against all others, by its own column.
    others
        Mean over the other classes j of the area of k against j, by k's column (Hand and Till's A(k|j)).
    totals
        Weight of each class.
    """

    rest: Floats
    others: Floats
    totals: Floats


@dataclass(frozen=True, slots=True)
class ClassColumn:
    """One class's column of probabilities.

    Attributes
    ----------
    positives
        (P,) rows of the class, highest probability first.
    negatives
        (N,) the other rows.
    strictly, tied
        (N,) how many positives stand strictly above each negative, and above or level with it.
    places
        (m, n) sparse: adds up the negatives of one class at one place.
    place_strictly, place_tied
        (m,) ``strictly`` and ``tied`` of each place.
    starts, classes
        Where each other class's places begin, and which class that is.
    """

    positives: Indices
    negatives: Indices
    strictly: Indices
    tied: Indices
    places: sparse.csr_array
    place_strictly: Indices
    place_tied: Indices
    starts: Indices
    classes: Indices


@dataclass(frozen=True, slots=True)
class ClassRanks:
    """All columns of one model; ``true`` (n,) are class codes. Classes that the truth lacks have no column."""

    true: Indices
    n_classes: int
    columns: tuple[ClassColumn | None, ...]
    seen: LastUse[Areas] = field(default_factory=LastUse)

    def areas(self, weights: Floats) -> Areas:
        """Return the areas under weights (b, n)."""
        return self.seen.get(weights, self._areas)

    def _areas(self, weights: Floats) -> Areas:
        by_row = np.ascontiguousarray(weights.T)
        totals = self.totals(by_row)
        rest, others = (np.full(totals.shape, np.nan) for _ in range(2))
        for k, column in enumerate(self.columns):
            if column is not None:
                won = _won(column, by_row)
                rest[k] = ratio(won.sum(axis=0), totals[k] * (totals.sum(axis=0) - totals[k]))
                others[k] = ratio(ratio(won, totals[column.classes]).sum(axis=0), totals[k])
        return Areas(rest.T, others.T / (self.n_classes - 1), totals.T)

    def totals(self, by_row: Floats) -> Floats:
        """Return the weight of each class, (K, b), under weights (n, b)."""
        n = len(self.true)
        adder = sparse.csr_array((np.ones(n), (self.true, np.arange(n))), shape=(self.n_classes, n))
        return np.asarray(adder @ by_row)

    def held(self) -> Iterator[tuple[int, ClassColumn]]:
        """Yield the classes that the truth holds."""
        yield from ((k, column) for k, column in enumerate(self.columns) if column is not None)


def class_ranks(true: npt.NDArray[np.int32], proba: Floats) -> ClassRanks:
    """Sort each class's column once: ``true`` (n,) codes, ``proba`` (n, K)."""
    codes = true.astype(np.int64)
    k = proba.shape[1]
    held = np.bincount(codes, minlength=k) > 0
    columns = tuple(_column(codes, proba[:, j], j) if held[j] and held.sum() > 1 else None for j in range(k))
    return ClassRanks(codes, k, columns)


def _column(true: Indices, score: Floats, code: int) -> ClassColumn:
    rows = np.flatnonzero(true == code)
    positives = rows[np.argsort(-score[rows], kind="stable")]
    negatives = np.flatnonzero(true != code)
    sorted_down, below = -score[positives], -score[negatives]
    strictly = np.searchsorted(sorted_down, below, side="left")
    tied = np.searchsorted(sorted_down, below, side="right")
    kinds, place = np.unique(np.stack([true[negatives], strictly, tied]), axis=1, return_inverse=True)
    places = sparse.csr_array(
        (np.ones(len(negatives)), (place.ravel(), negatives)), shape=(kinds.shape[1], len(true))
    )
    classes, starts = np.unique(kinds[0], return_index=True)
    return ClassColumn(positives, negatives, strictly, tied, places, kinds[1], kinds[2], starts, classes)


def _won(column: ClassColumn, by_row: Floats) -> Floats:
    """Return the weight of pairs in which the positive is ranked above, ties one half, by other class: (J, b)."""
    above = positives_above(column, by_row)
    weight = (above[column.place_strictly] + above[column.place_tied]) / 2
    weight *= column.places @ by_row
    return np.asarray(np.add.reduceat(weight, column.starts, axis=0))


def positives_above(column: ClassColumn, by_row: Floats) -> Floats:
    """Return the running weight of the positives from the top, (P + 1, b), beginning with 0."""
    above = np.zeros((len(column.positives) + 1, by_row.shape[1]))
    np.cumsum(by_row[column.positives], axis=0, out=above[1:])
    return above


def placements(column: ClassColumn, weights: Floats, scale: Floats) -> tuple[Floats, Floats]:
    """Return what each positive wins and what each negative loses, (P,) and (N,), under weights (n,).

    Parameters
    ----------
    scale
        (n,) factor of each negative: what a pair with it counts.
    """
    above = positives_above(column, weights[:, None])[:, 0]
    lost = (above[column.strictly] + above[column.tied]) / 2 * scale[column.negatives]
    # A negative is beaten by the positives before ``strictly``, and ties with those up to ``tied``.
    half = weights[column.negatives] * scale[column.negatives] / 2
    p = len(column.positives)
    ends = sum(np.bincount(end, weights=half, minlength=p + 1) for end in (column.strictly, column.tied))
    beaten = np.cumsum(np.asarray(ends)[::-1])[::-1]
    return beaten[1:], lost
