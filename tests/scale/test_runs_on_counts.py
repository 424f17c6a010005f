"""A run on counts says what a run on the rows says: from the folder, on an engine, and from lazy frames."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import evalreport as er
from evalreport.cli import main
from evalreport.schema.results import Results, to_json
from tests.samples.cases import every
from tests.samples.systems import needs_locks

# Of Dask's own code, by the newest pandas.
pytestmark = pytest.mark.filterwarnings("ignore:The inplace keyword")

N = 400
OPTIONS: dict[str, Any] = {"slices": ["sex"], "resamples": 200, "metrics": ["accuracy", "f1", "mcc"]}
LISTS = ("metrics", "comparisons", "verdicts", "ranking", "confusion", "agreement", "effects", "disparities")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two models, and their counts beside them."""
    above = tmp_path_factory.mktemp("files")
    (above / "models").mkdir()
    rng = np.random.default_rng(8)
    truth, sex = rng.integers(0, 2, N), rng.choice(["f", "m"], N)
    for model, share in (("forest", 0.9), ("logreg", 0.7)):
        said = np.where(rng.random(N) < share, truth, 1 - truth)
        frame = pd.DataFrame(
            {"id": np.arange(N), "y_true": truth, "y_pred": said, "sex": sex, "place": "here"}
        )
        frame.to_parquet(above / "models" / f"{model}.parquet", index=False)
    er.aggregate(above / "models", output=above / "counts", slices="sex")
    return above


@pytest.fixture(scope="module")
def rows(folder: Path) -> Results:
    """The run on the rows."""
    return er.evaluate(folder / "models", **OPTIONS)


@pytest.fixture(scope="module")
def on_dask(folder: Path) -> Results:
    """The run on an engine, whose plan takes a second."""
    return er.evaluate(folder / "models", engine="dask", **OPTIONS)


def lists(results: Results) -> dict[str, object]:
    """What is said of the models, without what is about single examples or files."""
    content = json.loads(to_json(results))
    return {name: content[name] for name in LISTS}


def test_the_folder_of_an_aggregate_gives_the_figures_of_the_rows(folder: Path, rows: Results) -> None:
    """Values, intervals, tests, verdicts and slices, to the last bit."""
    results = er.evaluate(folder / "counts", **OPTIONS)
    assert lists(results) == lists(rows)
    assert [record.path for record in results.inputs] == ["counts.parquet"]
    assert results.n == N


@pytest.mark.slow
@needs_locks
def test_an_engine_gives_the_figures_of_the_rows(folder: Path, rows: Results, on_dask: Results) -> None:
    """The inputs are the files themselves, by their digests."""
    assert lists(on_dask) == lists(rows)
    assert on_dask.inputs == rows.inputs
    assert on_dask.signature == rows.signature
    assert to_json(er.evaluate(folder / "models", engine="duckdb", **OPTIONS)) == to_json(rows)


@pytest.mark.slow
@needs_locks
def test_lazy_frames_of_labels_are_counted_and_not_collected(
    folder: Path, rows: Results, monkeypatch: pytest.MonkeyPatch
) -> None:
    """No row of a Dask frame of labels comes here; tests/sources/test_frames.py has scores of two classes.

    Scores of three classes are collected.
    """
    import dask.dataframe as dd

    frames = {path.stem: dd.read_parquet(path) for path in sorted((folder / "models").iterdir())}

    def collects(source: object, name: str) -> None:
        if "dask" in type(source).__module__:
            raise AssertionError(f"{name} was collected")
        return kept(source, name)

    from evalreport.sources import memory as module

    kept = module.arrow_table
    monkeypatch.setattr(module, "arrow_table", collects)
    assert lists(er.evaluate(frames, **OPTIONS)) == lists(rows)
    several = {name: frame.assign(y_pred=2, p_1=0.4, p_2=0.5) for name, frame in frames.items()}
    with pytest.raises(AssertionError, match="was collected"):
        er.evaluate(several, **OPTIONS)


@pytest.mark.slow
@needs_locks
@pytest.mark.parametrize("cluster", [None, "ward"])
def test_weights_of_an_aggregate_are_those_of_the_rows(
    folder: Path, cluster: str | None, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """From the folder and on an engine, to 1e-10; verified from the counts and from the originals.

    The run takes the weight from the manifest, and is told how to aggregate for another.
    """
    (tmp_path / "models").mkdir()
    for path in sorted((folder / "models").iterdir()):
        frame = pd.read_parquet(path).assign(w=np.resize([0.1, 1 / 3, 2.0], N), ward=np.arange(N) // 7)
        frame.to_parquet(tmp_path / "models" / path.name, index=False)
    options: dict[str, Any] = OPTIONS | {"weight": "w", "cluster": cluster}
    er.aggregate(tmp_path / "models", output=tmp_path / "counts", slices="sex", weight="w", cluster=cluster)
    expected = lists(er.evaluate(tmp_path / "models", **options))
    # A plan of Dask takes a second: with clusters it has weights too.
    engine = "dask" if cluster else "duckdb"
    for found in (
        er.evaluate(tmp_path / "counts", **OPTIONS),
        er.evaluate(tmp_path / "models", engine=engine, **options),
    ):
        assert numbers(lists(found)) == pytest.approx(numbers(expected), rel=1e-10, abs=1e-12)
    out = tmp_path / "out"
    assert main(["run", str(tmp_path / "counts"), "-o", str(out), "-f", "json", "--resamples", "50"]) == 0
    assert main(["verify", str(out), "--inputs", str(tmp_path)]) == 0
    assert "the counts follow from the files" in capsys.readouterr().out
    assert main(["run", str(tmp_path / "counts"), "--weight", "place", "-o", str(out)]) == 2
    assert "--weight place" in " ".join(capsys.readouterr().err.split())


def numbers(value: object) -> list[float]:
    """Return the numbers in lists and dictionaries, in order."""
    if isinstance(value, (list, dict)):
        parts = value.values() if isinstance(value, dict) else value
        return [number for part in parts for number in numbers(part)]
    return [float(value)] if isinstance(value, (int, float)) else []


def test_numbers_of_a_lazy_frame_are_collected() -> None:
    """A regression cannot be counted, and is analysed as ever."""
    import dask.dataframe as dd

    rng = np.random.default_rng(1)
    y = rng.normal(size=60)
    frame = pd.DataFrame({"id": np.arange(60), "y_true": y, "y_pred": y + rng.normal(size=60)})
    results = er.evaluate({"m": dd.from_pandas(frame, npartitions=2)}, resamples=100)
    assert (results.task, results.n) == ("regression", 60)


def test_a_run_that_needs_more_is_told_how_to_aggregate_anew(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Exit code 2, and the line to type."""
    assert main(["run", str(folder / "counts"), "--slice", "place", "-o", str(folder / "no")]) == 2
    said = " ".join(capsys.readouterr().err.split())
    assert f"evalreport aggregate MODELS -o {folder / 'counts'} --slice sex --slice place" in said


@pytest.mark.slow
@needs_locks
def test_probabilities_are_no_silent_loss_on_an_engine(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A run on Dask would lack the metrics of three classes: it is refused, and aggregate says what it leaves out."""
    labels = [2, 1, 0]
    frame = pd.DataFrame({"id": ["a", "b", "c"], "y_true": labels, "y_pred": labels, "p_1": [0.1, 0.9, 0.6]})
    frame.to_parquet(tmp_path / "tree.parquet")
    assert main(["run", str(tmp_path / "tree.parquet"), "--engine", "dask", "-o", str(tmp_path / "r")]) == 2
    assert "hold scores or probabilities (p_1)" in " ".join(capsys.readouterr().err.split())
    assert main(["aggregate", str(tmp_path / "tree.parquet"), "-o", str(tmp_path / "c")]) == 0
    said = " ".join(capsys.readouterr().err.split())
    assert "added up of two classes only, and not with --cluster or --weight; left out: p_1" in said


def test_missing_predictions_are_settled_by_the_run(tmp_path: Path) -> None:
    """Empty cells stay empty in the counts: refused, left out or counted as wrong, as of the rows."""
    rng = np.random.default_rng(4)
    truth = rng.choice(["a", "b"], 60)
    frame = pd.DataFrame(
        {"id": np.arange(60), "y_true": truth, "y_pred": np.where(np.arange(60) % 7, truth, None)}
    )
    frame.to_parquet(tmp_path / "tree.parquet")
    er.aggregate(tmp_path / "tree.parquet", output=tmp_path / "counts")
    with pytest.raises(er.errors.InputError, match="the cell is empty"):
        er.evaluate(tmp_path / "counts")
    for how in ("drop", "wrong"):
        pair = [
            er.evaluate(tmp_path / name, missing=how, resamples=100, metrics="accuracy")
            for name in ("counts", "tree.parquet")
        ]
        assert pair[0].n == pair[1].n
        assert pair[0].metrics == pair[1].metrics


@pytest.mark.parametrize("inputs", every(2, ["counts", "."]))
def test_results_are_verified_from_the_aggregate(inputs: str, folder: Path, tmp_path: Path) -> None:
    """From its folder, or the one above."""
    results = er.evaluate(folder / "counts", **OPTIONS)
    assert er.verify(results, inputs=folder / inputs).outcome == "agrees"


@pytest.mark.slow
@needs_locks
def test_results_of_an_engine_are_verified_from_the_files(folder: Path, on_dask: Results) -> None:
    """They are counted again: what needs single examples is not among the results."""
    assert er.verify(on_dask, inputs=folder / "models").outcome == "agrees"
