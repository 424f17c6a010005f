"""What an audit asks beyond a run: one function a question, in the order of ``QUESTIONS``.

A question is given this run and the series' past, and returns the results with its records added. To add one: write
the function in a file of its own, let it add to ``Results.audit``, and add its name to ``QUESTIONS``; its place follows
from what it reads. Gates are decided after all questions.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from evalreport.audit.alarm import worse_than_accepted
from evalreport.audit.drift import data_changed
from evalreport.audit.reference import Past, Reference
from evalreport.audit.since import Present, since
from evalreport.audit.slices_since import fallen_slices
from evalreport.audit_records import AuditRecord
from evalreport.keys import Task
from evalreport.metrics.quantities import Quantity, parse
from evalreport.records import HistoryRecord, warning
from evalreport.results import Results
from evalreport.texts import Message

Question = Callable[[Present, Past], Results]


def changed_since(now: Present, past: Past) -> Results:
    """Ask how every model's primary metric changed since the accepted run, and since the last that exited 0."""
    task: Task = now.predictions.task
    quantity = parse(now.results.primary_metric, task, now.results.classes)
    references = list(past.references.values())
    if len(references) > 1 and references[0].run.id == references[1].run.id:
        references = references[:1]
    found = [
        _record(reference, now, model, quantity) for reference in references for model in now.results.models
    ]
    return replace(now.results, history=tuple(found))


def said_aloud(now: Present, _past: Past) -> Results:
    """Warn of the answers that are alarming, once for the models, the slices and the data."""
    loud = [row for row in now.results.audit if row.alarm]
    models = [row for row in loud if row.question == "worse"]
    slices = [row for row in loud if row.question == "slice"]
    data = [row for row in loud if row not in models and row not in slices]
    found = []
    if models:
        found.append(warning("worse_than_accepted", about=_about(models), said=_said(models)))
    if slices:
        found.append(warning("slice_fell", about=_about(slices), said=_said(slices)))
    if data:
        found.append(warning("data_changed", about=_about(data), said=_said(data)))
    # First, because a terminal shows only the first few.
    return replace(now.results, warnings=(*found, *now.results.warnings))


MOST_SAID = 3
QUESTIONS: tuple[Question, ...] = (
    changed_since,
    worse_than_accepted,
    fallen_slices,
    data_changed,
    said_aloud,
)


def asked(now: Present, past: Past) -> Results:
    """Ask every question; return the results with all their records."""
    for question in QUESTIONS:
        now = replace(now, results=question(now, past))
    return now.results


def _said(rows: Sequence[AuditRecord]) -> tuple[Message, ...]:
    said = tuple(Message("alarming.row", what=_named(row), text=row.text) for row in rows[:MOST_SAID])
    return said if len(rows) <= MOST_SAID else (*said, Message("alarming.more", n=len(rows) - MOST_SAID))


def _named(row: AuditRecord) -> str:
    if row.question in ("worse", "slice"):
        return row.about
    return f"{row.question.replace('_', ' ')} {row.about}".strip()


def _about(rows: Sequence[AuditRecord]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(row.about for row in rows if row.about))


def _record(reference: Reference, now: Present, model: str, quantity: Quantity) -> HistoryRecord:
    found = since(reference, now, model, quantity)
    return HistoryRecord(
        reference=reference.name,
        run=reference.run.id,
        time=reference.run.time,
        model=model,
        metric=quantity.metric,
        average=quantity.average,
        label=quantity.label,
        value=found.value,
        reference_value=found.reference_value,
        difference=found.difference,
        level=now.options.confidence,
        low=found.low,
        high=found.high,
        interval_method=found.method,
        test=found.test,
        p_value=found.p_value,
        paired=found.paired,
        text=found.how,
        reason=found.reason,
    )
