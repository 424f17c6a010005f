"""Metrics of ordered classes (METHODS 7G) against the reference, scikit-learn, and numerical derivatives."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.metrics import cohen_kappa_score

import evalreport as er
from evalreport.errors import UsageError
from evalreport.metrics import METRICS
from evalreport.metrics.ordered import table_of_order
from tests.reference.third_round import assert_agrees, each

NAMES = ["quadratic_kappa", "linear_kappa", "mean_class_distance", "within_one_class"]


def value_of(results: er.Results, model: str, metric: str) -> Any:
    """The record of a value over all examples."""
    return next(m for m in results.metrics if (m.model, m.metric, m.slice) == (model, metric, None))


@each("ordered_classes")
def test_values_limits_and_differences_are_the_reference_s(case: Mapping[str, Any]) -> None:
    """Four and five classes: kappas with plus_four, differences with plus_two, distance and within one."""
    given = case["input"]
    frames = {m: pd.DataFrame({"y_true": given["y"], "y_pred": given[m]}) for m in ("a", "b")}
    order = ",".join(map(str, range(given["classes"])))
    results = er.evaluate(frames, class_order=order, task="multiclass", metrics=NAMES, resamples=20)
    for name in ("quadratic", "linear"):
        expected = case["expected"][name]
        for model in ("a", "b"):
            record = value_of(results, model, f"{name}_kappa")
            first = record.intervals[0]
            assert first.method == "plus_four"
            found = {"value": record.value, "low": first.low, "high": first.high}
            assert_agrees(found, {"expected": expected[model], "tolerance": case["tolerance"]})
        pair = next(c for c in results.comparisons if c.metric == f"{name}_kappa" and c.recommended)
        assert (pair.test, pair.interval_method) == ("interval", "plus_two")
        found = {"difference": pair.difference, "low": pair.low, "high": pair.high}
        assert_agrees(found, {"expected": expected["pair"], "tolerance": case["tolerance"]})
    for metric, key in (("mean_class_distance", "distance"), ("within_one_class", "within_one")):
        for model in ("a", "b"):
            assert value_of(results, model, metric).value == pytest.approx(
                case["expected"][key][model], abs=1e-8
            )


@pytest.mark.parametrize("name", ["linear_kappa", "quadratic_kappa", "mean_class_distance"])
def test_derivatives_are_those_of_central_differences(name: str) -> None:
    """By each count of a table of four classes; their mean under the table is 0."""
    counts = np.random.default_rng(2).uniform(1, 9, (4, 4))
    at = table_of_order(counts, METRICS[name]).at
    value, slopes = at(counts).value, at(counts).slopes()
    assert (slopes * counts).sum() == pytest.approx(0, abs=1e-12)
    for i in range(4):
        for j in range(4):
            step = np.zeros((4, 4))
            step[i, j] = 1e-5
            numerical = (at(counts + step).value - at(counts - step).value) / 2e-5
            assert slopes[i, j] == pytest.approx(numerical, abs=1e-8)
    assert np.isfinite(value)


def graded(seed: int = 1) -> pd.DataFrame:
    """Three grades by name, of two models."""
    rng = np.random.default_rng(seed)
    truth = rng.integers(0, 3, 150)
    names = np.array(["low", "mid", "high"])
    frames = []
    for model, spread in (("a", 0.6), ("b", 0.9)):
        said = np.clip(np.rint(truth + rng.normal(0, spread, 150)), 0, 2).astype(int)
        frames.append(
            pd.DataFrame(
                {
                    "id": range(150),
                    "model": model,
                    "y_true": names[truth],
                    "y_pred": names[said],
                    "ward": np.arange(150) // 3,
                    "w": 1 + np.arange(150) % 2,
                }
            )
        )
    return pd.concat(frames)


@pytest.mark.parametrize("weights", ["linear", "quadratic"])
def test_kappas_are_those_of_scikit_learn(weights: str) -> None:
    """Also with example weights, and by the order that is named, not by the alphabet."""
    table = graded()
    for column in (None, "w"):
        results = er.evaluate(
            table, class_order="low,mid,high", weight=column, metrics=[f"{weights}_kappa"], resamples=20
        )
        own = table[table.model == "a"]
        expected = cohen_kappa_score(
            own.y_true,
            own.y_pred,
            labels=["low", "mid", "high"],
            weights=weights,
            sample_weight=None if column is None else own[column],
        )
        assert value_of(results, "a", f"{weights}_kappa").value == pytest.approx(expected, rel=1e-12)


def test_an_order_makes_quadratic_kappa_primary_and_orders_the_table() -> None:
    """The confusion table and the classes stand in that order; clusters and slices work as for every metric."""
    results = er.evaluate(graded(), class_order="low,mid,high", slices=["w"], resamples=20)
    assert results.primary_metric == "quadratic_kappa"
    assert results.classes == ["low", "mid", "high"]
    assert {m.metric for m in results.metrics} >= set(NAMES)
    clustered = er.evaluate(
        graded(), class_order="low,mid,high", cluster="ward", metrics=["quadratic_kappa"], resamples=20
    )
    record = value_of(clustered, "a", "quadratic_kappa")
    assert record.intervals[0].method == "cluster_wilson"


def test_without_an_order_accuracy_stays_and_names_of_grades_need_one() -> None:
    """Whole numbers have an order of their own, where such a metric is named."""
    assert er.evaluate(graded(), resamples=20).primary_metric == "accuracy"
    with pytest.raises(UsageError, match="--class-order"):
        er.evaluate(graded(), metrics=["quadratic_kappa"])
    codes = {"low": 1, "mid": 2, "high": 3}
    numbered = graded().replace({"y_true": codes, "y_pred": codes})
    found = er.evaluate(numbered, metrics=["quadratic_kappa"], resamples=20)
    named = er.evaluate(graded(), class_order="low,mid,high", metrics=["quadratic_kappa"], resamples=20)
    assert value_of(found, "a", "quadratic_kappa").value == value_of(named, "a", "quadratic_kappa").value


def test_of_two_classes_both_are_cohen_s_kappa() -> None:
    """METHODS 7G."""
    rng = np.random.default_rng(3)
    y = rng.integers(0, 2, 60)
    f = np.where(rng.random(60) < 0.8, y, 1 - y)
    results = er.evaluate(
        {"m": pd.DataFrame({"y_true": y, "y_pred": f})},
        metrics=["quadratic_kappa", "linear_kappa", "cohen_kappa"],
        resamples=20,
    )
    values = [m.value for m in results.metrics]
    assert values[0] == pytest.approx(values[2], rel=1e-12)
    assert values[1] == pytest.approx(values[2], rel=1e-12)
    limits = [(m.intervals[0].low, m.intervals[0].high) for m in results.metrics]
    assert limits[0] == pytest.approx(limits[2], rel=1e-9)


@pytest.mark.parametrize("order", ["low,mid", "low,mid,high,low", "low"])
def test_an_order_that_is_not_of_these_classes_is_refused(order: str) -> None:
    """One is missing, or twice."""
    with pytest.raises(UsageError, match="--class-order"):
        er.evaluate(graded(), class_order=order)


def test_a_class_that_no_row_holds_has_its_place() -> None:
    """Weights of quadratic kappa are relative, so its value stays; distances grow."""
    wide = er.evaluate(graded(), class_order="low,mid,upper,high", metrics=NAMES, resamples=20)
    near = er.evaluate(graded(), class_order="low,mid,high", metrics=NAMES, resamples=20)
    assert wide.classes == ["low", "mid", "upper", "high"]
    far = value_of(wide, "a", "mean_class_distance").value
    assert far > value_of(near, "a", "mean_class_distance").value


@pytest.mark.slow
def test_missing_labels_have_no_place() -> None:
    """As wrong they are refused; left out they are not in the table."""
    table = graded()
    table.iloc[3, table.columns.get_loc("y_pred")] = None
    with pytest.raises(UsageError, match="--missing drop"):
        er.evaluate(table, class_order="low,mid,high", missing="wrong", metrics=["quadratic_kappa"])
    assert (
        er.evaluate(table, class_order="low,mid,high", missing="wrong", resamples=20).primary_metric
        == "accuracy"
    )
    assert er.evaluate(table, class_order="low,mid,high", missing="drop", resamples=20).n == 149
