"""Records of costs: each model's figures and the ratios of pairs of models, by column and slice."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import cast

import numpy as np

from evalreport.comparisons.pairs import model_pairs
from evalreport.engine.distributions import levelled
from evalreport.intervals.order_statistics import quantile_limits
from evalreport.intervals.registry import Bounds
from evalreport.metrics.quantities import parse
from evalreport.metrics.registry import Quantity, definition, greater_is_better
from evalreport.options import Options, Task
from evalreport.predictions.arrays import Indices, Mask
from evalreport.predictions.column_names import COSTS
from evalreport.predictions.subsets import subset
from evalreport.predictions.table import Predictions
from evalreport.questions.costs.interval import NO_VARIATION
from evalreport.questions.costs.options import cost_unit
from evalreport.questions.costs.records import CostLimits, CostLists, CostRatioRecord, CostRecord
from evalreport.questions.costs.spending import (
    OF_FITS,
    Figure,
    Spending,
    cost_per_success,
    limits_of,
    mean_cost,
    ratio_limits,
    spending,
)
from evalreport.questions.question import Run, question
from evalreport.schema.inputs import JsonObject
from evalreport.schema.metrics import Slice, limit_fields
from evalreport.schema.results import Results
from evalreport.texts import Message, Text

METHOD = "log_hall"


@dataclass(frozen=True, kw_only=True)
class Costs(CostLists):
    """What is known of costs; ``left_out``: how many examples a column's figures lack."""

    left_out: Mapping[str, int]


@question("costs", applies=lambda run: bool(cost_columns(run.predictions)))
def costs(run: Run) -> Costs:
    """Return each model's costs and the ratios of every pair, overall and by slice.

    Rows without a cost are left out of that column's figures for every model.
    """
    predictions, options, deciding = run.predictions, run.options, run.data.deciding
    everything = np.arange(predictions.n)
    parts: list[tuple[Slice | None, Indices, Predictions]] = [(None, everything, predictions)]
    for division in run.data.divisions:
        for code, value in enumerate(division.values):
            rows = np.flatnonzero(division.codes == code)
            place = Slice(column=division.column, value=value)
            parts.append((place, rows, subset(predictions, rows)))
    figures: list[CostRecord] = []
    ratios: list[CostRatioRecord] = []
    left_out: dict[str, int] = {}
    for column in cost_columns(predictions):
        given = known(predictions, column)
        if not given.all():
            left_out[column] = predictions.number(~given)
        for within, rows, part in parts:
            spent = _all_spending(part, column, options, given[rows])
            figures += _records(spent, column, within, options, deciding)
            ratios += _ratios(spent, column, within, deciding)
    undominated = with_undominated(figures, quality_of(run.results))
    return Costs(costs=undominated, cost_ratios=tuple(ratios), left_out=left_out)


def cost_columns(predictions: Predictions) -> tuple[str, ...]:
    """Return the names of the costs that some model gives: the usual ones first, the others by name."""
    names = {name for m in predictions.models if m.answers is not None for name in m.answers.costs}
    return (*(name for name in COSTS if name in names), *sorted(names - set(COSTS)))


def known(predictions: Predictions, column: str) -> Mask:
    """Return the rows whose cost is known of every answer of every model that gives the column."""
    kept = np.ones(predictions.n, dtype=np.bool_)
    for model in predictions.models:
        if model.answers is not None and column in model.answers.costs:
            kept[model.answers.row[np.isnan(model.answers.costs[column])]] = False
    return kept


def _all_spending(predictions: Predictions, column: str, options: Options, kept: Mask) -> dict[str, Spending]:
    by_model = {
        model.name: spending(predictions, model, column, options, kept) for model in predictions.models
    }
    return {name: spent for name, spent in by_model.items() if spent is not None}


def _records(
    spent: dict[str, Spending], column: str, within: Slice | None, options: Options, deciding: Options
) -> Iterator[CostRecord]:
    for model, own in spent.items():
        figures, total = _figures(own, options.confidence), math.fsum(own.cost)
        values: JsonObject = {figure: value for figure, (value, _) in figures.items()}
        reasons: JsonObject = {f"{figure}_reason": limits.reason for figure, (_, limits) in figures.items()}
        of_gates = None
        if deciding is not options:
            of_gates = CostLimits(**_limits(_figures(own, deciding.confidence)))
        yield CostRecord(
            model=model,
            column=column,
            unit=cost_unit(column, options.costs),
            slice=within,
            n=own.n,
            answers=len(own.cost),
            method=METHOD,
            sum=total,
            successes=None if own.success is None else int(own.success.sum()),
            largest_share=float(own.cost.max()) / total if total > 0 else None,
            alike=reasons["mean_reason"] == NO_VARIATION,
            of_gates=of_gates,
            reason=_together(list(reasons.values())),
            **values,
            **_limits(figures),
            **reasons,
        )


Limited = tuple[float | None, Bounds]
"""A figure and its limits."""


def _figures(own: Spending, level: float) -> dict[str, Limited]:
    """Return each figure by its name, with its limits; where all costs are 0 a mean is 0, and one per success."""
    any_success = own.success is not None and bool(own.success.any())
    return {
        "mean": _limited(mean_cost(own), level, otherwise=0.0),
        "per_success": _limited(cost_per_success(own), level, otherwise=0.0 if any_success else None),
        "median": _quantile(own, 0.5, level),
        "p95": _quantile(own, 0.95, level),
    }


def _limited(figure: Figure | Text, level: float, *, otherwise: float | None) -> Limited:
    if isinstance(figure, Figure):
        return figure.value, limits_of(figure, level)
    return otherwise, Bounds(None, None, figure)


def _limits(figures: Mapping[str, Limited]) -> JsonObject:
    """Return the limits of all figures as fields of a record, those of the mean without a prefix."""
    fields: dict[str, float | None] = {}
    for figure, (_, limits) in figures.items():
        fields |= limit_fields(limits, "" if figure == "mean" else f"{figure}_")
    return fields


def _quantile(own: Spending, share: float, level: float) -> Limited:
    value, bounds = quantile_limits(own.cost, share, level, own.groups)
    return value, Bounds(None, None, OF_FITS) if own.of_fits else bounds


def _together(reasons: Sequence[Text | None]) -> Text | None:
    """Join reasons, each once."""
    given = list(dict.fromkeys(reason for reason in reasons if reason is not None))
    return (
        None if not given else given[0] if len(given) == 1 else Message("costs.reasons", reasons=tuple(given))
    )


def _ratios(
    spent: dict[str, Spending], column: str, within: Slice | None, options: Options
) -> Iterator[CostRatioRecord]:
    if options.baseline is not None and options.baseline not in spent:
        return
    for a, b in model_pairs(list(spent), options.baseline):
        first, second = spent[a], spent[b]
        mean, of_mean = _ratio(mean_cost(first), mean_cost(second), options.confidence)
        success, of_success = _ratio(cost_per_success(first), cost_per_success(second), options.confidence)
        yield CostRatioRecord(
            a=a,
            b=b,
            column=column,
            slice=within,
            ratio=mean,
            level=options.confidence,
            method=METHOD,
            alike=of_mean.reason == NO_VARIATION,
            reason=of_mean.reason,
            per_success_ratio=success,
            per_success_reason=of_success.reason,
            **limit_fields(of_mean),
            **limit_fields(of_success, "per_success_"),
        )


def _ratio(a: Figure | Text, b: Figure | Text, level: float) -> tuple[float | None, Bounds]:
    if not isinstance(a, Figure):
        return None, Bounds(None, None, a)
    if not isinstance(b, Figure):
        return None, Bounds(None, None, b)
    return ratio_limits(a, b, level)


def quality_of(results: Results) -> dict[tuple[str, Slice | None], float | None]:
    """Return each model's value of the primary metric by slice, turned so that greater is better."""
    metric = results.primary_metric
    if metric is None:
        return {}
    quantity = parse(metric, cast(Task, results.task), results.classes)
    if definition(quantity).scale.greater_is_better is None:
        return {}
    turned = bool(results.options.get("lower_is_better"))
    sign = 1 if greater_is_better(quantity, lower_is_better=turned) else -1
    return {
        (row.model, row.slice): None if row.value is None else sign * row.value
        for row in results.metrics
        if Quantity.of(row) == quantity
    }


def with_undominated(
    records: Sequence[CostRecord], quality: dict[tuple[str, Slice | None], float | None]
) -> tuple[CostRecord, ...]:
    """Say which models no other is as good and as cheap as.

    Parameters
    ----------
    quality
        Each model's primary value by slice, turned so that greater is better; None or missing: it has none.
    """
    groups: dict[tuple[str, Slice | None], list[CostRecord]] = {}
    for record in records:
        groups.setdefault((record.column, record.slice), []).append(record)
    found = []
    for record in records:
        others = groups[record.column, record.slice]
        known = [v for r in others if (v := quality.get((r.model, r.slice))) is not None]
        if len(known) < len(others):
            found.append(record)
            continue
        values, means = levelled(known), levelled([r.mean for r in others])
        own = others.index(record)
        dominated = any(
            value >= values[own] and mean <= means[own] and (value > values[own] or mean < means[own])
            for value, mean in zip(values, means, strict=True)
        )
        found.append(replace(record, undominated=not dominated))
    return tuple(found)
