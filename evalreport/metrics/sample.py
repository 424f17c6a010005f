"""From predictions to estimates: every quantity of every model, with one set of bootstrap draws for all models."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from evalreport.data.predictions import ModelOutputs, Predictions
from evalreport.engine.derivative import gradient, zero_where_undefined
from evalreport.engine.draws import bootstrap_cells, bootstrap_rows
from evalreport.engine.ranks import Order, descending_order, group_weights
from evalreport.engine.tables import (
    Cells,
    Counts,
    confusion,
    distinct_cells,
    margin_columns,
    margins,
    margins_of,
    one_vs_rest,
)
from evalreport.metrics.estimate import Estimate
from evalreport.metrics.quantities import Quantity, definition
from evalreport.metrics.registry import Metric
from evalreport.metrics.views import view

Floats = npt.NDArray[np.float64]
Key = tuple[str, Quantity]


@dataclass(frozen=True, slots=True)
class Sample:
    """All estimates of a run and what the tests need beside them.

    Attributes
    ----------
    estimates
        By (model, quantity); every model has every quantity, undefined ones with their reason.
    cells
        Distinct combinations of truth and the labels of ``label_models``.
    columns
        (model, quantity) -> (n, p) per-example columns of the metrics of the family ``moments``.
    orders
        model -> its sorted scores.
    """

    predictions: Predictions
    quantities: tuple[Quantity, ...]
    estimates: Mapping[Key, Estimate]
    cells: Cells | None
    label_models: tuple[str, ...]
    columns: Mapping[Key, Floats]
    orders: Mapping[str, Order]


def estimate_all(
    predictions: Predictions, quantities: Sequence[Quantity], *, n_resamples: int, seed: int
) -> Sample:
    """Compute every quantity of every model, its influence values and its bootstrap replicates.

    Parameters
    ----------
    predictions
        One test set: each id once.
    n_resamples
        Bootstrap replicates B.
    """
    missing = {(m.name, q): reason for m in predictions.models for q in quantities if (reason := lacks(m, q))}
    label_models = tuple(m for m in predictions.models if m.y_pred is not None and predictions.classes)
    cells = None
    estimates: dict[Key, Estimate] = {
        key: _undefined(predictions, key, reason) for key, reason in missing.items()
    }
    tables = [q for q in quantities if definition(q).family in ("binary_table", "table")]
    if tables and label_models:
        assert predictions.y_true is not None
        cells = distinct_cells(predictions.y_true, [_codes(m) for m in label_models])
        names = tuple(m.name for m in label_models)
        estimates |= _label_estimates(predictions, cells, names, tables, n_resamples, seed)
    columns = _moment_columns(predictions, quantities, missing)
    orders = _score_orders(predictions, quantities, missing)
    estimates |= _row_estimates(predictions, columns, orders, quantities, n_resamples, seed)
    return Sample(
        predictions, tuple(quantities), estimates, cells, tuple(m.name for m in label_models), columns, orders
    )


def lacks(outputs: ModelOutputs, quantity: Quantity) -> str | None:
    """Say why a model cannot have a quantity, or return None if it can."""
    needs = definition(quantity).needs
    if needs == "labels" and outputs.y_pred is None:
        return (
            "the model gives scores only: no predicted labels and no threshold for bare scores; give y_pred"
        )
    if needs == "scores" and outputs.score is None:
        return "the model gives labels only: a ranking needs scores or probabilities"
    if needs == "probabilities" and outputs.proba is None:
        return "the model gives no probabilities (p_<label> columns)"
    if needs == "values" and outputs.y_pred is None:
        return "the model gives no predicted values"
    if needs == "outcomes" and outputs.outcome is None:
        return "the model gives no outcomes"
    return None


def _codes(outputs: ModelOutputs) -> npt.NDArray[np.int32]:
    assert outputs.y_pred is not None
    return outputs.y_pred


def value_range(metric: Metric, predictions: Predictions) -> tuple[float, float]:
    """Return the range of a metric on these data."""
    if metric.name == "mean_outcome":
        outcomes = [m.outcome for m in predictions.models if m.outcome is not None]
        return (0.0, 1.0) if all(np.isin(o, (0, 1)).all() for o in outcomes) else metric.range
    return metric.binary_range if metric.binary_range and predictions.task == "binary" else metric.range


def _undefined(predictions: Predictions, key: Key, reason: str) -> Estimate:
    model, quantity = key
    return Estimate(
        model, quantity, np.nan, reason, predictions.n, value_range(definition(quantity), predictions)
    )


# --- labels ---------------------------------------------------------------------------------------------------------


def table_function(quantity: Quantity, predictions: Predictions) -> Callable[[Floats], Floats]:
    """Return the function of margins (..., 3, K) -> (...) that a label quantity is."""
    metric = definition(quantity)
    if metric.family == "table":
        return metric.function
    if quantity.average is None:
        code = (
            predictions.positive_code if quantity.label is None else predictions.classes.index(quantity.label)
        )
        return lambda m: metric.function(Counts(*(part[..., code] for part in one_vs_rest(m))))
    if quantity.average == "micro":
        return lambda m: metric.function(Counts(*(part.sum(-1) for part in one_vs_rest(m))))

    def averaged(m: Floats) -> Floats:
        values = zero_where_undefined(metric.function(one_vs_rest(m)))
        if quantity.average == "macro":
            return np.asarray(values.mean(-1))
        return np.asarray((values * m[..., 1, :]).sum(-1) / m[..., 1, :].sum(-1))

    return averaged


def _label_estimates(
    predictions: Predictions,
    cells: Cells,
    names: Sequence[str],
    quantities: Sequence[Quantity],
    n_resamples: int,
    seed: int,
) -> dict[Key, Estimate]:
    k = len(predictions.classes)
    columns = [margin_columns(cells.true, predicted, k) for predicted in cells.predicted]
    drawn = [
        [margins(weights, model_columns) for model_columns in columns]
        for weights in bootstrap_cells(cells.counts, n_resamples, seed=seed)
    ]
    functions = {quantity: table_function(quantity, predictions) for quantity in quantities}
    estimates = {}
    for j, name in enumerate(names):
        table = confusion(cells, j, k)
        point = margins_of(table)
        replicates = np.concatenate([block[j] for block in drawn]) if drawn else None
        for quantity, function in functions.items():
            slope = gradient(function, point)
            value = float(function(point))
            estimates[name, quantity] = Estimate(
                name,
                quantity,
                0.0 if np.isnan(value) else value,
                definition(quantity).undefined if np.isnan(value) else None,
                predictions.n,
                value_range(definition(quantity), predictions),
                derivative=None if np.isnan(value) else columns[j] @ slope.ravel(),
                counts=cells.counts,
                replicates=None if replicates is None else function(replicates),
                table=table,
                **_proportion(quantity, point, predictions),
            )
    return estimates


def _proportion(quantity: Quantity, point: Floats, predictions: Predictions) -> dict[str, Any]:
    """Return successes and trials where the quantity is a binomial proportion, and F1's Jaccard counts."""
    metric = definition(quantity)
    right, n = float(point[0].sum()), float(point[1].sum())
    if metric.family == "table":
        if metric.proportion is None:
            return {}
        successes, trials = metric.proportion(right, n)
        return {"successes": successes, "trials": trials}
    if quantity.average is not None:
        # Every example counts once as TP, or once as FP and once as FN: micro precision, recall and F1 are accuracy.
        pooled = quantity.average == "micro" and metric.name in ("precision", "recall", "f1")
        return {"successes": right, "trials": n} if pooled else {}
    code = predictions.positive_code if quantity.label is None else predictions.classes.index(quantity.label)
    counts = Counts(*(part[code] for part in one_vs_rest(point)))
    if metric.name == "f1":
        return {"jaccard": (float(counts.tp), float(counts.tp + counts.fp + counts.fn))}
    if metric.proportion is None:
        return {}
    successes, trials = (float(count) for count in metric.proportion(counts))
    return {"successes": successes, "trials": trials}


# --- means and ranks, by row ----------------------------------------------------------------------------------------


def _moment_columns(
    predictions: Predictions, quantities: Sequence[Quantity], missing: Mapping[Key, str]
) -> dict[Key, Floats]:
    columns: dict[Key, Floats] = {}
    for outputs in predictions.models:
        model_view = view(predictions, outputs)
        for quantity in quantities:
            metric = definition(quantity)
            if metric.family == "moments" and (outputs.name, quantity) not in missing:
                assert metric.columns is not None
                with np.errstate(over="ignore", invalid="ignore"):
                    columns[outputs.name, quantity] = metric.columns(model_view)
    return columns


def _score_orders(
    predictions: Predictions, quantities: Sequence[Quantity], missing: Mapping[Key, str]
) -> dict[str, Order]:
    ranked = [q for q in quantities if definition(q).family == "ranking"]
    orders: dict[str, Order] = {}
    for outputs in predictions.models:
        if ranked and (outputs.name, ranked[0]) not in missing:
            assert predictions.y_true is not None
            assert outputs.score is not None
            orders[outputs.name] = descending_order(
                outputs.score, predictions.y_true == predictions.positive_code
            )
    return orders


def _row_estimates(
    predictions: Predictions,
    columns: Mapping[Key, Floats],
    orders: Mapping[str, Order],
    quantities: Sequence[Quantity],
    n_resamples: int,
    seed: int,
) -> dict[Key, Estimate]:
    estimates = {key: _moment_estimate(predictions, key, table) for key, table in columns.items()}
    ranked = [q for q in quantities if definition(q).family == "ranking"]
    for name, order in orders.items():
        estimates |= {(name, q): _rank_estimate(predictions, name, order, q) for q in ranked}
    finite = {key: columns[key] for key, e in estimates.items() if key in columns and not np.isnan(e.value)}
    replicates: dict[Key, list[Floats]] = {key: [] for key in estimates}
    if not estimates:
        return {}
    block = ColumnBlock.of(finite)
    for weights in bootstrap_rows(predictions.n, n_resamples, seed=seed):
        for key, sums in block.sums(weights).items():
            replicates[key].append(definition(key[1]).function(sums))
        for name, order in orders.items():
            groups = group_weights(weights, order)
            for quantity in ranked:
                replicates[name, quantity].append(definition(quantity).function(*groups))
    for key, parts in replicates.items():
        if parts:
            estimates[key] = _with_replicates(estimates[key], np.concatenate(parts))
    return estimates


def _with_replicates(estimate: Estimate, replicates: Floats) -> Estimate:
    return replace(estimate, replicates=replicates)


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


def _moment_estimate(predictions: Predictions, key: Key, columns: Floats) -> Estimate:
    name, quantity = key
    metric = definition(quantity)
    if not np.isfinite(columns).all():
        return _undefined(predictions, key, metric.undefined or "the numbers are too large to be squared and added")
    sums = columns.sum(axis=0)
    value = float(metric.function(sums))
    if np.isnan(value):
        return _undefined(predictions, key, metric.undefined)
    losses = columns[:, 1]
    binary = metric.name == "mean_outcome" and bool(np.isin(losses, (0, 1)).all())
    return Estimate(
        name,
        quantity,
        value,
        None,
        predictions.n,
        value_range(metric, predictions),
        derivative=columns @ gradient(metric.function, sums),
        counts=np.ones(predictions.n),
        successes=float(losses.sum()) if binary else None,
        trials=float(predictions.n) if binary else None,
    )


def _rank_estimate(predictions: Predictions, name: str, order: Order, quantity: Quantity) -> Estimate:
    metric = definition(quantity)
    positives, negatives = group_weights(np.ones(predictions.n), order)
    value = float(metric.function(positives, negatives))
    if np.isnan(value):
        return _undefined(predictions, (name, quantity), metric.undefined)
    derivative = None
    if metric.derivative is not None:
        by_positive, by_negative = metric.derivative(positives, negatives)
        derivative = np.where(order.positive, by_positive[order.group], by_negative[order.group])
    return Estimate(
        name,
        quantity,
        value,
        None,
        predictions.n,
        value_range(metric, predictions),
        derivative=derivative,
        counts=np.ones(predictions.n),
        positive=order.positive,
    )
