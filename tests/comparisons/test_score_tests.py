"""Score tests of precision, F1 and balanced accuracy: reference values, edges, and the metrics that they lead for."""

from __future__ import annotations

from collections.abc import Mapping
from types import SimpleNamespace
from typing import Any, cast

import numpy as np
import numpy.typing as npt
import pytest
from scipy import optimize, stats

from evalreport.comparisons.label_pairs import PairedRecalls, PairedTrials
from evalreport.comparisons.registry import Outcome, Pair
from evalreport.comparisons.score_tests import restricted_shares, score_precision
from evalreport.schema.comparisons import ComparisonRecord
from evalreport.schema.results import Results
from tests.reference.third_round import assert_agrees, each
from tests.samples.cases import every
from tests.samples.pairs import Source, labels, run


def leading(results: Results, metric: str, label: str | None = None) -> ComparisonRecord:
    """Return the row of the recommended test of one metric."""
    (found,) = (r for r in results.comparisons if r.recommended and r.metric == metric and r.label == label)
    return found


def of_counts(counts: list[int]) -> Source:
    """Return two models' rows from counts in the order 4 truth + 2 first answer + second answer."""
    cell = np.repeat(np.arange(8), counts)
    return labels(cell // 4, a=cell // 2 % 2, b=cell % 2)


def of_classes(only_first: list[int], only_second: list[int], n: list[int]) -> Source:
    """Return two models' rows by class: right only by the first, only by the second, by both."""
    true, a, b = [], [], []
    for code, (first, second, size) in enumerate(zip(only_first, only_second, n, strict=True)):
        wrong = (code + 1) % len(n)
        true += [code] * size
        a += [code] * first + [wrong] * second + [code] * (size - first - second)
        b += [wrong] * first + [code] * second + [code] * (size - first - second)
    return labels(true, a=a, b=b)


@each("score_precision", "score_f1")
def test_equal_precision_and_f1_agree_with_r(case: Mapping[str, Any]) -> None:
    """Difference, Z and p are those that R computes from the rows."""
    found = leading(
        run(of_counts(case["input"]["counts"]), metrics=(case["method"].removeprefix("score_"),)),
        case["method"].removeprefix("score_"),
    )
    assert found.test == case["method"]
    assert_agrees({"difference": found.difference, "z": found.statistic, "p": found.p_value}, case)


@each("score_recalls")
def test_equal_balanced_accuracy_agrees_with_r(case: Mapping[str, Any]) -> None:
    """Difference, Z and p are those of a constrained likelihood in R."""
    found = leading(run(of_classes(**case["input"]), metrics=("balanced_accuracy",)), "balanced_accuracy")
    assert found.test == "score_recalls"
    assert_agrees({"difference": found.difference, "z": found.statistic, "p": found.p_value}, case)


CLASSES = [
    ([3, 1, 0], [1, 4, 2], [20, 30, 9]),
    ([5, 0], [0, 0], [12, 40]),
    ([0, 0, 1, 7], [2, 3, 0, 7], [5, 6, 7, 30]),
    ([6, 2], [0, 0], [6, 10]),
]


@pytest.mark.parametrize(("only_first", "only_second", "n"), CLASSES)
def test_restricted_shares_maximise_the_likelihood(
    only_first: list[int], only_second: list[int], n: list[int]
) -> None:
    """No other shares whose differences add up to 0 are more likely: scipy's constrained optimiser finds none."""
    b, c, size = (np.array(part, dtype=float) for part in (only_first, only_second, n))
    p, q = restricted_shares(PairedRecalls(b, c, size))
    k = len(n)
    assert (p - q).sum() == pytest.approx(0, abs=1e-9)

    def surprise(shares: npt.NDArray[np.float64]) -> float:
        first, second = shares[:k], shares[k:]
        chances = ((b, first), (c, second), (size - b - c, 1 - first - second))
        return -float(sum((x[x > 0] * np.log(np.maximum(y[x > 0], 1e-300))).sum() for x, y in chances))

    found = optimize.minimize(
        surprise,
        np.full(2 * k, 0.2),
        method="SLSQP",
        bounds=[(1e-9, 1)] * (2 * k),
        constraints=[
            {"type": "eq", "fun": lambda x: (x[:k] - x[k:]).sum()},
            {"type": "ineq", "fun": lambda x: 1 - x[:k] - x[k:]},
        ],
        options={"ftol": 1e-12, "maxiter": 1000},
    )
    # The optimiser stops within 1e-6 of the least value.
    assert surprise(np.concatenate([p, q])) <= found.fun + 1e-6


def test_one_class_is_mcnemar_s_test() -> None:
    """With 9 and 2 rows apart Z^2 is (9 - 2)^2/(9 + 2)."""
    true = np.zeros(40, int)
    a, b = true.copy(), true.copy()
    a[:2], b[2:11] = 1, 1
    found = leading(
        run(labels(true, a=a, b=b), metrics=("balanced_accuracy",), positive="1"), "balanced_accuracy"
    )
    assert found.statistic is not None
    assert found.statistic**2 == pytest.approx(49 / 11, rel=1e-12)


def random_source(seed: int = 3, classes: int = 2, n: int = 300) -> Source:
    """Return two models that are right in three quarters of the rows."""
    random = np.random.default_rng(seed)
    true = random.integers(0, classes, n)
    said = [np.where(random.random(n) < 0.75, true, random.integers(0, classes, n)) for _ in range(2)]
    return labels(true, a=said[0], b=said[1])


@pytest.mark.parametrize(
    ("metric", "test"),
    every(
        2,
        [
            ("precision", "score_precision"),
            ("npv", "score_precision"),
            ("f1", "score_f1"),
            ("jaccard", "score_f1"),
            ("balanced_accuracy", "score_recalls"),
            ("mean_per_class_error", "score_recalls"),
            ("informedness", "score_recalls"),
            ("accuracy", "mcnemar_midp"),
            ("error_rate", "mcnemar_midp"),
            ("recall", "mcnemar_midp"),
            ("specificity", "mcnemar_midp"),
            ("fpr", "mcnemar_midp"),
            ("fnr", "mcnemar_midp"),
            ("f2", "interval"),
            ("mcc", "interval"),
            ("cohen_kappa", "interval"),
            ("markedness", "interval"),
        ],
    ),
)
def test_which_test_leads_for_a_metric_of_two_classes(metric: str, test: str) -> None:
    """Of plain rows; the sign of the statistic of a score test is that of the difference."""
    found = leading(run(random_source(), metrics=(metric,)), metric)
    assert found.test == test
    assert found.p_value is not None
    if test.startswith("score"):
        assert np.sign(found.statistic) == np.sign(found.difference)


def test_functions_of_one_metric_have_its_p_value() -> None:
    """Jaccard is a function of F1, and mean per-class error and informedness of balanced accuracy."""
    metrics = ("f1", "jaccard", "balanced_accuracy", "mean_per_class_error", "informedness")
    results = run(random_source(), metrics=metrics)
    f1, jaccard, *of_recalls = (leading(results, metric).p_value for metric in metrics)
    assert f1 == jaccard
    assert of_recalls == pytest.approx([of_recalls[0]] * 3, rel=1e-9)


def test_npv_is_the_precision_of_the_other_class() -> None:
    """With the classes exchanged precision has the p-value that NPV had."""
    npv = leading(run(random_source(), metrics=("npv",), positive="1"), "npv")
    precision = leading(run(random_source(), metrics=("precision",), positive="0"), "precision")
    assert (npv.p_value, npv.statistic) == (precision.p_value, precision.statistic)


@pytest.mark.parametrize(
    "metric", every(3, ["precision", "f1", "informedness", "recall", "specificity", "jaccard", "npv"])
)
def test_a_class_of_several_is_tested_against_the_rest(metric: str) -> None:
    """The named class has the p-value of the table that pools the others."""
    source = random_source(classes=4)
    found = leading(run(source, metrics=(f"{metric}[class=2]",)), metric, "2")
    pooled = {
        name: {
            **columns,
            **{key: ["2" if v == "2" else "rest" for v in columns[key]] for key in ("y_true", "y_pred")},
        }
        for name, columns in source.items()
    }
    alone = leading(run(pooled, metrics=(metric,), positive="2"), metric)
    assert found.test == alone.test
    assert found.p_value == pytest.approx(alone.p_value, rel=1e-12)


@pytest.mark.parametrize(
    ("metric", "average", "test"),
    every(
        3,
        [
            ("recall_macro", "macro", "score_recalls"),
            ("f1_macro", "macro", "interval"),
            ("precision_macro", "macro", "interval"),
            ("f1_micro", "micro", "mcnemar_midp"),
            ("specificity_micro", "micro", "mcnemar_midp"),
            ("jaccard_micro", "micro", "mcnemar_midp"),
            ("recall_weighted", "weighted", "mcnemar_midp"),
            ("precision_weighted", "weighted", "interval"),
            ("informedness_macro", "macro", "interval"),
        ],
    ),
)
def test_averages_have_the_test_of_what_they_are(metric: str, average: str, test: str) -> None:
    """Macro recall is balanced accuracy; micro averages and weighted recall follow accuracy; others are swapped."""
    results = run(random_source(classes=3), metrics=(metric, "balanced_accuracy", "accuracy"))
    (found,) = (r for r in results.comparisons if r.recommended and r.average == average)
    assert found.test == test
    same = {"score_recalls": "balanced_accuracy", "mcnemar_midp": "accuracy"}.get(test)
    if same is not None:
        assert found.p_value == leading(results, same).p_value


@pytest.mark.parametrize("metric", ["error_rate", "fpr_micro", "fnr_micro", "fnr_weighted"])
def test_odds_of_discordant_examples_follow_the_value(metric: str) -> None:
    """They are above 1 for the model with the larger value, of errors as well: one over those of accuracy."""
    results = run(random_source(classes=3), metrics=("accuracy", metric))
    odds = leading(results, "accuracy").effect_size
    (of_errors,) = (r for r in results.comparisons if r.recommended and r.metric in (metric, metric[:3]))
    assert odds
    assert of_errors.difference
    assert of_errors.effect_size == pytest.approx(1 / odds)
    assert (odds < 1) == (of_errors.difference > 0)


def test_recall_is_tested_among_the_rows_of_its_class() -> None:
    """Of 20 positives only the first model has 8 right and only the second 1: mid-p of Bin(9, 1/2)."""
    true = np.array([1] * 20 + [0] * 40)
    a, b = true.copy(), true.copy()
    b[:8], a[8], a[30:45] = 0, 0, 1
    found = leading(run(labels(true, a=a, b=b), metrics=("recall",)), "recall")
    expected = 2 * (stats.binom.cdf(0, 9, 0.5) + stats.binom.pmf(1, 9, 0.5) / 2)
    assert found.p_value == pytest.approx(expected, rel=1e-12)


def test_a_model_that_flags_nothing_has_no_test_of_precision() -> None:
    """0/0 is no share: no p-value, with the reason, and the pair is not settled."""
    true = np.array([1] * 20 + [0] * 40)
    results = run(labels(true, a=true, b=np.zeros(60, int)), metrics=("precision",), positive="1")
    found = leading(results, "precision")
    assert (found.statistic, found.p_value) == (None, None)
    assert "flags nothing" in str(found.reason)
    assert results.verdicts[0].verdict == "undecided"


@pytest.mark.parametrize("metric", ["precision", "f1", "balanced_accuracy"])
def test_equal_values_give_p_1(metric: str) -> None:
    """Equal values of different answers: Z = 0."""
    true = np.array([1] * 20 + [0] * 20)
    a, b = true.copy(), true.copy()
    a[[0, 20]] ^= 1
    b[[1, 21]] ^= 1
    found = leading(run(labels(true, a=a, b=b), metrics=(metric,)), metric)
    assert (found.statistic, found.p_value) == (0.0, 1.0)


def test_no_answer_of_the_class_at_all_has_no_test_of_f1() -> None:
    """Neither a positive nor an answer that says so: F1 is 0/0 for both models."""
    true = np.zeros(30, int)
    found = leading(run(labels(true, a=true, b=true), metrics=("f1",), positive="1"), "f1")
    assert found.p_value is None


def test_f1_far_apart_is_left_to_the_interval() -> None:
    """Five hits without an error against five with a hundred: at the pooled value the variance is below 0."""
    source = of_counts([400, 100, 0, 0, 0, 0, 0, 5])
    found = leading(run(source, metrics=("f1",)), "f1")
    assert found.test == "interval"
    named = run(source, metrics=("f1",), tests=("score_f1",))
    assert "so far apart" in next(str(r.reason) for r in named.comparisons if r.test == "score_f1")


@pytest.mark.parametrize("option", [{"cluster": "g"}, {"weight": "w"}])
def test_clusters_and_weights_have_tests_of_their_own(option: dict[str, str]) -> None:
    """The score tests take examples as independent and equally weighted; named there, they are refused."""
    random = np.random.default_rng(1)
    columns = {"g": random.integers(0, 30, 300).astype(str).tolist(), "w": random.uniform(1, 2, 300).tolist()}
    source = {name: {**model, **columns} for name, model in random_source().items()}
    results = run(source, metrics=("f1",), tests=("score_f1",), **option)
    assert leading(results, "f1").test != "score_f1"
    assert next(r for r in results.comparisons if r.test == "score_f1").p_value is None


@pytest.mark.parametrize("missing", [3, 12])
def test_answers_that_are_missing_count_as_wrong(missing: int) -> None:
    """A missing answer flags no class: it is no trial of precision, and wrong for specificity."""
    true = ["1"] * 30 + ["0"] * 30
    a = ["1"] * 25 + ["0"] * 35
    b = ["1"] * 33 + ["0"] * 27
    b[-missing:] = [""] * missing
    ids = [f"e{i}" for i in range(60)]
    source = {name: {"id": ids, "y_true": true, "y_pred": said} for name, said in (("a", a), ("b", b))}
    results = run(source, metrics=("specificity", "npv"), positive="1", missing="wrong")
    specificity, npv = leading(results, "specificity"), leading(results, "npv")
    # Only the first is right on the three false alarms and the missing ones.
    assert specificity.statistic == 0
    assert specificity.p_value == pytest.approx(0.5 ** (3 + missing), rel=1e-12)
    assert npv.difference == pytest.approx(30 / 35 - (27 - missing) / (27 - missing))
    assert npv.p_value is not None


@pytest.mark.slow
def test_rejections_of_equal_precision_stay_near_5_percent() -> None:
    """Flagging half and a twentieth of 200 at precision 0.8: 1,000 data sets reject at most 5 % and two errors.

    The test itself, on counts; that a run leads with its p-value is asked of the first ten.
    """
    random, sets, rejected = np.random.default_rng(8), 1000, 0
    for number in range(sets):
        true = random.random(200) < 0.5
        a, b = (random.random(200) < np.where(true, 1.6 * s, 0.4 * s) for s in (0.5, 0.05))
        counts = np.bincount(4 * true + 2 * a + b, minlength=8)
        p_value = precision_test(counts.astype(np.float64)).p_value
        rejected += p_value is not None and p_value <= 0.05
        if number < 10:
            results = run(
                of_counts(counts.tolist()), metrics=("precision",), intervals=("normal",), resamples=10
            )
            assert leading(results, "precision").p_value == pytest.approx(p_value, rel=1e-12)
    assert rejected <= sets * 0.05 + 2 * np.sqrt(sets * 0.05 * 0.95)


def precision_test(c: npt.NDArray[np.float64]) -> Outcome:
    """Return the test's outcome from counts in the order 4 truth + 2 first answer + second answer."""
    trials = np.array([[c[0] + c[4], c[1], c[5]], [c[2], c[3], 0.0], [c[6], 0.0, c[7]]])
    pair = SimpleNamespace(trials=PairedTrials(trials, "answers"), difference=SimpleNamespace(value=1.0))
    return score_precision(cast("Pair", pair))
