"""An audit against 500 recorded runs, and the page of all of them, beside what a user would write without."""

from __future__ import annotations

import io
import json
import sys
from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from functools import partial
from hashlib import sha256
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np

from evalreport.audit.auditing import audit, record
from evalreport.audit.site import write_site
from evalreport.history.connection import History, open_history
from evalreport.history.store import results_of, runs
from evalreport.options import Options
from research.benchmarks.designs import Table, loop_of, write_tables
from research.benchmarks.scale import cost_of
from research.benchmarks.timing import Row, Timed, best_of, in_turn, scaled, timed

RUNS = 500
EXAMPLES = 1_000
"""Examples of an audit: cases of its own day."""
RESAMPLES, MEASURED = 2_000, 10
FIRST = datetime(2025, 1, 1, tzinfo=UTC)


def beside_no_history(*, quick: bool) -> Iterator[Row]:
    """Time an audit with many recorded runs, and their page, beside the plain run and beside plain scripts."""
    with TemporaryDirectory() as place:
        folder, count = Path(place), 20 if quick else RUNS
        history = open_history(f"sqlite:///{folder / 'audits.db'}", create=True)
        write_tables(_day(0), folder / "0")
        _recorded(history, folder / "0", count)
        days = [1, 2, 3]
        for day in days:
            write_tables(_day(day), folder / str(day))
        audits, plain = iter(days), iter(days)
        ours, theirs, loops = in_turn(
            lambda: _program("audit", folder / str(next(audits)), "--history", history.name),
            lambda: _program("run", folder / str(next(plain))),
            partial(scaled, loop_of(_day(1)), MEASURED, RESAMPLES),
            rounds=len(days),
        )
        work = f"an audit of 2 models x {EXAMPLES:,} against {count} recorded runs, the whole program, JSON"
        yield timed(work, "`evalreport run` of the same files", ours, theirs, least_ratio=2 / 3)
        yield timed(work, "scikit-learn resampling loop", ours, loops)
        page, script = in_turn(
            partial(best_of, partial(write_site, history, folder / "site"), 1),
            partial(best_of, partial(_own_page, history, folder / "own"), 1),
            rounds=2,
        )
        yield timed(
            f"the page of {count} audits",
            "json.loads of each results.json, and one figure of matplotlib a model",
            page,
            script,
            remark="wanted at most 5 s",
        )


def _day(seed: int) -> list[Table]:
    random = np.random.default_rng(seed)
    true = (random.random(EXAMPLES) < 0.4).astype(float)
    models: list[Table] = []
    for j in range(2):
        p = 1 / (1 + np.exp(-2.6 * (true - 0.5) - (1 + 0.05 * j) * random.normal(size=EXAMPLES)))
        ids = np.arange(seed * EXAMPLES, (seed + 1) * EXAMPLES).astype(float)
        models.append({"id": ids, "y_true": true, "y_prob": p, "y_pred": (p > 0.5).astype(float)})
    return models


def _recorded(history: History, models: Path, count: int) -> None:
    """Record one audit as those of many days."""
    found = audit(models, options=Options(), history=history, time=FIRST)
    for day in range(count):
        latest, _ = record(found, history=history, time=FIRST + timedelta(days=day), exit_code=0)
        found = replace(
            found,
            identity=sha256(str(day).encode()).hexdigest(),
            standing=replace(found.standing, latest=latest.id),
        )


def _program(command: str, models: Path, *options: str) -> Timed:
    words = (sys.executable, "-m", "evalreport", command, str(models), *options)
    return Timed(cost_of(*words, "-f", "json", "-q", "-o", f"{models}-{command}").processor)


def _own_page(history: History, folder: Path) -> None:
    """Write each results.json, and a picture of each model's values in all runs, as a script of one page would."""
    from matplotlib.figure import Figure

    folder.mkdir(exist_ok=True)
    series: dict[str, list[tuple[str, float, float, float]]] = {}
    for run in runs(history):
        data = results_of(history, run.id)
        (folder / f"run-{run.id}.json").write_bytes(data)
        results = json.loads(data)
        for row in results["metrics"]:
            if row["metric"] == results["primary_metric"] and row["slice"] is None:
                limits = row["intervals"][0]
                series.setdefault(row["model"], []).append(
                    (run.time[:10], row["value"], limits["low"], limits["high"])
                )
    for model, points in series.items():
        figure = Figure(figsize=(9.2, 3.3))
        axes = figure.subplots()
        days = [np.datetime64(day) for day, *_ in points]
        value, low, high = np.array([numbers for _, *numbers in points]).T
        axes.errorbar(days, value, yerr=[value - low, high - value], fmt="o")
        axes.set_title(model)
        picture = io.StringIO()
        figure.savefig(picture, format="svg")
        (folder / f"{model}.svg").write_text(picture.getvalue(), encoding="utf-8")
