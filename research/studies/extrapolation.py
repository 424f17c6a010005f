"""How often the extrapolated error of a learning curve misses, where the curve is a power law and where it is none."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np

from evalreport.questions.algorithms.learning_curves import PointLosses, extrapolated
from research.studies.harness import Cell, Study, limits

SIZES = {"50 to 800": (50, 100, 200, 400, 800), "40 to 800": (40, 80, 120, 200, 300, 400, 600, 800)}
EXAMPLES, FITS = 100, 5
Law = Callable[[float], float]

LAWS: Mapping[str, Law] = {
    "a power law": lambda n: 0.08 + 1.5 * n**-0.6,
    "no power law": lambda n: 0.1 + 0.25 * np.exp(-n / 150) + 0.02 / np.log(n),
    "a logistic fall": lambda n: 0.1 + 0.3 / (1 + (n / 200) ** 2),
}


@dataclass(frozen=True)
class Curve(Cell):
    """A law of the error, the training sizes, and the standard deviation of losses, half of it the examples' own."""

    law: Law
    sizes: tuple[int, ...]
    spread: float


CELLS = tuple(
    Curve(f"{law}, {len(SIZES[span])} sizes {span}, sd {spread}", LAWS[law], SIZES[span], spread)
    for law, span, spread in (
        ("a power law", "50 to 800", 0.1),
        ("a power law", "40 to 800", 0.6),
        ("no power law", "50 to 800", 0.6),
        ("no power law", "50 to 800", 0.2),
        ("no power law", "40 to 800", 0.2),
        ("a logistic fall", "50 to 800", 0.2),
    )
)


def counted(cell: Curve, generator: np.random.Generator, number: int) -> Mapping[str, float]:
    """Say whether there is an interval of the error at twice the largest size, and misses the true one."""
    example, fit = np.tile(np.arange(EXAMPLES), FITS), np.repeat(np.arange(FITS), EXAMPLES)
    of_example = cell.spread * 0.7 * generator.normal(size=EXAMPLES)
    points = []
    for n in cell.sizes:
        of_fit = cell.spread * 0.05 * generator.normal(size=FITS)
        noise = cell.spread * 0.7 * generator.normal(size=EXAMPLES * FITS)
        losses = cell.law(n) + of_example[example] + of_fit[fit] + noise
        points.append(PointLosses(n, losses, example, fit, FITS))
    found = extrapolated("m", "loss", points, level=0.95, seed=number)
    if found.low is None or found.high is None:
        return {"missed": False, "extrapolated": False}
    truth = cell.law(2 * cell.sizes[-1])
    return {"missed": not found.low <= truth <= found.high, "extrapolated": True}


STUDY = Study("Extrapolated learning curves", CELLS, counted, limits({"missed": ("at most", 0.1)}))
