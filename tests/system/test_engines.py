"""The same counts on a real Dask cluster and a real Spark as in this process, also when a worker is killed."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from .dask_cluster import Cluster
from .programs import evalreport

pytestmark = [
    pytest.mark.system,
    pytest.mark.machines,
    # Of Dask's own code, by the newest pandas.
    pytest.mark.filterwarnings("ignore:The inplace keyword"),
]

N = 200_000
MODELS = 6


@pytest.fixture(scope="module")
def models(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Six models of 200,000 examples, each in an order of its own."""
    folder = tmp_path_factory.mktemp("models")
    rng = np.random.default_rng(5)
    truth = rng.integers(0, 3, N)
    for model in range(MODELS):
        said = np.where(rng.random(N) < 0.7, truth, rng.integers(0, 3, N))
        order = rng.permutation(N)
        columns = {"id": order, "y_true": truth[order], "y_pred": said[order], "half": order % 2 == 0}
        pq.write_table(pa.table(columns), folder / f"m{model}.parquet", row_group_size=50_000)
    return folder


@pytest.fixture(scope="module")
def ranked(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """Two models of 20,000 examples that give probabilities alone, and what DuckDB adds up of them."""
    folder = tmp_path_factory.mktemp("ranked") / "models"
    folder.mkdir()
    rng = np.random.default_rng(6)
    truth = (rng.random(20_000) < 0.1).astype(np.int64)
    for model in range(2):
        p = 1 / (1 + np.exp(2 - truth - rng.normal(size=len(truth))))
        order = rng.permutation(len(truth))
        columns = {"id": order, "y_true": truth[order], "p_1": p[order], "half": order % 2 == 0}
        pq.write_table(pa.table(columns), folder / f"m{model}.parquet", row_group_size=5_000)
    done = evalreport("aggregate", folder, "-o", folder.parent / "sums", "--slice", "half", cwd=folder.parent)
    assert done.returncode == 0, done.stderr
    return folder, folder.parent / "sums"


def assert_the_same_sums(found: Path, expected: Path) -> None:
    """Counts and histograms to the byte; sums but for the last digit of another library's logarithm."""
    for name in ("counts.parquet", "score_histograms.parquet"):
        assert (found / name).read_bytes() == (expected / name).read_bytes()
    here, there = (pq.read_table(folder / "score_products.parquet") for folder in (expected, found))
    assert here.drop(["total"]).equals(there.drop(["total"]))
    assert there["total"].to_numpy() == pytest.approx(here["total"].to_numpy(), rel=1e-12)


@pytest.fixture(scope="module")
def here(models: Path) -> dict[str, bytes]:
    """The files that DuckDB's counts are written to."""
    done = evalreport("aggregate", models, "-o", models.parent / "here", "--slice", "half", cwd=models.parent)
    assert done.returncode == 0, done.stderr
    return files(models.parent / "here")


def files(folder: Path) -> dict[str, bytes]:
    """Every file of a folder by its name."""
    return {path.name: path.read_bytes() for path in sorted(folder.iterdir())}


def test_dask_gives_the_same_bytes_though_a_worker_is_killed(
    cluster: Cluster, models: Path, here: dict[str, bytes], tmp_path: Path
) -> None:
    """SIGKILL to one of two workers while it holds results: the other does its work again."""
    from distributed import Client

    words = [
        "aggregate",
        models,
        "-o",
        tmp_path / "counts",
        "--slice",
        "half",
        "--engine",
        f"dask={cluster.address}",
    ]
    command = [sys.executable, "-m", "evalreport", *map(str, words)]
    with Client(cluster.address, set_as_default=False) as watching:
        victim = cluster.workers[0]
        address = next(a for a, pid in watching.run(os.getpid).items() if pid == victim.pid)
        process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        deadline = time.monotonic() + 60
        while time.monotonic() < deadline and len(watching.has_what([address])[address]) < MODELS:
            assert process.poll() is None, process.communicate()
            time.sleep(0.02)
        os.killpg(victim.pid, signal.SIGKILL)
        victim.wait(timeout=10)
        assert process.poll() is None, "the worker was killed too late"
    _, said = process.communicate(timeout=120)
    assert process.returncode == 0, said
    assert files(tmp_path / "counts") == here
    assert "Remove worker" in cluster.log.read_text()


def test_dask_adds_up_scores(cluster: Cluster, ranked: tuple[Path, Path], tmp_path: Path) -> None:
    """On the workers of a scheduler, from files that all of them read."""
    folder, sums = ranked
    words = ["aggregate", folder, "-o", tmp_path / "sums", "--slice", "half"]
    done = evalreport(*words, "--engine", f"dask={cluster.address}", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert_the_same_sums(tmp_path / "sums", sums)


def test_dask_without_workers_is_one_message(models: Path, tmp_path: Path) -> None:
    """Nobody listens at the address: exit code 2 and what to start."""
    done = evalreport(
        "aggregate", models, "-o", tmp_path / "c", "--engine", "dask=tcp://127.0.0.1:9", cwd=tmp_path
    )
    assert done.returncode == 2
    assert "no Dask scheduler answers at tcp://127.0.0.1:9" in done.stderr
    assert not (tmp_path / "c").exists()


@pytest.fixture(scope="module")
def spark() -> None:
    """Skip where there is no Spark or no Java."""
    if find_spec("pyspark") is None:
        pytest.skip("pyspark is not installed: make test-system installs it into .cache/spark")
    if shutil.which("java") is None:
        pytest.skip("java is not installed: apt-get install default-jre-headless")


@pytest.mark.usefixtures("spark")
def test_spark_gives_the_same_bytes(models: Path, here: dict[str, bytes], tmp_path: Path) -> None:
    """A Spark of two processors counts as DuckDB does, and says nothing of its own."""
    words = ["aggregate", models, "-o", tmp_path / "counts", "--slice", "half", "--engine", "spark=local[2]"]
    done = evalreport(*words, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert files(tmp_path / "counts") == here
    assert "WARN" not in done.stderr
    assert done.stdout.count("\n") == 2


@pytest.mark.usefixtures("spark")
def test_spark_adds_up_scores(ranked: tuple[Path, Path], tmp_path: Path) -> None:
    """As DuckDB does, also by slice."""
    folder, sums = ranked
    words = ["aggregate", folder, "-o", tmp_path / "sums", "--slice", "half", "--engine", "spark=local[2]"]
    done = evalreport(*words, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert_the_same_sums(tmp_path / "sums", sums)
    run = evalreport("run", tmp_path / "sums", "-o", tmp_path / "out", "-f", "json", cwd=tmp_path)
    assert run.returncode == 0, run.stderr


@pytest.mark.usefixtures("spark")
def test_spark_names_a_fault(models: Path, tmp_path: Path) -> None:
    """An id that appears twice is the error of a run, on Spark too."""
    table = pq.read_table(models / "m0.parquet")
    pq.write_table(pa.concat_tables([table, table.slice(7, 1)]), tmp_path / "m0.parquet")
    done = evalreport(
        "aggregate", tmp_path, "-o", tmp_path / "counts", "--engine", "spark=local[2]", cwd=tmp_path
    )
    assert done.returncode == 2
    assert "appears twice for the model 'm0'" in done.stderr
    assert "Traceback" not in done.stderr


FRAMES = """
import sys, json, warnings
from pathlib import Path
from pyspark.sql import SparkSession
import evalreport as er
from evalreport.schema.results import to_json

warnings.simplefilter("ignore")
spark = SparkSession.builder.master("local[2]").config("spark.ui.enabled", "false").getOrCreate()
spark.sparkContext.setLogLevel("ERROR")
models, counts, output = map(Path, sys.argv[1:])
frames = {path.stem: spark.read.parquet(str(path)) for path in sorted(models.iterdir())}
er.aggregate(frames, output=output, slices=["half"])
options = {"slices": ["half"], "metrics": ["accuracy", "f1"], "resamples": 100}
seen, kept = (json.loads(to_json(er.evaluate(source, **options))) for source in (frames, counts))
names = ("metrics", "comparisons", "verdicts", "disparities")
assert [seen[name] for name in names] == [kept[name] for name in names]
assert spark.range(3).count() == 3, "the user's session goes on"
"""


@pytest.mark.usefixtures("spark", "here")
def test_lazy_frames_of_spark_are_counted_in_their_session(
    models: Path, here: dict[str, bytes], tmp_path: Path
) -> None:
    """Counts of the frames have the bytes of those of the files, and a run on the frames says the same."""
    words = [sys.executable, "-c", FRAMES, models, models.parent / "here", tmp_path / "counts"]
    done = subprocess.run([*map(str, words)], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[-2000:]
    assert (tmp_path / "counts" / "counts.parquet").read_bytes() == here["counts.parquet"]


@pytest.mark.usefixtures("spark")
def test_a_run_on_spark_is_a_run(models: Path, tmp_path: Path) -> None:
    """One command counts and reports; the inputs are the files by their digests."""
    words = ["-f", "json", "-q", "--metric", "accuracy", "--resamples", "100"]
    done = evalreport(
        "run", models, "-o", tmp_path / "out", *words, "--engine", "spark=local[2]", cwd=tmp_path
    )
    assert done.returncode == 0, done.stderr
    content = json.loads((tmp_path / "out" / "results.json").read_text())
    assert content["n"] == N
    assert [row["path"] for row in content["inputs"]] == [f"m{model}.parquet" for model in range(MODELS)]
