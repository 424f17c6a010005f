"""The API's sources, and what `evalreport check` says about them."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from evalreport.errors import InputError
from evalreport.loading.load import load
from evalreport.options import Options
from evalreport.predictions.table import Predictions

Content = Callable[[Predictions], dict[str, Any]]

LONG = {
    "id": ["b", "a", "a", "b"],
    "model": ["k", "k", "l", "l"],
    "y_true": [0, 1, 1, 0],
    "y_pred": [1, 1, 0, 0],
    "town": ["x", "y", "y", "x"],
}


@pytest.mark.parametrize(
    "make", [pd.DataFrame, pl.DataFrame, pa.table, lambda t: pl.DataFrame(t).lazy(), dict]
)
def test_long_format_is_read_from_any_library(make: Callable[[Any], Any], content: Content) -> None:
    """pandas, polars (lazy too), pyarrow and a mapping of columns give what the file gives."""
    predictions = load(make(LONG))
    assert [m.name for m in predictions.models] == ["k", "l"]
    assert predictions.ids.to_pylist() == ["a", "b"]
    assert content(predictions) == content(load(pa.table(LONG)))


def test_one_frame_a_model(content: Content) -> None:
    """A mapping of names to frames or columns, in any order, is the long format."""
    frame = pd.DataFrame(LONG)
    each = {name: frame[frame["model"] == name].drop(columns="model") for name in ("l", "k")}
    assert content(load(each)) == content(load(frame))
    mixed = {"k": pl.from_pandas(each["k"]), "l": each["l"].to_dict(orient="list")}
    assert content(load(mixed)) == content(load(frame))


def test_arrays_without_ids_are_matched_by_position() -> None:
    """In memory rows have an order: position is the id, padded so that text order is row order."""
    y = np.arange(11) % 2
    predictions = load({"b": {"y_pred": y}, "a": {"y_pred": 1 - y}}, truth=y)
    assert predictions.ids.to_pylist()[:2] == ["00", "01"]
    assert predictions.y_true is not None
    assert predictions.y_true.tolist() == y.tolist()
    assert [m.name for m in predictions.models] == ["a", "b"]
    assert predictions.models[1].y_pred is not None
    assert predictions.models[1].y_pred.tolist() == y.tolist()


def test_predictions_by_model_name() -> None:
    """{"y_true": ..., "forest": ..., "logreg": ...} is the shortest way to compare two models."""
    predictions = load({"y_true": [1.5, 2.5], "forest": np.array([1, 2]), "logreg": [2.0, 2.5]})
    assert predictions.task == "regression"
    assert [m.name for m in predictions.models] == ["forest", "logreg"]


def test_one_model_as_columns() -> None:
    """A mapping of columns without `model` is one model."""
    predictions = load({"y_true": ["n", "y"], "y_pred": ["y", "y"], "p_y": [0.5, 0.75]})
    assert [m.name for m in predictions.models] == ["model"]
    assert predictions.positive == "y"


@pytest.mark.parametrize(
    "truth",
    [
        {"a": 1, "b": 0, "c": 1},
        {"id": ["b", "a"], "y_true": [0, 1]},
        pd.DataFrame({"id": ["b", "a"], "label": [0, 1]}),
        pl.DataFrame({"id": ["b", "a"], "y_true": [0, 1]}),
    ],
    ids=["by id", "columns", "pandas", "polars"],
)
def test_truth_in_memory_is_matched_by_id(truth: Any) -> None:
    """A mapping of id to value, columns or a frame."""
    predictions = load({"m": {"id": ["a", "b"], "y_pred": [1, 1]}}, truth=truth)
    assert predictions.y_true is not None
    assert predictions.y_true.tolist() == [1, 0]


def test_truth_in_memory_may_be_a_series() -> None:
    """Arrays, lists and series of any library hold true values by position."""
    for truth in (
        [1, 0],
        np.array([1, 0]),
        pd.Series([1, 0], index=[7, 3]),
        pl.Series([1, 0]),
        pa.array([1, 0]),
    ):
        predictions = load({"m": {"y_pred": [1, 1]}}, truth=truth)
        assert predictions.y_true is not None
        by_id = dict(zip(predictions.ids.to_pylist(), predictions.y_true.tolist(), strict=True))
        first, second = ("7", "3") if isinstance(truth, pd.Series) else ("0", "1")
        assert by_id == {first: 1, second: 0}


def test_truth_in_a_file_serves_memory(write: Callable[..., Path]) -> None:
    """options.truth, or a path as truth, names a file for predictions from memory; both are recorded."""
    path = write("labels.csv", "id,y_true\na,1\nb,0\n")
    source = {"m": {"id": ["a", "b"], "y_pred": [1, 1]}}
    for got in (load(source, options=Options(truth=str(path))), load(source, truth=path)):
        assert [record.path for record in got.inputs] == ["<memory>", "labels.csv"]


def test_truth_by_position_is_refused_for_ids() -> None:
    """True values in some order cannot be matched with ids."""
    with pytest.raises(InputError, match="no column 'id'"):
        load({"m": {"id": ["a", "b"], "y_pred": [1, 1]}}, truth=[1, 0])


def test_truth_of_another_length_is_refused() -> None:
    """Three true values do not belong to two predictions."""
    with pytest.raises(InputError, match="3 true values for 2 predictions"):
        load({"m": {"y_pred": [1, 1]}}, truth=[1, 0, 1])


@pytest.mark.parametrize(
    "source, words",
    [
        ([1, 2], "type 'list'"),
        (3, "type 'int'"),
        ({}, "empty"),
        ({"m": {"y_true": [], "y_pred": []}}, "empty"),
        ({"m": {"y_true": [1], "x": [1]}}, "no usable column"),
        ({"m": {"y_true": [1, 0], "y_pred": [[1, 2], [3, 4]]}}, "2 dimensions.*needs a file of its own"),
        ({"m": {"y_true": [1, 0], "y_pred": [1, "x"]}}, "cannot be read as text or numbers"),
        ({"m": {"y_true": [1, 0], "y_pred": [1]}}, "different lengths"),
        ({"m": {"y_true": [1, 0], "score": [1.0, float("nan")]}}, "row 2: the cell is empty"),
        ({"model": ["k", "l"], "y_true": [1, 0], "y_pred": [1, 1]}, "no column 'id'"),
        ({"": {"y_true": [1, 0], "y_pred": [1, 1]}}, "the model has no name"),
        (pd.DataFrame([[1, 1, 0]], columns=["y_true", "y_pred", "y_pred"]), "cannot be read"),
        (pd.DataFrame({"y_true": [1, 0], "y_pred": [1, "x"]}), "cannot be read"),
        ({"k": {"y_true": [1, 0], "y_pred": [1, 1]}, "l": {"y_pred": [1, 1, 1]}}, "lacks"),
    ],
)
def test_bad_sources_are_refused(source: Any, words: str) -> None:
    """Memory is checked as files are."""
    with pytest.raises(InputError, match=words) as caught:
        load(source)
    assert caught.value.remedy
