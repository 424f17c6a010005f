"""How often the leading interval holds the true value, on the populations of the study of coverage, with another seed.

All metrics of a population are measured on the same data sets; nothing is resampled, because no leader there is a
bootstrap. What is led by ``ppi``, ``suite_t`` or intervals of attempts is measured by the study of coverage.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache

import numpy as np

from evalreport.intervals import leading, recommended, resolved
from evalreport.metrics.estimate import Estimate
from evalreport.metrics.sample import estimate_all
from research.studies.designs import Truth
from research.studies.harness import Cell, Result, Study
from research.studies.judgement import LEAST, Line, at_least
from research.studies.populations import every_design, population
from research.studies.simulation import LEVEL, difference_of
from research.studies.tally import one

FEWEST = 30
"""Examples from which on it is promised."""
ELSEWHERE = ("judge", "suite", "attempts", "ratings")
"""Populations with a promise of their own, and ratings, whose areas a run warns of."""


@dataclass(frozen=True)
class Led(Cell):
    """A population and a number of examples, or of clusters."""

    design: str
    n: int


@cache
def populations() -> tuple[Led, ...]:
    """Return the populations from 30 examples on; of clusters all sizes."""
    return tuple(
        Led(f"{design.name}, n = {size}", design.name, size)
        for design in every_design()
        if not design.name.startswith(ELSEWHERE)
        for size in design.sizes
        if size >= FEWEST or design.name.startswith("clusters")
    )


def what(truth: Truth) -> str:
    """Name what is estimated."""
    kind, model, quantity = truth
    if kind == "difference":
        return f"difference of {quantity.spelled}"
    return quantity.spelled if model == "a" else f"{quantity.spelled} of {model}"


def counted(cell: Led, generator: np.random.Generator, number: int) -> Mapping[str, float]:
    """Say of every estimate whether it is defined, and whether the leading interval holds the true value."""
    design = population(cell.design)
    predictions, units = design.draw(generator, cell.n)
    sample = estimate_all(predictions, design.quantities, units=units, n_resamples=2, seed=number)
    found: dict[str, float] = {}
    for truth, value in design.truths.items():
        kind, model, quantity = truth
        estimate = (
            difference_of(sample, quantity) if kind == "difference" else sample.estimates[model, quantity]
        )
        if not estimate.defined:
            continue
        limits = (
            leading(estimate, LEVEL)
            if isinstance(estimate, Estimate)
            else resolved(estimate, recommended(estimate), LEVEL)
        )
        found[f"{what(truth)}: defined"] = 1
        found[f"{what(truth)}: held"] = one(value, limits.low, limits.high).held
    return found


def promised(result: Result) -> Iterator[Line]:
    """Promise every leading interval on a population, of values and of differences."""
    for truth in population(result.cell.design).truths:
        name = what(truth)
        if defined := round(result[f"{name}: defined"] * result.data_sets):
            rate = result[f"{name}: held"] * result.data_sets / defined
            yield at_least(f"{result.cell.name}: {name}", rate, LEAST, defined)


STUDY = Study("Leading intervals", populations, counted, promised)
