"""From predictions to estimates: every quantity of every model, with one set of bootstrap draws for all models."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial

import numpy as np
import numpy.typing as npt

from evalreport.config import Average
from evalreport.data.predictions import ModelOutputs, Predictions
from evalreport.data.score_sums import ScoreSums
from evalreport.engine.binned import Bins, bins_of
from evalreport.engine.counts import Cells
from evalreport.engine.distributions import Columns
from evalreport.engine.draws import mapped
from evalreport.engine.ranks import Order, descending_order
from evalreport.metrics.calibration import BINS as CALIBRATION_BINS
from evalreport.metrics.calibration import bin_of
from evalreport.metrics.clustering import clustering_estimates
from evalreport.metrics.estimate import Estimate, Floats, Indices, ModelView, undefined, view
from evalreport.metrics.judged import judged_estimates
from evalreport.metrics.label_estimates import LabelTables, label_estimates
from evalreport.metrics.registry import Chosen, Metric, Quantity, definition
from evalreport.metrics.row_data import MOST_EXACT_ROWS, MOST_RESAMPLED_ROWS, RowData
from evalreport.metrics.row_estimates import row_estimates
from evalreport.metrics.summed_scores import summed_estimates
from evalreport.metrics.units import Layout, Units, layout_of
from evalreport.texts import Message

Key = tuple[str, Quantity]

ONE_EXAMPLE = Message("undefined.fold_of_one")


@dataclass(frozen=True, slots=True)
class Examples:
    """What the models got on each example: (m, k), and how many examples (m,) each row stands for; None: one."""

    values: Floats
    counts: Floats | None = None

    @property
    def n(self) -> int:
        """Number of examples."""
        return len(self.values) if self.counts is None else int(self.counts.sum())


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
    def units(self) -> Units:
        """What is drawn as one, and what each example weighs."""
        return self.rows.units

    @property
    def n_effective(self) -> float | None:
        """Kish's effective number of examples, however often each is predicted; None where they weigh the same."""
        rows = self.units.n_effective
        return None if rows is None else rows * self.predictions.n_examples / self.predictions.n

    def by_example(self, models: Sequence[str], quantity: Quantity) -> Examples | None:
        """Return the numbers whose means the models' values are; None where they are no such means."""
        metric = definition(quantity)
        if metric.per_example is None or self.estimates[models[0], quantity].summed is not None:
            return None
        if metric.needs == "labels" and not set(models) <= set(self.label_models):
            return None
        cells = self.labels(models) if metric.needs == "labels" else None
        if cells is not None:
            views = [ModelView(cells.true, labels, None, None, None) for labels in cells.predicted]
            return Examples(np.column_stack([metric.per_example(v) for v in views]), cells.counts)
        outputs = {m.name: m for m in self.predictions.models}
        by_row = [
            self.rows.columns[name, quantity][:, 1]
            if metric.affine_of is None and (name, quantity) in self.rows.columns
            else metric.per_example(view(self.predictions, outputs[name]))
            for name in models
        ]
        return Examples(np.column_stack(by_row))

    def labels(self, models: Sequence[str]) -> Cells | None:
        """Count what these models said of each class; None where examples are not alike and independent."""
        if self.tables is None or self.tables.cells is None:
            return None
        cells = self.tables.cells
        return replace(cells, predicted=cells.predicted[[self.tables.models.index(name) for name in models]])

    @property
    def label_models(self) -> tuple[str, ...]:
        """Names of the models that give labels."""
        return () if self.tables is None else self.tables.models


def estimate_all(
    predictions: Predictions,
    quantities: Sequence[Quantity],
    *,
    units: Units,
    n_resamples: int,
    seed: int,
    exact: bool = False,
    average: Average = "tasks",
    most_exact: int = MOST_EXACT_ROWS,
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
    exact
        Take the replicates of rank metrics from the rows themselves, however many there are.
    average
        Of a suite: whether a value is the mean of the tasks' values or over all examples.
    most_exact
        Otherwise, up to so many rows.
    """
    layout = layout_of(predictions, average=average)
    single = [q for q in quantities if definition(q).family in ("ranking", "rows")] if _of_one(layout) else []
    missing = {(m.name, q): ONE_EXAMPLE for m in predictions.models for q in single}
    summed = summed_estimates(predictions, quantities, n_resamples=n_resamples, seed=seed)
    missing |= {
        (m.name, q): reason
        for m in predictions.models
        for q in quantities
        if (m.name, q) not in summed and (reason := lacks(m, q, predictions.scores))
    }
    estimates = {key: undefined(predictions, key, reason) for key, reason in missing.items()}
    labelled = [q for q in quantities if definition(q).family in ("binary_table", "table")]
    tables = LabelTables.of(predictions, units, layout.pooled) if labelled else None
    if tables is not None:
        estimates |= label_estimates(predictions, tables, labelled, n_resamples, seed)
    grouped = [q for q in quantities if definition(q).family == "contingency"]
    if grouped:
        estimates |= clustering_estimates(predictions, units, grouped, n_resamples=n_resamples, seed=seed)
    by_row = [q for q in quantities if q not in single]
    rows = prepare_rows(predictions, by_row, units, layout)
    if exact:
        rows = replace(rows, exact=True)
    else:
        many = predictions.n > MOST_RESAMPLED_ROWS
        # Counts of labels need neither scores nor bins.
        if n_resamples and (many or (rows.single and predictions.n > most_exact)):
            rows = _with_bins(rows, predictions) if rows.columns or rows.orders else rows
        rows = replace(rows, many=many)
    estimates |= judged_estimates(predictions, units, layout, quantities)
    estimates |= row_estimates(predictions, rows, by_row, n_resamples=n_resamples, seed=seed)
    return Sample(predictions, tuple(quantities), {**estimates, **summed}, tables, rows)


def _of_one(layout: Layout) -> bool:
    """Say whether rankings would be of one example each, of which every one is perfect and no error the median."""
    return layout.ranked.count > 1 and int(np.bincount(layout.ranked.codes).max()) == 1


def lacks(outputs: ModelOutputs, quantity: Quantity, summed: ScoreSums | None = None) -> Message | None:
    """Say why a model cannot have a quantity, or return None if it can; ``summed``: what is known of scores in sum."""
    given = {
        "labels": outputs.y_pred,
        "scores": outputs.score,
        "probabilities": outputs.proba,
        "values": outputs.y_pred,
        "outcomes": outputs.outcome,
        "passes": outputs.passes,
        "gold": outputs.gold,
        "groups": outputs.y_pred,
    }
    needs = definition(quantity).needs
    if needs not in given or given[needs] is not None:
        return None
    in_sum = needs in ("scores", "probabilities") and summed is not None and outputs.name in summed.models
    return Message("lacks.summed" if in_sum else f"lacks.{needs}")


def prepare_rows(
    predictions: Predictions, quantities: Sequence[Quantity], units: Units, layout: Layout
) -> RowData:
    """Compute the per-example columns, states and orders that the quantities need, by model."""
    rows = RowData(units, layout, {}, {}, {})
    of_model = partial(_of_model, predictions, quantities, layout.ranked.rows())
    for columns, states, orders in mapped(of_model, predictions.models):
        rows = replace(
            rows,
            columns={**rows.columns, **columns},
            states={**rows.states, **states},
            orders={**rows.orders, **orders},
        )
    return rows


def _of_model(
    predictions: Predictions, quantities: Sequence[Quantity], places: Sequence[Indices], outputs: ModelOutputs
) -> tuple[dict[Key, Columns], dict[Key, tuple[object, ...]], dict[str, tuple[Order, ...]]]:
    """Compute one model's columns, states and orders, those of the rows ``places`` of each ranked part."""
    columns: dict[Key, Columns] = {}
    states: dict[Key, tuple[object, ...]] = {}
    orders: dict[str, tuple[Order, ...]] = {}
    whole = view(predictions, outputs)
    views = [whole] if len(places) == 1 else [whole.of(rows) for rows in places]
    prepared: dict[object, tuple[object, ...]] = {}
    of_columns: dict[object, Columns] = {}
    for quantity in quantities:
        metric, key = definition(quantity), (outputs.name, quantity)
        if lacks(outputs, quantity):
            continue
        # Squares of numbers near the largest double are infinite; the value is then undefined, and said.
        with np.errstate(over="ignore", invalid="ignore"):
            if metric.family == "moments":
                assert metric.columns is not None
                if metric.columns not in of_columns:
                    of_columns[metric.columns] = metric.columns(whole)
                columns[key] = of_columns[metric.columns]
            elif metric.family == "rows":
                if metric.prepare not in prepared:
                    prepared[metric.prepare] = _states(metric, views)
                states[key] = _chosen(prepared[metric.prepare], quantity, predictions)
            elif metric.family == "ranking" and outputs.name not in orders:
                orders[outputs.name] = tuple(_order(part) for part in views)
    return columns, states, orders


def _states(metric: Metric, views: Sequence[ModelView]) -> tuple[object, ...]:
    assert metric.prepare is not None
    return tuple(metric.prepare(part) for part in views)


def _chosen(states: tuple[object, ...], quantity: Quantity, predictions: Predictions) -> tuple[object, ...]:
    """Say which average or class of a shared state a class-wise quantity is about."""
    if not definition(quantity).averages:
        return states
    code = None if quantity.label is None else predictions.classes.index(quantity.label)
    return tuple(Chosen(state, quantity.average, code) for state in states)


def _with_bins(rows: RowData, predictions: Predictions) -> RowData:
    """Add the histograms of the scores, from which replicates are taken where there are very many rows.

    All scores are cut into bins, ranked or not: the replicates of a mean of losses, which come from the same bins,
    do not depend on what else is asked for.
    """
    orders = dict(rows.orders)
    if rows.single:
        for outputs in predictions.models:
            whole = view(predictions, outputs)
            if outputs.name not in orders and outputs.score is not None and whole.positive_code is not None:
                orders[outputs.name] = (_order(whole),)
    places = rows.layout.ranked.rows()
    weight, given = rows.units.weight, {m.name: m for m in predictions.models}

    def of_model(name: str) -> tuple[Bins, ...]:
        edges = _calibration_edges(predictions, given[name], orders[name][0]) if rows.single else None
        return tuple(
            bins_of(order, None if weight is None else weight[p], edges)
            for p, order in zip(places, orders[name], strict=True)
        )

    return replace(rows, bins=dict(zip(orders, mapped(of_model, orders), strict=True)))


def _calibration_edges(
    predictions: Predictions, outputs: ModelOutputs, order: Order
) -> npt.NDArray[np.intp] | None:
    """Return the groups at which the bins of the calibration errors begin; None where scores order otherwise."""
    whole = view(predictions, outputs)
    if whole.proba is None or whole.positive_code is None:
        return None
    found = bin_of(whole.proba[order.rows[order.starts], whole.positive_code])
    edges = np.flatnonzero(found[1:] != found[:-1]) + 1
    return edges if len(edges) < CALIBRATION_BINS else None


def _order(part: ModelView) -> Order:
    assert part.score is not None
    assert part.true is not None
    return descending_order(part.score, part.true == part.positive_code)
