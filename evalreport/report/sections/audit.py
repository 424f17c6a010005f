"""What an audit asks of its accepted run: did a model get worse, did a slice fall, did the data change."""

from __future__ import annotations

from dataclasses import dataclass

from evalreport import numbers
from evalreport.audit_records import AuditRecord
from evalreport.report.naming import label_of
from evalreport.report.view import View, text_of
from evalreport.texts import has, named, say

CHANGES = frozenset({"difference", "from_floor"})
"""Effects in the metric's own units."""
OF_MODELS = ("worse", "worse_this_run", "slice")


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
    """What the section shows: a sentence, what is alarming, the tables, how to read them."""

    headline: str
    loud: tuple[str, ...]
    tables: tuple[Table, ...]
    note: str


def describe(view: View) -> Audit | None:
    """Lay out the questions and answers; nothing where there was no accepted run."""
    records = view.results.audit
    if not records:
        return None
    kinds = ((say("audit.models"), True), (say("audit.data"), False))
    tables = tuple(
        Table(title, tuple(_line(view, r) for r in records if (r.question in OF_MODELS) == of_models))
        for title, of_models in kinds
    )
    loud = tuple(f"{_named(view, r)}: {text_of(view, r.text)}" for r in records if r.alarm)
    headline = "audit.headline_loud" if loud else "audit.headline_quiet"
    return Audit(
        headline=say(headline, n=len(loud), look=records[0].look, run=records[0].run),
        loud=loud,
        tables=tuple(table for table in tables if table.lines),
        note=say("audit.note", error=numbers.percent(1 - float(view.results.options["confidence"]))),
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


def _named(view: View, record: AuditRecord) -> str:
    if record.question in OF_MODELS:
        return text_of(view, record.about)
    return f"{named('audit.question', record.question)} {text_of(view, record.about)}".strip()
