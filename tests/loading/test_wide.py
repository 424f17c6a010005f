"""One column a model: labels, probabilities or values, each read as what its cells are."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pandas as pd

import evalreport as er
from evalreport.errors import InputError
from evalreport.predictions.table import Predictions


def test_labels_beside_true_values_are_predictions(loaded: Callable[..., Predictions]) -> None:
    """A model a column."""
    predictions = loaded("id,y_true,a,b\n1,x,x,y\n2,y,y,y\n3,x,y,x\n", wide=True)
    assert [m.name for m in predictions.models] == ["a", "b"]
    assert predictions.task == "binary"
    assert all(m.y_pred is not None and m.score is None for m in predictions.models)


def test_numbers_between_0_and_1_are_probabilities(loaded: Callable[..., Predictions]) -> None:
    """Of the positive class, where the truth has two values."""
    predictions = loaded("id,y_true,a,b\n1,0,0.2,1\n2,1,0.9,1\n3,0,0.4,0\n", wide=True)
    of_name = {m.name: m for m in predictions.models}
    np.testing.assert_allclose(of_name["a"].score, [0.2, 0.9, 0.4])
    assert of_name["b"].y_pred is not None


def test_without_true_values_a_cell_is_a_value_on_a_data_set(loaded: Callable[..., Predictions]) -> None:
    """As tables of papers have them."""
    predictions = loaded("dataset,a,b\niris,0.9,0.8\nwine,0.7,0.9\n", wide=True)
    assert (predictions.task, predictions.design) == ("scores", "datasets")


def test_the_values_of_a_wide_table_have_a_name() -> None:
    """`--value rmse` says what the cells are: less is better, and every output names it; without it none does."""
    table = pd.DataFrame({"dataset": list("pqrstu"), "a": [1.0, 2, 3, 2, 1, 2], "b": [2.0, 3, 4, 3, 3, 3]})
    named = er.evaluate(table, wide=True, value="rmse", resamples=50)
    assert (named.value_column, [row.model for row in named.ranking]) == ("rmse", ["a", "b"])
    assert any(record.code == "less_is_better_by_name" for record in named.found)
    plain = er.evaluate(table, wide=True, resamples=50)
    assert (plain.value_column, [row.model for row in plain.ranking]) == ("value", ["b", "a"])
    one = er.evaluate(table[["dataset", "a"]], wide=True, resamples=50)
    assert one.value_column == "value"


def test_a_column_label_is_not_taken_for_a_model(refused: Callable[..., InputError]) -> None:
    """It is mostly the truth, as in files of one model; numbers would be ranked as the values of a model."""
    error = refused("t.csv", "id,label,a,b\n1,0,0,1\n2,1,1,1\n3,0,1,0\n", wide=True)
    assert "t.csv, line 1, column 'label': --wide: the column may hold the true labels" in str(error)
    assert "rename it y_true" in str(error)


def test_beside_true_values_a_model_may_be_called_label(loaded: Callable[..., Predictions]) -> None:
    """Then nothing is open."""
    predictions = loaded("id,y_true,label,b\n1,0,0,1\n2,1,1,1\n3,0,1,0\n", wide=True)
    assert [m.name for m in predictions.models] == ["b", "label"]


def test_a_column_that_is_no_model_is_named(refused: Callable[..., InputError]) -> None:
    """None of its values is a true label."""
    error = refused("t.csv", "id,y_true,a,region\n1,x,x,north\n2,y,y,south\n3,x,y,north\n", wide=True)
    assert "region" in str(error)
