"""Nights of a model that is right on a given share of examples, in an order that does not matter."""

from __future__ import annotations

from typing import Any

from evalreport.audit.auditing import Audited
from evalreport.history.connection import History
from evalreport.schema.warnings import WarningRecord
from tests.samples.audits import Source, audited, right, share

GOOD, BAD = 0.9, 0.7

WEEK = [0.90, 0.92, 0.88, 0.91, 0.89, 0.90, 0.93]
"""Seven good nights, of 200 examples each."""


def night(accuracy: float, n: int, *, first: int, **columns: list[Any]) -> Source:
    """Return one model's predictions of n examples from a number on, right on a share of them."""
    source = right(share(round(accuracy * n), n), first=first)
    source["forest"].update(columns)
    return source


def series(
    history: History, accuracies: list[float], *, n: int = 200, accepted: int = 1000, **given: Any
) -> Audited:
    """Audit an accepted run and then a night of new examples for each accuracy; return the last."""
    found, _, _ = audited(history, night(GOOD, accepted, first=0), **given)
    return nights(history, accuracies, n=n, **given) if accuracies else found


def nights(
    history: History, accuracies: list[float], *, n: int = 200, begin: int = 1, **given: Any
) -> Audited:
    """Audit a night of new examples for each accuracy; return the last."""
    for number, accuracy in enumerate(accuracies, begin):
        found, _, _ = audited(history, night(accuracy, n, first=10_000 * number), **given)
    return found


def answer(found: Audited, question: str, about: str | None = None) -> Any:
    """Return the one answer to a question."""
    (row,) = [row for row in found.results.audit if row.question == question and about in (None, row.about)]
    return row


def warned(found: Audited) -> dict[str, WarningRecord]:
    """Return the warnings by code."""
    return {warning.code: warning for warning in found.results.warnings}


def changed(history, then, now, **given):
    """Audit one source after the other; return the second audit."""
    audited(history, then, **given)
    found, _, _ = audited(history, now, **given)
    return found
