"""Since earlier runs: how every model's primary metric changed, of an audit."""

from __future__ import annotations

from dataclasses import dataclass

from evalreport import numbers
from evalreport.records import HistoryRecord
from evalreport.report.naming import MetricKey, label_of, metric_label
from evalreport.report.view import View, text_of
from evalreport.texts import named, say


@dataclass(frozen=True, slots=True)
class HistoryRow:
    """One model against one earlier run."""

    model: str
    reference: str
    then: str
    now: str
    difference: str
    p: str
    how: str


@dataclass(frozen=True, slots=True)
class History:
    """What the section shows."""

    metric: str
    rows: tuple[HistoryRow, ...]
    note: str


def describe(view: View) -> History | None:
    """Lay out the changes; nothing where there was no earlier run."""
    records = view.results.history
    if not records:
        return None
    first = records[0]
    label = metric_label(MetricKey(first.metric, first.average, first.label))
    return History(label, tuple(_row(view, record) for record in records), say("history.note"))


def _row(view: View, record: HistoryRecord) -> HistoryRow:
    missing = record.difference is None
    decimals = 4
    if record.low is not None and record.high is not None:
        decimals = numbers.decimals_of([(record.high - record.low) / 4])
    difference = numbers.number(record.difference, decimals, signed=True)
    if record.low is not None:
        difference += f" {numbers.interval(record.low, record.high, decimals, signed=True)}"
    test = "" if record.p_value is None else f"{label_of('test', record.test)}; "
    return HistoryRow(
        model=view.model(record.model).name,
        reference=say(
            "history.reference",
            reference=named("history.run", record.reference),
            run=record.run,
            date=record.time[:10],
        ),
        then=numbers.number(record.reference_value, decimals),
        now=numbers.number(record.value, decimals),
        difference=numbers.MISSING if missing else difference,
        p=numbers.p_value(record.p_value),
        how=text_of(view, f"{test}{record.reason if record.reason and missing else record.text}"),
    )
