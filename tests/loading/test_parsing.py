"""The models' columns as numbers: what is no number, no probability or no label is refused with its line."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from evalreport.errors import InputError
from evalreport.predictions.table import Predictions


def test_each_column_is_read_as_what_it_is(loaded: Callable[..., Predictions]) -> None:
    """Labels as codes of the classes, probabilities as they stand."""
    predictions = loaded("id,y_true,y_pred,p_a,p_b\n1,a,a,0.75,0.25\n2,b,a,0.5,0.5\n")
    (model,) = predictions.models
    assert predictions.classes == ("a", "b")
    assert model.y_pred is not None
    assert model.proba is not None
    np.testing.assert_array_equal(model.y_pred, [0, 0])
    np.testing.assert_array_equal(model.proba, [[0.75, 0.25], [0.5, 0.5]])


@pytest.mark.parametrize(
    "content, line",
    [
        ("id,y_true,p_1\n1,0,0.2\n2,1,1.2\n", 3),
        ("id,y_true,p_1\n1,0,often\n2,1,0.7\n", 2),
        ("id,y_true,y_pred\n1,0.5,0.25\n2,1.5,inf\n", 3),
        ("id,outcome\n1,1\n2,sometimes\n3,0\n", 3),
    ],
)
def test_what_is_no_number_is_refused_with_its_line(
    refused: Callable[..., InputError], content: str, line: int
) -> None:
    """Above 1, a word, without end."""
    assert f"line {line}" in str(refused("model.csv", content))
