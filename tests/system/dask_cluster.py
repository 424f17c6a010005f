"""A real Dask cluster on loopback, each part of it a process."""

from __future__ import annotations

import os
import re
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest


@dataclass
class Cluster:
    """A scheduler's address and the processes of its workers."""

    address: str
    workers: list[subprocess.Popen[str]]
    log: Path
    scheduler: subprocess.Popen[str]


def _start(log: Path, *words: str) -> subprocess.Popen[str]:
    """Start a program of Dask in a session of its own."""
    with log.open("a") as stream:
        return subprocess.Popen(
            [sys.executable, "-m", "distributed.cli." + words[0], *words[1:]],
            stdout=stream,
            stderr=subprocess.STDOUT,
            text=True,
            start_new_session=True,
        )


def _wait_for(log: Path, pattern: str, count: int = 1) -> None:
    """Wait until a log holds a pattern so many times."""
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline:
        if log.exists() and len(re.findall(pattern, log.read_text())) >= count:
            return
        time.sleep(0.05)
    pytest.fail(f"no {pattern!r} in {log.read_text() if log.exists() else log}")


def add_worker(cluster: Cluster, folder: Path) -> None:
    """Start one more worker, and wait until the scheduler knows it."""
    options = ("--host", "127.0.0.1", "--nthreads", "1", "--no-nanny", "--no-dashboard")
    log = folder.with_suffix(".log")
    cluster.workers.append(
        _start(log, "dask_worker", cluster.address, *options, "--local-directory", str(folder))
    )
    _wait_for(log, "Registered to")


@contextmanager
def dask_cluster(tmp_path: Path) -> Iterator[Cluster]:
    """A scheduler and two workers on loopback, each a process; they are ended by their own ids."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        address = f"tcp://127.0.0.1:{probe.getsockname()[1]}"
    log = tmp_path / "scheduler.log"
    port = address.rsplit(":", 1)[1]
    scheduler = _start(log, "dask_scheduler", "--host", "127.0.0.1", "--port", port, "--no-dashboard")
    cluster = Cluster(address, [], log, scheduler)
    try:
        _wait_for(log, "Scheduler at")
        for number in (1, 2):
            add_worker(cluster, tmp_path / f"worker{number}")
        yield cluster
    finally:
        for process in (*cluster.workers, scheduler):
            if process.poll() is None:
                os.killpg(process.pid, signal.SIGKILL)
            process.wait(timeout=10)
