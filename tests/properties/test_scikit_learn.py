"""Each metric that scikit-learn has under the same definition equals scikit-learn's value on random data."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cache

import numpy as np
import pytest
from sklearn import metrics as sk

from evalreport.metrics.registry import METRICS
from evalreport.schema.results import Results
from tests.samples.cases import every, quick

from .strategies import evaluate, ids

# tolerance: both sides sum at most a few hundred terms in double precision
EXACT = 1e-12

Labels = np.ndarray
TWO: Mapping[str, Callable[[Labels, Labels], float]] = {
    "accuracy": sk.accuracy_score,
    "error_rate": lambda t, p: 1 - sk.accuracy_score(t, p),
    "balanced_accuracy": sk.balanced_accuracy_score,
    "mean_per_class_error": lambda t, p: 1 - sk.balanced_accuracy_score(t, p),
    "selection_rate": lambda _, p: float(np.mean(p == "1")),
    "mcc": sk.matthews_corrcoef,
    "cohen_kappa": sk.cohen_kappa_score,
    "precision": lambda t, p: sk.precision_score(t, p, pos_label="1"),
    "recall": lambda t, p: sk.recall_score(t, p, pos_label="1"),
    "specificity": lambda t, p: sk.recall_score(t, p, pos_label="0"),
    "npv": lambda t, p: sk.precision_score(t, p, pos_label="0"),
    "fpr": lambda t, p: 1 - sk.recall_score(t, p, pos_label="0"),
    "fnr": lambda t, p: 1 - sk.recall_score(t, p, pos_label="1"),
    "f1": lambda t, p: sk.f1_score(t, p, pos_label="1"),
    "f0_5": lambda t, p: sk.fbeta_score(t, p, beta=0.5, pos_label="1"),
    "f2": lambda t, p: sk.fbeta_score(t, p, beta=2, pos_label="1"),
    "jaccard": lambda t, p: sk.jaccard_score(t, p, pos_label="1"),
    "informedness": lambda t, p: sk.balanced_accuracy_score(t, p, adjusted=True),
    "markedness": lambda t, p: (
        sk.precision_score(t, p, pos_label="1") + sk.precision_score(t, p, pos_label="0") - 1
    ),
    "prevalence": lambda t, _: float(np.mean(t == "1")),
    "rule_support": lambda t, p: float(np.mean((t == "1") & (p == "1"))),
    "rule_confidence": lambda t, p: sk.precision_score(t, p, pos_label="1"),
    "rule_lift": lambda t, p: sk.precision_score(t, p, pos_label="1") / float(np.mean(t == "1")),
}
SCORED: Mapping[str, Callable[[Labels, Labels], float]] = {
    "roc_auc": lambda t, p: sk.roc_auc_score(t == "1", p),
    "gini": lambda t, p: 2 * sk.roc_auc_score(t == "1", p) - 1,
    "ks": lambda t, p: float(
        np.abs(np.subtract(*sk.roc_curve(t == "1", p, drop_intermediate=False)[:2])).max()
    ),
    "average_precision": lambda t, p: sk.average_precision_score(t == "1", p),
    "log_loss": lambda t, p: sk.log_loss(t == "1", p),
    "brier": lambda t, p: sk.brier_score_loss(t == "1", p),
    "complement_mse": lambda t, p: sk.brier_score_loss(t == "1", p),
}
VALUES: Mapping[str, Callable[[Labels, Labels], float]] = {
    "r2": sk.r2_score,
    "rmse": sk.root_mean_squared_error,
    "mse": sk.mean_squared_error,
    "mae": sk.mean_absolute_error,
    "mape": sk.mean_absolute_percentage_error,
    "medae": sk.median_absolute_error,
    "max_error": sk.max_error,
    "bias_error": lambda t, p: float(np.mean(p - t)),
}
AVERAGED: Mapping[str, Callable[..., float]] = {
    "precision": sk.precision_score,
    "recall": sk.recall_score,
    "f1": sk.f1_score,
    "f0_5": lambda t, p, **k: sk.fbeta_score(t, p, beta=0.5, **k),
    "f2": lambda t, p, **k: sk.fbeta_score(t, p, beta=2, **k),
    "jaccard": sk.jaccard_score,
}
WHOLE = ("accuracy", "balanced_accuracy", "mcc", "cohen_kappa")

# Registered metrics that scikit-learn has not under the same definition, with what holds them instead.
ELSEWHERE = {
    "scott_pi": "reference values from R",
    **dict.fromkeys(("aic", "bic", "mdl", "vc_bound"), "training rows: tested against statsmodels"),
    "mean_outcome": "a plain mean, tested with the task outcome",
    "mean_gold": "reference values of ppi-python, in the tests of judges",
    **dict.fromkeys(("pass_at_k", "pass_hat_k"), "reference values from R, in the tests of attempts"),
    "mean_value": "a plain mean, tested with the task scores",
    **dict.fromkeys(
        (m.name for m in METRICS.values() if m.tasks == ("clustering",)), "tests/metrics/test_clustering.py"
    ),
    "specificity": "averages over classes: reference values from R",
    "error_ratio": "reference values, tests/intervals/test_sums.py",
    **dict.fromkeys(
        (m.name for m in METRICS.values() if m.ordered), "scikit-learn, tests/metrics/test_ordered.py"
    ),
    **dict.fromkeys(
        (m.name for m in METRICS.values() if m.tasks in (("intervals",), ("sets",))),
        "reference values and scikit-learn, tests/metrics/test_quantiles.py",
    ),
    **dict.fromkeys(
        ("aurc", "e_aurc", "accuracy_at_coverage"), "their definitions, tests/metrics/test_rejection.py"
    ),
    **dict.fromkeys(
        ("precision_at_recall", "specificity_at_recall"), "their definitions, tests/metrics/test_at_rates.py"
    ),
    # written out by their definitions, or from scikit-learn's curves and parts, in the tests of metrics
    **dict.fromkeys(
        (
            "partial_auc",
            "pr_auc",
            "roc_auc_ovr",
            "roc_auc_ovo",
            "eer",
            "max_accuracy",
            "soft_auc",
            "precision_at_10",
            "recall_at_10",
            "f1_at_10",
            "r_precision",
            "top_2_accuracy",
            "top_3_accuracy",
            "top_5_accuracy",
            "macro_accuracy",
            "deviance",
            "ece",
            "mce",
            "calibration_slope",
            "calibration_intercept",
            "calibration_in_the_large",
            "calibration_error",
            "observed_expected",
            "net_benefit",
            "recall_at_fpr",
            "precision_at_rate",
            "recall_at_rate",
            "r2_correlation",
            "rae",
            "rrse",
        ),
        "the tests of metrics",
    ),
}


def test_every_metric_has_an_outside_value() -> None:
    """Each registered metric is compared with scikit-learn here or with another source that is named."""
    compared = {*TWO, *SCORED, *VALUES, *AVERAGED}
    assert set(METRICS) <= compared | set(ELSEWHERE)


def value(results: Results, name: str, average: str | None = None) -> float | None:
    """Return the only model's value of a metric."""
    (record,) = (r for r in results.metrics if (r.metric, r.average, r.label) == (name, average, None))
    return record.value


def label_names(codes: np.ndarray, prefix: str = "") -> np.ndarray:
    """Return codes as text labels."""
    return np.array([f"{prefix}{code}" for code in codes])


OF_TWO_CLASSES = tuple(sorted((TWO.keys() | SCORED.keys()) & METRICS.keys()))
OF_NUMBERS = tuple(sorted(VALUES.keys() & METRICS.keys()))


@cache
def two_classes(seed: int) -> tuple[Labels, np.ndarray, Results]:
    """Return truth, probabilities (rounded so that some are tied) and the run of all metrics of two classes."""
    random = np.random.default_rng(seed)
    n = int(random.integers(20, 200))
    codes = random.integers(0, 2, n)
    proba = np.clip(np.round(random.normal(0.35 + 0.3 * codes, 0.25), 2), 0.01, 0.99)
    truth = label_names(codes)
    rows = {"id": ids(n), "y_true": truth.tolist(), "p_1": proba.tolist()}
    return truth, proba, evaluate({"m": rows}, "binary", metrics=OF_TWO_CLASSES)


@pytest.mark.parametrize("seed", quick(range(5), [0, 1]))
@pytest.mark.parametrize("name", OF_TWO_CLASSES)
def test_binary(name: str, seed: int) -> None:
    """Binary: labels at threshold 1/2, scores rounded so that some are tied."""
    truth, proba, results = two_classes(seed)
    said = np.where(proba >= 0.5, "1", "0")
    expected = TWO[name](truth, said) if name in TWO else SCORED[name](truth, proba)
    assert value(results, name) == pytest.approx(expected, abs=EXACT)


@pytest.mark.parametrize("seed", every(3, range(3)))
def test_several_classes(seed: int) -> None:
    """Several classes: averages over classes, one of them never predicted, and the whole-table metrics."""
    random = np.random.default_rng(seed)
    truth = random.integers(0, 5, 150)
    said = np.where(random.random(150) < 0.6, truth, random.integers(0, 4, 150))
    said[said == 4] = 0  # class 4 is never predicted: its precision is 0 by convention
    true_labels, labels = label_names(truth, "c"), label_names(said, "c")
    rows = {"id": ids(150), "y_true": true_labels.tolist(), "y_pred": labels.tolist()}
    results = evaluate({"m": rows}, "multiclass")
    for name in WHOLE:
        assert value(results, name) == pytest.approx(TWO[name](true_labels, labels), abs=EXACT), name
    for name in sorted(AVERAGED.keys() & METRICS.keys()):
        for average in ("macro", "micro", "weighted"):
            expected = AVERAGED[name](true_labels, labels, average=average, zero_division=0)
            assert value(results, name, average) == pytest.approx(expected, abs=EXACT), (name, average)


@pytest.mark.parametrize("seed", every(3, range(3)))
def test_probabilities_of_several_classes(seed: int) -> None:
    """Several classes with probabilities: log loss and the Brier sum over classes."""
    random = np.random.default_rng(seed)
    truth, proba = random.integers(0, 4, 120), random.dirichlet(np.ones(4), 120)
    rows = {"id": ids(120), "y_true": label_names(truth, "c").tolist()}
    rows |= {f"p_c{k}": proba[:, k].tolist() for k in range(4)}
    results = evaluate({"m": rows}, "multiclass")
    assert value(results, "log_loss") == pytest.approx(sk.log_loss(truth, proba), abs=1e-11)
    brier = float(((proba - np.eye(4)[truth]) ** 2).sum(axis=1).mean())
    assert value(results, "brier") == pytest.approx(brier, abs=EXACT)
    assert value(results, "accuracy") == pytest.approx(sk.accuracy_score(truth, proba.argmax(1)), abs=EXACT)


@cache
def numbers(seed: int) -> tuple[np.ndarray, np.ndarray, Results]:
    """Return truths away from 0, noisy predictions and the run of all metrics of numbers."""
    random = np.random.default_rng(seed)
    truth = random.normal(10, 2, 80)
    said = truth + random.normal(0.3, 1, 80)
    rows = {"id": ids(80), "y_true": truth.tolist(), "y_pred": said.tolist()}
    return truth, said, evaluate({"m": rows}, "regression", metrics=OF_NUMBERS)


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("name", OF_NUMBERS)
def test_regression(name: str, seed: int) -> None:
    """Regression: random truths away from 0 and noisy predictions."""
    truth, said, results = numbers(seed)
    assert value(results, name) == pytest.approx(VALUES[name](truth, said), rel=1e-12)
