"""How often the title of the picture of errors names a trend where there is none."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np

from evalreport.metrics.predicted_values import error_trend
from evalreport.predictions.arrays import Floats
from research.studies.harness import Cell
from research.studies.tally import Tally, happened

SIZES = (60, 200, 1000, 12_000)
Law = Callable[[np.random.Generator, int], tuple[Floats, Floats]]
"""Predictions, and errors of mean 0 at every prediction."""


def heteroscedastic(generator: np.random.Generator, n: int) -> tuple[Floats, Floats]:
    """Draw normal predictions, and errors whose standard deviation grows with them."""
    x = generator.normal(size=n)
    return x, generator.normal(size=n) * np.exp(0.5 * x)


LAWS: Mapping[str, Law] = {
    "normal": lambda g, n: (g.normal(size=n), g.normal(size=n)),
    "errors that grow with the prediction": heteroscedastic,
    "lognormal predictions": lambda g, n: (g.lognormal(0, 0.7, n), g.normal(size=n)),
    "Student's t errors, 5 degrees of freedom": lambda g, n: (g.normal(size=n), g.standard_t(5, n)),
    "chi-squared errors, 4 degrees of freedom": lambda g, n: (g.random(n), g.chisquare(4, n) - 4),
    "exponential errors": lambda g, n: (g.normal(size=n), g.exponential(size=n) - 1),
}


@dataclass(frozen=True)
class Errors(Cell):
    """Predictions and errors by a law, and how many."""

    law: str
    n: int


CELLS = tuple(
    Errors(f"{law}, n = {n}", law, n, at_once=0, stream=(place, n))
    for place, law in enumerate(LAWS)
    for n in SIZES
)


def counted(cell: Errors, generator: np.random.Generator, sets: int) -> Mapping[tuple[()], Tally]:
    """Count the data sets of which no trend is said to be there."""
    total = Tally()
    for number in range(sets):
        x, error = LAWS[cell.law](generator, cell.n)
        trend = error_trend(x, x - error, seed=number)
        total += happened(trend is None or not trend.shown)
    return {(): total}
