"""Records of every value with its intervals, those for exactly these questions among them."""

from __future__ import annotations

import math
from collections.abc import Collection

import numpy as np

from evalreport.engine.distributions import t_quantile
from evalreport.intervals import all_intervals, leading, leads_as_proportion
from evalreport.metrics.criteria import filled_in
from evalreport.metrics.estimate import Estimate
from evalreport.metrics.evidence import Proportion
from evalreport.metrics.layout import task_weights
from evalreport.metrics.registry import PRIMARY, Quantity
from evalreport.metrics.sample import Sample
from evalreport.options import Options
from evalreport.predictions.arrays import Floats
from evalreport.schema.metrics import MetricRecord, Slice

GateLevel = tuple[float, Collection[Quantity]]
"""The level of the intervals that gates are decided by at a look, and the quantities in gates."""


def metric_records(
    sample: Sample, options: Options, *, within: Slice | None = None, of_gates: GateLevel | None
) -> tuple[MetricRecord, ...]:
    """Return every model's value of every quantity with its intervals, the recommended one first.

    ``within``: the slice that the sample is of; a formula is not filled in there. ``of_gates``: with looks, what gates
    are decided by; without, by the recommended interval.
    """
    predictions, effective = sample.predictions, (sample.n_effective, sample.units.clusters_effective)

    def record(estimate: Estimate) -> MetricRecord:
        quantity, evidence = estimate.quantity, estimate.evidence
        n_effective, clusters_effective = (None, None) if estimate.over_datasets else effective
        these_low, these_high = for_these_questions(sample, estimate, options.confidence)
        intervals = all_intervals(
            estimate, options.intervals, options.confidence, in_slice=within is not None
        )
        return MetricRecord(
            model=estimate.model,
            **quantity.fields,
            slice=within,
            value=None if np.isnan(estimate.value) else float(estimate.value),
            standard_error=estimate.standard_error if estimate.defined else None,
            n=estimate.sampling.n_examples,
            reason=estimate.reason,
            intervals=intervals,
            formula=filled_in(estimate) if within is None else None,
            n_effective=n_effective,
            clusters_effective=clusters_effective,
            clusters=None if clusters_effective is None else estimate.sampling.clusters,
            of_gates=None
            if of_gates is None or quantity not in of_gates[1]
            else leading(estimate, of_gates[0]),
            trials=evidence.trials
            if isinstance(evidence, Proportion) and leads_as_proportion(estimate, intervals[0])
            else None,
            these_low=these_low,
            these_high=these_high,
        )

    every = [sample.estimates[model.name, q] for model in predictions.models for q in sample.quantities]
    return tuple(map(record, every))


def limits_for_these_questions(
    value: float, count: Floats, spread: Floats, share: Floats, level: float
) -> tuple[float, float] | None:
    """Return the limits of a mean outcome for these questions, or None where the attempts do not vary or are single.

    SE^2 = sum over questions of share^2 s^2 / k, with s^2 the variance of the k attempts' outcomes (divisor k - 1);
    Student's t with as many degrees of freedom as the sum of k - 1. The interval for questions like these is wider: it
    also takes in how questions differ.

    Parameters
    ----------
    count, spread
        (Q,) attempts k at each question, and the sum of their squared distances from their mean.
    share
        (Q,) how much each question counts; they add up to 1.

    References
    ----------
    NIST AI 800-3 (2026), which asks to say which of the two is meant.

    Examples
    --------
    Two questions, two attempts each, one of which passed: s^2 = 1/2, SE^2 = 2 * 1/4 * 1/2 / 2 = 1/8, 2 df.

    >>> two = np.array([2.0, 2.0])
    >>> low, high = limits_for_these_questions(0.5, two, np.array([0.5, 0.5]), np.array([0.5, 0.5]), 0.5)
    >>> round((high - low) / 2, 4)
    0.2887
    """
    if (count < 2).any():
        return None
    error = math.sqrt(float((share**2 * spread / (count - 1) / count).sum()))
    if error == 0:
        return None
    half = t_quantile((1 + level) / 2, float((count - 1).sum())) * error
    return value - half, value + half


def for_these_questions(
    sample: Sample, estimate: Estimate, level: float
) -> tuple[float, float] | tuple[None, None]:
    """Return the limits of a model's mean outcome for these questions, cut to its range; none of other values."""
    model = next(m for m in sample.predictions.models if m.name == estimate.model)
    if model.attempts is None or estimate.quantity.metric != PRIMARY["outcome"] or not estimate.defined:
        return None, None
    units = sample.units
    share = task_weights(units, sample.rows.layout) if units.weight is None else units.base / units.base.sum()
    limits = limits_for_these_questions(
        float(estimate.value), model.attempts.count, model.attempts.spread, np.asarray(share), level
    )
    if limits is None:
        return None, None
    lowest, highest = estimate.range
    return max(limits[0], lowest), min(limits[1], highest)
