"""How often the title of the picture of errors names a trend where there is none."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

import numpy as np
from scipy import stats

from evalreport.metrics.predicted_values import error_trend
from evalreport.predictions.arrays import Floats
from research.studies.harness import Run

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


def rows(run: Run) -> Iterator[Mapping[str, object]]:
    """Yield the share of data sets in which a trend is named, with its upper 99 % limit."""
    for number, (law, draw) in enumerate(LAWS.items()):
        for n in (n for n in SIZES if run.only in f"{law}, n = {n}"):
            generator = np.random.default_rng([run.seed, number, n])
            drawn = (draw(generator, n) for _ in range(run.replications))
            trends = [error_trend(x, x - error, seed=place) for place, (x, error) in enumerate(drawn)]
            named = sum(trend is not None and trend.shown for trend in trends)
            upper = stats.binomtest(named, len(trends)).proportion_ci(0.98).high
            tested = sum(trend is not None for trend in trends)
            yield {
                "law": law, "n": n, "sets": len(trends), "tested": tested, "named": f"{named / len(trends):.4f}",
                "upper": f"{upper:.4f}", "seed": run.seed,
            }  # fmt: skip
