"""Ratios of two models' values, which gates such as ``new.accuracy >= 0.95 * old.accuracy`` ask for."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np

from evalreport.comparisons.pairs import why_not
from evalreport.errors import UsageError
from evalreport.gates.conditions import Gate, parse
from evalreport.gates.outcomes import metric_record, quantity_of, slice_of
from evalreport.intervals.registry import Bounds
from evalreport.intervals.student import around
from evalreport.metrics.difference import Difference, paired_difference, unpaired_difference
from evalreport.metrics.estimate import Estimate
from evalreport.metrics.evidence import Judged
from evalreport.metrics.registry import Quantity
from evalreport.metrics.sample import Sample
from evalreport.options import Options
from evalreport.predictions.slicing import Division
from evalreport.predictions.table import Predictions
from evalreport.schema.metrics import MetricRatioRecord
from evalreport.schema.results import Results
from evalreport.slices.group_ratios import not_ruled_out
from evalreport.slices.slice_estimates import sampled_alone
from evalreport.texts import Message

METHOD = "student"


def ratio_records(
    results: Results,
    samples: Sequence[Sample],
    predictions: Predictions,
    divisions: Sequence[Division],
    options: Options,
) -> tuple[MetricRatioRecord, ...]:
    """Return the ratios that gates ask for, each once.

    Raises
    ------
    UsageError
        A gate about a metric or slice that the results do not hold.
    """
    asked = [gate for gate in _gates(options, results.models) if gate.of_models]
    found: dict[tuple[object, ...], MetricRatioRecord] = {}
    for gate in asked:
        first, second = gate.terms
        for term in gate.terms:
            metric_record(gate, term, results)
        quantity, within = quantity_of(gate, first, results), slice_of(gate, first, results)
        key = (first.model, second.model, quantity, within)
        if key in found:
            continue
        if within is None:
            own = tuple(samples)
        else:
            division = next(d for d in divisions if d.column == within.column)
            rows = np.flatnonzero(division.codes == division.values.index(within.value))
            own = sampled_alone(predictions, rows, [quantity], options)
        record = _record(own, (first.model, second.model), quantity, options, predictions.design)
        found[key] = replace(record, slice=within)
    return tuple(found.values())


def _gates(options: Options, models: Sequence[str]) -> Iterator[Gate]:
    for text in options.gates:
        try:
            yield parse(text, models=models)
        except UsageError:
            continue  # the gate's decision reports the error


def _record(
    samples: Sequence[Sample], pair: tuple[str, str], quantity: Quantity, options: Options, design: str
) -> MetricRatioRecord:
    a, b = (next(e for s in samples if (e := s.estimates.get((name, quantity))) is not None) for name in pair)
    together = any({*pair} <= {m.name for m in sample.predictions.models} for sample in samples)
    bounds = _limits(a, b, together=together, level=options.confidence, design=design)
    return MetricRatioRecord(
        a=pair[0],
        b=pair[1],
        metric=quantity.metric,
        average=quantity.average,
        label=quantity.label,
        ratio=None if np.isnan(a.value) or np.isnan(b.value) or b.value == 0 else float(a.value / b.value),
        low=bounds.low,
        high=bounds.high,
        level=options.confidence,
        method=METHOD,
        reason=bounds.reason,
    )


def _limits(a: Estimate, b: Estimate, *, together: bool, level: float, design: str) -> Bounds:
    """Return all k at which the t interval of a - k b holds 0.

    Of means that is the paired t interval of a_i - k b_i, of other metrics that of their influence values.

    References
    ----------
    Fieller (1954), J R Stat Soc B 16:175.
    """
    lacking = why_not(a, b)
    if lacking is not None:
        return Bounds(None, None, lacking)
    if design != "test-set" or isinstance(a.evidence, Judged):
        return Bounds(None, None, Message("gates.ratio_of_one_set"))
    if b.value <= 0:
        return Bounds(None, None, Message("gates.no_ratio"))

    def difference(k: float) -> Bounds:
        delta = _less_times(a, b, k, together=together)
        return around(delta, delta.student, level)

    for side in (a, b):
        alone = around(side, side.student, level)
        if alone.low is None:
            return alone
    if not a.standard_error and not b.standard_error:
        return Bounds(None, None, Message("gates.ratio_without_spread"))

    def reach(k: float, side: int) -> float:
        bounds = difference(k)
        limit = bounds.low if side == 0 else bounds.high
        # Where a is a multiple of b, a - k b does not vary at that k.
        return a.value - k * b.value if limit is None else limit

    return Bounds(*not_ruled_out(reach))


def _less_times(a: Estimate, b: Estimate, k: float, *, together: bool) -> Difference:
    """Return a - k b."""
    scaled = replace(b, value=k * b.value, influence=None if b.influence is None else b.influence.scaled(k))
    return paired_difference(a, scaled) if together else unpaired_difference(a, scaled)
