"""How often the interval of Cohen's d of paired differences holds, by their distribution.

The population's d is known: the standardised law has mean 0 and standard deviation 1, and d is added.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np

from evalreport.comparisons.effects import standardised_limits
from evalreport.predictions.arrays import Floats
from research.studies.harness import Cell
from research.studies.simulation import LEVEL
from research.studies.tally import Tally, one

SIZES = (100, 200, 1000)
EFFECTS = (0.0, 0.2, 0.5, 1.0)
Law = Callable[[np.random.Generator, tuple[int, int]], Floats]


def contrast(generator: np.random.Generator, shape: tuple[int, int]) -> Floats:
    """Draw differences of squared errors whose standard deviations are 1 and 1.5, standardised."""
    x, y = generator.normal(size=(2, *shape))
    first, second = x**2, (1.5 * (0.6 * x + 0.8 * y)) ** 2
    # Var(x^2) = 2, Var = 2 * 1.5^4, Cov(x^2, z^2) = 2 * 0.6^2 for correlation 0.6, times 1.5^2.
    variance = 2 + 2 * 1.5**4 - 2 * 2 * 0.36 * 1.5**2
    return np.asarray((second - first - 1.25) / np.sqrt(variance))


LAWS: Mapping[str, Law] = {
    "normal": lambda g, shape: g.normal(size=shape),
    "exponential": lambda g, shape: g.exponential(size=shape) - 1,
    "exponential, turned round": lambda g, shape: 1 - g.exponential(size=shape),
    "Student's t, 5 degrees of freedom": lambda g, shape: g.standard_t(5, size=shape) / np.sqrt(5 / 3),
    "squared errors": contrast,
}


@dataclass(frozen=True)
class Differences(Cell):
    """Paired differences by a law, and how many."""

    law: str
    n: int


CELLS = tuple(
    Differences(f"{law}, n = {n}", law, n, at_once=0, stream=(place, n))
    for place, law in enumerate(LAWS)
    for n in SIZES
)


def counted(cell: Differences, generator: np.random.Generator, sets: int) -> Mapping[float, Tally]:
    """Say what the intervals of some data sets hold, by d."""
    standard = LAWS[cell.law](generator, (sets, cell.n))
    return {
        d: sum((one(d, *standardised_limits(sample, LEVEL)) for sample in standard + d), Tally())
        for d in EFFECTS
    }
