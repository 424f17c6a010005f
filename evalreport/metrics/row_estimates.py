"""Estimates that need rows: means of losses, rank metrics, and metrics of the family ``RowWise``."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial

import numpy as np

from evalreport.calibration.risks import Risks
from evalreport.engine.distributions import Columns, column_totals, combined, gradient
from evalreport.engine.parallel import mapped
from evalreport.engine.ranks import ClassRanks, RankedWeights, along, steepest_slopes
from evalreport.metrics.estimate import Estimate, undefined, value_range
from evalreport.metrics.evidence import (
    EffectiveProportion,
    Evidence,
    Mean,
    Proportion,
    RankedClasses,
    Ranking,
    Rows,
    Scores,
    SquaredErrors,
    SumsByUnit,
)
from evalreport.metrics.layout import Layout, Parts, by_seed
from evalreport.metrics.metric import Chosen, Ranks, RowWise
from evalreport.metrics.ordered import ordered_evidence
from evalreport.metrics.registry import Quantity, definition
from evalreport.metrics.row_data import RowData, all_finite, mean_of_parts
from evalreport.metrics.views import view
from evalreport.predictions.arrays import Floats, Indices
from evalreport.predictions.table import Predictions
from evalreport.samplings import Influence, Sampling
from evalreport.texts import Message, Text

Key = tuple[str, Quantity]

TOO_LARGE = Message("undefined.too_large")


def row_estimates(
    predictions: Predictions, data: RowData, quantities: Sequence[Quantity]
) -> dict[Key, Estimate]:
    """Estimate the quantities of the families ``moments``, ``ranking`` and ``rows``, without replicates."""
    ranked = [q for q in quantities if isinstance(definition(q).computation, Ranks)]
    estimates: dict[Key, Estimate] = {}
    rare = rarest(predictions)
    # The same arrays for all quantities: what they give is remembered by them.
    ranked_rows = _rows_of(data.layout.ranked) if data.states else ()
    weights = [data.units.base[rows][None, :] for rows in ranked_rows]

    def of_moments(key: Key) -> dict[Key, Estimate]:
        return {key: _of_moments(predictions, data, key)}

    def of_ranks(name: str) -> dict[Key, Estimate]:
        return _of_ranks(predictions, data, name, ranked, rare)

    def of_rows(key: Key) -> dict[Key, Estimate]:
        return {key: _of_rows(predictions, data, key, weights, rare)}

    # The longest first, and metric by metric: two threads would otherwise compute the shared parts of a model twice.
    states = sorted(data.states, key=lambda key: key[1].spelled)
    works: list[Callable[[], dict[Key, Estimate]]] = []
    works += [partial(of_ranks, name) for name in (data.orders if ranked else ())]
    works += [partial(of_rows, key) for key in states]
    works += [partial(of_moments, key) for key in data.columns]
    for found in mapped(lambda work: work(), works):
        estimates |= found
    return estimates


def _why_undefined(reason: Text | None, values: Floats, layout: Layout) -> Text | None:
    """Name the first task of a suite in which a metric has no value; else return the reason as it is."""
    if not layout.whole or layout.ranked.count == 1:
        return reason
    ((_, task),) = layout.ranked.names[int(np.isnan(values).argmax())]
    return Message("undefined.in_task", task=task, why=reason)


def _estimate(
    predictions: Predictions,
    data: RowData,
    key: Key,
    value: float,
    derivative: Floats | None,
    evidence: Evidence,
) -> Estimate:
    """Put an estimate together; derivatives (n,) are by an example's weight."""
    units = data.units
    influence = None
    if derivative is not None:
        influence = units.influence_by(derivative)
        if units.times is not None and units.cluster is None:
            influence = Influence(units.centred(derivative * units.weights), units.times)
        influence = replace(influence, by_fit=by_seed(predictions, units, data.layout.fits, derivative))
        if definition(key[1]).needs == "passes":
            influence = replace(influence, by_example=None)
    low, high = value_range(definition(key[1]), predictions)
    return Estimate(
        model=key[0],
        quantity=key[1],
        value=min(max(value, low), high),  # sums of weights are rounded, so that a perfect model may exceed 1
        range=(low, high),
        sampling=units,
        evidence=evidence,
        influence=influence,
    )


def _of_moments(predictions: Predictions, data: RowData, key: Key) -> Estimate:
    metric, columns, parts = definition(key[1]), data.columns[key], data.layout.pooled
    if not all_finite(columns):
        return undefined(predictions, key, metric.scale.undefined or TOO_LARGE)
    values, derivative = np.empty(parts.count), np.empty(predictions.n)
    function = data.function(key[1])
    for j, rows in enumerate(_rows_of(parts)):
        part = columns
        if parts.count > 1:
            part = tuple(column[rows] for column in columns) if isinstance(columns, tuple) else columns[rows]
        heavy = data.units.heavy  # of a table of counts a row stands for several examples
        sums = column_totals(None if heavy is None else heavy[rows], part)
        values[j] = function(sums)
        if metric.inference.smooth:
            derivative[rows] = combined(part, gradient(function, sums) / parts.count)
    if not np.isfinite(values).all():
        return undefined(predictions, key, metric.scale.undefined if np.isnan(values).any() else TOO_LARGE)
    slopes = derivative if metric.inference.smooth else None
    evidence: Evidence = _of_columns(key, columns, data)
    if metric.ordered and data.units.plain and parts.count == 1:
        outputs = next(m for m in predictions.models if m.name == key[0])
        evidence = ordered_evidence(metric, view(predictions, outputs), data.units.times) or evidence
    return _estimate(predictions, data, key, float(values.mean()), slopes, evidence)


def _of_columns(key: Key, columns: Columns, data: RowData) -> Evidence:
    """Return the evidence of a function of sums: a proportion where it is a mean of zeros and ones."""
    metric, units = definition(key[1]), data.units
    if key[1] in data.of_sums:
        return SumsByUnit()
    if metric.from_squares is not None and units.plain and data.layout.pooled.count == 1:
        assert isinstance(columns, tuple)
        return SquaredErrors(columns[1], columns[3] if len(columns) > 3 else None)
    other = Mean() if metric.is_mean else Rows()
    if not metric.inference.may_be_proportion or not np.isin(columns[1], (0, 1)).all():
        return other
    if units.plain and data.layout.pooled.count == 1:
        times = 1.0 if units.times is None else units.times
        return Proportion(float((times * columns[1]).sum()), float((times * columns[0]).sum()))
    return other if units.trials_effective is None else EffectiveProportion(units.trials_effective)


def _of_ranks(
    predictions: Predictions, data: RowData, model: str, quantities: Sequence[Quantity], rare: float | None
) -> dict[Key, Estimate]:
    """Estimate a model's rank metrics; its scores are sorted and its groups are weighed once for all of them."""
    orders, rows_of_parts, heavy = data.orders[model], _rows_of(data.layout.ranked), data.units.heavy
    parts = [*zip(rows_of_parts, orders, strict=True)]
    groups = [along(order, None if heavy is None else heavy[rows]) for rows, order in parts]
    corners = [
        along(order.merged, data.units.base[rows][None, :], data.units.mean_weight) for rows, order in parts
    ]
    estimates = {}
    evidence: Ranking | Rows = Rows(rare)
    if len(orders) == 1:
        positive = orders[0].positive
        positives = int(np.count_nonzero(positive))
        two = len(orders[0].starts) <= 2
        labels = orders[0].score > orders[0].thresholds[-1] if two else None
        evidence = Ranking(positive, (positives, len(positive) - positives), rare, labels)
    for quantity in quantities:
        key, metric = (model, quantity), definition(quantity)
        computation = metric.of(Ranks)
        smooth = computation.derivative is not None
        values = np.array([computation.function(one) for one in (groups if smooth else corners)]).ravel()
        value = float(mean_of_parts(values, data.layout))
        if np.isnan(value):
            estimates[key] = undefined(
                predictions, key, _why_undefined(metric.scale.undefined, values, data.layout)
            )
            continue
        slopes: Floats | None = None
        of_value: Evidence = evidence if smooth else _of_corners(computation, corners, data.units, rare)
        if computation.derivative is not None:
            slopes = _rank_slopes(computation.derivative, data, model, groups, values)
            if isinstance(evidence, Ranking):
                of_value = replace(evidence, steepest=steepest_slopes(computation.derivative, groups[0]))
        estimates[key] = _estimate(predictions, data, key, value, slopes, of_value)
    return estimates


def _of_corners(
    computation: Ranks, corners: Sequence[RankedWeights], units: Sampling, rare: float | None
) -> Evidence:
    """Return the evidence of a value at the corners of one ranking, or of several."""
    if len(corners) == 1 and computation.closed is not None and _one_by_one(units):
        evidence: Evidence = computation.closed(corners[0])
        return evidence
    if len(corners) > 1 or computation.proportion is None:
        return Rows(rare)
    successes, trials = map(float, computation.proportion(corners[0]))
    return Proportion(successes, trials, rarest=rare) if units.plain else Rows(rare, trials)


def _one_by_one(units: Sampling) -> bool:
    """Say whether single examples are drawn from all of them, and count the same."""
    return units.plain and units.strata is None and {"one_task", "any_order"} <= units.meets


def _rank_slopes(
    derivative_of: Callable[..., tuple[Floats, Floats]],
    data: RowData,
    model: str,
    groups: Sequence[RankedWeights],
    values: Floats,
) -> Floats:
    """Return the derivative (n,) of the mean over those parts in which the value is defined."""
    orders, defined = data.orders[model], ~np.isnan(values)
    if len(orders) == 1:
        return orders[0].by_example(*derivative_of(groups[0].positives, groups[0].negatives))
    slopes = np.zeros(data.units.n)
    for rows, order, group, holds in zip(data.layout.ranked.rows(), orders, groups, defined, strict=True):
        if holds:
            of_group = derivative_of(group.positives, group.negatives)
            slopes[rows] = order.by_example(*of_group) / defined.sum()
    return slopes


def _rows_of(parts: Parts) -> Sequence[Indices | slice]:
    """Return the rows of each part; a single one holds all of them as they are."""
    return [slice(None)] if parts.count == 1 else parts.rows()


def _of_rows(
    predictions: Predictions, data: RowData, key: Key, weights: Sequence[Floats], rare: float | None
) -> Estimate:
    metric, states = definition(key[1]), data.states[key]
    computation = metric.of(RowWise)
    values, slopes = (
        np.empty(len(states)),
        None if computation.derivative is None else np.zeros(predictions.n),
    )
    for j, (rows, state) in enumerate(zip(_rows_of(data.layout.ranked), states, strict=True)):
        values[j] = computation.function(state, weights[j])[0]
        if computation.derivative is not None and slopes is not None and np.isfinite(values[j]):
            slopes[rows] = computation.derivative(state, weights[j])[0]
    values[~np.isfinite(values)] = np.nan
    value = float(mean_of_parts(values, data.layout))
    if np.isnan(value):
        first = states[int(np.isnan(values).argmax())]
        why = computation.why_undefined
        reason = metric.scale.undefined if why is None else why(first)
        return undefined(predictions, key, _why_undefined(reason or TOO_LARGE, values, data.layout))
    if slopes is not None:
        slopes /= int((~np.isnan(values)).sum())
    evidence: Evidence = Rows(rare)
    if len(states) == 1:
        evidence = evidence_of_classes(states[0]) or evidence
    if isinstance(states[0], Risks) and len(states) == 1:
        units, evidence = data.units, states[0]
        if not (units.heavy is None and units.cluster is None):
            evidence = Risks(evidence.p, evidence.y, units.heavy, units.cluster)
    if computation.scored is not None and len(states) == 1:
        score, y = computation.scored(states[0])
        rate = computation.rate_of(len(y))
        evidence = evidence if rate is None else Scores(score, y, rate)
    if computation.closed is not None and _one_by_one(data.units) and len(states) == 1:
        evidence = computation.closed(states[0])
    return _estimate(predictions, data, key, value, slopes, evidence)


def evidence_of_classes(state: object) -> Ranking | RankedClasses | None:
    """Return the ranking by the probability of the one class that is chosen, or those that are averaged; else None."""
    ranks = state.state if isinstance(state, Chosen) else state
    if not isinstance(ranks, ClassRanks):
        return None
    if isinstance(state, Chosen) and state.code is not None:
        positive = ranks.true == state.code
        of_class = int(np.count_nonzero(positive)), int(np.count_nonzero(~positive))
        return Ranking(positive, of_class, float(min(of_class)))
    sizes = np.bincount(ranks.true, minlength=ranks.n_classes)
    by_share = isinstance(state, Chosen) and state.average == "weighted"
    parts = sizes / sizes.sum() if by_share else np.full(len(sizes), 1 / len(sizes))
    return RankedClasses(ranks.true, sizes, parts, float(sizes.min()))


def rarest(predictions: Predictions) -> float | None:
    """Return how many examples the rarest class in the truth has; None without classes."""
    if not predictions.classes or predictions.y_true is None:
        return None
    true, k = predictions.y_true, len(predictions.classes)
    counts = np.bincount(true) if k > 2 else np.array([np.count_nonzero(true == code) for code in range(k)])
    return float(counts[counts > 0].min())
