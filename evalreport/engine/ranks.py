"""Ranks and areas under the ROC curve in replicates, the distribution of signed ranks, and weighted quantiles."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import cached_property, lru_cache

import numpy as np
import numpy.typing as npt
from scipy import sparse

from evalreport.engine.distributions import Array, normal_tail, ratio

Floats = npt.NDArray[np.float64]
Indices = npt.NDArray[np.int64]


@dataclass(frozen=True)
class Order:
    """Groups of tied scores in descending order.

    Attributes
    ----------
    score
        (n,) by example.
    rows
        (n,) the examples, highest score first.
    starts
        (g,) where each group begins among them.
    positive
        (n,) bool, by example.
    """

    score: Floats
    rows: npt.NDArray[np.intp]
    starts: npt.NDArray[np.intp]
    positive: npt.NDArray[np.bool_]

    @cached_property
    def thresholds(self) -> Floats:
        """The distinct scores, (g,), greatest first."""
        return self.score[self.rows[self.starts]]

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
        positives: Floats = np.add.reduceat(self.found.astype(np.float64), self.starts)
        negatives: Floats = self.sizes - positives
        return positives, negatives

    @property
    def sizes(self) -> npt.NDArray[np.intp]:
        """(g,) examples in each group."""
        return np.diff(self.starts, append=len(self.rows))

    @cached_property
    def columns(self) -> sparse.csr_array:
        """(n, 2 g) sparse: one at ``group`` for a positive example, at ``g + group`` for a negative one."""
        g, n = len(self.starts), len(self.rows)
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
        return Order(self.score, self.rows, self.starts[kept], self.positive)

    def by_example(self, positives: Floats, negatives: Floats) -> Floats:
        """Give each example its group's entry (n,), from (g,) for positive and (g,) for negative examples."""
        if len(self.starts) < len(self.rows):
            positives, negatives = (np.repeat(values, self.sizes) for values in (positives, negatives))
        values = np.empty(len(self.rows))
        values[self.rows] = np.where(self.found, positives, negatives)
        return values


def descending_order(score: Floats, positive: npt.NDArray[np.bool_]) -> Order:
    """Sort scores once and group their ties; equal ones are in the order of their rows.

    Parameters
    ----------
    score, positive
        (n,) scores, without nan, and whether the example is of the positive class.
    """
    rows = np.argsort(-score, kind="stable")
    ranked = score[rows]
    starts = np.flatnonzero(np.concatenate([[len(score) > 0], ranked[1:] != ranked[:-1]]))
    return Order(score, rows, starts, positive)


@dataclass(frozen=True)
class RankedWeights:
    """Weights (g, ...) of positives and of negatives in each group of ties, best first, and their running sums.

    ``example``: the mean weight of an example of the data.
    """

    positives: Array
    negatives: Array
    example: float = 1.0

    @cached_property
    def hits(self) -> Array:
        """Weight of the positives in and above each group, (g, ...)."""
        return np.asarray(np.cumsum(self.positives, axis=0))

    @cached_property
    def wrong(self) -> Array:
        """Weight of the negatives in and above each group, (g, ...)."""
        return np.asarray(np.cumsum(self.negatives, axis=0))

    @cached_property
    def called(self) -> Array:
        """Weight of all examples in and above each group, (g, ...)."""
        return np.asarray(self.hits + self.wrong)

    @cached_property
    def precision(self) -> Array:
        """Precision at each threshold (g, ...), 0 where no example is above it."""
        return np.asarray(self.hits / np.maximum(self.called, np.finfo(np.float64).tiny))


def total(weights: Array, values: Array) -> Array:
    """Return the sum (...) of weights times values, both (g, ...), over g groups."""
    return np.asarray(np.einsum("g...,g...->...", weights, values))


LEAST_SHARING = 5
"""Examples that share a score, on average, from which on scores count as shared."""


def steepest_slopes(
    derivative: Callable[[Floats, Floats], tuple[Floats, Floats]], weights: RankedWeights
) -> tuple[float, float] | None:
    """Return the largest size of a metric's derivative by a positive and by a negative example at any score.

    None where fewer than five examples share a score, on average. ``derivative`` maps the weights (g,) of positives and
    of negatives in each group of ties to their slopes (g,) each.
    """
    positives, negatives = weights.positives, weights.negatives
    if positives.sum() + negatives.sum() < LEAST_SHARING * len(positives):
        return None
    of_positives, of_negatives = (float(np.abs(slopes).max()) for slopes in derivative(positives, negatives))
    return of_positives, of_negatives


def group_weights(weights: Floats | None, order: Order) -> tuple[Floats, Floats]:
    """Return the weight of positives and of negatives in each group, each (g, ...), under weights (..., n).

    None: ones. Groups come first, so that running sums go down the rows with all replicates side by
    side: several times faster than along the last axis.
    """
    if weights is None:
        return order.counts
    g = len(order.starts)
    if len(weights) == 1 and weights.ndim == 2:
        positives, negatives = group_weights(weights[0], order)
        return positives[:, None], negatives[:, None]
    if weights.ndim == 1:
        if (weights == 1).all():
            return order.counts
        ranked = weights[order.rows]
        positives = ranked * order.found
        negatives = ranked - positives
        if g == len(ranked):
            return positives, negatives
        return np.add.reduceat(positives, order.starts), np.add.reduceat(negatives, order.starts)
    sums = np.asarray(order.columns.T @ np.ascontiguousarray(weights.T))
    return sums[:g], sums[g:]


def along(order: Order, weights: Floats | None, example: float = 1.0) -> RankedWeights:
    """Return the weights (..., n) of examples along a ranking; ``example``: what one weighs on average."""
    return RankedWeights(*group_weights(weights, order), example)


def running_weights(weights: Floats | None, order: Order) -> tuple[Floats, Floats]:
    """Return the weight of positives and of negatives above each group and in all, each (g + 1, ...): 0 first."""
    if weights is not None and weights.ndim == 2 and len(weights) == 1:
        hits, wrong = running_weights(weights[0], order)
        return hits[:, None], wrong[:, None]
    positives, negatives = group_weights(weights, order)
    hits, wrong = (np.zeros((len(positives) + 1, *positives.shape[1:])) for _ in range(2))
    hits[1:], wrong[1:] = np.cumsum(positives, axis=0), np.cumsum(negatives, axis=0)
    return hits, wrong


AGREEMENT = 1e-10
"""Numbers that agree to this share of the largest value compared are equal: the rest is rounding."""


def with_equal_columns(values: Floats) -> Floats:
    """Return numbers (n, k) in which columns that agree in every row, but for rounding, are the same.

    Examples
    --------
    >>> with_equal_columns(np.array([[0.3, 0.1 + 0.2], [0.4, 0.4]])).tolist()
    [[0.3, 0.3], [0.4, 0.4]]
    """
    if not len(values):
        return values
    with np.errstate(over="ignore", invalid="ignore"):
        means = values.mean(axis=0)
    rounding = AGREEMENT * max(float(values.max()), -float(values.min()))
    for one, other in itertools.pairwise(np.argsort(means, kind="stable").tolist()):
        if abs(means[one] - means[other]) <= rounding:
            largest = np.abs(values[:, [one, other]]).max()
            if 0 < np.abs(values[:, one] - values[:, other]).max() <= AGREEMENT * largest:
                values = values.copy()
                values[:, other] = values[:, one]
    return values


def equalised(differences: Floats, compared: float = 0.0) -> Floats:
    """Return differences (m,) with 0 for those that are rounding, and one size for sizes that agree.

    Parameters
    ----------
    compared
        The largest size of the numbers that were subtracted; that of the differences where these are larger.

    Examples
    --------
    >>> equalised(np.array([0.7 - 0.6, 0.1 - 0.2, 1e-14]), 0.7).tolist() == [0.1 - 2**-56, -0.1 + 2**-56, 0.0]
    True
    """
    if not len(differences):
        return differences
    sizes = np.abs(differences)
    order = np.argsort(sizes, kind="stable")
    ascending = sizes[order]
    apart = np.diff(ascending, prepend=0.0) > AGREEMENT * max(compared, float(ascending[-1]))
    group = np.cumsum(apart)
    lowest, highest = (np.full(int(group[-1]) + 1, fill) for fill in (np.inf, 0.0))
    np.minimum.at(lowest, group, ascending)
    np.maximum.at(highest, group, ascending)
    common = np.zeros(len(lowest))
    common[1:] = lowest[1:] + (highest[1:] - lowest[1:]) / 2
    shares = np.empty(len(sizes))
    shares[order] = common[group]
    return np.sign(differences) * shares + 0.0


def equal_in_rows(values: Floats) -> Floats:
    """Number the values (m, k) of each row in ascending order, those that agree alike."""
    order = np.argsort(values, axis=1, kind="stable")
    ascending = np.take_along_axis(values, order, axis=1)
    apart = np.diff(ascending, axis=1) > AGREEMENT * np.abs(values).max(axis=1, keepdims=True)
    numbers = np.zeros(values.shape)
    np.put_along_axis(numbers, order[:, 1:], np.cumsum(apart, axis=1).astype(np.float64), axis=1)
    return numbers


def mid_ranks(score: Floats, times: Floats | None = None) -> Floats:
    """Return each score's mid-rank within its model, 1 for the smallest; ties share the mean of their ranks.

    ``times``: (n,) how often each score occurs; None: once.
    """
    inverse = np.unique(score, return_inverse=True)[1]
    counts = np.bincount(inverse, weights=times)
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
        (N,) number of positives strictly above each negative, and of those above or level with it.
    """

    positives: Indices
    negatives: Indices
    strictly: Indices
    tied: Indices


@dataclass(frozen=True, slots=True)
class ClassRanks:
    """All columns of one model; ``true`` (n,) are class codes. Classes that the truth lacks have no column.

    ``last``: the last weights and their areas; metrics of one model follow one another on the same block of weights.
    """

    true: Indices
    n_classes: int
    columns: tuple[ClassColumn | None, ...]
    last: list[tuple[Floats, Areas]] = field(default_factory=list)

    def areas(self, weights: Floats) -> Areas:
        """Return the areas under weights (b, n)."""
        if not self.last or self.last[0][0] is not weights:
            self.last[:] = [(weights, self._areas(weights))]
        return self.last[0][1]

    def _areas(self, weights: Floats) -> Areas:
        by_row = np.ascontiguousarray(weights.T)
        totals = self.totals(by_row)
        rest, others = (np.full(totals.shape, np.nan) for _ in range(2))
        for k, column in enumerate(self.columns):
            if column is not None:
                won = by_class(self.true[column.negatives], self.n_classes) @ _won(column, by_row)
                rest[k] = ratio(won.sum(axis=0), totals[k] * (totals.sum(axis=0) - totals[k]))
                each = np.delete(ratio(won, totals), k, axis=0)
                others[k] = ratio(each.sum(axis=0), totals[k])
        return Areas(rest.T, others.T / (self.n_classes - 1), totals.T)

    def totals(self, by_row: Floats) -> Floats:
        """Return the weight of each class, (K, b), under weights (n, b)."""
        return np.asarray(by_class(self.true, self.n_classes) @ by_row)

    def held(self) -> Iterator[tuple[int, ClassColumn]]:
        """Yield the classes that the truth holds."""
        yield from ((k, column) for k, column in enumerate(self.columns) if column is not None)


def by_class(codes: Indices, n_classes: int) -> sparse.csr_array:
    """Return what adds up rows (n, ...) by their class, (K, n)."""
    n = len(codes)
    return sparse.csr_array((np.ones(n), (codes, np.arange(n))), shape=(n_classes, n))


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
    return ClassColumn(positives, negatives, strictly, tied)


def _won(column: ClassColumn, by_row: Floats) -> Floats:
    """Return the weight of the pairs that each negative loses, ties one half: (N, b)."""
    above = positives_above(column, by_row)
    lost = (above[column.strictly] + above[column.tied]) / 2
    return np.asarray(lost * by_row[column.negatives])


def positives_above(column: ClassColumn, by_row: Floats) -> Floats:
    """Return the running weight of the positives from the top, (P + 1, b), beginning with 0."""
    above = np.zeros((len(column.positives) + 1, by_row.shape[1]))
    np.cumsum(by_row[column.positives], axis=0, out=above[1:])
    return above


def placements(column: ClassColumn, by_row: Floats, scale: Floats | None = None) -> tuple[Floats, Floats]:
    """Return what each positive wins and what each negative loses, (P, b) and (N, b), under weights (n, b).

    Parameters
    ----------
    scale
        (n, b) factor of each negative: what a pair with it counts. None: 1.
    """
    above = positives_above(column, by_row)
    lost = above[column.strictly]
    lost += above[column.tied]
    lost /= 2
    # A negative is beaten by the positives before ``strictly``, and ties with those up to ``tied``.
    half = by_row[column.negatives] / 2
    if scale is not None:
        lost, half = lost * scale[column.negatives], half * scale[column.negatives]
    ends = (by_class(end, len(above)) @ half for end in (column.strictly, column.tied))
    beaten = np.cumsum(np.asarray(sum(ends))[::-1], axis=0)[::-1]
    return beaten[1:], lost


LARGEST_EXACT = 50
"""Up to this many differences other than 0 the distribution is enumerated, and doubles hold it exactly."""


@lru_cache(maxsize=512)
def signed_rank_distribution(ranks: tuple[int, ...]) -> Floats:
    """Return the probabilities (sum of ranks + 1,) of the sum of those ranks that are positive, each with chance 1/2.

    Parameters
    ----------
    ranks
        Whole numbers: mid-ranks are doubled first.

    References
    ----------
    Streitberg and Roehmel (1986), Statistical Software Newsletter 12:10: the shift algorithm.

    Examples
    --------
    Four differences of one size have the mid-rank 2.5 each, so all four are positive once in 16 times:

    >>> float(signed_rank_distribution((5, 5, 5, 5))[20])
    0.0625
    """
    probabilities = np.zeros(sum(ranks) + 1)
    probabilities[0] = 1.0
    for rank in ranks:
        probabilities[rank:] = (probabilities[rank:] + probabilities[: len(probabilities) - rank]) / 2
        probabilities[:rank] /= 2
    return probabilities


def standardised(ranks: Floats, times: Floats, positive: float) -> float:
    """Return z of the positive rank sum: under the null each rank (which occurs so often) is positive with chance 1/2.

    The variance sum r^2 / 4 holds the corrections for ties and for Pratt's zeros: it is taken over the ranks in use.

    Parameters
    ----------
    ranks, times
        (r,) distinct ranks and how many differences have each.
    positive
        The sum of the ranks of positive differences.
    """
    return (positive - float((times * ranks).sum()) / 2) / math.sqrt(float((times * ranks**2).sum()) / 4)


def signed_rank_tail(differences: Floats, times: Floats | None = None) -> float:
    """Return the probability of a positive rank sum as small as that of the differences (m,), other than 0.

    Conditional on the mid-ranks and exact up to ``LARGEST_EXACT`` differences, else normal with tie correction.
    ``times``: (m,) how often each difference occurs; None: once.
    """
    ranks, each = mid_ranks(np.abs(differences), times), np.ones(len(differences)) if times is None else times
    positive = float((each * ranks)[differences > 0].sum())
    if each.sum() > LARGEST_EXACT:
        return normal_tail(-standardised(ranks, each, positive))
    doubled = tuple(np.sort(np.rint(2 * np.repeat(ranks, each.astype(int)))).astype(int).tolist())
    return float(signed_rank_distribution(doubled)[: round(2 * positive) + 1].sum())


@dataclass(frozen=True, slots=True)
class Sorted:
    """Values in ascending order, (n,), and the rows that they come from."""

    values: Floats
    rows: npt.NDArray[np.int64]


def ascending(values: Floats) -> Sorted:
    """Sort values (n,) once."""
    rows = np.argsort(values, kind="stable")
    return Sorted(values[rows], rows)


def weighted_median(table: Sorted, weights: Floats) -> Floats:
    """Return the median (b,) under weights (b, n), as if every value stood there as often as it weighs.

    The mean of the smallest value with at least half of the weight at or below it and the smallest with more than
    half; so whole weights give the median of the repeated values.

    Examples
    --------
    >>> table = ascending(np.array([3.0, 1.0, 2.0]))
    >>> weighted_median(table, np.array([[1.0, 1, 1], [2, 1, 1], [0, 1, 1]]))
    array([2. , 2.5, 1.5])
    """
    goal = weights.sum(axis=1) / 2
    reached, slack = np.cumsum(weights[:, table.rows], axis=1), 1e-12 * goal
    first = (reached >= (goal - slack)[:, None]).argmax(axis=1)
    second = (reached > (goal + slack)[:, None]).argmax(axis=1)
    middle = (table.values[first] + table.values[second]) / 2
    return np.where(reached[:, -1] > goal + slack, middle, np.nan)
