"""Estimates that need rows: means of losses, rank metrics, and what only a function of all rows can express."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any

import numpy as np
from scipy import sparse

from evalreport.data.predictions import Predictions
from evalreport.engine.binned import bin_weights, by_row
from evalreport.engine.distributions import Columns, Pieces, column_totals, combined, gradient, piece_sums
from evalreport.engine.draws import Bytes, in_floats, mapped, of_row_bytes
from evalreport.engine.ranks import group_weights
from evalreport.metrics.estimate import Estimate, Floats, Indices, undefined, value_range
from evalreport.metrics.registry import Quantity, definition
from evalreport.metrics.row_data import Key, RowData, binned
from evalreport.metrics.units import Layout, Parts, Units, by_seed
from evalreport.texts import Message, Text

TOO_LARGE = Message("undefined.too_large")


def row_estimates(
    predictions: Predictions, data: RowData, quantities: Sequence[Quantity], *, n_resamples: int, seed: int
) -> dict[Key, Estimate]:
    """Estimate the quantities of the families ``moments``, ``ranking`` and ``rows`` from one set of draws."""
    ranked = [q for q in quantities if definition(q).family == "ranking"]
    estimates: dict[Key, Estimate] = {}
    rarest = _rarest(predictions)

    def of_moments(key: Key) -> Estimate:
        return _of_moments(predictions, data, key)

    def of_ranks(name: str) -> dict[Key, Estimate]:
        return _of_ranks(predictions, data, name, ranked, rarest)

    def of_rows(key: Key) -> Estimate:
        return _of_rows(predictions, data, key, rarest)

    estimates |= zip(data.columns, mapped(of_moments, data.columns), strict=True)
    for found in mapped(of_ranks, data.orders) if ranked else ():
        estimates |= found
    # One metric after the other: those of one model share what they are made of, which threads would make twice.
    states = sorted(data.states, key=lambda key: key[1].spelled)
    estimates |= zip(states, mapped(of_rows, states), strict=True)
    drawn: dict[Key, list[Floats]] = {
        key: [] for key, e in estimates.items() if definition(key[1]).resampled and not np.isnan(e.value)
    }
    if not drawn:
        return estimates
    for values in _replicates(data, estimates, tuple(drawn), n_resamples, seed):
        for key, part in values.items():
            drawn[key].append(part)
    for key, parts in drawn.items():
        if parts:
            estimates[key] = replace(estimates[key], replicates=np.concatenate(parts))
    return estimates


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

    def values(weights: Bytes) -> dict[Key, Floats]:
        found = prepared.replicates(weights) if chosen else {}
        parts = [of_floats(multiplicities) for multiplicities in in_floats(weights)] if others else []
        return found | {key: np.concatenate([part[key] for part in parts]) for key in others}

    yield from of_row_bytes(values, data.units.n, n_resamples, seed=seed)


def _by_floats(data: RowData, keys: Sequence[Key]) -> Callable[[Floats], dict[Key, Floats]]:
    """Return the function that gives quantities' values (b,) under multiplicities of units (b, units)."""
    columns = {key: data.columns[key] for key in keys if key in data.columns}
    block = ColumnBlock.of(columns, data.units, data.layout)
    ranked_or_rows = [key for key in keys if key not in data.columns and _is_resampled(data, key)]

    def values(multiplicities: Floats) -> dict[Key, Floats]:
        sums = block.sums(multiplicities)
        found = {key: definition(key[1]).function(s).mean(axis=1) for key, s in sums.items()}
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
    exact = {key[0] for key in keys if definition(key[1]).family == "ranking" and not data.is_binned(key)}
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
                values.append(metric.binned(data.bins[key[0]][j], by_bin[key[0]]))
            elif metric.family == "ranking":
                values.append(metric.function(*groups[key[0]]))
            else:
                values.append(metric.function(data.states[key][j], part))
    return {key: mean_of_parts(np.stack(values), data.layout) for key, values in found.items()}


def _is_resampled(data: RowData, key: Key) -> bool:
    """Whether a by-row quantity has replicates: not where each would cost too much."""
    metric = definition(key[1])
    return metric.resampled and (data.is_binned(key) or not data.many)


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
            if single and not sparse.issparse(table):
                own = [hashlib.blake2b(column.tobytes()).digest() for column in table.T]
                pieces |= {d: Pieces.of(c) for d, c in zip(own, table.T, strict=True) if d not in pieces}
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
    """Return what one draw of each unit adds to the sums of a quantity, (units, parts p): its rows' columns (n, p)."""
    table = sparse.csr_array(columns)
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
    return bool(np.isfinite(columns.data if sparse.issparse(columns) else columns).all())


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
        return undefined(predictions, key, metric.undefined or TOO_LARGE)
    values, derivative = np.empty(parts.count), np.empty(predictions.n)
    weight = data.units.weight
    for j, rows in enumerate(_places(parts)):
        sums = column_totals(None if weight is None else weight[rows], columns[rows])
        values[j] = metric.function(sums)
        if metric.smooth:
            derivative[rows] = combined(columns[rows], gradient(metric.function, sums) / parts.count)
    if not np.isfinite(values).all():
        return undefined(predictions, key, metric.undefined if np.isnan(values).any() else TOO_LARGE)
    slopes = derivative if metric.smooth else None
    fields = _successes(key, columns, data)
    return _estimate(predictions, data, key, float(values.mean()), slopes, **fields)


def _successes(key: Key, columns: Columns, data: RowData) -> dict[str, float | None]:
    """Return successes and trials, or how many trials count, where the mean is one of zeros and ones: a proportion."""
    if not definition(key[1]).may_be_proportion or not np.isin(columns[:, 1], (0, 1)).all():
        return {}
    assert not sparse.issparse(columns)
    if data.units.plain and data.layout.pooled.count == 1:
        return {"successes": float(columns[:, 1].sum()), "trials": float(len(columns))}
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
        values = np.array([float(metric.function(*group)) for group in groups])
        value = float(mean_of_parts(values, data.layout))
        if np.isnan(value):
            found[key] = undefined(predictions, key, _why_undefined(metric.undefined, values, data.layout))
            continue
        slopes = (
            None
            if metric.derivative is None
            else _rank_slopes(metric.derivative, data, model, groups, values)
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
    values, derivative = np.empty(len(states)), np.zeros(predictions.n)
    for j, (rows, state) in enumerate(zip(data.layout.ranked.rows(), states, strict=True)):
        weights = data.units.base[rows]
        values[j] = metric.function(state, weights[None, :])[0]
        if metric.derivative is not None and np.isfinite(values[j]):
            derivative[rows] = metric.derivative(state, weights)
    values[~np.isfinite(values)] = np.nan
    value = float(mean_of_parts(values, data.layout))
    if np.isnan(value):
        first = states[int(np.isnan(values).argmax())]
        reason = metric.undefined if metric.why_undefined is None else metric.why_undefined(first)
        return undefined(predictions, key, _why_undefined(reason or TOO_LARGE, values, data.layout))
    slopes = None if metric.derivative is None else derivative / int((~np.isnan(values)).sum())
    fields = _row_proportion(key, states[0], data.units.base) if data.units.plain and len(states) == 1 else {}
    return _estimate(predictions, data, key, value, slopes, rarest=rarest, **fields)


def _row_proportion(key: Key, state: object, weights: Floats) -> dict[str, float]:
    """Return successes and trials of a row metric that is a proportion."""
    proportion = definition(key[1]).proportion
    if proportion is None:
        return {}
    successes, trials = proportion(state, weights[None, :])
    return {"successes": float(successes), "trials": float(trials)}


def _rarest(predictions: Predictions) -> float | None:
    """Return how many examples the rarest class in the truth has; None without classes."""
    if not predictions.classes or predictions.y_true is None:
        return None
    counts = np.bincount(predictions.y_true)
    return float(counts[counts > 0].min())
