"""The textbook interval of a proportion: the z that is printed, and what is left of "n > 30". All by enumeration."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import numpy as np
from scipy import stats

from evalreport.intervals.proportions import quantile
from research.studies.enumeration import proportion_coverage, proportion_limits, smallest_sample
from research.studies.harness import Run

TRUE_PROPORTIONS = (0.5, 0.8, 0.9, 0.95, 0.99)
LECTURE_Z = ((0.50, 0.67), (0.68, 1.00), (0.90, 1.64), (0.95, 1.96), (0.98, 2.33), (0.99, 2.58))
"""The z_N printed in the lecture notes that evalreport follows."""
ENOUGH = 0.93
"""Coverage at which a 95 % interval of a count is called good enough: 95 % less two points."""
LARGEST = 5000
"""Sample sizes are looked at as far as this."""


def rows(_: Run) -> Iterator[Mapping[str, object]]:
    """Yield the rows of docs/intervals.csv."""
    for level, printed in LECTURE_Z:
        held = stats.norm.cdf(printed) - stats.norm.cdf(-printed)
        figures = {
            "z printed": f"{printed:.2f}",
            "z": f"{quantile(level):.4f}",
            "it holds, in %": f"{100 * held:.2f}",
        }
        yield from (
            {"part": "z", "cell": f"{100 * level:.0f} %", "figure": k, "value": v} for k, v in figures.items()
        )
    truths = np.array(TRUE_PROPORTIONS)
    covers = {
        f"{method}, n = {n}": proportion_coverage(n, truths, proportion_limits(n, (method,))[method])
        for method, n in (("normal", 31), ("normal", 100), ("normal", 1000), ("wilson", 31))
    }
    for i, p in enumerate(TRUE_PROPORTIONS):
        n = smallest_sample(p, at_least=ENOUGH, largest=LARGEST)
        figures = {name: f"{100 * shares[i]:.1f}" for name, shares in covers.items()}
        figures |= {"normal is fine from n =": str(n), "expected failures there": f"{n * (1 - p):.0f}"}
        yield from ({"part": "thirty", "cell": f"{p:g}", "figure": k, "value": v} for k, v in figures.items())
    grid = np.linspace(0.5, 1, 1000, endpoint=False)
    every = proportion_limits(31, ("normal", "wilson"))
    for name in ("normal", "wilson"):
        shares = proportion_coverage(31, grid, every[name])
        for figure, value in (("mean", shares.mean()), ("least", shares.min())):
            yield {"part": "all p, n = 31", "cell": name, "figure": figure, "value": f"{100 * value:.1f}"}
