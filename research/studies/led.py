"""How often the leading interval holds the true value, on the populations of the study of coverage, with another seed.

All metrics of a population are measured on the same data sets; nothing is resampled, because no leader there is a
bootstrap. What is led by ``ppi`` or intervals of attempts, and suites of clusters, are in the study of coverage.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache

import numpy as np

from evalreport.metrics.sample import estimate_all
from research.studies.designs import Truth
from research.studies.harness import Cell, Result, Study
from research.studies.judgement import LEAST, Line, at_least
from research.studies.known_limits import named
from research.studies.populations import every_design, population
from research.studies.simulation import tallied
from research.studies.tally import Tally

FEWEST = 30
"""Examples from which on it is promised."""
ELSEWHERE = ("judge", "suite, clusters", "attempts")
"""Populations with a promise of their own."""


@dataclass(frozen=True)
class Led(Cell):
    """A population and a number of examples, or of clusters."""

    design: str
    n: int


@cache
def populations() -> tuple[Led, ...]:
    """Return the populations from 30 examples on; of clusters and of suites all sizes."""
    return tuple(
        Led(f"{design.name}, n = {size}", design.name, size)
        for design in every_design()
        if not design.name.startswith(ELSEWHERE)
        for size in design.sizes
        if size >= FEWEST or design.name.startswith(("clusters", "suite"))
    )


def counted(cell: Led, generator: np.random.Generator, number: int) -> Mapping[Truth, Tally]:
    """Say of every estimate that is defined whether the leading interval holds the true value."""
    design = population(cell.design)
    predictions, units = design.draw(generator, cell.n)
    sample = estimate_all(predictions, design.quantities, units=units, n_resamples=2, seed=number)
    return tallied(sample, design.truths)


def promised(result: Result) -> Iterator[Line]:
    """Promise every leading interval on a population, of values and of differences."""
    for truth in population(result.cell.design).truths:
        kind, model, quantity = truth
        name = named(kind, model, quantity.spelled)
        if (tally := result.totals.get(truth)) is not None:
            yield at_least(f"{result.cell.name}: {name}", tally.coverage_of_all, LEAST, round(tally.sets))


STUDY = Study("Leading intervals", populations, counted, promised)
