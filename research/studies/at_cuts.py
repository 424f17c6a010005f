"""How often limits of the equal error rate, of R-precision and of the median error hold; docs/at-cuts.csv.

Run by ``make study-at-cuts``, ten minutes on a core. Scores of negatives are standard normal, those of positives normal
with a shift and a spread of their own; each example is positive with the same chance, and data sets with fewer than two
of a class are drawn again. Of every tenth data set the percentile bootstrap stands beside the interval that leads.
Errors are lognormal.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

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
from research.studies.harness import Run

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
EVERY, RESAMPLES = 10, 500
"""One data set in so many has bootstrap limits beside, of so many replicates."""


def true_values(shift: float, spread: float, share: float) -> dict[str, float]:
    """Return both metrics of the population."""

    def found(threshold: float) -> float:
        return float(stats.norm.sf((threshold - shift) / spread))

    def called(threshold: float) -> float:
        return share * found(threshold) + (1 - share) * float(stats.norm.sf(threshold))

    equal = optimize.brentq(lambda t: stats.norm.sf(t) - 1 + found(t), -20, 20)
    many = optimize.brentq(lambda t: called(t) - share, -20, 20)
    return {"eer": float(stats.norm.sf(equal)), "r_precision": found(many)}


def rows(run: Run) -> Iterator[Mapping[str, object]]:
    """Yield how often an interval holds, with the lower 99 % limit of that; ``run.only``: a number of examples."""
    for n in (size for size in NUMBERS if run.only in ("", str(size))):
        held = [
            median_held(np.random.default_rng([run.seed, n, number]), n) for number in range(run.replications)
        ]
        yield row(
            ("medae", "order_statistics"),
            held,
            1.0,
            run,
            {"n": n, "positives": "", "shift": "", "spread": ""},
        )
    yield from of_rankings(run)


def row(
    name: tuple[str, str], held: Sequence[bool], truth: float, run: Run, design: Mapping[str, object]
) -> Mapping[str, object]:
    """Return one row: the share of data sets in which an interval held."""
    lower = stats.binomtest(sum(held), len(held)).proportion_ci(0.98).low
    return {
        "metric": name[0], "interval": name[1], **design, "truth": f"{truth:.4f}", "sets": len(held),
        "held": f"{np.mean(held):.4f}", "lower": f"{lower:.4f}", "seed": run.seed,
    }  # fmt: skip


def median_held(generator: np.random.Generator, n: int) -> bool:
    """Say whether the interval of one data set's median absolute error holds 1, that of the lognormal law."""
    errors = ascending(np.exp(generator.normal(size=n)))
    computation = definition(Quantity("medae")).computation
    assert isinstance(computation, RowWise)
    value = float(computation.function(errors, np.ones((1, n)))[0])
    assert computation.closed is not None
    limits = leading(estimate_of("medae", value, computation.closed(errors), n), LEVEL)
    # Fewer than six values have no such limits.
    return limits.low is not None and limits.high is not None and limits.low <= 1 <= limits.high


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


def of_rankings(run: Run) -> Iterator[Mapping[str, object]]:
    """Yield the rows of the metrics at a threshold."""
    for n, positives in (size for size in SIZES if run.only in ("", str(size[0]))):
        for shift, spread in SHAPES:
            truth = true_values(shift, spread, positives / n)
            held: dict[tuple[str, str], list[bool]] = {}
            for number in range(run.replications):
                seed = [run.seed, n, positives, round(10 * shift), round(10 * spread), number]
                generator = np.random.default_rng(seed)
                for name, low, value, high in drawn(generator, (n, positives), (shift, spread), truth):
                    held.setdefault(name, []).append(low <= value <= high)
            design = {"n": n, "positives": positives, "shift": shift, "spread": spread}
            yield from (row(name, outcomes, truth[name[0]], run, design) for name, outcomes in held.items())


def drawn(
    generator: np.random.Generator,
    size: tuple[int, int],
    shape: tuple[float, float],
    truth: Mapping[str, float],
) -> Iterator[tuple[tuple[str, str], float, float, float]]:
    """Yield (metric and interval, low, true value, high) of one data set."""
    n, positives = size
    positive: Mask = np.zeros(n, dtype=np.bool_)
    while not 2 <= np.count_nonzero(positive) <= n - 2:
        positive = generator.random(n) < positives / n
    noise = generator.normal(size=n)
    score = np.where(positive, shape[0] + shape[1] * noise, noise)
    order = descending_order(score, positive).merged
    whole = along(order, np.ones((1, n)))
    beside = generator.random() < 1 / EVERY
    for metric, value in truth.items():
        computation = definition(Quantity(metric)).computation
        assert isinstance(computation, Ranks)
        assert computation.closed is not None
        observed = float(computation.function(whole)[0])
        limits = leading(estimate_of(metric, observed, computation.closed(whole), n), LEVEL)
        if limits.low is not None and limits.high is not None:
            yield (metric, limits.method), limits.low, value, limits.high
        if beside:
            replicates = [
                computation.function(along(order, block)) for block in bootstrap_rows(n, RESAMPLES, seed=1)
            ]
            low, high = np.nanquantile(np.concatenate(replicates), [(1 - LEVEL) / 2, (1 + LEVEL) / 2])
            yield (metric, "bootstrap_percentile"), float(low), value, float(high)
