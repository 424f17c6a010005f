"""How often an interval holds the truth, on which side it misses, how wide it is, how often there is none."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from research.studies.judgement import limit

Floats = npt.NDArray[np.float64]

LEADING = "leading"
"""Stands for the interval that the report puts first, whichever it is on each data set."""


@dataclass(frozen=True, slots=True)
class Tally:
    """Sums over data sets (or over outcomes weighed by their chance).

    Attributes
    ----------
    sets
        Data sets on which the value is defined.
    given
        Those on which the interval exists.
    held, below, above
        Those whose interval holds the truth, lies wholly below it, lies wholly above it.
    width
        Sum of the widths of the intervals that exist.
    warned
        Data sets whose run says that the interval may be short.
    exact
        True where nothing was simulated: ``sets`` is then 1, a probability.
    """

    sets: float = 0.0
    given: float = 0.0
    held: float = 0.0
    below: float = 0.0
    above: float = 0.0
    width: float = 0.0
    warned: float = 0.0
    exact: bool = False

    def __add__(self, other: Tally) -> Tally:
        return Tally(
            self.sets + other.sets,
            self.given + other.given,
            self.held + other.held,
            self.below + other.below,
            self.above + other.above,
            self.width + other.width,
            self.warned + other.warned,
            self.exact or other.exact,
        )

    @property
    def coverage(self) -> float:
        """Share of the intervals given that hold the truth; nan where none was given."""
        return self.held / self.given if self.given > 0 else math.nan

    def least(self, confidence: float) -> float:
        """Return the lower confidence limit of the coverage (Clopper and Pearson), one-sided."""
        return limit("at least", self.held, self.given, confidence)

    def most(self, confidence: float) -> float:
        """Return the upper one."""
        return limit("at most", self.held, self.given, confidence)

    def shares(self, columns: Iterable[str]) -> dict[str, object]:
        """Return columns of a table: intervals that exist, data sets, shares that hold or miss, limits, mean width.

        ``lower`` and ``upper`` are one-sided 99 % limits of the share that holds, ``at_least`` is the lower 95 % one;
        ``missed_upper`` is the upper 99 % limit of the share that misses.
        """
        found: dict[str, Callable[[], float]] = {
            "held": lambda: self.coverage,
            "held_of_all": lambda: self.coverage_of_all,
            "lower": lambda: self.least(0.99),
            "upper": lambda: self.most(0.99),
            "at_least": lambda: self.least(0.95),
            "missed": lambda: 1 - self.coverage,
            "missed_upper": lambda: 1 - self.least(0.99),
            "too_high": lambda: self.above / self.given,
            "too_low": lambda: self.below / self.given,
            "warned": lambda: self.warned / self.sets,
            "width": lambda: self.width / self.given,
        }
        counts = {"sets": self.given, "data_sets": self.sets}
        return {name: round(counts[name]) if name in counts else f"{found[name]():.4f}" for name in columns}

    @property
    def coverage_of_all(self) -> float:
        """Share of all data sets whose interval exists and holds the truth: what is asked of the leading one."""
        return self.held / self.sets if self.sets > 0 else math.nan

    @property
    def error(self) -> float:
        """Monte Carlo standard error of the coverage; 0 where it was enumerated."""
        if self.exact or self.given <= 0:
            return 0.0
        return math.sqrt(self.coverage * (1 - self.coverage) / self.given)


def count(truth: float, limits: Floats, chance: Floats) -> Tally:
    """Weigh limits (m, 2) by the chance (m,) of their outcomes; an absent limit is nan."""
    low, high = limits[:, 0], limits[:, 1]
    given, edge = ~np.isnan(low), 1e-12
    below, above = given & (high + edge < truth), given & (low - edge > truth)
    widths = np.where(given, high - low, 0.0)
    return Tally(
        float(chance.sum()),
        float(chance[given].sum()),
        float(chance[given & ~below & ~above].sum()),
        float(chance[below].sum()),
        float(chance[above].sum()),
        float((chance * widths).sum()),
        exact=True,
    )


def one(truth: float, low: float | None, high: float | None) -> Tally:
    """Return the tally of one data set."""
    if low is None or high is None:
        return Tally(sets=1.0)
    edge = 1e-12 * max(1.0, abs(truth))
    below, above = high + edge < truth, low - edge > truth
    return Tally(1.0, 1.0, float(not below and not above), float(below), float(above), high - low)


def happened(as_promised: bool) -> Tally:
    """Return the tally of one data set of which there is no interval: it went as promised, or not."""
    return Tally(1.0, 1.0, float(as_promised))
