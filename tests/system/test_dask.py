"""A plan on a real Dask cluster of processes: the same bytes as in one process, even when a worker is killed."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path

import pytest

from evalreport.refit.examples import read_examples
from evalreport.refit.plans import read_plan
from evalreport.refit.splits import fits_of

from .dask_cluster import Cluster, add_worker, dask_cluster
from .programs import evalreport

pytestmark = pytest.mark.system

DATA = 120
REPLICATES = 60
SOME_FITS = 4_000
"""Bytes of a journal in which a few fits are finished and most are not: each takes some 2,000."""
MODULE = """
import time
from sklearn.tree import DecisionTreeClassifier

class SlowTree(DecisionTreeClassifier):
    def fit(self, X, y):
        time.sleep(0.3)
        return super().fit(X, y)
"""
PLAN = f"""
[data]
file = "examples.csv"
target = "label"

[scheme]
name = "bootstrap"
replicates = {REPLICATES}

[[estimator]]
name = "slow tree"
import = "slow_tree_of_the_user:SlowTree"
parameters = {{ max_features = 1 }}

[[estimator]]
name = "logistic"
import = ["sklearn.preprocessing:StandardScaler", "sklearn.linear_model:LogisticRegression"]
"""


@pytest.fixture
def plan(tmp_path: Path) -> Path:
    """A plan in a folder of its own, with a module of the user's own beside it."""
    folder = tmp_path / "plan"
    folder.mkdir()
    rows = [f"{i},{(i * 7919) % 101},{(i * 104729) % 97},{'ab'[(i * 7919) % 101 > 50]}" for i in range(DATA)]
    (folder / "examples.csv").write_text("id,x,y,label\n" + "\n".join(rows) + "\n")
    (folder / "slow_tree_of_the_user.py").write_text(MODULE)
    (folder / "plan.toml").write_text(PLAN)
    return folder / "plan.toml"


def digests(folder: Path) -> dict[str, bytes]:
    """Every file of an output by its name."""
    return {path.name: path.read_bytes() for path in sorted(folder.iterdir())}


@pytest.mark.slow
def test_workers_killed_half_way_change_no_byte(cluster: Cluster, plan: Path):
    """SIGKILL in the middle, to both workers once another has joined: the bytes of one process."""
    command = [sys.executable, "-m", "evalreport", "resample", str(plan), "-o", "on-cluster",
               "--backend", "dask", "--scheduler", cluster.address]  # fmt: skip
    process = subprocess.Popen(
        command, cwd=plan.parent, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    journal = plan.parent / ".on-cluster.fits"
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline and not (journal.exists() and journal.stat().st_size > SOME_FITS):
        assert process.poll() is None, process.communicate()
        time.sleep(0.02)
    first = cluster.workers[:]
    add_worker(cluster, plan.parent / "worker3")
    for worker in first:
        os.killpg(worker.pid, signal.SIGKILL)
        worker.wait(timeout=10)
    assert process.poll() is None, "the workers were killed too late"
    assert not (plan.parent / "on-cluster").exists()
    out, said = process.communicate(timeout=120)
    assert process.returncode == 0, said
    assert "Traceback" not in said
    assert out == "predictions: on-cluster/predictions.parquet\n"
    assert f"predictions of 2 models from {2 * REPLICATES} fits" in said
    here = evalreport("resample", plan, "-o", "here", "--backend", "sequential", "-q", cwd=plan.parent)
    assert here.returncode == 0, here.stderr
    assert digests(plan.parent / "on-cluster") == digests(plan.parent / "here")
    # The run did not just end before: the scheduler saw the workers go.
    assert cluster.log.read_text().count("Remove worker") >= len(first)


def test_a_fit_that_kills_its_worker_is_a_failed_fit(tmp_path: Path, plan: Path, monkeypatch):
    """Its run ends, where joblib alone would wait for it forever; what waited on the same worker may fail too."""
    # By default Dask tries a task on four workers.
    monkeypatch.setenv("DASK_DISTRIBUTED__SCHEDULER__ALLOWED_FAILURES", "0")
    (plan.parent / "slow_tree_of_the_user.py").write_text(
        "import os\nfrom sklearn.tree import DecisionTreeClassifier\n\n"
        "class SlowTree(DecisionTreeClassifier):\n"
        "    def fit(self, X, y):\n"
        "        if float(X[:, 0].sum()) == DEADLY: os._exit(1)\n"
        "        return super().fit(X, y)\n"
    )
    module = plan.parent / "slow_tree_of_the_user.py"
    plan.write_text(PLAN.replace(f"replicates = {REPLICATES}", "replicates = 6"))
    examples = read_examples(read_plan(plan).data, plan.parent)
    third = fits_of(examples, read_plan(plan).scheme, 0)[2]
    module.write_text(module.read_text() + f"\nDEADLY = {float(examples.features[third.train, 0].sum())}\n")
    with dask_cluster(tmp_path) as cluster:
        done = evalreport("resample", plan, "-o", "out", "--scheduler", cluster.address, cwd=plan.parent)
    assert done.returncode == 4, done.stderr
    assert "failed: slow tree (replicate 3): KilledWorker" in done.stderr
    assert "of 12 fits failed" in done.stderr


def test_a_lost_scheduler_ends_the_run_and_keeps_what_was_finished(cluster: Cluster, plan: Path):
    """SIGKILL in the middle: exit code 2 and what to do; the journal of the finished fits stays."""
    command = [sys.executable, "-m", "evalreport", "resample", str(plan), "-o", "out", "-q",
               "--scheduler", cluster.address]  # fmt: skip
    process = subprocess.Popen(command, cwd=plan.parent, stderr=subprocess.PIPE, text=True)
    journal = plan.parent / ".out.fits"
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline and not (journal.exists() and journal.stat().st_size > SOME_FITS):
        assert process.poll() is None, process.communicate()
        time.sleep(0.02)
    os.killpg(cluster.scheduler.pid, signal.SIGKILL)
    _, said = process.communicate(timeout=60)
    assert process.returncode == 2, said
    assert "the Dask scheduler was lost; the fits that were finished are kept" in said
    assert "Traceback" not in said
    assert journal.stat().st_size > SOME_FITS


def test_no_scheduler_is_one_message(plan: Path):
    """Nobody listens at the address: exit code 2 and what to start."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        address = f"tcp://127.0.0.1:{probe.getsockname()[1]}"
        done = evalreport("resample", plan, "-o", "out", "-q", "--scheduler", address, cwd=plan.parent)
    assert done.returncode == 2
    assert f"no Dask scheduler answers at {address}" in done.stderr
    assert "dask scheduler" in done.stderr
    assert "Traceback" not in done.stderr
