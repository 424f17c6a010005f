"""Each kind of bad file gives one message: where, what came, what was expected, what to do."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from evalreport.errors import InputError

GOOD = "id,y_true,y_pred\na,1,1\nb,0,1\nc,1,0\n"

# name of the fault: file, its content, line, column, words of the problem, words of the remedy
ONE_FILE: dict[str, tuple[str, str | bytes, int | None, str | None, str, str]] = {
    "no bytes": ("m.csv", "", None, None, "empty", "write the file again"),
    "header only": ("m.csv", "id,y_true,y_pred\n", None, None, "empty", "write the file again"),
    "empty first line": (
        "m.csv",
        "\n" + GOOD,
        1,
        None,
        "first line is empty",
        "begin the file with its header",
    ),
    "no usable column": ("m.csv", "id,y_true\na,1\n", 1, None, "no usable column", "y_pred"),
    "named by the classes": (
        "m.csv",
        "id,y_true,0,1\na,1,.5,.5\n",
        1,
        None,
        "no usable column",
        "add_prefix('p_')",
    ),
    "bars": ("m.csv", "id|y_true|y_pred\na|1|1\n", 1, None, "no usable column", "commas"),
    "header twice": ("m.csv", "id,y_pred,y_pred\na,1,1\n", 1, "y_pred", "twice", "rename or remove"),
    "row short": ("m.csv", GOOD + "d,1\n", 5, None, "2 cells", "as many cells as the header"),
    "row long": ("m.csv", GOOD + "d,1,0,9\n", 5, None, "4 cells", "as many cells as the header"),
    "row long after a quoted line end": (
        "m.csv",
        'id,y_true,y_pred\n"a\n\nx",1,1\nd,1,0,9\n',
        5,
        None,
        "4 cells",
        "as many cells",
    ),
    "quote open": ("m.csv", GOOD + '"d,1,0\n', 5, None, "cannot be split", "CSV writer"),
    "latin 1": ("m.csv", GOOD.encode() + b"d\xe9,1,1\n", 5, None, "0xe9 is not UTF-8", "UTF-8"),
    "utf 16": ("m.csv", GOOD.encode("utf-16"), 1, None, "UTF-16", "UTF-8"),
    "binary in csv": ("m.csv", b"PAR1\x00\x01\x02\x03\n\x00", 1, None, "NUL", "suffix of its format"),
    "workbook in csv": (
        "m.csv",
        b"PK\x03\x04\x14\x00\x06\n\x00",
        1,
        None,
        "zip archive or a workbook",
        "suffix .xlsx",
    ),
    "nul in a cell": ("m.csv", GOOD.encode() + b"d\0,1,1\n", 5, None, "NUL", "suffix of its format"),
    "text in parquet": ("m.parquet", GOOD, None, None, "cannot be read as parquet", "suffix of what it is"),
    "text in arrow": ("m.arrow", GOOD, None, None, "cannot be read as arrow", "suffix of what it is"),
    "text in feather": ("m.feather", GOOD, None, None, "cannot be read as feather", "suffix of what it is"),
    "text in npz": ("m.npz", GOOD, None, None, "cannot be read as npz", "suffix of what it is"),
    "text in jsonl": ("m.jsonl", '{"id":"a","y_pred":1}\nid,1\n', 2, None, "no JSON", "one object a line"),
    "array in jsonl": (
        "m.jsonl",
        '{"id":"a","y_pred":1}\n\n[1]\n',
        3,
        None,
        "no JSON object",
        "one object a line",
    ),
    "latin 1 in jsonl": ("m.jsonl", b'{"id":"\xe9","y_pred":1}\n', 1, None, "not UTF-8", "one object a line"),
    "no id, two models": (
        "m.csv",
        "model,y_true,y_pred\na,1,1\nb,1,1\n",
        1,
        "id",
        "no column 'id'",
        "add a column id",
    ),
    "index of pandas, two models": (
        "m.csv",
        ",model,y_true,y_pred\n0,a,1,1\n0,a,0,1\n1,b,1,1\n1,b,0,1\n",
        1,
        "id",
        "do not tell a model's rows apart",
        "rename_axis('id')",
    ),
    "id empty": ("m.csv", GOOD + ",1,1\n", 5, "id", "id is empty", "or take the row away"),
    "model empty": ("m.csv", "id,model,y_true,y_pred\na,m,1,1\nb,,1,1\n", 3, "model", "no name", "fill in"),
    "model blank": ("m.csv", "id,model,y_true,y_pred\na,m,1,1\nb, ,1,1\n", 3, "model", "no name", "fill in"),
    "id twice": (
        "m.csv",
        GOOD + "a,1,1\n",
        5,
        "id",
        "'a' appears twice for the model 'm'",
        "remove one of the rows",
    ),
    "truth disagrees": (
        "m.csv",
        "id,model,y_true,y_pred\na,k,1,1\nb,k,0,0\na,l,0,1\nb,l,0,1\n",
        4,
        "y_true",
        "'a' disagree: here '0', in",
        "another data set or version",
    ),
    "no truth at all": (
        "m.csv",
        "id,y_pred\na,1\nb,0\n",
        None,
        "y_true",
        "no row has a true value",
        "--truth",
    ),
    "truth of one missing": ("m.csv", GOOD + "d,,1\n", 5, "y_true", "'d' has no true value", "add it"),
    "score nan": (
        "m.csv",
        "id,y_true,score\na,1,0.5\nb,0,nan\n",
        3,
        "score",
        "'nan' stands for a missing value",
        "--missing drop",
    ),
    "score inf": (
        "m.csv",
        "id,y_true,score\na,1,0.5\nb,0,-inf\n",
        3,
        "score",
        "'-inf' is not a finite",
        "correct",
    ),
    "score overflows": (
        "m.csv",
        "id,y_true,score\na,1,1e999\nb,0,1\n",
        2,
        "score",
        "'1e999' is not a finite",
        "correct",
    ),
    "score text": (
        "m.csv",
        "id,y_true,score\na,1,0.5\nb,0,high\n",
        3,
        "score",
        "'high' is not a finite",
        "correct",
    ),
    "score hexadecimal": (
        "m.csv",
        "id,y_true,score\na,1,0x1p3\nb,0,1\n",
        2,
        "score",
        "is not a finite",
        "correct",
    ),
    "score behind a control character": (
        "m.csv",
        "id,y_true,score\na,1,\x1c1\nb,0,2\n",
        2,
        "score",
        "'\\x1c1' is not a finite",
        "correct",
    ),
    "score in other digits": (
        "m.csv",
        "id,y_true,score\na,1,\u0661\nb,0,2\n",
        2,
        "score",
        "not a finite",
        "correct",
    ),
    "thousands": (
        "m.csv",
        'id,y_true,score\na,1,"1,000"\nb,0,2\n',
        2,
        "score",
        "'1,000' is not a finite",
        "correct",
    ),
    "underscore": (
        "m.csv",
        "id,y_true,score\na,1,1__000\nb,0,2\n",
        2,
        "score",
        "'1__000' is not a finite",
        "correct",
    ),
    "decimal comma": (
        "m.csv",
        'id,y_true,p_1\na,1,"0,5"\nb,0,0.1\n',
        2,
        "p_1",
        "'0,5' is not a finite",
        "correct",
    ),
    "p too large": (
        "m.csv",
        "id,y_true,p_1\na,1,0.5\nb,0,1.2\n",
        3,
        "p_1",
        "'1.2' is outside",
        "column score",
    ),
    "p negative": (
        "m.csv",
        "id,y_true,p_1\na,1,-0.5\nb,0,1\n",
        2,
        "p_1",
        "'-0.5' is outside",
        "column score",
    ),
    "p miss one": (
        "m.csv",
        "id,y_true,p_0,p_1\na,1,0.5,0.5\nb,0,0.5,0.502\n",
        3,
        None,
        "add up to 1.002",
        "not renormalised",
    ),
    "y_true nan": (
        "m.csv",
        "id,y_true,y_pred\na,1,1\nb,nan,1\n",
        3,
        "y_true",
        "'nan' stands for a missing value",
        "--labels nan",
    ),
    "y_true nan among texts": (
        "m.csv",
        "id,y_true,y_pred\na,cat,cat\nb,nan,dog\n",
        3,
        "y_true",
        "'nan' stands for a missing value",
        "--labels nan",
    ),
    "y_pred NaN among texts": (
        "m.csv",
        "id,y_true,y_pred\na,cat,cat\nb,dog,NaN\n",
        3,
        "y_pred",
        "'NaN' stands for a missing value",
        "--labels NaN",
    ),
    "nan among texts of jsonl": (
        "m.jsonl",
        '{"id":"a","y_true":"cat","y_pred":"cat"}\n{"id":"b","y_true":"dog","y_pred":"nan"}\n',
        2,
        "y_pred",
        "'nan' stands for a missing value",
        "--labels nan",
    ),
    "y_true text among decimals": (
        "m.csv",
        "id,y_true,y_pred\na,1.5,1\nb,2.5,1\nc,n.a.,1\n",
        4,
        "y_true",
        "'n.a.' is not a finite",
        "--task multiclass",
    ),
    "y_pred text for numbers": (
        "m.csv",
        "id,y_true,y_pred\na,1.5,1\nb,2.5,low\n",
        3,
        "y_pred",
        "'low' is not a finite",
        "correct",
    ),
    "y_pred missing": (
        "m.csv",
        "id,y_true,y_pred\na,1,1\nb,0,\n",
        3,
        "y_pred",
        "the cell is empty, though the model 'm'",
        "fill in the missing",
    ),
    "p missing": (
        "m.csv",
        "id,y_true,p_1\na,1,.5\nb,0,\n",
        3,
        "p_1",
        "the cell is empty",
        "fill in the missing",
    ),
    "nothing predicted": (
        "m.csv",
        "id,model,y_true,y_pred\na,k,1,1\na,l,1,\n",
        3,
        "y_pred",
        "'l' gives no prediction at all",
        "remove its rows",
    ),
    "label of p_ misspelled": (
        "m.csv",
        "id,y_true,p_yes\na,1,.5\nb,0,.5\n",
        2,
        "p_yes",
        "gives only probabilities of 'yes', though the classes are '0', '1', 'yes'",
        "spelled otherwise",
    ),
    "score of three classes": (
        "m.csv",
        "id,y_true,score\na,x,.5\nb,y,.5\nc,z,1\n",
        2,
        "score",
        "ranks one class only",
        "p_ columns",
    ),
    "key twice in jsonl": (
        "m.jsonl",
        '{"id":"a","y_true":1,"y_pred":1}\n{"id":"b","y_true":1,"y_pred":1,"y_pred":0}\n',
        2,
        None,
        "names a key twice",
        "one object a line",
    ),
    "outcome text": ("m.csv", "id,outcome\na,1\nb,maybe\n", 3, "outcome", "'maybe' is no outcome", "correct"),
    "value nan": (
        "m.csv",
        "dataset,model,value\nd,k,1\ne,k,1\nd,l,nan\ne,l,2\n",
        4,
        "value",
        "'nan' stands for a missing value",
        "--missing drop",
    ),
    "two values": (
        "m.csv",
        "dataset,model,auc,f1\nd,k,1,1\n",
        1,
        None,
        "several columns could be",
        "--value auc",
    ),
    "foreign part": (
        "m.csv",
        "id,part,y_true,y_pred\na,test,1,1\nb,dev,1,1\n",
        3,
        "part",
        "'dev' is no part",
        "rename the column",
    ),
    "inbag text": (
        "m.csv",
        "id,replicate,inbag,y_true,y_pred\na,1,x,1,1\nb,1,0,0,1\n",
        2,
        "inbag",
        "'x' is not a finite",
        "correct",
    ),
    "fold twice": (
        "m.csv",
        "id,fold,y_true,y_pred\na,1,1,1\na,1,1,1\nb,2,0,1\n",
        3,
        "id",
        "'a' appears twice",
        "repeat, fold",
    ),
}


@pytest.mark.parametrize("fault", ONE_FILE)
def test_a_bad_file_is_refused_with_its_place_and_a_remedy(
    fault: str, refused: Callable[..., InputError]
) -> None:
    """The message names the file, the true line, the column, what came and what to do."""
    name, content, line, column, problem, remedy = ONE_FILE[fault]
    error = refused(name, content)
    assert (Path(error.file or "").name, error.line, error.column) == (name, line, column)
    assert problem in error.problem
    assert error.expected
    assert remedy in (error.remedy or "")
    assert error.exit_code == 2


def test_the_line_counts_quoted_line_ends_and_empty_lines(refused: Callable[..., InputError]) -> None:
    """A bad cell after a cell of two lines and after an empty line is on the line where an editor shows it."""
    # Lines: 1 header, 2-3 the first row, 4 empty, 5 the second row, 6 the wrong one.
    error = refused("m.csv", 'id,y_true,score,note\n1,1,.5,"x\ny"\n\n2,0,.5,z\n3,0,oops,z\n')
    assert (error.line, error.column) == (6, "score")


def test_a_wide_file_says_how_many_rows_are_wrong(refused: Callable[..., InputError]) -> None:
    """Of several wrong rows the first is shown and all are counted."""
    error = refused("m.csv", "id,y_true,p_1\na,1,.5\nb,0,7\nc,0,8\nd,0,9\n")
    assert error.line == 3
    assert "first of 3 such rows" in error.problem


def test_a_long_value_is_cut(refused: Callable[..., InputError]) -> None:
    """A value of a million letters does not fill the message."""
    error = refused("m.csv", f"id,y_true,score\na,1,{'x' * 1_000_000}\nb,0,1\n")
    assert len(str(error)) < 500


def test_the_column_is_named_as_the_file_spells_it(refused: Callable[..., InputError]) -> None:
    """An alias stands in the message, not the standard name."""
    assert refused("m.csv", "doc_id,truth,y_score\na,1,.5\nb,0,nan\n").column == "y_score"
