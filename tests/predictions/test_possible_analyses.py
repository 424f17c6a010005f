"""Which analyses a table allows, as `evalreport check` lists them, and why not the others."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from evalreport.loading.load import load
from evalreport.predictions.possible_analyses import survey, why_not_analysed
from evalreport.predictions.table import Predictions


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


@pytest.mark.parametrize(
    "column, cells, words",
    [("train_size", ("10", "20"), None), ("part", ("train", "test"), None), ("town", ("x", "x"), None)],
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
