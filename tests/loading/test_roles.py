"""What columns mean: standard names first, aliases only where these are absent."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from evalreport.errors import InputError
from evalreport.loading.load import load
from evalreport.options import Options
from evalreport.predictions.table import Predictions

Loaded = Callable[..., Predictions]


@pytest.mark.parametrize("prefix", ["p_", "proba_", "prob_"])
def test_probabilities_have_three_spellings(loaded: Loaded, prefix: str) -> None:
    """p_, proba_ and prob_ before a label mean its probability."""
    predictions = loaded(f"id,y_true,{prefix}yes\na,yes,0.9\nb,no,0.2\n")
    assert predictions.models[0].score is not None
    assert predictions.models[0].score.tolist() == [0.9, 0.2]


def test_correct_beside_predictions_is_metadata(loaded: Loaded) -> None:
    """A note whether a prediction is right does not replace the prediction."""
    predictions = loaded("id,y_true,y_pred,correct\na,1,1,1\nb,0,1,0\n")
    assert predictions.task == "binary"
    assert list(predictions.metadata) == ["correct"]


def test_outcome_columns_may_be_named(loaded: Loaded) -> None:
    """--outcome and --value name any column."""
    judged = loaded("id,grade\na,3\nb,4.5\n", outcome="grade")
    assert judged.task == "outcome"
    assert judged.models[0].outcome is not None
    assert judged.models[0].outcome.tolist() == [3, 4.5]
    valued = loaded("dataset,model,my_index\nd,k,1\ne,k,2\n", value="my_index")
    assert valued.task == "scores"


def test_a_named_column_that_is_absent_is_refused(refused: Callable[..., InputError]) -> None:
    """The message lists the columns that are there."""
    error = refused("m.csv", "id,grade\na,3\n", outcome="mark")
    assert "--outcome names" in error.problem
    assert "grade" in (error.expected or "")


def test_true_and_false_are_outcomes(loaded: Loaded) -> None:
    """A boolean judgement is 1 or 0 in any spelling of letters."""
    predictions = loaded("id,passed\na,True\nb,FALSE\nc,true\n")
    assert predictions.models[0].outcome is not None
    assert predictions.models[0].outcome.tolist() == [1, 0, 1]


def test_a_metric_may_be_the_value(loaded: Loaded) -> None:
    """Data set, algorithm, auc: the column named after a metric holds the value."""
    predictions = loaded("dataset,algorithm,auc\nb,k,.5\na,k,.25\nb,l,.75\na,l,1\n")
    assert (predictions.task, predictions.design) == ("scores", "datasets")
    assert [m.name for m in predictions.models] == ["k", "l"]
    assert predictions.models[1].outcome is not None
    # Rows in order of the data sets' names: a, b.
    assert predictions.models[1].outcome.tolist() == [1, 0.75]
    assert predictions.keys["dataset"].categories == ("a", "b")


def test_a_displaced_standard_column_is_like_any_other(tmp_path: Path) -> None:
    """With `--value cluster` a column `value` is metadata, and kept as what it holds, not as numbers."""
    (tmp_path / "m.csv").write_text("dataset,value,cluster\nd0,a,0\nd1,b,1\n")
    loaded = load(tmp_path / "m.csv", options=Options(value="cluster"))
    column = loaded.metadata["value"]
    assert [column.categories[code] for code in column.values] == ["a", "b"]
