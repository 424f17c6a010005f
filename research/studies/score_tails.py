"""How often intervals of areas under precision-recall curves hold where scores have heavy tails; docs/score-tails.csv.

Run by ``make study-score-tails``, five minutes on one core. Two equally good models with correlation 0.7 rank the same
examples. ``warned`` is the share of data sets whose run says that the scores have heavy tails
(``evalreport.warnings.score_tails``), of a difference those of either model; its rule is written for many data sets at
once, and ``tests/research/test_score_tails.py`` compares it with the program. The limits are those of
``research.studies.curve_areas``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from scipy import optimize, special, stats

from evalreport.predictions.arrays import Floats, Mask
from evalreport.warnings.score_tails import FEW_CARRY, FEW_OF_A_CLASS, HEAVY, LEAST_AREA
from research.studies import tables
from research.studies.coverage import write_situations
from research.studies.curve_areas import Model, limit, model_of_scores, of_difference, of_value
from research.studies.harness import Run

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
class Population:
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


def populations() -> Iterator[Population]:
    """Yield all; exchanged scores do not reach the largest area."""
    for n, prevalences in PREVALENCES.items():
        for prevalence in prevalences:
            for area in AREAS[3:] if n == MOST else AREAS[1:] if n == MANY else AREAS:
                for shape in SHAPES[:3] if n == MOST else SHAPES:
                    if shape != "exchanged" or area <= 0.95:
                        yield Population(shape, area, prevalence, n)


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


def true_area(law: Law, prevalence: float) -> float:
    """Return the area under the precision-recall curve by trapezoids of the grid."""
    called = prevalence * law.hits + (1 - prevalence) * law.wrong
    precision = np.where(called > 0, prevalence * law.hits / np.where(called > 0, called, 1), 1.0)
    return float(np.trapezoid(precision, law.hits))


# --- whose scores have heavy tails, of many data sets at once ---------------------------------------------------------


def upper_tails(scores: Floats, of_class: Mask) -> Floats:
    """Return ``evalreport.engine.l_moments.upper_tail`` of the scores of a class, of each data set."""
    size, place = (
        of_class.sum(axis=1)[:, None].astype(np.float64),
        np.arange(scores.shape[1], dtype=np.float64),
    )
    x, each = np.sort(np.where(of_class, scores, np.inf), axis=1), np.arange(len(scores))
    half = size[:, 0].astype(int)
    middle = (x[each, (half - 1) // 2] + x[each, half // 2]) / 2
    x = np.where(place < size, np.maximum(x, (2 * middle - x[each, half - 1])[:, None]), 0)
    share, moments = np.ones_like(x), [x.sum(axis=1) / half]
    for k in (1, 2, 3):
        share = share * (place - k + 1) / (size - k)
        moments.append((share * x).sum(axis=1) / half)
    b0, b1, b2, b3 = moments
    return np.asarray((20 * b3 - 30 * b2 + 12 * b1 - b0 + (6 * b2 - 6 * b1 + b0) / 3) / (2 * b1 - b0))


def warned(model: Model, positive: Mask, scores: Floats) -> Mask:
    """Return which data sets' runs say that the scores have heavy tails, of a metric's values and derivatives."""
    n, m = positive.shape[1], positive.sum(axis=1)
    few = np.minimum(m, n - m) < FEW_OF_A_CLASS
    carry = np.minimum(n, 2 * n / np.maximum(model.kurtosis - 1, 1e-9)) < FEW_CARRY
    asked = ~few & carry & (model.value > LEAST_AREA) & (model.squares.sum(axis=0) > 0)
    heavy = np.zeros(len(positive), dtype=bool)
    if asked.any():
        s, p = scores[asked], positive[asked]
        weight = m[asked] * upper_tails(-s, p) + (n - m[asked]) * upper_tails(s, ~p)
        heavy[asked] = weight / n > HEAVY
    return heavy


# --- the study ------------------------------------------------------------------------------------------------------


def rows(run: Run) -> Iterator[Mapping[str, object]]:
    """Yield how often limits hold, and how often a run warns, of each population; with 99 % limits."""
    for place, population in enumerate(populations()):
        if run.only not in f"{population.shape}, n = {population.n}":
            continue
        law, n = law_of(population), population.n
        truth = true_area(law, population.prevalence)
        parts: dict[str, list[Floats]] = {metric: [] for metric in METRICS}
        chunk = max(1, MOST_VALUES // n)
        for start in range(0, run.replications, chunk):
            generator = np.random.default_rng([run.seed, place, start])
            positive, scores = drawn(population, law, generator, min(chunk, run.replications - start))
            for metric in METRICS:
                parts[metric].append(outcomes(metric, positive, scores, truth))
        for metric in METRICS:
            by_kind = np.concatenate(parts[metric], axis=2)
            for kind, (held, said, width) in zip(("value", "difference"), by_kind, strict=True):
                yield {
                    "kind": kind, "metric": metric, "shape": population.shape, "area": population.area,
                    "prevalence": population.prevalence, "n": n, "true": f"{truth:.4f}", "sets": len(held),
                    "held": f"{held.mean():.4f}", "lower": f"{limit(held > 0, high=False):.4f}",
                    "upper": f"{limit(held > 0, high=True):.4f}", "warned": f"{said.mean():.4f}",
                    "width": f"{width.mean():.4f}", "seed": run.seed,
                }  # fmt: skip


def finish(folder: Path) -> list[str]:
    """Write what follows from the table: the situations in which a run warns."""
    if folder == tables.DOCS:
        write_situations()
    return []


def drawn(
    population: Population, law: Law, generator: np.random.Generator, sets: int
) -> tuple[Mask, tuple[Floats, Floats]]:
    """Draw data sets with two or more of each class: which examples are positive, and both models' scores."""
    positive = generator.random((sets, population.n)) < population.prevalence
    both = (positive.sum(axis=1) >= 2) & ((~positive).sum(axis=1) >= 2)
    positive = positive[both]
    first, other = generator.normal(size=(2, *positive.shape))
    second = CORRELATION * first + np.sqrt(1 - CORRELATION**2) * other
    a, b = (law.scores(normal, positive, generator) for normal in (first, second))
    return positive, (a, b)


def outcomes(metric: str, positive: Mask, scores: tuple[Floats, Floats], truth: float) -> Floats:
    """Return (2, 3, sets): of the first value and of the difference, whether limits hold, a run warns, the width."""
    m, n = positive.sum(axis=1).astype(np.float64), positive.shape[1]
    a, b = (model_of_scores(metric, positive, score) for score in scores)
    first, second = (of_value(metric, model, m, n, shared=False) for model in (a, b))
    low, high = of_difference((a, b), (first, second))
    said = [warned(model, positive, score) for model, score in zip((a, b), scores, strict=True)]
    return np.array(
        [
            [(first[0] <= truth) & (truth <= first[1]), said[0], first[1] - first[0]],
            [(low <= 0) & (high >= 0), said[0] | said[1], high - low],
        ],
        dtype=np.float64,
    )


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
