"""Run a study: ``python -m research.studies NAME``; ``pages`` writes the tables of the pages anew and measures nothing.

A study writes docs/NAME.csv (its table), what follows from it (figures, the tables of pages), and returns 1 where
something is measured that nobody has explained. Same seed, same table for any number of processes.
"""

from __future__ import annotations

import argparse
import importlib
import os
import sys
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from research.studies import tables
from research.studies.harness import Run, Table, held

OF_AUDITS = (
    *("kind", "accepted", "accepted_n", "nightly", "accuracy"),
    *("sd", "correlation", "drop", "good", "rule"),
)
OF_SMALL = ("accepted", "accepted_n", "accuracy", "sd", "horizon")
OF_CURVES = ("kind", "metric", "levels", "shape", "first", "second", "correlation", "prevalence", "n")
HELD = ("sets", "held", "lower")
BOTH_SIDES = (*HELD, "upper")
MISSES = ("sets", "held", "at_least", "too_high", "too_low")
OF_ALL = ("data_sets", "sets", "held_of_all", "too_high", "too_low")
STUDIES: Mapping[str, Table] = {
    "coverage": Table("coverage", ("design", "size", "kind", "model", "metric", "method"), 2000, 20261),
    "tests": Table("tests", ("part", "cell", "figure"), 1000, 20262),
    "confirm": Table("promises", ("heading", "promise", "side"), 2000, None, file="promises.csv"),
    "clustering": Table("clustering", ("n", "groups", "noise", "skew", "metric"), 400, 17),
    "calibration": Table("calibration", ("kind", "quantity", "cell", "n"), 2000),
    "time-order": Table("time_order", ("correlation", "n", "metric"), 1000, 20263),
    "costs": Table("costs", ("figure", "law", "n"), 10_000, 4711, ("sets", "held", "missed", "too_high", "too_low")),
    "looks": Table("looks", ("what", "test", "looks", "steps", "share"), 10_000, 20264),
    "estimators": Table("estimators", ("learner", "n", "estimator"), 100, 20261),
    "audits": Table("audits", OF_AUDITS, 1000, 20269, file="audit-alarms.csv"),
    "audits-small": Table("audits", OF_SMALL, 4000, 4127, (), "small", "audit-alarms-small.csv"),
    "audited-metrics": Table("audited_metrics", ("metric", "n", "sizes"), 150, 31, file="audit-alarms-metrics.csv"),
    "audited-seasons": Table(
        "audited_metrics", ("metric", "season", "fall"), 100, 5501, (), "seasons", "audit-alarms-seasons.csv"
    ),
    "intervals": Table("intervals", ("part", "cell", "figure"), 1),
    "two-sets": Table("two_sets", ("metric", "n"), 8000, 8812),
    "effect-sizes": Table("effect_sizes", ("law", "n", "d"), 4000, 60417, HELD),
    "interval-scores": Table(
        "interval_scores", ("level", "skewed", "n"), 1000, 5761, OF_ALL
    ),
    "weights": Table("weights", ("name", "figure", "leads"), 2500, 62004, MISSES),
    "judge-pools": Table("judge_pools", ("labels", "judge"), 600, 59059, HELD),
    "groups": Table("groups", ("design", "n", "seed", "metric", "of", "method"), 24, 20261129),
    "kinds": Table("kinds", ("kind", "skewed", "figure", "n"), 1000, 20265, MISSES),
    "error-trend": Table("error_trend", ("law", "n"), 2000, 70713, ("sets", "missed", "missed_upper")),
    "few-clusters": Table(
        "few_clusters", ("metric", "clusters", "size", "correlation", "truth"), 8000, 41907, (*HELD, "width")
    ),
    "at-cuts": Table("at_cuts", ("metric", "interval", "n", "positives", "shift", "spread"), 2000, 41129, HELD),
    "class-areas": Table(
        "class_areas", ("kind", "metric", "classes", "rarest", "shift", "correlation"), 400, 50616, HELD
    ),
    "curve-areas": Table("curve_areas", OF_CURVES, 8000, 81187, (*BOTH_SIDES, "width")),
    "score-tails": Table(
        "score_tails", ("kind", "metric", "shape", "area", "prevalence", "n"), 2000, 91457,
        (*BOTH_SIDES, "warned", "width"),
    ),
    "few-losses": Table("few_losses", ("errors", "n", "interval"), 3000, 31907),
    "thresholds": Table("thresholds", ("name", "limits"), 1000, 71204, (*HELD, "width")),
}  # fmt: skip


def main(arguments: Iterable[str] | None = None) -> int:
    """Measure, write, and say by the exit code whether all that is short is explained."""
    parser = argparse.ArgumentParser(prog="python -m research.studies", description=__doc__)
    parser.add_argument("study", choices=("pages", *STUDIES))
    parser.add_argument(
        "--replications", type=int, help="data sets of a cell (of estimators: percent of them)"
    )
    parser.add_argument("--resamples", type=int, default=1000, help="bootstrap replicates of a data set")
    parser.add_argument("--seed", type=int, help="seed of every data set")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1, help="processes")
    parser.add_argument(
        "--part", help="of tests a part, of confirm a heading: measure it anew, keep the others"
    )
    parser.add_argument(
        "--only", default="", help="measure cells whose names contain this anew, keep the others"
    )
    parser.add_argument("--output", type=Path, default=tables.DOCS, help="folder to write to")
    given = parser.parse_args(None if arguments is None else list(arguments))
    modules = {
        name: importlib.import_module(f"research.studies.{spec.module}") for name, spec in STUDIES.items()
    }
    importlib.import_module("research.studies.mutants")
    if given.study == "pages":
        tables.fill(given.output)
        return 0
    spec, module = STUDIES[given.study], modules[given.study]
    seed = spec.seed if given.seed is None else given.seed
    if seed is None:
        parser.error("give a --seed that was not used yet")
    run = Run(given.replications or spec.replications, seed, given.jobs, given.only, given.resamples)
    write(given.output / (spec.file or f"{given.study}.csv"), spec, module, run, given.part)
    finish = getattr(module, "finish", None) if spec.rows == "rows" else None
    unexplained = finish(given.output) if finish else []
    tables.fill(given.output)
    print("\n".join(unexplained), file=sys.stderr)
    return 1 if unexplained else 0


def write(path: Path, spec: Table, module: Any, run: Run, part: str | None) -> None:
    """Measure and write a study's table; rows that are not measured anew are kept."""
    path.parent.mkdir(parents=True, exist_ok=True)
    if spec.columns:
        cells = module.CELLS() if callable(module.CELLS) else module.CELLS
        measured: Iterable[Mapping[str, object]] = held(cells, module.counted, run, spec)
    else:
        rows = getattr(module, spec.rows)
        measured = rows(run, (part,)) if part else rows(run)
    fresh = [{name: str(value) for name, value in row.items()} for row in measured]
    old = tables.read(path) if path.exists() and (part or run.only) else []
    tables.write(path, tables.merged(old, fresh, spec.key))


if __name__ == "__main__":
    sys.exit(main())
