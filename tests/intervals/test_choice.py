"""Where an interval has no limits the stated reason is the true one; where it has some they are possible values."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import evalreport as er
from evalreport.schema.metrics import Interval


def intervals(rows: dict[str, Any], metric: str, *methods: str, **options: Any) -> dict[str, Interval]:
    """Return one model's intervals of one metric by method."""
    results = er.evaluate({"m": rows}, metrics=(metric,), intervals=methods, resamples=200, **options)
    return {one.method: one for one in results.metrics[0].intervals}


@pytest.mark.parametrize(("clusters", "missing"), [(1, True), (2, False)])
def test_one_cluster_cannot_be_drawn_again(clusters: int, missing: bool) -> None:
    """The bootstrap needs two clusters or more; with one the reason says so, with two it says no such thing."""
    place = np.arange(40)
    rows = {
        "y_true": place % 2,
        "y_pred": np.where(place % 5 == 0, 0, place % 2),
        "place": [f"g{k}" for k in place % clusters],
    }
    (found,) = [
        one
        for method, one in intervals(rows, "mcc", "bootstrap_percentile", cluster="place").items()
        if method == "bootstrap_percentile"
    ]
    assert (found.low is None) == missing
    assert ("one unit only" in str(found.reason)) == missing


@pytest.mark.parametrize(("folds", "said"), [(40, "a fold of one example"), (4, "fewer than two folds")])
def test_folds_without_a_value_are_told_by_their_cause(folds: int, said: str) -> None:
    """R^2 has no value on a fold of one example, nor on a fold whose true values are all the same: not one reason."""
    fold = np.arange(40) % folds
    truth = np.where(fold == 0, 10.0, np.random.default_rng(0).normal(10, 2, 40))
    rows = {
        "y_true": truth,
        "y_pred": truth + np.arange(40) % 3 - 1,
        "fold": [str(k) for k in fold],
        "id": [f"{i:02d}" for i in range(40)],
    }
    first, *_ = intervals(rows, "r2", task="regression").values()
    assert said in str(first.reason)


def test_limits_of_the_complement_mse_are_no_less_than_0() -> None:
    """Losses 0, 0, 0 and 1: 1/4 - 1.96 sqrt(3/16 / 4) = -0.17 is cut at 0, the least possible value."""
    rows = {"y_true": [1, 1, 0, 0], "p_1": [1.0, 1.0, 0.0, 1.0]}
    found = intervals(rows, "complement_mse", "normal", positive="1")["normal"]
    assert found.low == 0
    assert found.high == pytest.approx(0.25 + 1.959964 * np.sqrt(3 / 64))


def test_limits_of_the_markedness_are_no_more_than_1() -> None:
    """9 of 9 called positive are, 5 of 6 called negative are: 5/6 + 1.96 sqrt(5/36 / 6) = 1.13 is cut at 1."""
    rows = {"y_true": [1] * 10 + [0] * 5, "y_pred": [1] * 9 + [0] * 6}
    found = intervals(rows, "markedness", "normal", positive="1")["normal"]
    assert found.high == 1
    assert found.low == pytest.approx(5 / 6 - 1.959964 * np.sqrt(5 / 216))
