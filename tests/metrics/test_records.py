"""Records of values by fold, of confusion matrices and of the variance between fits, by numpy."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import evalreport as er

RNG = np.random.default_rng(8)
Y = RNG.choice(["x", "y"], 40)


def folds() -> dict[str, dict[str, Any]]:
    """One model on four folds of ten."""
    wrong = RNG.random(40) < 0.3
    predicted = np.where(wrong, np.where(Y == "x", "y", "x"), Y)
    ids = [f"e{k}" for k in range(40)]
    return {"a": {"id": ids, "y_true": Y, "y_pred": predicted, "fold": np.arange(40) % 4}}


def test_the_value_on_each_fold_is_that_of_its_rows() -> None:
    """Accuracy, with the number of examples."""
    data = folds()
    right = data["a"]["y_true"] == data["a"]["y_pred"]
    records = [r for r in er.evaluate(data, resamples=20).folds if r.metric == "accuracy"]
    assert [(r.fold, r.n) for r in records] == [(str(k), 10) for k in range(4)]
    wanted = [right[np.arange(40) % 4 == k].mean() for k in range(4)]
    assert [r.value for r in records] == pytest.approx(wanted)


def test_a_test_set_has_no_folds_and_a_whole_matrix() -> None:
    """Every cell, the empty ones too."""
    ids = [f"e{k}" for k in range(40)]
    results = er.evaluate({"a": {"id": ids, "y_true": Y, "y_pred": Y}}, resamples=20)
    assert results.folds == []
    cells = {(r.true, r.predicted): r.count for r in results.confusion}
    assert cells == {(t, p): float((t == Y).sum()) if t == p else 0.0 for t in ("x", "y") for p in ("x", "y")}


def test_the_variance_between_seeds_is_that_of_their_values() -> None:
    """Beside that of the test set."""
    ids = [f"e{k}" for k in range(40)]
    predicted = {s: np.where(RNG.random(40) < 0.2, "x", Y) for s in range(5)}
    data = {
        "a": {
            "id": ids * 5,
            "y_true": np.tile(Y, 5),
            "y_pred": np.concatenate([predicted[s] for s in range(5)]),
            "seed": np.repeat(np.arange(5), 40),
        }
    }
    records = [r for r in er.evaluate(data, resamples=20).variance if r.metric == "accuracy"]
    between = next(r for r in records if r.source == "seeds")
    wanted = np.var([(predicted[s] == Y).mean() for s in range(5)], ddof=1)
    assert (between.n, between.value) == (5, pytest.approx(wanted))
    assert {r.source for r in records} == {"seeds", "test set"}
