"""The distribution of a difference when the two models' predictions are swapped row by row, each swap studentised.

Swapping tests whether the models are exchangeable. Two models with equal F1 and unlike operating points are not, so
the difference after each swap is divided by its own standard error (Janssen 1997, Stat Probab Lett 36:9; Chung and
Romano 2013, Ann Stat 41:484): that tests equal metrics. Plain means over examples need no division.

Labels: only the discordant cells matter, and the number of their rows that change sides is binomial, so small
problems are enumerated exactly; under weights the rows of a cell weigh alike. Everything else: units (rows or clusters)
move their columns from one model's sums to the other's. Ranks: the within-model mid-ranks are swapped, since raw scores
of two models have no common scale.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache, lru_cache, partial

import numpy as np
import numpy.typing as npt
from scipy import sparse

from evalreport.comparisons.registry import Swapped
from evalreport.comparisons.unit_swaps import (
    AT_ONCE,
    MOST_ENUMERATED,
    Moved,
    is_plain_mean,
    of_units,
    sums_by_bits,
    swap_patterns,
)
from evalreport.engine.counts import class_ranks, few_a_cell, margin_columns
from evalreport.engine.distributions import Array, fair_binomial, put_where, ratio, zero_where_undefined
from evalreport.engine.draws import stream
from evalreport.engine.ranks import mid_ranks
from evalreport.metrics.label_estimates import counted
from evalreport.metrics.metric import ClassCounts, Margins, Moments, Needs, Ranks, RowWise
from evalreport.metrics.registry import Quantity, definition
from evalreport.metrics.sample import Sample, chosen_states
from evalreport.metrics.table_functions import TableFunctions
from evalreport.metrics.views import ModelView, view
from evalreport.predictions.arrays import Floats, Indices
from evalreport.samplings import Sampling

Key = tuple[str, str, Quantity]

Distribution = Callable[[], Swapped]


def swap_distributions(
    sample: Sample,
    pairs: Sequence[tuple[str, str]],
    quantities: Sequence[Quantity],
    *,
    n_swaps: Callable[[Quantity], int],
    seed: int,
    ranks: Callable[[Quantity], bool],
    named: bool,
    first: int,
    level: float,
) -> dict[Key, Distribution]:
    """Return, for every pair and quantity that can be swapped, the function that computes its distribution.

    Parameters
    ----------
    n_swaps
        How many swaps are drawn for a quantity where they are too many to be enumerated.
    ranks
        Whether the ranks of a rank metric are swapped: that costs far more than any other test of it.
    named
        Whether the user named the quantities: then few of them take a pass over all rows for each swap.
    first, level
        So many swaps of ranks and rows are drawn at least; then none where p is above this level by far.
    """
    found: dict[Key, Distribution] = {}
    cells = lru_cache(maxsize=_PAIRS_KEPT)(partial(_cell_swaps, sample, cache(partial(_ranks, sample)), seed))
    histograms = cache(partial(_rank_histograms, sample))
    moved: dict[Hashable, Moved] = {}
    # The ranks of several fits have no common scale, not even within one model; those of very many rows are only
    # known by bins.
    ranked = sample.rows.layout.ranked.count == 1
    for a, b in pairs:
        for q in quantities:
            if not all(sample.estimates[m, q].swappable for m in (a, b)):
                continue
            computation, draws = definition(q).computation, n_swaps(q)
            if isinstance(computation, Margins | ClassCounts):
                assert sample.tables is not None
                by_cell = sample.tables.cells is not None
                found[a, b, q] = (
                    partial(_of_cells, sample, a, b, q, cells, draws)
                    if by_cell
                    else partial(of_units, sample, a, b, q, draws, seed, moved)
                )
            elif isinstance(computation, Moments):
                found[a, b, q] = partial(of_units, sample, a, b, q, draws, seed, moved)
            elif isinstance(computation, Ranks) and ranked and ranks(q):
                found[a, b, q] = partial(
                    _of_ranks, sample, a, b, q, histograms, Draws(draws, first, level, seed)
                )
            elif (
                isinstance(computation, RowWise)
                and ranked
                and (ranks(q) or (named and not computation.by_ranks))
            ):
                found[a, b, q] = partial(_of_rows, sample, a, b, q, Draws(draws, first, level, seed))
    return found


_PAIRS_KEPT = 2
"""Swaps of cells are kept for so many pairs, which are tested one after another."""

FEW_KINDS = 4
"""Draws of up to so many kinds of rows, as of two classes, are looked through for equal ones."""

FEW_CLASSES = 3
"""Of up to so many classes squares are added up by truth and both labels; of more that costs more than ``_Squares``."""

_IN_CACHE = 1 << 17
"""Numbers of one table at once where several are combined."""

# --- labels, by distinct cell ---------------------------------------------------------------------------------------


SquaresAt = Callable[[int, Floats, Floats], Floats]
"""The sums (m,) of all rows' squared derivatives after a block of swaps, from its first one and both models' slopes."""


@dataclass(frozen=True, slots=True)
class _CellSwaps:
    """Swaps of one pair's discordant rows, by kind: truth, lower and higher class of the two labels.

    Attributes
    ----------
    squares
        Gives the sums of squared derivatives that standard errors need.
    weights
        The swaps' probabilities; None where they are drawn.
    place
        (m,) which of the outcomes below each draw gave, where draws of few kinds of rows are often alike; else all.
    discordant
        How many rows the models label differently.
    at
        By block of swaps: the number of the first one, and quantities at both models' margins (2, m, 3, K) after each.
    """

    squares: SquaresAt
    weights: Floats | None
    place: Indices | slice
    discordant: int
    at: tuple[tuple[int, TableFunctions], ...]


def _ranks(sample: Sample) -> Indices:
    """Return the ranks (K,) of the classes, which do not depend on the pair."""
    assert sample.tables is not None
    assert sample.tables.cells is not None
    return class_ranks(sample.tables.cells)


def _cell_swaps(
    sample: Sample, ranks: Callable[[], Indices], seed: int, a: str, b: str, n_swaps: int
) -> _CellSwaps:
    tables = sample.tables
    assert tables is not None
    cells, k = tables.cells_of((a, b)), tables.n_classes
    true, (one, other) = cells.true.astype(np.int64), cells.predicted.astype(np.int64)
    weight = np.ones(len(cells.counts)) if cells.weight is None else cells.weight
    same, apart = one == other, (one != other) & (weight > 0)
    kept = margin_columns(true[same], one[same], k).T @ cells.weighed[same]
    # Kinds in the canonical order of their classes: what these are called moves no draw.
    rank = ranks()
    labels = np.sort(np.stack([rank[one[apart]], rank[other[apart]]]), axis=0)
    classes = np.stack([rank[true[apart]], *labels])
    group, inverse = _distinct(*classes, weight[apart])
    sizes = np.bincount(inverse, weights=cells.counts[apart], minlength=len(group)).astype(np.int64)
    first_of_kind, kind = _distinct(*classes[:, group])
    kinds = np.argsort(rank)[classes[:, group[first_of_kind]]]
    own = weight[apart][group]
    with_low, weights = _swapped_weights(sizes, own, kind, n_swaps, seed)
    place: Indices | slice = slice(None)
    if weights is None and kinds.shape[1] <= FEW_KINDS:
        drawn = with_low[:1] if cells.weight is None else with_low
        first, place = _distinct(*np.concatenate(drawn, axis=1).T)
        with_low = with_low[0][first], with_low[1][first]
    columns_low, columns_high = (margin_columns(kinds[0], kinds[j], k) for j in (1, 2))
    totals = [np.bincount(kind, sizes * values, kinds.shape[1]).astype(float) for values in (own, own**2)]
    with_high = totals[0] - with_low[0]
    margins = np.stack(
        [
            np.asarray(kept + with_low[0] @ one_way + with_high @ other_way).reshape(-1, 3, k)
            for one_way, other_way in ((columns_low, columns_high), (columns_high, columns_low))
        ]
    )
    step = max(1, AT_ONCE // (16 * k))
    starts = range(0, margins.shape[1], step)
    at = tuple(
        (start, TableFunctions(margins[:, start : start + step], sample.predictions, exact=False))
        for start in starts
    )
    alike = true[same], one[same], cells.counts[same] * weight[same] ** 2
    if k <= FEW_CLASSES:
        squares: SquaresAt = _SquaresByLabels.of(counted(*alike, k), kinds, totals[1], with_low[1]).at
    else:
        squares = _Squares.of(
            sparse.csr_array((alike[2], alike[:2]), shape=(k, k)), kinds, totals[1], with_low[1], starts
        ).at
    return _CellSwaps(squares, weights, place, int(sizes.sum()), at)


def _distinct(*columns: Array) -> tuple[Indices, Indices]:
    """Return the index of one row of each distinct kind of columns (n,), in order, and the kind of each row."""
    order = np.lexsort(columns[::-1])
    changes = np.zeros(len(order), dtype=np.bool_)
    for column in columns:
        changes[1:] |= column[order][1:] != column[order][:-1]
    changes[:1] = True
    which = np.empty(len(order), dtype=np.int64)
    which[order] = np.cumsum(changes) - 1
    return order[changes], which


def _of_cells(
    sample: Sample,
    a: str,
    b: str,
    quantity: Quantity,
    cells: Callable[[str, str, int], _CellSwaps],
    n_swaps: int,
) -> Swapped:
    swaps, metric = cells(a, b, n_swaps), definition(quantity)
    studentised = not is_plain_mean(quantity) and metric.inference.smooth
    differences, squares = [], []
    for start, both in swaps.at:
        one, other = zero_where_undefined(both.value(quantity))
        differences.append(one - other)
        if studentised:
            squares.append(swaps.squares(start, *both.slopes(quantity)))
    found = np.concatenate(differences)[swaps.place]
    if not studentised:
        return Swapped(found, None, swaps.weights, swaps.discordant)
    # Squares that are multiplied out may fall below 0 by rounding.
    errors = np.sqrt(sample.units.factors * np.maximum(np.concatenate(squares), 0.0))[swaps.place]
    if swaps.weights is not None:
        # All outcomes in order are their own mirror image: swapping every row turns the sign and leaves the error.
        half = len(found) // 2
        errors[len(found) - half :] = errors[:half][::-1]
    return Swapped(found, errors, swaps.weights, swaps.discordant)


@dataclass(frozen=True, slots=True)
class _SquaresByLabels:
    """Squared weights of one pair's rows by their truth and the labels of both models, of few classes.

    Attributes
    ----------
    same
        (K, K, 1) by truth and label: rows that both models label alike.
    kinds
        (3, k): truth, lower and higher class of each kind of discordant rows.
    with_low, with_high
        (k, m) by kind and swap: the rows that get the lower or the higher class from the first model.
    """

    same: Floats
    kinds: Indices
    with_low: Floats
    with_high: Floats

    @classmethod
    def of(cls, same: Floats, kinds: Indices, squares: Floats, with_low: Floats) -> _SquaresByLabels:
        """Take the sums as of ``_Squares.of``."""
        by_kind = np.ascontiguousarray(with_low.T)
        return cls(same[..., None], kinds, by_kind, squares[:, None] - by_kind)

    def at(self, start: int, one: Floats, other: Floats) -> Floats:
        """Return the sums (m,) over all rows after some swaps, from both models' slopes (m, 3, K) there."""
        first, second = _by_labels(one), _by_labels(other)
        true, low, high = self.kinds
        block = slice(start, start + len(one))
        alike = self.same * (first - second) ** 2
        came = self.with_low[:, block] * (first[true, low] - second[true, high]) ** 2
        went = self.with_high[:, block] * (first[true, high] - second[true, low]) ** 2
        return np.asarray(alike.sum(axis=(0, 1)) + (came + went).sum(axis=0))


def _by_labels(slopes: Floats) -> Floats:
    """Return the derivatives (K, K, m) by a row of each truth and label, from those by the margins (m, 3, K)."""
    right, true, label = np.ascontiguousarray(np.moveaxis(slopes, 0, -1))
    found = true[:, None] + label
    found[np.diag_indices(len(right))] += right
    return np.asarray(found)


@dataclass(frozen=True, slots=True)
class _Squares:
    """Squared weights of one pair's rows, from which the sums of their squared derivatives follow after each swap.

    A row of class t adds g_t + A_a - B_b to the difference, where a and b are the labels that the two models then give:
    g are the differences of the slopes by the true class, A and B the models' slopes by label. A right label is one of
    its own, since it adds the slope of what is right: there are 2 K. Squares are multiplied out, so that the rows are
    added up by truth and label and by pairs of labels once for all metrics.

    Attributes
    ----------
    same
        (2 K,) by label: rows that both models label alike.
    fixed
        (K, 2 K) by truth and label: twice ``same``, and discordant rows once for each of their two labels; ``true``
        (K,) are the rows of each class, ``label`` (2 K,) the discordant ones of each label, once for either.
    low_high
        (2 K, 2 K) discordant rows by higher and lower label.
    given, swapped
        By swap, sparse tables of the same places: (K, 2 K) by truth and label, discordant rows with this label from
        the first model less those with it from the second, and (2 K, 2 K) by lower and higher label the rows that get
        the lower one from the first model.
    by_label
        (m, 2 K) the sums of the first of these over the truth.
    """

    same: Floats
    fixed: sparse.csr_array
    true: Floats
    label: Floats
    low_high: sparse.csr_array
    given: _BySwap
    swapped: _BySwap
    by_label: Floats

    @classmethod
    def of(
        cls, same: sparse.csr_array, kinds: Indices, squares: Floats, with_low: Floats, starts: range
    ) -> _Squares:
        """Add up the squares of rows that are labelled alike (K, K), and of the kinds of discordant ones.

        Parameters
        ----------
        kinds
            (3, k): truth, lower and higher class of each kind; ``squares`` (k,) those of all its rows.
        with_low
            (m, k) those of the rows that get the lower class from the first model.
        starts
            The first swap of each block that is looked at at once.
        """
        k, (truth, *labels) = same.shape[0], kinds
        shape = k, 2 * k
        low, high = (np.where(label == truth, k + label, label) for label in labels)
        alike = same.tocoo()
        wrong_or_right = np.where(alike.row == alike.col, k + alike.col, alike.col)
        same = sparse.csr_array((alike.data, (alike.row, wrong_or_right)), shape=shape)
        once = truth * (2 * k) + low, truth * (2 * k) + high
        places, place = np.unique(np.concatenate(once), return_inverse=True)
        number = np.arange(len(truth))
        to_low, to_high = (
            sparse.csr_array((np.ones(len(truth)), (number, own)), shape=(len(truth), len(places)))
            for own in np.split(place, 2)
        )
        given = np.ascontiguousarray((2 * with_low - squares) @ (to_low - to_high))
        of_places = sparse.csr_array(
            (np.ones(len(places)), (np.arange(len(places)), places % (2 * k))), shape=(len(places), 2 * k)
        )
        order = np.argsort(low, kind="stable")
        either = sparse.csr_array(
            (np.tile(squares, 2), (np.tile(truth, 2), np.concatenate([low, high]))), shape=shape
        )
        return cls(
            np.asarray(same.sum(axis=0)),
            2 * same + either,
            np.asarray(same.sum(axis=1)) + np.bincount(truth, weights=squares, minlength=k),
            np.asarray(either.sum(axis=0)),
            sparse.csr_array((squares, (high, low)), shape=(2 * k, 2 * k)),
            _BySwap.of(places // (2 * k), places % (2 * k), shape, given, starts),
            _BySwap.of(
                low[order], high[order], (2 * k, 2 * k), np.ascontiguousarray(with_low[:, order]), starts
            ),
            np.ascontiguousarray(given @ of_places),
        )

    def at(self, start: int, one: Floats, other: Floats) -> Floats:
        """Return the sums (m,) over all rows after some swaps, from both models' slopes (m, 3, K) there."""
        down = np.ascontiguousarray(one[:, 1] - other[:, 1])
        first, second = (np.concatenate([s[:, 2], s[:, 2] + s[:, 0]], axis=1) for s in (one, other))
        apart, both = first - second, first + second
        by_label = self.by_label[start : start + len(one)]
        of_true = np.asarray(self.fixed @ apart.T).T + self.given.times(start, both[..., None])[..., 0]
        of_true += down * self.true
        of_first, of_second = np.moveaxis(
            self.swapped.times(start, np.stack([first, second], axis=-1)), -1, 0
        )
        of_second = of_second + np.asarray(self.low_high @ second.T).T
        # Of the labels' squares a A^2 + b B^2 with A = (u + x) / 2, B = (u - x) / 2 and a + b, a - b.
        of_label = both * both
        of_label += apart * apart
        of_label *= self.label
        of_label += 2 * by_label * both * apart
        of_label /= 4
        of_label += apart * apart * self.same
        return np.asarray(
            _dot(down, of_true) + of_label.sum(axis=1) - 2 * (_dot(first, of_second) - _dot(second, of_first))
        )


def _dot(one: Floats, other: Floats) -> Floats:
    """Return the sums (m,) of the products of two tables (m, j)."""
    return np.asarray(np.einsum("mj,mj->m", one, other))


@dataclass(frozen=True, slots=True)
class _BySwap:
    """Sparse tables (I, J) of the same places, one after each swap.

    Attributes
    ----------
    blocks
        By the first swap of each block of ``_CellSwaps.at``: the tables of a few swaps at a time, about the diagonal
        of one.
    """

    shape: tuple[int, int]
    blocks: Mapping[int, Sequence[sparse.csr_array]]

    @classmethod
    def of(
        cls, rows: Indices, columns: Indices, shape: tuple[int, int], values: Floats, starts: range
    ) -> _BySwap:
        """Take the values (m, places) at places that are in the order of rows."""
        (i, j), places = shape, len(columns)
        step = min(max(1, _IN_CACHE // max(places, i)), len(values))
        numbers = np.arange(step)[:, None]
        ends = np.cumsum(np.bincount(rows, minlength=i)) + places * numbers
        at_once = (
            (columns + j * numbers).astype(np.int32).ravel(),
            np.append(0, ends.ravel()).astype(np.int32),
        )

        def table(begin: int, end: int) -> sparse.csr_array:
            b = end - begin
            places_of_rows = at_once[0][: b * places], at_once[1][: b * i + 1]
            return sparse.csr_array((values[begin:end].ravel(), *places_of_rows), shape=(b * i, b * j))

        blocks = {}
        for start in starts:
            end = min(start + starts.step, len(values))
            blocks[start] = [table(begin, min(begin + step, end)) for begin in range(start, end, step)]
        return cls(shape, blocks)

    def times(self, start: int, vectors: Floats) -> Floats:
        """Multiply the tables of a block of swaps by (m, J, c), each by its own: (m, I, c)."""
        m, j, c = vectors.shape
        found, begin = [], 0
        for block in self.blocks[start]:
            end = begin + block.shape[1] // j
            found.append(np.asarray(block @ vectors[begin:end].reshape(-1, c)))
            begin = end
        return np.concatenate(found).reshape(m, self.shape[0], c)


def _swapped_weights(
    sizes: Indices, weight: Floats, kind: Indices, n_swaps: int, seed: int
) -> tuple[tuple[Floats, Floats], Floats | None]:
    """Return the summed weights (m, k), and their squares, of the rows that get the lower class from the first model.

    Parameters
    ----------
    sizes, weight, kind
        (g,) how many rows of one weight and kind there are, in the order of the kinds.

    Returns
    -------
    sums, probabilities
        Of all outcomes with their probabilities, or of draws (None).
    """
    both = np.stack([weight, weight**2], axis=1)
    starts = np.flatnonzero(np.diff(kind, prepend=-1))
    if len(sizes) < 60 and np.prod(sizes + 1.0) <= max(MOST_ENUMERATED, n_swaps + 1):
        axes = np.meshgrid(*(np.arange(m + 1.0) for m in sizes), indexing="ij")
        outcomes = np.stack([axis.ravel() for axis in axes], axis=1) if len(sizes) else np.zeros((1, 0))
        return _by_kind(outcomes, both, starts), fair_binomial(outcomes, sizes).prod(axis=1)
    found = np.zeros((2, n_swaps, len(starts)))
    if len(sizes) > len(starts) and few_a_cell(sizes):
        rows = np.add.reduceat(sizes, starts)
        for own, sums in sums_by_bits(np.repeat(both, sizes, axis=0), rows, n_swaps, seed):
            found[:, :, own] += sums.T
        return (found[0], found[1]), None
    generator = stream(seed, "swap cells", 0)
    step = max(1, AT_ONCE // len(sizes))
    for start in range(0, n_swaps, step):
        some = found[:, start : start + step]
        draws = generator.binomial(sizes, 0.5, size=(some.shape[1], len(sizes)))
        some[...] = _by_kind(draws, both, starts)
    return (found[0], found[1]), None


def _by_kind(numbers: Array, values: Floats, starts: Indices) -> tuple[Floats, Floats]:
    """Sum numbers (m, g) times two columns of values (g, 2) within kinds, given their first positions: (m, k)."""
    alone = len(starts) == numbers.shape[1]

    def sums(column: Floats) -> Floats:
        return np.asarray(numbers * column if alone else np.add.reduceat(numbers * column, starts, axis=1))

    weights, squares = values.T
    one = sums(weights)
    return one, one if (weights == squares).all() else sums(squares)


# --- ranks, and what needs all rows ---------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Draws:
    """The number of swaps to draw: n, or fewer if the first ones show that p is far above the level."""

    n: int
    first: int
    level: float
    seed: int


OfBlock = Callable[[Floats], tuple[Floats, Floats | None]]
"""The differences (b,) after swaps (b, units) and their standard errors; None where they are not studentised."""


def _of_patterns(
    units: Sampling, discordant: npt.NDArray[np.bool_], draws: Draws, of_block: OfBlock
) -> Swapped:
    """Evaluate swaps block by block, since each costs a pass over all rows.

    Drawing ends early where p is twice the level or more. No correction makes such a p-value smaller, so it can decide
    nothing, and every p that may decide rests on all draws (a curtailed Monte Carlo test: Besag and Clifford 1991,
    Biometrika 78:301).
    """
    patterns, weights = swap_patterns(units, draws.n, draws.seed, discordant)
    observed = _size(*of_block(np.zeros((1, units.count))))[0]
    found: list[tuple[Floats, Floats | None]] = []
    drawn = extreme = 0
    for swapped in _few_at_a_time(patterns):
        found.append(of_block(swapped))
        sizes = _size(*found[-1])
        drawn, extreme = drawn + len(sizes), extreme + int((sizes >= observed * (1 - 1e-9)).sum())
        if weights is None and drawn >= draws.first and extreme >= 2 * draws.level * drawn:
            break
    differences, errors = zip(*found, strict=True)
    of_all = None if errors[0] is None else np.concatenate([e for e in errors if e is not None])
    return Swapped(np.concatenate(differences), of_all, weights, int(discordant.sum()))


_VALUES_AT_ONCE = 1 << 18
"""Units times swaps at once: so much stays in the processor's cache."""


def _few_at_a_time(patterns: Iterator[Floats]) -> Iterator[Floats]:
    for block in patterns:
        step = max(1, _VALUES_AT_ONCE // block.shape[1])
        yield from (block[start : start + step] for start in range(0, len(block), step))


def _size(differences: Floats, errors: Floats | None) -> Floats:
    return np.abs(differences if errors is None else ratio(differences, errors))


def _of_ranks(
    sample: Sample,
    a: str,
    b: str,
    quantity: Quantity,
    histograms: Callable[[str, str], list[sparse.csr_array]],
    draws: Draws,
) -> Swapped:
    """Swap the mid-ranks of a metric of the family ``ranking``, by their histograms."""
    units, computation = sample.units, definition(quantity).computation
    assert isinstance(computation, Ranks)
    tables = histograms(a, b)
    positions = [table.indices for table in tables]
    sums = [np.asarray(table.T @ units.base)[:, None] for table in tables]
    discordant = units.influence((positions[0] != positions[1]).astype(np.float64)) != 0

    def of_block(swapped: Floats) -> tuple[Floats, Floats | None]:
        """Move the histograms of swapped rows from one model to the other."""
        by_row = np.ascontiguousarray(units.expand(swapped).T)
        moved = np.asarray(tables[1].T @ by_row) - np.asarray(tables[0].T @ by_row)
        both = [np.split(after, 2) for after in (sums[0] + moved, sums[1] - moved)]
        first, second = (computation.function(*weights) for weights in both)
        if computation.derivative is None:
            return np.asarray(first - second), None
        slopes = [np.concatenate(computation.derivative(*weights)) for weights in both]
        came = np.ascontiguousarray((swapped if units.cluster is None else swapped[:, units.cluster]).T > 0)
        stayed, crossed = (slopes[0][positions[j]] - slopes[1][positions[1 - j]] for j in (0, 1))
        return np.asarray(first - second), _errors(units, put_where(came, crossed, out=stayed))

    return _of_patterns(units, discordant, draws, of_block)


def _errors(units: Sampling, slopes: Floats) -> Floats:
    """Return standard errors (b,) from derivatives (n, b) by the weight of each example."""
    if units.single and units.strata is None:
        weighted = slopes if units.heavy is None else slopes * units.heavy[:, None]
        return np.asarray(np.sqrt(units.factors * np.einsum("nb,nb->b", weighted, weighted)))
    return np.sqrt([(units.factors * units.influence(column) ** 2).sum() for column in slopes.T])


def _rank_histograms(sample: Sample, *models: str) -> list[sparse.csr_array]:
    """Return, by model, (n, 2 g) one-hot columns of each row's mid-rank, best first: positives, then negatives.

    Ranks that no positive of these models holds are merged with their neighbours: only the order of negatives
    relative to positives counts, so AUC and AP do not change, and the work is that of the rarer class.
    """
    outputs = {m.name: m for m in sample.predictions.models}
    positive = sample.rows.orders[models[0]][0].positive
    ranks = np.stack([-mid_ranks(view(sample.predictions, outputs[name]).ranked_by) for name in models])
    distinct, code = np.unique(ranks, return_inverse=True)
    code = code.reshape(ranks.shape)
    alone = np.zeros(len(distinct), dtype=bool)
    alone[code[:, positive]] = True
    starts = alone | np.concatenate([[True], alone[:-1]])
    group = np.cumsum(starts) - 1
    g, n = int(group[-1]) + 1, len(positive)
    columns = [np.where(positive, group[row], g + group[row]) for row in code]
    return [sparse.csr_array((np.ones(n), column, np.arange(n + 1)), shape=(n, 2 * g)) for column in columns]


# --- functions of all rows ------------------------------------------------------------------------------------------


def _of_rows(sample: Sample, a: str, b: str, quantity: Quantity, draws: Draws) -> Swapped:
    """Swap the rows, or their ranks, of a metric of the family ``rows``.

    The rows of both models stand one below the other, (2 n), and a swap only changes which of them weigh: those of a
    model's own that stay, and the other's that came.
    """
    units, metric, predictions = sample.units, definition(quantity), sample.predictions
    computation = metric.computation
    assert isinstance(computation, RowWise)
    outputs = {m.name: m for m in predictions.models}
    one, other = (view(predictions, outputs[name]) for name in (a, b))
    if computation.by_ranks:
        one, other = _ranked(one), _ranked(other)
    apart = _differ(one, other, metric.needs)
    below = replace(_below(one, other), mean_weight=units.mean_weight)
    (state,) = chosen_states((computation.prepare(below),), quantity, predictions)

    def of_block(swapped: Floats) -> tuple[Floats, Floats | None]:
        """Weight the rows that stay with each model and those that move to it."""
        came = units.expand(swapped)
        stayed = units.base - came
        both = [np.concatenate(pair, axis=1) for pair in ((stayed, came), (came, stayed))]
        first, second = (computation.function(state, weights) for weights in both)
        if computation.derivative is None:
            return np.asarray(first - second), None
        (own, others), (left, kept) = (
            np.split(computation.derivative(state, weights), 2, axis=1) for weights in both
        )
        return np.asarray(first - second), _errors(
            units, put_where(came > 0, others - left, out=own - kept).T
        )

    return _of_patterns(units, units.influence(apart.astype(np.float64)) != 0, draws, of_block)


def _differ(one: ModelView, other: ModelView, needs: Needs) -> npt.NDArray[np.bool_]:
    """Return the rows (n,) where the two models' outputs that a metric needs differ."""
    both = [{"scores": v.score, "probabilities": v.proba}.get(needs, v.y_pred) for v in (one, other)]
    first, second = (np.asarray(values) for values in both)
    return np.asarray((first != second).reshape(len(first), -1).any(axis=1))


def _ranked(one: ModelView) -> ModelView:
    """Replace the model's scores, and each class's probabilities, by their ranks within the model."""
    proba = one.proba
    if proba is not None:
        proba = np.column_stack([mid_ranks(column) for column in np.asarray(proba).T])
    return replace(
        one, y_pred=None, proba=proba, score=None if one.score is None else mid_ranks(one.ranked_by)
    )


def _below(one: ModelView, other: ModelView) -> ModelView:
    """Concatenate the rows of two models."""

    def both(first: Array | None, second: Array | None) -> Array | None:
        return None if first is None or second is None else np.concatenate([first, second])

    return ModelView(
        both(one.true, other.true),
        both(one.y_pred, other.y_pred),
        both(one.proba, other.proba),
        both(one.outcome, other.outcome),
        one.positive_code,
        both(one.score, other.score),
    )
