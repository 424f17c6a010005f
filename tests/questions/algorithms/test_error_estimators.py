"""Estimates from splits: which layout is which estimator, what a nested search chose, what is missing."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from tests.samples.algorithms import estimates, evaluate
from tests.samples.folds import SAID, TRUTH, N, folds

WRONG = np.mean(np.array(TRUTH) != np.array(SAID))


def test_folds_that_share_the_classes_out_are_stratified() -> None:
    """Four folds of five and five examples of each class: cross-validation and its stratified kind are one number."""
    found = estimates(evaluate(folds([str(i // 2 % 4) for i in range(N)]), task="binary"), "error_rate")
    assert found["cv"].value == pytest.approx(WRONG, abs=1e-15)
    assert found["stratified_cv"].value == found["cv"].value
    assert found["loocv"].value is None
    assert found["cv"].details["n_folds"] == 4
    assert found["cv"].details["n_train"] == 30


def test_folds_of_one_class_each_are_not_stratified() -> None:
    """Folds that hold one class each share nothing out."""
    found = estimates(evaluate(folds([f"{i % 2}{i // 20}" for i in range(N)]), task="binary"), "error_rate")
    assert found["cv"].value is not None
    assert found["stratified_cv"].value is None
    assert "do not share the classes out evenly" in (found["stratified_cv"].reason or "")


def test_corrected_limits_of_folds() -> None:
    """Mean over folds -+ t_{J-1} s sqrt(1/J + n_test/n_train): Nadeau and Bengio (2003), by hand."""
    from scipy import stats

    fold_of = [str(i // 2 % 4) for i in range(N)]
    found = estimates(evaluate(folds(fold_of), task="binary"), "error_rate")["cv"]
    wrong = np.array(TRUTH) != np.array(SAID)
    values = np.array([wrong[[f == k for f in fold_of]].mean() for k in "0123"])
    error = values.std(ddof=1) * np.sqrt(1 / 4 + 10 / 30)
    half = stats.t.ppf(0.975, 3) * error
    assert found.standard_error == pytest.approx(error, abs=1e-12)
    assert found.low == pytest.approx(max(values.mean() - half, 0), abs=1e-12)
    assert found.high == pytest.approx(min(values.mean() + half, 1), abs=1e-12)


def test_leave_one_out_is_told_from_folds() -> None:
    """Every fold one example: leave-one-out, and cross-validation refers to it."""
    found = estimates(evaluate(folds([str(i) for i in range(N)]), task="binary"), "error_rate")
    assert found["loocv"].value == pytest.approx(WRONG, abs=1e-15)
    assert "see loocv" in (found["cv"].reason or "")


def test_areas_are_averaged_over_folds() -> None:
    """Scores of different fits have no common scale: the area is the mean over folds, and that is said."""
    from sklearn.metrics import roc_auc_score

    fold_of = [str(i // 2 % 4) for i in range(N)]
    score = [((i * 13) % 17) / 17 + 0.2 * TRUTH[i] + int(fold_of[i]) for i in range(N)]
    found = estimates(evaluate(folds(fold_of, score=score), task="binary", metrics=("roc_auc",)), "roc_auc")[
        "cv"
    ]
    each = [
        roc_auc_score(
            [TRUTH[i] for i in range(N) if fold_of[i] == k], [score[i] for i in range(N) if fold_of[i] == k]
        )
        for k in "0123"
    ]
    assert found.value == pytest.approx(np.mean(each), abs=1e-12)
    assert found.details["aggregation"] == "mean over fits"


def test_nested_search_says_what_won_where() -> None:
    """Rows of inner folds choose parameters and test nothing; the outer folds are the nested estimate."""
    fold_of = [str(i // 2 % 4) for i in range(N)]
    chosen = {"0": "depth=2", "1": "depth=3", "2": "depth=2", "3": "depth=2"}
    rows = folds(fold_of, params=[chosen[f] for f in fold_of], inner_fold=[None] * N)
    inner = {
        "id": [f"{i:02d}" for i in range(N)],
        "model": ["m"] * N,
        "fold": [str((int(f) + 1) % 4) for f in fold_of],
        "y_true": TRUTH,
        "y_pred": [1 - t for t in TRUTH],
        "params": ["depth=9"] * N,
        "inner_fold": ["1"] * N,
    }
    results = evaluate({name: [*rows[name], *inner[name]] for name in rows}, task="binary")
    found = estimates(results, "error_rate")
    assert found["nested_cv"].value == pytest.approx(WRONG, abs=1e-15)
    assert "see nested_cv" in (found["cv"].reason or "")
    assert {(c.fold, c.params) for c in results.chosen_parameters} == set(chosen.items())


def test_repeated_hold_outs() -> None:
    """Repeats that do not test every example: the mean over them."""
    rows: dict[str, list[Any]] = {
        name: [] for name in ("id", "model", "repeat", "train_size", "y_true", "y_pred")
    }
    errors = []
    for r in range(3):
        tested = [i for i in range(N) if (i + r) % 4 == 0 or i % 7 == r]
        errors.append(np.mean([TRUTH[i] != SAID[i] for i in tested]))
        for i in tested:
            values = (f"{i:02d}", "m", str(r), N - len(tested), TRUTH[i], SAID[i])
            for column, value in zip(rows.values(), values, strict=True):
                column.append(value)
    found = estimates(evaluate(rows, task="binary"), "error_rate")
    assert found["repeated_holdout"].value == pytest.approx(np.mean(errors), abs=1e-12)
    assert found["cv"].value is None


def test_folds_of_one_example_have_no_ranking() -> None:
    """Leave-one-out gives no area under a curve, with the reason."""
    rows = folds([str(i) for i in range(N)], score=[float(i % 7) for i in range(N)])
    found = estimates(evaluate(rows, task="binary"), "average_precision")["loocv"]
    assert found.value is None
    assert "a fold of one example" in (found.reason or "")


def test_scores_without_labels_are_estimated_by_their_ranking() -> None:
    """Where no model has a threshold the main row is the area under the ROC curve."""
    rows = folds([str(i // 2 % 4) for i in range(N)], score=[float(i % 7) for i in range(N)])
    del rows["y_pred"]
    results = evaluate(rows, task="binary")
    assert results.error_estimates[0].metric == "roc_auc"
    assert estimates(results, "roc_auc")["cv"].value is not None


def test_metrics_that_one_example_has_not_are_not_judged_by_folds_of_one() -> None:
    """Leave-one-out: F1 on one example is whether it was found, so no limits and no test come from such folds.

    F1 by hand from the pooled table; its limits hold it, which those of the mean over folds of one do not.
    """
    rows = folds([str(i) for i in range(N)])
    other = {**rows, "model": ["k"] * N, "y_pred": [1 - y if i % 9 == 0 else y for i, y in enumerate(TRUTH)]}
    results = evaluate({name: rows[name] + other[name] for name in rows}, task="binary")
    truth, said = np.array(TRUTH), np.array(SAID)
    by_hand = 2 * (truth & said).sum() / (truth.sum() + said.sum())
    (f1,) = [m for m in results.metrics if (m.model, m.metric, m.label) == ("m", "f1", None)]
    first = f1.intervals[0]
    assert f1.value == pytest.approx(by_hand, abs=1e-15)
    assert first.method != "corrected_t"
    assert first.low is not None
    assert first.high is not None
    assert first.low < by_hand < first.high
    tests = {c.metric: c for c in results.comparisons if c.test == "corrected_resampled_t"}
    assert tests["accuracy"].p_value is not None
    assert "f1" not in tests


def test_limits_over_folds_that_leave_the_value_out_are_not_given() -> None:
    """Folds without positives have F1 = 0: their mean is 1/4, far from the pooled 1, with all answers right."""
    rows = folds([str(i // 10) for i in range(N)])
    truth = [int(i < 10 or i == 11) for i in range(N)]
    said = [int(i < 10 or i == 12) for i in range(N)]
    results = evaluate({**rows, "y_true": truth, "y_pred": said}, task="binary")
    (f1,) = [m for m in results.metrics if (m.metric, m.label) == ("f1", None)]
    # TP 10, FP 1, FN 1.
    assert f1.value == pytest.approx(20 / 22, abs=1e-15)
    first = f1.intervals[0]
    assert first.low is not None
    assert first.high is not None
    assert first.low <= 20 / 22 <= first.high


def test_folds_of_one_leave_rmse_to_a_test_over_examples() -> None:
    """The mean over folds of one of RMSE is MAE: the test that leads is about squared errors, and says so."""
    generator = np.random.default_rng(5)
    truth = generator.normal(size=N)
    rows = folds([str(i) for i in range(N)])
    both = {name: rows[name] * 2 for name in ("id", "fold")}
    both |= {"model": ["a"] * N + ["b"] * N, "y_true": [*truth, *truth]}
    said = {m: truth + generator.normal(size=N) for m in "ab"}
    results = evaluate({**both, "y_pred": [*said["a"], *said["b"]]}, task="regression")
    (leading,) = [c for c in results.comparisons if c.metric == "rmse" and c.recommended]
    root = {m: np.sqrt(np.mean((p - truth) ** 2)) for m, p in said.items()}
    assert leading.test == "paired_t"
    assert leading.difference == pytest.approx(root["a"] - root["b"], abs=1e-12)
    assert leading.p_value is not None
    assert "these fitted models" in (leading.caution or "")


def test_folds_of_one_have_no_rankings_and_no_medians() -> None:
    """A ranking of one positive is perfect, and the median error of one example is its error: neither is a value."""
    generator = np.random.default_rng(6)
    p = generator.random(N).round(3).tolist()
    rows = folds([str(i) for i in range(N)])
    results = evaluate({**{k: v for k, v in rows.items() if k != "y_pred"}, "p_1": p}, task="binary")
    found = {m.metric: m for m in results.metrics}
    for name in ("roc_auc", "average_precision", "pr_auc", "max_accuracy", "r_precision"):
        assert found[name].value is None
        assert "one example" in (found[name].reason or "")
    truth = generator.normal(size=N).tolist()
    values = evaluate({**rows, "y_true": truth, "y_pred": p}, task="regression")
    errors = {m.metric: m.value for m in values.metrics}
    assert errors["mae"] == pytest.approx(np.abs(np.array(truth) - p).mean(), abs=1e-12)
    assert errors["medae"] is None
    assert errors["max_error"] is None


def test_folds_on_which_recall_is_undefined_give_it_no_limits() -> None:
    """Ten folds, five without positives: recall is 0/0 there, so the mean over folds is half of what it should be."""
    truth = [int(i % 4 == 0 and i < 20) for i in range(N)]
    rows = folds([str(i // 4) for i in range(N)])
    results = evaluate({**rows, "y_true": truth, "y_pred": [int(y and i != 8) for i, y in enumerate(truth)]})
    (recall,) = [m for m in results.metrics if (m.metric, m.label) == ("recall", None)]
    assert recall.value == pytest.approx(4 / 5, abs=1e-15)
    assert recall.intervals[0].method != "corrected_t"
    assert "0/0 on 5 of 10 folds" in (recall.intervals[0].reason or "")
    (accuracy,) = [m for m in results.metrics if m.metric == "accuracy"]
    assert accuracy.intervals[0].method == "corrected_t"
