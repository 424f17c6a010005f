"""Type I error and power of the tests in their layouts, and of verdicts and gates: docs/tests.csv."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import partial
from types import ModuleType

from research.studies import (
    algorithms,
    bars,
    discordance,
    families,
    language,
    operating,
    seeds,
    sliced,
    ties,
    unequal,
)
from research.studies.harness import Run, measure

Shares = Iterator[tuple[str, str, float, int]]
"""Cell, figure, share, and the data sets drawn; 0 where all outcomes were enumerated."""


def of_mcnemar(_: Run) -> Shares:
    """Enumerate McNemar's tests."""
    for n, share in discordance.DISCORDANCE:
        for test, size in discordance.mcnemar_size(n, share).items():
            yield f"n = {n}, discordance {share:g}", test, size, 0


def of_bars(_: Run) -> Shares:
    """Enumerate gates on proportions."""
    for row in bars.enumerate_bars():
        for figure in ("passes", "passes_at", "fails", "fails_at"):
            yield f"bar {row['bar']:g}, every n to {row['most']}", figure, row[figure], 0


def of_cells(part: ModuleType, run: Run) -> Shares:
    """Measure the cells of a part."""
    for result in measure(part.CELLS, part.counted, run):
        for figure in result.totals:
            yield result.cell.name, figure, result[figure], result.data_sets


PARTS: Mapping[str, Callable[[Run], Shares]] = {
    "mcnemar": of_mcnemar,
    "f1": partial(of_cells, discordance),
    "algorithms": partial(of_cells, algorithms),
    "seeds": partial(of_cells, seeds),
    "operating points": partial(of_cells, operating),
    "ties": partial(of_cells, ties),
    "slices": partial(of_cells, sliced),
    "bars": of_bars,
    "gates": partial(of_cells, bars),
    "families": partial(of_cells, families),
    "unequal": partial(of_cells, unequal),
    "language": partial(of_cells, language),
}


def rows(run: Run, parts: Iterator[str] | Mapping[str, object] = PARTS) -> Iterator[Mapping[str, object]]:
    """Yield the rows of docs/tests.csv."""
    for part in parts:
        for cell, figure, share, data_sets in PARTS[part](run):
            yield {
                "part": part, "cell": cell, "figure": figure, "share": share, "data_sets": data_sets,
                "seed": run.seed,
            }  # fmt: skip
