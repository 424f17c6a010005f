"""Key columns and metadata, in the order of the examples."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from evalreport.analysis import evaluate
from evalreport.errors import InputError, UsageError
from evalreport.loading.load import load
from evalreport.options import Options
from evalreport.predictions.table import Predictions

Loaded = Callable[..., Predictions]


def test_other_columns_are_metadata(loaded: Loaded) -> None:
    """Text becomes categories, numbers stay numbers, what a slice names becomes categories."""
    content = "id,y_true,y_pred,age,town\na,1,1,30,x\nb,0,1,,y\nc,0,0,9,\n"
    plain = loaded(content)
    assert plain.metadata["town"].categories == ("x", "y")
    assert plain.metadata["town"].values.tolist() == [0, 1, -1]
    assert plain.metadata["age"].categories is None
    assert str(plain.metadata["age"].values.tolist()) == "[30.0, nan, 9.0]"
    sliced = loaded(content, slices=("age",))
    assert sliced.metadata["age"].categories == ("9", "30")
    assert sliced.metadata["age"].values.tolist() == [1, -1, 0]


def test_metadata_may_stand_in_one_file_only(write: Callable[..., Path]) -> None:
    """What one file says about an example holds for the example."""
    write("a.csv", "id,y_true,y_pred,town\n1,1,1,x\n2,0,1,y\n")
    folder = write("b.csv", "id,y_true,y_pred\n2,0,1\n1,1,1\n").parent
    assert load(folder).metadata["town"].values.tolist() == [0, 1]


def test_columns_that_differ_between_models_are_the_models_own(write: Callable[..., Path]) -> None:
    """A duration is no property of the example, so it cannot be sliced by; it is kept with its model."""
    write("a.csv", "id,y_true,y_pred,duration,n_parameters\n1,1,1,0.5,10\n2,0,1,0.25,10\n")
    folder = write("b.csv", "id,y_true,y_pred,duration,n_parameters\n1,1,1,3,99\n2,0,1,4,99\n").parent
    predictions = load(folder)
    assert predictions.metadata == {}
    assert "n_parameters" not in predictions.keys
    assert predictions.models[1].columns["duration"].values.tolist() == [3, 4]
    assert predictions.models[0].columns["n_parameters"].values.tolist() == [10, 10]
    assert "column_differs_between_models" in [w.code for w in predictions.warnings]


@pytest.mark.parametrize(
    "column, cells, expected",
    [
        ("inbag", ("2", "0"), [2.0, 0.0]),
        ("train_size", ("100", "50"), [100.0, 50.0]),
        ("complexity", ("3", "2.5"), [3.0, 2.5]),
        ("log_likelihood", ("-3.5", "-1"), [-3.5, -1.0]),
        ("vc_dimension", ("4", "4"), [4.0, 4.0]),
        ("time", ("20", "3"), [20.0, 3.0]),
    ],
)
def test_numeric_keys_are_numbers(loaded: Loaded, column: str, cells: tuple[str, str], expected: Any) -> None:
    """Columns that count or measure are floats."""
    predictions = loaded(f"id,y_true,y_pred,{column}\na,1,1,{cells[0]}\nb,0,1,{cells[1]}\n")
    assert predictions.keys[column].categories is None
    assert predictions.keys[column].values.tolist() == expected


def test_text_keys_keep_their_categories_in_order(loaded: Loaded) -> None:
    """Folds are sorted by number where all are numbers, and keep their text."""
    rows = "".join(f"{i},{f},1,1\n" for i, f in enumerate(["10", "9", "2", "10"]))
    assert loaded("id,fold,y_true,y_pred\n" + rows).keys["fold"].categories == ("2", "9", "10")
    named = loaded("id,fold,y_true,y_pred\n1,outer b,1,1\n2,outer a,1,1\n")
    assert named.keys["fold"].categories == ("outer a", "outer b")
    dated = loaded("id,time,y_true,y_pred\n1,2026-02-01,1,1\n2,2026-01-01,1,1\n")
    assert dated.keys["time"].categories == ("2026-01-01", "2026-02-01")


@pytest.mark.parametrize("option", ["slices", "cluster", "weight"])
def test_an_unknown_column_is_refused(write: Callable[[str, str], Path], option: str) -> None:
    """A column that --slice, --cluster or --weight names must be there; the closest name is offered."""
    path = write("m.csv", "id,y_true,y_pred,group\na,1,1,x\nb,0,1,y\n")
    with pytest.raises(UsageError, match="did you mean group"):
        load(path, options=Options(**{option: ("gruop",) if option == "slices" else "gruop"}))


@pytest.mark.parametrize("option", ["cluster", "weight"])
def test_a_column_in_which_models_differ_is_refused(write: Callable[[str, str], Path], option: str) -> None:
    """What groups or weighs examples must be the same for all models; the column is not called unknown."""
    folder = write("m.csv", "id,y_true,y_pred,w\na,1,1,2\nb,0,1,1\n").parent
    write("n.csv", "id,y_true,y_pred,w\na,1,1,2\nb,0,1,3\n")
    with pytest.raises(UsageError, match=f"--{option} w: the models have different values of 'w'"):
        load(folder, options=Options(**{option: "w"}))


def test_a_negative_weight_is_refused(refused: Callable[..., InputError]) -> None:
    """Weights are 0 or more."""
    error = refused("m.csv", "id,y_true,y_pred,w\na,1,1,2\nb,0,1,-1\n", weight="w")
    assert (error.line, error.column, error.remedy) == (3, "w", "correct the value")


def test_an_empty_weight_is_refused(tmp_path: Path) -> None:
    """An example of unknown weight made every value 0; a weight that another file gives is known."""
    (tmp_path / "m.csv").write_text("id,y_true,y_pred,w\na,1,1,2\nb,0,1,\n")
    with pytest.raises(InputError, match=r"m\.csv, line 3, column 'w': the id 'b' has no weight"):
        evaluate(tmp_path, options=Options(weight="w", resamples=20))
    (tmp_path / "n.csv").write_text("id,y_true,y_pred,w\na,1,1,2\nb,0,1,1\n")
    results = evaluate(tmp_path, options=Options(weight="w", resamples=20))
    assert results.metrics[0].value == pytest.approx(2 / 3, rel=1e-12)


def test_weights_that_are_all_0_are_refused(refused: Callable[..., InputError]) -> None:
    """Of examples that weigh nothing no value follows; it ended as a defect."""
    error = refused("m.csv", "id,y_true,y_pred,w\na,1,1,0\nb,0,1,0\n", weight="w")
    assert (error.column, "every example weighs 0" in str(error)) == ("w", True)


def test_scores_on_data_sets_are_not_joined_independently(tmp_path):
    """Values on different data sets have no common scale: without pairs by data set nothing can be said."""
    file = tmp_path / "scores.csv"
    file.write_text("dataset,model,value\na,m,0.5\nb,m,0.6\na,n,0.7\nb,n,0.8\n")
    with pytest.raises(UsageError, match="only comparable data set by data set"):
        evaluate(file, options=Options(join="independent"))
