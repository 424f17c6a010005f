"""The program as a person starts it: its help, and the whole report of the example."""

from __future__ import annotations

import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

from benchmarks.timing import Row, Timed

ROOT = Path(__file__).resolve().parent.parent
EXAMPLE = ROOT / "examples" / "credit-default" / "models"


def help_text(*, quick: bool) -> Iterator[Row]:
    """CPU time of ``evalreport --help``, the interpreter's own start included."""
    times = 3 if quick else 10
    yield Row(
        "evalreport --help, CPU time",
        "python -c pass",
        _cpu([sys.executable, "-m", "evalreport", "--help"], times),
        _cpu([sys.executable, "-c", "pass"], times),
        most_seconds=0.15,
    )


def whole_run(*, quick: bool) -> Iterator[Row]:
    """Wall time of a whole run on the example, with and without the PDF."""
    times = 1 if quick else 3
    with tempfile.TemporaryDirectory() as folder:
        command = [sys.executable, "-m", "evalreport", "run", str(EXAMPLE), "-q", "-o", f"{folder}/report"]
        yield Row(
            "whole run on the example (5 models, 3,000 rows, B = 2,000), all formats, wall time",
            "none",
            _wall(command, times),
            None,
            most_seconds=4.5,
        )
        yield Row(
            "the same, HTML + JSON alone",
            "none",
            _wall([*command, "-f", "html,json"], times),
            None,
            most_seconds=2.0,
        )


def _cpu(command: Sequence[str], times: int) -> Timed:
    found = []
    for _ in range(times):
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL, cwd=ROOT)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        found.append(after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime)
    return Timed(min(found), f"best of {times}")


def _wall(command: Sequence[str], times: int) -> Timed:
    found = []
    for _ in range(times):
        started = time.monotonic()
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, cwd=ROOT)
        found.append(time.monotonic() - started)
    return Timed(min(found), f"best of {times}")
