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

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import pairwise
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy import sparse

from evalreport.comparisons.registry import Swapped
from evalreport.engine import Kept, once
from evalreport.engine.counts import class_places, few_a_cell, margin_columns
from evalreport.engine.distributions import Array, dot, fair_binomial, slopes_at, zero_where_undefined
from evalreport.engine.draws import mapped, random_bytes, stream
from evalreport.engine.ranks import mid_ranks
from evalreport.metrics.estimate import Floats, Indices
from evalreport.metrics.label_estimates import LabelTables, table_function, table_slopes
from evalreport.metrics.registry import Quantity, definition
from evalreport.metrics.row_estimates import unit_columns
from evalreport.metrics.sample import Sample
from evalreport.metrics.units import Units

Key = tuple[str, str, Quantity]

MOST_ENUMERATED = 4_000
"""Swaps are enumerated exactly up to so many distinct outcomes."""

_AT_ONCE = 1 << 21
"""Influence values of swaps at once (16 MB)."""


Distribution = Callable[[], Swapped]


def swap_distributions(
    sample: Sample,
    pairs: Sequence[tuple[str, str]],
    quantities: Sequence[Quantity],
    *,
    n_swaps: Callable[[Quantity], int],
    seed: int,
    ranks: Callable[[Quantity], bool],
) -> dict[Key, Distribution]:
    """Return, for every pair and quantity that can be swapped, the function that computes its distribution.

    Parameters
    ----------
    n_swaps
        How many swaps are drawn for a quantity where they are too many to be enumerated.
    ranks
        Whether the ranks of a rank metric are swapped: that costs far more than any other test of it.
    """
    found: dict[Key, Distribution] = {}
    cells = once(partial(_cell_swaps, sample.tables, seed))
    histograms = once(partial(_rank_histograms, sample))
    moved = Kept[_Moved]()
    # The ranks of several fits have no common scale, not even within one model; those of very many rows are only
    # known by bins.
    ranked = sample.rows.layout.ranked.count == 1 and not sample.rows.many
    for a, b in pairs:
        for q in quantities:
            if not all(sample.estimates[m, q].swappable for m in (a, b)):
                continue
            family, draws = definition(q).family, n_swaps(q)
            if family in ("table", "binary_table"):
                assert sample.tables is not None
                by_cell = sample.tables.cells is not None
                found[a, b, q] = (
                    partial(_of_cells, sample, a, b, q, cells, draws)
                    if by_cell
                    else partial(_of_units, sample, a, b, q, draws, seed, moved)
                )
            elif family == "moments":
                found[a, b, q] = partial(_of_units, sample, a, b, q, draws, seed, moved)
            elif family == "ranking" and ranked and ranks(q):
                found[a, b, q] = partial(_of_ranks, sample, a, b, q, histograms, draws, seed)
    return found


def is_plain_mean(quantity: Quantity) -> bool:
    """Say whether a quantity is a mean over examples, of which exchanging is all that equality asks."""
    metric = definition(quantity)
    return metric.is_mean and metric.family == "moments"


# --- labels, by distinct cell ---------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _CellSwaps:
    """Swaps of one pair's discordant rows, by kind.

    Attributes
    ----------
    same
        Three (s,) arrays: truth, prediction and summed squares of the weights of the rows that both models label alike.
    kinds
        (3, k): truth, lower and higher class of each kind of discordant row; ``squares`` (k,) the same sums of theirs.
    with_low
        (m, k) as much of these as the rows have that get the lower class from the first model.
    weights
        The swaps' probabilities; None where they are drawn.
    discordant
        How many rows the models label differently.
    first, second
        (m, 3, K) both models' margins after each swap.
    """

    same: tuple[Indices, Indices, Floats]
    kinds: Indices
    squares: Floats
    with_low: Floats
    weights: Floats | None
    discordant: int
    first: Floats
    second: Floats


def _cell_swaps(tables: LabelTables | None, seed: int, a: str, b: str, n_swaps: int) -> _CellSwaps:
    assert tables is not None
    assert tables.cells is not None
    cells, k, true = tables.cells, tables.n_classes, tables.cells.true.astype(np.int64)
    weight = np.ones(len(cells.counts)) if cells.weight is None else cells.weight
    one, other = (cells.predicted[tables.models.index(name)].astype(np.int64) for name in (a, b))
    same, apart = one == other, (one != other) & (weight > 0)
    kept = margin_columns(true[same], one[same], k).T @ cells.weighed[same]
    # Kinds in the canonical order of their classes: what these are called moves no draw.
    place = class_places(cells)
    labels = np.sort(np.stack([place[one[apart]], place[other[apart]]]), axis=0)
    classes = np.stack([place[true[apart]], *labels])
    group, inverse = _distinct(*classes, weight[apart])
    sizes = np.bincount(inverse, weights=cells.counts[apart], minlength=len(group)).astype(np.int64)
    first_of_kind, kind = _distinct(*classes[:, group])
    kinds = np.argsort(place)[classes[:, group[first_of_kind]]]
    own = weight[apart][group]
    with_low, weights = _swapped_weights(sizes, own, kind, n_swaps, seed)
    columns_low, columns_high = (margin_columns(kinds[0], kinds[j], k) for j in (1, 2))
    totals = [np.bincount(kind, sizes * values, kinds.shape[1]).astype(float) for values in (own, own**2)]
    with_high = totals[0] - with_low[0]
    first = kept + with_low[0] @ columns_low + with_high @ columns_high
    second = kept + with_low[0] @ columns_high + with_high @ columns_low
    some, inverse = _distinct(true[same], one[same])
    squares = np.bincount(inverse, cells.counts[same] * weight[same] ** 2, len(some)).astype(float)
    return _CellSwaps(
        (true[same][some], one[same][some], squares),
        kinds,
        totals[1],
        with_low[1],
        weights,
        int(sizes.sum()),
        np.asarray(first).reshape(-1, 3, k),
        np.asarray(second).reshape(-1, 3, k),
    )


def _distinct(*columns: Array) -> tuple[Indices, Indices]:
    """Return a place of each distinct row of columns (n,), in their order, and which of them each row is."""
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
    swaps, function = cells(a, b, n_swaps), table_function(quantity, sample.predictions)
    values = [zero_where_undefined(function(margins)) for margins in (swaps.first, swaps.second)]
    differences = values[0] - values[1]
    if is_plain_mean(quantity) or not definition(quantity).smooth:
        return Swapped(differences, None, swaps.weights, swaps.discordant)
    slopes = table_slopes(quantity, sample.predictions)
    step = max(1, _AT_ONCE // (len(swaps.same[0]) + 2 * len(swaps.squares) + 1))
    # All outcomes in order are their own mirror image: swapping every row turns the sign and leaves the error.
    m, exact = len(differences), swaps.weights is not None
    half = (m + 1) // 2 if exact else m
    parts = [_squares(swaps, slopes, slice(start, min(start + step, half))) for start in range(0, half, step)]
    squares = np.concatenate(parts)
    squares = np.concatenate([squares, squares[: m - half][::-1]])
    errors = np.sqrt(sample.units.factors * squares)
    return Swapped(differences, errors, swaps.weights, swaps.discordant)


def _squares(swaps: _CellSwaps, slopes: Callable[[Floats], Floats], some: slice) -> Floats:
    """Return the sums (m,) of squared derivatives of the difference over all rows, cell by cell."""
    one, other = slopes(swaps.first[some]), slopes(swaps.second[some])
    true, labels, of_same = swaps.same
    alike = _of_rows(one, true, labels) - _of_rows(other, true, labels)
    squares = (alike * alike * of_same).sum(axis=1)
    truth, low, high = swaps.kinds
    with_low = swaps.with_low[some]
    apart = _of_rows(one, truth, low) - _of_rows(other, truth, high)
    squares += (apart * apart * with_low).sum(axis=1)
    apart = _of_rows(one, truth, high) - _of_rows(other, truth, low)
    return np.asarray(squares + (apart * apart * (swaps.squares - with_low)).sum(axis=1))


def _of_rows(slopes: Floats, true: Indices, predicted: Indices) -> Floats:
    """Return the derivative (m, r) by the weight of rows with a truth and a prediction, from slopes (m, 3, K)."""
    return np.asarray(slopes[:, 0, true] * (true == predicted) + slopes[:, 1, true] + slopes[:, 2, predicted])


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
        for own, sums in _looked_up(np.repeat(both, sizes, axis=0), rows, n_swaps, seed):
            found[:, :, own] += sums.T
        return (found[0], found[1]), None
    generator = stream(seed, "swap cells", 0)
    step = max(1, _AT_ONCE // len(sizes))
    for start in range(0, n_swaps, step):
        some = found[:, start : start + step]
        draws = generator.binomial(sizes, 0.5, size=(some.shape[1], len(sizes)))
        some[...] = _by_kind(draws, both, starts)
    return (found[0], found[1]), None


def _by_kind(numbers: Array, values: Floats, starts: Indices) -> tuple[Floats, Floats]:
    """Add up numbers (m, g) times two columns of values (g, 2) by kind, of which each begins at a start, (m, k)."""
    one, other = (np.add.reduceat(numbers * column, starts, axis=1) for column in values.T)
    return one, other


# --- sums, by unit --------------------------------------------------------------------------------------------------


def swap_patterns(
    units: Units, n_swaps: int, seed: int, discordant: npt.NDArray[np.bool_] | None = None
) -> tuple[Iterator[Floats], Floats | None]:
    """Return blocks (b, units) of 0 and 1, which units change sides, and the patterns' probabilities if exact.

    ``discordant``: (units,) which units change anything when they change sides; the others need not be enumerated.
    """
    which = np.arange(units.count) if discordant is None else np.flatnonzero(discordant)
    if len(which) < 60 and 2 ** len(which) <= max(MOST_ENUMERATED, n_swaps + 1):
        return _every_pattern(which, units.count), np.full(2 ** len(which), 0.5 ** len(which))
    return units.unit_swaps(n_swaps, seed=seed), None


def _every_pattern(which: Indices, count: int) -> Iterator[Floats]:
    step = max(1, _AT_ONCE // max(count, 1))
    for start in range(0, 2 ** len(which), step):
        numbers = np.arange(start, min(start + step, 2 ** len(which)))
        patterns = np.zeros((len(numbers), count))
        patterns[:, which] = (numbers[:, None] >> np.arange(len(which))) & 1
        yield patterns


def _of_units(
    sample: Sample, a: str, b: str, quantity: Quantity, n_swaps: int, seed: int, moved: Kept[_Moved]
) -> Swapped:
    """Swap rows, or whole clusters, of which each adds its columns (parts p) to one of the models' sums.

    ``moved`` holds what swaps move, for quantities of the same columns.
    """
    function, shape, (one, other) = _columns(sample, quantity, (a, b))

    def after(sums: Sequence[Floats], moved: Floats) -> list[Floats]:
        return [(total + side * moved).reshape(-1, *shape) for total, side in zip(sums, (1, -1), strict=True)]

    def of_points(points: Sequence[Floats]) -> Floats:
        first, second = (np.asarray(function(point)).mean(axis=1) for point in points)
        return np.asarray(first - second)

    if is_plain_mean(quantity) or not definition(quantity).smooth:
        columns = a, b, definition(quantity).columns, n_swaps
        found = moved.get(columns, partial(_moved, one, other, sample.units, n_swaps, seed))
        return Swapped(of_points(after(found.sums, found.moved)), None, found.weights, found.discordant)
    change, sums = _change(one, other)
    discordant = np.diff(change.indptr) > 0
    patterns, weights = swap_patterns(sample.units, n_swaps, seed, discordant)
    differences, squares = [], []
    for swapped in patterns:
        points = after(sums, np.asarray(swapped @ change))
        differences.append(of_points(points))
        slopes = [
            slopes_at(function, point, len(shape) - 1).reshape(len(swapped), -1) / shape[0]
            for point in points
        ]
        squares.append(_unit_squares(slopes, (one, other), swapped, sample.units.factors))
    errors = np.sqrt(np.concatenate(squares))
    return Swapped(np.concatenate(differences), errors, weights, int(discordant.sum()))


@dataclass(frozen=True, slots=True)
class _Moved:
    """Both models' sums (p,), and what each swap moves from the second's to the first's, (b, p)."""

    sums: list[Floats]
    moved: Floats
    weights: Floats | None
    discordant: int


def _change(one: sparse.csr_array, other: sparse.csr_array) -> tuple[sparse.csr_array, list[Floats]]:
    """Return what each unit adds to the first model's sums if it changes sides, (units, p), and both sums (p,)."""
    change = sparse.csr_array(other - one)
    change.eliminate_zeros()
    change.sort_indices()
    return change, [np.asarray(table.sum(axis=0)).ravel() for table in (one, other)]


def _moved(one: sparse.csr_array, other: sparse.csr_array, units: Units, n_swaps: int, seed: int) -> _Moved:
    change, sums = _change(one, other)
    discordant = np.diff(change.indptr) > 0
    patterns, weights = swap_patterns(units, n_swaps, seed, discordant)
    if weights is None:
        moved = swapped_sums(change, n_swaps, seed)
    else:
        moved = np.concatenate([np.asarray(swapped @ change) for swapped in patterns])
    return _Moved(sums, moved, weights, int(discordant.sum()))


_TABLES = 64
"""Tables of eight units' sums looked up at once, so that they stay in the processor's cache."""

_MOST_FOURTH_POWERS = 1 / 128
"""Where the fourth powers of a sum's parts add up to no more, its variance being 1, the sum is drawn as normal.

Its excess kurtosis is -2 times that: the distribution function is right to 0.0004 (Edgeworth's next term), a tenth of
the Monte Carlo error of 2,000 swaps.
"""
_MANY_UNITS = 512
"""Of so many units of which half differ in size a sum takes so many values that the steps between them, too, are below
0.0004: on a lattice of span d the standard deviation is 1,000 d at least. Twice as many are looked at."""


def swapped_sums(change: sparse.csr_array, n_swaps: int, seed: int) -> Floats:
    """Return the sums (b, p) of the rows of a table (units, p) that change sides in each of b random swaps.

    Units that add to the same columns are taken together. The sum of many is normal, with their exact mean and
    covariance. Few are taken eight at a time: a byte of random bits says which of them swap, and their sum is looked
    up among the 256 possible ones.
    """
    filled = np.flatnonzero(np.diff(change.indptr))
    found = np.zeros((n_swaps, change.shape[1]))
    for k in np.unique(np.diff(change.indptr)[filled]).tolist():
        rows = filled[np.diff(change.indptr)[filled] == k]
        entries = change.indptr[rows][:, None] + np.arange(k)
        columns, pattern = _patterns(change.indices[entries])
        values = change.data[entries[np.argsort(pattern, kind="stable")]]
        sizes = np.bincount(pattern)
        ends, few = np.cumsum(sizes), np.ones(len(sizes), dtype=np.bool_)
        for own in np.flatnonzero(sizes >= _MANY_UNITS).tolist():
            units = values[ends[own] - sizes[own] : ends[own]]
            root = _root_of_products(units)
            if root is not None:
                normal = stream(seed, f"swap many units, {k} columns", own).standard_normal(
                    (n_swaps, len(root))
                )
                found[:, columns[own]] += (units.sum(axis=0) + np.einsum("br,rk->bk", normal, root)) / 2
                few[own] = False
        left = np.flatnonzero(few)
        for own, sums in _looked_up(values[np.repeat(few, sizes)], sizes[few], n_swaps, seed):
            found[:, columns[left[own]]] += sums
    return found


def _root_of_products(values: Floats) -> Floats | None:
    """Return R (r, k) whose R' R are the sums of products of columns (m, k); None where their sums are not normal.

    They are not where few rows make much of them, or where a column has few values, as losses of 0 and 1 have: but a
    column of ones counts rows, and is smooth beside others. Of any combination of the columns the fourth powers add
    up to at most the greatest leverage of a row, and to at most the sum of squared leverages. Gram and Schmidt's way,
    since LAPACK's last digits depend on the processor.
    """
    sizes = np.abs(values)
    scale, some = sizes.max(axis=0), sizes[: 2 * _MANY_UNITS]
    kinds = np.array([len(np.unique(column)) for column in some.T])
    if not np.isfinite(scale).all() or kinds.max() == 1 or (kinds[kinds > 1] < len(some) / 2).any():
        return None
    scaled = (values / scale).T
    left, root = scaled.copy(), []
    leverage = np.zeros(len(values))
    for whole, column in zip(scaled, left, strict=True):
        size = math.sqrt(dot(column, column))
        if size > 1e-10 * math.sqrt(dot(whole, whole)):
            unit = column / size
            slopes = np.einsum("km,m->k", left, unit)
            left -= slopes[:, None] * unit
            leverage += unit * unit
            root.append(slopes * scale)
    fourth_powers = min(float(leverage.max()), dot(leverage, leverage))
    return np.array(root) if fourth_powers <= _MOST_FOURTH_POWERS else None


def _looked_up(values: Floats, sizes: Indices, n_swaps: int, seed: int) -> Iterator[tuple[int, Floats]]:
    """Yield the sums (b, k) of those units (m, k) that swap, by pattern, of which each has so many, in order."""
    eights = -(-sizes // 8)
    # Every pattern's units begin a new table of eight; what is missing of its last one adds nothing.
    first = 8 * (np.cumsum(eights) - eights) - (np.cumsum(sizes) - sizes)
    padded = np.zeros((int(eights.sum()) * 8, values.shape[1]))
    padded[np.arange(len(values)) + np.repeat(first, sizes)] = values
    owner = np.repeat(np.arange(len(sizes)), eights)
    of_tables = partial(_of_tables, padded.reshape(-1, 8, values.shape[1]), owner, n_swaps, seed)
    for sums in mapped(of_tables, range(0, len(owner), _TABLES)):
        yield from sums


def _of_tables(
    values: Floats, owner: Indices, n_swaps: int, seed: int, start: int
) -> list[tuple[int, Floats]]:
    """Return the sums (b, k) of those units (m, 8, k) of some tables that swap, by the pattern they have."""
    some = owner[start : start + _TABLES]
    generator = stream(seed, f"swap units by eights, {values.shape[2]} columns", start)
    drawn = random_bytes(generator, len(some) * n_swaps).reshape(-1, n_swaps)
    looked_up = _sums_of_eights(values[start : start + len(some)], drawn)
    ends = [0, *(np.flatnonzero(some[1:] != some[:-1]) + 1).tolist(), len(some)]
    return [(int(some[begin]), looked_up[begin:end].sum(axis=0)) for begin, end in pairwise(ends)]


def _patterns(columns: npt.NDArray[np.integer[Any]]) -> tuple[Indices, Indices]:
    """Return the distinct rows of a table (m, k) of column numbers in order, and which of them each row is."""
    codes = np.zeros(len(columns), dtype=np.int64)
    for column in columns.T:
        codes = codes * (int(column.max()) + 1) + column
        # Numbered anew after each column, so that no product of their numbers is too large.
        if codes.max() < len(codes):
            codes = (np.cumsum(np.bincount(codes) > 0) - 1)[codes]
        else:
            codes = np.unique(codes, return_inverse=True)[1]
    first = np.zeros(int(codes.max()) + 1, dtype=np.int64)
    first[codes[::-1]] = np.arange(len(codes))[::-1]
    return columns[first].astype(np.int64), codes.astype(np.int16 if len(first) < 1 << 15 else np.int64)


def _sums_of_eights(values: Floats, drawn: npt.NDArray[np.uint8]) -> Floats:
    """Look up the sums (m, b, k) of those of eight rows each, (m, 8, k), whose bits are set in bytes (m, b)."""
    m, _, k = values.shape
    # All tables side by side, so that the inner loops are long.
    eights = np.ascontiguousarray(values.swapaxes(0, 1))
    table = np.zeros((256, m, k))
    for bit in range(8):
        np.add(table[: 1 << bit], eights[bit], out=table[1 << bit : 2 << bit])
    place = drawn * np.uint16(m) + np.arange(m, dtype=np.uint16)[:, None]
    return table.reshape(256 * m, k).take(place, axis=0)


def _columns(
    sample: Sample, quantity: Quantity, models: tuple[str, str]
) -> tuple[Callable[[Array], Array], tuple[int, ...], list[sparse.csr_array]]:
    """Return a quantity as a function of sums, their shape (parts, ...), and what each unit adds to them by model."""
    metric, tables = definition(quantity), sample.tables
    if metric.family == "moments":
        data = sample.rows
        columns = [unit_columns(data.columns[name, quantity], data.units, data.layout) for name in models]
        parts = data.layout.pooled.count
        return metric.function, (parts, columns[0].shape[1] // parts), columns
    assert tables is not None
    of_margins = table_function(quantity, sample.predictions)
    places = [tables.models.index(name) for name in models]
    return (
        lambda margins: zero_where_undefined(of_margins(margins)),
        (tables.parts, 3, tables.n_classes),
        [tables.columns[place] for place in places],
    )


def _unit_squares(
    slopes: Sequence[Floats],
    columns: tuple[sparse.csr_array, sparse.csr_array],
    swapped: Floats,
    factors: Floats | float,
) -> Floats:
    """Return the sums (b,) of squared derivatives of the difference by a unit's multiplicity, times their factors."""
    found = np.empty(len(swapped))
    step = max(1, _AT_ONCE // max(swapped.shape[1], 1))
    for start in range(0, len(swapped), step):
        some = slice(start, start + step)
        own, crossed = (
            (columns[j] @ slopes[0][some].T - columns[1 - j] @ slopes[1][some].T).T for j in (0, 1)
        )
        found[some] = (factors * np.where(swapped[some] > 0, crossed, own) ** 2).sum(axis=1)
    return found


# --- ranks ----------------------------------------------------------------------------------------------------------


def _of_ranks(
    sample: Sample,
    a: str,
    b: str,
    quantity: Quantity,
    histograms: Callable[[], Mapping[str, sparse.csr_array]],
    n_swaps: int,
    seed: int,
) -> Swapped:
    units, metric = sample.units, definition(quantity)
    tables = [histograms()[name] for name in (a, b)]
    places = [table.indices for table in tables]
    sums = [np.asarray(table.T @ units.base)[:, None] for table in tables]
    discordant = units.influence((places[0] != places[1]).astype(np.float64)) != 0
    patterns, weights = swap_patterns(units, n_swaps, seed, discordant)
    differences: list[Floats] = []
    squares: list[float] = []
    for swapped in patterns:
        by_row = np.ascontiguousarray(units.expand(swapped).T)
        moved = np.asarray(tables[1].T @ by_row) - np.asarray(tables[0].T @ by_row)
        first, second = sums[0] + moved, sums[1] - moved
        g = len(moved) // 2
        differences.append(
            np.asarray(metric.function(first[:g], first[g:]) - metric.function(second[:g], second[g:]))
        )
        if metric.derivative is not None:
            rows = swapped if units.cluster is None else swapped[:, units.cluster]
            squares += [
                _rank_squares(metric.derivative, (first[:, j], second[:, j]), places, units, rows[j] > 0)
                for j in range(len(rows))
            ]
    errors = None if metric.derivative is None else np.sqrt(np.array(squares))
    return Swapped(np.concatenate(differences), errors, weights, int(discordant.sum()))


def _rank_squares(
    derivative: Callable[[Floats, Floats], tuple[Floats, Floats]],
    weights: tuple[Floats, Floats],
    places: Sequence[Array],
    units: Units,
    swapped: npt.NDArray[np.bool_],
) -> float:
    """Return the sum of squared derivatives of the difference by a unit's multiplicity, times their factors."""
    g = len(weights[0]) // 2
    slopes = [np.concatenate(derivative(w[:g], w[g:])) for w in weights]
    first = np.where(swapped, places[1], places[0])
    second = np.where(swapped, places[0], places[1])
    by_unit = units.influence(slopes[0][first] - slopes[1][second])
    return float((units.factors * by_unit**2).sum())


def _rank_histograms(sample: Sample) -> Mapping[str, sparse.csr_array]:
    """Return, by model, (n, 2 g) one-hot columns of each row's mid-rank, best first: positives, then negatives.

    Ranks that no positive of any model holds are merged with their neighbours: only the order of negatives
    relative to positives counts, so AUC and AP do not change, and the work is that of the rarer class.
    """
    names = sorted(sample.rows.orders)
    scores = {m.name: m.score for m in sample.predictions.models}
    positive = sample.rows.orders[names[0]][0].positive
    ranks = np.stack([-mid_ranks(np.asarray(scores[name])) for name in names])
    distinct, code = np.unique(ranks, return_inverse=True)
    code = code.reshape(ranks.shape)
    alone = np.zeros(len(distinct), dtype=bool)
    alone[code[:, positive]] = True
    starts = alone | np.concatenate([[True], alone[:-1]])
    group = np.cumsum(starts) - 1
    g, n = int(group[-1]) + 1, len(positive)
    return {
        name: sparse.csr_array(
            (np.ones(n), np.where(positive, group[row], g + group[row]), np.arange(n + 1)), shape=(n, 2 * g)
        )
        for name, row in zip(names, code, strict=True)
    }
