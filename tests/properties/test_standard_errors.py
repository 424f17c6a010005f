"""Every smooth metric has the delta method's standard error, from scikit-learn's weighted metric."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cache

import numpy as np
import pytest
from sklearn import metrics as sk

from evalreport.engine.counts import Counts
from evalreport.engine.distributions import gradient
from evalreport.metrics.metric import ClassCounts, Margins
from evalreport.metrics.registry import METRICS
from evalreport.schema.results import Results

from .strategies import evaluate, ids

Weighted = Callable[[np.ndarray, np.ndarray, np.ndarray], float]

LABELS: Mapping[str, Weighted] = {
    "accuracy": lambda t, p, w: sk.accuracy_score(t, p, sample_weight=w),
    "error_rate": lambda t, p, w: 1 - sk.accuracy_score(t, p, sample_weight=w),
    "balanced_accuracy": lambda t, p, w: sk.balanced_accuracy_score(t, p, sample_weight=w),
    "mean_per_class_error": lambda t, p, w: 1 - sk.balanced_accuracy_score(t, p, sample_weight=w),
    "mcc": lambda t, p, w: sk.matthews_corrcoef(t, p, sample_weight=w),
    "cohen_kappa": lambda t, p, w: sk.cohen_kappa_score(t, p, sample_weight=w),
}
BINARY: Mapping[str, Weighted] = {
    "precision": lambda t, p, w: sk.precision_score(t, p, pos_label="1", sample_weight=w),
    "recall": lambda t, p, w: sk.recall_score(t, p, pos_label="1", sample_weight=w),
    "specificity": lambda t, p, w: sk.recall_score(t, p, pos_label="0", sample_weight=w),
    "f1": lambda t, p, w: sk.f1_score(t, p, pos_label="1", sample_weight=w),
    "f0_5": lambda t, p, w: sk.fbeta_score(t, p, beta=0.5, pos_label="1", sample_weight=w),
    "f2": lambda t, p, w: sk.fbeta_score(t, p, beta=2, pos_label="1", sample_weight=w),
    "jaccard": lambda t, p, w: sk.jaccard_score(t, p, pos_label="1", sample_weight=w),
}
SCORES: Mapping[str, Weighted] = {
    "roc_auc": lambda t, s, w: sk.roc_auc_score(t == "1", s, sample_weight=w),
    "average_precision": lambda t, s, w: sk.average_precision_score(t == "1", s, sample_weight=w),
    "log_loss": lambda t, s, w: sk.log_loss(t == "1", s, sample_weight=w),
    "brier": lambda t, s, w: sk.brier_score_loss(t == "1", s, sample_weight=w),
}
VALUES: Mapping[str, Weighted] = {
    "r2": lambda t, p, w: sk.r2_score(t, p, sample_weight=w),
    "rmse": lambda t, p, w: sk.root_mean_squared_error(t, p, sample_weight=w),
    "mse": lambda t, p, w: sk.mean_squared_error(t, p, sample_weight=w),
    "mae": lambda t, p, w: sk.mean_absolute_error(t, p, sample_weight=w),
    "mape": lambda t, p, w: sk.mean_absolute_percentage_error(t, p, sample_weight=w),
}


def error_of(function: Weighted, truth: np.ndarray, said: np.ndarray) -> float:
    """Return sqrt(sum influence^2) / n, influences by central differences in each example's weight.

    Examples of the same truth and answer have the same.
    """
    n, step = len(truth), 1e-5
    slopes: dict[tuple[object, object], float] = {}
    for i, key in enumerate(zip(truth, said, strict=True)):
        if key not in slopes:
            up, down = np.ones(n), np.ones(n)
            up[i] += step
            down[i] -= step
            slopes[key] = (function(truth, said, up) - function(truth, said, down)) / (2 * step)
    by_example = np.array([slopes[key] for key in zip(truth, said, strict=True)])
    return float(np.sqrt((by_example**2).sum()))


def ours(results: Results, name: str) -> float | None:
    """Return the only model's standard error of a metric."""
    (record,) = (r for r in results.metrics if (r.metric, r.average, r.label) == (name, None, None))
    return record.standard_error


OF_TWO_CLASSES = tuple(sorted((LABELS.keys() | BINARY.keys() | SCORES.keys()) & METRICS.keys()))
OF_THE_TABLE = tuple(sorted(LABELS.keys() & METRICS.keys()))
OF_NUMBERS = tuple(sorted(VALUES.keys() & METRICS.keys()))


@cache
def two_classes() -> tuple[np.ndarray, np.ndarray, Results]:
    """Return truth, probabilities tied at two decimals, and the run of the metrics of two classes."""
    random = np.random.default_rng(7)
    codes = random.integers(0, 2, 40)
    proba = np.clip(np.round(random.normal(0.35 + 0.3 * codes, 0.25), 2), 0.01, 0.99)
    truth = codes.astype(str)
    rows = {"id": ids(40), "y_true": truth.tolist(), "p_1": proba.tolist()}
    return truth, proba, evaluate({"m": rows}, "binary", metrics=OF_TWO_CLASSES)


@pytest.mark.parametrize("name", OF_TWO_CLASSES)
def test_binary(name: str) -> None:
    """Binary metrics, scores tied at two decimals."""
    truth, proba, results = two_classes()
    said = np.where(proba >= 0.5, "1", "0")
    function = SCORES.get(name) or LABELS.get(name) or BINARY[name]
    expected = error_of(function, truth, proba if name in SCORES else said)
    # central differences with step 1e-5: truncation and rounding of the order of 1e-10 each
    assert ours(results, name) == pytest.approx(expected, rel=1e-6)


@cache
def four_classes() -> tuple[np.ndarray, np.ndarray, Results]:
    """Return truth, labels and the run of the metrics of the whole table."""
    random = np.random.default_rng(8)
    codes = random.integers(0, 4, 40)
    said = np.where(random.random(40) < 0.6, codes, random.integers(0, 4, 40))
    truth, labels = (np.array([f"c{code}" for code in column]) for column in (codes, said))
    rows = {"id": ids(40), "y_true": truth.tolist(), "y_pred": labels.tolist()}
    return truth, labels, evaluate({"m": rows}, "multiclass", metrics=OF_THE_TABLE)


@pytest.mark.parametrize("name", OF_THE_TABLE)
def test_several_classes(name: str) -> None:
    """Metrics of the whole table over four classes."""
    truth, labels, results = four_classes()
    assert ours(results, name) == pytest.approx(error_of(LABELS[name], truth, labels), rel=1e-6)


@cache
def numbers() -> tuple[np.ndarray, np.ndarray, Results]:
    """Return truth, predictions and the run of the metrics of numbers."""
    random = np.random.default_rng(9)
    truth = random.normal(10, 2, 40)
    said = truth + random.normal(0.3, 1, 40)
    rows = {"id": ids(40), "y_true": truth.tolist(), "y_pred": said.tolist()}
    return truth, said, evaluate({"m": rows}, "regression", metrics=OF_NUMBERS)


@pytest.mark.parametrize("name", OF_NUMBERS)
def test_regression(name: str) -> None:
    """Metrics of real values."""
    truth, said, results = numbers()
    assert ours(results, name) == pytest.approx(error_of(VALUES[name], truth, said), rel=1e-6)


COUNTED = {
    name: metric.computation
    for name, metric in METRICS.items()
    if isinstance(metric.computation, ClassCounts | Margins) and metric.inference.smooth
}


@pytest.mark.parametrize("name", sorted(COUNTED))
def test_the_complex_step_sees_every_slope(name: str) -> None:
    """An `abs`, a `max` or a comparison in a function of counts hides a slope, and makes the standard error wrong."""
    computation = COUNTED[name]
    of_class = isinstance(computation, ClassCounts)
    # TP, FP, FN, TN of one class; diagonal and margins of three classes
    point = np.array(
        [31.0, 7, 12, 50] if of_class else [[31, 17, 20], [43, 26, 31], [38, 29, 33]], dtype=float
    )

    def value(x: np.ndarray) -> np.ndarray:
        return np.asarray(computation.function(Counts(*np.moveaxis(x, -1, 0)) if of_class else x))

    step, slopes = 1e-4, np.empty(point.size)
    for i in range(point.size):
        moved = np.zeros(point.size)
        moved[i] = step
        up, down = (point + sign * moved.reshape(point.shape) for sign in (1, -1))
        slopes[i] = (value(up) - value(down)).item() / (2 * step)
    # central differences with step 1e-4 of counts near 30: truncation below 1e-10, rounding below 1e-11
    assert gradient(value, point).ravel() == pytest.approx(slopes, rel=1e-6, abs=1e-9)
