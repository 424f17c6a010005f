"""Finding one number in our results: by model, metric, interval, pair and test."""

from __future__ import annotations

from collections.abc import Callable

from evalreport.questions.thresholds.records import OperatingPointRecord
from evalreport.schema.comparisons import ComparisonRecord
from evalreport.schema.metrics import Interval, MetricRecord
from evalreport.schema.results import Results

Missing = LookupError
TANGO = "tango"


def shown_interval(quantity: str) -> str:
    """Return which interval the comparisons have to show for a reference quantity to be read."""
    return TANGO if quantity == "paired difference, Tango score interval" else "all"


def metric(
    results: Results, model: str, name: str, *, average: str | None = None, label: str | None = None
) -> MetricRecord:
    """Return the record of one model's metric on the whole test set."""
    wanted = (model, name, average, label, None)
    for record in results.metrics:
        if (record.model, record.metric, record.average, record.label, record.slice) == wanted:
            return record
    raise Missing(f"no metric {wanted[:4]}")


def operating_point(
    results: Results, model: str, criterion: str, metric: str | None = None
) -> OperatingPointRecord:
    """Return a model's threshold by a criterion."""
    for record in results.operating_points:
        if (record.model, record.criterion) == (model, criterion) and metric in (None, record.metric):
            return record
    raise Missing(f"no operating point {criterion} of {model}")


def interval(record: MetricRecord, method: str) -> Interval:
    """Return the interval of one method."""
    for one in record.intervals:
        if one.method == method:
            return one
    raise Missing(f"{record.metric} of {record.model} has no interval {method}")


def comparison(
    results: Results,
    pair: tuple[str, str],
    name: str,
    *,
    average: str | None = None,
    chosen: Callable[[ComparisonRecord], bool],
) -> tuple[ComparisonRecord, int]:
    """Return a comparison of the pair and its sign: -1 where our results hold the pair turned round."""
    for record in results.comparisons:
        if (record.metric, record.average, record.label, record.slice) != (name, average, None, None):
            continue
        if chosen(record) and record.b is not None:
            if (record.a, record.b) == pair:
                return record, 1
            if (record.b, record.a) == pair:
                return record, -1
    raise Missing(f"no comparison of {pair} on {name} {average}")


def signed_limits(record: ComparisonRecord, sign: int) -> tuple[float | None, float | None]:
    """Return the limits of the difference of the pair as it was asked for."""
    if sign > 0 or record.low is None or record.high is None:
        return record.low, record.high
    return -record.high, -record.low
