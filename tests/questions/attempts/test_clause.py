"""The clause on questions that a model with the better mean lost."""

from __future__ import annotations

import dataclasses

import pytest

from evalreport.headline.facts import Facts
from evalreport.headline.lead import Lead
from evalreport.questions.attempts.clause import clause
from evalreport.questions.attempts.records import QuestionRecord
from evalreport.texts import plain
from tests.samples.gates import results_with

AHEAD = Lead("ahead", plain("new is ahead of old"), "new", "old")


def question(
    number: int, passes_new: int | None, passes_old: int | None, verdict: str, *, turned: bool = False
) -> QuestionRecord:
    """A question of eight attempts, as new seen from old or, turned round, as old seen from new."""
    a, b = ("old", "new") if turned else ("new", "old")
    first, second = (passes_old, passes_new) if turned else (passes_new, passes_old)
    difference = None if first is None or second is None else (first - second) / 8
    seen = {"better": "worse", "worse": "better"}.get(verdict, verdict) if turned else verdict
    return QuestionRecord(
        id=f"q{number}", a=a, b=b, n_a=8, n_b=8, passes_a=first, passes_b=second, difference=difference,
        verdict=seen,  # type: ignore[arg-type]
    )  # fmt: skip


def said(*questions: QuestionRecord) -> str | None:
    """The clause of a run of these questions."""
    results = dataclasses.replace(results_with([]), models=("new", "old"), questions=questions)
    text = clause(Facts(results), AHEAD)
    return None if text is None else str(text)


@pytest.mark.parametrize("turned", [False, True])
def test_questions_that_fell_are_counted_with_their_passes(turned: bool) -> None:
    """Three dead questions of five, all from 8 of 8 to 0 of 8: whichever model the records name first."""
    lost = [question(k, 0, 8, "worse", turned=turned) for k in range(3)]
    rest = [question(k, 6, 5, "undecided", turned=turned) for k in (3, 4)]
    assert said(*lost, *rest) == "new is worse on 3 of 5 questions: 0 of 8 passes against 8 of 8"


def test_of_unlike_falls_the_widest_is_named() -> None:
    """Eight passes lost on q1, seven on q0."""
    text = said(question(0, 1, 8, "worse"), question(1, 0, 8, "worse"), question(2, 8, 0, "better"))
    assert text == "new is worse on 2 of 3 questions, on q1 with 0 of 8 passes against 8 of 8"


def test_one_question_is_named() -> None:
    """With its id."""
    assert said(question(7, 0, 8, "worse"), question(8, 8, 8, "undecided")) == (
        "new is worse on one of 2 questions, q7: 0 of 8 passes against 8 of 8"
    )


def test_outcomes_that_are_no_passes_have_none() -> None:
    """Graded answers: the count alone."""
    assert (
        said(question(0, None, None, "worse"), question(1, None, None, "worse"))
        == "new is worse on 2 of 2 questions"
    )


def test_questions_that_rose_are_no_clause() -> None:
    """The model ahead being better on a question is the sentence itself."""
    assert said(question(0, 8, 0, "better"), question(1, 8, 8, "undecided")) is None
