"""Measure type I error and power of the tests in their layouts; writes docs/tests.json and docs/tests.md.

Run by ``make study-tests``. Same seed, same tables for any number of jobs. ``--only PART`` measures one part anew and
keeps the others.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
from collections.abc import Callable, Mapping
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any

import evalreport as er
from research.studies import bars, cells, families, language, operating, seeds, sliced, ties, unequal
from research.studies.algorithms import ALPHA, TESTED
from research.studies.algorithms import measure as measure_algorithms
from research.studies.discordance import f1_size, mcnemar_size
from research.studies.tests_page import page

DOCS = Path(__file__).resolve().parents[2] / "docs"

DISCORDANCE = ((50, 0.1), (50, 0.2), (50, 0.4), (200, 0.1), (200, 0.2), (1000, 0.1))
F1_CELLS = ((50, 0.5), (100, 0.5), (300, 0.5), (300, 0.1))


@dataclass(frozen=True, slots=True)
class Run:
    """How a study is run: data sets of a cell, swaps and replicates of a data set, seed, processes."""

    replications: int
    n_resamples: int
    seed: int
    jobs: int


def of_mcnemar(_: Run) -> list[dict[str, Any]]:
    """Enumerate McNemar's tests."""
    return [{"n": n, "discordance": d, **mcnemar_size(n, d)} for n, d in DISCORDANCE]


def of_f1(run: Run) -> list[dict[str, Any]]:
    """Simulate differences of F1 between exchangeable models."""
    given = {"replications": run.replications, "n_resamples": run.n_resamples, "seed": run.seed}
    with ProcessPoolExecutor(run.jobs) as pool:
        found = [pool.submit(f1_size, n, share, **given) for n, share in F1_CELLS]
        return [
            {"n": n, "prevalence": share, **future.result()}
            for (n, share), future in zip(F1_CELLS, found, strict=True)
        ]


def of_algorithms(run: Run) -> list[dict[str, Any]]:
    """Train algorithms on folds."""
    null, power = measure_algorithms(replications=run.replications, seed=run.seed, jobs=run.jobs)
    return [
        {
            "layout": layout,
            "test": test,
            "type_1": {learner: rates[layout, test] for learner, rates in null.items()},
            "power": {learner: rates[layout, test] for learner, rates in power.items()},
        }
        for layout, tests in TESTED.items()
        for test in tests
    ]


def of_seeds(run: Run) -> list[dict[str, Any]]:
    """Train two models with several seeds."""
    return seeds.measure(replications=run.replications, seed=run.seed, jobs=run.jobs)


def of_cells(part: ModuleType) -> Callable[[Run], list[dict[str, Any]]]:
    """Return the function that measures the cells of a part."""
    return lambda run: cells.measure(
        part.CELLS, part.counted, replications=run.replications, seed=run.seed, jobs=run.jobs
    )


def of_gates(run: Run) -> dict[str, list[dict[str, Any]]]:
    """Enumerate gates on proportions, and simulate those on other values."""
    return {"enumerated": bars.enumerate_bars(), "simulated": of_cells(bars)(run)}


PARTS: Mapping[str, Callable[[Run], Any]] = {
    "mcnemar": of_mcnemar,
    "f1": of_f1,
    "algorithms": of_algorithms,
    "seeds": of_seeds,
    "operating_points": of_cells(operating),
    "ties": of_cells(ties),
    "slices": of_cells(sliced),
    "gates": of_gates,
    "families": of_cells(families),
    "unequal": of_cells(unequal),
    "language": of_cells(language),
}
"""What is measured, by its key in docs/tests.json."""


def main() -> int:
    """Run the study and write its pages."""
    parser = argparse.ArgumentParser(prog="python -m research.studies.tests", description=__doc__)
    parser.add_argument("--replications", type=int, default=1000, help="data sets of a simulated cell")
    parser.add_argument(
        "--resamples", type=int, default=500, help="swaps and bootstrap replicates of a data set"
    )
    parser.add_argument("--seed", type=int, default=20262, help="seed of every data set")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1, help="processes")
    parser.add_argument("--output", type=Path, default=DOCS, help="folder to write to")
    parser.add_argument(
        "--only", choices=tuple(PARTS), help="measure this part anew, keep the others as they are"
    )
    given = parser.parse_args()
    run = Run(given.replications, given.resamples, given.seed, given.jobs)
    made = {
        "alpha": ALPHA,
        "replications": run.replications,
        "resamples": run.n_resamples,
        "seed": run.seed,
        "version": er.__version__.partition(".dev")[0],  # the release that is being prepared
    }
    found: dict[str, Any] = dict(made)
    if given.only is not None:
        found = json.loads((given.output / "tests.json").read_text(encoding="utf-8"))
        if any(found.get(key) != value for key, value in made.items()):
            parser.error(
                "--only: the other parts were measured with another version, seed or number of data sets"
            )
    for name in (given.only,) if given.only else PARTS:
        print(f"measuring {name} ...", file=sys.stderr, flush=True)
        found[name] = PARTS[name](run)
    given.output.mkdir(parents=True, exist_ok=True)
    text = json.dumps(found, indent=1, sort_keys=True) + "\n"
    (given.output / "tests.json").write_text(text, encoding="utf-8")
    # Until every part was measured once there is nothing to write a page from.
    if set(PARTS) <= set(found):
        (given.output / "tests.md").write_text(page(found), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
