"""The program as a person starts it: its help, and the whole report of the example.

Modules are compiled beforehand, as installing does: the environment of a build may forbid Python to keep what it
compiles, and then half a second of every run is compiling.
"""

from __future__ import annotations

import os
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path

from research.benchmarks.timing import Row, Timed, by_stage, timed

ROOT = Path(__file__).resolve().parents[2]
EXAMPLE = ROOT / "examples" / "credit-default" / "models"


def help_text(*, quick: bool) -> Iterator[Row]:
    """CPU time of ``evalreport --help``, the interpreter's own start included."""
    times = 3 if quick else 10
    with tempfile.TemporaryDirectory() as folder:
        yield timed(
            "evalreport --help, CPU time",
            "python -c pass",
            _cpu([sys.executable, "-m", "evalreport", "--help"], times, folder),
            _cpu([sys.executable, "-c", "pass"], times, folder),
            most_seconds=0.15,
        )


def whole_run(*, quick: bool) -> Iterator[Row]:
    """Wall time of a whole run on the example, with and without the PDF."""
    times = 1 if quick else 3
    with tempfile.TemporaryDirectory() as folder:
        command = [sys.executable, "-m", "evalreport", "run", str(EXAMPLE), "-q", "-o", f"{folder}/report"]
        yield timed(
            "whole run on the example (5 models, 3,000 rows, B = 2,000), all formats, wall time",
            "none",
            _wall(command, times, folder),
            None,
            most_seconds=4.5,
        )
        yield timed(
            "the same, HTML + JSON alone",
            "none",
            _wall([*command, "-f", "html,json"], times, folder),
            None,
            most_seconds=2.5,
        )


STAGED = """
import sys, time
from pathlib import Path
reached = [("start of Python", float(sys.argv[1])), ("imports", time.time())]
from evalreport.options import OutputOptions
from evalreport.analysis import evaluate
from evalreport.report import render
results = evaluate(Path(sys.argv[2]), progress=lambda stage, _: reached.append((stage, time.time())))
render(results, sys.argv[3], options=OutputOptions(formats=tuple(sys.argv[4:])))
for (stage, began), (_, ended) in zip(reached, [*reached[1:], ("", time.time())]):
    print("writing" if stage == "done" else stage, ended - began, sep=",")
"""


def in_stages(*, quick: bool) -> Iterator[Row]:
    """Take the time of each stage of the program on the example, by the clock."""
    for formats in ALL_FORMATS[:1] if quick else ALL_FORMATS:
        with tempfile.TemporaryDirectory() as folder:
            # Quick, the modules are as compiled as this process has them.
            environment = dict(os.environ) if quick else _compiled(folder)
            found = [_stages(formats, folder, environment) for _ in range(1 if quick else 4)]
            best = min(found[not quick :], key=lambda stages: sum(stages.values()))
        yield by_stage(f"the example, {', '.join(formats)}, wall time", best)


ALL_FORMATS = (("json",), ("html", "json"), ("html", "pdf", "json", "md"))


def _stages(formats: Sequence[str], folder: str, environment: Mapping[str, str]) -> dict[str, float]:
    command = [sys.executable, "-c", STAGED, repr(time.time()), str(EXAMPLE), f"{folder}/report", *formats]
    lines = subprocess.check_output(command, cwd=ROOT, env=environment, text=True).splitlines()
    return {stage: float(seconds) for stage, seconds in (line.split(",") for line in lines)}


def _compiled(folder: str) -> dict[str, str]:
    return os.environ | {"PYTHONPYCACHEPREFIX": f"{folder}/compiled", "PYTHONDONTWRITEBYTECODE": ""}


def _cpu(command: Sequence[str], times: int, folder: str) -> Timed:
    return _best(command, times, folder, lambda: sum(resource.getrusage(resource.RUSAGE_CHILDREN)[:2]))


def _wall(command: Sequence[str], times: int, folder: str) -> Timed:
    return _best(command, times, folder, time.monotonic)


def _best(command: Sequence[str], times: int, folder: str, clock: Callable[[], float]) -> Timed:
    """Time a command whose compiled modules are kept in a folder; the run that compiles them is not counted."""
    found = []
    for _ in range(times + 1):
        started = clock()
        subprocess.run(
            command,
            check=True,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            cwd=ROOT,
            env=_compiled(folder),
        )
        found.append(clock() - started)
    return Timed(min(found[1:]), f"best of {times}")
