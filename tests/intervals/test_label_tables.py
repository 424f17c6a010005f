"""Intervals of functions of the confusion table after made-up examples, and of their differences."""

from __future__ import annotations

import math
from collections.abc import Mapping
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from scipy import stats

import evalreport
from evalreport.comparisons.pairs import compare
from evalreport.comparisons.registry import Pair
from evalreport.intervals import limits, recommended
from evalreport.metrics.difference import Difference
from evalreport.metrics.estimate import Estimate
from evalreport.metrics.registry import Quantity
from evalreport.metrics.sample import estimate_all
from evalreport.options import Options
from evalreport.samplings import sampling_by
from research.studies.designs import labelled
from tests.reference.third_round import each
from tests.samples.pairs import Source, labels, outcomes, run, scores

Numbers = npt.ArrayLike
AVERAGED = {
    "f1_macro": Quantity("f1", average="macro"),
    "f1_weighted": Quantity("f1", average="weighted"),
    "precision_macro": Quantity("precision", average="macro"),
}


def estimate_of(counts: Numbers, quantity: Quantity) -> Estimate | Difference:
    """Estimate from counts (truth, label), or (truth, label of a, label of b) for the difference a - b."""
    table = np.asarray(counts)
    true, *said = (
        axis.astype(np.int32)
        for axis in np.unravel_index(np.repeat(np.arange(table.size), table.ravel()), table.shape)
    )
    predictions = labelled(true, dict(zip("ab", said, strict=False)), len(table))
    sample = estimate_all(predictions, [quantity], units=sampling_by(len(true)), n_resamples=2, seed=0)
    if len(said) == 1:
        return sample.estimates["a", quantity]
    (comparison,) = compare(sample, [quantity], Options(resamples=2))
    assert isinstance(comparison.found, Pair)
    return comparison.found.difference


def leading_limits(counts: Numbers, quantity: Quantity, level: float = 0.95) -> tuple[float, float]:
    """Return the limits that lead."""
    estimate = estimate_of(counts, quantity)
    found = limits(estimate, recommended(estimate), level)
    assert found.low is not None
    assert found.high is not None
    return found.low, found.high


@each("plus_two", "plus_four")
def test_limits_are_the_reference_s(case: Mapping[str, Any]) -> None:
    """Both rules lead, and agree with mpmath's 40 digits, after the limits are cut to the range."""
    given, expected = case["input"], case["expected"]
    quantity = AVERAGED.get(given["metric"], Quantity(given["metric"]))
    estimate = estimate_of(given["counts"] if "counts" in given else given["table"], quantity)
    found = limits(estimate, case["method"], given.get("level", 0.95))
    low, high = min(expected["low"], expected["estimate"]), max(expected["high"], expected["estimate"])
    least, most = estimate.range
    assert recommended(estimate) == case["method"]
    assert estimate.value == pytest.approx(expected["estimate"], abs=case["tolerance"])
    assert (found.low, found.high) == pytest.approx((max(low, least), min(high, most)), abs=case["tolerance"])


PAIR = [[[20, 2], [1, 2]], [[1, 1], [2, 6]]]
THREE = [
    [[18, 1, 2], [0, 0, 2], [0, 2, 0]],
    [[1, 2, 0], [1, 6, 0], [1, 0, 0]],
    [[0, 1, 2], [1, 0, 1], [1, 1, 4]],
]


def test_a_difference_of_accuracies_is_bonett_and_price_s_interval() -> None:
    """By hand: one example more in each discordant cell, n + 2 of them, and t of n - 1 (Bonett and Price 2012)."""
    table = np.array(PAIR)
    n, only_a, only_b = (
        table.sum(),
        2 + 2,
        1 + 1,
    )  # truth 0: a says 0, b 1; truth 1: a says 1, b 0; and turned round
    first, second = (only_a + 1) / (n + 2), (only_b + 1) / (n + 2)
    half = stats.t.ppf(0.975, n - 1) * math.sqrt((first + second - (first - second) ** 2) / (n + 2))
    expected = (first - second - half, first - second + half)
    assert leading_limits(PAIR, Quantity("accuracy")) == pytest.approx(expected, rel=1e-9)
    turned = tuple(-limit for limit in expected[::-1])
    assert leading_limits(PAIR, Quantity("error_rate")) == pytest.approx(turned, rel=1e-9)


@pytest.mark.parametrize(("metric", "mirror", "row"), [("recall", "fnr", 1), ("specificity", "fpr", 0)])
def test_a_difference_of_recalls_is_that_of_accuracies_among_the_class(
    metric: str, mirror: str, row: int
) -> None:
    """The examples of the other class do not enter: with theirs left out accuracy has the same limits."""
    alone = np.zeros((2, 2, 2), dtype=int)
    alone[row] = np.array(PAIR)[row]
    expected = leading_limits(alone, Quantity("accuracy"))
    assert leading_limits(PAIR, Quantity(metric)) == pytest.approx(expected, rel=1e-9)
    low, high = expected
    assert leading_limits(PAIR, Quantity(mirror)) == pytest.approx((-high, -low), rel=1e-9)


def test_outcomes_of_0_and_1_have_the_interval_of_accuracies() -> None:
    """The share of successes is an accuracy: the same agreement has the same verdict interval."""
    first, second = [1] * 30 + [1] * 6 + [0] * 3 + [0] * 11, [1] * 30 + [0] * 6 + [1] * 3 + [0] * 11
    ours = run(outcomes(a=first, b=second)).verdicts[0]
    same = run(labels([1] * 50, a=first, b=second), metrics=("accuracy",), positive="1").verdicts[0]
    assert ours.method == "plus_two"
    assert (ours.low, ours.high) == pytest.approx((same.low, same.high), rel=1e-9)


@pytest.mark.parametrize("metric", ["f1", "f2", "jaccard", "precision", "npv", "informedness", "markedness"])
def test_one_class_of_several_is_that_of_the_collapsed_table(metric: str) -> None:
    """A class against the rest: two classes, of which the others are one."""
    table = np.array(THREE)
    collapsed = np.zeros((2, 2, 2), dtype=int)
    for (t, a, b), count in np.ndenumerate(table):
        collapsed[int(t == 2), int(a == 2), int(b == 2)] += count
    of_one, of_two = Quantity(metric, label="2"), Quantity(metric)
    assert leading_limits(table, of_one) == pytest.approx(leading_limits(collapsed, of_two), rel=1e-9)
    value, of_pair = estimate_of(table.sum(axis=2), of_one), estimate_of(collapsed.sum(axis=2), of_two)
    ours, theirs = limits(value, "plus_four", 0.95), limits(of_pair, "plus_four", 0.95)
    assert (ours.low, ours.high) == pytest.approx((theirs.low, theirs.high), rel=1e-9)


@pytest.mark.parametrize(
    ("metric", "of", "slope"),
    [("mean_per_class_error", "balanced_accuracy", -1), ("informedness", "balanced_accuracy", 2)],
)
def test_a_function_of_another_metric_has_its_limits_mapped(metric: str, of: str, slope: int) -> None:
    """Mean per-class error is 1 - balanced accuracy, informedness 2 times it - 1: values and differences."""
    for counts, offset in ((PAIR, 0), (np.array(PAIR).sum(axis=2), {-1: 1, 2: -1}[slope])):
        expected = sorted(slope * limit + offset for limit in leading_limits(counts, Quantity(of)))
        assert leading_limits(counts, Quantity(metric)) == pytest.approx(expected, rel=1e-9)


@pytest.mark.parametrize("quantity", [Quantity("mcc"), Quantity("cohen_kappa"), *AVERAGED.values()])
def test_renamed_classes_and_turned_models_change_nothing_else(quantity: Quantity) -> None:
    """Classes in another order have the same limits; the models turned round have them negated."""
    table = np.array(THREE)
    order = [2, 0, 1]
    found = leading_limits(table, quantity)
    assert leading_limits(table[np.ix_(order, order, order)], quantity) == pytest.approx(found, rel=1e-9)
    low, high = leading_limits(table.transpose(0, 2, 1), quantity)
    assert (-high, -low) == pytest.approx(found, rel=1e-9)


@pytest.mark.parametrize("metric", ["f1", "precision", "mcc", "cohen_kappa", "balanced_accuracy", "accuracy"])
@pytest.mark.parametrize(
    "table",
    [
        [[[27, 0], [0, 0]], [[0, 0], [0, 3]]],
        [[[30, 0], [0, 0]], [[0, 0], [0, 0]]],
        [[[28, 1], [1, 0]], [[0, 0], [0, 0]]],
        [[[20, 0], [0, 0]], [[10, 0], [0, 0]]],
        [[[1, 0], [0, 0]], [[0, 0], [0, 1]]],
    ],
    ids=["both perfect", "one class", "no positive", "one answer", "two examples"],
)
def test_every_pair_of_models_has_a_width(metric: str, table: Numbers) -> None:
    """Also where nothing differs, a class is missing from the truth or from the answers, or the metric is 0/0."""
    for level in (0.5, 0.95, 0.999):
        low, high = leading_limits(table, Quantity(metric), level)
        least, most = estimate_of(table, Quantity(metric)).range
        assert least <= low < 0 < high <= most


def test_a_wider_level_holds_a_narrower_one() -> None:
    """Limits grow with the level from next to nothing on, as inverted tests and gates need it."""
    for counts in (PAIR, THREE, np.array(THREE).sum(axis=2)):
        found = [
            leading_limits(counts, AVERAGED["f1_macro"], level) for level in (1e-9, 0.1, 0.8, 0.95, 0.999)
        ]
        assert all(b[0] <= a[0] <= a[1] <= b[1] for a, b in pairwise(found))


@pytest.mark.parametrize("metric", ["f1", "mcc", "balanced_accuracy"])
def test_a_perfect_model_has_a_lower_limit_below_1(metric: str) -> None:
    """The upper limit is cut to 1; the lower one says how little thirty right answers prove."""
    low, high = leading_limits([[27, 0], [0, 3]], Quantity(metric))
    assert low < 0.95
    assert high == 1


def test_balanced_accuracy_is_over_the_classes_that_the_truth_holds() -> None:
    """By hand: two classes of three are held; each gets f right answers and f wrong ones over two other labels."""
    table = np.array([[80.0, 15, 5], [2, 7, 1], [0, 0, 0]])
    smoothed = table.copy()
    for k in (0, 1):
        smoothed[k] += 0.5
        smoothed[k, k] += 0.5
    totals = smoothed.sum(axis=1)[:2]
    shares = smoothed.diagonal()[:2] / totals
    half = stats.t.ppf(0.975, 109) * math.sqrt(sum(shares * (1 - shares) / totals)) / 2
    expected = (shares.mean() - half, shares.mean() + half)
    assert leading_limits(table.astype(int), Quantity("balanced_accuracy")) == pytest.approx(
        expected, rel=1e-9
    )


def test_scores_of_two_values_are_labels() -> None:
    """Their area under the curve is the balanced accuracy of these labels, and so is the interval of its difference."""
    truth = np.repeat([0, 1], [25, 10])
    a, b = (np.where(np.arange(35) % k == 0, 1 - truth, truth) for k in (5, 3))
    by_scores = run(scores(truth, a=3.0 * a, b=b - 1.0), metrics=("roc_auc",)).verdicts[0]
    by_labels = run(labels(truth, a=a, b=b), metrics=("balanced_accuracy",), positive="1").verdicts[0]
    assert by_scores.method is not None
    assert by_scores.method.partition(",")[0] == "plus_two"
    assert (by_scores.low, by_scores.high) == pytest.approx((by_labels.low, by_labels.high), rel=1e-9)


def two_models(**columns: list[str]) -> tuple[Source, npt.NDArray[np.int64]]:
    """Return two models of 80 examples, and their counts (truth, label of a, label of b)."""
    rng = np.random.default_rng(3)
    truth = rng.integers(0, 2, 80)
    a, b = (np.where(rng.random(80) < error, 1 - truth, truth) for error in (0.2, 0.25))
    counts = np.zeros((2, 2, 2), dtype=int)
    np.add.at(counts, (truth, a, b), 1)
    return {name: model | columns for name, model in labels(truth, a=a, b=b).items()}, counts


@pytest.mark.parametrize("metric", ["accuracy", "f1", "recall", "balanced_accuracy"])
def test_verdicts_gates_slices_and_equivalence_read_the_same_interval(metric: str) -> None:
    """One pair, so nothing is adjusted; a slice of all examples has the same pair; TOST inverts the interval."""
    source, counts = two_models(half=["all"] * 79 + ["rest"])
    results = run(
        source,
        metrics=(metric,),
        positive="1",
        slices=("half",),
        margin=0.3,
        gates=(f"a.{metric} - b.{metric} > -0.3",),
    )
    difference = estimate_of(counts, Quantity(metric))
    method = "tango" if metric in ("accuracy", "recall") else "plus_two"
    plain = limits(difference, method, 0.95)
    (verdict,), (gate,) = results.verdicts, results.gates
    assert str(verdict.method) == method
    for found in (verdict, gate):
        assert (found.low, found.high) == pytest.approx((plain.low, plain.high), rel=1e-9)
    assert verdict.verdict == "equivalent"
    tost = next(r for r in results.comparisons if r.test == "tost")
    assert tost.p_value is not None
    wider = limits(difference, method, 1 - 2 * tost.p_value)
    assert wider.low is not None
    assert wider.high is not None
    assert max(-wider.low, wider.high) == pytest.approx(0.3, abs=1e-6)
    within = [
        r for r in results.comparisons if r.slice is not None and r.slice.value == "all" and r.recommended
    ]
    assert [r.interval_method for r in within] == [method]


@pytest.mark.parametrize("metric", ["accuracy", "f1"])
def test_a_table_of_counts_has_the_interval_of_its_rows(metric: str, tmp_path: Path) -> None:
    """One line for each cell and its count, in place of rows."""
    source, counts = two_models()
    lines = ["y_true,y_pred.a,y_pred.b,count"]
    lines += [f"{t},{a},{b},{n}" for (t, a, b), n in np.ndenumerate(counts)]
    path = tmp_path / "counts.csv"
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    of_rows = run(source, metrics=(metric,), positive="1").verdicts[0]
    options = evalreport.Options(metrics=(metric,), positive="1", resamples=200)
    of_counts = evalreport.evaluate(path, options=options).verdicts[0]
    assert of_counts.method == of_rows.method == "plus_two"
    assert (of_counts.low, of_counts.high) == pytest.approx((of_rows.low, of_rows.high), rel=1e-12)


def test_mcnemar_s_leading_row_has_the_verdict_s_interval_and_the_others_newcombe_s() -> None:
    """One method for a pair's interval everywhere; with a margin it is Tango's."""
    source, _ = two_models()
    results = run(source, metrics=("accuracy",), positive="1")
    (row,) = [r for r in results.comparisons if r.recommended]
    assert (row.test, row.interval_method) == ("mcnemar_midp", "plus_two")
    assert results.verdicts[0].low == row.low
    beside = [r for r in results.comparisons if str(r.test).startswith("mcnemar") and not r.recommended]
    assert {r.interval_method for r in beside} == {"newcombe_paired"}
    within = run(source, metrics=("accuracy",), positive="1", margin=0.1)
    (leading,) = [r for r in within.comparisons if r.recommended]
    assert (leading.interval_method, within.verdicts[0].method) == ("tango", "tango")
    assert within.verdicts[0].low == leading.low
