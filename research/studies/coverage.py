"""Measure the coverage of every interval that evalreport offers; writes docs/coverage.* and docs/intervals.md.

Run by ``make study-coverage``; about fifteen minutes on two cores. Same seed, same tables for any number of jobs.
From docs/coverage.csv follows evalreport/intervals/measured.csv, the situations in which a run warns.
"""

from __future__ import annotations

import argparse
import os
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from research.studies import coverage_page, intervals_page, shortfalls
from research.studies.designs import every_design
from research.studies.enumeration import independent, paired, proportions
from research.studies.rows import Row, exact_rows, read, simulated_rows, write
from research.studies.simulation import simulate

DOCS = Path(__file__).resolve().parents[2] / "docs"

SIZES = (30, 100, 1000)
TRUE_PROPORTIONS = (0.5, 0.8, 0.9, 0.95, 0.99)
PAIRED_SIZES = (30, 100)
DISCORDANCE = ((0.1, 0.0), (0.1, 0.05), (0.2, 0.0), (0.2, 0.1), (0.4, 0.0), (0.4, 0.1))
"""Share of examples on which only one of the two models is right, and the difference of the accuracies."""
APART = ((0.8, 0.8), (0.9, 0.8), (0.95, 0.9), (0.99, 0.97))
"""Accuracies of two models on test sets of their own."""


@dataclass(frozen=True, slots=True)
class Settings:
    """What a run of the study depends on."""

    replications: int
    n_resamples: int
    seed: int


def enumerated() -> Iterator[Row]:
    """Yield the rows of the cells in which every outcome is enumerated."""
    for n in SIZES:
        for p, tallies in proportions(n, TRUE_PROPORTIONS).items():
            yield from exact_rows(f"p = {p:g}", n, "value", tallies, truth=p, leader="wilson")
    for n in PAIRED_SIZES:
        for discordance, delta in DISCORDANCE:
            both = 0.8 * (1 - discordance)
            cells = (both, (discordance + delta) / 2, (discordance - delta) / 2, 1 - both - discordance)
            name = f"discordance {discordance:g}, difference {delta:g}"
            tallies = paired(n, cells)
            yield from exact_rows(name, n, "difference", tallies, truth=delta, leader="plus_two")
    for n in SIZES:
        for first, second in APART:
            name, tallies = f"two test sets, p = {first:g} and {second:g}", independent(n, first, second)
            leader = "newcombe_independent"
            yield from exact_rows(name, n, "difference", tallies, truth=first - second, leader=leader)


def simulated(settings: Settings, jobs: int, only: str = "") -> Iterator[Row]:
    """Yield the rows of the simulated cells."""
    designs = every_design()
    found = simulate(
        replications=settings.replications,
        n_resamples=settings.n_resamples,
        seed=settings.seed,
        jobs=jobs,
        progress=_progress(time.monotonic()),
        only=only,
    )
    for (i, size), measured in found.items():
        yield from simulated_rows(designs[i], size, measured)


def _progress(started: float):  # type: ignore[no-untyped-def]
    """Return a function that says how far the simulation is: on a terminal in one line, else every tenth."""
    live = sys.stderr.isatty()

    def say(done: int, total: int) -> None:
        elapsed = time.monotonic() - started
        text = f"simulated {done} of {total} parts, {elapsed:.0f} s, about {elapsed / done * (total - done):.0f} s left"
        if live:
            print(f"\r{text:<78}", end="\n" if done == total else "", file=sys.stderr, flush=True)
        elif done == total or done % max(1, total // 10) == 0:
            print(text, file=sys.stderr, flush=True)

    return say


def arguments() -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(prog="python -m research.studies.coverage", description=__doc__)
    parser.add_argument("--replications", type=int, default=2000, help="data sets of a simulated cell")
    parser.add_argument("--resamples", type=int, default=1000, help="bootstrap replicates of a data set")
    parser.add_argument("--seed", type=int, default=20261, help="seed of every data set and bootstrap")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1, help="processes")
    parser.add_argument(
        "--only", default="", help="simulate anew the designs whose names begin so, keep the others"
    )
    parser.add_argument(
        "--pages", action="store_true", help="simulate nothing: make the pages of what was measured"
    )
    parser.add_argument("--output", type=Path, default=DOCS, help="folder to write to")
    return parser.parse_args()


def main() -> int:
    """Run the study; return 1 where a leading interval misses and neither the run says so nor a known limit."""
    given = arguments()
    settings = Settings(given.replications, given.resamples, given.seed)
    rows = read(given.output / "coverage.csv") if given.pages else _measured(given, settings)
    table = shortfalls.shortfalls_in(rows)
    if given.output == DOCS:
        shortfalls.write(table)
    (given.output / "figures").mkdir(parents=True, exist_ok=True)
    write(given.output / "coverage.csv", rows)
    page = coverage_page.page(rows, settings.replications, settings.n_resamples, settings.seed)
    (given.output / "coverage.md").write_text(page, encoding="utf-8")
    (given.output / "intervals.md").write_text(intervals_page.page(), encoding="utf-8")
    coverage_page.figure(given.output / "figures" / "coverage.svg")
    surprises = coverage_page.surprises(rows, table)
    for line in surprises:
        print(line, file=sys.stderr)
    return 1 if surprises else 0


def _measured(given: argparse.Namespace, settings: Settings) -> list[Row]:
    """Enumerate and simulate; with ``--only`` the other designs keep their rows."""
    print("enumerating proportions and paired differences ...", file=sys.stderr, flush=True)
    fresh = list(simulated(settings, given.jobs, given.only))
    # The other designs keep what was measured; every data set has a seed of its own, so the table is that of one run.
    kept = (
        [row for row in read(given.output / "coverage.csv") if not row.design.startswith(given.only)]
        if given.only
        else []
    )
    exact = [] if given.only else list(enumerated())
    order = {design.name: place for place, design in enumerate(every_design())}
    return sorted([*exact, *kept, *fresh], key=lambda row: order.get(row.design, -1))


if __name__ == "__main__":
    sys.exit(main())
