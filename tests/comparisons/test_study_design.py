"""What `evalreport plan` answers."""

from __future__ import annotations

import math
from typing import Any

import pytest

from evalreport.comparisons import study_design
from evalreport.comparisons.study_design import Answer, Measure, PlanOptions, leads_of
from evalreport.errors import UsageError


def answers(**stated: Any) -> tuple[Answer, ...]:
    """Answer a question."""
    return study_design.answers(PlanOptions(**stated))


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


@pytest.mark.parametrize(
    ("expected", "n"), [((0.8, 0.75), 1094), ((0.75, 0.8), 1094), ((0.8, 0.85), 906), ((0.85, 0.8), 906)]
)
@pytest.mark.parametrize("difference", [None, 0.05])
def test_two_expected_values_are_the_pair_that_is_planned(
    expected: tuple[float, float], n: int, difference: float | None
) -> None:
    """Own test sets, in either order: 1,094 and 906 by R 4.5 (power.prop.test(p1, p2, power = .8)), rounded up."""
    (answer,) = answers(layout="independent", expected=expected, difference=difference)
    assert [row.answer for row in answer.rows] == [n]


def test_two_expected_values_on_the_same_examples_need_no_difference() -> None:
    """The difference is theirs, as if it was stated."""
    without, stated = (answers(expected=(0.8, 0.75), difference=d)[0] for d in (None, 0.05))
    assert without.rows == stated.rows
    assert answers(expected=(0.75, 0.8))[0].rows[0].answer == without.rows[0].answer


@pytest.mark.parametrize(
    ("asked", "message"),
    [
        ({"expected": (0.8, 0.75), "difference": 0.1}, "contradicts"),
        ({"expected": (0.8, 0.75), "difference": 0.1, "examples": 500}, "contradicts"),
        ({"expected": (0.8, 0.8)}, "equal values leave nothing to find"),
        ({"expected": (0.8, 0.75), "layout": "one"}, "given once"),
        ({"layout": "independent"}, "state what is asked"),
        ({"layout": "one", "expected": (0.8,)}, "state what is asked"),
    ],
)
def test_what_contradicts_or_asks_nothing_is_refused(asked: dict[str, object], message: str) -> None:
    """No value that is given is ignored."""
    with pytest.raises(UsageError, match=message):
        answers(**asked)  # type: ignore[arg-type]


def test_fresh_examples_that_confirm_a_chosen_model() -> None:
    """By hand: 500 ((z(.9875) + z(.8)) 0.02 / 0.03)^2 of two rivals, and four times as many for half the lead."""
    row = {
        "metric": "accuracy",
        "average": None,
        "label": None,
        "slice": None,
        "recommended": True,
        "level": 0.95,
    }
    half = 1.959963984540054 * 0.02
    content = {
        "n": 500,
        "chosen": {"model": "b", "metric": "accuracy", "models": ["a", "b", "c"]},
        "comparisons": [
            {**row, "a": "a", "b": "b", "difference": -0.03, "low": -0.03 - half, "high": -0.03 + half},
            {**row, "a": "b", "b": "c", "difference": 0.06, "low": 0.06 - half, "high": 0.06 + half},
            {**row, "a": "a", "b": "c", "difference": 0.03, "low": 0.03 - half, "high": 0.03 + half},
            {**row, "a": "b", "b": "d", "difference": 0.2, "low": 0.2 - half, "high": 0.2 + half},
        ],
    }
    leads = leads_of(content)
    assert [(lead.rival, lead.difference) for lead in leads] == [("a", 0.03), ("c", 0.06)]
    (answer,) = answers(choices=leads)
    one = 500 * ((2.241402727604947 + 0.8416212335729143) * 0.02 / 0.03) ** 2
    assert [row.answer for row in answer.rows] == [math.ceil(x) for x in (one, 4 * one, one / 4, one)]
    assert leads_of({"chosen": None}) == ()
