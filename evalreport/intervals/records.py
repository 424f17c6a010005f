"""Records of every value with its intervals."""

from __future__ import annotations

from collections.abc import Collection

import numpy as np

from evalreport.intervals import all_intervals, leading, leads_as_proportion
from evalreport.intervals.these_questions import for_these_questions
from evalreport.metrics.criteria import filled_in
from evalreport.metrics.estimate import Estimate
from evalreport.metrics.evidence import Proportion
from evalreport.metrics.registry import Quantity
from evalreport.metrics.sample import Sample
from evalreport.options import Options
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
