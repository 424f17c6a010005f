"""Points of learning and complexity curves."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from evalreport.errors import InputError
from evalreport.predictions.table import Predictions
from tests.samples.algorithms import evaluate
from tests.samples.learning_curves import curve, errors_on_test


def test_the_order_of_rows_changes_nothing() -> None:
    """A curve's rows in any order give the same bytes."""
    from evalreport.schema.results import to_json

    rows = curve({"a": {10.0: 0.5, 20.0: 0.3}, "b": {10.0: 0.4, 20.0: 0.35}}, repeats=2)
    order = np.random.default_rng(1).permutation(len(rows["id"]))
    mixed = {name: [values[i] for i in order] for name, values in rows.items()}
    first, second = (to_json(evaluate(r, task="binary")) for r in (rows, mixed))
    assert first.split(b'"inputs"')[0] == second.split(b'"inputs"')[0]


def test_sizes_that_differ_a_little_between_folds_are_one_point() -> None:
    """Of folds of unequal size the smaller and the larger sample are two points, at their mean sizes."""
    rows: dict[str, list[Any]] = {n: [] for n in ("id", "model", "fold", "train_size", "y_true", "y_pred")}
    for i in range(40):
        fold = i % 3
        for size in ((10, 20), (11, 22), (12, 24))[fold]:
            for column, value in zip(
                rows.values(), (f"{i:02d}", "a", str(fold), size, i % 2, i % 2 if i % 5 else 1), strict=True
            ):
                column.append(value)
    results = evaluate(rows, task="binary")
    places = sorted(errors_on_test(results, "a"))
    assert len(places) == 2
    assert 10 < places[0] < 12
    assert 20 < places[1] < 24
    assert results.design == "cross-validation"


def test_both_axes_at_once_are_refused() -> None:
    """A grid of sizes and complexities is no curve."""
    rows = curve({"a": {10.0: 0.5, 20.0: 0.3}})
    double = {name: values * 2 for name, values in rows.items()}
    double["complexity"] = [1.0] * len(rows["id"]) + [2.0] * len(rows["id"])
    with pytest.raises(InputError, match="both train_size and complexity vary"):
        evaluate(double, task="binary")


Refused = Callable[..., InputError]


def test_a_row_off_its_learning_curve_is_refused(refused: Refused) -> None:
    """Each id at two training sizes, and one row that does not say its own: it is no point of the curve."""
    rows = [f"{i},{i % 2},1,{size}" for size in (10, 20) for i in range(4)]
    error = refused("m.csv", "\n".join(["id,y_true,y_pred,train_size", *rows, "4,1,1,"]) + "\n")
    assert (error.line, error.column) == (10, "train_size")


def test_training_sizes_may_be_unknown_where_they_make_no_curve(loaded: Callable[..., Predictions]) -> None:
    """Along a complexity curve the training size is a fact beside it, and may be empty."""
    rows = [f"{i},{i % 2},1,{100 if i else ''},{c}" for c in (1, 2) for i in range(4)]
    assert loaded("\n".join(["id,y_true,y_pred,train_size,complexity", *rows]) + "\n").n == 8
