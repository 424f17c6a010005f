"""Differences of metrics that no test decides: an interval for each pair, and no p-value."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import product

from evalreport.comparisons.pairs import model_pairs, why_not
from evalreport.intervals import recommended, resolved
from evalreport.intervals.calibration import difference_of_squared_errors
from evalreport.metrics.difference import paired_difference
from evalreport.metrics.registry import Quantity, definition
from evalreport.metrics.sample import Sample
from evalreport.options import Options
from evalreport.schema.comparisons import ComparisonRecord
from evalreport.texts import Message

NO_TEST = Message("reason.no_test_of_metric")


def untested_records(
    samples: Sequence[Sample], quantities: Sequence[Quantity], options: Options
) -> Iterator[ComparisonRecord]:
    """Yield one row a pair on every metric with an interval of the difference and no test, on the same examples."""
    wanted = [q for q in quantities if has_untested_difference(q)]
    for sample in samples:
        pairs = model_pairs([m.name for m in sample.predictions.models], options.baseline)
        for quantity, (a, b) in product(wanted, pairs):
            yield _record(sample, quantity, a, b, options)


def has_untested_difference(quantity: Quantity) -> bool:
    """Say whether a metric has an interval of the difference and no test of it."""
    inference = definition(quantity).inference
    return not inference.test and bool(inference.difference_interval)


def _record(sample: Sample, quantity: Quantity, a: str, b: str, options: Options) -> ComparisonRecord:
    first, second = (sample.estimates[name, quantity] for name in (a, b))
    lacking = why_not(first, second)
    interval = difference = None
    if lacking is None:
        delta = paired_difference(first, second)
        interval, difference = resolved(delta, recommended(delta), options.confidence), delta.value
        if definition(quantity).inference.of_squares:
            difference = difference_of_squared_errors(delta)
    return ComparisonRecord(
        a=a,
        b=b,
        **quantity.fields,
        test=None,
        statistic=None,
        p_value=None,
        difference=difference,
        level=options.confidence,
        low=None if interval is None else interval.low,
        high=None if interval is None else interval.high,
        interval_method=None if interval is None else interval.method,
        recommended=False,
        reason=lacking or (interval.reason if interval is not None and interval.reason else NO_TEST),
    )
