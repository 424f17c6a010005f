"""What more questions, or more attempts at them, would do for the intervals."""

from __future__ import annotations

from collections.abc import Sequence

from evalreport import numbers
from evalreport.questions.attempts.records import AttemptVarianceRecord
from evalreport.report.table import Row, Table, Tables
from evalreport.report.view import View
from evalreport.texts import say

HARDLY = 0.1
"""A standard error that shrinks by less than this share hardly shrinks."""
NEARLY_AS_MUCH = 0.25
"""Twice the attempts help nearly as much as twice the questions (29 %) where they shrink the error by this share."""

MOST_PAIRS = 8


def describe(view: View) -> Tables | None:
    """Lay out the standard errors now, with twice the attempts, and with twice the questions.

    Of each model, then of its differences from the best one (or the baseline), which the finding is about.
    """
    records = view.results.attempt_variance
    if not records:
        return None
    alone = {record.model: record for record in records if record.b is None}
    models = [(model, alone[model.id]) for model in view.models if model.id in alone]
    pairs = _pairs(view)
    decimals = 1 + numbers.decimals_of(record.se_now for _, record in [*models, *pairs])
    rows = [Row(model, _cells(record, decimals)) for model, record in models]
    rows += [Row(None, _cells(record, decimals), label=label) for label, record in pairs[:MOST_PAIRS]]
    decisive = [record for _, record in pairs] or list(alone.values())
    names = ("questions", "attempts", "share", "now", "more_attempts", "more_questions")
    table = Table(
        say("attempts.box"),
        tuple(say(f"attempts.head.{name}") for name in names),
        tuple(rows),
        f"{say('attempts.note')} {_plan(decisive[0], pairs[0][0] if pairs else models[0][0].name)}".strip(),
        look="attempts",
    )
    text = say("attempts.text_of_pairs" if pairs else "attempts.text")
    return Tables((table,), _finding(decisive, "between" if pairs else "alone"), text)


def _pairs(view: View) -> list[tuple[str, AttemptVarianceRecord]]:
    """Return the differences from the best model, or from the baseline, in rank order, with their names."""
    by_pair = {frozenset((r.model, r.b)): r for r in view.results.attempt_variance if r.b is not None}
    first = view.models[0] if view.results.baseline is None else view.model(view.results.baseline)
    others = [model for model in view.models if model is not first]
    named = ((f"{first.name} − {m.name}", by_pair.get(frozenset((first.id, m.id)))) for m in others)
    return [(label, record) for label, record in named if record is not None]


def _cells(record: AttemptVarianceRecord, decimals: int) -> tuple[str, ...]:
    errors = (record.se_now, record.se_more_attempts, record.se_more_questions)
    share = record.share_within
    return (
        numbers.count(record.n_questions),
        numbers.number(record.attempts, 0 if record.attempts.is_integer() else 1),
        numbers.MISSING if share is None else numbers.percent(round(share, 2)),
        *(numbers.MISSING if error is None else numbers.number(error, decimals) for error in errors),
    )


def at_each(view: View) -> tuple[int, int] | None:
    """Return the least and the largest number of attempts at a question; None where each was answered once."""
    details = next((record.details for record in view.results.found if record.what == "attempts"), None)
    return None if details is None else (int(details["least"]), int(details["most"]))


def scope(view: View) -> str:
    """Say what verdicts on repeated answers are about; nothing in other designs, and where there are none."""
    if not view.results.attempt_variance or view.results.design != "test-set":
        return ""
    cluster = view.results.options.get("cluster")
    if cluster is None:
        return say("attempts.scope.questions")
    return say("attempts.scope.groups", column=str(cluster))


def _plan(record: AttemptVarianceRecord, about: str) -> str:
    """Say which command plans with these components; nothing where they are not known."""
    if record.within is None or record.within + record.between == 0:
        return ""
    parts = (numbers.to_digits(record.between), numbers.to_digits(record.within))
    questions = 2 * record.n_questions
    return say("attempts.plan", between=parts[0], within=parts[1], about=about, questions=questions)


def _finding(records: Sequence[AttemptVarianceRecord], of: str) -> str:
    """Say which of the two would narrow the intervals, on average over the records."""
    gains = [
        1 - record.se_more_attempts / record.se_now
        for record in records
        if record.se_more_attempts is not None and record.se_now > 0
    ]
    if not gains:
        return ""
    gain = sum(gains) / len(gains)
    word = "questions" if gain < HARDLY else "either" if gain >= NEARLY_AS_MUCH else "both"
    return say(f"attempts.found.{of}.{word}")
