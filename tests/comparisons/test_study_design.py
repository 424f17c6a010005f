"""What `evalreport plan` answers."""

from __future__ import annotations

from typing import Any

import pytest

from evalreport.comparisons.study_design import Measure, answers
from evalreport.errors import UsageError


@pytest.mark.parametrize(
    "question, said",
    [
        ({"difference": 0.2, "discordance": 0.1}, "--discordance"),
        ({"measure": "mean", "difference": 0.1}, "--sd"),
        ({"layout": "one", "difference": 0.1}, "--against"),
        ({"layout": "folds"}, "--sd"),
        ({"measure": "auc", "difference": 0.1}, "pilot"),
        ({"difference": 0.5, "expected": (0.3,)}, "between 0 and 1"),
        ({"half_width": 1e-9}, "ask for less"),
    ],
)
def test_impossible_plans_say_what_is_missing(question: dict[str, Any], said: str):
    """A plan that lacks an assumption, or asks for what cannot be, names the option."""
    with pytest.raises(UsageError, match=said):
        answers(**question)


def test_without_a_question_usual_numbers_are_shown():
    """The overview holds 100 to 10,000 examples; what cannot be found with them is none."""
    overview, discordant = answers()
    assert len(overview.rows) == 15
    assert overview.rows[0].answer is None, "100 examples of which 5 are discordant"
    assert [row.answer for row in discordant.rows] == [5, 6]


def test_without_repeats_a_plan_of_folds_begins_with_one_run():
    """One, five, ten and a hundred runs of the cross-validation; each is the plan in which that number is given."""
    (usual,) = answers(layout="folds", sd=0.02)
    single = [answers(layout="folds", sd=0.02, repeats=r)[0].rows[0] for r in (1, 5, 10, 100)]
    assert [row.answer for row in usual.rows] == [row.answer for row in single]


@pytest.mark.parametrize("measure", ["accuracy", "auc"])
def test_half_widths_are_shown_for_usual_values_unless_one_is_expected(measure: Measure):
    """Without an expected value 0.5, 0.8, 0.9 and 0.95 are shown, each as if it had been expected."""
    usual = answers(measure=measure, layout="one", examples=400)[-1]
    alone = [
        answers(measure=measure, layout="one", examples=400, expected=(value,))[-1].rows
        for value in (0.5, 0.8, 0.9, 0.95)
    ]
    assert [len(rows) for rows in alone] == [1, 1, 1, 1]
    assert [row.answer for row in usual.rows] == [rows[0].answer for rows in alone]
