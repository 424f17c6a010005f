"""Columns of costs: numbers of at least 0; a gap is a gap, unless missing values are refused."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from evalreport.errors import InputError, UsageError
from evalreport.predictions.table import Predictions

HEAD = "id,y_true,y_pred,cost\n"


def test_costs_are_numbers_in_the_order_of_the_rows(loaded: Callable[..., Predictions]) -> None:
    """By model, under the name of the column."""
    predictions = loaded(HEAD + "1,a,a,0.5\n2,b,a,2\n", costs=("cost",))
    np.testing.assert_array_equal(predictions.models[0].answers.costs["cost"], [0.5, 2.0])


@pytest.mark.parametrize("cell", ["-1", "free", "inf"])
def test_what_is_no_cost_is_refused_with_its_line(refused: Callable[..., InputError], cell: str) -> None:
    """Below 0, a word, or without end."""
    error = refused("model.csv", HEAD + f"1,a,a,0.5\n2,b,a,{cell}\n", costs=("cost",))
    assert "line 3" in str(error)
    assert "cost" in str(error)


def test_a_gap_beside_costs_is_refused(refused: Callable[..., InputError]) -> None:
    """Where missing values are."""
    assert "line 3" in str(
        refused("model.csv", HEAD + "1,a,a,0.5\n2,b,a,\n", costs=("cost",), missing="refuse")
    )


def test_a_column_without_numbers_is_refused_by_name(loaded: Callable[..., Predictions]) -> None:
    """It was asked for."""
    with pytest.raises(UsageError, match="--cost cost: the column holds no number"):
        loaded(HEAD + "1,a,a,\n2,b,a,\n", costs=("cost",))
