"""Intervals of sums by unit (METHODS 7E) against values that were computed independently, and at their edges."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy import stats

import evalreport as er
from tests.reference.third_round import assert_agrees, each


def evaluated(models: Mapping[str, Mapping[str, Sequence[float]]], **options: Any) -> er.Results:
    """Compare models by their sums, a unit a row."""
    ids = [f"u{k:03d}" for k in range(len(next(iter(next(iter(models.values())).values()))))]
    frames = {name: pd.DataFrame({"id": ids, **columns}) for name, columns in models.items()}
    return er.evaluate(frames, resamples=50, **options)


def value_of(results: er.Results, model: str, metric: str, average: str = "micro") -> Any:
    """Return the record of a value over all units."""
    return next(
        m
        for m in results.metrics
        if (m.model, m.metric, m.average, m.slice) == (model, metric, average, None)
    )


def difference_of(results: er.Results, metric: str) -> Any:
    """Return the recommended row of the one pair."""
    return next(c for c in results.comparisons if c.metric == metric and c.recommended)


@each("sums_by_unit")
def test_precision_recall_f1_and_jaccard_are_those_of_the_reference(case: Mapping[str, Any]) -> None:
    """12, 40 and 150 units of two models: values, limits, differences, p-values."""
    results = evaluated(case["input"]["models"], metrics=["precision", "recall", "f1", "jaccard"])
    for metric, expected in case["expected"].items():
        for model in ("a", "b"):
            record = value_of(results, model, metric)
            first = record.intervals[0]
            assert first.method == "unit_wilson"
            found = {"value": record.value, "low": first.low, "high": first.high}
            assert_agrees(found, {"expected": expected[model], "tolerance": case["tolerance"]})
        pair = difference_of(results, metric)
        assert (pair.test, pair.interval_method) == ("interval", "unit_plus")
        found = {"difference": pair.difference, "low": pair.low, "high": pair.high, "p": pair.p_value}
        assert_agrees(found, {"expected": expected["pair"], "tolerance": case["tolerance"]})


@each("errors_by_unit")
def test_error_ratios_are_those_of_the_reference(case: Mapping[str, Any]) -> None:
    """15 and 80 units, the same totals for both models."""
    total = case["input"]["total"]
    models = {name: {"errors": own, "total": total} for name, own in case["input"]["errors"].items()}
    results = evaluated(models)
    assert (results.task, results.primary_metric) == ("sums", "error_ratio_micro")
    for model in ("a", "b"):
        record = value_of(results, model, "error_ratio")
        first = record.intervals[0]
        assert first.method == "unit_log"
        found = {"value": record.value, "low": first.low, "high": first.high}
        assert_agrees(found, {"expected": case["expected"][model], "tolerance": case["tolerance"]})
    pair = difference_of(results, "error_ratio")
    found = {"difference": pair.difference, "low": pair.low, "high": pair.high, "p": pair.p_value}
    assert_agrees(found, {"expected": case["expected"]["pair"], "tolerance": case["tolerance"]})


def test_clusters_of_units_add_their_influences_up() -> None:
    """Two units a patient, the closed form of 7E written out with sums by patient."""
    rng = np.random.default_rng(4)
    tp, fn, fp = rng.integers(0, 9, 40), rng.integers(0, 4, 40), rng.integers(0, 4, 40)
    patient = np.arange(40) // 2
    frame = pd.DataFrame({"id": range(40), "tp": tp, "fp": fp, "fn": fn, "patient": patient})
    results = er.evaluate({"a": frame}, cluster="patient", metrics=["f1"], resamples=50)
    a, b = 2 * tp, 2 * tp + fp + fn
    v = a.sum() / b.sum()
    u = np.bincount(patient, weights=(a - v * b) / b.sum())
    g = len(u)
    variance = g / (g - 1) * (u**2).sum()
    kurtosis = g * (u**4).sum() / (u**2).sum() ** 2
    df = min(g - 1, 2 * g / (kurtosis - 1))
    trials, t = v * (1 - v) / variance, stats.t.ppf(0.975, df)
    centre = (v + t * t / (2 * trials)) / (1 + t * t / trials)
    half = t * np.sqrt(v * (1 - v) / trials + t * t / (4 * trials**2)) / (1 + t * t / trials)
    first = value_of(results, "a", "f1").intervals[0]
    assert first.method == "unit_wilson"
    assert first.low == pytest.approx(centre - half, rel=1e-10)
    assert first.high == pytest.approx(centre + half, rel=1e-10)


def test_a_macro_average_has_the_mean_of_the_labels_influences() -> None:
    """Three labels; the standard error is the root of the summed squares of the mean influences, by numpy."""
    rng = np.random.default_rng(5)
    rows = [
        {
            "id": f"u{k}",
            "label": label,
            "tp": rng.integers(0, 6),
            "fp": rng.integers(0, 3),
            "fn": rng.integers(0, 3),
        }
        for k in range(30)
        for label in ("LOC", "ORG", "PER")
    ]
    table = pd.DataFrame(rows)
    results = er.evaluate({"a": table}, metrics=["f1_macro"], resamples=50)
    u, values = 0.0, []
    for _, own in table.groupby("label"):
        a, b = (2 * own.tp).to_numpy(), (2 * own.tp + own.fp + own.fn).to_numpy()
        values.append(a.sum() / b.sum())
        u = u + (a - values[-1] * b) / b.sum() / 3
    record = value_of(results, "a", "f1", "macro")
    assert record.value == pytest.approx(np.mean(values), rel=1e-12)
    assert record.standard_error == pytest.approx(np.sqrt((u**2).sum()), rel=1e-9)


def test_identical_models_have_no_interval_and_the_p_value_1() -> None:
    """METHODS 7T."""
    sums = {"tp": [3, 1, 4, 1], "fp": [1, 0, 0, 2], "fn": [0, 1, 1, 0]}
    pair = difference_of(evaluated({"a": sums, "b": sums}), "f1")
    assert (pair.low, pair.high, pair.p_value) == (None, None, 1.0)
    assert "no variation" in str(pair.reason)


def test_a_perfect_model_has_as_many_trials_as_units() -> None:
    """Wilson's lower limit at 1 with G trials: G / (G + t^2), t with G - 1 degrees of freedom."""
    first = value_of(evaluated({"a": {"tp": [3] * 12, "fp": [0] * 12, "fn": [0] * 12}}), "a", "f1").intervals[
        0
    ]
    t = stats.t.ppf(0.975, 11)
    assert (first.low, first.high) == (pytest.approx(12 / (12 + t * t), rel=1e-12), 1.0)


@pytest.mark.parametrize(
    ("errors", "low", "reason"),
    [([0] * 6, 0.0, "no error in 6 units"), ([1] * 6, None, "all 6 units have the same ratio")],
)
def test_error_ratios_without_spread_lack_limits_and_say_why(
    errors: list[int], low: float | None, reason: str
) -> None:
    """No error at all: the lower limit is 0, as METHODS 7E has it. The same ratio in every unit: no limits."""
    first = value_of(evaluated({"a": {"errors": errors, "total": [10] * 6}}), "a", "error_ratio").intervals[0]
    assert (first.low, first.high) == (low, None)
    assert reason in str(first.reason)


def test_one_unit_has_a_value_and_no_limits() -> None:
    """Nothing says how units vary."""
    record = value_of(evaluated({"a": {"tp": [3], "fp": [1], "fn": [0]}}), "a", "precision")
    assert record.value == 0.75
    assert record.intervals[0].low is None


def test_a_denominator_of_0_is_no_value_with_its_reason() -> None:
    """No positive prediction: precision is no 0 here, as it is of labels."""
    record = value_of(evaluated({"a": {"tp": [0, 0], "fp": [0, 0], "fn": [1, 2]}}), "a", "precision")
    assert record.value is None
    assert record.reason
