"""Estimates of the label metrics: from distinct cells where examples are alike, from rows where they are not."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy import sparse

from evalreport.data.predictions import Predictions
from evalreport.engine.derivative import gradient, zero_where_undefined
from evalreport.engine.draws import bootstrap_cells
from evalreport.engine.tables import (
    Cells,
    Counts,
    distinct_cells,
    margin_columns,
    margins,
    margins_of,
    one_vs_rest,
)
from evalreport.metrics.estimate import Estimate
from evalreport.metrics.quantities import Quantity, definition
from evalreport.metrics.units import Units
from evalreport.metrics.views import value_range

Floats = npt.NDArray[np.float64]
Key = tuple[str, Quantity]


@dataclass(frozen=True, slots=True)
class LabelTables:
    """The label models' counts, and how their bootstrap is drawn.

    Attributes
    ----------
    models
        Names of the models that give labels.
    cells
        Distinct combinations of truth and labels; None with clusters or weights, where rows are drawn.
    columns
        By model, (atoms, 3 K): which margins one example of each atom (cell or row) adds to.
    weights
        (atoms,) what the atoms weigh in the data.
    """

    models: tuple[str, ...]
    units: Units
    cells: Cells | None
    columns: tuple[sparse.csr_array, ...]
    tables: tuple[Floats, ...]
    weights: Floats

    @classmethod
    def of(cls, predictions: Predictions, units: Units) -> LabelTables | None:
        """Count what the models that give labels said; None where no model does."""
        given = [m for m in predictions.models if m.y_pred is not None]
        if not given or predictions.y_true is None:
            return None
        names, k = tuple(m.name for m in given), len(predictions.classes)
        true, predicted = predictions.y_true, [np.asarray(m.y_pred) for m in given]
        cells = distinct_cells(true, predicted) if units.plain else None
        weights = units.base if cells is None else cells.counts
        if cells is not None:
            true, predicted = cells.true, list(cells.predicted)
        columns = tuple(margin_columns(true, labels, k) for labels in predicted)
        tables = []
        for labels in predicted:
            table = np.zeros((k, k))
            np.add.at(table, (true, labels), weights)
            tables.append(table)
        return cls(names, units, cells, columns, tuple(tables), weights)

    def draws(self, n_resamples: int, *, seed: int) -> Iterator[Floats]:
        """Yield blocks (b, atoms) of bootstrap weights."""
        if self.cells is not None:
            return bootstrap_cells(self.cells.counts, n_resamples, seed=seed)
        return self.units.draws(n_resamples, seed=seed)

    def influence(self, model: int, slope: Floats) -> tuple[Floats, Floats]:
        """Return derivatives by the multiplicity of a unit, and how many units share each."""
        by_atom = np.asarray(self.columns[model] @ slope.ravel())
        if self.cells is not None:
            return by_atom, self.cells.counts
        by_unit = self.units.influence(by_atom)
        return by_unit, np.ones(len(by_unit))


def table_function(quantity: Quantity, predictions: Predictions) -> Callable[[Floats], Floats]:
    """Return the function of margins (..., 3, K) -> (...) that a label quantity is."""
    metric = definition(quantity)
    if metric.family == "table":
        return metric.function
    if quantity.average is None:
        code = class_code(quantity, predictions)
        return lambda m: metric.function(Counts(*(part[..., code] for part in one_vs_rest(m))))
    if quantity.average == "micro":
        return lambda m: metric.function(Counts(*(part.sum(-1) for part in one_vs_rest(m))))

    def averaged(m: Floats) -> Floats:
        values = zero_where_undefined(metric.function(one_vs_rest(m)))
        if quantity.average == "macro":
            return np.asarray(values.mean(-1))
        return np.asarray((values * m[..., 1, :]).sum(-1) / m[..., 1, :].sum(-1))

    return averaged


def class_code(quantity: Quantity, predictions: Predictions) -> int:
    """Return the code of the class that a class-wise quantity is about."""
    return predictions.positive_code if quantity.label is None else predictions.classes.index(quantity.label)


def label_estimates(
    predictions: Predictions, tables: LabelTables, quantities: Sequence[Quantity], n_resamples: int, seed: int
) -> dict[Key, Estimate]:
    """Estimate every label quantity of every label model from one set of draws."""
    functions = {quantity: table_function(quantity, predictions) for quantity in quantities}
    drawn: list[list[Floats]] = [[] for _ in tables.models]
    for weights in tables.draws(n_resamples, seed=seed):
        for j, columns in enumerate(tables.columns):
            drawn[j].append(margins(weights, columns))
    found = {}
    for j, name in enumerate(tables.models):
        replicates = np.concatenate(drawn[j])
        for quantity, function in functions.items():
            found[name, quantity] = _estimate(
                predictions, tables, j, quantity, function, function(replicates)
            )
    return found


def _estimate(
    predictions: Predictions,
    tables: LabelTables,
    model: int,
    quantity: Quantity,
    function: Callable[[Floats], Floats],
    replicates: Floats,
) -> Estimate:
    point = margins_of(tables.tables[model])
    value = float(function(point))
    undefined = np.isnan(value)
    derivative, counts = tables.influence(model, gradient(function, point))
    units = tables.units
    return Estimate(
        tables.models[model],
        quantity,
        0.0 if undefined else value,
        definition(quantity).undefined if undefined else None,
        predictions.n,
        value_range(definition(quantity), predictions),
        derivative=None if undefined else derivative,
        counts=counts,
        replicates=replicates,
        table=tables.tables[model],
        clusters=None if units.cluster is None else units.count,
        weighted=units.weight is not None,
        **(_proportion(quantity, point, predictions) if units.plain else {}),
    )


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
        # Every example is one TP, or one FP and one FN: micro precision, recall and F1 are accuracy.
        pooled = quantity.average == "micro" and metric.name in ("precision", "recall", "f1")
        return {"successes": right, "trials": n} if pooled else {}
    code = class_code(quantity, predictions)
    counts = Counts(*(part[code] for part in one_vs_rest(point)))
    if metric.name == "f1":
        return {"jaccard": (float(counts.tp), float(counts.tp + counts.fp + counts.fn))}
    if metric.proportion is None:
        return {}
    successes, trials = (float(count) for count in metric.proportion(counts))
    return {"successes": successes, "trials": trials}
