"""How often intervals of areas under precision-recall and ROC curves hold; docs/curve-areas.csv.

Run by ``make study-curve-areas``, ten minutes on one core. Scores of each class are normal, and those of the
positives higher by the separation; the two models' scores are correlated within a class. Levels cut them: at quantiles
that are evenly spaced, with ever fewer examples towards the highest level (``rare``), or where the first model's
probability rounds to another value (``rounded``). Examples are positive with the prevalence; data sets with fewer than
two of a class are left out. The rules of ``evalreport.intervals.rankings`` are
written for many data sets at once; ``tests/research/test_curve_areas.py`` compares them with the program.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass

import numpy as np
from scipy import optimize, special, stats

from evalreport.predictions.arrays import Floats, Mask
from research.studies import tables
from research.studies.harness import Run

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
LEVEL = 0.95
VALUE = 0.6
"""Average precision of the first model whose scores have no ties."""
FEWEST = 2.5
"""Positives that are expected, at least."""
MOST_FALSE_POSITIVES = 0.1
MADE_UP = 1 / 20
CHUNK = 500
"""Data sets that are computed together."""

Limits = tuple[Floats, Floats]


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

    @property
    def cuts(self) -> Floats:
        """Scores at which a level ends."""
        k = np.arange(1, self.levels)
        if self.shape == "rounded":
            halfway = special.logit((k - 0.5) / (self.levels - 1)) - special.logit(self.prevalence)
            return np.asarray(halfway / self.first + self.first / 2)
        below = k / self.levels if self.shape == "even" else 1 - 0.6 * 0.35 ** (k - 1)
        return np.asarray(stats.norm.ppf(below) + self.first / 4)


def populations() -> Iterator[Population]:
    """Yield those with few levels, shapes and correlations by turns, then those without ties."""
    for i, levels in enumerate(LEVELS):
        for j, separation in enumerate(SEPARATIONS):
            for k, prevalence in enumerate(PREVALENCES):
                for m, n in enumerate(SIZES):
                    if n * prevalence < FEWEST or n < 5 * levels:
                        continue
                    shape, correlation = ("even", "rare")[(i + j + k + m) % 2], (0.5, 0.95)[(i + m) % 2]
                    second = separation - LOWER * (j == 1)
                    yield Population(levels, shape, separation, second, correlation, prevalence, n)
    for levels in ROUNDED:
        for separation in FAR:
            for prevalence in (0.2, 0.5):
                for n in (200, 1000):
                    if n >= 5 * levels:
                        yield Population(levels, "rounded", separation, separation, 0.8, prevalence, n)
    for n in (100, 300, 1000):
        for prevalence in (0.1, 0.2, 0.3):
            first, lower = (separation_of(value, prevalence) for value in (VALUE, VALUE - 0.1))
            for correlation, second in (
                *((0.5, first), (0.5, lower), (0.9, first), (0.9, lower)),
                *((0.95, first), (0.99, first)),
            ):
                yield Population(0, "", first, second, correlation, prevalence, n)
    for n in (100, 300):
        for prevalence in (0.2, 0.3):
            for first, second in ((2.5, 2.5), (3.5, 3.0)):
                yield Population(0, HEAVY, first, second, 0.5, prevalence, n)


# --- true values ----------------------------------------------------------------------------------------------------


def separation_of(value: float, prevalence: float) -> float:
    """Return the separation at which average precision has a value."""
    return float(optimize.brentq(lambda d: precision_area(d, prevalence) - value, 0, 6))


def precision_area(separation: float, prevalence: float, shape: str = "") -> float:
    """Return the area under the precision-recall curve without ties, by trapezoids of a fine grid."""
    law, most = (stats.t(DEGREES), 60) if shape == HEAVY else (stats.norm, 10)
    threshold = np.linspace(most, 1 - most, 200_001)
    hits, wrong = law.sf(threshold - separation), law.sf(threshold)
    precision = prevalence * hits / (prevalence * hits + (1 - prevalence) * wrong)
    return float(np.trapezoid(precision, hits))


def true_value(population: Population, metric: str, separation: float) -> float:
    """Return a model's true value."""
    if not population.levels:
        return precision_area(separation, population.prevalence, population.shape)
    ends = np.concatenate([[-np.inf], population.cuts, [np.inf]])
    positives, negatives = (np.diff(stats.norm.cdf(ends - mean))[None, ::-1] for mean in (separation, 0.0))
    share = population.prevalence
    return float(FUNCTIONS[metric](share * positives, (1 - share) * negatives)[0])


# --- the metrics of tables of counts (sets, levels), best level first; complex for derivatives --------------------


def average_precision(positives: Floats, negatives: Floats) -> Floats:
    """Return the mean precision of the positives."""
    hits = np.cumsum(positives, axis=1)
    called = hits + np.cumsum(negatives, axis=1)
    precision = hits / np.where(called.real > 0, called, 1)
    return np.asarray((positives * precision).sum(axis=1) / hits[:, -1])


def pr_auc(positives: Floats, negatives: Floats) -> Floats:
    """Return the area by trapezoids, from the precision of the highest level that occurs."""
    hits = np.cumsum(positives, axis=1)
    called = hits + np.cumsum(negatives, axis=1)
    occurs = called.real > 0
    precision = hits / np.where(occurs, called, 1)
    first = np.take_along_axis(precision, occurs.argmax(axis=1)[:, None], axis=1)
    precision = np.where(occurs, precision, first)
    before = np.concatenate([first, precision[:, :-1]], axis=1)
    return np.asarray((positives * (precision + before) / 2).sum(axis=1) / hits[:, -1])


def partial_share(positives: Floats, negatives: Floats) -> Floats:
    """Return the area under the ROC curve for FPR <= 0.1, as a share of 0.1."""
    hits, wrong = np.cumsum(positives, axis=1), np.cumsum(negatives, axis=1)
    room = MOST_FALSE_POSITIVES * wrong[:, -1:] - (wrong - negatives)
    inside = np.where(room.real <= 0, 0, np.where(room.real <= negatives.real, room, negatives))
    share = np.where(negatives.real > 0, inside / np.where(negatives.real > 0, negatives, 1), 1)
    area = (inside * (hits - positives + share * positives / 2)).sum(axis=1)
    return np.asarray(area / (hits[:, -1] * wrong[:, -1] * MOST_FALSE_POSITIVES))


FUNCTIONS: Mapping[str, Callable[[Floats, Floats], Floats]] = {
    "average_precision": average_precision, "pr_auc": pr_auc, "partial_auc": partial_share,
}  # fmt: skip


@dataclass(frozen=True)
class Model:
    """One model's values (sets,) and what its limits follow from.

    Attributes
    ----------
    squares
        (2, sets) sums of squared derivatives of the positives and of the negatives.
    steepest
        (2, sets) the largest derivative at any level; 0 without ties.
    kurtosis
        (sets,) that of the examples' derivatives.
    slopes
        (2, sets, levels) the derivatives by a positive and by a negative of each level; without ties (sets, n) those of
        each example.
    """

    value: Floats
    squares: Floats
    steepest: Floats
    kurtosis: Floats
    slopes: Floats


def model_of_levels(metric: str, counts: Floats) -> Model:
    """Compute the values and derivatives of scores of few levels, from counts (2, sets, levels), best level first."""
    function, step, slopes = FUNCTIONS[metric], 1e-20, np.empty_like(counts)
    for which in (0, 1):
        for level in range(counts.shape[2]):
            moved = counts.astype(np.complex128)
            moved[which, :, level] += 1j * step
            slopes[which, :, level] = function(moved[0], moved[1]).imag / step
    occurs = counts.sum(axis=0) > 0
    steepest = np.abs(np.where(occurs, slopes, 0)).max(axis=2)
    squares, fourth = (counts * slopes**2).sum(axis=2), (counts * slopes**4).sum(axis=(0, 2))
    kurtosis = counts.sum(axis=(0, 2)) * fourth / np.maximum(squares.sum(axis=0), 1e-100) ** 2
    return Model(function(counts[0], counts[1]), squares, steepest, kurtosis, slopes)


def model_of_scores(metric: str, positive: Mask, score: Floats) -> Model:
    """Compute those of average precision or PR AUC of scores without ties."""
    sets, n = positive.shape
    order = np.argsort(-score, axis=1)
    found = np.take_along_axis(positive, order, axis=1).astype(np.float64)
    hits, called = np.cumsum(found, axis=1), np.arange(1, n + 1.0)
    precision, m = hits / called, hits[:, -1:]
    heights, carried = precision, found
    if metric == "pr_auc":
        heights = (precision + np.concatenate([precision[:, :1], precision[:, :-1]], axis=1)) / 2
        carried = found / 2
        carried[:, :-1] += found[:, 1:] / 2
        carried[:, 0] += found[:, 0] / 2
    value = (found * heights).sum(axis=1, keepdims=True) / m
    by_positive, by_negative = (
        np.cumsum((carried * count / called**2)[:, ::-1], axis=1)[:, ::-1] for count in (called - hits, hits)
    )
    ranked = np.where(found > 0, heights - value + by_positive, -by_negative) / m
    slopes = np.empty_like(ranked)
    np.put_along_axis(slopes, order, ranked, axis=1)
    squares = np.array([np.where(of_class, slopes, 0) ** 2 for of_class in (positive, ~positive)]).sum(axis=2)
    kurtosis = n * (slopes**4).sum(axis=1) / np.maximum(squares.sum(axis=0), 1e-100) ** 2
    return Model(value[:, 0], squares, np.zeros((2, sets)), kurtosis, slopes)


# --- the rules ------------------------------------------------------------------------------------------------------


def wilson(value: Floats, trials: Floats, q: Floats) -> Limits:
    """Return Wilson's limits."""
    centre = (value + q * q / (2 * trials)) / (1 + q * q / trials)
    half = q * np.sqrt(value * (1 - value) / trials + q * q / (4 * trials**2)) / (1 + q * q / trials)
    return centre - half, centre + half


def of_value(metric: str, model: Model, m: Floats, n: int, *, shared: bool) -> Limits:
    """Return the limits of one model's value: of m positives among n examples, whose scores may be shared."""
    value, unseen, p = model.value, (model.steepest**2).sum(axis=0), (1 + LEVEL) / 2
    at_an_end = np.minimum(value, 1 - value) <= 1e-12
    varies = np.where(at_an_end, 0.25, value * (1 - value))
    if metric == "partial_auc":
        inside = MOST_FALSE_POSITIVES * (n - m)
        made_up = MADE_UP * (value**2 + (1 - value) ** 2)
        parts = [
            (squares + made_up / within**2) * size / (size - 1)
            for squares, within, size in zip(model.squares, (m, inside), (m, n - m), strict=True)
        ]
        variance, most = parts[0] + parts[1], np.minimum(m, inside)
        df = variance**2 / (parts[0] ** 2 / (m - 1) + parts[1] ** 2 / np.maximum(inside, 1))
        found = np.where(at_an_end, most, trials(varies, variance, unseen, most))
        return wilson(np.clip(value, 0, 1), found, stats.t.ppf(p, df))
    seen, raised, q, df = model.squares.sum(axis=0), m / (m - 1), stats.t.ppf(p, m - 1), m - 1
    if metric == "pr_auc":
        raised = (m + 2) / (m - 1)
        df = np.minimum(df, 2 * n / np.maximum(model.kurtosis - 1, 1e-9))
    at_an_end |= seen == 0
    if shared:
        found = trials(varies, np.maximum(seen * raised, 1e-300), unseen, m)
        return wilson(np.minimum(value, 1), np.where(at_an_end, m, found), q)
    half = stats.t.ppf(p, df) * np.sqrt(seen * raised) / varies
    low, high = (special.expit(special.logit(np.where(at_an_end, 0.5, value)) + s * half) for s in (-1, 1))
    at_one = wilson(np.minimum(value, 1), m, q)
    return np.where(at_an_end, at_one[0], low), np.where(at_an_end, at_one[1], high)


def trials(varies: Floats, variance: Floats, unseen: Floats, most: Floats) -> Floats:
    """Return the trials that a variance amounts to; what is unseen takes away half of them at most."""
    return np.maximum(varies / (variance + unseen), np.minimum(varies / variance, most) / 2)


def of_difference(
    models: tuple[Model, Model], limits: tuple[Limits, Limits], cells: Floats | None = None
) -> Limits:
    """Return the limits of both values, squared and added, less what the derivatives share (Zou 2007).

    ``cells``: counts (2, sets, levels, levels) by class and both models' levels; None without ties.
    """
    (a, b), ((low_a, high_a), (low_b, high_b)) = models, limits
    if cells is None:
        shared = (a.slopes * b.slopes).sum(axis=1)
    else:
        shared = np.einsum("csij,csi,csj->s", cells, a.slopes, b.slopes)
    errors = np.sqrt(a.squares.sum(axis=0) * b.squares.sum(axis=0))
    r = np.where(errors > 0, shared / np.where(errors > 0, errors, 1), 0).clip(-1, 1)
    down, up = (
        np.sqrt(np.maximum(p * p + q * q - 2 * r * p * q, 0))
        for p, q in ((a.value - low_a, high_b - b.value), (high_a - a.value, b.value - low_b))
    )
    return a.value - b.value - down, a.value - b.value + up


# --- the study ------------------------------------------------------------------------------------------------------


def drawn_cells(population: Population, generator: np.random.Generator, sets: int) -> Floats:
    """Draw data sets of few levels: counts (2, sets, levels, levels) of positives and negatives, best level first."""
    if population.shape == "rounded":
        return binned(population, *drawn_scores(population, generator, sets))
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
    drawn = generator.multinomial(population.n, (chances / chances.sum()).ravel(), size=sets)
    cells = np.moveaxis(drawn.reshape(sets, *chances.shape), 1, 0).astype(np.float64)
    return np.asarray(cells[:, (cells.sum(axis=(2, 3)) >= 2).all(axis=0)])


def binned(population: Population, positive: Mask, scores: tuple[Floats, Floats]) -> Floats:
    """Count examples (2, sets, levels, levels) by class and both models' levels, best level first."""
    levels = population.levels
    first, second = (levels - 1 - np.searchsorted(population.cuts, score) for score in scores)
    place = ((np.arange(len(positive))[:, None] * 2 + ~positive) * levels + first) * levels + second
    counts = np.bincount(place.ravel(), minlength=2 * len(positive) * levels**2)
    return np.moveaxis(counts.reshape(-1, 2, levels, levels), 1, 0).astype(np.float64)


def drawn_scores(
    population: Population, generator: np.random.Generator, sets: int
) -> tuple[Mask, tuple[Floats, Floats]]:
    """Draw data sets without ties: which examples are positive, and both models' scores, (sets, n) each."""
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
    return positive[both], (first[both], second[both])


def limits_of_cells(metric: str, cells: Floats) -> tuple[Limits, Limits]:
    """Return the limits of the first model's value, and of the difference, of counts by both models' levels."""
    m, n = cells[0].sum(axis=(1, 2)), int(cells[:, 0].sum())
    models = model_of_levels(metric, cells.sum(axis=3)), model_of_levels(metric, cells.sum(axis=2))
    first, second = (of_value(metric, model, m, n, shared=True) for model in models)
    return first, of_difference(models, (first, second), cells)


def limits_of_scores(metric: str, positive: Mask, scores: tuple[Floats, Floats]) -> tuple[Limits, Limits]:
    """Return the limits of the first model's value, and of the difference, of scores without ties."""
    m, n = positive.sum(axis=1).astype(np.float64), positive.shape[1]
    models = model_of_scores(metric, positive, scores[0]), model_of_scores(metric, positive, scores[1])
    first, second = (of_value(metric, model, m, n, shared=False) for model in models)
    return first, of_difference(models, (first, second))


def rows(run: Run) -> Iterator[Mapping[str, object]]:
    """Yield how often limits hold and, of equal models, how often they leave 0 out; with 99 % limits."""
    for place, population in enumerate(populations()):
        if run.only not in f"{population.levels} levels {population.shape}":
            continue
        metrics = tuple(FUNCTIONS) if population.levels else ("average_precision", "pr_auc")
        limits: dict[str, list[tuple[Limits, Limits]]] = {metric: [] for metric in metrics}
        for start in range(0, run.replications, CHUNK):
            generator, sets = (
                np.random.default_rng([run.seed, place, start]),
                min(CHUNK, run.replications - start),
            )
            if population.levels:
                cells = drawn_cells(population, generator, sets)
                for metric in metrics:
                    limits[metric].append(limits_of_cells(metric, cells))
            else:
                examples = drawn_scores(population, generator, sets)
                for metric in metrics:
                    limits[metric].append(limits_of_scores(metric, *examples))
        for metric in metrics:
            truth, other = (true_value(population, metric, d) for d in (population.first, population.second))
            for position, (kind, true) in enumerate((("value", truth), ("difference", truth - other))):
                low, high = (
                    np.concatenate([part[position][end] for part in limits[metric]]) for end in (0, 1)
                )
                held = (low <= true + 1e-12) & (true - 1e-12 <= high)
                equal = kind == "difference" and population.first == population.second
                decided = (low > 0) | (high < 0)
                yield {
                    "kind": kind, "metric": metric, "levels": population.levels, "shape": population.shape,
                    "first": f"{population.first:.3f}", "second": f"{population.second:.3f}",
                    "correlation": population.correlation, "prevalence": population.prevalence,
                    "n": population.n, "sets": len(held), "held": f"{held.mean():.4f}",
                    "lower": f"{limit(held, high=False):.4f}", "upper": f"{limit(held, high=True):.4f}",
                    "decided": f"{decided.mean():.4f}" if equal else "",
                    "decided_upper": f"{limit(decided, high=True):.4f}" if equal else "",
                    "width": f"{np.mean(high - low):.4f}", "seed": run.seed,
                }  # fmt: skip


def limit(outcomes: Mask, *, high: bool) -> float:
    """Return Clopper and Pearson's limit of a share, 99 % on one side."""
    both = stats.binomtest(int(outcomes.sum()), len(outcomes)).proportion_ci(0.98)
    return float(both.high if high else both.low)


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
        least, sizes = ordered[0], [row["decided"] for row in rows_of if row["decided"]]
        found.append(
            {
                "of": kind, "metric": metric, "levels": levels, "cells": str(len(ordered)),
                "least": least["held"], "at least": least["lower"], "median": ordered[len(ordered) // 2]["held"],
                "most": ordered[-1]["held"],
                "least at": f"separation {least['first']}, prevalence {least['prevalence']}, n = {least['n']}",
                "equal models decided": max(sizes, key=float) if sizes else "",
            }
        )  # fmt: skip
    return found
