"""How often the leading interval holds the true value, on the populations of the study of coverage, with another seed.

All metrics of a population are measured on the same data sets; nothing is resampled, because no leader there is a
bootstrap. What is led by ``ppi`` or intervals of attempts, and suites of clusters, are in the study of coverage.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache

import numpy as np

from evalreport.intervals import leading, recommended, resolved
from evalreport.metrics.difference import Difference, paired_difference
from evalreport.metrics.estimate import Estimate
from evalreport.metrics.evidence import Mean, SquaredErrors
from evalreport.metrics.registry import Quantity, definition
from evalreport.metrics.sample import estimate_all
from evalreport.predictions.table import Predictions
from evalreport.samplings import Influence, Sampling
from research.studies.designs import Truth
from research.studies.harness import Cell, Result, Study
from research.studies.judgement import LEAST, Line, at_least
from research.studies.populations import every_design, population
from research.studies.simulation import LEVEL, difference_of
from research.studies.tally import one

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
    of_numbers = predictions.task == "regression"
    if not of_numbers:
        sample = estimate_all(predictions, design.quantities, units=units, n_resamples=2, seed=number)
    estimates = of_errors(predictions, units) if of_numbers else sample.estimates
    found: dict[str, float] = {}
    for truth, value in design.truths.items():
        kind, model, quantity = truth
        estimate: Estimate | Difference = estimates[model, quantity]
        if kind == "difference" and of_numbers:
            estimate = paired_difference(estimates["a", quantity], estimates["b", quantity])
        elif kind == "difference":
            estimate = difference_of(sample, quantity)
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


def of_errors(predictions: Predictions, units: Sampling) -> dict[tuple[str, Quantity], Estimate]:
    """Return the estimates of errors as a run makes them (tests/research), in a fifth of its time."""
    assert predictions.y_true is not None
    n, estimates = predictions.n, {}
    far = (predictions.y_true - predictions.y_true.mean()) ** 2
    for model in predictions.models:
        assert model.y_pred is not None
        size = np.abs(model.y_pred - predictions.y_true)
        squares, spread = size**2, far.mean()
        mean = squares.mean()
        root = np.sqrt(mean)
        away = squares - mean
        for name, value, slopes, evidence in (
            ("mae", size.mean(), size - size.mean(), Mean()),
            ("mse", mean, away, SquaredErrors(squares)),
            ("rmse", root, away / (2 * root), SquaredErrors(squares)),
            (
                "r2",
                1 - mean / spread,
                mean / spread**2 * (far - spread) - away / spread,
                SquaredErrors(squares, far),
            ),
        ):
            quantity = Quantity(name)
            estimates[model.name, quantity] = Estimate(
                model=model.name, quantity=quantity, value=float(value), range=definition(quantity).scale.range,
                sampling=units, evidence=evidence, influence=Influence(slopes / n, np.ones(n)),
            )  # fmt: skip
    return estimates


def promised(result: Result) -> Iterator[Line]:
    """Promise every leading interval on a population, of values and of differences."""
    for truth in population(result.cell.design).truths:
        name = what(truth)
        if defined := round(result[f"{name}: defined"] * result.data_sets):
            rate = result[f"{name}: held"] * result.data_sets / defined
            yield at_least(f"{result.cell.name}: {name}", rate, LEAST, defined)


STUDY = Study("Leading intervals", populations, counted, promised)
