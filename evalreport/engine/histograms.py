"""Bootstrap of rank metrics and mean losses from histograms, and the variance inside their bins.

To first order a replicate's value is the histogram's plus the sum over examples of weight times the part of the
derivative that differs from the mean of its (bin, class). Where that part is a negligible share of the variance it
is left out; where it is not, as in the difference of two models that differ only inside bins, it is added.
"""

from __future__ import annotations

import math
from bisect import bisect, bisect_left, bisect_right
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from itertools import combinations_with_replacement
from typing import TypeVar

import numpy as np
import numpy.typing as npt
from scipy import sparse

from evalreport.engine.counts import CumulativeWeights
from evalreport.engine.distributions import (
    Array,
    Whole,
    column_sums,
    dot,
    ratio,
    running_sum,
    running_sums,
    shared,
)
from evalreport.engine.draws import TILE_ROWS, Bytes, Tile, of_row_bytes, tiles_of
from evalreport.engine.parallel import mapped
from evalreport.engine.ranks import Order, group_weights
from evalreport.engine.sorting import rows_by_digits

Floats = npt.NDArray[np.float64]
Codes = npt.NDArray[np.int32]
T = TypeVar("T")

BINS_BY_CLASS, BINS_FOR_VALUES, BINS_FOR_CUTS = 2048, 512, 32
"""Bins cut at quantiles of the positives, and as many at quantiles of the negatives.

Fewer where values alone are wanted: what lies inside bins is a larger share of the variance of a difference. Fewest
where no area is: what depends on one place of the ranking alone needs bins there.
"""

FIRST_EXAMPLES = 64
FIRST_POSITIVES = 256
"""This many examples, and positives, from the top have bins of their own."""

CUT_ERRORS = 4.0
MOST_AT_CUTS = 1024

CELL_BITS = 7
ROWS_OF_A_CELL = 1 << CELL_BITS
"""Up to this many rows bootstrap counts are added as bytes: their sum passes 255 less than once in 1e21 times."""


@dataclass(frozen=True)
class Bins:
    """Runs of neighbouring groups of tied scores, best first.

    Attributes
    ----------
    code
        (n,) bin of each positive example, G + bin of each negative one.
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
    example
        Mean weight of an example.
    """

    code: Codes
    wins: Floats
    ahead_positive: Floats
    ahead_negative: Floats
    correction: Floats
    trapezoids: Floats
    tied: npt.NDArray[np.bool_]
    example: float = 1.0

    @property
    def codes(self) -> int:
        """Their number, 2 G."""
        return 2 * len(self.wins)

    @cached_property
    def examples(self) -> npt.NDArray[np.int64]:
        """(2 G,) examples of each code, at least 1, so that means can be taken."""
        return np.maximum(np.bincount(self.code, minlength=self.codes), 1)

    def means(self, values: Floats) -> Floats:
        """Return the mean (2 G,) of values (n,) over the examples of each code; 0 where there are none."""
        sums = np.bincount(self.code, weights=values, minlength=self.codes)
        return np.asarray(sums / self.examples)

    @cached_property
    def by_positives(self) -> Bins:
        """The same with neighbouring bins without a positive merged; the first examples keep bins of their own.

        Between two positives the order of the negatives is of no account to a curve, so no replicate of a rank
        metric changes, and fewer bins are added up.
        """
        first = self.first_by_positives
        if len(first) == len(self.wins):
            return self
        return replace(
            self,
            code=self.to_positives.indices.astype(np.int32)[self.code],
            wins=self.wins[first],
            ahead_positive=self.ahead_positive[first],
            ahead_negative=self.ahead_negative[first],
            correction=self.correction[first],
            trapezoids=self.trapezoids[first],
            tied=self.tied[first],
        )

    @cached_property
    def first_by_positives(self) -> npt.NDArray[np.intp]:
        """The first of the bins that are one in ``by_positives``, in order."""
        positives, negatives = np.split(np.bincount(self.code, minlength=self.codes), 2)
        held, above = positives > 0, np.cumsum(positives + negatives) - positives - negatives
        return np.flatnonzero(held | np.concatenate([[True], held[:-1]]) | (above <= FIRST_EXAMPLES))

    @cached_property
    def to_positives(self) -> sparse.csc_array:
        """(2 G', 2 G) one at the code that each code has in ``by_positives``, in single precision."""
        first, g = self.first_by_positives, len(self.wins)
        number = np.repeat(np.arange(len(first)), np.diff(first, append=g))
        indices = np.concatenate([number, len(first) + number]), np.arange(2 * g + 1)
        return sparse.csc_array((np.ones(2 * g, np.float32), *indices), shape=(2 * len(first), 2 * g))

    @property
    def exact(self) -> type[np.floating]:
        """The precision of counts: single holds whole numbers up to 2^24 exactly."""
        return np.float32 if self.codes > BINS_FOR_VALUES and len(self.code) < 1 << 24 else np.float64

    @cached_property
    def by_code(self) -> sparse.csc_array:
        """(2 G, n) one at the code of each example, in single precision."""
        n = len(self.code)
        indices = self.code, np.arange(n + 1, dtype=np.int32)
        return sparse.csc_array((np.ones(n, np.float32), *indices), shape=(self.codes, n))


def bins_of(order: Order, weights: Floats | None = None, *, by_class: int = BINS_BY_CLASS) -> Bins:
    """Cut a model's sorted scores into bins.

    Edges lie at quantiles of the positives *and* of the negatives, spaced by the arcsine of the square root of the
    share, so that both ends are fine down to single examples; a large group of ties has a bin of its own.

    Parameters
    ----------
    weights
        (n,) example weights of the data; None: ones.
    by_class
        Bins cut at quantiles of the positives, and as many at quantiles of the negatives; areas need more than
        ``BINS_FOR_CUTS``.
    """
    positives, negatives = group_weights(weights, order)
    found, wrong = running_sum(positives), running_sum(negatives)
    starts = _starts((positives, found), (negatives, wrong), by_class)
    g, n = len(starts), len(order.rows)
    sizes = np.diff(order.starts[starts], append=n)
    code = np.repeat(np.arange(g, dtype=np.int32), sizes)
    code += np.int32(g) * ~order.found
    code_by_row = np.empty(n, dtype=np.int32)
    code_by_row[order.rows] = code
    tied = np.diff(starts, append=len(positives)) == 1
    example = 1.0 if weights is None else float(weights.mean())
    return Bins(code_by_row, *_inside(positives, negatives, found, wrong, starts), tied, example)


def _starts(
    positive: tuple[Floats, Floats], negative: tuple[Floats, Floats], by_class: int
) -> npt.NDArray[np.intp]:
    """Return the group at which each bin begins, from each class's weights by group and their running sums."""
    quantiles = arcsine_shares(by_class)
    groups = len(positive[0])
    edges = [np.zeros(1, dtype=np.intp), *_at_cuts(positive, negative, areas=by_class > BINS_FOR_CUTS)]
    for counts, running in (positive, negative):
        # The first group before which there is at least the quantile.
        edges.append(np.searchsorted(running, quantiles * running[-1]) + 1)
        large = np.flatnonzero(counts > running[-1] / by_class)
        edges += [large, large + 1]
    starts = np.unique(np.concatenate(edges))
    return np.asarray(starts[starts < groups])


def _at_cuts(
    positive: tuple[Floats, Floats], negative: tuple[Floats, Floats], *, areas: bool
) -> Iterator[npt.NDArray[np.intp]]:
    """Yield the groups that have bins of their own because the order of single examples matters there.

    The first examples, for areas the first positives (precision is anything but a straight line there), and all that
    replicates may find where the ROC curve meets FPR = FNR, or where as many are called as there are positives:
    within ``CUT_ERRORS`` standard errors of those places, thinned where they are many.
    """
    (positives, found), (_, wrong) = positive, negative
    groups, p, n = range(len(found)), found[-1], wrong[-1]

    def called(g: int) -> float:
        return float(found[g] + wrong[g])

    yield np.arange(bisect_left(groups, float(FIRST_EXAMPLES), key=called) + 1)
    if areas:
        first = np.flatnonzero(positives[: int(np.searchsorted(found, FIRST_POSITIVES))])
        yield from (first, first + 1)
    if not p or not n:
        return

    def beyond(g: int) -> float:
        return float(found[g] / p + wrong[g] / n - 1)

    # Both ascend, so that the groups about a place are neighbours.
    meeting = min(bisect_left(groups, 0.0, key=beyond), len(found) - 1)
    rate = max(wrong[meeting] / n, 4 / min(p, n))
    error = CUT_ERRORS * math.sqrt(rate * (1 / p + 1 / n))
    missed = 1 - found[min(bisect_left(groups, p, key=called), len(found) - 1)] / p
    of_called = CUT_ERRORS * math.sqrt(2 * p * missed) + FIRST_EXAMPLES
    near = np.union1d(
        np.arange(bisect_left(groups, -error, key=beyond), bisect_right(groups, error, key=beyond)),
        np.arange(
            bisect_left(groups, p - of_called, key=called), bisect_right(groups, p + of_called, key=called)
        ),
    )
    cut = near[positives[near] > 0]
    cut = cut[:: -(-len(cut) // MOST_AT_CUTS) or 1]
    yield from (cut, cut + 1)


def arcsine_shares(cells: int) -> Floats:
    """Return the shares (cells,) at which cells begin that are of equal width in the arcsine of their square root."""
    return np.array([math.sin(k * (math.pi / 2 / cells)) ** 2 for k in range(cells)])


def _inside(
    positives: Floats, negatives: Floats, found: Floats, wrong: Floats, starts: npt.NDArray[np.intp]
) -> tuple[Floats, Floats, Floats, Floats, Floats]:
    """Summarise the order inside the bins on the full data, of which ``found`` and ``wrong`` are running sums."""
    p, n = np.add.reduceat(positives, starts), np.add.reduceat(negatives, starts)
    end_p, end_n = np.cumsum(p), np.cumsum(n)
    # All that is added up has a positive as a factor.
    held = np.flatnonzero(positives)
    bin_of = np.repeat(np.arange(len(starts)), np.diff(np.searchsorted(held, starts), append=len(held)))
    weight, above_p, above_n = positives[held], found[held], wrong[held]

    def by_bin(values: Floats) -> Floats:
        return np.bincount(bin_of, weights=weight * values, minlength=len(starts)).astype(np.float64)

    ahead = by_bin(above_n - (end_n - n)[bin_of])
    ahead_p = _share(by_bin(above_p - (end_p - p)[bin_of]), p * p, 0.5)
    ahead_n, wins = _share(ahead, p * n, 0.5), _share(p * n - ahead + by_bin(negatives[held]) / 2, p * n, 0.5)
    before = np.maximum(held - 1, 0)
    exact = by_bin(_precision(above_p, above_n))
    between = (exact + by_bin(_precision(found[before], wrong[before]))) / 2
    rough = p * _precision(end_p - (1 - ahead_p) * p, end_n - (1 - ahead_n) * n)
    return wins, ahead_p, ahead_n, _share(exact, rough, 1.0), _share(between, rough, 1.0)


def _share(part: Floats, whole: Floats, otherwise: float) -> Floats:
    return np.where(whole > 0, part / np.where(whole > 0, whole, 1), otherwise)


def _precision(found: Array, wrong: Array) -> Array:
    called = found + wrong
    return np.asarray(found / np.maximum(called, np.finfo(called.dtype).tiny))


# --- replicates -----------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class BinWeights:
    """The weights of positives and of negatives in each bin, and the sums that metrics need.

    Attributes
    ----------
    by_code
        (2 G, b) weights of the positives of each bin, then of the negatives: in single precision where that holds
        them exactly, as it does the counts of fewer than 2^24 examples.
    """

    bins: Bins
    by_code: Array

    @property
    def positives(self) -> Array:
        """In each bin itself, (G, b)."""
        return self.by_code[: len(self.by_code) // 2]

    @property
    def negatives(self) -> Array:
        """In each bin itself, (G, b)."""
        return self.by_code[len(self.by_code) // 2 :]

    @cached_property
    def cumulative(self) -> CumulativeWeights:
        """In each bin and all above it."""
        found, wrong = running_sums(self.by_code.reshape(2, -1, self.by_code.shape[1]))
        return CumulativeWeights(found, wrong, self.bins.example)

    @cached_property
    def by_positives(self) -> BinWeights:
        """The same in ``Bins.by_positives``."""
        merged = self.bins.by_positives
        if merged is self.bins:
            return self
        sums = np.asarray(self.bins.to_positives @ self.by_code)
        return BinWeights(merged, sums.astype(merged.exact, copy=False))

    @cached_property
    def totals(self) -> tuple[Floats, Floats]:
        """Positives and negatives, (b,) each."""
        found, wrong = (
            sums[-1].astype(np.float64) for sums in (self.cumulative.found, self.cumulative.wrong)
        )
        return found, wrong

    def column(self, values: Array) -> Array:
        """Return values (G,) as a column (G, 1) of the weights' precision."""
        return values.astype(self.by_code.dtype)[:, None]

    def per_pair(self, won: Floats) -> Floats:
        """Divide by the number of (positive, negative) pairs, (b,); nan where a class is missing."""
        return ratio(won, self.totals[0] * self.totals[1])

    def per_positive(self, value: Floats) -> Floats:
        """Divide by the number of positives, (b,); nan where none is drawn."""
        return ratio(value, self.totals[0])

    @cached_property
    def precision_inside(self) -> Array:
        """The precision about the middle positive of each bin, (G, b); read-only by convention."""
        # In place: fresh memory costs more than the arithmetic.
        found = self.positives * self.column(self.bins.ahead_positive - 1)
        found += self.cumulative.found
        called = self.negatives * self.column(self.bins.ahead_negative - 1)
        called += self.cumulative.wrong
        called += found
        found /= np.maximum(called, np.finfo(called.dtype).tiny, out=called)
        return found

    def won(self, bins: int) -> Floats:
        """Return the pairs won, (b,), in the first bins: positives that stand above their negatives."""
        above = self.positives[:bins] * self.column(self.bins.wins[:bins] - 1)
        above += self.cumulative.found[:bins]
        return np.asarray(sums_by_run(self.negatives[:bins], above).sum(axis=0))


def few_at_a_time(by_code: Array, bins: Bins) -> Iterator[BinWeights]:
    """Divide weights (2 G, b) into few replicates at once, so that results stay in the processor's cache."""
    b = by_code.shape[1]
    step = max(8, -(-b // -(-b * (len(by_code) // 2) // _NUMBERS_AT_ONCE)))
    for start in range(0, b, step):
        yield BinWeights(bins, np.ascontiguousarray(by_code[:, start : start + step]))


@dataclass(frozen=True)
class Cells:
    """Where the counts of a tile's rows are added up: each code has a cell, and further ones where its rows are many.

    Attributes
    ----------
    columns
        (cells, rows) one at each row's cell.
    further
        The codes that have the cells from 2 G on, ascending.
    """

    columns: sparse.csc_array
    further: npt.NDArray[np.int64]

    @classmethod
    def of(cls, code: Codes, codes: int) -> Cells:
        """Give ``code`` (rows,) cells of at most ``ROWS_OF_A_CELL`` rows."""
        counts = np.bincount(code, minlength=codes)
        further = np.repeat(np.arange(codes), np.maximum(counts - 1, 0) >> CELL_BITS)
        if len(further):
            code = _divided(code, counts, codes)
        rows = len(code)
        table = _ones(rows), code, _ends(rows + 1)
        return cls(sparse.csc_array(table, shape=(codes + len(further), rows)), further)


def _divided(code: Codes, counts: npt.NDArray[np.int64], codes: int) -> Codes:
    """Return the cell of each row: its code, or one of the further cells, which are in the order of codes."""
    rows = np.flatnonzero(counts[code] > ROWS_OF_A_CELL)
    rows = rows[rows_by_digits(code[rows].astype(np.uint32))]
    own = counts[counts > ROWS_OF_A_CELL]
    number = np.arange(len(rows)) - np.repeat(np.cumsum(own) - own, own)
    number >>= CELL_BITS
    more = (own - 1) >> CELL_BITS
    cells, later = code.copy(), number > 0
    cells[rows[later]] = (codes - 1 + np.repeat(np.cumsum(more) - more, own) + number)[later]
    return cells


_ones, _ends = shared(partial(np.ones, dtype=np.uint16)), shared(partial(np.arange, dtype=np.int32))


class CodeSums:
    """Sums of b bootstrap counts by the codes of one model's bins, to which the counts of tiles are added."""

    def __init__(self, bins: Bins, b: int) -> None:
        rows = len(bins.code)
        # A cell's sum is below 256 in each tile.
        self._first = np.zeros((bins.codes, b), np.uint16 if rows <= TILE_ROWS << 8 else np.uint32)
        self._rest: Floats | None = None
        self._exact = bins.exact

    def add(self, cells: Cells, counts: Bytes) -> None:
        """Add the counts (rows, b) of one tile."""
        g, b = self._first.shape
        # Two replicates as one number, which multiplies faster.
        if b % 2 == 0:
            sums = np.asarray(cells.columns @ counts.view(np.uint16)).view(np.uint8)
        else:
            sums = np.asarray(cells.columns.astype(np.uint8) @ counts)
        self._first += sums[:g]
        if len(cells.further):
            self._rest = np.zeros((g, b)) if self._rest is None else self._rest
            codes, first = np.unique(cells.further, return_index=True)
            self._rest[codes] += np.add.reduceat(sums[g:], first, axis=0, dtype=np.float64)

    def total(self) -> Array:
        """Return the sums (2 G, b)."""
        return (
            self._first.astype(self._exact)
            if self._rest is None
            else (self._first + self._rest).astype(self._exact)
        )


@dataclass(frozen=True)
class RowSamples:
    """Some bootstrap samples of rows, known by their sums in histograms and over columns.

    Attributes
    ----------
    size
        How many samples b.
    columns
        (p, b) sums of each column.
    tiles
        How often each row was drawn; empty where that is not asked for.
    """

    size: int
    columns: Floats
    tiles: Sequence[Tile]
    _bins: Sequence[Bins]
    _sums: Sequence[CodeSums]

    def histograms(self, j: int) -> Iterator[BinWeights]:
        """Yield what the samples give each bin of a model, few samples at once."""
        return few_at_a_time(self._sums[j].total(), self._bins[j])


def of_row_samples(
    function: Callable[[RowSamples], T],
    bins: Sequence[Bins],
    columns: Sequence[Whole],
    n: int,
    n_resamples: int,
    *,
    seed: int,
    with_tiles: bool,
) -> Iterator[T]:
    """Yield a function of bootstrap samples of n rows, block by block.

    Parameters
    ----------
    bins, columns
        The histograms, one for each model, and the columns (n,) that are added up.
    with_tiles
        Whether the function also looks at ``tiles``.
    """

    def of_tile(rows: slice) -> list[Cells]:
        return [Cells.of(one.code[rows], one.codes) for one in bins]

    cells = list(mapped(of_tile, tiles_of(n)))

    def of_tiles(size: int, tiles: Iterable[Tile]) -> T:
        drawn = list(tiles) if with_tiles else []
        sums, added = [CodeSums(one, size) for one in bins], np.zeros((len(columns), size))
        for of_models, (rows, counts) in zip(cells, drawn or tiles, strict=True):
            for of_model, own in zip(sums, of_models, strict=True):
                of_model.add(own, counts)
            if columns:
                added += column_sums([column[rows] for column in columns], counts)
        return function(RowSamples(size, added, drawn, bins, sums))

    return of_row_bytes(of_tiles, n, n_resamples, seed=seed, kept=with_tiles)


def bin_weights(weights: npt.NDArray[np.float32], bins: Bins) -> BinWeights:
    """Add up weights (n, b) by bin."""
    return BinWeights(bins, np.asarray(bins.by_code @ weights, dtype=np.float64))


_RUN = 64


def sums_by_run(values: Array, factors: Array) -> Floats:
    """Return the sums (r, b) down every 64 rows of the products of two tables (G, b), as double precision has them.

    Examples
    --------
    >>> sums_by_run(np.ones((65, 1)), np.full((65, 1), 2.0))
    array([[128.],
           [  2.]])
    """
    whole = len(values) - len(values) % _RUN
    runs = [a[:whole].reshape(-1, _RUN, a.shape[1]) for a in (values, factors)]
    sums = np.einsum("rgb,rgb->rb", *runs, dtype=np.float64)
    rest = np.einsum("gb,gb->b", values[whole:], factors[whole:], dtype=np.float64)
    return np.concatenate([sums, rest[None, :]])


def by_row(weights: Floats) -> npt.NDArray[np.float32]:
    """Lay weights (b, n) out as (n, b) in single precision."""
    return np.ascontiguousarray(weights.T, dtype=np.float32)


def binned_roc_auc(weights: BinWeights) -> Floats:
    """Return the area under the ROC curve, (b,); nan where a class is missing."""
    return weights.per_pair(weights.won(len(weights.positives)))


def binned_average_precision(weights: BinWeights) -> Floats:
    """Return the average precision, (b,); nan where no positive is drawn."""
    precision = weights.precision_inside * weights.column(weights.bins.correction)
    return weights.per_positive(_total(weights.positives, precision))


def binned_pr_auc(weights: BinWeights) -> Floats:
    """Return the area under the precision-recall curve by trapezoids, (b,); nan where no positive is drawn.

    A bin of tied scores is one trapezoid between its two corners; the others are corrected as the average precision.
    """
    bins, found, wrong = weights.bins, weights.cumulative.found, weights.cumulative.wrong
    called = found + wrong
    # Above the first example drawn there is no precision.
    undrawn = bisect(range(len(called) - 1), 0, key=lambda g: int(called[g].all()))
    first = (called[: undrawn + 1] > 0).argmax(axis=0), np.arange(called.shape[1])
    np.maximum(called, np.finfo(called.dtype).tiny, out=called)
    precision = np.divide(found, called, out=called)
    positives, rest = weights.positives, np.flatnonzero(~bins.tied)
    tied = positives if not len(rest) else positives * weights.column(bins.tied)
    heights = _total(tied, precision) + _total(tied[1:], precision[:-1]) + tied[first] * precision[first]
    inside = weights.precision_inside[rest] * weights.column(bins.trapezoids[rest])
    return weights.per_positive(heights / 2 + _total(positives[rest], inside))


def _total(values: Array, factors: Array) -> Floats:
    """Return the sums (b,) of products, in single precision no further than 64 rows."""
    whole = len(values) - len(values) % _RUN
    runs = [a[:whole].reshape(-1, _RUN, a.shape[1]) for a in (values, factors)]
    sums = np.einsum("rgb,rgb->rb", *runs).sum(axis=0, dtype=np.float64)
    return np.asarray(sums + np.einsum("gb,gb->b", values[whole:], factors[whole:]))


def binned_area_up_to(weights: BinWeights, most: float) -> Floats:
    """Return the area under the ROC curve for false positive rates up to ``most``, (b,).

    Inside the bin in which the range ends the curve is a parabola through its two corners with the area that the
    full data have there.
    """
    allowed, bins = most * weights.totals[1], range(len(weights.positives))
    wrong = weights.cumulative.wrong
    # Bins before the first that ends outside the range in some replicate are whole in all; beyond the last that
    # begins inside there is nothing to add.
    first = bisect(bins, 0, key=lambda g: int((wrong[g] >= allowed).any()))
    last = bisect(bins, 0, key=lambda g: int((wrong[g] >= allowed).all()))
    runs = first // _RUN
    some = slice(runs * _RUN, last + 1)
    p, n, found, wrong = (
        sums[some].astype(np.float64)
        for sums in (weights.positives, weights.negatives, weights.cumulative.found, wrong)
    )
    inside = np.clip(allowed - (wrong - n), 0, n)
    share = inside / np.where(n > 0, n, 1)
    above = found - p * (1 - weights.bins.wins[some, None] + (1 - share) / 2)
    return weights.per_pair(weights.won(runs * _RUN) + (inside * above).sum(axis=0))


NEGLIGIBLE_SHARE = 1e-5
"""Of the variance: left out, it makes the replicates 0.003 standard errors wrong, root mean square."""

FIRST_ORDER_SHARE = 1e-4
"""Up to this share a first-order correction is enough: replicates stay within 0.02 standard errors."""

_TILE = 1 << 13

_NUMBERS_AT_ONCE = 1 << 20
"""Of a histogram's replicates (4 MB in single precision)."""


@dataclass(frozen=True, slots=True)
class Slopes:
    """The derivatives (n,) of one metric, by model, with each one's bins and its means by code; None: no bins."""

    derivatives: Sequence[Floats]
    bins: Sequence[Bins | None]
    means: Sequence[Floats | None]

    def inside(self, j: int) -> Floats:
        """Return the differences (n,) of a model's derivatives from the means of their bins and classes."""
        derivative, bins, means = self.derivatives[j], self.bins[j], self.means[j]
        if bins is None or means is None:
            return derivative
        found = np.empty_like(derivative)
        for start in range(0, len(derivative), _TILE):
            tile = slice(start, start + _TILE)
            np.subtract(derivative[tile], means[bins.code[tile]], out=found[tile])
        return found

    def square_inside(self, j: int) -> float:
        """Return the sum of the squares of ``inside(j)``: of all derivatives, less that of the means."""
        bins, means = self.bins[j], self.means[j]
        square = dot(self.derivatives[j], self.derivatives[j])
        if bins is None or means is None:
            return square
        return max(square - float((bins.examples * means**2).sum()), 0.0)


def slopes_of(derivatives: Sequence[Floats], bins: Sequence[Bins | None]) -> Slopes:
    """Take the means of derivatives by bin and class."""
    means = [None if b is None else b.means(d) for d, b in zip(derivatives, bins, strict=True)]
    return Slopes(derivatives, bins, means)


def shares(slopes: Slopes) -> dict[tuple[int, int], float]:
    """Return the share of the variance inside bins: of each model (j, j), and of each difference of two (i, j).

    Where a bound from the two models' shares is negligible, the bound replaces the share of their difference.
    """
    found = {}
    own = [(slopes.square_inside(j), dot(d, d)) for j, d in enumerate(slopes.derivatives)]
    for i, j in combinations_with_replacement(range(len(own)), 2):
        (part, whole), (other, of_other) = own[i], own[j]
        if i != j:
            a, b = slopes.derivatives[i], slopes.derivatives[j]
            part = (math.sqrt(part) + math.sqrt(other)) ** 2
            whole += of_other - 2 * dot(a, b)
            # Models may be so like each other that rounding is all that the subtraction of squares leaves.
            if whole < 1e-6 * of_other or part > NEGLIGIBLE_SHARE * whole:
                part, whole = (_square(slopes.inside(i) - slopes.inside(j)), _square(a - b))
        found[i, j] = part / whole if whole > 0 else 0.0
    return found


def _square(values: Floats) -> float:
    return dot(values, values)
