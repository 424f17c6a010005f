"""Ratios of two models' values, which gates such as ``new.accuracy >= 0.95 * old.accuracy`` ask for."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from evalreport.comparisons.pairs import compare, why_not
from evalreport.gates.conditions import parsed
from evalreport.gates.outcomes import SAME_COUNT, place_of_pair
from evalreport.intervals.proportions import paired_ratio_limits
from evalreport.intervals.registry import Bounds
from evalreport.intervals.student import around
from evalreport.intervals.two_sets import ratio_of_two_sets
from evalreport.metrics.difference import Difference, paired_difference
from evalreport.metrics.estimate import Estimate
from evalreport.metrics.evidence import PredictionPowered
from evalreport.metrics.registry import Quantity
from evalreport.metrics.sample import Sample
from evalreport.options import Options
from evalreport.predictions.slicing import Division
from evalreport.predictions.table import Predictions
from evalreport.questions.slices.group_ratios import not_ruled_out
from evalreport.questions.slices.slice_estimates import sampled_alone
from evalreport.schema.metrics import MetricRatioRecord, Slice
from evalreport.schema.results import Results
from evalreport.texts import Message

FIELLER = "student"


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
    ratios: dict[tuple[object, ...], MetricRatioRecord] = {}
    for gate in parsed(options.gates, results.models):
        if not gate.of_models:
            continue
        first, second = gate.terms
        quantity, within = place_of_pair(gate, results)
        key = (first.model, second.model, quantity, within)
        if key in ratios:
            continue
        own = samples_within(within, quantity, samples, predictions, divisions, options)
        record = _record(own, (first.model, second.model), quantity, options, predictions.design)
        ratios[key] = replace(record, slice=within)
    return tuple(ratios.values())


def samples_within(
    within: Slice | None,
    quantity: Quantity,
    samples: Sequence[Sample],
    predictions: Predictions,
    divisions: Sequence[Division],
    options: Options,
) -> Sequence[Sample]:
    """Return the samples of a slice that estimate one quantity; without a slice those of all examples."""
    if within is None:
        return samples
    division = next(d for d in divisions if d.column == within.column)
    rows = np.flatnonzero(division.codes == division.values.index(within.value))
    return sampled_alone(predictions, rows, [quantity], options)


def _record(
    samples: Sequence[Sample], pair: tuple[str, str], quantity: Quantity, options: Options, design: str
) -> MetricRatioRecord:
    a, b = (next(e for s in samples if (e := s.estimates.get((name, quantity))) is not None) for name in pair)
    bounds, method = _limits(samples, a, b, options, design)
    return MetricRatioRecord(
        a=pair[0],
        b=pair[1],
        **quantity.fields,
        ratio=None if np.isnan(a.value) or np.isnan(b.value) or b.value == 0 else float(a.value / b.value),
        low=bounds.low,
        high=bounds.high,
        level=options.confidence,
        method=method,
        reason=bounds.reason,
    )


def _limits(
    samples: Sequence[Sample], a: Estimate, b: Estimate, options: Options, design: str
) -> tuple[Bounds, str]:
    """Return the limits of a / b and how they were made.

    Of two shares of the same examples by the restricted score test, of two test sets from both values' limits on
    logarithms, else all k at which the t interval of a - k b holds 0 (Fieller 1954).
    """
    lacking = why_not(a, b)
    if lacking is not None:
        return Bounds(None, None, lacking), FIELLER
    if design != "test-set" or isinstance(a.evidence, PredictionPowered):
        return Bounds(None, None, Message("gates.ratio_of_one_set")), FIELLER
    if b.value <= 0:
        return Bounds(None, None, Message("gates.no_ratio")), FIELLER
    level = options.confidence
    sample = next((s for s in samples if {a.model, b.model} <= {m.name for m in s.predictions.models}), None)
    if sample is None:
        return ratio_of_two_sets(a, b, level), "square_and_add"
    shares = _shares(sample, a, b, options)
    if shares is not None:
        both, only_a, only_b, neither = shares
        low, high = paired_ratio_limits(both, only_a, only_b, both + only_a + only_b + neither, level)
        return Bounds(low, high, None if high is not None else Message("gates.ratio_without_end")), "score"
    return _fieller(a, b, level), FIELLER


def _shares(
    sample: Sample, a: Estimate, b: Estimate, options: Options
) -> tuple[float, float, float, float] | None:
    """Count the trials of two shares of the same examples: both, only a, only b, neither; None of other metrics."""
    plain = replace(options, baseline=None)
    pairs = (c.pair for c in compare(sample, [a.quantity], plain) if {c.a, c.b} == {a.model, b.model})
    pair = next(pairs, None)
    shares = None if pair is None else pair.difference.shares
    if pair is None or shares is None:
        return None
    both, only_a, only_b, neither = shares
    if pair.a.model != a.model:
        only_a, only_b = only_b, only_a
    n = both + only_a + only_b + neither
    for counts in (
        (both, only_a, only_b, neither),
        (neither, only_b, only_a, both),
    ):  # of right or of wrong answers
        if abs(counts[0] + counts[1] - n * a.value) < SAME_COUNT > abs(counts[0] + counts[2] - n * b.value):
            return counts
    return None


def _fieller(a: Estimate, b: Estimate, level: float) -> Bounds:
    """Return all k at which the t interval of a - k b holds 0.

    Of means that is the paired t interval of a_i - k b_i, of other metrics that of their influence values.

    References
    ----------
    Fieller (1954), J R Stat Soc B 16:175.
    """

    def difference(k: float) -> Bounds:
        delta = _less_times(a, b, k)
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


def _less_times(a: Estimate, b: Estimate, k: float) -> Difference:
    """Return a - k b."""
    scaled = replace(b, value=k * b.value, influence=None if b.influence is None else b.influence.scaled(k))
    return paired_difference(a, scaled)
