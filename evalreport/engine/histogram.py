"""Rank metrics of very many rows: a histogram of (bin, class) by replicate, with corrections from the full data.

A replicate's area or average precision is computed from the weights of positives and negatives in a few thousand
bins of neighbouring scores. What happens inside a bin is taken from the full data, so on the data themselves the
values are exact, and only the replicates' variation inside bins is left out; ``engine.inside`` measures it, and
adds it where it matters.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt
from scipy import sparse

from evalreport.engine.multinomial import Bytes
from evalreport.engine.ranks import Order, group_weights

Floats = npt.NDArray[np.float64]
Codes = npt.NDArray[np.int32]

BINS_BY_CLASS = 2048
"""Bins cut at quantiles of the positives, and as many at quantiles of the negatives."""

ROWS_OF_A_CELL = 96
"""Bootstrap counts of so many rows are added as bytes: their sum passes 255 less than once in 1e38 times."""


@dataclass(frozen=True)
class Bins:
    """Runs of neighbouring groups of tied scores, best first.

    Attributes
    ----------
    code
        (n,) bin of each positive example, G + bin of each negative one.
    cell
        (n,) cell of each example: at most ``ROWS_OF_A_CELL`` examples of one code, cells in the order of codes.
    first_cell
        (2 G + 1,) where the cells of each code begin, and their number.
    wins
        (G,) share of the (positive, negative) pairs inside a bin that the positive wins, ties counting one half.
    ahead_positive, ahead_negative
        (G,) mean share of the bin's positives, and of its negatives, at or above one of its positives.
    correction
        (G,) full-data contribution of a bin to the average precision, by what the shares above give.
    trapezoids
        (G,) the same for the area under the precision-recall curve by trapezoids.
    tied
        (G,) whether all scores of the bin are the same.
    """

    code: Codes
    cell: Codes
    first_cell: npt.NDArray[np.int64]
    wins: Floats
    ahead_positive: Floats
    ahead_negative: Floats
    correction: Floats
    trapezoids: Floats
    tied: npt.NDArray[np.bool_]

    @cached_property
    def by_cell(self) -> sparse.csc_array:
        """(cells, n) one at the cell of each example, in bytes."""
        return _one_hot(self.cell, int(self.first_cell[-1]), np.uint8)

    @cached_property
    def by_code(self) -> sparse.csc_array:
        """(2 G, n) one at the code of each example, in single precision."""
        return _one_hot(self.code, len(self.first_cell) - 1, np.float32)

    @cached_property
    def code_of_cell(self) -> sparse.csr_array:
        """(2 G, cells) one at the cells of each code; single precision holds whole numbers up to 2^24 exactly."""
        exact = np.float32 if len(self.code) < 1 << 24 else np.float64
        cells = int(self.first_cell[-1])
        return sparse.csr_array(
            (np.ones(cells, exact), np.arange(cells), self.first_cell),
            shape=(len(self.first_cell) - 1, cells),
        )


def _one_hot(place: Codes, places: int, kind: type) -> sparse.csc_array:
    n = len(place)
    indices = place.astype(np.int32, copy=False), np.arange(n + 1, dtype=np.int32)
    return sparse.csc_array((np.ones(n, dtype=kind), *indices), shape=(places, n))


def bins_of(order: Order, weights: Floats) -> Bins:
    """Cut a model's sorted scores into bins.

    Edges lie at quantiles of the positives *and* of the negatives, spaced by the arcsine of the square root of the
    share, so that both ends are fine down to single examples; a large group of ties has a bin of its own.

    Parameters
    ----------
    weights
        (n,) example weights of the data.
    """
    positives, negatives = group_weights(weights, order)
    starts = _starts(positives, negatives)
    g, n = len(starts), len(order.rows)
    sizes = np.diff(order.starts[starts], append=n)
    code = np.repeat(np.arange(g, dtype=np.int32), sizes)
    code[~order.found] += g
    cell, first_cell = _cells(code, order.found, 2 * g)
    code_by_row, cell_by_row = np.empty(n, dtype=np.int32), np.empty(n, dtype=np.int32)
    code_by_row[order.rows], cell_by_row[order.rows] = code, cell
    tied = np.diff(starts, append=len(positives)) == 1
    return Bins(code_by_row, cell_by_row, first_cell, *_inside(positives, negatives, starts), tied)


def _starts(positives: Floats, negatives: Floats) -> npt.NDArray[np.intp]:
    """Return the group at which each bin begins."""
    quantiles = np.sin(np.arange(BINS_BY_CLASS) * (np.pi / 2 / BINS_BY_CLASS)) ** 2
    edges = [np.zeros(1, dtype=np.intp)]
    for counts in (positives, negatives):
        before = np.concatenate([[0.0], np.cumsum(counts)])
        edges.append(np.searchsorted(before, quantiles * before[-1]))
        large = np.flatnonzero(counts > before[-1] / BINS_BY_CLASS)
        edges += [large, large + 1]
    starts = np.unique(np.concatenate(edges))
    return np.asarray(starts[starts < len(positives)])


def _cells(code: Codes, found: npt.NDArray[np.bool_], n_codes: int) -> tuple[Codes, npt.NDArray[np.int64]]:
    """Divide the examples of each code, given in order of rank, among cells of a bounded number of examples."""
    counts = np.bincount(code, minlength=n_codes)
    first_cell = np.concatenate([[0], np.cumsum(-(-counts // ROWS_OF_A_CELL))])
    g = n_codes // 2
    rank = np.cumsum(found, dtype=np.int32)
    rank = np.where(found, rank, np.arange(1, len(found) + 1, dtype=np.int32) - rank) - 1
    # Ranks run through a class; those of a code begin where its earlier codes end.
    before = np.concatenate([np.cumsum(side) - side for side in (counts[:g], counts[g:])]).astype(np.int32)
    rank -= before[code]
    rank //= ROWS_OF_A_CELL
    rank += first_cell.astype(np.int32)[code]
    return rank, first_cell


def _inside(
    positives: Floats, negatives: Floats, starts: npt.NDArray[np.intp]
) -> tuple[Floats, Floats, Floats, Floats, Floats]:
    """Summarise what happens inside the bins on the full data: see ``Bins``."""
    sizes = np.diff(starts, append=len(positives))

    def by_bin(values: Floats) -> Floats:
        return np.add.reduceat(values, starts)

    p, n = by_bin(positives), by_bin(negatives)
    found, wrong = np.cumsum(positives), np.cumsum(negatives)
    end_p, end_n = np.cumsum(p), np.cumsum(n)
    inside_p, inside_n = found - np.repeat(end_p - p, sizes), wrong - np.repeat(end_n - n, sizes)
    ahead = by_bin(positives * inside_n)
    wins = _share(p * n - ahead + by_bin(positives * negatives) / 2, p * n, 0.5)
    ahead_p, ahead_n = _share(by_bin(positives * inside_p), p * p, 0.5), _share(ahead, p * n, 0.5)
    precision = _precision(found, wrong)
    exact = by_bin(positives * precision)
    earlier = np.concatenate([precision[:1], precision[:-1]])
    between = (exact + by_bin(positives * earlier)) / 2
    rough = p * _precision(end_p - (1 - ahead_p) * p, end_n - (1 - ahead_n) * n)
    return wins, ahead_p, ahead_n, _share(exact, rough, 1.0), _share(between, rough, 1.0)


def _share(part: Floats, whole: Floats, otherwise: float) -> Floats:
    return np.where(whole > 0, part / np.where(whole > 0, whole, 1), otherwise)


def _precision(found: Floats, wrong: Floats) -> Floats:
    return found / np.maximum(found + wrong, np.finfo(np.float64).tiny)


# --- replicates -----------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class BinWeights:
    """Weights of positives and of negatives in each bin, each (G, b), and what metrics make of them."""

    positives: Floats
    negatives: Floats

    @cached_property
    def found(self) -> Floats:
        """Positives at or above the lower end of each bin, (G, b)."""
        return running_sums(self.positives)

    @cached_property
    def wrong(self) -> Floats:
        """Negatives at or above the lower end of each bin, (G, b)."""
        return running_sums(self.negatives)

    def per_pair(self, won: Floats) -> Floats:
        """Divide by the number of (positive, negative) pairs, (b,); nan where a class is missing."""
        pairs = self.found[-1] * self.wrong[-1]
        return np.where(pairs > 0, won / np.where(pairs > 0, pairs, 1), np.nan)

    def per_positive(self, value: Floats) -> Floats:
        """Divide by the number of positives, (b,); nan where none is drawn."""
        total = self.found[-1]
        return np.where(total > 0, value / np.where(total > 0, total, 1), np.nan)

    def precision_inside(self, bins: Bins) -> Floats:
        """Precision about the middle positive of each bin, (G, b)."""
        found = self.found - (1 - bins.ahead_positive[:, None]) * self.positives
        wrong = self.wrong - (1 - bins.ahead_negative[:, None]) * self.negatives
        return _precision(found, wrong)


def bin_weights(weights: Bytes | npt.NDArray[np.float32], bins: Bins) -> BinWeights:
    """Add up weights (n, b), bootstrap counts or single precision, by bin."""
    if weights.dtype == np.uint8:
        by_cell = bins.by_cell @ weights
        sums = np.asarray(bins.code_of_cell @ by_cell.astype(bins.code_of_cell.dtype), dtype=np.float64)
    else:
        sums = np.asarray(bins.by_code @ weights, dtype=np.float64)
    g = len(bins.wins)
    return BinWeights(sums[:g], sums[g:])


def running_sums(values: Floats) -> Floats:
    """Return cumulative sums down the rows of (G, b), sixty-four rows at a time: three times as fast as at once."""
    g, b = values.shape
    step = 64
    padded = np.zeros((-(-g // step), step, b))
    padded.reshape(-1, b)[:g] = values
    for row in range(1, step):
        padded[:, row] += padded[:, row - 1]
    padded[1:] += np.cumsum(padded[:-1, -1], axis=0)[:, None]
    return padded.reshape(-1, b)[:g]


def by_row(weights: Floats) -> npt.NDArray[np.float32]:
    """Lay weights (b, n) out as (n, b) in single precision."""
    return np.ascontiguousarray(weights.T, dtype=np.float32)


def binned_roc_auc(bins: Bins, weights: BinWeights) -> Floats:
    """Return the area under the ROC curve, (b,); nan where a class is missing."""
    below = weights.wrong[-1] - weights.wrong + bins.wins[:, None] * weights.negatives
    return weights.per_pair(np.einsum("gb,gb->b", weights.positives, below))


def binned_average_precision(bins: Bins, weights: BinWeights) -> Floats:
    """Return the average precision, (b,); nan where no positive is drawn."""
    gained = weights.positives * bins.correction[:, None]
    return weights.per_positive(np.einsum("gb,gb->b", gained, weights.precision_inside(bins)))


def binned_pr_auc(bins: Bins, weights: BinWeights) -> Floats:
    """Return the area under the precision-recall curve by trapezoids, (b,); nan where no positive is drawn.

    A bin of tied scores is one trapezoid between its two corners; the others are corrected as the average precision.
    """
    corner = _precision(weights.found, weights.wrong)
    called = weights.found + weights.wrong
    earlier = np.concatenate([corner[:1], np.where(called[:-1] > 0, corner[:-1], corner[1:])])
    inside = weights.precision_inside(bins) * bins.trapezoids[:, None]
    height = np.where(bins.tied[:, None], (corner + earlier) / 2, inside)
    return weights.per_positive(np.einsum("gb,gb->b", weights.positives, height))


def binned_area_up_to(bins: Bins, weights: BinWeights, most: float) -> Floats:
    """Return the area under the ROC curve for false positive rates up to ``most``, (b,).

    Inside the bin in which the range ends the curve is a parabola through its two corners with the area that the
    full data have there.
    """
    before_p, before_n = weights.found - weights.positives, weights.wrong - weights.negatives
    inside = np.clip(most * weights.wrong[-1] - before_n, 0, weights.negatives)
    share = inside / np.where(weights.negatives > 0, weights.negatives, 1)
    height = share * (bins.wins[:, None] - (1 - share) / 2)
    return weights.per_pair((inside * before_p + weights.positives * weights.negatives * height).sum(axis=0))
