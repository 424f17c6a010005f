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

from .dask_cluster import Cluster, add_worker
from .programs import evalreport

pytestmark = pytest.mark.system

DATA = 120
REPLICATES = 60
MODULE = """
import time
from sklearn.tree import DecisionTreeClassifier

class SlowTree(DecisionTreeClassifier):
    def fit(self, X, y):
        time.sleep(0.1)
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


def test_workers_killed_half_way_change_no_byte(cluster: Cluster, plan: Path):
    """SIGKILL in the middle, to both workers once another has joined: the bytes of one process."""
    command = [sys.executable, "-m", "evalreport", "resample", str(plan), "-o", "on-cluster",
               "--backend", "dask", "--scheduler", cluster.address]  # fmt: skip
    process = subprocess.Popen(
        command, cwd=plan.parent, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    journal = plan.parent / ".on-cluster.fits"
    deadline = time.monotonic() + 60
    # A finished fit takes over 500 bytes: some are done, most are not.
    while time.monotonic() < deadline and not (journal.exists() and journal.stat().st_size > 10_000):
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
