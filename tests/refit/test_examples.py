"""The examples of a plan: equal ones found, and what is missing named."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from evalreport.refit.examples import same_features
from tests.refit.conftest import TREE, examples_of
from tests.samples.refits import refused


def test_zeros_of_either_sign_and_equal_texts_are_the_same_features(tmp_path: Path):
    """-0.0 is 0.0; a text column counts as it reads; an empty cell is like an empty cell."""
    rows = ["a,0.0,x,0", "b,-0.0,x,1", "c,0.0,y,0", "d,,x,1", "e,,x,0"]
    (tmp_path / "examples.csv").write_text("id,first,second,label\n" + "\n".join(rows) + "\n")
    code = same_features(examples_of(tmp_path)).tolist()
    assert code[0] == code[1]
    assert code[3] == code[4]
    assert len(set(code)) == 3


Write = Callable[..., Path]


@pytest.mark.parametrize(
    "data, message",
    [
        ('target = "lable"', "there is no column 'lable'; expected one of id, first,"),
        ('target = "label"\ngroups = "ward"', "[data]: unknown key 'groups'; did you mean group?"),
        ('target = "label"\ngroup = "town"', "there is no column 'town'"),
        ('target = "label"\ntime = "day"', "in the scheme kfold time would run backwards"),
        ('target = "label"\ntask = "regression"', "'yes' is not a finite number"),
        ('target = "ward"\ntask = "binary"', "the target holds 6 classes"),
        ('target = "label"\npositive = "maybe"', "positive 'maybe' is none of the classes no, yes"),
        ('target = "label"\ntask = "ranking"', "unknown task 'ranking'"),
        ('target = "label"\nid = "ward"', "the id 'w0' appears twice"),
        ('target = "label"\nfeatures = ["id"]', "'id' names the examples, so it is no feature"),
        ('target = "value"\npositive = "yes"', "only a binary task has a positive class"),
        ('target = "ward"\npositive = "w1"', "only a binary task has a positive class"),
        ('target = "label"\nkeep = ["label"]', "target 'label' has another part as well"),
    ],
)
def test_bad_data_are_named(plan: Write, capsys, data, message):
    """No target column, a group that is not there, times that cannot be ordered, a class that nobody has."""
    assert message in refused(plan('name = "kfold"', data=data), capsys)


def test_data_that_are_not_there(folder: Path, plan: Write, capsys):
    """The file is looked for in the plan's folder."""
    path = plan('name = "kfold"', TREE)
    (folder / "examples.csv").unlink()
    assert "examples.csv: there is no such file" in refused(path, capsys)


def test_an_empty_target_is_named_with_its_line(folder: Path, plan: Write, capsys):
    """Line 3 of the file lacks the label."""
    text = (folder / "examples.csv").read_text().splitlines()
    text[2] = text[2].replace(",no,", ",,")
    (folder / "examples.csv").write_text("\n".join(text) + "\n")
    said = refused(plan('name = "kfold"', TREE), capsys)
    assert "examples.csv, line 3, column 'label': the target is empty (1 of 60 rows)" in said
