"""Swaps of units (rows or clusters) between two models, for quantities that are functions of sums."""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import chain, pairwise

import numpy as np
import numpy.typing as npt
from scipy import sparse

from evalreport.comparisons.registry import Swapped
from evalreport.engine.distributions import (
    Array,
    Pieces,
    column_sums,
    dot,
    parts_of,
    rounded_sums,
    slopes_at,
    sparse_rows,
    zero_where_undefined,
)
from evalreport.engine.draws import stream
from evalreport.engine.parallel import mapped
from evalreport.metrics.metric import Moments
from evalreport.metrics.registry import Quantity, definition
from evalreport.metrics.replicates import unit_columns
from evalreport.metrics.sample import Sample
from evalreport.metrics.table_functions import table_function
from evalreport.predictions.arrays import Floats, Indices
from evalreport.samplings import Sampling

MOST_ENUMERATED = 4_000
"""The most distinct outcomes for which swaps are enumerated exactly."""

AT_ONCE = 1 << 21
"""Influence values of swaps at once (16 MB)."""


def swap_patterns(
    units: Sampling, n_swaps: int, seed: int, discordant: npt.NDArray[np.bool_] | None = None
) -> tuple[Iterator[Floats], Floats | None]:
    """Return blocks (b, units) of 0 and 1, which units change sides, and the patterns' probabilities if exact.

    ``discordant``: (units,) which units change anything when they change sides; the others need not be enumerated.
    """
    which = np.arange(units.count) if discordant is None else np.flatnonzero(discordant)
    if len(which) < 60 and 2 ** len(which) <= max(MOST_ENUMERATED, n_swaps + 1):
        return _every_pattern(which, units.count), np.full(2 ** len(which), 0.5 ** len(which))
    return units.unit_swaps(n_swaps, seed=seed), None


def _every_pattern(which: Indices, count: int) -> Iterator[Floats]:
    step = max(1, AT_ONCE // max(count, 1))
    for start in range(0, 2 ** len(which), step):
        numbers = np.arange(start, min(start + step, 2 ** len(which)))
        patterns = np.zeros((len(numbers), count))
        patterns[:, which] = (numbers[:, None] >> np.arange(len(which))) & 1
        yield patterns


def is_plain_mean(quantity: Quantity) -> bool:
    """Say whether a quantity is a mean over examples, for which equality implies that they can be exchanged."""
    metric = definition(quantity)
    return metric.is_mean and isinstance(metric.computation, Moments)


def of_units(
    sample: Sample, a: str, b: str, quantity: Quantity, n_swaps: int, seed: int, moved: dict[Hashable, Moved]
) -> Swapped:
    """Swap rows, or whole clusters: each adds its columns (parts p) to one of the models' sums.

    ``moved`` holds what swaps move, for quantities of the same columns.
    """
    function, shape, (one, other) = _columns(sample, quantity, (a, b))

    def after(sums: Sequence[Floats], moved: Floats) -> list[Floats]:
        return [(total + side * moved).reshape(-1, *shape) for total, side in zip(sums, (1, -1), strict=True)]

    def of_points(points: Sequence[Floats]) -> Floats:
        first, second = (np.asarray(function(point)).mean(axis=1) for point in points)
        return np.asarray(first - second)

    def slopes_of(points: Sequence[Floats]) -> list[Floats]:
        found = (slopes_at(function, point, len(shape) - 1) / shape[0] for point in points)
        return [slopes.reshape(len(slopes), -1) for slopes in found]

    studentised = definition(quantity).inference.smooth and not is_plain_mean(quantity)
    # Of labels many swaps are as far out as the observed one: no rounding may tell these apart.
    computation = definition(quantity).computation
    if not studentised or isinstance(computation, Moments):
        columns = computation.columns if isinstance(computation, Moments) else None
        key = a, b, columns, n_swaps, studentised
        if key not in moved:
            moved[key] = _moved(one, other, shape if studentised else None, sample.units, n_swaps, seed)
        found = moved[key]
        points = after(found.sums, found.moved)
        errors = None if found.products is None else np.sqrt(found.products.squares(slopes_of(points)))
        if not studentised or errors is not None:
            return Swapped(of_points(points), errors, found.weights, found.discordant)
    change, sums = _change(one, other)
    discordant = np.diff(change.indptr) > 0
    patterns, weights = swap_patterns(sample.units, n_swaps, seed, discordant)
    differences, squares = [], []
    for swapped in patterns:
        points = after(sums, np.asarray(swapped @ change))
        differences.append(of_points(points))
        squares.append(_unit_squares(slopes_of(points), (one, other), swapped, sample.units.factors))
    errors = np.sqrt(np.concatenate(squares))
    return Swapped(np.concatenate(differences), errors, weights, int(discordant.sum()))


_MOST_PRODUCTS = 32
"""The most sums of products of columns that are kept; beyond it the units themselves cost less."""

_ROUNDING = 1e-13
"""A sum of squares that is this share of the terms it is the difference of is 0."""


@dataclass(frozen=True, slots=True)
class Products:
    """Sums of products from which the errors of swaps follow without single units.

    A unit adds s + d to one model's sums and s - d to the other's; where it changes sides d turns its sign. With g1 and
    g2 the slopes of the quantity at both sums the derivative of the difference by the unit is s (g1 - g2) + d (g1 +
    g2), so that a swap changes the sum of squares by the products of s with d alone.

    Attributes
    ----------
    swapped
        (b, c + p c) what swapped units add: to the c sums that change, and to the products of all p with these.
    changing
        (c,) which of the sums change.
    middle, apart, crossed
        (p, p), (c, c) and (p, c) sums over the units of s s', d d' and s d' before anything is swapped.
    """

    swapped: Floats
    changing: Indices
    middle: Floats
    apart: Floats
    crossed: Floats

    @classmethod
    def of(
        cls,
        columns: Sequence[sparse.csr_array],
        change: sparse.csr_array,
        shape: tuple[int, ...],
        factors: Floats | float,
        sums_of: Callable[[sparse.csr_array], Floats],
    ) -> Products | None:
        """Sum the products of the units' contributions, times the units' factors; None where there are too many.

        ``sums_of`` gives the sums (b, k) of those rows of a table (units, k) that each swap takes.
        """
        p, changing = change.shape[1], np.unique(change.indices).astype(np.int64)
        if shape[0] > 1 or p * len(changing) > _MOST_PRODUCTS:
            return None
        units = np.flatnonzero(np.diff(change.indptr))
        middle = (columns[0] + columns[1]).toarray() / 2
        moved = change.toarray()[:, changing]
        weighted = middle * np.broadcast_to(np.asarray(factors), len(middle))[:, None]
        products = (weighted[units, :, None] * moved[units, None, :]).reshape(len(units), -1)
        apart = moved / 2
        factor = np.broadcast_to(np.asarray(factors), len(middle))
        return cls(
            sums_of(sparse_rows(np.concatenate([moved[units], products], axis=1))),
            changing,
            np.einsum("up,uq->pq", weighted, middle),
            np.einsum("u,uc,ud->cd", factor, apart, apart),
            -np.einsum("up,uc->pc", weighted, apart),
        )

    @property
    def moved(self) -> Floats:
        """The amounts that swaps move from the second model's sums to the first's, (b, p)."""
        found = np.zeros((len(self.swapped), len(self.middle)))
        found[:, self.changing] = self.swapped[:, : len(self.changing)]
        return found

    def squares(self, slopes: Sequence[Floats]) -> Floats:
        """Return the sums (b,) of squared derivatives of the difference, from both models' slopes (b, p)."""
        p, c = self.crossed.shape
        down, up = slopes[0] - slopes[1], (slopes[0] + slopes[1])[:, self.changing]
        crossed = self.crossed + self.swapped[:, c:].reshape(-1, p, c)

        def added(turn: Callable[[Floats], Floats]) -> Floats:
            one, other = turn(down), turn(up)
            return np.asarray(
                np.einsum("bp,pq,bq->b", one, turn(self.middle), one)
                + np.einsum("bc,cd,bd->b", other, turn(self.apart), other)
                + 2 * np.einsum("bp,bpc,bc->b", one, turn(crossed), other)
            )

        found = added(np.positive)
        return np.where(found > _ROUNDING * added(np.abs), found, 0.0)


@dataclass(frozen=True, slots=True)
class Moved:
    """Both models' sums (p,), the amount each swap moves from the second's to the first's, (b, p), and its error.

    ``products``: None where no errors are asked for, or where they follow from single units.
    """

    sums: list[Floats]
    moved: Floats
    weights: Floats | None
    discordant: int
    products: Products | None = None


EQUAL = 1e-12
"""Numbers of the two models that agree to this share of the largest are equal: the rest is rounding."""


def _change(one: sparse.csr_array, other: sparse.csr_array) -> tuple[sparse.csr_array, list[Floats]]:
    """Return each unit's change of the first model's sums if it changes sides, (units, p), and both sums (p,)."""
    change = sparse.csr_array(other - one)
    # Equal numbers may differ by rounding, which would make a unit that changes nothing one more to swap.
    largest = np.maximum(*(abs(table).max(axis=0).toarray().ravel() for table in (one, other)))
    change.data[np.abs(change.data) <= EQUAL * largest[change.indices]] = 0.0
    change.eliminate_zeros()
    change.sort_indices()
    return change, [np.asarray(table.sum(axis=0)).ravel() for table in (one, other)]


def _moved(
    one: sparse.csr_array,
    other: sparse.csr_array,
    studentised: tuple[int, ...] | None,
    units: Sampling,
    n_swaps: int,
    seed: int,
) -> Moved:
    """Draw the sums moved by each swap, with standard errors where the shape of the sums is given."""
    change, sums = _change(one, other)
    discordant = np.diff(change.indptr) > 0
    patterns, weights = swap_patterns(units, n_swaps, seed, discordant)
    n, sums_of = int(discordant.sum()), partial(swapped_sums, n_swaps=n_swaps, seed=seed)
    if weights is None and studentised is not None:
        products = Products.of((one, other), change, studentised, units.factors, sums_of)
        return Moved(
            sums, np.zeros((0, len(sums[0]))) if products is None else products.moved, None, n, products
        )
    if studentised is not None:
        return Moved(sums, np.zeros((0, len(sums[0]))), weights, n)
    if weights is None:
        return Moved(sums, sums_of(change), None, n)
    return Moved(sums, np.concatenate([np.asarray(swapped @ change) for swapped in patterns]), weights, n)


_EIGHTS = 64
"""Eights of units whose sums are taken at once, so that their bits stay in the processor's cache."""

_MOST_FOURTH_POWERS = 1 / 128
"""Where the fourth powers of a sum's parts add up to no more, its variance being 1, the sum is drawn as normal.

Its excess kurtosis is -2 times that: the distribution function is right to 0.0004 (Edgeworth's next term), a tenth of
the Monte Carlo error of 2,000 swaps.
"""
_SHARE_ALONE = 64
"""One unit in so many, those of the greatest leverage, may swap by bits of their own while the rest is normal."""

_MANY_UNITS = 512
"""With this many units, half of unlike sizes, a sum takes so fine a grid of values that its steps, too, are below
0.0004: on a lattice of span d the standard deviation is 1,000 d at least. Twice as many are looked at."""


def swapped_sums(change: sparse.csr_array, n_swaps: int, seed: int) -> Floats:
    """Return the sums (b, p) of the rows of a table (units, p) that change sides in each of b random swaps.

    Units that add to the same columns are taken together. The sum of many is normal, with their exact mean and
    covariance. Few are added up by the random bits that say which of them swap.
    """
    filled = np.diff(change.indptr)
    found = np.zeros((n_swaps, change.shape[1]))
    for k in np.flatnonzero(np.bincount(filled)[1:]) + 1:
        alike = change[np.flatnonzero(filled == k)]
        columns, pattern = _patterns(alike.indices.reshape(-1, k))
        values = alike.data.reshape(-1, k).take(np.argsort(pattern, kind="stable"), axis=0)
        sizes = np.bincount(pattern)
        ends, singly = np.cumsum(sizes), np.ones(len(values), dtype=np.bool_)
        for own in np.flatnonzero(sizes >= _MANY_UNITS).tolist():
            its_rows = slice(ends[own] - sizes[own], ends[own])
            units = values[its_rows]
            normal = _normal_part(units)
            if normal is not None:
                many, root = normal
                drawn = stream(seed, f"swap many units, {k} columns", own).standard_normal(
                    (n_swaps, len(root))
                )
                middle = units[many].sum(axis=0)
                found[:, columns[own]] += (middle + np.einsum("br,rk->bk", drawn, root)) / 2
                singly[its_rows] = ~many
        numbers = np.bincount(np.repeat(np.arange(len(sizes)), sizes)[singly], minlength=len(sizes))
        left = np.flatnonzero(numbers)
        for own, sums in sums_by_bits(values[singly], numbers[left], n_swaps, seed):
            found[:, columns[left[own]]] += sums
    return found


def _normal_part(values: Floats) -> tuple[npt.NDArray[np.bool_], Floats] | None:
    """Return which units (m, k) have sums that are normal, all or all but the few of greatest leverage, and their root.

    None where neither has.
    """
    kept, own, factors = _proportional(values)
    columns = np.ascontiguousarray(values.T[kept])
    many = np.ones(len(values), dtype=np.bool_)
    found = _root_of_products(columns)
    if found is not None and not _is_normal(found[1]):
        few = len(values) // _SHARE_ALONE
        many[np.argpartition(found[1], -few)[-few:]] = False
        found = _root_of_products(np.ascontiguousarray(columns[:, many]))
    if found is None or not _is_normal(found[1]):
        return None
    return many, found[0][:, own] * factors


def _is_normal(leverage: Floats) -> bool:
    """Say whether sums are normal, from the rows' leverages (m,).

    Of any combination of the columns the fourth powers add up to at most the greatest leverage, and to at most the
    sum of squared leverages.
    """
    return min(float(leverage.max()), dot(leverage, leverage)) <= _MOST_FOURTH_POWERS


def _root_of_products(columns: Floats) -> tuple[Floats, Floats] | None:
    """Return R (r, k) whose R' R are the sums of products of columns (k, m), and each row's leverage (m,).

    None where a column has few values, as losses of 0 and 1 have: but a column of ones counts rows, and is smooth
    beside others. Gram and Schmidt's way, since LAPACK's last digits depend on the processor.
    """
    sizes = np.abs(columns)
    scale, some = sizes.max(axis=1), sizes[:, : 2 * _MANY_UNITS]
    kinds = np.array([len(np.unique(column)) for column in some])
    if not np.isfinite(scale).all() or kinds.max() == 1 or (kinds[kinds > 1] < some.shape[1] / 2).any():
        return None
    scaled = columns / scale[:, None]
    left, root = scaled.copy(), []
    leverage = np.zeros(columns.shape[1])
    for j, (whole, column) in enumerate(zip(scaled, left, strict=True)):
        size = math.sqrt(dot(column, column))
        if size > 1e-10 * math.sqrt(dot(whole, whole)):
            unit, slopes = column / size, np.zeros(len(columns))
            slopes[j:] = np.einsum("km,m->k", left[j:], unit)
            left[j + 1 :] -= slopes[j + 1 :, None] * unit
            leverage += unit * unit
            root.append(slopes * scale)
    return np.array(root), leverage


def sums_by_bits(values: Floats, sizes: Indices, n_swaps: int, seed: int) -> Iterator[tuple[int, Floats]]:
    """Yield the sums (b, k) of the units (m, k) that swap, by pattern in order, given each pattern's number."""
    kept, own, factors = _proportional(values)
    eights = -(-sizes // 8)
    # Every pattern's units begin a new byte; what is missing of its last one adds nothing.
    first = 8 * (np.cumsum(eights) - eights) - (np.cumsum(sizes) - sizes)
    padded = np.zeros((len(kept), int(eights.sum()) * 8))
    padded[:, np.arange(len(values)) + np.repeat(first, sizes)] = values.T[kept]
    columns = [Pieces.of(column) for column in padded]
    owner = np.repeat(np.arange(len(sizes)), eights)
    purpose = f"swap units by eights, {values.shape[1]} columns"
    of_eights = partial(_of_eights, columns, owner, n_swaps, seed, purpose)
    parts: Floats | None = None
    before = 0
    for pattern, added in chain.from_iterable(mapped(of_eights, range(0, len(owner), _EIGHTS))):
        if parts is not None and pattern != before:
            yield before, rounded_sums(columns, parts)[:, own] * factors
            parts = None
        parts, before = added if parts is None else parts + added, pattern
    if parts is not None:
        yield before, rounded_sums(columns, parts)[:, own] * factors


def _of_eights(
    columns: Sequence[Pieces], owner: Indices, n_swaps: int, seed: int, purpose: str, start: int
) -> list[tuple[int, Floats]]:
    """Return the sums (q, b) of the whole numbers of those units of some eights that swap, by their pattern."""
    some = owner[start : start + _EIGHTS]
    drawn = stream(seed, purpose, start).integers(0, 256, size=(len(some), 1, n_swaps), dtype=np.uint8)
    bits = ((drawn >> np.arange(8, dtype=np.uint8)[:, None]) & 1).reshape(-1, n_swaps)
    whole = [numbers[8 * start : 8 * (start + len(some))] for column in columns for numbers in column.whole]
    ends = [0, *(np.flatnonzero(some[1:] != some[:-1]) + 1).tolist(), len(some)]
    return [
        (int(some[a]), column_sums([numbers[8 * a : 8 * b] for numbers in whole], bits[8 * a : 8 * b]))
        for a, b in pairwise(ends)
    ]


def _proportional(values: Floats) -> tuple[list[int], list[int], Floats]:
    """Find columns of (m, k) that are multiples of earlier ones, as many products of columns are.

    Returns
    -------
    kept, own, factors
        The columns that are none, and of each column (k,) which of these it is a multiple of, and by what.
    """
    columns = np.ascontiguousarray(values.T)
    largest = np.abs(columns).argmax(axis=1) if len(values) else np.zeros(len(columns), dtype=np.int64)
    kept: list[int] = []
    own, factors = [], []
    for j, column in enumerate(columns):
        size = np.abs(column).max(initial=0.0)
        for place, i in enumerate(kept):
            factor = column[largest[i]] / columns[i, largest[i]] if size else 0.0
            apart = (np.abs(column[rows] - factor * columns[i, rows]).max() for rows in parts_of(column))
            if all(part <= EQUAL * size for part in apart):
                own.append(place)
                factors.append(float(factor))
                break
        else:
            own.append(len(kept))
            factors.append(1.0)
            kept.append(j)
    return kept, own, np.array(factors)


def _patterns(columns: Indices) -> tuple[Indices, Indices]:
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


def _columns(
    sample: Sample, quantity: Quantity, models: tuple[str, str]
) -> tuple[Callable[[Array], Array], tuple[int, ...], list[sparse.csr_array]]:
    """Return a quantity as a function of sums, their shape (parts, ...), and each unit's contribution by model."""
    metric, tables = definition(quantity), sample.tables
    if isinstance(metric.computation, Moments):
        data = sample.rows
        columns = [unit_columns(data.columns[name, quantity], data.units, data.layout) for name in models]
        parts = data.layout.pooled.count
        return metric.computation.function, (parts, columns[0].shape[1] // parts), columns
    assert tables is not None
    of_margins = table_function(quantity, sample.predictions)
    positions = [tables.models.index(name) for name in models]
    return (
        lambda margins: zero_where_undefined(of_margins(margins)),
        (tables.parts, 3, tables.n_classes),
        [tables.columns[position] for position in positions],
    )


def _unit_squares(
    slopes: Sequence[Floats],
    columns: tuple[sparse.csr_array, sparse.csr_array],
    swapped: Floats,
    factors: Floats | float,
) -> Floats:
    """Return the sums (b,) of squared derivatives of the difference by a unit's multiplicity, times their factors.

    They are those of ``Products``: s (g1 - g2) + d (g1 + g2), d with its sign turned for what changes sides.
    """
    middle, apart = (columns[0] + columns[1]) / 2, (columns[0] - columns[1]) / 2
    apart.eliminate_zeros()
    differing = np.flatnonzero(np.diff(apart.indptr))
    apart, weights = apart[differing], np.broadcast_to(factors, middle.shape[0])
    found = np.empty(len(swapped))
    step = max(1, AT_ONCE // max(swapped.shape[1], 1))
    for start in range(0, len(swapped), step):
        some = slice(start, start + step)
        one, other = slopes[0][some], slopes[1][some]
        by_unit = middle @ (one - other).T
        by_unit[differing] += (1 - 2 * swapped[some][:, differing].T) * (apart @ (one + other).T)
        found[some] = np.einsum("ub,ub,u->b", by_unit, by_unit, weights)
    return found
