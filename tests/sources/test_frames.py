"""The API's sources, and what `evalreport check` says about them."""

from __future__ import annotations

import sys
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
from evalreport.predictions.possible_analyses import survey, why_not_analysed
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
        ({"m": {"y_true": [1, 0], "y_pred": [[1, 2], [3, 4]]}}, "2 dimensions.*multilabel"),
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


def possible(predictions: Predictions) -> set[str]:
    """Return the analyses that are possible."""
    rows = survey(predictions)
    assert all(row.reason for row in rows)
    assert all(row.remedy for row in rows if not row.possible)
    return {row.analysis for row in rows if row.possible}


def test_the_survey_follows_what_models_give() -> None:
    """Labels, scores and probabilities open one analysis each."""
    y = {"y_true": [1, 0, 1], "id": ["a", "b", "c"]}
    assert possible(load({"m": y | {"y_pred": [1, 0, 0]}})) == {"label metrics"}
    assert possible(load({"m": y | {"score": [1, 0, 0]}})) == {"ranking metrics and curves"}
    both = load({"m": y | {"p_1": [1, 0, 0.5]}, "n": y | {"y_pred": [1, 1, 1]}})
    names = {"label metrics", "ranking metrics and curves", "probability metrics", "paired tests"}
    assert possible(both) == names
    (row,) = [row for row in survey(both) if row.analysis == "probability metrics"]
    assert "n do not" in row.reason
    assert possible(load({"m": {"y_true": [1.5, 2], "y_pred": [1, 2]}})) == {"regression metrics"}
    assert possible(load({"m": {"outcome": [1, 0]}})) == {"mean outcome"}


def test_ranking_needs_two_classes() -> None:
    """With one class only there is nothing to rank."""
    predictions = load({"m": {"y_true": [1, 1], "score": [1, 0]}})
    (row,) = [row for row in survey(predictions) if row.analysis == "ranking metrics and curves"]
    assert not row.possible
    assert "one class only" in row.reason


@pytest.mark.parametrize(
    "analysis, command",
    [
        ("5x2cv tests", "evalreport resample PLAN"),
        ("cross-validation tests", "evalreport resample PLAN"),
        ("bias and variance", "evalreport resample PLAN"),
        ("error estimators (.632, .632+)", "evalreport resample PLAN"),
        ("tests over many data sets", "evalreport resample PLAN"),
        ("learning curves", "evalreport resample PLAN"),
        ("slices", "--slice"),
        ("clusters", "--cluster"),
    ],
)
def test_what_one_test_set_cannot_serve_names_the_command(analysis: str, command: str) -> None:
    """5x2cv asked of one prediction file is refused with what makes the data."""
    predictions = load({"k": {"y_true": [1, 0], "y_pred": [1, 1]}, "l": {"y_pred": [1, 0]}})
    (row,) = [row for row in survey(predictions) if row.analysis == analysis]
    assert not row.possible
    assert command in (row.remedy or "")


def test_designs_that_this_version_does_not_analyse_are_said(
    loaded: Callable[..., Predictions], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A design may be read and found while its analysis is not there: it is said then, not done wrongly."""
    # By name: the package's function of the same name hides the module.
    module = sys.modules[survey.__module__]
    monkeypatch.setattr(module, "ANALYSED_DESIGNS", frozenset({"test-set"}))
    rows = "".join(f"{i},{m},{i % 2},1,{i % 3 % 2}\n" for i in range(6) for m in "kl")
    predictions = loaded("id,model,fold,y_true,y_pred\n" + rows)
    assert predictions.design == "cross-validation"
    assert possible(predictions) == set()
    (row,) = [row for row in survey(predictions) if row.analysis == "cross-validation tests"]
    assert "the data allow it" in row.reason
    assert "version" in row.reason


@pytest.mark.parametrize(
    "column, cells, words",
    [
        ("train_size", ("10", "20"), None),
        ("part", ("train", "test"), None),
        ("town", ("x", "x"), None),
    ],
)
def test_only_one_prediction_an_example_is_one_test_set(
    loaded: Callable[..., Predictions], column: str, cells: tuple[str, str], words: str | None
) -> None:
    """The points of a learning curve are told apart by their size; training rows and other columns harm nothing."""
    second = "b" if column == "town" else "a"
    predictions = loaded(f"id,{column},y_true,y_pred\na,{cells[0]},1,1\n{second},{cells[1]},1,0\n")
    reason = why_not_analysed(predictions)
    assert (words is None) == (reason is None)
    assert words is None or words in (reason or "")
    assert ("label metrics" in possible(predictions)) == (words is None)


def test_very_many_ids_in_memory_have_a_digest_that_tells_them_apart() -> None:
    """Beyond 100,000 ids the digest is taken piece by piece: one id that differs changes it, nothing raises."""
    n = 100_001
    ids = [f"{i:06d}" for i in range(n)]
    label = np.arange(n) % 2
    digests = {
        load({"a": {"id": [*ids[:-1], last], "y_true": label, "y_pred": label}}, options=Options())
        .inputs[0]
        .sha256
        for last in (ids[-1], "x")
    }
    assert len(digests) == 2
