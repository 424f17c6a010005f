"""Gates: the grammar, and three outcomes by the interval of the recommended method."""

from __future__ import annotations

import dataclasses
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st
from statsmodels.stats.proportion import proportion_confint

import evalreport
from evalreport.gates.deciding import outcome_of
from evalreport.gates.outcomes import decide_gates
from evalreport.schema.comparisons import ComparisonRecord
from evalreport.schema.warnings import WarningRecord
from tests.samples.gates import metric, outcome, results_with


def comparison(a, b, name, difference, low, high, *, recommended=True, average=None):
    """One record of a test of the difference a - b."""
    return ComparisonRecord(
        a=a, b=b, metric=name, average=average, label=None, slice=None, test="mcnemar_midp", statistic=1.0,
        p_value=0.04,
        difference=difference, level=0.95, low=low, high=high, interval_method="newcombe_paired",
        recommended=recommended, df=None, p_adjusted=None, correction=None, effect=None, effect_size=None,
        caution=None, reason=None,
    )  # fmt: skip


ACCURACY = results_with(
    [metric("forest", "accuracy", 0.92, 0.90, 0.94), metric("logreg", "accuracy", 0.8, 0.7, 0.9)]
)


@pytest.mark.parametrize(
    "text, expected",
    [
        ("forest.accuracy >= 0.89", "pass"),
        ("forest.accuracy >= 0.90", "pass"),
        ("forest.accuracy > 0.90", "undecided"),
        ("forest.accuracy >= 0.92", "undecided"),
        ("forest.accuracy >= 0.94", "undecided"),
        ("forest.accuracy > 0.94", "fail"),
        ("forest.accuracy >= 0.95", "fail"),
        ("forest.accuracy < 0.95", "pass"),
        ("forest.accuracy <= 0.94", "pass"),
        ("forest.accuracy < 0.94", "undecided"),
        ("forest.accuracy <= 0.91", "undecided"),
        ("forest.accuracy <= 0.90", "undecided"),
        ("forest.accuracy < 0.90", "fail"),
        ("forest.accuracy < 0.5", "fail"),
    ],
)
def test_a_gate_is_decided_by_where_the_whole_interval_lies(text, expected):
    """The interval is [0.90, 0.94]: wholly right passes, wholly wrong fails, else neither (trap X)."""
    assert outcome(text, ACCURACY).outcome == expected


def test_the_recommended_interval_decides_not_the_others():
    """The second interval, [-9, 9], would leave every gate undecided."""
    record = outcome("forest.accuracy >= 0.5", ACCURACY)
    assert (record.outcome, record.value, record.low, record.high) == ("pass", 0.92, 0.90, 0.94)
    assert "by Wilson" in record.text


@given(
    low=st.floats(-1, 1),
    width=st.floats(0, 1),
    limit=st.floats(-1, 1),
    sign=st.sampled_from([">", ">=", "<", "<="]),
)
def test_exactly_one_outcome_and_its_opposite_condition_is_mirrored(low, width, limit, sign):
    """Whatever passes `> x` fails `<= x`, and what is undecided for one is undecided for the other."""
    opposite = {">": "<=", ">=": "<", "<": ">=", "<=": ">"}[sign]
    mirrored = {"pass": "fail", "fail": "pass", "undecided": "undecided"}
    first = outcome_of(sign, limit, low=low, high=low + width)
    assert outcome_of(opposite, limit, low=low, high=low + width) == mirrored[first]


@given(low=st.floats(-1, 1), width=st.floats(0, 1), limit=st.floats(-1, 1), more=st.floats(0, 1))
def test_a_wider_interval_never_turns_pass_into_fail(low, width, limit, more):
    """Less certainty can only lead to undecided."""
    narrow = outcome_of(">=", limit, low=low, high=low + width)
    wide = outcome_of(">=", limit, low=low - more, high=low + width + more)
    assert wide in (narrow, "undecided")


def test_a_difference_is_read_in_either_orientation():
    """The row holds forest - logreg = 0.05 in [0.02, 0.09]; logreg - forest is -0.05 in [-0.09, -0.02]."""
    results = results_with(ACCURACY.metrics, [comparison("forest", "logreg", "accuracy", 0.05, 0.02, 0.09)])
    forward = outcome("forest.accuracy - logreg.accuracy > 0", results)
    assert (forward.outcome, forward.value, forward.low, forward.high) == ("pass", 0.05, 0.02, 0.09)
    backward = outcome("logreg.accuracy - forest.accuracy > -0.1", results)
    assert (backward.outcome, backward.value, backward.low, backward.high) == ("pass", -0.05, -0.09, -0.02)
    assert outcome("logreg.accuracy - forest.accuracy >= 0", results).outcome == "fail"
    assert outcome("forest.accuracy - logreg.accuracy > 0.05", results).outcome == "undecided"


def test_a_difference_is_decided_by_the_recommended_row():
    """A row of another test, whose interval would fail the gate, is passed over."""
    rows = [
        comparison("forest", "logreg", "accuracy", 0.05, -0.9, -0.8, recommended=False),
        comparison("forest", "logreg", "accuracy", 0.05, 0.02, 0.09),
    ]
    assert (
        outcome("forest.accuracy - logreg.accuracy > 0", results_with(ACCURACY.metrics, rows)).outcome
        == "pass"
    )


@pytest.mark.parametrize(
    "text, expected", [("n >= 500", "pass"), ("n > 500", "fail"), ("n>=501", "fail"), (" n < 501", "pass")]
)
def test_a_count_is_decided_at_once(text, expected):
    """The results hold n = 500; a count has no interval and is never undecided."""
    assert outcome(text, ACCURACY).outcome == expected


def test_without_an_interval_a_gate_is_undecided_and_says_why():
    """A missing interval is no evidence either way."""
    results = results_with([metric("forest", "mcc", 0.5, None, None, reason="one class only")])
    record = outcome("forest.mcc > 0", results)
    assert record.outcome == "undecided"
    assert "one class only" in record.text


def test_judge_decides_the_gates_of_the_options_in_their_order():
    """Without gates the results come back as they are."""
    judged = decide_gates(ACCURACY, ["n >= 1000", "forest.accuracy > 0.5"])
    assert [gate.outcome for gate in judged.gates] == ["fail", "pass"]
    assert decide_gates(ACCURACY, []) == ACCURACY


def test_a_blocker_lets_nothing_pass_but_a_count():
    """An example both trained and tested on: a pass becomes undecided with the reason, a failure stays one."""
    leaked = WarningRecord(code="trained_on_test", text="10 examples are both", level="blocker")
    texts = ("forest.accuracy >= 0.89", "forest.accuracy >= 0.95", "n >= 500")
    gates = decide_gates(dataclasses.replace(ACCURACY, warnings=(leaked,)), texts).gates
    assert [gate.outcome for gate in gates] == ["undecided", "fail", "pass"]
    assert "10 examples are both" in gates[0].text
    only_a_warning = dataclasses.replace(leaked, level="caution")
    assert (
        decide_gates(dataclasses.replace(ACCURACY, warnings=(only_a_warning,)), texts).gates[0].outcome
        == "pass"
    )


@pytest.mark.parametrize("limit, expected", [("0.80", "pass"), ("0.86", "undecided"), ("0.95", "fail")])
def test_on_folds_the_corrected_interval_decides(limit, expected):
    """Cross-validation: three outcomes by the interval that allows for shared training data, differences too."""
    n = 120
    truth = [str(i // 2 % 2) for i in range(n)]
    wrong = {"a": range(0, n, 7), "b": range(0, n, 4)}
    models = {
        name: {
            "id": [f"{i:03d}" for i in range(n)],
            "fold": [str(i * 7 % 5) for i in range(n)],
            "y_true": truth,
            "y_pred": [str(1 - int(t)) if i in places else t for i, t in enumerate(truth)],
        }
        for name, places in wrong.items()
    }
    gates = (f"a.accuracy >= {limit}", "a.accuracy - b.accuracy > -0.3", "a.accuracy - b.accuracy > 0.5")
    results = evalreport.evaluate(models, options=evalreport.Options(resamples=200, gates=gates))
    value, better, far_better = results.gates
    assert value.outcome == expected
    assert "by corrected t over folds" in value.text
    assert (better.outcome, far_better.outcome) == ("pass", "fail")
    assert "by corrected t over folds" in better.text


def test_the_text_never_shows_a_limit_on_the_gate_that_does_not_stand_on_it():
    """0.89996 is below 0.9 and, beside "undecided", reads so: at three decimals it would be 0.900."""
    results = results_with([metric("forest", "accuracy", 0.92, 0.89996, 0.94)])
    record = outcome("forest.accuracy >= 0.9", results)
    assert record.outcome == "undecided"
    assert "[0.89996, 0.94000]" in record.text


@pytest.mark.parametrize(("right", "limit"), [(460, 0.9), (460, 0.94), (300, 0.57), (300, 0.63)])
def test_an_undecided_gate_says_how_many_examples_would_decide_it(right, limit):
    """So many times as many examples with the same share right: Wilson's interval is then about decided, not before.

    Wilson's interval is not quite as wide as one over the root of n says, so a third more or less is allowed for.
    """
    n = 500
    low, high = proportion_confint(right, n, method="wilson")
    found = outcome(
        f"forest.accuracy >= {limit}", results_with([metric("forest", "accuracy", right / n, low, high)])
    )
    assert found.outcome == "undecided"
    times = float(re.search(r"about ([0-9.]+) times as many examples", str(found.text))[1])
    for factor, decided in ((0.67 * times, False), (1.33 * times, True)):
        low, high = proportion_confint(factor * right, factor * n, method="wilson")
        assert (not low < limit < high) == decided, factor


def test_a_value_close_to_its_limit_is_said_with_the_number_of_examples():
    """0.547 [0.482, 0.611] on 1,500 examples, limit 0.55: (0.064 / 0.003)^2 = 455 times as many, 680,000."""
    results = results_with([metric("forest", "accuracy", 0.547, 0.482, 0.611)])
    found = outcome("forest.accuracy >= 0.55", dataclasses.replace(results, n=1500))
    assert "too close to its limit to be decided (about 680,000 examples would)" in found.text


def test_a_value_on_its_limit_is_not_promised_a_decision():
    """However many examples there are, half of the intervals lie on either side."""
    assert "too close to its limit to be decided" in outcome("forest.accuracy >= 0.92", ACCURACY).text
