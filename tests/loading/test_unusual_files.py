"""Odd files that are refused in one message: pipes, names that are no UTF-8, arrays without rows, half a curve."""

from __future__ import annotations

import gzip
import json
import os
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.feather
import pytest

import evalreport
from evalreport.analysis import evaluate
from evalreport.errors import InputError, UsageError
from evalreport.loading.load import load
from evalreport.options import Options
from evalreport.predictions.table import Predictions
from tests.samples.prediction_files import Write
from tests.samples.systems import needs_pipes

GOOD = "id,y_true,y_pred\na,1,1\nb,0,1\n"

Refused = Callable[..., InputError]


def test_a_damaged_gzip_of_json_lines_is_refused(tmp_path: Path) -> None:
    """Flipped bits inside the compressed data: the archive is broken, which zlib says in an error of its own."""
    rows = "\n".join(json.dumps({"id": str(i), "y_true": i % 2, "y_pred": i % 3 % 2}) for i in range(2000))
    whole = bytearray(gzip.compress(rows.encode()))
    # The first byte after the header of 10 bytes says how the first block is coded; 3 is no such code.
    whole[10] |= 6
    path = tmp_path / "m.jsonl.gz"
    path.write_bytes(whole)
    with pytest.raises(InputError, match="cannot be read") as caught:
        load(path)
    assert caught.value.expected == "a whole gzip archive"


@pytest.mark.parametrize("option", ["value", "outcome"])
@pytest.mark.parametrize("column", ["y_true", "y_pred", "id"])
def test_an_option_cannot_give_a_column_another_meaning(refused: Refused, option: str, column: str) -> None:
    """`--value y_true`: the column would be a label and a score at once."""
    error = refused("m.csv", GOOD, **{option: column})
    assert error.column == column
    assert f"--{option}" in str(error)


def test_an_option_wins_over_a_name_that_is_only_also_accepted(loaded: Callable[..., Predictions]) -> None:
    """`label` means y_true only where nothing else is said of it."""
    predictions = loaded("id,label\na,1\nb,0\n", outcome="label")
    assert predictions.task == "outcome"
    assert predictions.y_true is None


@pytest.mark.parametrize("dictionary", [["x", None, "y"], ["x", "x", "y"], ["x", "", "y"]])
def test_a_dictionary_is_read_as_the_text_that_it_stands_for(
    tmp_path: Path, dictionary: list[str | None], content: Callable[[Predictions], dict[str, object]]
) -> None:
    """Arrow allows an empty entry, and one text twice, among a dictionary's entries."""
    indices = [0, 2, 0, 2] if dictionary[1] != "x" else [0, 2, 1, 2]
    coded = pa.DictionaryArray.from_arrays(pa.array(indices), pa.array(dictionary))
    found = []
    for name, column in (("coded", coded), ("plain", coded.dictionary_decode())):
        table = pa.table({"id": ["a", "b", "c", "d"], "y_true": column, "y_pred": ["x", "y", "y", "x"]})
        path = tmp_path / name / "m.arrow"
        path.parent.mkdir()
        with pa.ipc.new_file(str(path), table.schema) as writer:
            writer.write_table(table)
        found.append(content(load(path)))
    assert found[0] == found[1]


def test_an_empty_entry_of_a_dictionary_is_an_empty_cell(tmp_path: Path) -> None:
    """Where a row points to it, the true value is missing, and the row is named."""
    coded = pa.DictionaryArray.from_arrays(pa.array([0, 1, 2]), pa.array(["x", None, "y"]))
    table = pa.table({"id": ["a", "b", "c"], "y_true": coded, "y_pred": ["x", "y", "x"]})
    path = tmp_path / "m.arrow"
    with pa.ipc.new_file(str(path), table.schema) as writer:
        writer.write_table(table)
    with pytest.raises(InputError, match="row 2: the id 'b' has no true value"):
        load(path)


def test_an_array_without_dimensions_is_refused(tmp_path: Path) -> None:
    """np.array(1) has no rows."""
    path = tmp_path / "m.npz"
    np.savez(path, y_true=np.array([0, 1]), y_pred=np.array(1))
    with pytest.raises(InputError, match="0 dimensions") as caught:
        load(path)
    assert caught.value.column == "y_pred"


def test_a_name_that_is_no_utf8_is_refused(tmp_path: Path) -> None:
    """A file's name is a model's name, and stands in reports."""
    (tmp_path / "good.csv").write_text(GOOD)
    Path(os.fsdecode(os.fsencode(tmp_path) + b"/mod\xff.csv")).write_text(GOOD)
    with pytest.raises(InputError, match="name is not UTF-8"):
        load(tmp_path)


@needs_pipes
@pytest.mark.parametrize("how", ["in the folder", "by --truth", "by its name"])
def test_a_pipe_is_refused_and_not_waited_for(tmp_path: Path, how: str) -> None:
    """Opening it would wait for somebody to write."""
    (tmp_path / "m.csv").write_text("id,y_pred\na,1\nb,0\n")
    pipe = tmp_path / "truth.csv"
    os.mkfifo(pipe)
    source = [tmp_path / "m.csv", pipe] if how == "by its name" else tmp_path / "m.csv"
    with pytest.raises(InputError, match="not a regular file") as caught:
        load(
            tmp_path if how == "in the folder" else source,
            options=Options(truth=str(pipe) if how == "by --truth" else None),
        )
    assert caught.value.file == str(pipe)


def test_ids_that_look_alike_are_said(write: Write) -> None:
    """Caf\u00e9 in one character more or less: two examples, and a warning that says so."""
    composed, apart = "caf\u00e9", "cafe\u0301"
    path = write("m.csv", f"id,y_true,y_pred\n{composed},1,1\n{apart},0,1\nplain,1,0\n")
    (said,) = [w for w in load(path).warnings if w.code == "ids_look_alike"]
    assert "1 id differs" in said.text
    assert r"'cafe\u0301' and 'caf\xe9'" in said.text


def test_ids_that_look_alike_explain_ids_that_are_missing(write: Write) -> None:
    """Two models write the same ids in two forms: none is shared, and the reason cannot be seen."""
    write("models/a.csv", "id,y_true,y_pred\ncaf\u00e9,1,1\nx,0,1\n")
    write("models/b.csv", "id,y_true,y_pred\ncafe\u0301,1,1\nx,0,0\n")
    with pytest.raises(InputError, match="by Unicode normalization alone"):
        load(write("models/notes.md", "").parent)


def test_ids_of_other_letters_are_not_taken_for_alike(write: Write) -> None:
    """The micro sign and the Greek letter are compatible, and yet two characters in NFC."""
    path = write("m.csv", "id,y_true,y_pred\n\u00b5,1,1\n\u03bc,0,1\n\u00e9,1,0\n")
    assert not [w for w in load(path).warnings if w.code == "ids_look_alike"]


def test_a_key_column_without_any_value_divides_nothing(tmp_path: Path) -> None:
    """A column fold of nulls beside replicates: the run goes on as if it were not there."""
    ids = [str(i) for i in range(12)]
    rows = {
        "id": ids * 2,
        "y_true": ["a", "b"] * 12,
        "y_pred": ["a", "b", "b"] * 8,
        "replicate": [0] * 12 + [1] * 12,
    }
    found = []
    for name, more in (("with", {"fold": pa.nulls(24)}), ("without", {})):
        pa.feather.write_feather(pa.table({**rows, **more}), tmp_path / f"{name}.feather")
        results = evalreport.evaluate(tmp_path / f"{name}.feather", resamples=20, metrics=("accuracy",))
        found.append([record.value for record in results.metrics])
    assert found[0] == found[1]


def test_a_column_that_tells_fits_apart_is_no_weight(write: Write) -> None:
    """Found by the fuzzer: `--weight dataset` ended as a defect."""
    path = write("m.csv", "dataset,value\n1,0.9\n2,0.8\n")
    with pytest.raises(UsageError, match="--weight dataset: this column says which fit a row belongs to"):
        load(path, options=Options(weight="dataset"))


@pytest.mark.filterwarnings("error")
def test_folds_that_leave_nothing_to_train_on_have_no_ratio(write: Write) -> None:
    """Found by the fuzzer: one fold a seed, so that every example of it is tested; numpy warned of a division by 0."""
    path = write("m.csv", "id,y_true,y_pred,fold,seed\na,0,0,0,0\na,0,0,1,1\n")
    assert evalreport.evaluate(path, resamples=20).n == 1


def test_a_weight_that_is_empty_beside_the_truth_is_refused(tmp_path: Path) -> None:
    """The line is then not known, and the example is named."""
    (tmp_path / "m.csv").write_text("id,y_pred\na,1\nb,1\n")
    (tmp_path / "truth.csv").write_text("id,y_true,w\na,1,1\nb,0,\n")
    with pytest.raises(InputError, match="column 'w': the id 'b' has no weight"):
        evaluate(tmp_path, options=Options(weight="w", resamples=20))
