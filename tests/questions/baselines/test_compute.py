"""What needs no model stands beside the models, with expected values in closed form."""

from __future__ import annotations

import json

import numpy as np
import pytest
from sklearn import metrics as sk

import evalreport
from evalreport.schema.results import Results, to_json
from tests.samples.metrics import binary_rows, ids, options, several_rows, value_rows


def evaluate(task: str, rows: dict, **fields: object) -> Results:
    """Evaluate one model."""
    return evalreport.evaluate({"m": rows}, options=options(task, resamples=20, **fields))


def baseline(results: Results, rule: str) -> dict[tuple[str, str | None, str | None], float]:
    """Return one rule's values by metric, average and label."""
    return {(b.metric, b.average, b.label): b.value for b in results.baselines if b.name == rule}


def test_random_classifier_of_the_lecture() -> None:
    """A coin on 900 negatives and 100 positives: accuracy .5, precision .1, recall .5, F1 .1667."""
    rows = {"id": ids(1000), "y_true": ["1"] * 100 + ["0"] * 900, "y_pred": ["1"] * 50 + ["0"] * 950}
    coin = baseline(evaluate("binary", rows), "random_even")
    expected = {"accuracy": 0.5, "precision": 0.1, "recall": 0.5, "f1": 1 / 6, "npv": 0.9, "mcc": 0.0}
    for name, number in expected.items():
        assert coin[name, None, None] == pytest.approx(number, abs=1e-14), name


def test_guessing_at_the_prevalence() -> None:
    """Guessing at prevalence q: accuracy q^2 + (1-q)^2, precision = recall = F1 = q, kappa 0, Brier q (1-q)."""
    results = evaluate("binary", binary_rows(1))
    q = np.mean(np.array(binary_rows(1)["y_true"]) == "1")
    guess = baseline(results, "random_prevalence")
    expected = {
        "accuracy": q * q + (1 - q) ** 2,
        "precision": q,
        "recall": q,
        "f1": q,
        "cohen_kappa": 0.0,
        "brier": q * (1 - q),
        "log_loss": -q * np.log(q) - (1 - q) * np.log(1 - q),
        "roc_auc": 0.5,
        "average_precision": q,
        "pr_auc": q,
        "partial_auc": 0.5,
        "eer": 0.5,
        "max_accuracy": max(q, 1 - q),
        "precision_at_10": q,
        "r_precision": q,
        "ece": 0.0,
        "rule_lift": 1.0,
        "informedness": 0.0,
    }
    for name, number in expected.items():
        assert guess[name, None, None] == pytest.approx(number, abs=1e-13), name


def test_majority_class_is_scikit_learns_dummy() -> None:
    """Always the most frequent class: scikit-learn's scores of that answer, for labels; no ranking, no forecast."""
    rows = several_rows(2)
    truth = np.array(rows["y_true"])
    names, counts = np.unique(truth, return_counts=True)
    said = np.full(len(truth), names[counts.argmax()])
    majority = baseline(evaluate("multiclass", rows), "majority_class")
    assert majority["accuracy", None, None] == pytest.approx(sk.accuracy_score(truth, said), abs=1e-14)
    macro = sk.f1_score(truth, said, average="macro", zero_division=0)
    assert majority["f1", "macro", None] == pytest.approx(macro, abs=1e-14)
    assert majority["balanced_accuracy", None, None] == pytest.approx(1 / 4, abs=1e-14)
    assert ("log_loss", None, None) not in majority
    assert ("roc_auc_ovr", "macro", None) not in majority


def test_mean_of_the_truth() -> None:
    """Always the mean of the test truth: R² 0, RAE and RRSE 1, RMSE the standard deviation."""
    rows = value_rows(3)
    mean = baseline(evaluate("regression", rows), "mean_truth")
    assert mean["r2", None, None] == pytest.approx(0, abs=1e-14)
    assert mean["rae", None, None] == pytest.approx(1, abs=1e-14)
    assert mean["rrse", None, None] == pytest.approx(1, abs=1e-14)
    assert mean["rmse", None, None] == pytest.approx(np.std(rows["y_true"]), rel=1e-13)
    assert ("r2_correlation", None, None) not in mean  # a constant has no correlation


def test_baselines_are_weighted_and_written() -> None:
    """Example weights enter the class shares; the list is in results.json, sorted as the metrics are."""
    rows = binary_rows(1) | {"w": [3.0 if t == "1" else 1.0 for t in binary_rows(1)["y_true"]]}
    results = evaluate("binary", rows, weight="w")
    w, positive = np.array(rows["w"]), np.array(rows["y_true"]) == "1"
    q = float(w[positive].sum() / w.sum())
    assert baseline(results, "random_prevalence")["recall", None, None] == pytest.approx(q, abs=1e-14)
    written = json.loads(to_json(results))["baselines"]
    assert {b["name"] for b in written} == {"majority_class", "random_prevalence", "random_even"}
    assert all(b["text"] for b in written)


def test_values_by_convention_keep_their_reason() -> None:
    """Always answering the negative class has precision 0/0: 0 by convention, with the reason."""
    rows = {"id": ids(10), "y_true": ["0"] * 7 + ["1"] * 3, "y_pred": ["0", "1"] * 5}
    records = evaluate("binary", rows).baselines
    (record,) = (b for b in records if (b.name, b.metric) == ("majority_class", "precision"))
    assert record.value == 0
    assert record.reason
