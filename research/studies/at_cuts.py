"""How often limits of the equal error rate, of R-precision and of the median error hold; docs/at-cuts.csv.

Run by ``make study-at-cuts``, a quarter of an hour on a core. Scores of negatives are standard normal, those of
positives normal with a shift and a spread of their own; each example is positive with the same chance, and data sets
with fewer than two of a class are drawn again. Of every tenth data set the percentile bootstrap stands beside the
interval that leads. Errors are lognormal.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache

import numpy as np
from scipy import optimize, stats

from evalreport.intervals import leading
from evalreport.metrics.registry import Quantity
from evalreport.metrics.sample import estimate_all
from evalreport.predictions.arrays import Mask
from evalreport.predictions.table import ModelOutputs, Predictions
from evalreport.samplings import sampling_by
from research.studies.designs import predictions_on
from research.studies.harness import Cell
from research.studies.simulation import LEVEL
from research.studies.tally import Tally, one

SIZES = (
    *((50, 10), (100, 5), (100, 20), (400, 10), (400, 60)),
    *((3_000, 15), (3_000, 60), (3_000, 900), (12_000, 60)),
)
"""Examples, and how many of them are positive on average."""
NUMBERS = (8, 30, 10_000)
"""Examples with a true value each."""
SHAPES = ((0.5, 1.0), (1.5, 1.0), (3.0, 1.0), (1.5, 2.0), (1.5, 0.5))
"""Shift and spread of the positives' scores."""
EVERY, RESAMPLES = 10, 500
"""One data set in so many has bootstrap limits beside, of so many replicates."""


@cache
def true_values(shift: float, spread: float, share: float) -> dict[str, float]:
    """Return both metrics of the population."""

    def found(threshold: float) -> float:
        return float(stats.norm.sf((threshold - shift) / spread))

    def called(threshold: float) -> float:
        return share * found(threshold) + (1 - share) * float(stats.norm.sf(threshold))

    equal = optimize.brentq(lambda t: stats.norm.sf(t) - 1 + found(t), -20, 20)
    many = optimize.brentq(lambda t: called(t) - share, -20, 20)
    return {"eer": float(stats.norm.sf(equal)), "r_precision": found(many)}


@dataclass(frozen=True)
class Cut(Cell):
    """Examples with scores: how many are positive on average, their shift and spread; without: with errors."""

    n: int
    positives: int | str = ""
    shift: float | str = ""
    spread: float | str = ""


CELLS = (
    *(Cut(f"{n} numbers", n, stream=(n,)) for n in NUMBERS),
    *(
        Cut(f"{n} examples, {m} positives, shift {d}, sd {sd}", n, m, d, sd,
            stream=(n, m, round(10 * d), round(10 * sd)))
        for n, m in SIZES
        for d, sd in SHAPES
    ),
)  # fmt: skip


def counted(cell: Cut, generator: np.random.Generator, _number: int) -> Mapping[tuple[str, str], Tally]:
    """Say what the intervals of one data set hold, by metric and interval."""
    if cell.positives == "":
        model = ModelOutputs("m", y_pred=np.exp(generator.normal(size=cell.n)))
        return of_a_set(predictions_on("regression", np.zeros(cell.n), (model,)), {"medae": 1.0})
    shift, spread, share = float(cell.shift), float(cell.spread), float(cell.positives) / cell.n
    positive: Mask = np.zeros(cell.n, dtype=np.bool_)
    while not 2 <= np.count_nonzero(positive) <= cell.n - 2:
        positive = generator.random(cell.n) < share
    noise = generator.normal(size=cell.n)
    score = np.where(positive, shift + spread * noise, noise)
    predictions = predictions_on("binary", positive.astype(np.int32), (ModelOutputs("m", score=score),), 2)
    return of_a_set(
        predictions, true_values(shift, spread, share), beside=bool(generator.random() < 1 / EVERY)
    )


def of_a_set(
    predictions: Predictions, truths: Mapping[str, float], *, beside: bool = False
) -> Mapping[tuple[str, str], Tally]:
    """Say it of the metrics of a model, with the bootstrap beside where that is asked for."""
    sample = estimate_all(
        predictions, [Quantity(metric) for metric in truths], units=sampling_by(predictions.n),
        n_resamples=RESAMPLES if beside else 2, seed=1,
    )  # fmt: skip
    found: dict[tuple[str, str], Tally] = {}
    for (_, quantity), estimate in sample.estimates.items():
        metric, interval = quantity.metric, leading(estimate, LEVEL)
        found[metric, interval.method] = one(truths[metric], interval.low, interval.high)
        if beside and estimate.replicates is not None:
            # Undefined replicates are left out, where a run gives no limits.
            low, high = np.nanquantile(estimate.replicates, [(1 - LEVEL) / 2, (1 + LEVEL) / 2])
            found[metric, "bootstrap_percentile"] = one(truths[metric], float(low), float(high))
    return found
