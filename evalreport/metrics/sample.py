"""From predictions to estimates: every quantity of every model, with one set of bootstrap draws for all models."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from evalreport.data.predictions import ModelOutputs, Predictions
from evalreport.engine.ranks import Order, descending_order
from evalreport.engine.tables import Cells
from evalreport.metrics.estimate import Estimate
from evalreport.metrics.label_estimates import LabelTables, label_estimates
from evalreport.metrics.quantities import Quantity, definition
from evalreport.metrics.row_estimates import row_estimates
from evalreport.metrics.units import Units
from evalreport.metrics.views import undefined, view

Floats = npt.NDArray[np.float64]
Key = tuple[str, Quantity]


@dataclass(frozen=True, slots=True)
class Sample:
    """All estimates of a run and what the tests need beside them.

    Attributes
    ----------
    estimates
        By (model, quantity); every model has every quantity, undefined ones with their reason.
    tables
        The label models' counts; None where no model gives labels.
    columns
        (model, quantity) -> (n, p) per-example columns of the metrics of the family ``moments``.
    states
        (model, quantity) -> what the metrics of the family ``rows`` prepared.
    orders
        model -> its sorted scores.
    """

    predictions: Predictions
    units: Units
    quantities: tuple[Quantity, ...]
    estimates: Mapping[Key, Estimate]
    tables: LabelTables | None
    columns: Mapping[Key, Floats]
    states: Mapping[Key, Any]
    orders: Mapping[str, Order]

    @property
    def label_models(self) -> tuple[str, ...]:
        """Names of the models that give labels."""
        return () if self.tables is None else self.tables.models

    @property
    def cells(self) -> Cells | None:
        """Distinct combinations of truth and the labels of ``label_models``; None with clusters or weights."""
        return None if self.tables is None else self.tables.cells


def estimate_all(
    predictions: Predictions, quantities: Sequence[Quantity], *, units: Units, n_resamples: int, seed: int
) -> Sample:
    """Compute every quantity of every model, its influence values and its bootstrap replicates.

    Parameters
    ----------
    predictions
        One test set: each id once.
    units
        What is drawn as one, and what each example weighs.
    n_resamples
        Bootstrap replicates B.
    """
    missing = {(m.name, q): reason for m in predictions.models for q in quantities if (reason := lacks(m, q))}
    estimates = {key: undefined(predictions, key, reason) for key, reason in missing.items()}
    labelled = [q for q in quantities if definition(q).family in ("binary_table", "table")]
    tables = LabelTables.of(predictions, units) if labelled else None
    if tables is not None:
        estimates |= label_estimates(predictions, tables, labelled, n_resamples, seed)
    columns, states = _prepared(predictions, quantities, missing)
    orders = _score_orders(predictions, quantities, missing)
    estimates |= row_estimates(
        predictions, units, columns, states, orders, quantities, n_resamples=n_resamples, seed=seed
    )
    return Sample(predictions, units, tuple(quantities), estimates, tables, columns, states, orders)


def lacks(outputs: ModelOutputs, quantity: Quantity) -> str | None:
    """Say why a model cannot have a quantity, or return None if it can."""
    needs = definition(quantity).needs
    if needs == "labels" and outputs.y_pred is None:
        return (
            "the model gives bare scores and no threshold, so no predicted labels; give y_pred or --threshold"
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


def _prepared(
    predictions: Predictions, quantities: Sequence[Quantity], missing: Mapping[Key, str]
) -> tuple[dict[Key, Floats], dict[Key, Any]]:
    """Return the columns of the moment metrics and the states of the row metrics, by model and quantity."""
    columns: dict[Key, Floats] = {}
    states: dict[Key, Any] = {}
    for outputs in predictions.models:
        model_view = view(predictions, outputs)
        for quantity in quantities:
            metric, key = definition(quantity), (outputs.name, quantity)
            if key in missing:
                continue
            # Squares of numbers near the largest double are infinite; the value is then undefined, and said.
            with np.errstate(over="ignore", invalid="ignore"):
                if metric.family == "moments":
                    assert metric.columns is not None
                    columns[key] = metric.columns(model_view)
                elif metric.family == "rows":
                    assert metric.prepare is not None
                    states[key] = metric.prepare(model_view)
    return columns, states


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
