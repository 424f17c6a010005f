"""The coverage of every interval that evalreport offers, on populations whose true values are known.

By enumeration of every outcome where that can be done, else by simulation; about fifteen minutes on two cores. From
docs/coverage.csv and score-tails.csv follow the situations in which a run warns, evalreport/intervals/measured.csv.
"""

from __future__ import annotations

import statistics
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict
from itertools import groupby
from pathlib import Path
from typing import Any

import numpy as np

from evalreport.intervals.shortfalls import Shortfall
from research.studies import harness, shortfalls, simulation, tables
from research.studies.enumeration import (
    independent,
    paired,
    proportion_coverage,
    proportion_limits,
    proportions,
)
from research.studies.known_limits import KNOWN_LIMITS, MEASURED_AGAIN
from research.studies.populations import every_design
from research.studies.rows import NOMINAL, Row, read, rows_of, simulated_rows
from research.studies.tally import LEADING

SIZES = (30, 100, 1000)
TRUE_PROPORTIONS = (0.5, 0.8, 0.9, 0.95, 0.99)
PAIRED_SIZES = (30, 100)
DISCORDANCE = ((0.1, 0.0), (0.1, 0.05), (0.2, 0.0), (0.2, 0.1), (0.4, 0.0), (0.4, 0.1))
"""Share of examples on which only one of the two models is right, and the difference of the accuracies."""
APART = ((0.8, 0.8), (0.9, 0.8), (0.95, 0.9), (0.99, 0.97))
"""Accuracies of two models on test sets of their own."""
NEAR = 0.93
"""What README and the list of known limits ask of a cell."""


def enumerated() -> Iterator[Row]:
    """Yield the rows of the cells in which every outcome is enumerated."""
    for n in SIZES:
        for p, tallies in proportions(n, TRUE_PROPORTIONS).items():
            yield from rows_of((f"p = {p:g}", n, "value", "a", "accuracy"), tallies, p, "wilson")
    for n in PAIRED_SIZES:
        for discordance, delta in DISCORDANCE:
            both = 0.8 * (1 - discordance)
            cells = (both, (discordance + delta) / 2, (discordance - delta) / 2, 1 - both - discordance)
            name = f"discordance {discordance:g}, difference {delta:g}"
            yield from rows_of((name, n, "difference", "a", "accuracy"), paired(n, cells), delta, "plus_two")
    for n in SIZES:
        for first, second in APART:
            name, tallies = f"two test sets, p = {first:g} and {second:g}", independent(n, first, second)
            yield from rows_of(
                (name, n, "difference", "a", "accuracy"), tallies, first - second, "newcombe_independent"
            )


def rows(run: harness.Run) -> Iterator[Mapping[str, object]]:
    """Yield the rows of docs/coverage.csv; with a word in ``run.only`` those of the simulated cells that have it."""
    if not run.only:
        yield from map(asdict, enumerated())
    for result in harness.measure(simulation.cells(every_design(), run.n_resamples), simulation.counted, run):
        yield from map(asdict, simulated_rows(result))


def finish(folder: Path) -> list[str]:
    """Write what follows from the table; return the leading intervals that miss and of which no run says so."""
    measured = read(folder / "coverage.csv")
    situations = shortfalls.shortfalls_in(measured)
    if folder == tables.DOCS:
        write_situations()
    tables.write(folder / "populations.csv", populations())
    (folder / "figures").mkdir(parents=True, exist_ok=True)
    figure(folder / "figures" / "coverage.svg")
    return surprises(measured, situations)


def situations_of_studies() -> list[Shortfall]:
    """Return every situation in which a run warns, of this study and of that of heavy tails."""
    measured = shortfalls.shortfalls_in(read(tables.DOCS / "coverage.csv"))
    return measured + shortfalls.of_tails(tables.read(tables.DOCS / "score-tails.csv"))


def write_situations() -> None:
    """Write evalreport/intervals/measured.csv."""
    shortfalls.write(situations_of_studies())


def populations() -> list[dict[str, str]]:
    """Return what the names of the populations mean."""
    return [
        *({"name": design.name, "population": design.text} for design in every_design()),
        {"name": "p = ...", "population": "a proportion with the true value p; its bootstrap distribution is the exact"
         " binomial one"},
        {"name": "two test sets, p and q", "population": "two models with these accuracies, each on n examples of its"
         " own"},
        {"name": "discordance D, difference d", "population": "two models on the same examples; on a share D only one"
         " of them is right"},
    ]  # fmt: skip


def surprises(measured: Iterable[Row], situations: Sequence[Shortfall]) -> list[str]:
    """Return one line for each leading interval that misses unexplained, and each listed cell that does not miss."""
    leading = {row.key: row for row in measured if row.method == LEADING}
    unexplained = [
        f"{key}: {row.leader} covers {row.coverage:.3f}, asked are {row.least:.3f}, and no run says so; list it in"
        " known_limits.py or let another interval lead"
        for key, row in leading.items()
        if row.misses and shortfalls.explanation(row, situations) is None
    ]
    listed = (*KNOWN_LIMITS, *MEASURED_AGAIN)
    stale = [key for key in listed if key not in leading or not leading[key].misses]
    return [*unexplained, *(f"{key} is listed as a known limit but does not miss" for key in stale)]


# --- the tables of docs/coverage.md ---------------------------------------------------------------------------------


@tables.view("coverage.by_leader")
def by_leader() -> list[dict[str, str]]:
    """Return, for each leading interval, how its coverage spreads over the situations in which it leads."""
    return [
        {
            "of": kind, "leads": leader, "metrics": _listed(row.metric for row in cells), "situations": str(len(cells)),
            "least": str(worst.coverage), "median": str(statistics.median(row.coverage for row in cells)),
            "most": str(max(row.coverage for row in cells)), "least at": f"{worst.design}, n = {worst.size}",
        }
        for (kind, leader), cells in _groups(_leading(), lambda row: (row.kind, row.leader))
        for worst in (min(cells, key=lambda row: row.coverage),)
    ]  # fmt: skip


@tables.view("coverage.limits")
def known_limits() -> list[dict[str, str]]:
    """Return the situations that miss, or cover less than ``NEAR``, with what a run says there."""
    situations = shortfalls.shortfalls_in(read(tables.DOCS / "coverage.csv"))
    missing = [
        row for row in _leading() if (row.misses or row.coverage < NEAR) and row.key not in MEASURED_AGAIN
    ]
    return [
        {
            "of": f"difference of {metric}" if kind == "difference" else metric, "leads": leader,
            "population": design, "n": _listed(str(n) for n in sorted({row.size for row in cells})),
            "covers": str(min(row.coverage for row in cells)),
            "a run says": _listed((shortfalls.explanation(row, situations) or "nothing" for row in cells), "; "),
        }
        for (kind, metric, leader, design), cells in _groups(
            missing, lambda row: (row.kind, row.metric, row.leader, row.design.partition(", sensitivity")[0])
        )
    ]  # fmt: skip


@tables.view("coverage.again")
def measured_again() -> list[dict[str, str]]:
    """Return the cells that missed by chance, with the promise of docs/promises.csv that was measured there since."""
    promises = {row["promise"]: row for row in tables.read(tables.DOCS / "promises.csv")}
    return [
        {
            "of": row.metric, "leads": row.leader, "population": row.design, "n": str(row.size),
            "covers": str(row.coverage), "data sets": str(row.sets),
            "measured again": str(int(again["count"]) / int(again["data_sets"])),
            "data sets then": again["data_sets"], "its limit": again["bound"],
        }
        for row in _leading()
        if row.key in MEASURED_AGAIN
        for again in (promises[MEASURED_AGAIN[row.key]],)
    ]  # fmt: skip


def _leading() -> list[Row]:
    return [row for row in read(tables.DOCS / "coverage.csv") if row.method == LEADING]


def _groups(measured: Iterable[Row], key: Any) -> list[tuple[Any, list[Row]]]:
    return [(group, list(cells)) for group, cells in groupby(sorted(measured, key=key), key=key)]


def _listed(words: Iterable[str], between: str = ", ") -> str:
    return between.join(dict.fromkeys(words))


def figure(path: Path) -> None:
    """Draw the coverage of four intervals of a proportion against the true proportion."""
    import matplotlib as mpl
    from matplotlib.figure import Figure

    from evalreport.plots.style import MARKS

    methods = ("normal", "bootstrap_percentile", "wilson", "clopper_pearson")
    truths = np.linspace(0.5, 0.999, 500)
    settings: Any = {
        "svg.hashsalt": "evalreport",
        "svg.fonttype": "path",
        "font.size": 9,
        "font.family": "DejaVu Sans",
    }
    with mpl.rc_context(settings):
        drawing = Figure(figsize=(8, 3.2), layout="constrained")
        axes = drawing.subplots(1, 2, sharey=True)
        for ax, n in zip(axes, (30, 100), strict=True):
            every = proportion_limits(n, methods)
            for mark, method in zip(MARKS, methods, strict=False):
                shares = proportion_coverage(n, truths, every[method])
                ax.plot(truths, shares, color=mark.colour, linestyle=mark.dash, lw=1.2, label=method)
            ax.axhline(NOMINAL, color="#191c20", lw=0.6)
            ax.set(title=f"n = {n}", xlabel="true proportion", ylim=(0.6, 1.0), xlim=(0.5, 1.0))
        axes[0].set_ylabel("share of intervals that hold it")
        axes[0].legend(loc="lower left", frameon=False)
        drawing.savefig(path, metadata={"Date": None, "Creator": None})
