"""Estimates that need rows: means of losses, rank metrics, and what only a function of all rows can express.

Their replicates follow from the rows, prepared once, or from histograms of scores where there are many.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import combinations, pairwise
from typing import Any

import numpy as np
from scipy import sparse

from evalreport.engine.binned import (
    NEGLIGIBLE_SHARE,
    Bins,
    BinWeights,
    Cells,
    CodeSums,
    Slopes,
    bin_weights,
    by_row,
    few_at_a_time,
    shares,
    slopes_of,
)
from evalreport.engine.distributions import (
    Columns,
    Pieces,
    Whole,
    column_sums,
    column_totals,
    combined,
    dot,
    gradient,
    piece_sums,
    weighted_sums,
    whole_numbers,
)
from evalreport.engine.draws import Tile, in_floats, of_row_bytes, tiles_of
from evalreport.engine.parallel import mapped
from evalreport.engine.ranks import Order, group_weights
from evalreport.metrics.estimate import Estimate, Floats, Indices, undefined, value_range
from evalreport.metrics.metric import Moments, Ranks, RowWise
from evalreport.metrics.registry import Quantity, definition
from evalreport.metrics.units import Layout, Parts, Units, by_seed
from evalreport.predictions.table import Predictions
from evalreport.texts import Message, Text

Key = tuple[str, Quantity]

MOST_EXACT_ROWS = 2_000
"""Up to so many rows the replicates of rank metrics come from the rows themselves."""

MOST_RESAMPLED_ROWS = 200_000
"""Up to so many rows everything has replicates: of rows themselves where they cannot come from bins."""


@dataclass(frozen=True, slots=True)
class RowData:
    """What the per-example metrics of a run work on, prepared once.

    Attributes
    ----------
    columns
        (model, quantity) -> p columns of the family ``moments``, vectors or sparse.
    states
        (model, quantity) -> what the family ``rows`` prepared, a state for each ranked part.
    orders
        model -> its sorted scores, an order for each ranked part.
    bins
        model -> the histogram of its scores, one for each ranked part; empty where there are few rows.
    exact
        Whether the rows themselves are asked for, however many.
    many
        Whether there are so many rows that what bins do not give has no replicates.
    """

    units: Units
    layout: Layout
    columns: Mapping[Key, Columns]
    states: Mapping[Key, tuple[object, ...]]
    orders: Mapping[str, tuple[Order, ...]]
    bins: Mapping[str, tuple[Bins, ...]] = field(default_factory=dict)
    exact: bool = False
    many: bool = False

    @property
    def single(self) -> bool:
        """Whether rows are drawn one by one, weigh the same, and make one evaluation."""
        parts = self.layout.pooled.count == self.layout.ranked.count == 1
        return self.units.plain and self.units.strata is None and parts

    def is_binned(self, key: Key) -> bool:
        """Whether a quantity's replicates come from the histogram instead of the rows themselves."""
        return key[0] in self.bins and definition(key[1]).binned is not None


@dataclass(frozen=True, slots=True)
class Binned:
    """What gives the replicates of some quantities.

    Attributes
    ----------
    bins
        By model, of those models that have such a quantity.
    cells
        By tile of rows, then by model, where the counts of rows are added up.
    ranked
        Rank metrics that are functions of the bins.
    losses
        Means of losses: the value, and each code's mean derivative (2 G,); None where the model has no bins.
    inside
        By key, where the derivative's part inside bins is added: that part as whole numbers, and their unit.
    """

    bins: Mapping[str, Bins]
    cells: Sequence[Sequence[Cells]]
    ranked: tuple[Key, ...]
    losses: Mapping[Key, tuple[float, Floats | None]]
    inside: Mapping[Key, tuple[Whole, float]]

    def replicates(self, size: int, tiles: Iterable[Tile]) -> dict[Key, Floats]:
        """Return each quantity's values (b,) under b bootstrap samples."""
        sums = [CodeSums(bins, size) for bins in self.bins.values()]
        added, columns = np.zeros((len(self.inside), size)), [column for column, _ in self.inside.values()]
        for cells, (rows, counts) in zip(self.cells, tiles, strict=True):
            for of_model, of_tile in zip(sums, cells, strict=True):
                of_model.add(of_tile, counts)
            if columns:
                added += column_sums([column[rows] for column in columns], counts)
        found = {key: np.full(size, value) for key, (value, slope) in self.losses.items() if slope is None}
        for model, of_model in zip(self.bins, sums, strict=True):
            parts = [
                self._of_model(model, part) for part in few_at_a_time(of_model.total(), self.bins[model])
            ]
            found |= {key: np.concatenate([part[key] for part in parts]) for key in parts[0]}
        for (key, (_, unit)), of_column in zip(self.inside.items(), added, strict=True):
            found[key] = found[key] + unit * of_column
        return found

    def _of_model(self, model: str, by_bin: BinWeights) -> dict[Key, Floats]:
        found: dict[Key, Floats] = {}
        exact: Floats | None = None
        for key in self.ranked:
            if key[0] == model:
                binned = definition(key[1]).binned
                assert binned is not None
                found[key] = binned(by_bin)
        for key, (value, slopes) in self.losses.items():
            if key[0] == model and slopes is not None:
                exact = by_bin.by_code.astype(np.float64) if exact is None else exact
                found[key] = value + weighted_sums(exact.T, slopes)
        return found


def binned(data: RowData, estimates: Mapping[Key, Estimate], keys: Sequence[Key]) -> Binned:
    """Prepare the replicates of those quantities that bins, or sums of one column, give; the others are left out."""
    bins = {name: parts[0] for name, parts in data.bins.items()}
    means = [key for key in keys if _is_mean(key)]
    unsafe = set() if data.many else _nearly_alike(estimates, [key for key in keys if data.is_binned(key)])
    ranked = tuple(key for key in keys if data.is_binned(key) and key not in unsafe)
    losses: dict[Key, tuple[float, Floats | None]] = {}
    added: dict[Key, Floats] = {}
    smooth: dict[Quantity, list[Key]] = {}
    for key in (*means, *ranked):
        if estimates[key].derivative is not None:
            smooth.setdefault(key[1], []).append(key)

    def of_quantity(own: Sequence[Key]) -> tuple[Sequence[Floats | None], Sequence[Floats]]:
        slopes = slopes_of_keys(bins, estimates, own)
        matters = max(shares(slopes).values()) > NEGLIGIBLE_SHARE
        return slopes.means, [slopes.inside(j) for j in range(len(own))] if matters else []

    for own, (of_codes, inside) in zip(smooth.values(), mapped(of_quantity, [*smooth.values()]), strict=True):
        losses |= {
            key: (estimates[key].value, mean) for key, mean in zip(own, of_codes, strict=True) if key in means
        }
        added |= dict(zip(own, inside, strict=bool(inside)))
    whole = {key: whole_numbers(part) for key, part in added.items()}
    taken = (*means, *ranked)
    used = {model: one for model, one in bins.items() if any(key[0] == model for key in taken)}

    def of_tile(rows: slice) -> list[Cells]:
        return [Cells.of(one.code[rows], one.codes) for one in used.values()]

    cells = list(mapped(of_tile, tiles_of(data.units.n)))
    return Binned(used, cells, ranked, losses, whole)


def _is_mean(key: Key) -> bool:
    metric = definition(key[1])
    return isinstance(metric.computation, Moments) and metric.is_mean


ALIKE = 0.04
"""Of a model's variance: where that of a difference is less, what bins leave out of each model may matter in it."""


def _nearly_alike(estimates: Mapping[Key, Estimate], keys: Sequence[Key]) -> set[Key]:
    """Return the rank metrics of models that hardly differ in them, so that their rows themselves are resampled."""
    found: set[Key] = set()
    slopes = {key: d for key in keys if (d := estimates[key].derivative) is not None}
    for one, other in combinations(slopes, 2):
        if one[1] == other[1]:
            a, b = slopes[one], slopes[other]
            apart = a - b
            square = dot(apart, apart)
            if 0 < square < ALIKE * max(dot(a, a), dot(b, b)):
                found |= {one, other}
    return found


def slopes_of_keys(
    bins: Mapping[str, Bins], estimates: Mapping[Key, Estimate], keys: Sequence[Key]
) -> Slopes:
    """Put the derivatives of one quantity beside the models' bins; without bins all of the variance is inside."""
    return slopes_of([_derivative(estimates[key]) for key in keys], [bins.get(key[0]) for key in keys])


def _derivative(estimate: Estimate) -> Floats:
    assert estimate.derivative is not None
    return estimate.derivative


# --- estimates ------------------------------------------------------------------------------------------------------

TOO_LARGE = Message("undefined.too_large")


def row_estimates(
    predictions: Predictions, data: RowData, quantities: Sequence[Quantity]
) -> dict[Key, Estimate]:
    """Estimate the quantities of the families ``moments``, ``ranking`` and ``rows``, without replicates."""
    ranked = [q for q in quantities if isinstance(definition(q).computation, Ranks)]
    estimates: dict[Key, Estimate] = {}
    rarest = _rarest(predictions)

    def of_moments(key: Key) -> dict[Key, Estimate]:
        return {key: _of_moments(predictions, data, key)}

    def of_ranks(name: str) -> dict[Key, Estimate]:
        return _of_ranks(predictions, data, name, ranked, rarest)

    def of_rows(key: Key) -> dict[Key, Estimate]:
        return {key: _of_rows(predictions, data, key, rarest)}

    # The longest first, and metric by metric: two threads would otherwise compute the shared parts of a model twice.
    states = sorted(data.states, key=lambda key: key[1].spelled)
    works: list[Callable[[], dict[Key, Estimate]]] = []
    works += [partial(of_ranks, name) for name in (data.orders if ranked else ())]
    works += [partial(of_rows, key) for key in states]
    works += [partial(of_moments, key) for key in data.columns]
    for found in mapped(lambda work: work(), works):
        estimates |= found
    return estimates


def with_replicates(
    data: RowData, estimates: Mapping[Key, Estimate], *, n_resamples: int, seed: int
) -> dict[Key, Estimate]:
    """Give estimates their replicates, all from one set of draws; of many rows no states are needed for them."""
    drawn: dict[Key, list[Floats]] = {
        key: []
        for key, e in estimates.items()
        if definition(key[1]).inference.resampled and not np.isnan(e.value)
    }
    for values in _replicates(data, estimates, tuple(drawn), n_resamples, seed) if drawn else ():
        for key, part in values.items():
            drawn[key].append(part)
    found = {key: np.concatenate(parts) for key, parts in drawn.items() if parts}
    return {key: replace(e, replicates=found[key]) if key in found else e for key, e in estimates.items()}


def _replicates(
    data: RowData, estimates: Mapping[Key, Estimate], keys: Sequence[Key], n_resamples: int, seed: int
) -> Iterator[dict[Key, Floats]]:
    """Yield the values (b,) of quantities under one block of draws after the other."""
    if not (data.single and (data.bins or data.many)):
        of_floats = _by_floats(data, keys)
        yield from mapped(of_floats, data.units.unit_draws(n_resamples, seed=seed))
        return
    prepared = binned(data, estimates, keys)
    chosen = {*prepared.ranked, *prepared.losses}
    rows = replace(data, bins={})
    of_floats = _by_floats(rows, others := [k for k in keys if k not in chosen and _has_replicates(rows, k)])

    if not chosen and not others:
        return

    def values(size: int, tiles: Iterable[Tile]) -> dict[Key, Floats]:
        if not others:
            return prepared.replicates(size, tiles)
        every = list(tiles)
        parts = [of_floats(multiplicities) for multiplicities in in_floats(every)]
        found = {key: np.concatenate([part[key] for part in parts]) for key in others}
        return prepared.replicates(size, every) | found

    yield from of_row_bytes(values, data.units.n, n_resamples, seed=seed, kept=bool(others))


def _by_floats(data: RowData, keys: Sequence[Key]) -> Callable[[Floats], dict[Key, Floats]]:
    """Return the function that gives quantities' values (b,) under multiplicities of units (b, units)."""
    columns = {key: data.columns[key] for key in keys if key in data.columns}
    block = ColumnBlock.of(columns, data.units, data.layout)
    ranked_or_rows = [key for key in keys if key not in data.columns and _is_resampled(data, key)]

    def values(multiplicities: Floats) -> dict[Key, Floats]:
        sums = block.sums(multiplicities)
        found = {key: definition(key[1]).computation.function(s).mean(axis=1) for key, s in sums.items()}
        if ranked_or_rows:
            found |= _by_row(data, ranked_or_rows, data.units.expand(multiplicities))
        return found

    return values


def _has_replicates(data: RowData, key: Key) -> bool:
    return key in data.columns or _is_resampled(data, key)


def _by_row(data: RowData, keys: Sequence[Key], weights: Floats) -> dict[Key, Floats]:
    """Evaluate rank and row metrics under weights (b, n): the mean over the parts in which they are defined."""
    places = data.layout.ranked.rows()
    found: dict[Key, list[Floats]] = {key: [] for key in keys}
    exact = {
        key[0]
        for key in keys
        if isinstance(definition(key[1]).computation, Ranks) and not data.is_binned(key)
    }
    for j, rows in enumerate(places):
        part = weights if len(places) == 1 else weights[:, rows]
        groups = {
            name: group_weights(part, orders[j].merged)
            for name, orders in data.orders.items()
            if name in exact
        }
        rows_first = by_row(part) if data.bins else None
        by_bin = {
            name: bin_weights(rows_first, bins[j])
            for name, bins in data.bins.items()
            if rows_first is not None
        }
        for key, values in found.items():
            metric = definition(key[1])
            if data.is_binned(key):
                assert metric.binned is not None
                values.append(metric.binned(by_bin[key[0]]))
            elif isinstance(metric.computation, Ranks):
                values.append(metric.computation.function(*groups[key[0]]))
            else:
                values.append(metric.computation.function(data.states[key][j], part))
    return {key: mean_of_parts(np.stack(values), data.layout) for key, values in found.items()}


def _is_resampled(data: RowData, key: Key) -> bool:
    """Whether a by-row quantity has replicates: not where each would cost too much."""
    metric = definition(key[1])
    return metric.inference.resampled and (data.is_binned(key) or not data.many)


def mean_of_parts(values: Floats, layout: Layout) -> Floats:
    """Return the mean over the parts (first axis): nan where a task of a suite has no value, which is no other mean."""
    if layout.whole:
        return np.asarray(values.mean(axis=0))
    return mean_of_defined(values)


def _why_undefined(reason: Text, values: Floats, layout: Layout) -> Text:
    """Name the first task of a suite in which a metric has no value; else return the reason as it is."""
    if not layout.whole or layout.ranked.count == 1:
        return reason
    ((_, task),) = layout.ranked.names[int(np.isnan(values).argmax())]
    return Message("undefined.in_task", task=task, why=reason)


def mean_of_defined(values: Floats) -> Floats:
    """Return the mean over the first axis of what is not nan; nan where nothing is defined."""
    if len(values) == 1:
        return np.asarray(values[0])
    defined = ~np.isnan(values)
    count = defined.sum(axis=0)
    return np.where(count > 0, np.where(defined, values, 0).sum(axis=0) / np.maximum(count, 1), np.nan)


@dataclass(frozen=True, slots=True)
class ColumnBlock:
    """The columns of many quantities, by unit and part; no sum's last digit depends on the others.

    Dense columns are taken apart into whole numbers, whose one product for all of them is exact; a sparse product
    adds each column by itself.

    Attributes
    ----------
    pieces, dense
        The distinct dense columns, and by key which of them are its own.
    table, joined
        The sparse columns side by side, and by key where its own begin and end.
    """

    parts: int
    pieces: tuple[Pieces, ...]
    dense: Mapping[Key, list[int]]
    table: sparse.csr_array | None
    joined: Mapping[Key, tuple[int, int]]

    @classmethod
    def of(cls, columns: Mapping[Key, Columns], units: Units, layout: Layout) -> ColumnBlock:
        """Add the columns up by unit and part."""
        parts = layout.pooled
        single = units.plain and parts.count == 1
        pieces: dict[bytes, Pieces] = {}
        dense: dict[Key, list[int]] = {}
        for key, table in columns.items():
            if single and isinstance(table, tuple):
                own = [hashlib.blake2b(np.ascontiguousarray(column).data).digest() for column in table]
                pieces |= {d: Pieces.of(c) for d, c in zip(own, table, strict=True) if d not in pieces}
                dense[key] = [list(pieces).index(digest) for digest in own]
        rest = {key: table for key, table in columns.items() if key not in dense}
        if not rest:
            return cls(parts.count, tuple(pieces.values()), dense, None, {})
        by_unit = [unit_columns(table, units, layout) for table in rest.values()]
        edges = np.cumsum([0, *(table.shape[1] for table in by_unit)]).tolist()
        joined = sparse.csr_array(sparse.hstack(by_unit))
        places = dict(zip(rest, pairwise(edges), strict=True))
        return cls(parts.count, tuple(pieces.values()), dense, joined, places)

    def sums(self, multiplicities: Floats) -> dict[Key, Floats]:
        """Return the weighted sums (b, parts, p) of each quantity under multiplicities (b, units), whole numbers."""
        found: dict[Key, Floats] = {}
        if self.pieces:
            sums = piece_sums(self.pieces, multiplicities)
            found |= {key: sums[:, None, places] for key, places in self.dense.items()}
        if self.table is not None:
            sums, shape = np.asarray(multiplicities @ self.table), (len(multiplicities), self.parts, -1)
            found |= {key: sums[:, low:high].reshape(shape) for key, (low, high) in self.joined.items()}
        return found


def unit_columns(columns: Columns, units: Units, layout: Layout) -> sparse.csr_array:
    """Return what one draw of each unit adds to the sums of a quantity, (units, parts p): its rows' p columns."""
    table = sparse.csr_array(np.column_stack(columns) if isinstance(columns, tuple) else columns)
    single = units.plain and layout.pooled.count == 1
    return table if single else units.gather(_spread(table, layout.pooled))


def _spread(joined: sparse.csr_array, parts: Parts) -> sparse.csr_array:
    """Give every part columns of its own: (n, p) becomes (n, parts p)."""
    n, width = joined.shape
    filled = sparse.coo_array(joined)
    place = parts.codes[filled.row] * width + filled.col
    return sparse.csr_array((filled.data, (filled.row, place)), shape=(n, parts.count * width))


def all_finite(columns: Columns) -> bool:
    """Say whether no column holds an infinite value or nan."""
    return all(np.isfinite(c).all() for c in (columns if isinstance(columns, tuple) else (columns.data,)))


def _estimate(
    predictions: Predictions, data: RowData, key: Key, value: float, derivative: Floats | None, **fields: Any
) -> Estimate:
    """Put an estimate together; derivatives (n,) are by an example's weight."""
    units = data.units
    by_unit = None if derivative is None else units.influence(derivative)
    return Estimate(
        model=key[0],
        quantity=key[1],
        value=value,
        n=predictions.n_examples,
        range=value_range(definition(key[1]), predictions),
        derivative=by_unit,
        counts=None if by_unit is None else np.broadcast_to(1.0, len(by_unit)),
        sizes=units.sizes,
        tasks=units.tasks,
        n_effective=units.n_effective,
        by_fit=by_seed(predictions, units, data.layout.fits, derivative),
        **fields,
    )


def _of_moments(predictions: Predictions, data: RowData, key: Key) -> Estimate:
    metric, columns, parts = definition(key[1]), data.columns[key], data.layout.pooled
    if not all_finite(columns):
        return undefined(predictions, key, metric.scale.undefined or TOO_LARGE)
    values, derivative = np.empty(parts.count), np.empty(predictions.n)
    weight = data.units.weight
    for j, rows in enumerate(_places(parts)):
        part = columns
        if parts.count > 1:
            part = tuple(column[rows] for column in columns) if isinstance(columns, tuple) else columns[rows]
        sums = column_totals(None if weight is None else weight[rows], part)
        values[j] = metric.computation.function(sums)
        if metric.inference.smooth:
            derivative[rows] = combined(part, gradient(metric.computation.function, sums) / parts.count)
    if not np.isfinite(values).all():
        return undefined(predictions, key, metric.scale.undefined if np.isnan(values).any() else TOO_LARGE)
    slopes = derivative if metric.inference.smooth else None
    fields = _successes(key, columns, data)
    return _estimate(predictions, data, key, float(values.mean()), slopes, **fields)


def _successes(key: Key, columns: Columns, data: RowData) -> dict[str, float | None]:
    """Return successes and trials, or how many trials count, where the mean is one of zeros and ones: a proportion."""
    if not definition(key[1]).inference.may_be_proportion or not np.isin(columns[1], (0, 1)).all():
        return {}
    if data.units.plain and data.layout.pooled.count == 1:
        return {"successes": float(columns[1].sum()), "trials": float(len(columns[1]))}
    return {"trials_effective": data.units.trials_effective}


def _of_ranks(
    predictions: Predictions, data: RowData, model: str, quantities: Sequence[Quantity], rarest: float | None
) -> dict[Key, Estimate]:
    """Estimate a model's rank metrics; its scores are sorted and its groups are weighed once for all of them."""
    orders, places = data.orders[model], _places(data.layout.ranked)
    weight = data.units.weight
    groups = [
        group_weights(None if weight is None else weight[rows], order)
        for rows, order in zip(places, orders, strict=True)
    ]
    found = {}
    one = orders[0].positive if len(orders) == 1 else None
    for quantity in quantities:
        key, metric = (model, quantity), definition(quantity)
        computation = metric.computation
        assert isinstance(computation, Ranks)
        values = np.array([float(computation.function(*group)) for group in groups])
        value = float(mean_of_parts(values, data.layout))
        if np.isnan(value):
            found[key] = undefined(
                predictions, key, _why_undefined(metric.scale.undefined, values, data.layout)
            )
            continue
        slopes = (
            None
            if computation.derivative is None
            else _rank_slopes(computation.derivative, data, model, groups, values)
        )
        found[key] = _estimate(predictions, data, key, value, slopes, positive=one, rarest=rarest)
    return found


def _rank_slopes(
    derivative_of: Callable[..., tuple[Floats, Floats]],
    data: RowData,
    model: str,
    groups: Sequence[tuple[Floats, Floats]],
    values: Floats,
) -> Floats:
    """Return the derivative (n,) of the mean over those parts in which the value is defined."""
    orders, defined = data.orders[model], ~np.isnan(values)
    if len(orders) == 1:
        return orders[0].by_example(*derivative_of(*groups[0]))
    slopes = np.zeros(data.units.n)
    for rows, order, group, holds in zip(data.layout.ranked.rows(), orders, groups, defined, strict=True):
        if holds:
            slopes[rows] = order.by_example(*derivative_of(*group)) / defined.sum()
    return slopes


def _places(parts: Parts) -> Sequence[Indices | slice]:
    """Return the rows of each part; a single one holds all of them as they are."""
    return [slice(None)] if parts.count == 1 else parts.rows()


def _of_rows(predictions: Predictions, data: RowData, key: Key, rarest: float | None) -> Estimate:
    metric, states = definition(key[1]), data.states[key]
    computation = metric.computation
    assert isinstance(computation, RowWise)
    values, slopes = (
        np.empty(len(states)),
        None if computation.derivative is None else np.zeros(predictions.n),
    )
    for j, (rows, state) in enumerate(zip(_places(data.layout.ranked), states, strict=True)):
        weights = data.units.base[rows][None, :]
        values[j] = computation.function(state, weights)[0]
        if computation.derivative is not None and slopes is not None and np.isfinite(values[j]):
            slopes[rows] = computation.derivative(state, weights)[0]
    values[~np.isfinite(values)] = np.nan
    value = float(mean_of_parts(values, data.layout))
    if np.isnan(value):
        first = states[int(np.isnan(values).argmax())]
        why = computation.why_undefined
        reason = metric.scale.undefined if why is None else why(first)
        return undefined(predictions, key, _why_undefined(reason or TOO_LARGE, values, data.layout))
    if slopes is not None:
        slopes /= int((~np.isnan(values)).sum())
    fields = _row_proportion(key, states[0], data.units.base) if data.units.plain and len(states) == 1 else {}
    return _estimate(predictions, data, key, value, slopes, rarest=rarest, **fields)


def _row_proportion(key: Key, state: object, weights: Floats) -> dict[str, float]:
    """Return successes and trials of a row metric that is a proportion."""
    computation = definition(key[1]).computation
    proportion = computation.proportion if isinstance(computation, RowWise) else None
    if proportion is None:
        return {}
    successes, trials = proportion(state, weights[None, :])
    return {"successes": float(successes), "trials": float(trials)}


def _rarest(predictions: Predictions) -> float | None:
    """Return how many examples the rarest class in the truth has; None without classes."""
    if not predictions.classes or predictions.y_true is None:
        return None
    true, k = predictions.y_true, len(predictions.classes)
    counts = np.bincount(true) if k > 2 else np.array([np.count_nonzero(true == code) for code in range(k)])
    return float(counts[counts > 0].min())
