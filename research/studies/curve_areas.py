"""How often intervals of areas under precision-recall and ROC curves hold; docs/curve-areas.csv.

Run by ``make study-curve-areas``, some minutes on one core. Scores of each class are normal, and those of the positives
higher by the separation; the two models' scores are correlated within a class. Levels cut them: at quantiles that are
evenly spaced, or with ever fewer examples towards the highest level (``rare``). Examples are positive with the
prevalence, and data sets with fewer than two of a class are left out.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from scipy import optimize, stats

from evalreport.engine.ranks import descending_order
from evalreport.intervals import leading, recommended, resolved
from evalreport.metrics.difference import paired_difference
from evalreport.metrics.estimate import Estimate, value_range
from evalreport.metrics.evidence import Ranking
from evalreport.metrics.metric import Ranks
from evalreport.metrics.registry import Quantity, definition
from evalreport.metrics.row_estimates import LEAST_OF_A_LEVEL, MOST_LEVELS
from evalreport.predictions.arrays import Floats, Mask
from evalreport.samplings import Examples, Influence
from research.studies.designs import predictions_on
from research.studies.harness import Run

LEVELS = (3, 6, 11)
SEPARATIONS = (0.2, 1.2, 3.5)
PREVALENCES = (0.05, 0.2, 0.5)
SIZES = (50, 200, 2000)
LOWER = 0.6
"""By how much the second model's separation is lower where the first one's is neither tiny nor large."""
QUANTITIES = tuple(map(Quantity, ("average_precision", "pr_auc", "partial_auc")))
"""Of scores without ties the first two; docs/coverage.csv has the third."""
LEVEL = 0.95
AP = 0.6
"""Of the first model whose scores have no ties."""
FEWEST = 5
"""Positives that are expected, at least."""


@dataclass(frozen=True)
class Population:
    """Two models on n examples; ``levels`` 0: scores without ties."""

    levels: int
    shape: str
    first: float
    second: float
    correlation: float
    prevalence: float
    n: int

    @cached_property
    def cuts(self) -> Floats:
        """Scores at which a level ends."""
        k = np.arange(1, self.levels)
        below = k / self.levels if self.shape == "even" else 1 - 0.6 * 0.35 ** (k - 1)
        return np.asarray(stats.norm.ppf(below) + self.first / 4)


def populations() -> Iterator[Population]:
    """Yield those with few levels, shapes and correlations by turns, then those without ties."""
    for i, levels in enumerate(LEVELS):
        for j, separation in enumerate(SEPARATIONS):
            for k, prevalence in enumerate(PREVALENCES):
                for m, n in enumerate(SIZES):
                    if n * prevalence < FEWEST or (levels > 6 and n != 200):
                        continue
                    shape = ("even", "rare")[(i + j + k + m) % 2]
                    second = separation - LOWER * (j == 1)
                    yield Population(
                        levels, shape, separation, second, (0.5, 0.95)[(i + m) % 2], prevalence, n
                    )
    for n in (100, 300, 1000):
        for prevalence in (0.1, 0.2, 0.3) if n == 300 else (0.1, 0.3):
            first = separation_of(AP, prevalence)
            for correlation in (0.5, 0.9):
                for second in (first, separation_of(AP - 0.1, prevalence)):
                    yield Population(0, "", first, second, correlation, prevalence, n)
            yield Population(0, "", first, first, 0.99, prevalence, n)


def separation_of(value: float, prevalence: float) -> float:
    """Return the separation at which average precision has a value."""
    return float(
        optimize.brentq(lambda d: curve_values(d, prevalence)["average_precision"] - value, 0, 6, xtol=1e-12)
    )


def curve_values(separation: float, prevalence: float) -> dict[str, float]:
    """Return the true values without ties, by the trapezoids of a fine grid of thresholds."""
    threshold = np.linspace(10, -9, 400_001)
    found, wrong = stats.norm.sf(threshold - separation), stats.norm.sf(threshold)
    precision = prevalence * found / (prevalence * found + (1 - prevalence) * wrong)
    area = float(np.trapezoid(precision, found))
    inside = np.append(wrong[wrong < 0.1], 0.1)
    partial = float(np.trapezoid(np.interp(inside, wrong, found), inside))
    return {"average_precision": area, "pr_auc": area, "partial_auc": (1 + (partial - 0.005) / 0.095) / 2}


def true_values(population: Population, separation: float) -> dict[str, float]:
    """Return the true value of every metric."""
    if not population.levels:
        return curve_values(separation, population.prevalence)
    ends = np.concatenate([[-np.inf], population.cuts, [np.inf]])
    of_positives, of_negatives = (
        np.diff(stats.norm.cdf(ends - mean))[::-1].copy() for mean in (separation, 0.0)
    )
    weights = population.prevalence * of_positives, (1 - population.prevalence) * of_negatives
    return {quantity.metric: float(ranks_of(quantity).function(*weights)) for quantity in QUANTITIES}


def ranks_of(quantity: Quantity) -> Ranks:
    """Return how a metric is computed."""
    computation = definition(quantity).computation
    assert isinstance(computation, Ranks)
    return computation


def rows(run: Run) -> Iterator[Mapping[str, object]]:
    """Yield how often the leading interval holds and, of equal models, how often it leaves 0 out; with 99 % limits."""
    for place, population in enumerate(populations()):
        if run.only not in f"levels {population.levels}":
            continue
        generator = np.random.default_rng([run.seed, place])
        first, second = (true_values(population, d) for d in (population.first, population.second))
        held: dict[tuple[str, str], list[bool]] = {}
        decided: dict[tuple[str, str], list[bool]] = {}
        sets = 0
        for positive, scores in drawn(population, generator, run.replications):
            sets += 1
            every = [estimates_of(positive, score, 3 if population.levels else 2) for score in scores]
            for a, b in zip(*every, strict=True):
                quantity = a.quantity
                delta = paired_difference(a, replace(b, model="b"))
                for kind, truth, interval in (
                    ("value", first[quantity.metric], leading(a, LEVEL)),
                    ("difference", first[quantity.metric] - second[quantity.metric],
                     resolved(delta, recommended(delta), LEVEL)),
                ):  # fmt: skip
                    if interval.low is None or interval.high is None:
                        continue
                    name = (kind, quantity.metric)
                    held.setdefault(name, []).append(interval.low - 1e-12 <= truth <= interval.high + 1e-12)
                    if kind == "difference" and population.first == population.second:
                        decided.setdefault(name, []).append(interval.low > 0 or interval.high < 0)
        for name, outcomes in held.items():
            equal = decided.get(name)
            yield {
                "kind": name[0], "metric": name[1], "levels": population.levels, "shape": population.shape,
                "first": f"{population.first:.3f}", "second": f"{population.second:.3f}",
                "correlation": population.correlation, "prevalence": population.prevalence, "n": population.n,
                "sets": sets, "given": f"{len(outcomes) / sets:.4f}", "held": f"{np.mean(outcomes):.4f}",
                "upper": f"{limit(outcomes, high=True):.4f}", "lower": f"{limit(outcomes, high=False):.4f}",
                "decided": f"{np.mean(equal):.4f}" if equal else "",
                "decided_upper": f"{limit(equal, high=True):.4f}" if equal else "", "seed": run.seed,
            }  # fmt: skip


def limit(outcomes: list[bool], *, high: bool) -> float:
    """Return Clopper and Pearson's limit of a share, 99 % on one side."""
    both = stats.binomtest(sum(outcomes), len(outcomes)).proportion_ci(0.98)
    return float(both.high if high else both.low)


def drawn(
    population: Population, generator: np.random.Generator, sets: int
) -> Iterator[tuple[Mask, tuple[Floats, Floats]]]:
    """Yield data sets with two or more of each class: which examples are positive, and both models' scores."""
    for _ in range(sets):
        positive = generator.random(population.n) < population.prevalence
        one, other = generator.normal(size=(2, population.n))
        noises = one, population.correlation * one + np.sqrt(1 - population.correlation**2) * other
        first, second = (
            d * positive + noise
            for d, noise in zip((population.first, population.second), noises, strict=True)
        )
        if population.levels:
            first, second = (
                np.searchsorted(population.cuts, score).astype(np.float64) for score in (first, second)
            )
        if 2 <= positive.sum() <= population.n - 2:
            yield positive, (first, second)


def estimates_of(positive: Mask, score: Floats, metrics: int) -> list[Estimate]:
    """Return the estimates of the first metrics as a run makes them."""
    order = descending_order(score, positive)
    few = len(order.starts) <= MOST_LEVELS and LEAST_OF_A_LEVEL * len(order.starts) <= len(score)
    sizes, estimates = (int(positive.sum()), int((~positive).sum())), []
    for quantity in QUANTITIES[:metrics]:
        ranks = ranks_of(quantity)
        assert ranks.derivative is not None
        slopes = ranks.derivative(*order.counts)
        of_positives, of_negatives = (float(np.abs(of_class).max()) for of_class in slopes)
        steepest = (of_positives, of_negatives) if few else None
        estimates.append(
            Estimate(
                model="a",
                quantity=quantity,
                value=float(ranks.function(*order.counts)),
                range=RANGES[quantity],
                sampling=Examples(len(score)),
                evidence=Ranking(positive, sizes, float(min(sizes)), steepest=steepest),
                influence=Influence(order.by_example(*slopes), np.ones(len(score))),
            )
        )
    return estimates


RANGES = {
    quantity: value_range(definition(quantity), predictions_on("binary", np.array([0, 1], np.int32), (), 2))
    for quantity in QUANTITIES
}
