"""Estimates that need rows: means of losses, rank metrics, and what only a function of all rows can express."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from evalreport.data.predictions import Predictions
from evalreport.engine.derivative import gradient
from evalreport.engine.ranks import Order, group_weights
from evalreport.metrics.estimate import Estimate
from evalreport.metrics.quantities import Quantity, definition
from evalreport.metrics.units import Units
from evalreport.metrics.views import undefined, value_range

Floats = npt.NDArray[np.float64]
Key = tuple[str, Quantity]

TOO_LARGE = "the numbers are too large to be squared and added"


def row_estimates(
    predictions: Predictions,
    units: Units,
    columns: Mapping[Key, Floats],
    states: Mapping[Key, Any],
    orders: Mapping[str, Order],
    quantities: Sequence[Quantity],
    *,
    n_resamples: int,
    seed: int,
) -> dict[Key, Estimate]:
    """Estimate the quantities of the families ``moments``, ``ranking`` and ``rows`` from one set of draws."""
    ranked = [(name, q) for name in orders for q in quantities if definition(q).family == "ranking"]
    estimates = {key: _of_moments(predictions, units, key, table) for key, table in columns.items()}
    estimates |= {key: _of_ranks(predictions, units, key, orders[key[0]]) for key in ranked}
    estimates |= {key: _of_rows(predictions, units, key, state) for key, state in states.items()}
    drawn: dict[Key, list[Floats]] = {key: [] for key, e in estimates.items() if not np.isnan(e.value)}
    block = ColumnBlock.of({key: table for key, table in columns.items() if key in drawn})
    slow = [key for key in states if key in drawn and definition(key[1]).resampled]
    if not drawn:
        return estimates
    for weights in units.draws(n_resamples, seed=seed):
        for key, sums in block.sums(weights).items():
            drawn[key].append(definition(key[1]).function(sums))
        groups = {name: group_weights(weights, order) for name, order in orders.items()}
        for key in ranked:
            if key in drawn:
                drawn[key].append(definition(key[1]).function(*groups[key[0]]))
        for key in slow:
            drawn[key].append(definition(key[1]).function(states[key], weights))
    for key, parts in drawn.items():
        if parts:
            estimates[key] = replace(estimates[key], replicates=np.concatenate(parts))
    return estimates


@dataclass(frozen=True, slots=True)
class ColumnBlock:
    """The columns of many quantities side by side, so that one product serves them all."""

    keys: tuple[Key, ...]
    edges: tuple[int, ...]
    table: Floats

    @classmethod
    def of(cls, columns: Mapping[Key, Floats]) -> ColumnBlock:
        """Put the columns side by side."""
        edges = np.cumsum([0, *(table.shape[1] for table in columns.values())])
        joined = np.concatenate(list(columns.values()), axis=1) if columns else np.empty((0, 0))
        return cls(tuple(columns), tuple(edges.tolist()), joined)

    def sums(self, weights: Floats) -> dict[Key, Floats]:
        """Return the weighted sums (b, p) of each quantity under weights (b, n)."""
        if not self.keys:
            return {}
        sums = weights @ self.table
        places = zip(self.keys, self.edges[:-1], self.edges[1:], strict=True)
        return {key: sums[:, low:high] for key, low, high in places}


def _estimate(
    predictions: Predictions, units: Units, key: Key, value: float, derivative: Floats | None, **fields: Any
) -> Estimate:
    """Put an estimate together; derivatives (n,) are by an example's weight."""
    by_unit = None if derivative is None else units.influence(derivative)
    return Estimate(
        key[0],
        key[1],
        value,
        None,
        predictions.n,
        value_range(definition(key[1]), predictions),
        derivative=by_unit,
        counts=None if by_unit is None else np.ones(len(by_unit)),
        clusters=None if units.cluster is None else units.count,
        weighted=units.weight is not None,
        **fields,
    )


def _of_moments(predictions: Predictions, units: Units, key: Key, columns: Floats) -> Estimate:
    metric = definition(key[1])
    if not np.isfinite(columns).all():
        return undefined(predictions, key, metric.undefined or TOO_LARGE)
    sums = units.base @ columns
    value = float(metric.function(sums))
    if np.isnan(value):
        return undefined(predictions, key, metric.undefined)
    derivative = columns @ gradient(metric.function, sums) if metric.smooth else None
    return _estimate(predictions, units, key, value, derivative, **_successes(units, key, columns))


def _successes(units: Units, key: Key, columns: Floats) -> dict[str, float]:
    """Return successes and trials where the mean is one of zeros and ones, and so a binomial proportion."""
    proportion = "wilson" in definition(key[1]).intervals and units.plain
    if not proportion or not np.isin(columns[:, 1], (0, 1)).all():
        return {}
    return {"successes": float(columns[:, 1].sum()), "trials": float(len(columns))}


def _of_ranks(predictions: Predictions, units: Units, key: Key, order: Order) -> Estimate:
    metric = definition(key[1])
    positives, negatives = group_weights(units.base, order)
    value = float(metric.function(positives, negatives))
    if np.isnan(value):
        return undefined(predictions, key, metric.undefined)
    derivative = None
    if metric.derivative is not None:
        by_positive, by_negative = metric.derivative(positives, negatives)
        derivative = np.where(order.positive, by_positive[order.group], by_negative[order.group])
    return _estimate(predictions, units, key, value, derivative, positive=order.positive)


def _of_rows(predictions: Predictions, units: Units, key: Key, state: Any) -> Estimate:
    metric = definition(key[1])
    value = float(metric.function(state, units.base[None, :])[0])
    if not np.isfinite(value):
        return undefined(predictions, key, metric.undefined or TOO_LARGE)
    derivative = None if metric.derivative is None else metric.derivative(state, units.base)
    return _estimate(predictions, units, key, value, derivative)
