"""What columns mean: standard names first, aliases only where these are absent."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from evalreport.errors import InputError
from evalreport.loading.load import load
from evalreport.loading.roles import understand
from evalreport.options import Options
from evalreport.predictions.column_names import ALIASES
from evalreport.predictions.table import Predictions

Loaded = Callable[..., Predictions]

# CONTRACT: "also accepted (only where the first is absent)".
CONTRACT_ALIASES = {
    "id": ["sample_id", "example_id", "doc_id", "index"],
    "model": ["algorithm", "system"],
    "y_true": ["target", "label", "actual", "truth"],
    "y_pred": ["prediction", "pred", "predicted"],
    "score": ["y_score", "decision"],
    "replicate": ["replica"],
    "inbag": ["in_bag"],
    "part": ["split"],
    "seed": ["run"],
    "outcome": ["correct", "passed"],
    "attempt": ["epoch"],
    "task": ["benchmark"],
}
# Accepted beside an outcome only: what a person said of what a judge said.
BESIDE_OUTCOME = {"gold": ["human"]}


@pytest.mark.parametrize("standard, alias", [(s, a) for s, names in CONTRACT_ALIASES.items() for a in names])
def test_an_alias_stands_for_the_absent_standard_name(standard: str, alias: str) -> None:
    """Every alias of the contract is read as its standard column."""
    assert understand([alias, "x"], file="m.csv", options=Options()).columns == {standard: alias}


@pytest.mark.parametrize("standard, alias", [(s, a) for s, names in CONTRACT_ALIASES.items() for a in names])
def test_the_standard_name_wins_over_its_alias(standard: str, alias: str) -> None:
    """Where both stand, the alias is not used, and that is said."""
    roles = understand([alias, standard], file="m.csv", options=Options())
    assert roles.columns == {standard: standard}
    assert standard in roles.unused[alias]


def test_no_other_alias_is_accepted() -> None:
    """The list of aliases is the contract's, no more."""
    assert {s: list(names) for s, names in ALIASES.items() if names} == CONTRACT_ALIASES | BESIDE_OUTCOME


def test_human_stands_for_gold_beside_an_outcome() -> None:
    """Alone it is metadata; beside outcome it is gold, unless that is there, too."""
    options = Options()
    assert understand(["human", "y_pred"], file="m.csv", options=options).metadata == ("human",)
    assert understand(["human", "correct"], file="m.csv", options=options).columns["gold"] == "human"
    both = understand(["human", "gold", "outcome"], file="m.csv", options=options)
    assert both.columns["gold"] == "gold"
    assert "gold" in both.unused["human"]


def test_an_unused_alias_is_a_warning(loaded: Loaded) -> None:
    """The reader is told which of two columns was taken."""
    predictions = loaded("id,y_true,label,y_pred\na,1,0,1\nb,0,1,0\n")
    (warning,) = [w for w in predictions.warnings if w.code == "unused_column"]
    assert "'label'" in warning.text
    assert predictions.y_true is not None
    assert predictions.y_true.tolist() == [1, 0]


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
    """A latency is no property of the example, so it cannot be sliced by; it is kept with its model."""
    write("a.csv", "id,y_true,y_pred,latency,n_parameters\n1,1,1,0.5,10\n2,0,1,0.25,10\n")
    folder = write("b.csv", "id,y_true,y_pred,latency,n_parameters\n1,1,1,3,99\n2,0,1,4,99\n").parent
    predictions = load(folder)
    assert predictions.metadata == {}
    assert "n_parameters" not in predictions.keys
    assert predictions.models[1].columns["latency"].values.tolist() == [3, 4]
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


def test_a_displaced_standard_column_is_like_any_other(tmp_path: Path) -> None:
    """With `--value cluster` a column `value` is metadata, and kept as what it holds, not as numbers."""
    (tmp_path / "m.csv").write_text("dataset,value,cluster\nd0,a,0\nd1,b,1\n")
    loaded = load(tmp_path / "m.csv", options=Options(value="cluster"))
    column = loaded.metadata["value"]
    assert [column.categories[code] for code in column.values] == ["a", "b"]
