"""Any layout of files: parts in a folder a model, hive folders, patterns; what is ambiguous is refused."""

from __future__ import annotations

import re
from collections.abc import Callable
from contextvars import Context
from pathlib import Path

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from evalreport.cli import main
from evalreport.errors import InputError
from evalreport.loading.load import load
from evalreport.options import Options
from evalreport.predictions.table import Predictions

Write = Callable[[str, str], Path]


def rows(*ids: int, pred: str = "yes") -> str:
    """Return a file of predictions."""
    lines = "".join(f"e{i},{'yes' if i % 2 else 'no'},{pred}\n" for i in ids)
    return f"id,y_true,y_pred\n{lines}"


HALVES = (rows(1, 2, 3), rows(4, 5, 6))


def names(predictions: Predictions) -> list[str]:
    """Return the models' names."""
    return [model.name for model in predictions.models]


def said(predictions: Predictions) -> str:
    """Return the line that says what was read."""
    return next(str(record.why) for record in predictions.found if record.what == "models")


@pytest.fixture
def parts(write: Write, tmp_path: Path) -> Path:
    """Write two models in two parts each."""
    for model in ("forest", "Größe 2"):
        write(f"preds/{model}/part-0.csv", HALVES[0])
        write(f"preds/{model}/b.csv.gz", HALVES[1])
        write(f"preds/{model}/_SUCCESS", "")
        write(f"preds/{model}/.part-0.csv.crc", "x")
    return tmp_path / "preds"


def test_a_sub_folder_is_one_model_in_parts(parts: Path) -> None:
    """Its name, with spaces and letters of any language; markers and hidden files are passed over without a word."""
    found = load(parts)
    assert names(found) == ["Größe 2", "forest"]
    assert found.n == 12 // 2
    assert said(found) == "2 models in 4 files, named by their folders"
    assert [w.code for w in found.warnings if w.code == "ignored_file"] == []
    assert {(r.path, r.rows, r.model) for r in found.inputs} == {
        (f"{model}/{file}", 3, model)
        for model in ("forest", "Größe 2")
        for file in ("part-0.csv", "b.csv.gz")
    }


def test_the_truth_may_lie_beside_sub_folders(write: Write, tmp_path: Path) -> None:
    """Called truth.*, or named with --truth: it is no model."""
    for part, ids in enumerate([(1, 2, 3), (4, 5, 6)]):
        text = "id,y_pred\n" + "".join(f"e{i},yes\n" for i in ids)
        write(f"preds/forest/part-{part}.csv", text.replace("\n", "\r\n"))
    truth = "id,y_true\n" + "".join(f"e{i},{'yes' if i % 2 else 'no'}\n" for i in range(1, 7))
    write("preds/truth.csv", truth.replace("\n", "\r\n"))
    assert names(load(tmp_path / "preds")) == ["forest"]
    named = (tmp_path / "preds/truth.csv").rename(tmp_path / "preds/labels.csv")
    assert names(load(tmp_path / "preds", options=Options(truth=str(named)))) == ["forest"]


def test_hive_folders_give_columns(write: Write, tmp_path: Path) -> None:
    """``model=`` is the model, everything else a column, percent signs decoded, the empty mark an empty cell."""
    for model in ("forest", "big%20tree"):
        write(f"preds/model={model}/day=3/part-0.csv", HALVES[0])
        write(f"preds/model={model}/day=__HIVE_DEFAULT_PARTITION__/part-0.csv", HALVES[1])
    found = load(tmp_path / "preds", options=Options(slices=("day",)))
    assert names(found) == ["big tree", "forest"]
    assert said(found) == "2 models in 4 files, named by the folders model="
    day = found.metadata["day"]
    assert day.categories == ("3",)
    assert day.values.tolist() == [0, 0, 0, -1, -1, -1]


def test_folds_may_be_folders(write: Write, tmp_path: Path) -> None:
    """A column of a folder's name counts as if it stood in the file."""
    for fold, text in enumerate(HALVES):
        write(f"forest/fold={fold}/part-0.csv", text)
    found = load(tmp_path / "forest")
    assert (names(found), found.design) == (["forest"], "cross-validation")
    assert said(found) == "1 model in 2 files, named by the folder that holds the parts"


def test_a_column_that_folder_and_file_give_is_refused(write: Write, tmp_path: Path) -> None:
    """Which of the two is right is not ours to say."""
    write("preds/model=forest/part-0.csv", "id,y_true,y_pred,model\na,1,1,tree\nb,0,1,tree\n")
    write("preds/day=1/model=forest/part-0.csv", "id,y_true,y_pred,day\na,1,1,tree\nb,0,1,tree\n")
    with pytest.raises(InputError, match="do not name the same columns"):
        load(tmp_path / "preds")
    with pytest.raises(InputError, match="its folder gives it, too") as caught:
        load(tmp_path / "preds/day=1/model=forest/part-0.csv")
    assert caught.value.column == "day"


@pytest.mark.parametrize(
    "pattern, models",
    [
        ("*/*.csv*", ["forest", "knn"]),
        ("**/*.csv*", ["forest", "knn"]),
        ("*", ["forest", "knn"]),
        ("*/", ["forest", "knn"]),
        ("f*/part-?.csv", ["forest"]),
        ("*/part-[01].csv", ["forest", "knn"]),
    ],
)
def test_patterns(write: Write, tmp_path: Path, pattern: str, models: list[str]) -> None:
    """They match files, or folders of them; the model is the folder that a wildcard stands for."""
    for model in ("forest", "knn"):
        write(f"preds/{model}/part-0.csv", HALVES[0])
        write(f"preds/{model}/part-1.csv", HALVES[1])
    found = load(f"{tmp_path}/preds/{pattern}")
    assert (names(found), found.n) == (models, 6)


def test_folders_that_a_pattern_spells_out_name_no_model(write: Write, tmp_path: Path) -> None:
    """preds/*/2024/*.csv: the model is what the first star stands for."""
    for model in ("forest", "knn"):
        write(f"preds/{model}/2024/anything.csv", HALVES[0])
    assert names(load(f"{tmp_path}/preds/*/2024/*.csv")) == ["forest", "knn"]


def test_a_path_with_wildcards_in_its_name_is_itself(write: Write) -> None:
    """What is there is meant, and no pattern."""
    assert names(load(write("a[1]*.csv", HALVES[0]))) == ["a[1]*"]


def test_parts_named_one_by_one(parts: Path) -> None:
    """As a shell writes an unquoted pattern: a part bears its folder's name."""
    found = load([parts / "forest/part-0.csv", parts / "Größe 2/part-0.csv"])
    assert names(found) == ["Größe 2", "forest"]
    assert names(load(parts / "forest/part-0.csv")) == ["forest"]


@pytest.mark.parametrize(
    "files, problem, remedy",
    [
        (("forest.csv", "old/forest.csv"), "beside folders", r"type '.*/\*'"),
        (("exp/forest/a.csv", "exp/knn/a.csv"), "folders within folders", r"/exp'"),
        (("day=1/forest.csv", "day=2/forest.csv"), "name day but no model", "model=NAME/"),
        (("model=a/p.csv", "day=2/p.csv"), "do not name the same columns", "COLUMN=VALUE"),
        (("a/model=x/p.csv", "b/model=x/p.csv"), "folders within folders", "name the folder"),
    ],
)
def test_what_can_be_understood_in_two_ways_is_refused(
    write: Write, tmp_path: Path, files: tuple[str, ...], problem: str, remedy: str
) -> None:
    """One error, with what to type."""
    for file in files:
        write(f"preds/{file}", HALVES[0])
    with pytest.raises(InputError, match=problem) as caught:
        load(tmp_path / "preds")
    assert (tmp_path / "preds").name in str(caught.value.file)
    assert re.search(remedy, caught.value.remedy or "")


def test_the_suggested_patterns_work(write: Write, tmp_path: Path) -> None:
    """What the error says to type is read."""
    write("preds/forest.csv", HALVES[0])
    write("preds/old/knn.csv", HALVES[0])
    assert names(load(f"{tmp_path}/preds/*")) == ["forest"]
    assert names(load(f"{tmp_path}/preds/*/*")) == ["old"]


def test_links_to_folders_are_not_followed(parts: Path, tmp_path: Path) -> None:
    """A loop would not end; that one was passed over is said."""
    (parts / "loop").symlink_to(parts)
    (parts / "forest/up").symlink_to(parts)
    found = load(parts)
    assert names(found) == ["Größe 2", "forest"]
    assert [w.about for w in found.warnings if w.code == "ignored_file"] == [("loop",), ("up",)]
    assert names(load(f"{parts}/**/*.csv*")) == ["Größe 2", "forest"]


def test_models_of_several_runs_in_folders_are_refused(write: Write, tmp_path: Path) -> None:
    """Two models in one sub-folder predict the same examples: they are no parts of one."""
    for file in ("forest", "knn"):
        write(f"preds/week-1/{file}.csv", HALVES[0])
    with pytest.raises(InputError, match="e1"):
        load(tmp_path / "preds")


@pytest.mark.slow
def test_many_parts_share_one_database(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Opening one for each file takes 20 ms: 200 s where there are 10,000 parts."""
    opened = []
    connect = duckdb.connect
    monkeypatch.setattr(duckdb, "connect", lambda *a, **k: opened.append(a) or connect(*a, **k))
    for part in range(50):
        for model in ("forest", "knn"):
            (tmp_path / model).mkdir(exist_ok=True)
            table = pa.table({"id": [f"e{part}"], "y_true": ["a" if part % 2 else "b"], "y_pred": ["a"]})
            pq.write_table(table, tmp_path / model / f"part-{part}.parquet")
    assert Context().run(load, tmp_path).n == 50  # without the database that all tests share
    assert len(opened) == 1


@pytest.mark.slow
def test_a_run_is_verified_from_its_parts(
    parts: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Inputs are found by their paths, each with the model that was recorded; a changed part is said."""
    hive = tmp_path / "hive"
    for model in ("forest", "knn"):
        for day in (1, 2):
            folder = hive / f"model={model}/day={day}"
            folder.mkdir(parents=True)
            (folder / "part-0.csv").write_text(HALVES[day - 1])
    for place, more in ((parts, []), (hive, ["--slice", "day"])):
        out = tmp_path / f"out-{place.name}"
        assert main(["run", str(place), "-f", "json", "-o", str(out), "-q", "--resamples", "50", *more]) == 0
        assert main(["verify", str(out), "--inputs", str(place)]) == 0
    (hive / "model=knn/day=1/part-0.csv").write_text(rows(1, 2, 3, pred="no"))
    assert main(["verify", str(tmp_path / "out-hive"), "--inputs", str(hive)]) == 1
    assert "model=knn/day=1/part-0.csv: changed" in capsys.readouterr().out
