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
from evalreport.engine.draws import bootstrap_cells, bootstrap_cells_within
from evalreport.engine.tables import Cells, Codes, Counts, distinct_cells, margin_columns, one_vs_rest
from evalreport.metrics.estimate import Estimate
from evalreport.metrics.layout import Parts
from evalreport.metrics.quantities import Quantity, definition
from evalreport.metrics.units import Units, within
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
    parts
        How many evaluations (repeats, replicates ...) the value is a mean over.
    cells
        Distinct combinations of truth and labels; None with parts, clusters or weights, where units are drawn.
    columns
        By model, (atoms, parts 3 K): which margins one draw of each atom (cell or unit) adds to.
    tables
        By model, the K x K counts over all rows.
    """

    models: tuple[str, ...]
    units: Units
    parts: int
    cells: Cells | None
    columns: tuple[sparse.csr_array, ...]
    tables: tuple[Floats, ...]

    @classmethod
    def of(cls, predictions: Predictions, units: Units, parts: Parts) -> LabelTables | None:
        """Count what the models that give labels said; None where no model does."""
        given = [m for m in predictions.models if m.y_pred is not None]
        if not given or predictions.y_true is None or not predictions.classes:
            return None
        names, k = tuple(m.name for m in given), len(predictions.classes)
        true, predicted = predictions.y_true, [np.asarray(m.y_pred) for m in given]
        if units.plain and parts.count == 1:
            cells = distinct_cells(true, predicted)
            columns = tuple(margin_columns(cells.true, labels, k) for labels in cells.predicted)
            tables = tuple(counted(cells.true, labels, cells.counts, k) for labels in cells.predicted)
            return cls(names, units, 1, cells, columns, tables)
        columns = tuple(
            units.gather(margin_columns(true, labels, k, part=parts.codes, n_parts=parts.count))
            for labels in predicted
        )
        tables = tuple(counted(true, labels, units.base, k) for labels in predicted)
        return cls(names, units, parts.count, None, columns, tables)

    @property
    def n_classes(self) -> int:
        """Number of classes K."""
        return len(self.tables[0])

    def draws(self, n_resamples: int, *, seed: int) -> Iterator[Floats]:
        """Yield blocks (b, atoms) of bootstrap multiplicities."""
        if self.cells is not None and self.units.strata is not None:
            return bootstrap_cells_within(self.cells.counts, self.cells.true, n_resamples, seed=seed)
        if self.cells is not None:
            return bootstrap_cells(self.cells.counts, n_resamples, seed=seed)
        return self.units.unit_draws(n_resamples, seed=seed)

    def margins(self, model: int, multiplicities: Floats) -> Floats:
        """Return the margins (b, parts, 3, K) of one model under multiplicities (b, atoms)."""
        flat: Floats = np.asarray(multiplicities @ self.columns[model])
        return flat.reshape(len(multiplicities), self.parts, 3, self.n_classes)

    def point(self, model: int) -> Floats:
        """Return the margins (parts, 3, K) of one model on the data themselves."""
        ones = np.ones(self.columns[model].shape[0]) if self.cells is None else self.cells.counts
        whole: Floats = self.margins(model, ones[None, :])[0]
        return whole

    def influence(self, model: int, slope: Floats) -> tuple[Floats, Floats]:
        """Return derivatives by the multiplicity of a unit, and how many units share each."""
        by_atom = np.asarray(self.columns[model] @ slope.ravel())
        if self.cells is None:
            return by_atom, np.ones(len(by_atom))
        if self.units.strata is not None:
            by_atom = within(by_atom, self.cells.counts, self.cells.true)
        return by_atom, self.cells.counts


def counted(true: Codes, predicted: Codes, weights: Floats, n_classes: int) -> Floats:
    """Count a K x K confusion table, rows true, columns predicted."""
    table = np.zeros((n_classes, n_classes))
    np.add.at(table, (true, predicted), weights)
    return table


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
    drawn: dict[Key, list[Floats]] = {(name, q): [] for name in tables.models for q in quantities}
    for multiplicities in tables.draws(n_resamples, seed=seed):
        for j, name in enumerate(tables.models):
            block = tables.margins(j, multiplicities)
            for quantity, function in functions.items():
                drawn[name, quantity].append(function(block).mean(axis=1))
    return {
        (name, quantity): _estimate(predictions, tables, j, quantity, function, drawn[name, quantity])
        for j, name in enumerate(tables.models)
        for quantity, function in functions.items()
    }


def _estimate(
    predictions: Predictions,
    tables: LabelTables,
    model: int,
    quantity: Quantity,
    function: Callable[[Floats], Floats],
    replicates: Sequence[Floats],
) -> Estimate:
    point = tables.point(model)
    values = function(point)
    value = float(zero_where_undefined(values).mean())
    undefined = bool(np.isnan(values).any())
    slopes = np.stack([gradient(function, part) for part in point]) / tables.parts
    derivative, counts = tables.influence(model, slopes)
    units = tables.units
    return Estimate(
        tables.models[model],
        quantity,
        value,
        definition(quantity).undefined if undefined else None,
        predictions.n_examples,
        value_range(definition(quantity), predictions),
        derivative=None if undefined else derivative,
        counts=counts,
        replicates=np.concatenate(replicates),
        table=tables.tables[model],
        clusters=None if units.cluster is None else units.count,
        weighted=units.weight is not None,
        **(_proportion(quantity, point[0], predictions) if units.plain and tables.parts == 1 else {}),
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
