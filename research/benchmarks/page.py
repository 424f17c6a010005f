"""docs/benchmarks.md: the rows with their goals, the machine, the versions and the day."""

from __future__ import annotations

import datetime as dt
import os
import platform
import sys
from collections.abc import Sequence
from importlib.metadata import version
from pathlib import Path

import evalreport
from research.benchmarks.timing import Accuracy, Cost, Course, Exponent, Memory, Row, Timed

HEAD = """\
# Speed

Written by `make bench`; do not edit. Everything runs in one process on one thread each, from the same arrays in
memory, but for `--jobs 2` and the program's own runs, which take what a user's take; set-up (counting, sorting) is
included. Times are CPU seconds unless a row says otherwise; a peer that would
take hours runs a few replicates and is scaled to all of them, which is said. The ratio is the peer's time over ours.
A ratio hangs on the machine and on what else it does: expect a fifth up or down, though what is compared is timed in
turn. One row is about an error instead of a time: how far added-up scores are from the rows themselves.
"""

SHAPES_HEAD = """\
# Speed in every shape of data

Written by `make bench`; do not edit. What the default run costs (all metrics, tests, intervals and curves, to the bytes
of results.json) beside a loop over 2,000 resamples of what a user would write with scikit-learn: accuracy and macro F1,
with probabilities log loss and one-vs-rest ROC AUC, of values MAE, RMSE and R². Times are CPU seconds on one thread; of
the loop a few replicates are timed and scaled to all of them. The ratio is the loop's time over ours. An audit stands
beside the same run without a history too (its goal: 1.5 times as long at most), the page of all audits beside a script
that reads each results.json and draws one figure a model. Of label rows in Parquet files it is the memory that counts:
the largest resident set of a process, against that of pandas and scikit-learn.
"""

STAGES = """\
## Where the time goes

CPU seconds of the default run on three binary models with labels and probabilities, by stage and number of
examples: from arrays in memory to results.json.

![Cost against the number of examples](benchmarks.svg)
"""


RUNS = """\
Seconds by the clock of the program on the example (5 models, 3,000 rows, B = 2,000), by stage.
"""

GROWTH = """\
CPU seconds of a default run against the number of classes, models, rows and slices, and the power of that number with
which they grow over two decades; above 1.15 `make bench` fails.
"""

Measured = Row | Accuracy | Memory | Cost | Course | Exponent


def page(rows: Sequence[Measured], head: str = HEAD) -> str:
    """Return the whole document."""
    heads = ("work", "against", "evalreport", "peer", "ratio", "goal", "met")
    table = _table(heads, [_cells(row) for row in rows if isinstance(row, Row | Accuracy | Memory)])
    costs, courses = ([row for row in rows if isinstance(row, kind)] for kind in (Cost, Course))
    stages = f"{STAGES}\n{_by_stage('n', costs)}\n\n" if costs else ""
    runs = f"{RUNS}\n{_by_stage('formats', courses)}\n\n" if courses else ""
    powers = [row for row in rows if isinstance(row, Exponent)]
    growth = f"{GROWTH}\n{_growth(powers)}\n\n" if powers else ""
    return f"{head}\n{table}\n\n{growth}{stages}{runs}{_circumstances()}\n"


def _growth(rows: Sequence[Exponent]) -> str:
    """Return the table of powers, one row for each number that grows."""
    heads = ("number of", "seconds by size", "power", "goal", "met")
    cells = [
        (
            row.of,
            "; ".join(f"{size:,}: {_seconds(seconds)}" for size, seconds in row.seconds),
            f"{row.power:.2f}",
            f"≤ {row.most:g}",
            "yes" if row.met else "**no**",
        )
        for row in rows
    ]
    return _table(heads, cells)


def _table(heads: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    lines = [heads, ["---"] * len(heads), *rows]
    return "\n".join(f"| {' | '.join(cells)} |" for cells in lines)


def _by_stage(first: str, runs: Sequence[Cost | Course]) -> str:
    stages = list(dict.fromkeys(stage for run in runs for stage in run.stages))
    rows = [
        [
            f"{run.n:,}" if isinstance(run, Cost) else run.formats,
            *(f"{run.stages.get(stage, 0.0):.3g}" for stage in stages),
            f"{run.total:.3g}",
        ]
        for run in runs
    ]
    return _table([first, *stages, "in all"], rows)


def _cells(row: Row | Accuracy | Memory) -> tuple[str, ...]:
    met = {True: "yes", False: "**no**", None: ""}[row.met]
    if isinstance(row, Memory):
        goal = "" if row.most is None else f"≤ {_bytes(row.most)}"
        theirs = "" if row.theirs is None else _bytes(row.theirs)
        ratio = "" if row.ratio is None else _number(row.ratio)
        return f"{row.work} (largest memory)", row.peer, _bytes(row.ours), theirs, ratio, goal, met
    work = f"{row.work} ({row.remark})" if row.remark else row.work
    if isinstance(row, Accuracy):
        return work, row.peer, f"{row.error:.2g} standard errors", "", "", f"≤ {row.most:g}", met
    ratio = "" if row.ratio is None else _number(row.ratio)
    return work, row.peer, _time(row.ours), _time(row.theirs), ratio, _goal(row), met


def _time(timed: Timed | None) -> str:
    if timed is None:
        return ""
    note = f" ({timed.note})" if timed.note else ""
    return f"{_seconds(timed.seconds)}{note}"


def _bytes(size: int) -> str:
    return f"{size / 1e9:.3g} GB" if size >= 1e9 else f"{size / 1e6:.3g} MB"


def _seconds(seconds: float) -> str:
    return f"{1000 * seconds:.3g} ms" if seconds < 1 else f"{_number(seconds)} s"


def _number(value: float) -> str:
    """Write three digits, thousands separated."""
    return f"{float(f'{value:.3g}'):,.0f}" if value >= 100 else f"{value:.3g}"


def _goal(row: Row) -> str:
    if row.least_ratio is not None:
        return f"≥ {_number(row.least_ratio)}"
    return "" if row.most_seconds is None else f"< {_seconds(row.most_seconds)}"


def line(row: Measured) -> str:
    """Return one row as a line for a terminal."""
    if isinstance(row, Exponent):
        return f"cost against the number of {row.of}: power {row.power:.2f}"
    if isinstance(row, Course):
        return f"the program on the example, {row.formats}: {_seconds(row.total)}"
    if isinstance(row, Cost):
        return f"default run, {row.models} models, n = {row.n:,}: {_seconds(row.total)}"
    return "  ".join(cell for cell in _cells(row) if cell)


def _circumstances() -> str:
    stamp = os.environ.get("SOURCE_DATE_EPOCH")
    now = dt.datetime.now(dt.UTC)
    day = dt.datetime.fromtimestamp(int(stamp), dt.UTC) if stamp else now
    libraries = ("numpy", "scipy", "scikit-learn")
    versions = ", ".join(f"{name} {version(name)}" for name in libraries)
    return (
        f"{day:%Y-%m-%d}; {_processor()}, {os.cpu_count()} cores, {_memory():.0f} GiB; {platform.system()};"
        f" evalreport {evalreport.__version__}, Python {platform.python_version()}, {versions}."
    )


def _processor() -> str:
    """Return the processor's name where the system tells it, and the numbers that tell those of one name apart."""
    listing = Path("/proc/cpuinfo")
    if sys.platform != "linux" or not listing.exists():
        return platform.machine()
    lines = (
        text.partition(":") for text in listing.read_text(encoding="utf-8").split("\n\n")[0].splitlines()
    )
    known = {name.strip(): value.strip() for name, _, value in lines}
    which = ", ".join(f"{name} {known[key]}" for name, key in GENERATION.items() if key in known)
    return known.get("model name", platform.machine()) + (f" ({which})" if which else "")


GENERATION = {"family": "cpu family", "model": "model"}


def _memory() -> float:
    return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30
