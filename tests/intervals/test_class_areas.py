"""Intervals of averages of areas over several classes and of their differences, against sums over pairs by numpy."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from scipy import stats

import evalreport

SIZES = (4, 9, 17)
TRUE = np.repeat(np.arange(3), SIZES)
RANDOM = np.random.default_rng(31)
FIRST = 1.2 * np.eye(3)[TRUE] + RANDOM.normal(size=(30, 3))
SECOND = FIRST + 0.3 * RANDOM.normal(size=(30, 3))


def softmax(scores: np.ndarray) -> np.ndarray:
    """Return probabilities (n, K)."""
    powers = np.exp(scores)
    return np.asarray(powers / powers.sum(axis=1, keepdims=True))


def columns(scores: np.ndarray) -> dict[str, Any]:
    """Return the columns of a model."""
    p = softmax(scores)
    return {
        "id": [f"{i:03d}" for i in range(len(p))],
        "y_true": TRUE.astype(str).tolist(),
        **{f"p_{k}": p[:, k].tolist() for k in range(3)},
    }


def beats(p: np.ndarray, k: int) -> np.ndarray:
    """Return whether the first of two examples has the larger probability of class k, (n, n)."""
    return np.sign(p[:, k][:, None] - p[:, k]) / 2 + 0.5


def by_pairs(p: np.ndarray, metric: str) -> tuple[float, np.ndarray]:
    """Return the value and the sum of each example's derivatives, from the areas of all pairs of examples."""
    value, slopes = 0.0, np.zeros(30)
    for k in range(3):
        own = k == TRUE
        others = [~own] if metric.startswith("roc_auc_ovr") else [j == TRUE for j in range(3) if j != k]
        part = own.mean() if metric.endswith("weighted") else 1 / 3
        for other in others:
            won = beats(p, k)[np.ix_(own, other)]
            value += part / len(others) * won.mean()
            slopes[own] += part / len(others) * (won.mean(1) - won.mean()) / own.sum()
            slopes[other] += part / len(others) * (won.mean(0) - won.mean()) / other.sum()
        if metric.endswith("weighted"):
            slopes[own] += beats(p, k)[np.ix_(own, ~own)].mean() / 30
    if metric.endswith("weighted"):
        slopes -= value / 30
    return value, slopes


def error_of(slopes: np.ndarray, beyond: np.ndarray, times: float = 0.0) -> tuple[float, float]:
    """Return the standard error with two made-up examples a class, half of each, and Welch's degrees of freedom."""
    variances = []
    for k, m in enumerate(SIZES):
        placed = m * slopes[k == TRUE]
        a = (1 + times / m) * np.abs(placed).max() + beyond[k]
        variances.append(((placed**2).sum() + a**2) / (m * (m + 1)))
    total = sum(variances)
    return math.sqrt(total), total**2 / sum(v**2 / (m - 1) for v, m in zip(variances, SIZES, strict=True))


@pytest.mark.parametrize("metric", ["roc_auc_ovr_macro", "roc_auc_ovr_weighted", "roc_auc_ovo"])
def test_value_and_difference_are_the_formula(metric: str) -> None:
    """From all pairs of examples: limits of the value on the logit scale and of the difference, and their agreement."""
    results = evalreport.evaluate(
        {"a": columns(FIRST), "b": columns(SECOND)},
        metrics=[metric],
        resamples=100,
        gates=[f"a.{metric} >= 0.6"],
    )
    (value, slopes), (other, of_other) = (by_pairs(softmax(scores), metric) for scores in (FIRST, SECOND))
    record = next(r for r in results.metrics if r.model == "a")
    first = record.intervals[0]
    assert record.value == pytest.approx(value, abs=1e-12)
    assert first.method == "classes_logit"
    parts = np.array(SIZES) / 30 if metric.endswith("weighted") else np.full(3, 1 / 3)
    error, df = error_of(slopes, 3 * parts * (1 - value + 1 / 30))
    half = stats.t.ppf(0.975, df) * error / (value * (1 - value))
    centre = math.log(value / (1 - value))
    expected = [1 / (1 + math.exp(-centre - side * half)) for side in (-1, 1)]
    assert (first.low, first.high) == pytest.approx(expected, rel=1e-9)
    (gate,) = results.gates
    assert (gate.low, gate.high) == (first.low, first.high)
    pair = next(r for r in results.comparisons if r.leads)
    assert pair.interval_method == "classes_t"
    error, df = error_of(slopes - of_other, np.zeros(3), 2.0)
    half = stats.t.ppf(0.975, df) * error
    assert (pair.low, pair.high) == pytest.approx((value - other - half, value - other + half), rel=1e-9)
    assert pair.p_value is not None
    assert (pair.p_value < 0.05) == (abs(value - other) > half)


def test_a_class_has_the_pair_of_a_ranking() -> None:
    """The difference of one class against the rest is led by DeLong's, scaled to the pair, as of two classes."""
    name = "roc_auc_ovr[class=1]"
    results = evalreport.evaluate({"a": columns(FIRST), "b": columns(SECOND)}, metrics=[name], resamples=100)
    several = next(r for r in results.comparisons if r.leads)
    two = [
        {"id": c["id"], "y_true": (TRUE == 1).astype(int).astype(str).tolist(), "score": c["p_1"]}
        for c in (columns(FIRST), columns(SECOND))
    ]
    alone = evalreport.evaluate(dict(zip("ab", two, strict=True)), metrics=["roc_auc"], resamples=100)
    pair = next(r for r in alone.comparisons if r.leads)
    assert (several.low, several.high) == pytest.approx((pair.low, pair.high), rel=1e-9)


def test_edges_say_why() -> None:
    """All areas 1: Wilson's limits of as many trials as the rarest class has; the same model twice: no variation."""
    perfect = columns(9.0 * np.eye(3)[TRUE] + 0.01 * RANDOM.normal(size=(30, 3)))
    results = evalreport.evaluate({"a": perfect, "b": perfect}, metrics=["roc_auc_ovo"], resamples=100)
    first = results.metrics[0].intervals[0]
    assert (results.metrics[0].value, first.method, first.high) == (1.0, "wilson", 1.0)
    assert first.low == pytest.approx(4 / (4 + stats.norm.ppf(0.975) ** 2), rel=1e-9)
    twice = evalreport.evaluate(
        {"a": columns(FIRST), "b": columns(FIRST)}, metrics=["roc_auc_ovo"], resamples=100
    )
    pair = next(r for r in twice.comparisons if r.leads)
    assert (pair.difference, pair.p_value) == (0, 1)
