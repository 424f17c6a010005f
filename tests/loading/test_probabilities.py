"""What is taken by a guess is said by code, and what looks like something else is never silently metadata."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from evalreport.errors import InputError, InputErrors
from evalreport.loading.load import load
from evalreport.options import Options
from evalreport.predictions.column_names import LONE_PROBABILITIES
from evalreport.predictions.table import Predictions
from evalreport.schema.warnings import WarningRecord

Loaded = Callable[..., Predictions]
Write = Callable[..., Path]


def said(predictions: Predictions, code: str) -> WarningRecord:
    """Return the one warning of a code."""
    (found,) = [warning for warning in predictions.warnings if warning.code == code]
    return found


@pytest.mark.parametrize("name", LONE_PROBABILITIES)
def test_a_binary_task_takes_its_one_probability_by_any_of_its_names(loaded: Loaded, name: str) -> None:
    """It is the positive class's, and the file says so once."""
    predictions = loaded(f"id,y_true,y_pred,{name}\na,no,no,.25\nb,yes,no,.5\nc,yes,yes,.75\n")
    assert predictions.models[0].score is not None
    assert predictions.models[0].score.tolist() == [0.25, 0.5, 0.75]
    assert predictions.models[0].proba is not None
    assert name not in predictions.metadata
    warning = said(predictions, "guessed_probability")
    assert (warning.about, warning.level) == ((name,), "info")
    assert "p_yes" in str(warning.text)


def test_the_one_probability_alone_is_enough(loaded: Loaded) -> None:
    """Without y_pred it is thresholded, and --positive says whose it is."""
    content = "id,y_true,proba\na,0,.25\nb,1,.75\nc,1,.4\n"
    first, other = loaded(content), loaded(content, positive="0")
    assert first.models[0].y_pred is not None
    assert first.models[0].y_pred.tolist() == [0, 1, 0]
    assert other.models[0].y_pred is not None
    assert other.models[0].y_pred.tolist() == [1, 0, 1]


@pytest.mark.parametrize(
    "content, columns, name",
    [
        ("id,y_true,y_pred,proba\n1,a,a,.5\n2,b,b,.75\n3,c,c,1\n", ("proba",), "p_<label>"),
        ("id,y_true,y_pred,p\n1,0,0,-2.5\n2,1,1,3\n", ("p",), "score"),
        ("id,y_true,y_pred,p_1,proba\n1,0,0,.5,.5\n2,1,1,.75,.75\n", ("proba",), "p_<label>"),
        ("id,y_true,y_pred,0,1\n1,0,0,.5,.5\n2,1,1,.25,.75\n", ("0", "1"), "p_0, p_1"),
        ("id,y_true,y_pred,Cat,dog\n1,cat,cat,.5,.5\n2,dog,dog,.25,.75\n", ("Cat", "dog"), "p_cat, p_dog"),
        (
            "id,y_true,y_pred,p_class0,p_class1\n1,0,0,.5,.5\n2,1,1,.25,.75\n",
            ("p_class0", "p_class1"),
            "p_0, p_1",
        ),
        ("id,y_true,y_pred,p_A,p_B\n1,a,a,.5,.5\n2,b,b,.25,.75\n", ("p_A", "p_B"), "p_a, p_b"),
    ],
    ids=["three classes", "outside", "beside others", "by number", "by class", "class0", "capitals"],
)
def test_look_alikes_are_named_with_the_name_they_should_have(
    loaded: Loaded, content: str, columns: tuple[str, ...], name: str
) -> None:
    """They are not used, make no class of their own, and stay metadata."""
    predictions = loaded(content)
    warning = said(predictions, "look_alike_column")
    assert warning.level == "caution"
    assert warning.about == columns
    assert name in str(warning.text)
    assert set(columns) <= set(predictions.metadata)
    assert len(predictions.classes) == len(
        set(predictions.y_true.tolist() if predictions.y_true is not None else [])
    )


def test_other_columns_are_not_taken_for_probabilities(loaded: Loaded) -> None:
    """A column p of text, one of a regression, and numbers beside few classes are metadata without a word."""
    for content in (
        "id,y_true,y_pred,p\n1,0,0,north\n2,1,1,south\n",
        "id,y_true,y_pred,p\n1,.5,.25,.5\n2,1.5,1,.75\n",
        "id,y_true,y_pred,0,1\n1,0,0,30,4\n2,1,1,25,7\n",
    ):
        predictions = loaded(content)
        assert not {"look_alike_column", "guessed_probability"} & {w.code for w in predictions.warnings}
        assert predictions.metadata


@pytest.mark.parametrize(
    ("content", "options", "doubted"),
    [
        ("count,y_true,y_pred\n10,1,1\n5,0,1\n", {}, True),
        ("count,y_true,p_1\n10,1,.5\n5,0,.25\n", {}, True),
        ("count,outcome\n10,1\n5,0\n", {}, True),
        ("count,country,y_true,y_pred\n10,a,1,1\n5,b,0,1\n", {"slices": ("country",)}, True),
        ("id,count,y_true,y_pred\na,10,1,1\nb,5,0,1\n", {}, False),
        ("count,y_true,y_pred\n1,1,1\n1,0,1\n", {}, False),
        ("count,y_true,y_pred\n1.5,1,1\n2,0,1\n", {}, False),
        ("count,y_true,y_pred\n10,1,1\n5,0,1\n", {"weight": "count"}, False),
        ("dataset,count,value\na,10,.5\nb,5,.25\n", {}, False),
    ],
)
def test_counts_of_one_model_are_not_read_as_rows_without_a_word(
    loaded: Loaded, content: str, options: dict[str, Any], doubted: bool
) -> None:
    """A whole count beside predictions without an id is named with what a table of counts has."""
    found = [w for w in loaded(content, **options).warnings if w.code == "look_alike_column"]
    assert [(w.about, w.level) for w in found] == ([(("count",), "caution")] if doubted else [])
    assert all("y_pred.<model>" in str(w.text) for w in found)


def test_a_look_alike_alone_is_refused_with_its_name(refused: Callable[..., InputError]) -> None:
    """There is nothing else to compare."""
    error = refused("m.csv", "id,y_true,p_class0,p_class1\n1,0,.5,.5\n2,1,.25,.75\n")
    assert "name them p_0, p_1" in error.problem
    assert (
        "name each probability p_<label>"
        in refused("m.csv", "id,y_true,p\n1,a,1\n2,b,0\n3,c,1\n").problem.casefold()
    )


def test_a_class_that_a_column_alone_names_is_said(loaded: Loaded) -> None:
    """p_value beside a binary task adds a class; no row is of it."""
    predictions = loaded("id,y_true,y_pred,p_value\n1,a,a,.5\n2,b,b,.75\n")
    assert said(predictions, "class_of_a_column").about == ("value",)


@pytest.mark.parametrize(
    "truth, predicted, level",
    [
        (list(range(3)) * 10, list(range(3)) * 10, "info"),
        ([21, 22, 25, 30] * 10, [21, 22, 25, 30] * 10, "caution"),
        (list(range(16)) * 2, [*range(16), *range(1, 16), 15], "caution"),
        ([0, 1, 1] * 10, [0, 1, 2] * 10, "caution"),
        ([0, 1] * 5, [0.25, 1.75] * 5, "caution"),
        ([1, 2, 3], [7, 8, 9], "caution"),
        ([0, 1] * 5, [0, 1] * 5, None),
        ([0.5, 1.25] * 5, [0, 1] * 5, None),
        (list(range(30)), list(np.arange(30) + 0.5), None),
    ],
    ids=[
        *("codes", "amounts", "few of each", "a class that is never true", "real predictions"),
        *("nothing shared", "binary", "decimals", "many values"),
    ],
)
def test_a_task_that_is_guessed_is_said(
    truth: list[float], predicted: list[float], level: str | None
) -> None:
    """Loudly where whole numbers may be amounts, or predictions may belong to classes; --task silences it."""
    models = {"m": {"y_true": truth, "y_pred": predicted}}
    found = load(models)
    assert [w.level for w in found.warnings if w.code == "guessed_task"] == ([] if level is None else [level])
    named = load(models, options=Options(task=found.task))
    assert "guessed_task" not in [w.code for w in named.warnings]


@pytest.mark.parametrize(
    "truth, predicted, classes",
    [
        ([1, 0, 1], ["True", "False", "True"], ("0", "1")),
        ([True, False, True], [1, 0, 1], ("0", "1")),
        ([1.0, 0.0, 1.0], [True, False, True], ("0", "1")),
        (["TRUE", "FALSE", "TRUE"], ["True", "False", "True"], ("False", "True")),
        ([True, False, True], ["True", "False", "True"], ("False", "True")),
    ],
)
def test_true_and_one_are_one_spelling(
    truth: list[object], predicted: list[object], classes: tuple[str, ...]
) -> None:
    """Whatever type a file has them in, every prediction here is right; --positive takes either spelling."""
    models = {"m": {"y_true": truth, "y_pred": predicted}, "n": {"y_true": predicted, "y_pred": truth}}
    for options in (Options(), Options(positive="true")):
        found = load(models, options=options)
        assert (found.classes, found.positive) == (classes, classes[1])
        assert found.models[0].y_pred is not None
        assert found.models[0].y_pred.tolist() == [1, 0, 1]


@pytest.mark.parametrize("predicted, example", [(["0.5", ".25"], "'0.5'"), ([1, 0], "'1'")])
def test_numbers_where_labels_are_text_are_refused(predicted: list[object], example: str) -> None:
    """None of them can be right; each such model is named."""
    models = {name: {"y_true": ["ham", "spam"], "y_pred": predicted} for name in "kl"}
    with pytest.raises(InputErrors, match="the model 'k' predicts numbers") as caught:
        load(models)
    assert example in str(caught.value)
    assert "y_prob" in (caught.value.remedy or "")


@pytest.mark.parametrize(
    "truth, predicted",
    [
        (["a", "b", "a"], ["a", "a|b", "b"]),
        (["a;b", "b", "a"], ["a", "a", "b"]),
        (["['a', 'b']", "['a']", "[]"], ["['a']", "['a']", "['b']"]),
        ([["a", "b"], ["a"], ["b"]], [["a"], ["a"], ["b"]]),
    ],
    ids=["predicted", "true", "lists as text", "lists"],
)
def test_several_labels_in_one_cell_are_refused(truth: list[object], predicted: list[object]) -> None:
    """They would be a class of their own; the message says how each label is compared by itself."""
    with pytest.raises(InputError, match="several (labels|values).*Fix: write one (column or )?file"):
        load({"m": {"y_true": pa.array(truth), "y_pred": pa.array(predicted)}})


def test_labels_that_only_look_like_several_are_read(loaded: Loaded) -> None:
    """Places and intervals hold commas; and --task multiclass says that a|b is one label."""
    content = 'id,y_true,y_pred\n1,"York, NY","York, NY"\n2,"[0, 1)","[0, 1)"\n3,NY,NY\n'
    assert len(loaded(content).classes) == 3
    named = loaded("id,y_true,y_pred\n1,a,a|b\n2,b,b\n3,b,a\n", task="multiclass")
    assert said(named, "label_never_true").about == ("model", "a|b")


def test_rankings_are_refused_with_a_remedy(refused: Callable[..., InputError]) -> None:
    """Documents of queries are no examples of one class."""
    assert "compute the measure for each query" in str(refused("r.csv", "id,rank\na,1\nb,2\n"))
    error = refused("m.csv", "qid,doc_id,relevance,score\nq,a,2,.5\nq,b,0,.25\n")
    assert "rankings" in error.problem
    assert "outcome with the query as id" in str(error)


def test_errors_come_together(write: Write) -> None:
    """One line for each file and column, each with its place and remedy; at most ten of them."""
    for name in "abcdefghijkl":
        path = write(f"models/{name}.csv", f"id,y_true,p_1\nx,0,1.5\ny,1,.{ord(name)}\n")
    with pytest.raises(InputErrors) as caught:
        load(path.parent)
    head, *lines = caught.value.lines
    assert "12 errors" in head
    assert "first 10" in head
    assert len(lines) == 10
    assert all("line 2, column 'p_1'" in line and "write probabilities" in line for line in lines)
    write("models/a.csv", b"id,y_true,p_1\nx,0,\xff\n")
    write("models/b.csv", "")
    with pytest.raises(InputErrors, match="2 errors") as caught:
        load(path.parent)
    assert "a.csv, line 2" in str(caught.value)
    assert "b.csv: the file is empty" in str(caught.value)
