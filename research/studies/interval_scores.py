"""How often intervals of interval scores hold, by level and number of rows; docs/interval-scores.csv.

Run by ``python -m research.studies interval-scores``, about two minutes on one core. Prediction intervals fit: a share
of 1 - level of the truths lies outside. Errors are normal, or t with 4 degrees of freedom where ``skewed``; the
package's own function gives the limits, and the true value is that of two million rows.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import numpy as np
from scipy import stats

from evalreport.intervals.losses import hall_df
from evalreport.predictions.arrays import Floats
from research.studies.harness import Run
from research.studies.kinds import LEVEL, TRUE, estimate_of
from research.studies.tally import Tally, one

LEVELS = (0.5, 0.8, 0.9, 0.95, 0.99)
SIZES = (10, 20, 30, 50, 100, 200, 500)


def scores(generator: np.random.Generator, n: int, level: float, *, skewed: bool) -> Floats:
    """Return the interval scores (n,) of intervals that hold as often as they say."""
    law = stats.t(4) if skewed else stats.norm()
    y, half = law.rvs(n, random_state=generator), float(law.ppf((1 + level) / 2))
    return np.asarray(2 * half + 2 / (1 - level) * np.maximum(np.abs(y) - half, 0))


def rows(run: Run) -> Iterator[Mapping[str, object]]:
    """Yield how many intervals hold the true value, and how many data sets have none, since no truth lies outside."""
    for place, level in enumerate(LEVELS):
        for skewed in (False, True):
            true = float(
                scores(np.random.default_rng([run.seed, 0, place]), TRUE, level, skewed=skewed).mean()
            )
            for n in SIZES:
                generator = np.random.default_rng([run.seed, 1, place, skewed, n])
                tally = Tally()
                for _ in range(run.replications):
                    found = scores(generator, n, level, skewed=skewed)
                    value = float(found.mean())
                    limits = hall_df(
                        estimate_of(f"interval_score[level={level:g}]", value, (found - value) / n), LEVEL
                    )
                    tally += one(true, limits.low, limits.high)
                made = round(tally.given)
                yield {
                    "level": level,
                    "skewed": skewed,
                    "n": n,
                    "misses": round(n * (1 - level), 1),
                    "data_sets": run.replications,
                    "no_limits": run.replications - made,
                    "held": round(tally.held / max(made, 1), 4),
                    "at_least": round(tally.least(0.95), 4),
                    "too_low": round(tally.below / max(made, 1), 4),
                    "seed": run.seed,
                }
