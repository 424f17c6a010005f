"""How often intervals of areas under precision-recall curves hold where scores have heavy tails; docs/score-tails.csv.

Run by ``make study-score-tails``, half an hour on one core. Two equally good models with correlation 0.7 rank the same
examples. ``warned`` is the share of data sets whose run says that the scores have heavy tails
(``evalreport.warnings.score_tails``), of a difference those of either model.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path

import numpy as np
from scipy import optimize, special, stats

from evalreport.metrics.registry import Quantity
from evalreport.predictions.arrays import Floats, Mask
from evalreport.warnings.score_tails import heavy_tails
from research.studies import tables
from research.studies.coverage import write_situations
from research.studies.curve_areas import held, precision_area, sample_of
from research.studies.designs import Truth
from research.studies.harness import Cell, add
from research.studies.tally import Tally

METRICS = ("average_precision", "pr_auc")
CORRELATION = 0.7
EXCHANGED = 0.03
"""Share of the positives that have the score of a negative, as many negatives that of a positive."""
SHORT, HOLDS = 0.92, 0.94
"""Under the one a cell is short; from the other on it holds."""
MOST_VALUES = 250_000
"""Scores that are drawn together, at most."""
SHIFTED: Mapping[str, stats.rv_continuous] = {
    "normal": stats.norm(), "t, 4 df": stats.t(4), "t, 3 df": stats.t(3), "log-normal": stats.lognorm(1),
}  # fmt: skip
"""Laws of the scores of negatives; the positives' are higher by a shift."""
SHAPES = (*SHIFTED, "beta", "exchanged")
PREVALENCES = {50: (0.2, 0.5), 100: (0.1, 0.2, 0.3, 0.5), 300: (0.05, 0.1, 0.2, 0.3, 0.5), 1000: (0.02, 0.1, 0.5),
               5000: (0.1,)}  # fmt: skip
AREAS = (0.75, 0.85, 0.95, 0.99)
"""Areas under the ROC curve."""
MANY = 1000
"""Of so many examples and more the lowest area holds."""
MOST = 5000
"""Of so many only the first three laws and the largest area are measured."""

DEVIATES = np.linspace(-6.5, 6.5, 4001)
"""Normal deviates between which scores are interpolated."""

Sampler = Callable[[Floats, Mask, np.random.Generator], Floats]


@dataclass(frozen=True)
class Population(Cell):
    """Two equal models' scores: their law, the area under the ROC curve, the prevalence, the number of examples."""

    shape: str
    area: float
    prevalence: float
    n: int


@dataclass(frozen=True)
class Law:
    """How scores follow from normal deviates, and the share of each class above a falling grid of thresholds."""

    scores: Sampler
    hits: Floats
    wrong: Floats


def populations() -> tuple[Population, ...]:
    """Return all; exchanged scores do not reach the largest area."""
    found = [
        (shape, area, prevalence, n)
        for n, prevalences in PREVALENCES.items()
        for prevalence in prevalences
        for area in (AREAS[3:] if n == MOST else AREAS[1:] if n == MANY else AREAS)
        for shape in (SHAPES[:3] if n == MOST else SHAPES)
        if shape != "exchanged" or area <= 0.95
    ]
    return tuple(
        Population(
            f"{own[0]}, n = {own[-1]}, area {own[1]}, prevalence {own[2]}",
            *own,
            at_once=max(1, MOST_VALUES // own[-1]),
            stream=(place,),
        )
        for place, own in enumerate(found)
    )


@cache
def law_of(population: Population) -> Law:
    """Return the law of a population."""
    if population.shape == "beta":
        return calibrated(population)
    if population.shape == "exchanged":
        return exchanged(population)
    law = SHIFTED[population.shape]
    inside = (np.arange(4000) + 0.5) / 4000
    shift = optimize.brentq(lambda d: law.cdf(law.ppf(inside) + d).mean() - population.area, 0, 300)
    above = law.isf(special.expit(np.linspace(-25, 25, 100_001)))
    grid = np.unique(np.concatenate([above, above + shift]))[::-1]

    values = np.where(DEVIATES < 0, law.ppf(stats.norm.cdf(DEVIATES)), law.isf(stats.norm.sf(DEVIATES)))

    def scores(normal: Floats, positive: Mask, _: np.random.Generator) -> Floats:
        return np.asarray(np.interp(normal, DEVIATES, values) + shift * positive)

    return Law(scores, law.sf(grid - shift), law.sf(grid))


def calibrated(population: Population) -> Law:
    """Return the law of probabilities that are calibrated and have a beta distribution, on the logit scale."""
    share, inside = population.prevalence, (np.arange(3000) + 0.5) / 3000

    def of_classes(size: float) -> tuple[stats.rv_continuous, stats.rv_continuous]:
        a, b = size * share, size * (1 - share)
        return stats.beta(a + 1, b), stats.beta(a, b + 1)

    def area(log_size: float) -> float:
        positives, negatives = of_classes(np.exp(log_size))
        return float(negatives.cdf(positives.ppf(inside)).mean()) - population.area

    laws = of_classes(np.exp(optimize.brentq(area, -5, 8)))
    shares = special.expit(np.linspace(-25, 25, 20_001))
    grid = np.unique(np.concatenate([law.isf(shares) for law in laws]))[::-1]
    of_class = [special.logit(np.clip(law.ppf(stats.norm.cdf(DEVIATES)), 1e-300, 1 - 1e-16)) for law in laws]

    def scores(normal: Floats, positive: Mask, _: np.random.Generator) -> Floats:
        high, low = (np.interp(normal, DEVIATES, values) for values in of_class)
        return np.asarray(np.where(positive, high, low))

    return Law(scores, laws[0].sf(grid), laws[1].sf(grid))


def exchanged(population: Population) -> Law:
    """Return the law of normal scores of which a few were exchanged between the classes."""
    share = population.prevalence
    high, low = 1 - EXCHANGED, EXCHANGED * share / (1 - share)  # of the positives, of the negatives

    def area(shift: float) -> float:
        clear = stats.norm.cdf(shift / np.sqrt(2))
        alike = high * low + (1 - high) * (1 - low)
        return float(high * (1 - low) * clear + alike / 2 + (1 - high) * low * (1 - clear) - population.area)

    shift = optimize.brentq(area, 0, 20)
    grid = np.linspace(shift + 9, -9, 200_001)
    hits, wrong = (
        part * stats.norm.sf(grid - shift) + (1 - part) * stats.norm.sf(grid) for part in (high, low)
    )

    def scores(normal: Floats, positive: Mask, generator: np.random.Generator) -> Floats:
        of_upper = generator.random(normal.shape) < np.where(positive, high, low)
        return np.asarray(normal + shift * of_upper)

    return Law(scores, hits, wrong)


def truths(population: Population) -> Mapping[Truth, float]:
    """Return the true value of both models, and their difference."""
    law = law_of(population)
    value = precision_area(law.hits, law.wrong, population.prevalence)
    of_metrics: dict[Truth, float] = {}
    for metric in METRICS:
        of_metrics["value", "a", Quantity(metric)] = value
        of_metrics["difference", "a", Quantity(metric)] = 0.0
    return of_metrics


# --- the study ------------------------------------------------------------------------------------------------------


def counted(
    population: Population, generator: np.random.Generator, sets: int
) -> Mapping[tuple[str, str], Tally]:
    """Add up what the intervals of some data sets hold, and how many of their runs warn."""
    total: dict[tuple[str, str], Tally] = {}
    true = truths(population)
    for positive, *scores in zip(*drawn(population, law_of(population), generator, sets), strict=True):
        sample = sample_of(positive, tuple(scores), true)
        for (kind, metric), tally in held(sample, true).items():
            models = "a" if kind == "value" else "ab"
            warned = any(heavy_tails(sample, name, Quantity(metric)) for name in models)
            add(total, {(kind, metric): replace(tally, warned=float(warned))})
    return total


CELLS = populations


def finish(folder: Path) -> list[str]:
    """Write what follows from the table: the situations in which a run warns."""
    if folder == tables.DOCS:
        write_situations()
    return []


def drawn(
    population: Population, law: Law, generator: np.random.Generator, sets: int
) -> tuple[Mask, Floats, Floats]:
    """Draw data sets with two or more of each class: which examples are positive, and both models' scores."""
    positive = generator.random((sets, population.n)) < population.prevalence
    both = (positive.sum(axis=1) >= 2) & ((~positive).sum(axis=1) >= 2)
    positive = positive[both]
    first, other = generator.normal(size=(2, *positive.shape))
    second = CORRELATION * first + np.sqrt(1 - CORRELATION**2) * other
    a, b = (law.scores(normal, positive, generator) for normal in (first, second))
    return positive, a, b


@tables.view("score_tails.by_shape")
def by_shape() -> tables.Rows:
    """Return by kind, metric and shape how often limits hold, and how often a run warns, where they do and do not."""
    cells: dict[tuple[str, str, str], list[tables.Row]] = {}
    for row in tables.read(tables.DOCS / "score-tails.csv"):
        cells.setdefault((row["kind"], row["metric"], row["shape"]), []).append(row)

    def warned_of(rows_of: list[tables.Row]) -> str:
        return str(sum(float(row["warned"]) for row in rows_of) / len(rows_of)) if rows_of else ""

    table = []
    for (kind, metric, shape), rows_of in cells.items():
        least = min(rows_of, key=lambda row: float(row["held"]))
        short = [row for row in rows_of if float(row["held"]) < SHORT]
        table.append(
            {
                "of": kind, "metric": metric, "scores": shape, "cells": str(len(rows_of)), "least": least["held"],
                "least at": f"area {least['area']}, prevalence {least['prevalence']}, n = {least['n']}",
                "short cells": str(len(short)), "warned there": warned_of(short),
                "warned where 94 % are held": warned_of([row for row in rows_of if float(row["held"]) >= HOLDS]),
            }
        )  # fmt: skip
    return table
