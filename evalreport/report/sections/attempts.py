"""What more questions, or more attempts at them, would do for the intervals."""

from __future__ import annotations

from dataclasses import dataclass

from evalreport import numbers
from evalreport.records import AttemptVarianceRecord
from evalreport.report.characters import visible
from evalreport.report.view import Row, View
from evalreport.texts import say

HARDLY = 0.1
"""A standard error that shrinks by less than this share hardly shrinks."""
NEARLY_AS_MUCH = 0.25
"""Twice the attempts help nearly as much as twice the questions (29 %) where they shrink the error by this share."""


@dataclass(frozen=True, slots=True)
class AttemptsShown:
    """What the section shows: what it found, and a row a model in rank order."""

    heading: str
    text: str
    headings: tuple[str, ...]
    rows: tuple[Row, ...]
    note: str


def describe(view: View) -> AttemptsShown | None:
    """Lay out the standard error of each model now, with twice the attempts, and with twice the questions."""
    by_model = {record.model: record for record in view.results.attempt_variance}
    if not by_model:
        return None
    shown = [(model, by_model[model.id]) for model in view.models if model.id in by_model]
    decimals = 1 + numbers.decimals_of(record.se_now for _, record in shown)
    rows = []
    for model, record in shown:
        errors = (record.se_now, record.se_more_attempts, record.se_more_questions)
        share = record.share_within
        cells = (
            numbers.count(record.n_questions),
            numbers.number(record.attempts, 0 if record.attempts.is_integer() else 1),
            numbers.MISSING if share is None else numbers.percent(round(share, 2)),
            *(numbers.MISSING if e is None else numbers.number(e, decimals) for e in errors),
        )
        rows.append(Row(model, cells))
    names = ("questions", "attempts", "share", "now", "more_attempts", "more_questions")
    return AttemptsShown(
        heading=_finding(list(by_model.values())),
        text=say("attempts.text"),
        headings=tuple(say(f"attempts.head.{name}") for name in names),
        rows=tuple(rows),
        note=f"{say('attempts.note')} {_plan(shown[0][1])}".strip(),
    )


def scope(view: View) -> str:
    """Say what verdicts on repeated answers are about; nothing in other designs, and where there are none."""
    if not view.results.attempt_variance or view.results.design != "test-set":
        return ""
    cluster = view.results.options.get("cluster")
    return (
        say("attempts.scope.questions")
        if cluster is None
        else say("attempts.scope.groups", column=str(cluster))
    )


def _plan(record: AttemptVarianceRecord) -> str:
    """Say which command plans with the leader's components; nothing where they are not known."""
    if record.within is None or record.within + record.between == 0:
        return ""
    parts = (numbers.to_digits(record.between), numbers.to_digits(record.within))
    questions = 2 * record.n_questions
    return say(
        "attempts.plan", between=parts[0], within=parts[1], model=visible(record.model), questions=questions
    )


def _finding(records: list[AttemptVarianceRecord]) -> str:
    """Say which of the two would narrow the intervals, by the models on average."""
    gains = [
        1 - record.se_more_attempts / record.se_now
        for record in records
        if record.se_more_attempts is not None and record.se_now > 0
    ]
    if not gains:
        return ""
    gain = sum(gains) / len(gains)
    if gain < HARDLY:
        return say("attempts.found.questions")
    return say("attempts.found.either" if gain >= NEARLY_AS_MUCH else "attempts.found.both")
