"""Each worked example of the lectures comes out right, also where a lecture contradicts itself."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import evalreport
from evalreport.questions.algorithms.replicates import bootstrap_632, bootstrap_632plus
from evalreport.schema.metrics import Interval, MetricRecord
from evalreport.schema.results import Results

DATA = Path(__file__).resolve().parent.parent / "data"
EXAMPLES: Mapping[str, Mapping[str, Any]] = {
    example["id"]: example
    for example in json.loads((DATA / "seed_examples.json").read_text(encoding="utf-8"))["examples"]
}

# computed on both sides from the same counts in double precision
EXACT = 1e-10

# the example's name of a number -> ours
NAMES = {
    "accuracy": "accuracy",
    "error_rate": "error_rate",
    "precision": "precision",
    "recall": "recall",
    "specificity": "specificity",
    "f1": "f1",
    "balanced_accuracy": "balanced_accuracy",
    "kappa": "cohen_kappa",
    "mcc": "mcc",
    "fpr": "fpr",
    "fnr": "fnr",
    "npv": "npv",
    "f0_5": "f0_5",
    "f2": "f2",
}
# metrics of the contract that this version does not compute yet
NOT_IN_THIS_VERSION: frozenset[str] = frozenset()

# examples without a test here, each with its reason
NOT_COVERED = {
    "hr21_nested_cv": "sizes of the splits of a plan, not a number of a run",
    "ru8_typos": "formulas without numbers; F1 and the curve's direction are held by the other examples",
    "hr_smuc_diff": "formula of two independent test sets with numbers of our own: not in this version",
    "sk9_credit_model": "coefficients of a fitted model: evalreport fits none",
    "sk9_deviance": "the deviance: not in this version",
    "sk9_fn_fp": "a convention about hypotheses, not a number",
    "pl_bootstrap_fraction": "a limit of combinatorics, not a number of a run",
}

COUNTS = [name for name, e in EXAMPLES.items() if {"TP", "FP", "FN", "TN"} <= e["inputs"].keys()]


def evaluate_rows(truth: Sequence[object], said: Sequence[object], **options: Any) -> Results:
    """Evaluate one model called ``model`` from its rows."""
    rows = {"id": [f"{i:05d}" for i in range(len(truth))], "y_true": list(truth), "y_pred": list(said)}
    return evalreport.evaluate({"model": rows}, options=evalreport.Options(resamples=100, **options))


def evaluate_counts(counts: Mapping[str, int], **options: Any) -> Results:
    """Evaluate one binary model with the given TP, FP, FN, TN; 1 is positive."""
    rows = (
        [("1", "1")] * counts["TP"] + [("0", "1")] * counts["FP"]
        + [("1", "0")] * counts["FN"] + [("0", "0")] * counts["TN"]
    )  # fmt: skip
    truth, said = zip(*rows, strict=True)
    return evaluate_rows(truth, said, task="binary", positive="1", **options)


def evaluate_matrix(matrix: Sequence[Sequence[int]], labels: Sequence[str], *, true_first: bool) -> Results:
    """Evaluate one model with a confusion matrix whose rows are the truth, or else the predictions."""
    rows = [
        (labels[i], labels[j])
        for i in range(len(labels))
        for j in range(len(labels))
        for _ in range(matrix[i][j])
    ]
    first, second = zip(*rows, strict=True)
    truth, said = (first, second) if true_first else (second, first)
    return evaluate_rows(truth, said)


def metric(results: Results, name: str, average: str | None = None, label: str | None = None) -> MetricRecord:
    """Return the first model's record of a metric."""
    (record,) = (
        r
        for r in results.metrics
        if (r.metric, r.average, r.label, r.slice, r.model) == (name, average, label, None, results.models[0])
    )
    return record


def interval(record: MetricRecord, method: str) -> Interval:
    """Return the record's interval of one method."""
    (one,) = (i for i in record.intervals if i.method == method)
    return one


def held(results: Results, name: str) -> bool:
    """Tell whether this version computes a metric."""
    return any(record.metric == name for record in results.metrics)


def test_every_example_has_a_test_or_a_reason() -> None:
    """No example falls out silently."""
    tested = set(COUNTS) | TESTED_BY_NAME
    assert tested | set(NOT_COVERED) == set(EXAMPLES)
    assert not tested & set(NOT_COVERED)


@pytest.mark.parametrize("name", COUNTS)
def test_confusion_counts(name: str) -> None:
    """Counts of TP, FP, FN, TN give the example's computed metrics; a ratio 0/0 is 0 with its reason."""
    example = EXAMPLES[name]
    results = evaluate_counts({k: example["inputs"][k] for k in ("TP", "FP", "FN", "TN")})
    compared = 0
    for key, expected in example["computed"].items():
        if key in NAMES and NAMES[key] not in NOT_IN_THIS_VERSION:
            ours = metric(results, NAMES[key])
            assert ours.value == pytest.approx(expected or 0.0, abs=EXACT), key
            assert (ours.reason is not None) == (expected is None), key
            compared += 1
    assert compared >= 1


def test_seven_examples() -> None:
    """hr21_cm7: two of the five negatives are false positives, not 'false negative' as the text has it."""
    inputs, computed = EXAMPLES["hr21_cm7"]["inputs"], EXAMPLES["hr21_cm7"]["computed"]
    results = evaluate_rows(inputs["y_true"], inputs["y_pred"])
    cells = {(c.true, c.predicted): c.count for c in results.confusion}
    assert cells["1", "1"] == computed["TP"]
    assert cells["0", "1"] == computed["FP"]
    assert cells["1", "0"] == computed["FN"]
    assert cells["0", "0"] == computed["TN"]
    for key, name in NAMES.items():
        if name not in NOT_IN_THIS_VERSION:
            assert metric(results, name).value == pytest.approx(computed[key], abs=EXACT), key


def test_accuracy_is_no_inner_product() -> None:
    """hr21_acc_dot_product: the printed formula counts true positives only (1/7); the accuracy is 4/7."""
    example = EXAMPLES["hr21_acc_dot_product"]
    results = evaluate_rows(example["inputs"]["y_true"], example["inputs"]["y_pred"])
    assert metric(results, "accuracy").value == pytest.approx(example["computed"]["accuracy"], abs=EXACT)
    assert metric(results, "accuracy").value != pytest.approx(example["computed"]["literal"], abs=0.1)


def test_f1_is_the_harmonic_mean() -> None:
    """hr21_harmonic: precision 0.1 and recall 0.8 give F1 = 0.1778, not the arithmetic mean 0.45."""
    # 8 true positives among 80 predicted and 10 real ones: P = 0.1, R = 0.8
    results = evaluate_counts({"TP": 8, "FP": 72, "FN": 2, "TN": 18})
    assert metric(results, "precision").value == pytest.approx(0.1, abs=EXACT)
    assert metric(results, "recall").value == pytest.approx(0.8, abs=EXACT)
    assert metric(results, "f1").value == pytest.approx(
        EXAMPLES["hr21_harmonic"]["computed"]["f1"], abs=EXACT
    )


@pytest.mark.parametrize(
    "counts, undefined",
    [
        ({"TP": 0, "FP": 0, "FN": 3, "TN": 7}, {"precision"}),
        ({"TP": 0, "FP": 3, "FN": 0, "TN": 7}, {"recall"}),
    ],
)
def test_undefined_ratios_are_zero_with_a_reason(counts: dict[str, int], undefined: set[str]) -> None:
    """hr21_undefined: precision or recall of 0/0 is 0, as the lecture says, and the reason stands."""
    results = evaluate_counts(counts)
    for name in ("precision", "recall", "f1"):
        record = metric(results, name)
        assert record.value == 0.0
        if name in undefined:
            assert record.reason


def test_three_classes_of_thirteen() -> None:
    """hr21_k3_n13: the lost cells may be filled in two ways; accuracy and class 2 come out the same."""
    example = EXAMPLES["hr21_k3_n13"]
    for matrix in example["inputs"]["candidates"]:
        results = evaluate_matrix(matrix, ["1", "2", "3"], true_first=False)
        assert metric(results, "accuracy").value == pytest.approx(example["computed"]["accuracy"], abs=EXACT)
        cells = {(c.true, c.predicted): c.count for c in results.confusion}
        counts = example["computed"]["class2"]
        assert cells["2", "2"] == counts["TP"]
        assert sum(n for (t, p), n in cells.items() if p == "2" and t != "2") == counts["FP"]
        assert sum(n for (t, p), n in cells.items() if t == "2" and p != "2") == counts["FN"]


def test_three_classes_of_fifteen() -> None:
    """hr21_k3_n15: all averages of precision, recall and F1; macro F1 is the mean of the class F1s."""
    example = EXAMPLES["hr21_k3_n15"]
    inputs, computed = example["inputs"], example["computed"]
    results = evaluate_rows(inputs["y_true"], inputs["y_pred"], task="multiclass")
    for average in ("macro", "micro", "weighted"):
        for name in ("precision", "recall", "f1"):
            ours = metric(results, name, average).value
            assert ours == pytest.approx(computed[average][name], abs=EXACT), (average, name)
    assert metric(results, "accuracy").value == pytest.approx(computed["accuracy"], abs=EXACT)
    assert metric(results, "cohen_kappa").value == pytest.approx(computed["kappa"], abs=EXACT)


def test_four_classes_of_the_seminar() -> None:
    """ru8_exercise3: macro precision is 0.4, micro 13/106, because one class draws 100 of 106 predictions."""
    example = EXAMPLES["ru8_exercise3"]
    results = evaluate_matrix(example["inputs"]["matrix"], example["inputs"]["classes"], true_first=True)
    computed = example["computed"]
    for average in ("macro", "micro"):
        for name in ("precision", "recall"):
            ours = metric(results, name, average).value
            assert ours == pytest.approx(computed[f"{average}_{name}"], abs=EXACT), (average, name)
    assert metric(results, "f1", "macro").value == pytest.approx(computed["macro_f1"], abs=EXACT)
    assert metric(results, "accuracy").value == pytest.approx(computed["accuracy"], abs=EXACT)


def test_majority_of_nine_to_one() -> None:
    """ru8_imbalance: always the larger class of 9 : 1 is right in 90 %, and no better than chance."""
    results = evaluate_counts({"TP": 0, "FP": 0, "FN": 10, "TN": 90})
    assert metric(results, "accuracy").value == pytest.approx(0.9, abs=EXACT)
    assert metric(results, "balanced_accuracy").value == pytest.approx(0.5, abs=EXACT)


SCORES = EXAMPLES["ru8_exercise1"]["inputs"]
# The seminar gives no average precision: sum of (R_k - R_{k-1}) P_k, by hand from its two rankings
# (++--+-+-: 1/4 (1 + 1 + 3/5 + 4/7) and +-+-++--  as ordered below).
HAND_AVERAGE_PRECISION = {
    "classifier1": (1 + 1 + 3 / 5 + 4 / 7) / 4,
    "classifier2": (1 + 2 / 3 + 3 / 5 + 4 / 6) / 4,
}


def evaluate_scores(change: float = 1.0) -> Results:
    """Evaluate the seminar's two classifiers, their scores multiplied by a constant."""
    labels = ["1" if label == "+" else "0" for label in SCORES["labels"]]
    source = {
        name: {
            "id": [str(i) for i in range(len(labels))],
            "y_true": labels,
            "score": [change * score for score in SCORES[name]],
        }
        for name in ("classifier1", "classifier2")
    }
    options = evalreport.Options(task="binary", positive="1", resamples=100)
    return evalreport.evaluate(source, options=options)


def by_model(results: Results, name: str) -> dict[str, float | None]:
    """Return a metric's values by model."""
    return {r.model: r.value for r in results.metrics if r.metric == name}


def test_areas_of_the_seminars_rankings() -> None:
    """ru8_exercise1: both rankings have AUC 11/16, and yet different average precisions."""
    results = evaluate_scores()
    assert by_model(results, "roc_auc") == pytest.approx(
        {"classifier1": 11 / 16, "classifier2": 11 / 16}, abs=EXACT
    )
    assert by_model(results, "average_precision") == pytest.approx(HAND_AVERAGE_PRECISION, abs=EXACT)


def test_points_of_the_seminars_roc_curves() -> None:
    """ru8_exercise1: the ROC curves hold every corner of the computed ones, and nothing beside their points."""
    curves = [record for record in evaluate_scores().curves if record.curve == "roc"]
    assert {record.model for record in curves} == {"classifier1", "classifier2"}
    for record in curves:
        expected = EXAMPLES["ru8_exercise1"]["computed"][record.model]["roc_points_fpr_tpr"]
        points = set(zip(record.x, record.y, strict=True))
        assert corners(expected) <= points <= {tuple(point) for point in expected}


def corners(points: Sequence[Sequence[float]]) -> set[tuple[float, ...]]:
    """Return the ends of a staircase and the points where it turns."""
    turns = [
        here
        for before, here, after in zip(points, points[1:], points[2:], strict=False)
        if (here[0] == before[0]) != (after[0] == here[0])
    ]
    return {tuple(point) for point in (points[0], *turns, points[-1])}


@pytest.mark.parametrize("factor, expected", [(2.0, 11 / 16), (0.5, 11 / 16), (-1.0, 5 / 16)])
def test_area_under_changed_scores(factor: float, expected: float) -> None:
    """ru8_exercise2: a positive factor leaves AUC as it is, negation gives 1 - AUC."""
    areas = by_model(evaluate_scores(factor), "roc_auc")
    assert areas == pytest.approx({"classifier1": expected, "classifier2": expected}, abs=EXACT)


@pytest.mark.parametrize("percent", ["50", "68", "90", "95", "98", "99"])
def test_table_of_normal_quantiles(percent: str) -> None:
    """hr_smuc_z_table: the half width in standard errors is the exact quantile, not a rounded one."""
    (level, z) = (int(percent) / 100, EXAMPLES["hr_smuc_z_table"]["computed"]["z"][percent])
    one = interval(metric(twenty_of_hundred(level), "error_rate"), "normal")
    assert one.high is not None
    assert (one.high - 0.2) / 0.04 == pytest.approx(z, abs=EXACT)


def twenty_of_hundred(level: float) -> Results:
    """Evaluate a model that errs on 20 of 100."""
    counts = {"TP": 40, "FP": 10, "FN": 10, "TN": 40}
    return evaluate_counts(counts, confidence=level, intervals=("all",), metrics=("error_rate",))


@pytest.mark.parametrize("percent", ["50", "68", "90", "95", "98", "99"])
def test_twenty_errors_of_a_hundred(percent: str) -> None:
    """hr_smuc_20_of_100: 0.2 -+ z 0.04 at every level of the table."""
    example = EXAMPLES["hr_smuc_20_of_100"]["computed"]
    record = metric(twenty_of_hundred(int(percent) / 100), "error_rate")
    assert record.value == pytest.approx(0.2, abs=EXACT)
    assert record.standard_error == pytest.approx(example["se"], abs=EXACT)
    one = interval(record, "normal")
    assert [one.low, one.high] == pytest.approx(example["intervals_with_exact_z"][percent], abs=EXACT)


@pytest.mark.parametrize("method, key", [("wilson", "wilson_95"), ("clopper_pearson", "clopper_pearson_95")])
def test_other_intervals_of_twenty_of_a_hundred(method: str, key: str) -> None:
    """hr_smuc_20_of_100: Wilson and Clopper-Pearson stand beside the lecture's interval."""
    one = interval(metric(twenty_of_hundred(0.95), "error_rate"), method)
    assert [one.low, one.high] == pytest.approx(EXAMPLES["hr_smuc_20_of_100"]["computed"][key], abs=EXACT)


def test_kappa_of_two_experts() -> None:
    """hr_smuc_kappa_experts: observed agreement 0.8333; Cohen's kappa 0.5562 where 0.54 is rounding.

    The slide's chance term pools the marginals (Scott's pi, 0.5556); with each expert's own it is Cohen's.
    """
    inputs = EXAMPLES["hr_smuc_kappa_experts"]["inputs"]
    both, neither = inputs["both_relevant"], inputs["both_irrelevant"]
    first, second = inputs["expert1_relevant_only"], inputs["expert2_relevant_only"]
    results = evaluate_counts({"TP": both, "FP": first, "FN": second, "TN": neither})
    n = both + neither + first + second
    chance = ((both + first) * (both + second) + (neither + first) * (neither + second)) / n**2
    agreement = EXAMPLES["hr_smuc_kappa_experts"]["computed"]["P_agree"]
    assert metric(results, "accuracy").value == pytest.approx(agreement, abs=EXACT)
    assert metric(results, "cohen_kappa").value == pytest.approx(
        (agreement - chance) / (1 - chance), abs=EXACT
    )


def test_kappa_of_a_classifier() -> None:
    """hr_smuc_kappa_classifier: Cohen's kappa is 0.5562; the slide's 0.53 squares the true marginals only."""
    example = EXAMPLES["hr_smuc_kappa_classifier"]
    results = evaluate_matrix(example["inputs"]["matrix"], ["relevant", "irrelevant"], true_first=False)
    kappa = metric(results, "cohen_kappa").value
    assert kappa == pytest.approx(example["computed"]["cohen_kappa"], abs=EXACT)
    assert kappa != pytest.approx(example["computed"]["true_marginals_squared"]["kappa"], abs=0.01)


def test_credit_cards_from_the_lectures_own_predictions() -> None:
    """sk9_credit_auc: from the lecture's own predictions AUC is 0.9943; its 0.991 joins six thresholds."""
    results = evalreport.evaluate(
        DATA / "predictions" / "slovak_default_eval.csv",
        options=evalreport.Options(positive="Yes", resamples=100),
    )
    computed = EXAMPLES["sk9_credit_cm"]["computed"]
    assert metric(results, "accuracy").value == pytest.approx(computed["accuracy"], abs=EXACT)
    assert metric(results, "cohen_kappa").value == pytest.approx(computed["kappa"], abs=EXACT)
    exact = EXAMPLES["sk9_credit_auc"]["computed"]["auc_exact"]
    assert metric(results, "roc_auc").value == pytest.approx(exact, abs=EXACT)


def evaluate_regression(name: str) -> Results:
    """Evaluate one of the slides' regressions."""
    inputs = EXAMPLES[name]["inputs"]
    return evaluate_rows([float(o) for o in inputs["o"]], [float(p) for p in inputs["p"]], task="regression")


@pytest.mark.parametrize(
    "name, ours, key, wrong",
    [
        ("pl_rmse", "rmse", "rmse", "literal"),
        ("pl_r2", "r2", "one_minus_sse_sst", "squared_correlation"),
        ("pl_mape", "mape", "mape_fraction", "mape_percent"),
    ],
)
def test_regression_measures(name: str, ours: str, key: str, wrong: str) -> None:
    """pl_rmse, pl_r2, pl_mape: 1/n stands under the root, R2 is 1 - SSE/SST, MAPE is a fraction."""
    computed = EXAMPLES[name]["computed"]
    value = metric(evaluate_regression(name), ours).value
    assert value == pytest.approx(computed[key], abs=EXACT)
    assert value != pytest.approx(computed[wrong], abs=0.01)


def test_log_loss_of_three() -> None:
    """pl_logloss: natural logarithm, mean over the examples."""
    inputs = EXAMPLES["pl_logloss"]["inputs"]
    source = {"model": {"id": ["a", "b", "c"], "y_true": [str(y) for y in inputs["y"]], "p_1": inputs["p"]}}
    results = evalreport.evaluate(source, options=evalreport.Options(positive="1", resamples=100))
    expected = EXAMPLES["pl_logloss"]["computed"]["log_loss"]
    assert metric(results, "log_loss").value == pytest.approx(expected, abs=EXACT)


def test_bias_and_variance_of_replicas() -> None:
    """Mean (y - h)^2 = bias^2 + (K - 1)/K of the variance with divisor K - 1, from 40 replicas on a held-out third."""
    generator = np.random.default_rng(0)
    truth = generator.normal(size=30)
    rows = [
        (f"{i:02d}", "m", k, y, y + 0.3 + generator.normal()) for k in range(40) for i, y in enumerate(truth)
    ]
    columns = ("id", "model", "replicate", "y_true", "y_pred")
    source = {name: [row[j] for row in rows] for j, name in enumerate(columns)}
    (found,) = evalreport.evaluate(source, options=evalreport.Options(resamples=10)).decomposition
    error = np.mean([(y - h) ** 2 for *_, y, h in rows])
    assert found.variance_unbiased is not None
    assert found.expected_loss == pytest.approx(error, abs=EXACT)
    assert found.bias + 39 / 40 * found.variance_unbiased == pytest.approx(error, abs=EXACT)
    assert "hr_smuc_bias_variance" in EXAMPLES


def test_estimates_of_632() -> None:
    """The weights of .632 and .632+ from the example's three errors."""
    example = EXAMPLES["pl_632"]
    given, computed = example["inputs"], example["computed"]
    plain = bootstrap_632(given["e_R"], given["e_B2"])
    plus = bootstrap_632plus(given["e_R"], given["e_B2"], given["gamma"])
    assert plain == pytest.approx(computed["e632"], abs=EXACT)
    assert plus.relative_overfitting == pytest.approx(computed["R"], abs=EXACT)
    assert plus.omega == pytest.approx(computed["omega"], abs=EXACT)
    assert plus.value == pytest.approx(computed["e632plus"], abs=EXACT)


TESTED_BY_NAME = {
    "hr_smuc_bias_variance",
    "pl_632",
    "hr21_cm7",
    "hr21_acc_dot_product",
    "hr21_harmonic",
    "hr21_undefined",
    "hr21_k3_n13",
    "hr21_k3_n15",
    "ru8_imbalance",
    "ru8_exercise1",
    "ru8_exercise2",
    "ru8_exercise3",
    "hr_smuc_z_table",
    "hr_smuc_20_of_100",
    "hr_smuc_kappa_experts",
    "hr_smuc_kappa_classifier",
    "sk9_credit_auc",
    "pl_rmse",
    "pl_r2",
    "pl_mape",
    "pl_logloss",
}
