"""What an audit found, and what changed since earlier runs."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial

from evalreport import numbers
from evalreport.plots.control import Nights, audited_values
from evalreport.records import HistoryRecord
from evalreport.report.figures import Figure
from evalreport.report.naming import MetricKey, label_of, metric_label
from evalreport.report.sections.change import OF_MODELS
from evalreport.report.view import Row, View, text_of
from evalreport.results import AuditRecord
from evalreport.texts import has, named, say


@dataclass(frozen=True, slots=True)
class History:
    """What the section shows."""

    metric: str
    rows: tuple[Row, ...]
    note: str


def describe(view: View) -> History | None:
    """Lay out the changes; nothing where there was no earlier run."""
    records = view.results.history
    if not records:
        return None
    first = records[0]
    label = metric_label(MetricKey(first.metric, first.average, first.label))
    return History(label, tuple(_row(view, record) for record in records), say("history.note"))


def _row(view: View, record: HistoryRecord) -> Row:
    missing = record.difference is None
    decimals = 4
    if record.low is not None and record.high is not None:
        decimals = numbers.decimals_of([(record.high - record.low) / 4])
    difference = numbers.number(record.difference, decimals, signed=True)
    if record.low is not None:
        difference += f" {numbers.interval(record.low, record.high, decimals, signed=True)}"
    test = "" if record.p_value is None else f"{label_of('test', record.test)}; "
    run = named("history.run", record.reference)
    cells = (
        say("history.reference", reference=run, run=record.run, date=record.time[:10]),
        numbers.number(record.reference_value, decimals),
        numbers.number(record.value, decimals),
        numbers.MISSING if missing else difference,
        numbers.p_value(record.p_value),
        text_of(view, f"{test}{record.reason if record.reason and missing else record.text}"),
    )
    return Row(None, cells, view.model(record.model).name)


CHANGES = frozenset({"difference", "from_floor"})
"""Effects in the metric's own units."""
MOST_LINES = 6


@dataclass(frozen=True, slots=True)
class Line:
    """One question and its answer."""

    question: str
    about: str
    answer: str
    effect: str
    test: str
    p: str
    adjusted: str
    alarm: bool


@dataclass(frozen=True, slots=True)
class Table:
    """The questions of one kind."""

    title: str
    lines: tuple[Line, ...]


@dataclass(frozen=True, slots=True)
class Audit:
    """What the section shows: how many alarms there are, the tables, how to read them."""

    heading: str
    tables: tuple[Table, ...]
    note: str


def describe_audit(view: View) -> Audit | None:
    """Lay out the questions and answers; nothing where there was no accepted run."""
    records = view.results.audit
    if not records:
        return None
    kinds = ((say("audit.models"), True), (say("audit.data"), False))
    tables = tuple(
        Table(title, tuple(_line(view, r) for r in records if (r.question in OF_MODELS) == of_models))
        for title, of_models in kinds
    )
    of_models, of_data = (
        sum(r.alarm and (r.question in OF_MODELS) == about_models for r in records)
        for about_models in (True, False)
    )
    return Audit(
        heading=say("audit.found", of_models=of_models, of_data=of_data),
        tables=tuple(table for table in tables if table.lines),
        note=say("audit.note", error=numbers.percent(1 - float(view.results.options["confidence"]))),
    )


def describe_nights(view: View) -> Figure | None:
    """Draw the values of the accepted runs and of those since; nothing where there are fewer than three."""
    models = [
        Nights(model.name, model.index, record.values_accepted, record.values_since)
        for record in view.results.evidence
        for model in view.models
        if model.id == record.model and len(record.values_accepted) + len(record.values_since) > 2
    ][:MOST_LINES]
    if not models:
        return None
    names = ", ".join(m.name for m in models)
    return Figure(
        name="audited",
        title=say("audit.values", metric=view.primary_label),
        description=say("audit.values_described", metric=view.primary_label, names=names),
        caption=say("audit.values_caption", metric=view.primary_label),
        draw=(partial(audited_values, models, metric=view.primary_label),),
        width=8.6,
        height=2.6,
    )


def _line(view: View, record: AuditRecord) -> Line:
    effect = ""
    if record.effect is not None and record.effect_size is not None:
        name = named("audit.effect", record.effect)
        signed = record.effect in CHANGES
        decimals = 4 if signed else {"changed_classes": 0}.get(record.effect, 3)
        effect = f"{name} {numbers.number(record.effect_size, decimals, signed=signed)}"
    return Line(
        question=named("audit.question", record.question),
        about=text_of(view, record.about),
        answer=text_of(view, record.text),
        effect=effect,
        test=_test(record.test),
        p=numbers.p_value(record.p_value),
        adjusted=numbers.p_value(record.p_adjusted),
        alarm=record.alarm,
    )


def _test(name: str | None) -> str:
    return (
        named("audit.test", name)
        if name is not None and has(f"audit.test.{name}")
        else label_of("test", name)
    )
