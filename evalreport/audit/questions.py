"""What an audit asks beyond a run: one function a question, in the order of ``QUESTIONS``.

A question is given this run and the series' past, and returns the results with its records added. To add one (drift of
the data, an alarm over all looks): write the function in a file of its own, add its records to ``Results``, and its
name to ``QUESTIONS``. Gates are decided after all questions.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from evalreport.audit.reference import Past, Reference
from evalreport.audit.since import Present, since
from evalreport.keys import Task
from evalreport.metrics.quantities import Quantity, parse
from evalreport.records import HistoryRecord
from evalreport.results import Results

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


QUESTIONS: tuple[Question, ...] = (changed_since,)


def asked(now: Present, past: Past) -> Results:
    """Ask every question; return the results with all their records."""
    for question in QUESTIONS:
        now = replace(now, results=question(now, past))
    return now.results


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
