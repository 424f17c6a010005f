"""How often intervals of areas under precision-recall and ROC curves hold; docs/curve-areas.csv.

Run by ``make study-curve-areas``, two hours on one core. Scores of each class are normal, and those of the positives
higher by the separation; the two models' scores are correlated within a class. Levels cut them: at quantiles that are
evenly spaced, with ever fewer examples towards the highest level (``rare``), or where the first model's probability
rounds to another value (``rounded``). Examples are positive with the prevalence; data sets with fewer than two of a
class are left out.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
from scipy import optimize, special, stats

from evalreport.engine.ranks import RankedWeights
from evalreport.metrics.ranking import average_precision, partial_auc, pr_auc
from evalreport.metrics.registry import Quantity, definition
from evalreport.metrics.sample import Sample, estimate_all
from evalreport.predictions.arrays import Floats, Mask
from evalreport.predictions.table import ModelOutputs
from evalreport.samplings import sampling_by
from research.studies import tables
from research.studies.designs import Truth, predictions_on
from research.studies.harness import Cell, add
from research.studies.simulation import estimate_of, led
from research.studies.tally import Tally, one

LEVELS = (3, 4, 6, 11)
SEPARATIONS = (0.2, 1.2, 2.3, 3.5)
PREVALENCES = (0.02, 0.05, 0.2, 0.5)
SIZES = (50, 200, 1000)
LOWER = 0.6
"""By how much the second model's separation is lower where the first one's is neither tiny nor large."""
ROUNDED = (21, 101)
"""Values of probabilities that are rounded to multiples of 0.05 and of 0.01."""
FAR = (2.3, 3.5, 5.0)
"""Separations where probabilities are rounded: average precision up to 0.9998."""
HEAVY, DEGREES = "heavy tails", 4
"""Scores by Student's t with so many degrees of freedom."""
VALUE = 0.6
"""Average precision of the first model whose scores have no ties."""
FEWEST = 2.5
"""Positives that are expected, at least."""
FUNCTIONS = {"average_precision": average_precision, "pr_auc": pr_auc, "partial_auc": partial_auc}

Pair = tuple[Floats, Floats]
"""Both models' scores."""


@dataclass(frozen=True)
class Population(Cell):
    """Two models on n examples; ``levels`` 0: scores without ties."""

    levels: int
    shape: str
    first: float
    second: float
    correlation: float
    prevalence: float
    n: int

    @property
    def cuts(self) -> Floats:
        """Scores at which a level ends."""
        k = np.arange(1, self.levels)
        if self.shape == "rounded":
            halfway = special.logit((k - 0.5) / (self.levels - 1)) - special.logit(self.prevalence)
            return np.asarray(halfway / self.first + self.first / 2)
        below = k / self.levels if self.shape == "even" else 1 - 0.6 * 0.35 ** (k - 1)
        return np.asarray(stats.norm.ppf(below) + self.first / 4)


@cache
def populations() -> tuple[Population, ...]:
    """Return those with few levels, shapes and correlations by turns, then those without ties."""
    return tuple(
        Population(f"{own[0]} levels {own[1]}, n = {own[-1]}", *own, at_once=500, stream=(place,))
        for place, own in enumerate(_settings())
    )


def _settings() -> Iterator[tuple[int, str, float, float, float, float, int]]:
    for i, levels in enumerate(LEVELS):
        for j, separation in enumerate(SEPARATIONS):
            for k, prevalence in enumerate(PREVALENCES):
                for m, n in enumerate(SIZES):
                    if n * prevalence < FEWEST or n < 5 * levels:
                        continue
                    shape, correlation = ("even", "rare")[(i + j + k + m) % 2], (0.5, 0.95)[(i + m) % 2]
                    second = separation - LOWER * (j == 1)
                    yield levels, shape, separation, second, correlation, prevalence, n
    for levels in ROUNDED:
        for separation in FAR:
            for prevalence in (0.2, 0.5):
                for n in (200, 1000):
                    if n >= 5 * levels:
                        yield levels, "rounded", separation, separation, 0.8, prevalence, n
    for n in (100, 300, 1000):
        for prevalence in (0.1, 0.2, 0.3):
            first, lower = (separation_of(value, prevalence) for value in (VALUE, VALUE - 0.1))
            for correlation, second in (
                *((0.5, first), (0.5, lower), (0.9, first), (0.9, lower)),
                *((0.95, first), (0.99, first)),
            ):
                yield 0, "", first, second, correlation, prevalence, n
    for n in (100, 300):
        for prevalence in (0.2, 0.3):
            for first, second in ((2.5, 2.5), (3.5, 3.0)):
                yield 0, HEAVY, first, second, 0.5, prevalence, n


# --- true values ----------------------------------------------------------------------------------------------------


def separation_of(value: float, prevalence: float) -> float:
    """Return the separation at which average precision has a value."""
    return float(optimize.brentq(lambda d: _without_ties(d, prevalence) - value, 0, 6))


def _without_ties(separation: float, prevalence: float, shape: str = "") -> float:
    law, most = (stats.t(DEGREES), 60) if shape == HEAVY else (stats.norm, 10)
    threshold = np.linspace(most, 1 - most, 200_001)
    return precision_area(law.sf(threshold - separation), law.sf(threshold), prevalence)


def precision_area(hits: Floats, wrong: Floats, prevalence: float) -> float:
    """Return the area under the precision-recall curve, by trapezoids of the shares above a falling grid."""
    called = prevalence * hits + (1 - prevalence) * wrong
    precision = np.where(called > 0, prevalence * hits / np.where(called > 0, called, 1), 1.0)
    return float(np.trapezoid(precision, hits))


@cache
def truths(population: Population) -> Mapping[Truth, float]:
    """Return the true values of the first model and of the differences."""
    ends = np.concatenate([[-np.inf], population.cuts, [np.inf]])
    found: dict[Truth, float] = {}
    for metric in FUNCTIONS if population.levels else ("average_precision", "pr_auc"):
        values = []
        for separation in (population.first, population.second):
            if not population.levels:
                values.append(_without_ties(separation, population.prevalence, population.shape))
                continue
            positives, negatives = (np.diff(stats.norm.cdf(ends - mean))[::-1] for mean in (separation, 0.0))
            share = population.prevalence
            values.append(float(FUNCTIONS[metric](RankedWeights(share * positives, (1 - share) * negatives))))
        found["value", "a", Quantity(metric)] = values[0]
        found["difference", "a", Quantity(metric)] = values[0] - values[1]
    return found


# --- data sets ------------------------------------------------------------------------------------------------------


def drawn(
    population: Population, generator: np.random.Generator, sets: int
) -> Iterator[tuple[Mask, Floats, Floats]]:
    """Yield data sets with two or more of each class: who is positive, and both models' scores."""
    if population.levels and population.shape != "rounded":
        for counts in _drawn_counts(population, generator, sets):
            rows = np.repeat(np.argwhere(np.ones_like(counts)), counts.ravel(), axis=0)
            yield rows[:, 0] == 0, -rows[:, 1].astype(np.float64), -rows[:, 2].astype(np.float64)
        return
    cuts = population.cuts
    for positive, *scores in zip(*drawn_scores(population, generator, sets), strict=True):
        a, b = (np.searchsorted(cuts, s).astype(np.float64) if population.levels else s for s in scores)
        yield positive, a, b


def _drawn_counts(
    population: Population, generator: np.random.Generator, sets: int
) -> np.ndarray[Any, np.dtype[np.int64]]:
    """Draw counts (sets, 2, levels, levels) of positives and negatives by both models' levels, best level first."""
    ends, r = np.concatenate([[-12.0], population.cuts, [12.0]]), population.correlation
    grid = np.stack(np.meshgrid(ends, ends, indexing="ij"), axis=-1)
    shares = []
    for share, means in (
        (population.prevalence, (population.first, population.second)),
        (1 - population.prevalence, (0.0, 0.0)),
    ):
        below = stats.multivariate_normal(means, [[1, r], [r, 1]]).cdf(grid)
        shares.append(share * np.diff(np.diff(below, axis=0), axis=1)[::-1, ::-1])
    chances = np.maximum(np.array(shares), 0)
    counts = generator.multinomial(population.n, (chances / chances.sum()).ravel(), size=sets)
    counts = counts.reshape(sets, *chances.shape)
    return np.asarray(counts[(counts.sum(axis=(2, 3)) >= 2).all(axis=1)])


def drawn_scores(
    population: Population, generator: np.random.Generator, sets: int
) -> tuple[Mask, Floats, Floats]:
    """Draw data sets without ties: who is positive, and both models' scores, (sets, n) each."""
    positive = generator.random((sets, population.n)) < population.prevalence
    first, other = generator.normal(size=(2, sets, population.n))
    second = population.correlation * first + np.sqrt(1 - population.correlation**2) * other
    if population.shape == HEAVY:
        first, second = np.array([first, second]) * np.sqrt(
            DEGREES / generator.chisquare(DEGREES, size=first.shape)
        )
    first += population.first * positive
    second += population.second * positive
    both = (positive.sum(axis=1) >= 2) & ((~positive).sum(axis=1) >= 2)
    return positive[both], first[both], second[both]


# --- the study ------------------------------------------------------------------------------------------------------


def sample_of(positive: Mask, scores: tuple[Floats, ...], true: Mapping[Truth, float]) -> Sample:
    """Return the estimates of models of scores."""
    models = tuple(ModelOutputs(name, score=score) for name, score in zip("ab", scores, strict=False))
    predictions = predictions_on("binary", positive.astype(np.int32), models, 2)
    quantities = tuple(dict.fromkeys(quantity for _, _, quantity in true))
    return estimate_all(predictions, quantities, units=sampling_by(len(positive)), n_resamples=2, seed=0)


def held(sample: Sample, true: Mapping[Truth, float]) -> dict[tuple[str, str], Tally]:
    """Say what the intervals that lead hold, by kind and metric; widths in shares of the metric's range."""
    found: dict[tuple[str, str], Tally] = {}
    for truth, value in true.items():
        estimate = estimate_of(sample, truth)
        interval, (least, most) = led(estimate), definition(truth[2]).scale.range
        # Where neither varies, the limits are the value.
        low, high = (estimate.value if end is None else end for end in (interval.low, interval.high))
        start, unit = (least if truth[0] == "value" else 0.0), most - least
        found[truth[0], truth[2].metric] = one(
            (value - start) / unit, (low - start) / unit, (high - start) / unit
        )
    return found


def counted(
    population: Population, generator: np.random.Generator, sets: int
) -> Mapping[tuple[str, str], Tally]:
    """Add up what the intervals of some data sets hold."""
    total: dict[tuple[str, str], Tally] = {}
    for positive, *scores in drawn(population, generator, sets):
        add(total, held(sample_of(positive, tuple(scores), truths(population)), truths(population)))
    return total


CELLS = populations


@tables.view("curve_areas.by_levels")
def by_levels() -> tables.Rows:
    """Return by kind, metric and number of levels how often limits hold in the cells, and where least."""
    cells: dict[tuple[str, str, str], list[tables.Row]] = {}
    for row in tables.read(tables.DOCS / "curve-areas.csv"):
        levels = " ".join(("none shared", row["shape"])).strip() if row["levels"] == "0" else row["levels"]
        cells.setdefault((row["kind"], row["metric"], levels), []).append(row)
    found = []
    for (kind, metric, levels), rows_of in cells.items():
        ordered = sorted(rows_of, key=lambda row: float(row["held"]))
        least, equal = (
            ordered[0],
            [row for row in ordered if kind == "difference" and row["first"] == row["second"]],
        )
        found.append(
            {
                "of": kind, "metric": metric, "levels": levels, "cells": str(len(ordered)),
                "least": least["held"], "at least": least["lower"], "median": ordered[len(ordered) // 2]["held"],
                "most": ordered[-1]["held"],
                "least at": f"separation {least['first']}, prevalence {least['prevalence']}, n = {least['n']}",
                "equal models decided": f"{1 - float(equal[0]['held']):.4f}" if equal else "",
            }
        )  # fmt: skip
    return found
