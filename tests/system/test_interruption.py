"""Runs that are stopped in the middle leave the previous report as it was."""

from __future__ import annotations

import hashlib
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from .programs import EXAMPLE, evalreport

pytestmark = pytest.mark.system

# Enough replicates for a run of many seconds, so that the signal comes in the middle.
SLOW = ("--resamples", "200000", "--format", "html,json,md")


def fingerprint(folder: Path) -> dict[str, str]:
    """The digest of every file below a folder, by its relative path."""
    files = sorted(path for path in folder.rglob("*") if path.is_file())
    return {str(p.relative_to(folder)): hashlib.sha256(p.read_bytes()).hexdigest() for p in files}


@pytest.fixture(scope="module")
def finished(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a finished report."""
    folder = tmp_path_factory.mktemp("finished")
    report(folder)
    return folder / "out"


def report(folder: Path) -> None:
    """Write a report with few replicates to ``out`` in a folder."""
    done = evalreport(
        "run", EXAMPLE, "--resamples", "100", "--format", "html,json,md", "-o", "out", cwd=folder
    )
    assert done.returncode == 0, done.stderr


@pytest.fixture
def earlier(finished: Path, tmp_path: Path) -> Path:
    """A copy of that report, into which a run is started."""
    return Path(shutil.copytree(finished, tmp_path / "out"))


def start(folder: Path) -> subprocess.Popen[str]:
    """Start a slow run into the same folder, in a session of its own, and wait until it computes."""
    command = [sys.executable, "-m", "evalreport", "run", str(EXAMPLE), "-o", "out", *SLOW]
    # A shell starts what runs in the background deaf to SIGINT, which children inherit: a terminal's are not.
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        process = subprocess.Popen(
            command, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
            start_new_session=True,
        )  # fmt: skip
    finally:
        signal.signal(signal.SIGINT, before)
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline and process.poll() is None:
        # scipy is loaded after the files were read: from then on it computes.
        if "scipy" in Path(f"/proc/{process.pid}/maps").read_text(errors="replace"):
            return process
        time.sleep(0.02)
    pytest.fail(f"the run did not come to compute: {process.communicate()}")


@pytest.mark.parametrize(
    "number, code, delay",
    [
        (signal.SIGINT, 130, 0.0),
        (signal.SIGINT, 130, 1.5),
        (signal.SIGTERM, 143, 0.0),
        (signal.SIGTERM, 143, 0.5),
    ],
)
def test_an_interrupt_leaves_the_earlier_report_and_nothing_half_written(earlier: Path, number, code, delay):
    """SIGINT and SIGTERM: 128 + their number, one line, no traceback, no temporary folder, the old report."""
    before = fingerprint(earlier)
    process = start(earlier.parent)
    time.sleep(delay)
    process.send_signal(number)
    _, said = process.communicate(timeout=60)
    assert process.returncode == code, said
    assert "Traceback" not in said
    assert "nothing was written" in said
    assert fingerprint(earlier) == before
    assert [path.name for path in earlier.parent.iterdir()] == ["out"]


def killed(earlier: Path, delay: float) -> None:
    """Kill a run into the folder of a report with SIGKILL, which no program can catch."""
    process = start(earlier.parent)
    time.sleep(delay)
    process.kill()
    process.communicate(timeout=60)
    assert process.returncode == -signal.SIGKILL


@pytest.mark.parametrize("delay", [0.0, 1.5])
def test_a_killed_run_leaves_the_earlier_report(earlier: Path, delay):
    """The old report is there byte for byte."""
    before = fingerprint(earlier)
    killed(earlier, delay)
    assert fingerprint(earlier) == before


def test_after_a_killed_run_the_next_one_writes_its_report(earlier: Path):
    """What the killed run left behind disturbs nothing."""
    before = fingerprint(earlier)
    killed(earlier, 0.5)
    (earlier / "report.html").write_text("to be replaced", encoding="utf-8")
    report(earlier.parent)
    assert fingerprint(earlier) == before
