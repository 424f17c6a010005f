"""Verdicts on single questions, from rows to records and gates."""

from __future__ import annotations

import numpy as np
import pytest

import evalreport
from evalreport.errors import UsageError


def answers(passes, attempts=10, **columns):
    """Return the rows of one model: so many passes of each question's attempts."""
    rows = [(f"q{q}", k, int(k < passed)) for q, passed in enumerate(passes) for k in range(attempts)]
    ids, numbers, outcomes = zip(*rows, strict=True)
    return {"id": list(ids), "attempt": list(numbers), "outcome": list(outcomes)} | {
        name: [value for value in values for _ in range(attempts)] for name, values in columns.items()
    }


def run(new, old, **options):
    """Compare two models."""
    return evalreport.evaluate({"new": new, "old": old}, resamples=50, **options)


def test_a_question_that_fell_and_one_that_rose():
    """All passes against none of ten attempts: p = 1 / C(20, 10), times four by Holm."""
    texts = ["first?", "second?", "third?", "fourth?"]
    results = run(answers([0, 10, 5, 9], question=texts), answers([10, 0, 6, 9], question=texts))
    fell, rose, *open_ = results.questions
    assert (fell.id, fell.text, fell.a, fell.verdict, rose.verdict) == (
        "q0",
        "first?",
        "new",
        "worse",
        "better",
    )
    assert fell.p_value == pytest.approx(1 / 184756)
    assert fell.p_adjusted == pytest.approx(4 / 184756)
    assert (fell.n_a, fell.passes_a, fell.passes_b, fell.difference) == (10, 0, 10, -1)
    assert [r.verdict for r in open_] == ["undecided", "undecided"]


def test_the_gate_on_regressions_fails_passes_and_is_undecided():
    """It never passes where nothing could have been decided."""
    gate = "regressions(new, old) <= 0"
    assert run(answers([0, 9]), answers([10, 9]), gates=[gate]).gates[0].outcome == "fail"
    assert run(answers([9, 9]), answers([9, 9]), gates=[gate]).gates[0].outcome == "pass"
    assert (
        run(answers([10, 9]), answers([0, 9]), gates=[gate, "regressions(old, new) <= 0"]).gates[1].value == 1
    )
    few = run(answers([0] * 20, attempts=4), answers([4] * 20, attempts=4), gates=[gate, f"0 >= {gate[:21]}"])
    assert [g.outcome for g in few.gates] == ["undecided", "undecided"]
    (said,) = (w for w in few.warnings if w.code == "few_attempts")
    assert said.text.params["needed"] == 6


def test_the_floor_by_question_is_clopper_and_pearsons():
    """By hand: 0 of 10 lies below 0.8 at any level; 10 of 10 has the lower limit .0125^.1 = 0.65 at two questions."""
    gates = ["new.questions_below(0.8) <= 0", "new.questions_below(0.6) <= 0", "questions_below(0.05) <= 0"]
    results = run(answers([10, 10]), answers([10, 0]), gates=gates)
    assert [g.outcome for g in results.gates] == ["undecided", "pass", "undecided"]
    fails = run(answers([10, 0]), answers([10, 10]), gates=["new.questions_below(0.8) <= 0"]).gates[0]
    assert (fails.outcome, fails.value) == ("fail", 1)


def test_gates_on_questions_need_attempts():
    """CONTRACT: exit 2 without."""
    plain = {"id": ["a", "b"], "outcome": [1, 0]}
    for gate in ("regressions(new, old) <= 0", "questions_below(0.8) <= 0"):
        with pytest.raises(UsageError, match="attempts"):
            run(plain, plain, gates=[gate])


def test_one_model_has_a_record_of_each_question():
    """A floor needs no second model."""
    results = evalreport.evaluate({"m": answers([10, 3])}, gates=["questions_below(0.99) <= 0"], resamples=50)
    assert [(r.b, r.passes_a, r.verdict) for r in results.questions] == [(None, 10, None), (None, 3, None)]
    assert results.gates[0].outcome == "fail"


def test_labels_with_attempts_pass_where_they_are_right():
    """The true label of q0 is a; the new model says it in ten attempts, the old one never."""
    rows = {
        "id": ["q0"] * 10 + ["q1"] * 10,
        "attempt": list(range(10)) * 2,
        "y_true": ["a"] * 10 + ["b"] * 10,
    }
    new, old = {**rows, "y_pred": ["a"] * 10 + ["b"] * 10}, {**rows, "y_pred": ["b"] * 20}
    first, second = run(new, old).questions
    assert (first.passes_a, first.passes_b, first.verdict) == (10, 0, "better")
    assert (second.passes_a, second.passes_b, second.verdict) == (10, 10, "undecided")


def test_other_outcomes_are_permuted_and_smaller_may_be_better():
    """Two of the 252 arrangements of five and five outcomes are as far apart: mid-p 1/252."""
    rows = {"id": ["q"] * 5, "attempt": list(range(5))}
    new, old = ({**rows, "outcome": [base + k / 10 for k in range(5)]} for base in (1.0, 9.0))
    (record,) = run(new, old).questions
    assert record.p_value == pytest.approx(1 / 252)
    assert (record.passes_a, record.verdict) == (None, "worse")
    assert run(new, old, lower_is_better=True).questions[0].verdict == "better"


def test_questions_of_a_suite_bear_their_task():
    """The same id in two tasks is two questions."""
    rows = answers([10, 2, 10, 2])
    rows["task"] = ["x"] * 20 + ["y"] * 20
    rows["id"] = [f"q{n % 2}" for n in range(4) for _ in range(10)]
    found = run(rows, rows).questions
    assert [(r.task, r.id) for r in found] == [("x", "q0"), ("x", "q1"), ("y", "q0"), ("y", "q1")]


def test_the_order_of_rows_changes_nothing():
    """Attempts have no order."""
    new, old = answers([3, 9, 6]), answers([9, 1, 5])
    order = np.random.default_rng(0).permutation(30)
    mixed = {name: [values[i] for i in order] for name, values in new.items()}
    assert run(new, old).questions == run(mixed, old).questions


def test_no_family_of_unchanged_questions_flags_any_more_often_than_promised():
    """200 questions, ten attempts each, 400 families: Holm flags any in at most 6 % (mid-p is conservative here)."""
    from evalreport.comparisons.adjustment import adjust
    from evalreport.questions.attempts.compute import fisher_midp

    rng, flagged = np.random.default_rng(47), 0
    for _ in range(400):
        p = rng.beta(2, 1, 200)
        a, b = rng.binomial(10, p), rng.binomial(10, p)
        adjusted = adjust([fisher_midp(int(x), 10, int(y), 10) for x, y in zip(a, b, strict=True)], "holm")
        flagged += min(adjusted) <= 0.05
    assert flagged / 400 <= 0.06


def test_the_interval_for_these_questions_holds_attempts_alone():
    """By hand: s^2 = 10/9 p (1 - p) in each question, SE^2 = sum s^2/10 / 4, 18 degrees of freedom."""
    from scipy import stats

    results = run(answers([5, 9]), answers([5, 9]))
    record = next(r for r in results.metrics if r.metric == "mean_outcome")
    error = np.sqrt((0.25 + 0.09) / 9 / 4)
    half = stats.t.ppf(0.975, 18) * error
    assert (record.these_low, record.these_high) == pytest.approx((0.7 - half, 0.7 + half))
