"""How often limits of the equal error rate, of R-precision and of the median error hold; docs/at-cuts.csv.

Run by ``make study-at-cuts``, ten minutes on a core. Scores of negatives are standard normal, those of positives normal
with a shift and a spread of their own; each example is positive with the same chance, and data sets with fewer than two
of a class are drawn again. Of every tenth data set the percentile bootstrap stands beside the interval that leads.
Errors are lognormal.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache

import numpy as np
from scipy import optimize, stats

from evalreport.engine.draws import bootstrap_rows
from evalreport.engine.ranks import along, ascending, descending_order
from evalreport.intervals import leading
from evalreport.metrics.estimate import Estimate
from evalreport.metrics.evidence import Evidence
from evalreport.metrics.metric import Ranks, RowWise
from evalreport.metrics.registry import Quantity, definition
from evalreport.predictions.arrays import Mask
from evalreport.samplings import Examples
from research.studies.harness import Cell, Run, measure
from research.studies.judgement import limit
from research.studies.tally import Tally, one

SIZES = (
    (50, 10),
    (100, 5),
    (100, 20),
    (400, 10),
    (400, 60),
    (3_000, 15),
    (3_000, 60),
    (3_000, 900),
    (12_000, 60),
)
"""Examples, and how many of them are positive on average."""
NUMBERS = (8, 30, 10_000)
"""Examples with a true value each."""
SHAPES = ((0.5, 1.0), (1.5, 1.0), (3.0, 1.0), (1.5, 2.0), (1.5, 0.5))
"""Shift and spread of the positives' scores."""
LEVEL = 0.95
Figure = tuple[str, str]
"""Metric and interval."""
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
    scores: tuple[int, float, float] | None = None

    @property
    def truths(self) -> Mapping[str, float]:
        """The true values, by metric."""
        if self.scores is None:
            return {"medae": 1.0}
        positives, shift, spread = self.scores
        return true_values(shift, spread, positives / self.n)


CELLS = (
    *(Cut(f"{n} numbers", n, stream=(n,)) for n in NUMBERS),
    *(
        Cut(f"{n} examples, {m} positives, shift {d}, sd {sd}", n, (m, d, sd),
            stream=(n, m, round(10 * d), round(10 * sd)))
        for n, m in SIZES
        for d, sd in SHAPES
    ),
)  # fmt: skip


def rows(run: Run) -> Iterator[Mapping[str, object]]:
    """Yield how often an interval holds, with the lower 99 % limit of that."""
    for result in measure(CELLS, counted, run, equally=True):
        shape = zip(("positives", "shift", "spread"), result.cell.scores or ("", "", ""), strict=True)
        columns = {"n": result.cell.n, **dict(shape)}
        for (metric, interval), tally in result.totals.items():
            yield {
                "metric": metric, "interval": interval, **columns,
                "truth": f"{result.cell.truths[metric]:.4f}", "sets": round(tally.sets),
                "held": f"{tally.coverage_of_all:.4f}",
                "lower": f"{limit('at least', tally.held, tally.sets, 0.99):.4f}", "seed": run.seed,
            }  # fmt: skip


def counted(cell: Cut, generator: np.random.Generator, _number: int) -> Mapping[Figure, Tally]:
    """Say what the intervals of one data set hold, by metric and interval."""
    if cell.scores is not None:
        return of_scores(cell, cell.scores, generator)
    errors = ascending(np.exp(generator.normal(size=cell.n)))
    computation = definition(Quantity("medae")).computation
    assert isinstance(computation, RowWise)
    # Fewer than six values have no such limits.
    assert computation.closed is not None
    value = float(computation.function(errors, np.ones((1, cell.n)))[0])
    limits = leading(estimate_of("medae", value, computation.closed(errors), cell.n), LEVEL)
    return {("medae", "order_statistics"): one(1.0, limits.low, limits.high)}


def estimate_of(metric: str, value: float, evidence: Evidence, n: int) -> Estimate:
    """Return an estimate as a run makes it of n examples that are drawn one by one."""
    return Estimate(
        model="m",
        quantity=Quantity(metric),
        value=value,
        range=(0.0, np.inf) if metric == "medae" else (0.0, 1.0),
        sampling=Examples(n),
        evidence=evidence,
    )


def of_scores(
    cell: Cut, scores: tuple[int, float, float], generator: np.random.Generator
) -> Mapping[Figure, Tally]:
    """Say it of the metrics at a threshold, now and then of the bootstrap too."""
    n, found, (positives, shift, spread) = cell.n, dict[Figure, Tally](), scores
    positive: Mask = np.zeros(n, dtype=np.bool_)
    while not 2 <= np.count_nonzero(positive) <= n - 2:
        positive = generator.random(n) < positives / n
    noise = generator.normal(size=n)
    score = np.where(positive, shift + spread * noise, noise)
    order = descending_order(score, positive).merged
    whole = along(order, np.ones((1, n)))
    beside = generator.random() < 1 / EVERY
    for metric, truth in cell.truths.items():
        computation = definition(Quantity(metric)).computation
        assert isinstance(computation, Ranks)
        assert computation.closed is not None
        observed = float(computation.function(whole)[0])
        limits = leading(estimate_of(metric, observed, computation.closed(whole), n), LEVEL)
        if limits.low is not None:
            found[metric, limits.method] = one(truth, limits.low, limits.high)
        if beside:
            replicates = [
                computation.function(along(order, block)) for block in bootstrap_rows(n, RESAMPLES, seed=1)
            ]
            low, high = np.nanquantile(np.concatenate(replicates), [(1 - LEVEL) / 2, (1 + LEVEL) / 2])
            found[metric, "bootstrap_percentile"] = one(truth, float(low), float(high))
    return found
