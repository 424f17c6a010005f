"""Task, classes, positive class and design are found by the contract's rules, and said."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

import evalreport as er
from evalreport.errors import InputError, UsageError
from evalreport.loading.load import load
from evalreport.options import Options
from evalreport.predictions.table import Predictions

Loaded = Callable[..., Predictions]

PREDICTIONS = Path(__file__).parents[1] / "data" / "predictions"


def labelled(truth: Sequence[object], predicted: Sequence[object]) -> str:
    """Write a file of labels."""
    rows = [f"{i},{t},{p}\n" for i, (t, p) in enumerate(zip(truth, predicted, strict=True))]
    return "id,y_true,y_pred\n" + "".join(rows)


@pytest.mark.parametrize(
    "truth, predicted, task",
    [
        (["x", "y"], ["x", "x"], "binary"),
        (["x", "y", "z"], ["x", "x", "x"], "multiclass"),
        ([0, 1], [0, 1], "binary"),
        ([0, 1, 2], [0, 1, 1], "multiclass"),
        ([0.0, 1.0], [0, 1], "binary"),
        ([0.5, 1], [0, 1], "regression"),
        ([0, 1], [0.2, 1.9], "regression"),
        (["01", "02"], ["01", "02"], "binary"),
        (["01", "02", "10"], ["1", "2", "10"], "multiclass"),
        (range(20), range(20), "multiclass"),
        (range(21), range(21), "regression"),
        ([1, 2, 3], [7, 8, 9], "regression"),
        ([0, 1, 1], [0, 1, 2], "multiclass"),
        ([3, 4], ["", ""], None),
    ],
)
def test_the_task_follows_the_contract(
    loaded: Loaded, truth: Sequence[object], predicted: Sequence[object], task: str | None
) -> None:
    """Text means classes; so do at most 20 whole numbers that the predictions share; else regression."""
    if task is None:
        with pytest.raises(Exception, match="gives no prediction at all"):
            loaded(labelled(truth, predicted))
        return
    predictions = loaded(labelled(truth, predicted))
    assert predictions.task == task
    (said,) = [record for record in predictions.found if record.what == "task"]
    assert said.value == task
    assert said.why


def test_scores_mean_classes(loaded: Loaded) -> None:
    """Numbers beside a score are labels, whatever their number."""
    rows = "".join(f"{i},{i * 100},{i / 10}\n" for i in range(2))
    assert loaded("id,y_true,score\n" + rows).task == "binary"


def test_a_named_task_wins_where_the_columns_allow_it(loaded: Loaded) -> None:
    """Whole numbers can be regressed, and 21 of them can be classes."""
    assert loaded(labelled([0, 1, 2], [0, 1, 1]), task="regression").task == "regression"
    assert loaded(labelled(range(21), range(21)), task="multiclass").task == "multiclass"
    assert len(loaded(labelled(range(21), range(21)), task="multiclass").classes) == 21


def test_classes_are_the_union_of_labels_and_probability_columns(loaded: Loaded) -> None:
    """A class that no row holds is still a class where it has a probability."""
    predictions = loaded("id,y_true,y_pred,p_a,p_b,p_d\n1,a,c,.5,.25,.25\n2,b,a,.5,.25,.25\n")
    assert predictions.classes == ("a", "b", "c", "d")


def test_numeric_classes_sort_by_value(loaded: Loaded) -> None:
    """10 comes after 9."""
    assert loaded(labelled([9, 10, 1], [10, 9, 1])).classes == ("1", "9", "10")


def test_a_whole_number_is_one_label_however_it_is_written(loaded: Loaded) -> None:
    """Pandas writes 1.0 where a column had gaps: the same label as 1, and as p_1."""
    predictions = loaded("id,y_true,y_pred,p_1\na,1.0,1,.7\nb,0.0,0,.2\n")
    assert predictions.classes == ("0", "1")
    assert predictions.models[0].score is not None
    assert predictions.models[0].score.tolist() == [0.7, 0.2]


def test_labels_with_leading_zeros_stay_apart(loaded: Loaded) -> None:
    """A code 01 is no number one."""
    assert loaded(labelled(["01", "1"], ["1", "01"])).classes == ("01", "1")


@pytest.mark.parametrize(
    "pair, positive, guessed",
    [
        (("0", "1"), "1", False),
        (("-1", "1"), "1", False),
        (("True", "False"), "True", False),
        (("no", "YES"), "YES", False),
        (("positive", "negative"), "positive", False),
        (("pos", "neg"), "pos", False),
        (("benign", "malignant"), "malignant", True),
        (("yes", "maybe"), "yes", True),
        (("1", "2"), "2", True),
        (("9", "10"), "10", True),
    ],
)
def test_the_positive_class_is_found(
    loaded: Loaded, pair: tuple[str, str], positive: str, guessed: bool
) -> None:
    """The positive one of a known pair, else the last in sorted order with a warning."""
    predictions = loaded(labelled(pair, pair))
    assert predictions.positive == positive
    assert predictions.classes[predictions.positive_code] == positive
    assert ("positive_class_guessed" in [w.code for w in predictions.warnings]) is guessed


def test_the_positive_class_can_be_named(loaded: Loaded) -> None:
    """--positive decides, and silences the warning; 1.0 names the class 1."""
    predictions = loaded(labelled(["benign", "malignant"], ["benign", "benign"]), positive="benign")
    assert predictions.positive == "benign"
    assert "positive_class_guessed" not in [w.code for w in predictions.warnings]
    assert loaded(labelled([0, 1], [0, 1]), positive="0.0").positive == "0"


@pytest.mark.parametrize(
    "label, classes", [("1", ("0", "1")), ("No", ("No", "Yes")), ("cat", ("cat", "not cat"))]
)
def test_one_class_keeps_a_counterpart(loaded: Loaded, label: str, classes: tuple[str, str]) -> None:
    """A binary task has two classes, even where the data hold one; that is a warning."""
    predictions = loaded(labelled([label] * 3, [label] * 3))
    assert (predictions.task, predictions.classes) == ("binary", classes)
    assert "one_class" in [w.code for w in predictions.warnings]


def grid(header: str, rows: Sequence[Sequence[object]]) -> str:
    """Write a file of key columns, each row with a truth and a prediction."""
    lines = [",".join(map(str, row)) + ",1,0\n" for row in rows]
    return f"id,{header},y_true,y_pred\n" + "".join(lines)


MISTAKES: dict[str, tuple[list[str], str]] = {
    "one id in two folds": (
        ["'3' stands in two folds of one repeat", "in the column repeat"],
        grid("fold", [*((i, i % 5) for i in range(10)), (3, 4)]),
    ),
    "ids in two folds of a repeat": (
        ["2 ids, '1', '3', stand in two folds of the repeat '2'"],
        grid("repeat,fold", [*((i, r, i % 5) for r in (1, 2) for i in range(10)), (3, 2, 4), (1, 2, 4)]),
    ),
    "an id of no fold": (
        ["'0' is not tested in the repeat '0'"],
        grid("repeat,fold", [(i, r, i % 2) for i in range(4) for r in range(5) if (i, r) != (0, 0)]),
    ),
    "a seed that lacks an id": (
        ["'2' is not tested in the seed 'b'", "predict what is missing"],
        grid("seed", [(i, s) for s in "abc" for i in range(6) if (i, s) != (2, "b")]),
    ),
    "one id in another fold with one seed": (
        ["'7' is not in the same fold with every seed"],
        grid("fold,seed", [(i, 4 if (i, s) == (7, 1) else i % 5, s) for i in range(10) for s in range(3)]),
    ),
}


@pytest.mark.parametrize("name", MISTAKES)
def test_an_id_out_of_place_is_refused_by_name(loaded: Loaded, name: str) -> None:
    """A few ids in two folds or in none turn no design into another: the message names them, the file and a remedy."""
    said, content = MISTAKES[name]
    with pytest.raises(InputError) as raised:
        loaded(content)
    message = str(raised.value)
    for text in said:
        assert text in message
    assert re.search(r"\.csv, line \d+", message)


# File: task, design, rows, classes, positive class, models (as its origin describes it).
REAL = {
    "default_test.csv.gz": ("binary", "test-set", 3000, ("No", "Yes"), "Yes", 5),
    "breast_cancer_test.csv": ("binary", "test-set", 228, ("benign", "malignant"), "malignant", 5),
    "digits_test.parquet": ("multiclass", "test-set", 899, tuple("0123456789"), None, 5),
    "diabetes_test.csv": ("regression", "test-set", 148, (), None, 6),
    "ext_two_class.csv": ("binary", "test-set", 500, ("Class1", "Class2"), "Class2", 1),
    "ext_solubility.csv": ("regression", "test-set", 316, (), None, 1),
    "ext_pathology.csv": ("binary", "test-set", 344, ("abnorm", "norm"), "norm", 1),
    "slovak_default_eval.csv": ("binary", "test-set", 307, ("No", "Yes"), "Yes", 1),
}


@pytest.mark.parametrize("name", REAL)
def test_real_files_are_understood(name: str) -> None:
    """Files of genuinely different models are read as their authors describe them."""
    p = load(PREDICTIONS / name, options=Options())
    assert (p.task, p.design, p.n, p.classes, p.positive, len(p.models)) == REAL[name]


GOOD = "id,y_true,y_pred\na,1,1\nb,0,1\nc,1,0\n"


def test_over_a_thousand_classes_are_refused(refused: Callable[..., InputError]) -> None:
    """A free-text column taken for labels is not analysed as 1,001 classes."""
    rows = "".join(f"{i},class {i},class {i}\n" for i in range(1001))
    error = refused("m.csv", "id,y_true,y_pred\n" + rows)
    assert "1001 classes" in error.problem
    assert "--task regression" in (error.remedy or "")


def test_a_thousand_classes_are_accepted(loaded: Callable[..., object]) -> None:
    """The limit itself is allowed."""
    rows = "".join(f"{i},class {i},class {i}\n" for i in range(1000))
    assert len(loaded("id,y_true,y_pred\n" + rows).classes) == 1000  # type: ignore[attr-defined]


@pytest.mark.parametrize(
    "task, content, words",
    [
        ("binary", "id,y_true,y_pred\na,x,x\nb,y,z\n", "3 classes"),
        ("regression", "id,y_true,p_1\na,1,.5\nb,0,.5\n", "belong to classes"),
        ("outcome", GOOD, "no column 'outcome'"),
        ("scores", GOOD, "no column 'value'"),
        ("binary", "id,outcome\na,1\nb,0\n", "means the task outcome"),
    ],
)
def test_a_task_that_contradicts_the_columns_is_refused(
    refused: Callable[..., InputError], task: str, content: str, words: str
) -> None:
    """--task does not bend columns into what they are not."""
    error = refused("m.csv", content, task=task)
    assert f"task {task} contradicts" in error.problem
    assert words in error.problem
    assert error.remedy


def test_text_cannot_be_regressed(refused: Callable[..., InputError]) -> None:
    """--task regression with text as truth names the first text."""
    error = refused("m.csv", "id,y_true,y_pred\na,1.5,2\nb,cat,2\n", task="regression")
    assert (error.line, error.column) == (3, "y_true")


def test_an_unknown_positive_class_is_refused(write: Callable[[str, str], Path]) -> None:
    """--positive must be one of the classes, and the message names them."""
    with pytest.raises(UsageError, match="none of the classes '0', '1'"):
        load(write("m.csv", GOOD), options=Options(positive="yes"))


def test_several_classes_have_no_positive_one(write: Callable[[str, str], Path]) -> None:
    """--positive belongs to a binary task."""
    with pytest.raises(UsageError, match="only a binary task"):
        load(write("m.csv", "id,y_true,y_pred\na,x,x\nb,y,z\n"), options=Options(positive="x"))


def test_numbers_whose_order_is_named_are_no_guess() -> None:
    """--class-order 1,2,3,4,5 says that stars are classes: nothing asks for --task."""
    truth = [1 + i % 5 for i in range(60)]
    models = {"m": {"y_true": truth, "y_pred": truth[::-1]}}
    guessed = er.evaluate(models, resamples=20, metrics=["accuracy"])
    named = er.evaluate(models, resamples=20, metrics=["accuracy"], class_order="1,2,3,4,5")
    assert [w.code for w in guessed.warnings].count("guessed_task") == 1
    assert "guessed_task" not in {w.code for w in named.warnings}
