"""A folder is sifted: prediction files are read, everything else is ignored, with a note where it matters."""

from __future__ import annotations

import os
import re
from collections.abc import Callable
from pathlib import Path

import pytest

from evalreport.errors import InputError
from evalreport.loading.load import load
from evalreport.options import Options

Write = Callable[[str, str], Path]
GOOD = "id,y_true,y_pred\n1,1,1\n2,0,1\n"
MODEL_FORMATS = ["m.csv", "m.tsv", "m.csv.gz", "m.tsv.gz", "m.CSV", "m.v1.2.csv"]


@pytest.mark.parametrize("name", MODEL_FORMATS)
def test_the_model_is_named_by_the_stem(write: Write, name: str) -> None:
    """Everything before the format's suffix, dots included, in any case of letters."""
    path = write(name, GOOD.replace(",", "\t") if ".tsv" in name else GOOD)
    assert load(path).models[0].name == ("m.v1.2" if "v1" in name else "m")


def test_what_is_no_prediction_file_is_ignored(write: Write) -> None:
    """Hidden files, notes and the configuration are silent; the rest is a warning that names the file."""
    silent = (".hidden.csv", "README.md", "README", "evalreport.toml", "LICENSE.txt", "notes.md")
    for name in (*silent, "model.pkl", "photo.png", ".git/other.csv", "_SUCCESS", "figures/a.png"):
        write(f"models/{name}", "anything")
    folder = write("models/m.csv", GOOD).parent
    predictions = load(folder)
    assert [m.name for m in predictions.models] == ["m"]
    ignored = {w.about[0]: w.text for w in predictions.warnings if w.code == "ignored_file"}
    assert sorted(ignored) == ["model.pkl", "photo.png"]
    assert "can run code when it is loaded" in ignored["model.pkl"]
    assert ".parquet" in ignored["photo.png"]


@pytest.mark.parametrize("name", ["m.pkl", "m.pickle", "m.joblib", "m.pt", "m.PTH"])
def test_what_can_run_code_is_refused_by_name(write: Write, name: str) -> None:
    """A pickle is never opened, however it is named on the command line."""
    with pytest.raises(InputError, match="can run code") as caught:
        load(write(name, GOOD))
    assert ".parquet" in (caught.value.expected or "")
    assert re.search("CSV or Parquet|where you trust the file", caught.value.remedy or "")


@pytest.mark.parametrize("name", ["m.ods", "m.txt", "m"])
def test_an_unknown_format_is_refused_by_name(write: Write, name: str) -> None:
    """The formats that are read are listed."""
    with pytest.raises(InputError, match="is not read") as caught:
        load(write(name, GOOD))
    assert ".jsonl" in (caught.value.expected or "")


@pytest.mark.parametrize("make", ["nothing", "empty", "only notes", "only hidden subfolders"])
def test_nothing_to_read_is_an_error(write: Write, tmp_path: Path, make: str) -> None:
    """A path that is not there, an empty folder, a folder without prediction files."""
    folder = tmp_path / "models"
    if make != "nothing":
        folder.mkdir()
    if make == "only notes":
        write("models/README.md", "notes")
    if make == "only hidden subfolders":
        write("models/_temporary/m.csv", GOOD)
    with pytest.raises(InputError, match=r"there is no (such file|prediction file)") as caught:
        load(folder)
    assert str(folder) in str(caught.value)
    assert "id, y_true, y_pred" in (caught.value.remedy or "")


@pytest.mark.parametrize("path", ["x" * 5000, "a\0b", ""])
def test_an_impossible_path_is_an_error(path: str) -> None:
    """No path makes a traceback."""
    with pytest.raises(InputError):
        load(path + ".csv" if path else [])


def test_symbolic_links_are_harmless(write: Write) -> None:
    """A link to a file is the file; a loop and a dangling link are passed over."""
    folder = write("models/m.csv", GOOD).parent
    (folder / "loop.csv").symlink_to(folder / "loop.csv")
    (folder / "up").symlink_to(folder)
    (folder / "gone.csv").symlink_to(folder / "nowhere.csv")
    (folder / "twin.csv").symlink_to(folder / "m.csv")
    assert [m.name for m in load(folder).models] == ["m", "twin"]


def test_two_files_of_true_values_are_refused(write: Write) -> None:
    """truth.csv beside truth.parquet leaves a doubt that is not ours to settle."""
    write("models/truth.csv", "id,y_true\n1,1\n2,0\n")
    write("models/truth.tsv", "id\ty_true\n1\t1\n2\t0\n")
    folder = write("models/m.csv", "id,y_pred\n1,1\n2,1\n").parent
    with pytest.raises(InputError, match=r"both truth\.csv and truth\.tsv") as caught:
        load(folder)
    assert "--truth" in (caught.value.remedy or "")


def test_files_from_several_folders_keep_their_paths(write: Write) -> None:
    """Paths are relative to the folder that the files have in common."""
    paths = [write("x/a.csv", GOOD), write("y/z/b.csv", GOOD)]
    assert [record.path for record in load(paths).inputs] == ["x/a.csv", "y/z/b.csv"]


def test_a_file_in_upper_and_lower_case_is_refused_where_they_are_one(
    write: Write, monkeypatch: pytest.MonkeyPatch
) -> None:
    """`A.csv a.csv` on a file system that tells no case: one message. Two names of one file elsewhere: two models."""
    upper = write("A.csv", GOOD)
    lower = upper.with_name("a.csv")
    os.link(upper, lower)
    assert [model.name for model in load([upper, lower]).models] == ["A", "a"]
    monkeypatch.setattr(Path, "iterdir", lambda _folder: iter([upper]))  # as such a file system has it
    with pytest.raises(InputError, match="a.csv: it is the same file as .*A.csv: this file system") as caught:
        load([upper, lower])
    assert "name it once" in str(caught.value)


def test_the_same_file_twice_is_refused(write: Write) -> None:
    """A model is compared with itself only on purpose, under two names."""
    path = write("a.csv", GOOD)
    with pytest.raises(InputError, match="'a' is in"):
        load([path, path])


def test_a_folder_in_place_of_the_truth_is_said(tmp_path: Path, write: Write) -> None:
    """It is there, and it is no file."""
    write("m.csv", "id,y_pred\na,1\n")
    with pytest.raises(InputError, match=r"a folder stands where a file is meant \(named by --truth\)"):
        load(tmp_path / "m.csv", options=Options(truth=str(tmp_path)))


@pytest.mark.parametrize("named", ["report", "report/results.json"])
def test_the_results_of_a_run_are_no_predictions(named: str, tmp_path: Path) -> None:
    """Somebody passes the report's folder in place of the predictions': the message says what each is for."""
    report = tmp_path / "report"
    report.mkdir()
    (report / "results.json").write_text('{"schema_version": 1}')
    (report / "report.html").write_text("<p></p>")
    with pytest.raises(InputError, match=r"results\.json is what a run wrote.*compare-runs OLD NEW"):
        load(tmp_path / named)
