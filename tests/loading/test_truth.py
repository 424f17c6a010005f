"""True values: in one file for all models or apart, and where two of them disagree."""

from __future__ import annotations

import re
import shlex
from collections.abc import Callable
from pathlib import Path

import pytest

from evalreport.cli import main
from evalreport.errors import InputError
from evalreport.loading.load import load
from evalreport.options import Options

Write = Callable[[str, str], Path]

HEAD = "id,y_true,y_pred\n"


@pytest.fixture
def two(write: Write) -> Callable[[str, str], Path]:
    """Write two models' files and return their folder."""

    def _two(a: str, b: str) -> Path:
        write("models/a.csv", HEAD + a)
        return write("models/b.csv", HEAD + b).parent

    return _two


def test_truths_that_disagree_name_both_files(two: Callable[[str, str], Path]) -> None:
    """Two files about different versions of the data are found by their truths."""
    with pytest.raises(InputError, match=r"'2' disagree: here '1', in .*a\.csv, line 3 '0'") as caught:
        load(two("1,1,1\n2,0,1\n", "2,1,1\n1,1,1\n"))
    assert Path(caught.value.file or "").name == "b.csv"
    assert caught.value.line == 2


def test_truths_are_compared_as_values(two: Callable[[str, str], Path]) -> None:
    """42.0 and 42 are one number."""
    assert load(two("1,42.0,1.5\n2,0.5,1\n", "1,42,1\n2,0.50,1\n")).task == "regression"


def test_truth_in_one_file_serves_all(write: Write) -> None:
    """Models whose files lack y_true are judged by the others' true values."""
    write("models/a.csv", HEAD + "1,1,1\n2,0,1\n")
    folder = write("models/b.csv", "id,y_pred\n2,0\n1,0\n").parent
    predictions = load(folder)
    assert predictions.y_true is not None
    assert predictions.y_true.tolist() == [1, 0]


TRUTHS = {
    "in the folder": ("models/truth.csv", {}),
    "compressed": ("models/Truth.tsv.gz", {}),
    "named": ("apart/labels.csv", {"truth": "apart/labels.csv"}),
}


@pytest.mark.parametrize("case", TRUTHS)
def test_truth_may_stand_apart(
    case: str, write: Write, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """truth.* of the folder, or the file that --truth names, gives true values and metadata by id."""
    monkeypatch.chdir(tmp_path)
    name, options = TRUTHS[case]
    content = "id,label,town\n2,yes,x\n1,no,y\n3,no,x\n"
    write(name, content.replace(",", "\t") if ".tsv" in name else content)
    folder = write("models/a.csv", "id,y_pred\n1,yes\n2,yes\n").parent
    predictions = load(folder, options=Options(**options))
    assert predictions.y_true is not None
    assert [predictions.classes[code] for code in predictions.y_true] == ["no", "yes"]
    assert predictions.metadata["town"].categories == ("x", "y")
    assert predictions.metadata["town"].values.tolist() == [1, 0]
    assert [m.name for m in predictions.models] == ["a"]
    assert "truth" in [record.what for record in predictions.found]
    (odd,) = [w for w in predictions.warnings if w.code == "truth_without_prediction"]
    assert "1 of 3" in odd.text
    assert [record.rows for record in predictions.inputs if record.model is None] == [3]


@pytest.mark.parametrize("unused", ["a0", "a15", "a9"], ids=["first", "between", "last"])
def test_a_true_value_that_no_model_predicts_is_no_missing_id(write: Write, unused: str) -> None:
    """Wherever its id stands among the others, it is left out; results call the file by its name alone."""
    write("models/forest.csv", "id,y_pred\na1,0\na2,1\na3,0\n")
    path = write("apart/gold.csv", f"id,y_true\na1,0\na2,1\na3,1\n{unused},1\n")
    predictions = load(path.parent.parent / "models", options=Options(truth=str(path)))
    assert predictions.ids.to_pylist() == ["a1", "a2", "a3"]
    assert predictions.y_true is not None
    assert predictions.y_true.tolist() == [0, 1, 1]
    (odd,) = [w for w in predictions.warnings if w.code == "truth_without_prediction"]
    assert odd.about == ("gold.csv",)


@pytest.mark.parametrize(
    "truth, line, problem",
    [
        ("id,y_true\n1,1\n2,0\n1,1\n", 4, "'1' appears twice"),
        ("id,y_true\n1,1\n", 3, "'2' has no true value"),
        ("id,y_true\n1,0\n2,0\n", 2, "'1' disagree"),
        ("id,kind\n1,0\n2,0\n", 1, "no column 'y_true'"),
        ("y_true\n1\n0\n", 1, "no column 'id'"),
        ("id,y_true\n1,1\n2,nan\n", 3, "'nan' stands for a missing value"),
    ],
)
def test_a_bad_file_of_true_values_is_refused(write: Write, truth: str, line: int, problem: str) -> None:
    """Its own faults name its own lines."""
    write("models/truth.csv", truth)
    own = "y_true," if "disagree" in problem else ""
    rows = "1,1,1\n2,0,1\n" if own else "1,1\n2,1\n"
    folder = write("models/a.csv", f"id,{own}y_pred\n" + rows).parent
    with pytest.raises(InputError) as caught:
        load(folder)
    assert problem in caught.value.problem
    assert caught.value.line == line
    assert Path(caught.value.file or "").name == ("a.csv" if "no true value" in problem else "truth.csv")


def test_true_values_among_the_models_are_named_with_what_to_pass(tmp_path, monkeypatch, capsys):
    """A file y_test.csv beside the predictions, as train_test_split names it: the advice ends in a report."""
    monkeypatch.chdir(tmp_path)
    folder = tmp_path / "my models"
    folder.mkdir()
    rows = [(f"r{k}", k % 2, k % 3 % 2) for k in range(40)]
    (folder / "y_test.csv").write_text("id,target\n" + "".join(f"{i},{y}\n" for i, y, _ in rows))
    (folder / "forest.csv").write_text("id,pred\n" + "".join(f"{i},{p}\n" for i, _, p in rows))
    words = ["run", "my models", "-f", "json", "--resamples", "20", "-o", "out"]
    assert main(words) == 2
    advice = re.search(r"if these are the true values, pass (--truth '[^']+')", capsys.readouterr().err)
    assert advice
    assert main([*words, *shlex.split(advice[1])]) == 0
