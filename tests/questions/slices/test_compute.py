"""Small slices are named, and so is an order of models that turns round within slices."""

from __future__ import annotations

import numpy as np
import pytest

from tests.samples.slices import answers, comparisons_in, disparity, run


def warned(results, code):
    """Return the warnings of one code."""
    return [w for w in results.warnings if w.code == code]


@pytest.mark.parametrize("small", [[0], [1], [1] * 3], ids=["one wrong", "one right", "three right"])
def test_a_slice_too_small_is_shown_named_and_not_flagged(small):
    """Values and intervals stand; there is no p-value, the row and the warning say why."""
    # Every second answer is wrong: three of a kind have a mid-p of about 1/16 at the least, whichever it is.
    right = small + [1, 0] * 200
    results = run(
        answers({"a": right}, g=["s"] * len(small) + ["r"] * (len(right) - len(small))), slices=["g"]
    )
    reason = "no outcome of this size could reach the level"
    row = disparity(results, "s", "rest")
    assert row.p_value is None
    assert row.p_adjusted is None
    assert not row.flagged
    assert row.reason == reason
    assert row.difference is not None
    assert row.low is not None
    (warning,) = warned(results, "small_slices")
    assert f"r, s ({reason})" in warning.text
    # Of two values each is the rest of the other: neither could reach the level.
    assert warning.about == ("g", "r", "s")


@pytest.mark.parametrize("right", [0, 6, 12])
def test_what_was_found_in_a_slice_does_not_decide_whether_it_is_tested(right):
    """Twelve examples with all, half or none right: the same size and margins, so tested each time."""
    marks = [1] * right + [0] * (12 - right) + [1] * (188 - right) + [0] * (112 + right)
    results = run(answers({"a": marks}, g=["s"] * 12 + ["r"] * 300), slices=["g"])
    row = disparity(results, "s", "rest")
    assert row.p_value is not None
    assert row.flagged == (right != 6)


@pytest.mark.parametrize("metric, n, reason", [("mae", 20, "20 examples, fewer than 30"), ("mae", 30, None)])
def test_values_that_are_no_proportions_are_judged_by_the_number_of_examples(metric, n, reason):
    """Thirty examples are enough, whatever errors they hold."""
    truth = np.linspace(0, 1, 200)
    error = np.where(np.arange(200) < n, 0.0, np.tile([0.1, -0.2], 100))
    columns = {"y_true": truth.tolist(), "y_pred": (truth + error).tolist()}
    source = {"a": {**columns, "g": ["s" if i < n else "r" for i in range(200)]}}
    row = disparity(run(source, metrics=[metric], slices=["g"]), "s", "rest")
    assert row.reason == reason
    assert (row.p_value is None) == (reason is not None)


def test_few_wrong_answers_where_many_were_to_be_expected_are_judged():
    """None wrong of 100 where 30 were to be expected is a finding: the slice is tested and flagged."""
    right = [1] * 100 + [1, 1, 0] * 100
    results = run(answers({"a": right}, g=["s"] * 100 + ["r"] * 300), slices=["g"])
    assert disparity(results, "s", "rest").flagged


def test_a_missing_class_is_named_where_the_metric_needs_it():
    """Balanced accuracy needs both classes, accuracy does not."""
    truth = ["0", "1"] * 50 + ["1"] * 60
    predicted = [t if i % 3 else "0" for i, t in enumerate(truth)]
    columns = {"y_true": truth, "y_pred": predicted, "g": ["u"] * 100 + ["v"] * 60}
    balanced = run({"a": columns}, metrics=["balanced_accuracy"], slices=["g"], positive="1")
    assert disparity(balanced, "v", "rest").reason == "no example of class 0"
    plain = run({"a": columns}, metrics=["accuracy"], slices=["g"], positive="1")
    assert disparity(plain, "v", "rest").p_value is not None


def test_few_clusters_are_too_few_to_judge():
    """Sixty examples of six patients say little about other patients."""
    n = 240
    site = [f"s{i // 10}" for i in range(n)]
    columns = {"g": ["u" if i < 60 else "v" for i in range(n)], "site": site}
    right = np.random.default_rng(1).integers(0, 2, n)
    results = run(answers({"a": right}, **columns), slices=["g"], cluster="site")
    assert disparity(results, "u", "rest").reason == "6 clusters, fewer than 8"


def test_a_column_with_one_value_has_nothing_to_compare():
    """One slice is the whole: no test, and a note that changes no reading."""
    results = run(answers({"a": [1, 0] * 20}, g=["u"] * 40), slices=["g"])
    (warning,) = warned(results, "one_slice")
    assert warning.level == "info"
    assert disparity(results, "u", "rest").p_value is None


def test_simpsons_paradox_is_warned_of():
    """Separate test sets of another mix: a is better in both hospitals and worse over all (Simpson's paradox).

    By hand: a 0.90 of 50 mild and 0.60 of 200 severe, 0.66 over all; b 0.85 of 200 mild and 0.50 of 50 severe, 0.78.
    With eight times as many of each the severe cases decide it (z = 3.6), with these no case does (z = 0.9 and 1.3).
    """

    def model(mild, severe, prefix):
        right = [1] * mild[0] + [0] * (mild[1] - mild[0]) + [1] * severe[0] + [0] * (severe[1] - severe[0])
        case = ["mild"] * mild[1] + ["severe"] * severe[1]
        return {"id": [f"{prefix}{i}" for i in range(len(right))], "outcome": right, "case": case}

    few = {"a": model((45, 50), (120, 200), "a"), "b": model((170, 200), (25, 50), "b")}
    assert not warned(run(few, slices=["case"], join="independent"), "order_reversed_in_slices")
    source = {"a": model((360, 400), (960, 1600), "a"), "b": model((1360, 1600), (200, 400), "b")}
    results = run(source, slices=["case"], join="independent")
    overall = next(r for r in results.comparisons if r.slice is None and r.recommended)
    assert overall.difference == pytest.approx(0.66 - 0.78)
    assert comparisons_in(results, "mild")[0].difference == pytest.approx(0.90 - 0.85)
    assert comparisons_in(results, "severe")[0].difference == pytest.approx(0.60 - 0.50)
    (warning,) = warned(results, "order_reversed_in_slices")
    assert warning.about == ("a", "b", "case")
    assert "in every slice of case" in warning.text


def test_the_order_of_means_on_the_same_examples_cannot_turn_everywhere():
    """Accuracy over all is the mean of the slices: whatever the data, no warning says every slice."""
    random = np.random.default_rng(4)
    for _ in range(5):
        right = {name: random.integers(0, 2, 200) for name in "ab"}
        results = run(answers(right, g=random.choice(list("uv"), 200).tolist()), slices=["g"])
        assert not [w for w in warned(results, "order_reversed_in_slices") if "every slice" in w.text]


def test_slices_change_no_verdict_and_no_gate():
    """Verdicts, letters and the corrected p-values are those of the run without slices."""
    random = np.random.default_rng(9)
    source = answers(
        {name: random.integers(0, 2, 200) for name in "abc"}, g=random.choice(list("uv"), 200).tolist()
    )
    plain, sliced = run(source), run(source, slices=["g"])
    assert plain.verdicts == sliced.verdicts
    assert plain.ranking == sliced.ranking
    assert plain.comparisons == [r for r in sliced.comparisons if r.slice is None]
    assert plain.metrics == [r for r in sliced.metrics if r.slice is None]


def test_the_family_of_slices_counts_comparisons():
    """Two models in three slices are six comparisons, adjusted by a method that is named as its author is."""
    right = {"a": [0] * 40 + [1] * 80, "b": [1] * 60 + [0] * 60}
    results = run(answers(right, g=["r"] * 40 + ["s"] * 40 + ["t"] * 40), slices=["g"])
    (warning,) = warned(results, "slice_differs")
    assert str(warning.text).endswith(
        "Intervals hold for all 6 comparisons of a slice with the rest at once; p-values are adjusted over them (Holm)."
    )
