"""How often intervals of interval scores hold, by level and number of rows; docs/interval-scores.csv.

Run by ``make study-interval-scores``, some minutes on one core. Prediction intervals fit: a share of 1 - level of the
truths lies outside. Errors are normal, or t with 4 degrees of freedom where ``skewed``; the true value is that of two
million rows. Where no truth lies outside there are no limits.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from scipy import stats

from evalreport.metrics.quantities import parse
from evalreport.predictions.arrays import Floats
from evalreport.predictions.table import ModelOutputs
from research.studies.designs import predictions_on
from research.studies.harness import Cell
from research.studies.kinds import TRUE
from research.studies.simulation import held_of
from research.studies.tally import Tally

LEVELS = (0.5, 0.8, 0.9, 0.95, 0.99)
SIZES = (10, 20, 30, 50, 100, 200, 500)
SEED = 5761
"""Of the true values."""


@dataclass(frozen=True)
class Level(Cell):
    """Intervals that hold as often as they say, the law of the truths, and how many rows."""

    level: float
    skewed: bool
    n: int


CELLS = tuple(
    Level(f"level {level:g}, n = {n}", level, skewed, n, at_once=0, stream=(1, place, skewed, n))
    for place, level in enumerate(LEVELS)
    for skewed in (False, True)
    for n in SIZES
)


def drawn(generator: np.random.Generator, n: int, cell: Level) -> tuple[Floats, float]:
    """Return truths (n,), and half the width of their intervals."""
    law = stats.t(4) if cell.skewed else stats.norm()
    return law.rvs(n, random_state=generator), float(law.ppf((1 + cell.level) / 2))


def counted(cell: Level, generator: np.random.Generator, sets: int) -> Mapping[tuple[()], Tally]:
    """Say what the intervals of some data sets hold."""
    y, half = drawn(np.random.default_rng([SEED, 0, LEVELS.index(cell.level)]), TRUE, cell)
    true = float((2 * half + 2 / (1 - cell.level) * np.maximum(np.abs(y) - half, 0)).mean())
    quantity, total = parse(f"interval_score[level={cell.level:g}]", "intervals", ()), Tally()
    for _ in range(sets):
        y, half = drawn(generator, cell.n, cell)
        limits = {
            f"low@{cell.level:g}": np.full(cell.n, -half),
            f"high@{cell.level:g}": np.full(cell.n, half),
        }
        predictions = predictions_on("intervals", y, (ModelOutputs("a", numbers=limits),))
        total += sum(held_of(predictions, {("value", "a", quantity): true}).values(), Tally())
    return {(): total}
