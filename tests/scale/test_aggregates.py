"""The folder of an aggregate: counts and their manifest, written both or neither, and read by a run."""

from __future__ import annotations

import hashlib
import json
import shlex
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow.parquet as pq
import pytest

import evalreport as er
from evalreport.cli import main
from evalreport.errors import InputError, UsageError
from evalreport.options import Options
from evalreport.scale.aggregates import aggregate_in, opened, under_manifest
from tests.samples.systems import needs_locks

# Of Dask's own code, by the newest pandas.
pytestmark = pytest.mark.filterwarnings("ignore:The inplace keyword")

N = 300


@pytest.fixture(scope="module")
def models(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two binary models with a slice."""
    folder = tmp_path_factory.mktemp("files") / "models"
    folder.mkdir()
    rng = np.random.default_rng(8)
    truth, sex = rng.integers(0, 2, N), rng.choice(["f", "m"], N)
    for model, share in (("forest", 0.9), ("logreg", 0.7)):
        said = np.where(rng.random(N) < share, truth, 1 - truth)
        frame = pd.DataFrame(
            {"id": np.arange(N), "y_true": truth, "y_pred": said, "sex": sex, "place": "here"}
        )
        frame.to_parquet(folder / f"{model}.parquet", index=False)
    return folder


@pytest.fixture(scope="module")
def folder(models: Path) -> Path:
    """Their counts, by sex."""
    er.aggregate(models, output=models.parent / "counts", slices="sex", positive="1")
    return models.parent / "counts"


def test_the_manifest_says_what_was_counted(folder: Path, models: Path) -> None:
    """Options, models, and the digests of the originals and of the counts."""
    manifest = json.loads((folder / "aggregate.json").read_text())
    assert manifest["schema"] == "evalreport/aggregate/1"
    assert manifest["options"]["slices"] == ["sex"]
    assert manifest["options"]["positive"] == "1"
    assert (manifest["models"], manifest["n"]) == (["forest", "logreg"], N)
    for record in manifest["inputs"]:
        assert record["sha256"] == hashlib.sha256((models / record["path"]).read_bytes()).hexdigest()
    counts = folder / "counts.parquet"
    assert manifest["files"] == {"counts.parquet": hashlib.sha256(counts.read_bytes()).hexdigest()}
    assert sum(pq.read_table(counts)["count"].to_pylist()) == N


@pytest.mark.slow
@needs_locks
def test_a_second_aggregate_has_the_same_bytes(folder: Path, models: Path, tmp_path: Path) -> None:
    """Another engine, another time, and the command line instead of Python."""
    words = ["aggregate", str(models), "-o", str(tmp_path / "c"), "--slice", "sex", "--positive", "1"]
    assert main([*words, "--engine", "dask"]) == 0
    for name in ("aggregate.json", "counts.parquet"):
        assert (tmp_path / "c" / name).read_bytes() == (folder / name).read_bytes()


@pytest.mark.slow
@needs_locks
def test_lazy_frames_of_dask_are_counted(models: Path, folder: Path, tmp_path: Path) -> None:
    """One frame with a column `model`, without reading files here; a run counts a mapping of frames in the same way."""
    import dask.dataframe as dd

    paths = sorted(models.glob("*.parquet"))
    long = dd.concat([dd.read_parquet(path).assign(model=path.stem) for path in paths])
    done = er.aggregate(long, output=tmp_path / "c", slices=["sex"])
    assert (done.models, done.n) == (("forest", "logreg"), N)
    assert (tmp_path / "c" / "counts.parquet").read_bytes() == (folder / "counts.parquet").read_bytes()


def test_the_command_says_what_comes_next(
    models: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The line for the report stands on standard output."""
    assert main(["aggregate", str(models), "-o", str(tmp_path / "c"), "--slice", "sex"]) == 0
    counted, following = capsys.readouterr().out.splitlines()
    assert counted.startswith("300 examples of 2 models in ")
    assert following == f"next: evalreport run {tmp_path / 'c'} --slice sex"


def test_nothing_is_written_where_the_predictions_are_at_fault(
    models: Path, folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The counts of before stay, whole."""
    target = tmp_path / "c"
    target.mkdir()
    for path in folder.iterdir():
        (target / path.name).write_bytes(path.read_bytes())
    (tmp_path / "bad.csv").write_text("id,y_true,y_pred\na,1,1\na,1,1\n")
    assert main(["aggregate", str(tmp_path / "bad.csv"), "-o", str(target)]) == 2
    assert "appears twice" in capsys.readouterr().err
    assert {p.name: p.read_bytes() for p in target.iterdir()} == {
        p.name: p.read_bytes() for p in folder.iterdir()
    }


def test_a_folder_for_the_counts_is_asked_for(models: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Neither among the predictions nor in a folder that nobody named."""
    assert main(["aggregate", str(models)]) == 2
    assert "-o DIR is missing" in capsys.readouterr().err
    assert main(["aggregate", str(models), "-o", str(models)]) == 2
    assert "the folder of the predictions themselves" in capsys.readouterr().err


def test_a_run_takes_over_the_options_of_its_aggregate(folder: Path) -> None:
    """What the run names itself stays, where the counts serve it."""
    assert aggregate_in(folder) == folder
    assert under_manifest([folder], Options(slices=("sex",))) == Options(slices=("sex",), positive="1")
    assert under_manifest(folder, Options(seed=4)).seed == 4
    assert under_manifest(folder.parent / "models", Options(seed=4)) == Options(seed=4)


@pytest.mark.parametrize(
    "options, words",
    [
        (Options(slices=("place",)), ["--positive", "1", "--slice", "sex", "--slice", "place"]),
        (Options(slices=("sex*place",)), ["--positive", "1", "--slice", "sex", "--slice", "sex*place"]),
        (Options(positive="0"), ["--positive", "0", "--slice", "sex"]),
        (Options(cluster="place"), ["--positive", "1", "--cluster", "place", "--slice", "sex"]),
    ],
    ids=str,
)
def test_a_run_that_asks_for_more_is_told_how_to_aggregate_anew(
    options: Options, words: list[str], folder: Path
) -> None:
    """The message ends with the line that does it."""
    with pytest.raises(UsageError) as refused:
        under_manifest(folder, options)
    line = str(refused.value).rpartition("aggregate anew: ")[2]
    assert shlex.split(line) == ["evalreport", "aggregate", "MODELS", "-o", str(folder), *words]


def test_counts_that_were_changed_are_refused(folder: Path, tmp_path: Path) -> None:
    """The manifest holds their digest; a manifest of another kind is none."""
    for path in folder.iterdir():
        (tmp_path / path.name).write_bytes(path.read_bytes())
    assert opened(tmp_path).manifest.n == N
    with (tmp_path / "counts.parquet").open("ab") as stream:
        stream.write(b"x")
    with pytest.raises(InputError, match="not those of the manifest"):
        opened(tmp_path)
    (tmp_path / "aggregate.json").write_text('{"schema": "other"}')
    with pytest.raises(InputError, match="cannot read this manifest"):
        opened(tmp_path)


@pytest.mark.slow
@pytest.mark.parametrize("forward", [False, True], ids=["put aside", "moving in"])
def test_an_aggregate_that_a_killed_process_left_half_moved_is_read_whole(
    forward: bool, models: Path, tmp_path: Path
) -> None:
    """Beside a file of the user's: the move is ended first, so that the manifest's cluster and seed are known."""
    out = tmp_path / "c"
    out.mkdir()
    (out / "notes.txt").write_text("mine")
    er.aggregate(models, output=out, cluster="sex", seed=7)
    old = er.evaluate(out, metrics="accuracy", resamples=20)
    move = out / ".evalreport-move"
    (move / "old").mkdir(parents=True)
    (out / "aggregate.json").rename(move / "old" / "aggregate.json")
    if forward:
        er.aggregate(models, output=tmp_path / "new", cluster="sex", seed=8)
        (tmp_path / "new").rename(move / "in")
    found = er.evaluate(out, metrics="accuracy", resamples=20)
    assert (found.options["cluster"], found.options["seed"]) == ("sex", 8 if forward else 7)
    assert not move.exists()
    assert found.metrics[0].value == old.metrics[0].value


def test_counts_without_their_manifest_are_not_read(folder: Path, models: Path, tmp_path: Path) -> None:
    """Alone, in another folder or by their own name: the cluster stands in the manifest only."""
    er.aggregate(models, output=tmp_path / "c", cluster="sex")
    by_name = er.evaluate(tmp_path / "c" / "counts.parquet", metrics="accuracy", resamples=20)
    assert by_name.options["cluster"] == "sex"
    with pytest.raises(InputError, match="a file of an aggregate"):
        er.evaluate(tmp_path, metrics="accuracy")
    (tmp_path / "c" / "aggregate.json").unlink()
    for source in (tmp_path / "c", tmp_path / "c" / "counts.parquet"):
        with pytest.raises(InputError, match="a file of an aggregate"):
            er.evaluate(source, metrics="accuracy")


def test_a_found_configuration_names_no_cluster(
    models: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """What lies beside data from elsewhere must not decide whom this program talks to."""
    beside = tmp_path / "data"
    beside.mkdir()
    (beside / "evalreport.toml").write_text('[evalreport]\nengine = "dask=tcp://10.0.0.1:8786"\n')
    (beside / "tree.csv").write_text("id,y_true,y_pred\na,1,1\n")
    assert main(["aggregate", str(beside), "-o", str(tmp_path / "c")]) == 2
    assert "names a cluster, and you did not name this file" in capsys.readouterr().err
