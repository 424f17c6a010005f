"""Task, classes, positive class and design are found by the contract's rules, and said."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

from evalreport.errors import InputError
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
        ([0, 1], [0.2, 0.9], "regression"),
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


DESIGNS: dict[str, tuple[str, str]] = {
    "one fold": ("test-set", grid("fold", [(i, 1) for i in range(4)])),
    "one of each": ("test-set", grid("repeat,seed,dataset", [(i, 1, 1, "d") for i in range(4)])),
    "folds": ("cross-validation", grid("fold", [(i, i % 2) for i in range(4)])),
    "leave one out": ("cross-validation", grid("fold", [(i, i) for i in range(4)])),
    "repeats of folds": (
        "cross-validation",
        grid("repeat,fold", [(i, r, i % 2) for i in range(4) for r in range(3)]),
    ),
    "5x2": ("5x2cv", grid("repeat,fold", [(i, r, (i + r) % 2) for i in range(4) for r in range(5)])),
    "5x3": ("cross-validation", grid("repeat,fold", [(i, r, i % 3) for i in range(6) for r in range(5)])),
    "folds of some examples": (
        "repeated-holdout",
        grid("repeat,fold", [(i, r, i % 2) for r in range(5) for i in range(r, r + 5)]),
    ),
    "folds that overlap": (
        "repeated-holdout",
        grid("fold", [(i, f) for f in range(4) for i in range(f, f + 5)]),
    ),
    "halves that are none": (
        "repeated-holdout",
        grid("repeat,fold", [(i, r, int(i % 10 == r)) for i in range(30) for r in range(5)]),
    ),
    "uneven halves": (
        "5x2cv",
        grid("repeat,fold", [(i, r, int((i + r) % 11 < 5)) for i in range(11) for r in range(5)]),
    ),
    "one division in two folds": (
        "cross-validation",
        grid("fold", [(i, int(i % 10 == 0)) for i in range(30)]),
    ),
    "folds with seeds": (
        "cross-validation",
        grid("fold,seed", [(i, i % 5, s) for i in range(10) for s in range(3)]),
    ),
    "folds of each seed": (
        "cross-validation",
        grid("fold,seed", [(i, (i * (2 * s + 1) // 2) % 5, s) for i in range(10) for s in range(3)]),
    ),
    "5x2 with seeds": (
        "5x2cv",
        grid(
            "repeat,fold,seed", [(i, r, (i + r) % 2, s) for i in range(4) for r in range(5) for s in range(2)]
        ),
    ),
    "hold-outs with seeds": (
        "repeated-holdout",
        grid("repeat,seed", [(i, r, s) for r in range(3) for i in range(r, r + 3) for s in range(2)]),
    ),
    "seeds with test sets of their own": (
        "repeated-holdout",
        grid("seed", [(i, s) for s in range(4) for i in range(s, s + 4)]),
    ),
    "repeats": ("repeated-holdout", grid("repeat", [(i, r) for r in range(3) for i in range(r, r + 3)])),
    "replicates": ("bootstrap", grid("replicate", [(i, b) for b in range(3) for i in range(4)])),
    "replicates and resubstitution": (
        "bootstrap",
        grid("replicate,part", [(i, b, "test" if b else "train") for b in ("", 1, 2) for i in range(4)]),
    ),
    "seeds": ("seeds", grid("seed", [(i, s) for s in range(2) for i in range(4)])),
    "data sets": ("datasets", grid("dataset", [(i, d) for d in "xy" for i in range(4)])),
    "folds of data sets": ("datasets", grid("dataset,fold", [(i, d, i % 2) for d in "xy" for i in range(4)])),
    "learning curve": ("test-set", grid("train_size", [(i, s) for s in (10, 20, 40) for i in range(4)])),
    "train and test rows": ("test-set", grid("part", [(i, p) for p in ("train", "test") for i in range(4)])),
}


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


def test_each_model_s_own_folds_are_divisions_of_their_own(tmp_path: Path) -> None:
    """With test sets of their own the same id may stand in another fold of another model."""
    for name, shift in (("a", 0), ("b", 1)):
        rows = [(i, (i + shift) % 2) for i in range(8 + shift)]
        (tmp_path / f"{name}.csv").write_text(grid("fold", rows))
    assert load(tmp_path, options=Options(join="independent")).design == "cross-validation"


def test_seeds_with_a_division_of_their_own_are_repeats(loaded: Loaded) -> None:
    """The seed becomes the repeat, beside the repeat where there are several; why says so."""
    content = grid("fold,seed", [(i, (i * (2 * s + 1) // 2) % 5, s) for i in range(10) for s in range(3)])
    predictions = loaded(content)
    assert predictions.keys["repeat"].categories == ("0", "1", "2")
    assert "seed" not in predictions.keys
    assert "counts as a repeat" in next(r.why for r in predictions.found if r.what == "design")
    both = [(i, r, (i * (2 * s + r) // 2) % 5, s) for i in range(10) for s in (1, 2) for r in (1, 2)]
    names = loaded(grid("repeat,fold,seed", both)).keys["repeat"].categories
    assert names == ("1, seed 1", "1, seed 2", "2, seed 1", "2, seed 2")


@pytest.mark.parametrize("name", DESIGNS)
def test_the_design_is_found(loaded: Loaded, name: str) -> None:
    """The key columns decide, and the reason is said."""
    design, content = DESIGNS[name]
    predictions = loaded(content)
    assert predictions.design == design
    (said,) = [record for record in predictions.found if record.what == "design"]
    assert (said.value, bool(said.why)) == (design, True)


def test_a_replicate_predicts_every_example_again(loaded: Loaded) -> None:
    """Rows are (id, fit) in order of the ids, then of the replicates by number; ids stand once."""
    predictions = loaded(grid("replicate,inbag", [(i, b, b % 2) for b in (10, 2) for i in ("b", "a")]))
    assert predictions.ids.to_pylist() == ["a", "b"]
    assert predictions.example.tolist() == [0, 0, 1, 1]
    assert predictions.keys["replicate"].categories == ("2", "10")
    assert predictions.keys["replicate"].values.tolist() == [0, 1, 0, 1]
    assert predictions.keys["inbag"].values.tolist() == [0, 0, 0, 0]


def test_an_empty_part_is_a_test_row(loaded: Loaded) -> None:
    """`test` is the default of the column part."""
    predictions = loaded(grid("part", [(1, "train"), (1, ""), (2, "test")]))
    assert predictions.keys["part"].categories == ("test", "train")
    assert predictions.keys["part"].values.tolist() == [0, 1, 0]


def test_scores_on_folds_have_no_ids(loaded: Loaded) -> None:
    """Fold scores without a data set are cross-validation, one row a fold."""
    rows = "".join(f"{m},{f},{f / 10}\n" for m in "kl" for f in (2, 1, 3))
    predictions = loaded("model,fold,value\n" + rows)
    assert (predictions.task, predictions.design, predictions.n) == ("scores", "cross-validation", 3)
    assert predictions.models[0].outcome is not None
    assert predictions.models[0].outcome.tolist() == [0.1, 0.2, 0.3]


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
