"""From predictions to estimates: every quantity of every model, with one set of bootstrap draws for all models."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import product

import numpy as np

from evalreport.engine.counts import Cells
from evalreport.engine.distributions import Columns
from evalreport.engine.parallel import mapped
from evalreport.engine.ranks import Order, with_equal_columns
from evalreport.metrics.chosen_threshold import with_chosen_thresholds
from evalreport.metrics.clustering import clustering_estimates
from evalreport.metrics.counted_rows import CountedRows
from evalreport.metrics.estimate import Estimate, undefined
from evalreport.metrics.label_estimates import LabelTables, Resampled, everything, label_estimates
from evalreport.metrics.layout import Layout, layout_of
from evalreport.metrics.metric import Chosen, ClassCounts, Contingency, Margins, Moments, Ranks, RowWise
from evalreport.metrics.prediction_powered import prediction_powered_estimates
from evalreport.metrics.quantities import lacks
from evalreport.metrics.registry import Quantity, definition, of_family
from evalreport.metrics.replicates import drawn_in_groups, with_replicates
from evalreport.metrics.row_data import RowData
from evalreport.metrics.row_estimates import rarest, row_estimates
from evalreport.metrics.summed import summed_estimates
from evalreport.metrics.sums import columns_of_sums, function_of_sums
from evalreport.metrics.views import ModelView, view
from evalreport.options import Average as AverageOverTasks
from evalreport.predictions.table import ModelOutputs, Predictions
from evalreport.samplings import Sampling
from evalreport.texts import Message

Key = tuple[str, Quantity]

ONE_EXAMPLE = Message("undefined.fold_of_one")


@dataclass(frozen=True, slots=True)
class Sample:
    """All estimates of a run and what the tests need beside them.

    Attributes
    ----------
    estimates
        By (model, quantity); every model has every quantity, undefined ones with their reason.
    tables
        The label models' counts; None where no model gives labels.
    rows
        What the per-example metrics work on.
    """

    predictions: Predictions
    quantities: tuple[Quantity, ...]
    estimates: Mapping[Key, Estimate]
    tables: LabelTables | None
    rows: RowData

    @property
    def units(self) -> Sampling:
        """What is drawn as one, and what each example weighs."""
        return self.rows.units

    @property
    def n_effective(self) -> float | None:
        """Kish's effective number of examples, however often each is predicted; None where they weigh the same."""
        rows, once = self.units.n_effective, self.units.times is not None
        return rows if rows is None or once else rows * self.predictions.n_examples / self.predictions.n

    def by_example(self, models: Sequence[str], quantity: Quantity) -> CountedRows | None:
        """Return the numbers whose means the models' values are; None where they are no such means."""
        metric = definition(quantity)
        if metric.needs != "labels" and quantity.label is not None:
            return None
        if metric.per_example is None or self.estimates[models[0], quantity].sampling.only_sums:
            return None
        if metric.needs == "labels" and not set(models) <= set(self.label_models):
            return None
        cells = self.labels(models) if metric.needs == "labels" else None
        if cells is not None:
            views = [ModelView(cells.true, labels, None, None, None) for labels in cells.predicted]
            return CountedRows(np.column_stack([metric.per_example(v) for v in views]), cells.counts)
        outputs = {m.name: m for m in self.predictions.models}
        by_row = [
            self.rows.columns[name, quantity][1]
            if metric.scale.affine_of is None and (name, quantity) in self.rows.columns
            else metric.per_example(view(self.predictions, outputs[name]))
            for name in models
        ]
        return CountedRows(with_equal_columns(np.column_stack(by_row)), self.units.times)

    def labels(self, models: Sequence[str]) -> Cells | None:
        """Count these models' answers by true class; None unless examples are independent and equally weighted."""
        cells = None if self.tables is None else self.tables.cells
        if self.tables is None or cells is None or not self.units.plain:
            return None
        return self.tables.cells_of(tuple(models))

    @property
    def label_models(self) -> tuple[str, ...]:
        """Names of the models that give labels."""
        return () if self.tables is None else self.tables.models


def estimate_all(
    predictions: Predictions,
    quantities: Sequence[Quantity],
    *,
    units: Sampling,
    n_resamples: int,
    seed: int,
    average: AverageOverTasks = "tasks",
    resampled: Resampled = everything,
    of_rows: bool = False,
) -> Sample:
    """Compute every quantity of every model, its influence values and its bootstrap replicates.

    Parameters
    ----------
    predictions
        Test predictions in any design; a value is the mean over the parts of its layout.
    units
        What is drawn as one, and what each example weighs.
    n_resamples
        Bootstrap replicates B.
    average
        Of a suite: whether a value is the mean of the tasks' values or over all examples.
    resampled
        Says of an estimate whether it gets bootstrap replicates.
    of_rows
        Whether many rows are drawn for the metrics that have no influence values.
    """
    layout = layout_of(predictions, average=average)
    if units.n and not units.base.any():
        keys, why = product((m.name for m in predictions.models), quantities), Message("undefined.weightless")
        lost = {key: undefined(predictions, key, why) for key in keys}
        return Sample(predictions, tuple(quantities), lost, None, RowData(units, layout, {}, {}, {}))
    single = of_family(quantities, Ranks, RowWise) if _of_one(layout) else []
    missing = {(m.name, q): ONE_EXAMPLE for m in predictions.models for q in single}
    summed = summed_estimates(predictions, quantities, n_resamples=n_resamples, seed=seed)
    missing |= {
        (m.name, q): reason
        for m, q in product(predictions.models, quantities)
        if (m.name, q) not in summed and (reason := lacks(m, q, predictions.scores))
    }
    estimates = {key: undefined(predictions, key, reason) for key, reason in missing.items()}
    labelled = [] if predictions.task == "sums" else of_family(quantities, ClassCounts, Margins)
    tables, labels = label_estimates(
        predictions, units, layout.pooled, labelled, n_resamples, seed, resampled
    )
    if tables is None and any(definition(quantity).ordered for quantity in quantities):
        tables = LabelTables.of(predictions, units, layout.pooled)
    grouped = of_family(quantities, Contingency)
    found = prediction_powered_estimates(predictions, units, layout, quantities)
    if grouped:
        found |= clustering_estimates(predictions, units, grouped, n_resamples=n_resamples, seed=seed)
    by_row = [q for q in quantities if q not in single]
    rows = prepare_rows(predictions, by_row, units, layout)
    in_groups = drawn_in_groups(rows, rarest(predictions), len(predictions.classes))
    by_rows = row_estimates(predictions, rows, by_row)
    drawn = {key for key, e in by_rows.items() if e.metric.inference.resampled and resampled(e)}
    found |= with_replicates(
        rows, by_rows, drawn, n_resamples=n_resamples, seed=seed, in_groups=in_groups, of_rows=of_rows
    )
    found |= with_chosen_thresholds(rows, found, n_resamples=n_resamples, seed=seed)
    if in_groups:
        # The states of many rows are large, and nothing else needs them.
        rows = replace(rows, states={})
    return Sample(predictions, tuple(quantities), {**estimates, **labels, **found, **summed}, tables, rows)


def _of_one(layout: Layout) -> bool:
    """Say whether rankings would be of one example each, of which every one is perfect and no error the median."""
    return layout.ranked.count > 1 and int(np.bincount(layout.ranked.codes).max()) == 1


def prepare_rows(
    predictions: Predictions, quantities: Sequence[Quantity], units: Sampling, layout: Layout
) -> RowData:
    """Compute the per-example columns, states and orders that the quantities need, by model."""
    summed = predictions.task == "sums"
    functions = {quantity: function_of_sums(quantity) for quantity in quantities} if summed else {}
    rows_of_parts = layout.ranked.rows()
    wholes = {
        outputs.name: replace(view(predictions, outputs), mean_weight=units.mean_weight)
        for outputs in predictions.models
    }
    views = {
        m: [whole] if len(rows_of_parts) == 1 else [whole.of(p) for p in rows_of_parts]
        for m, whole in wholes.items()
    }
    columns: dict[Key, Columns] = {}
    states: dict[Key, tuple[object, ...]] = {}
    orders: dict[str, tuple[Order, ...]] = {}
    for prepared in mapped(partial(_of_model, predictions, views, quantities), predictions.models):
        columns |= prepared[0]
        states |= prepared[1]
        orders |= prepared[2]
    return RowData(units, layout, columns, states, orders, functions)


def _of_model(
    predictions: Predictions,
    views: Mapping[str, Sequence[ModelView]],
    quantities: Sequence[Quantity],
    outputs: ModelOutputs,
) -> tuple[dict[Key, Columns], dict[Key, tuple[object, ...]], dict[str, tuple[Order, ...]]]:
    """Compute one model's columns, states or orders, the latter from the view of each ranked part."""
    columns: dict[Key, Columns] = {}
    states: dict[Key, tuple[object, ...]] = {}
    orders: dict[str, tuple[Order, ...]] = {}
    parts = views[outputs.name]
    prepared: dict[tuple[object, int | None], tuple[object, ...]] = {}
    of_columns: dict[object, Columns] = {}
    for quantity in quantities:
        computation, key = definition(quantity).computation, (outputs.name, quantity)
        if lacks(outputs, quantity):
            continue
        # Squares of numbers near the largest double are infinite; the value is then undefined, with that reason.
        with np.errstate(over="ignore", invalid="ignore"):
            if predictions.task == "sums":
                columns[key] = columns_of_sums(view(predictions, outputs), quantity, predictions)
            elif isinstance(computation, Moments):
                if computation.columns not in of_columns:
                    of_columns[computation.columns] = computation.columns(view(predictions, outputs))
                columns[key] = of_columns[computation.columns]
                if quantity.label is not None:
                    columns[key] = _of_class(columns[key], predictions, quantity)
            elif isinstance(computation, RowWise):
                code = _code(quantity, predictions) if definition(quantity).by_class else None
                if (computation.prepare, code) not in prepared:
                    own = parts if code is None else [replace(part, positive_code=code) for part in parts]
                    prepared[computation.prepare, code] = tuple(computation.prepare(part) for part in own)
                states[key] = chosen_states(prepared[computation.prepare, code], quantity, predictions)
            elif isinstance(computation, Ranks) and outputs.name not in orders:
                orders[outputs.name] = tuple(part.order for part in parts)
    return columns, states, orders


def _of_class(columns: Columns, predictions: Predictions, quantity: Quantity) -> Columns:
    """Return the columns of the mean of a loss with the examples of one class alone."""
    assert isinstance(columns, tuple)
    own = np.asarray(predictions.y_true == _code(quantity, predictions), dtype=np.float64)
    return tuple(column * own for column in columns)


def chosen_states(
    states: tuple[object, ...], quantity: Quantity, predictions: Predictions
) -> tuple[object, ...]:
    """Say which average or class of a shared state a class-wise quantity is about."""
    if not definition(quantity).averages:
        return states
    code = _code(quantity, predictions)
    return tuple(Chosen(state, quantity.average, code) for state in states)


def _code(quantity: Quantity, predictions: Predictions) -> int | None:
    """Return the code of the class that a quantity is about; None: of all classes."""
    return None if quantity.label is None else predictions.labels.codes[quantity.label]
