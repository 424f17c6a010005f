"""The registry of intervals; those of a proportion x / m, of F1 and of paired differences that follow from them."""

from __future__ import annotations

import csv
import math
from collections.abc import Callable
from dataclasses import dataclass, fields
from functools import cache
from pathlib import Path
from typing import Literal

import numpy as np

from evalreport.engine.distributions import beta_quantile, normal_quantile, root, t_quantile
from evalreport.metrics.estimate import Estimate
from evalreport.metrics.metric import ClassCounts, Margins
from evalreport.predictions.arrays import Floats
from evalreport.registry import Registry, summary_of
from evalreport.texts import Message, Text

Kind = Literal[
    "proportion",
    "weighted_proportion",
    "binary_f1",
    "auc",
    "auc_or_difference",
    "mean",
    "losses",
    "class_recalls",
    "class_f1",
    "smooth",
    "clusters",
    "weights",
    "suite",
    "bootstrap",
    "fits",
    "trained_fits",
    "seeds",
    "judged",
    "blocks",
    "paired_proportion",
    "independent_proportion",
]


@dataclass(frozen=True, slots=True)
class Bounds:
    """Limits of an interval; None with a reason where they cannot be had honestly."""

    low: float | None
    high: float | None
    reason: Text | None = None


Function = Callable[[Estimate, float], Bounds]


@dataclass(frozen=True, slots=True)
class IntervalMethod:
    """One registered interval: what it needs of an estimate is its ``kind`` (``choice.NEEDS_OF_KIND``)."""

    name: str
    label: str
    summary: str
    kind: Kind
    function: Function
    source: str

    @property
    def over_fits(self) -> bool:
        """Whether it is of the mean over folds or repeats."""
        return self.kind in ("fits", "trained_fits")

    @property
    def of_one_value(self) -> bool:
        """Whether it may be of one model's value; the others are of a difference of two proportions alone."""
        return self.kind not in ("paired_proportion", "independent_proportion")


UNLIKE = ("judged", "seeds", "suite", "clusters", "weights")
"""Kinds of examples of which people judged some, after several trainings, in tasks, in clusters or with weights; the
test of the same name goes with each."""

INTERVALS: Registry[IntervalMethod] = Registry("interval")


def interval(label: str, kind: Kind, *, source: str = "") -> Callable[[Function], Function]:
    """Register a function of (estimate, level) that returns ``Bounds``."""

    def _decorate(function: Function) -> Function:
        INTERVALS.add(IntervalMethod(function.__name__, label, summary_of(function), kind, function, source))
        return function

    return _decorate


def quantile(level: float) -> float:
    """Return z with P(-z < Z < z) = level, the lectures' z_N."""
    return normal_quantile((1 + level) / 2)


def wilson_limits(successes: float, trials: float, level: float) -> tuple[float, float]:
    """Return Wilson's score limits of successes / trials, without continuity correction.

    Raises
    ------
    ZeroDivisionError
        Where trials is 0.

    References
    ----------
    Wilson (1927), J Am Stat Assoc 22:209.

    Examples
    --------
    The lecture's 20 errors on 100 examples:

    >>> [round(limit, 6) for limit in wilson_limits(20, 100, 0.95)]
    [0.133367, 0.288829]
    """
    return score_limits(successes / trials, trials, quantile(level))


def score_limits(p: float, trials: float, z: float) -> tuple[float, float]:
    """Return Wilson's limits of a share p of so many trials, whole or effective, at z standard errors."""
    centre = (p + z * z / (2 * trials)) / (1 + z * z / trials)
    half = z * math.sqrt(p * (1 - p) / trials + z * z / (4 * trials * trials)) / (1 + z * z / trials)
    # At the ends the limit is exactly 0 or 1; rounding must not move it.
    return 0.0 if p == 0 else max(0.0, centre - half), 1.0 if p == 1 else min(1.0, centre + half)


def _counts(estimate: Estimate) -> tuple[float, float] | None:
    if estimate.successes is None or not estimate.trials:
        return None
    return estimate.successes, estimate.trials


NO_TRIALS = Bounds(None, None, Message("limits.no_trials"))
ALIKE = Message("limits.alike")
ONE_CLUSTER = Message("limits.one_cluster")


def clopper_pearson_limits(successes: float, trials: float, level: float) -> tuple[float, float]:
    """Return Clopper and Pearson's limits of successes / trials, both whole or effective numbers."""
    tail = (1 - level) / 2
    low = 0.0 if successes == 0 else beta_quantile(tail, successes, trials - successes + 1)
    high = 1.0 if successes == trials else beta_quantile(1 - tail, successes + 1, trials - successes)
    return low, high


@interval(
    "Wilson",
    "weighted_proportion",
    source="Wilson (1927), J Am Stat Assoc 22:209; Brown, Cai and DasGupta (2001); under weights Korn and Graubard"
    " (1998), Survey Methodology 24:193",
)
def wilson(estimate: Estimate, level: float) -> Bounds:
    """Score interval of a proportion: all values that the score test does not reject, no continuity correction.

    Under weights the effective number of trials takes the place of their number: Kish's (sum w)^2 / sum w^2; of
    weighted clusters Korn and Graubard's p (1 - p) / variance, with Student's t of G - 1 degrees of freedom.
    """
    if estimate.trials_effective is None:
        counts = _counts(estimate)
        return NO_TRIALS if counts is None else Bounds(*wilson_limits(*counts, level))
    p = estimate.value
    if estimate.clusters is None:
        return Bounds(*score_limits(p, estimate.trials_effective, quantile(level)))
    error, df = estimate.corrected_error, estimate.df
    if not error or df is None:
        return Bounds(None, None, ALIKE if error == 0 else ONE_CLUSTER)
    return Bounds(*score_limits(p, p * (1 - p) / error**2, t_quantile((1 + level) / 2, df)))


@interval("Agresti-Coull", "proportion", source="Agresti and Coull (1998), Am Stat 52:119")
def agresti_coull(estimate: Estimate, level: float) -> Bounds:
    """Wald interval after z^2/2 successes and as many failures are added."""
    counts = _counts(estimate)
    if counts is None:
        return NO_TRIALS
    z = quantile(level)
    trials = counts[1] + z * z
    p = (counts[0] + z * z / 2) / trials
    half = z * math.sqrt(p * (1 - p) / trials)
    return Bounds(p - half, p + half)


@interval("Clopper-Pearson", "proportion", source="Clopper and Pearson (1934), Biometrika 26:404")
def clopper_pearson(estimate: Estimate, level: float) -> Bounds:
    """Exact interval of a proportion: never covers less than its level, usually more."""
    counts = _counts(estimate)
    return NO_TRIALS if counts is None else Bounds(*clopper_pearson_limits(*counts, level))


@interval("Jeffreys", "proportion", source="Brown, Cai and DasGupta (2001), Stat Sci 16:101, section 4.3")
def jeffreys(estimate: Estimate, level: float) -> Bounds:
    """Equal-tailed interval of the posterior under Jeffreys' prior Beta(1/2, 1/2)."""
    counts = _counts(estimate)
    if counts is None:
        return NO_TRIALS
    x, m = counts
    tail = (1 - level) / 2
    low, high = (beta_quantile(p, x + 0.5, m - x + 0.5) for p in (tail, 1 - tail))
    return Bounds(low, high)


@interval(
    "Wilson on the Jaccard scale", "binary_f1", source="F1 = 2J / (1 + J); TP given TP + FP + FN is binomial"
)
def wilson_f1(estimate: Estimate, level: float) -> Bounds:
    """Wilson's interval of J = TP / (TP + FP + FN), mapped to F1 = 2J / (1 + J)."""
    computation = estimate.metric.computation
    rising = computation.monotone_of if isinstance(computation, ClassCounts) else None
    if rising is None or estimate.jaccard is None or estimate.jaccard[1] == 0:
        return NO_TRIALS
    low, high = wilson_limits(*estimate.jaccard, level)
    return Bounds(rising[1](low), rising[1](high))


def _phi(a: float, b: float, c: float, d: float) -> float:
    """Newcombe's continuity-corrected correlation of a paired 2 x 2 table (method 10)."""
    product = (a + b) * (c + d) * (a + c) * (b + d)
    if product == 0:
        return 0.0
    cross = a * d - b * c
    cross = max(cross - (a + b + c + d) / 2, 0.0) if cross > 0 else cross
    return cross / math.sqrt(product)


@interval("Newcombe, paired", "paired_proportion", source="Newcombe (1998), Stat Med 17:2635, method 10")
def newcombe_paired(estimate: Estimate, level: float) -> Bounds:
    """Difference of two paired proportions by squaring and adding their Wilson limits."""
    assert estimate.agreement is not None
    return Bounds(*newcombe_paired_limits(estimate.agreement, level))


def newcombe_paired_limits(table: tuple[float, float, float, float], level: float) -> tuple[float, float]:
    """Return Newcombe's limits of p1 - p2 from the counts of both, only the first, only the second, neither."""
    a, b, c, d = table
    n = a + b + c + d
    p1, p2 = (a + b) / n, (a + c) / n
    l1, u1 = wilson_limits(a + b, n, level)
    l2, u2 = wilson_limits(a + c, n, level)
    phi = _phi(a, b, c, d)
    below = (p1 - l1) ** 2 - 2 * phi * (p1 - l1) * (u2 - p2) + (u2 - p2) ** 2
    above = (u1 - p1) ** 2 - 2 * phi * (u1 - p1) * (p2 - l2) + (p2 - l2) ** 2
    delta = (b - c) / n
    return delta - math.sqrt(max(below, 0.0)), delta + math.sqrt(max(above, 0.0))


@interval("Tango, paired", "paired_proportion", source="Tango (1998), Stat Med 17:891")
def tango(estimate: Estimate, level: float) -> Bounds:
    """Difference of two paired proportions: all values that the score test does not reject."""
    assert estimate.agreement is not None
    a, b, c, d = estimate.agreement
    n, z = a + b + c + d, quantile(level)

    def score(delta: float) -> float:
        # Tango's equation for the restricted estimate of p_01: A q^2 + B q + C = 0.
        linear = -b - c + (2 * n - b + c) * delta
        constant = -c * delta * (1 - delta)
        q = (math.sqrt(max(linear * linear - 8 * n * constant, 0.0)) - linear) / (4 * n)
        variance = n * (2 * q + delta * (1 - delta))
        distance = b - c - n * delta
        if distance == 0:
            return 0.0  # also where the variance vanishes: no disagreement at all, or all on one side
        return distance / math.sqrt(variance) if variance > 0 else math.copysign(math.inf, distance)

    estimate_of_delta = (b - c) / n
    edge = 1 - 1e-12
    low = (
        -1.0 if score(-edge) <= z else root(lambda x: score(x) - z, -edge, estimate_of_delta, tolerance=1e-14)
    )
    high = (
        1.0 if score(edge) >= -z else root(lambda x: score(x) + z, estimate_of_delta, edge, tolerance=1e-14)
    )
    return Bounds(low, high)


ValueLimits = tuple[float, float, float]
"""A value with its limits: value, low, high."""


def difference_limits(first: ValueLimits, second: ValueLimits) -> tuple[float, float]:
    """Return limits of x - y, independent of each other, from (value, low, high) of each: squared and added.

    l = d - sqrt((x - l_x)^2 + (u_y - y)^2) and u = d + sqrt((u_x - x)^2 + (y - l_y)^2): Zou and Donner (2008),
    Stat Med 27:1693, eq. 2; with Wilson's intervals of two proportions it is Newcombe's method 10.
    """
    (x, low_x, high_x), (y, low_y, high_y) = first, second
    return x - y - math.hypot(x - low_x, high_y - y), x - y + math.hypot(high_x - x, y - low_y)


def newcombe_independent_limits(
    first: tuple[float, float], second: tuple[float, float], level: float
) -> tuple[float, float]:
    """Return Newcombe's hybrid score limits of x1/m1 - x2/m2 for independent samples (method 10 of part 1)."""
    p1, p2 = first[0] / first[1], second[0] / second[1]
    l1, u1 = wilson_limits(*first, level)
    l2, u2 = wilson_limits(*second, level)
    delta = p1 - p2
    return delta - float(np.hypot(p1 - l1, u2 - p2)), delta + float(np.hypot(u1 - p1, p2 - l2))


@interval(
    "Newcombe, independent", "independent_proportion", source="Newcombe (1998), Stat Med 17:873, method 10"
)
def newcombe_independent(estimate: Estimate, level: float) -> Bounds:
    """Difference of two proportions from independent test sets by squaring and adding their Wilson limits."""
    assert estimate.independent is not None
    return Bounds(*newcombe_independent_limits(*estimate.independent, level))


SQUARED_AND_ADDED = "Zou and Donner (2008), Stat Med 27:1693"


@interval("Wilson by class, recalls", "class_recalls", source=SQUARED_AND_ADDED)
def wilson_recalls(estimate: Estimate, level: float) -> Bounds:
    """Mean of the class recalls: the distances of each class's Wilson limits, squared and added.

    Given how many examples each class has, the recalls are independent proportions. A class that the truth does not
    hold adds nothing.
    """
    table, slope = estimate.table, estimate.metric.recall_slope
    assert table is not None
    held = np.flatnonzero(table.sum(axis=1))
    if not len(held):
        return Bounds(None, None, Message("limits.no_class"))
    right, totals = table.diagonal()[held], table.sum(axis=1)[held]
    below, above = _distances(right, totals, level)
    n_classes = (
        len(held) if isinstance(estimate.metric.computation, Margins) else len(table) - estimate.outside
    )
    down, up = (abs(slope) / n_classes * math.hypot(*side) for side in (below, above))
    if slope < 0:
        down, up = up, down
    return Bounds(estimate.value - down, estimate.value + up)


@interval(
    "Wilson by class, F1",
    "class_f1",
    source=f"{SQUARED_AND_ADDED}; of dependent values Zou (2007), Psychol Methods 12:399",
)
def wilson_f1s(estimate: Estimate, level: float) -> Bounds:
    """Macro F1: the distances of each class's Wilson limits (mapped from its Jaccard index), squared and added.

    The classes' F1s share errors, so the products of their distances enter too, times the correlations of their
    influence values. A class that occurs nowhere counts 0 and adds nothing.
    """
    table = estimate.table
    assert table is not None
    n_classes = len(table) - estimate.outside
    right = table.diagonal()[:n_classes]
    trials = (table.sum(axis=0) + table.sum(axis=1))[:n_classes] - right
    held = np.flatnonzero(trials)
    if not len(held):
        return Bounds(None, None, Message("limits.no_class_occurs"))
    jaccard = right[held] / trials[held]
    below, above = _distances(right[held], trials[held], level)
    # F1 = 2 J / (1 + J) rises with J.
    value, low, high = (2 * j / (1 + j) for j in (jaccard, jaccard - below, jaccard + above))
    correlations = _correlations(table[np.ix_(held, held)], value, (trials + right)[held])
    down, up = (
        math.sqrt(max(float(np.einsum("i,ij,j->", side, correlations, side)), 0.0)) / n_classes
        for side in (value - low, high - value)
    )
    return Bounds(estimate.value - down, estimate.value + up)


def _distances(right: Floats, totals: Floats, level: float) -> tuple[Floats, Floats]:
    """Return how far each share's Wilson limits lie below and above it, (K,) each."""
    limits = np.array([wilson_limits(x, m, level) for x, m in zip(right, totals, strict=True)])
    shares = right / totals
    return shares - limits[:, 0], limits[:, 1] - shares


def covariances(table: Floats, f1: Floats, sums: Floats) -> Floats:
    """Return the covariances (K, K) of the classes' F1s by their influence values.

    An example of class i that is called j moves F1_k by (2 [i = j = k] - F1_k ([i = k] + [j = k])) / s_k, s_k the
    examples of the class plus those called so. Two classes share the examples of one that are called the other.

    Parameters
    ----------
    table
        (K, K) counts, rows true.
    f1, sums
        (K,) F1_k and s_k.
    """
    k = np.arange(len(table))
    slope = f1 / sums
    found: Floats = (table + table.T) * np.outer(slope, slope)
    right = table.diagonal()
    found[k, k] = right * ((2 - 2 * f1) / sums) ** 2 + (sums - 2 * right) * slope**2
    return found


def _correlations(table: Floats, f1: Floats, sums: Floats) -> Floats:
    """Return the correlations (K, K) of the classes' F1s; 0 with a class whose F1 does not vary."""
    shared = covariances(table, f1, sums)
    error = np.sqrt(shared.diagonal())
    product = np.outer(error, error)
    found: Floats = np.divide(shared, product, out=np.zeros_like(shared), where=product > 0)
    np.fill_diagonal(found, 1.0)
    return found


TABLE = Path(__file__).with_name("measured.csv")

By = Literal["n", "rarest", "losses"]


@dataclass(frozen=True, slots=True)
class Shortfall:
    """One situation in which a leading interval holds less often than it says.

    Attributes
    ----------
    kind
        ``value`` of one model, or ``difference`` of two.
    metric
        As the command line spells it; ``*``: any metric whose differences have this interval.
    method
        The interval that leads.
    by
        What the situation goes by: ``n`` examples, examples of the ``rarest`` class, or ``losses`` of which few carry
        the sum (warning ``few_large_losses``).
    most
        Up to how many of them; 0 where it goes by losses.
    lowest, highest
        Share of the 95 % intervals that held the true value: least and most over the populations of the study there.
    """

    kind: str
    metric: str
    method: str
    by: By
    most: int
    lowest: float
    highest: float


Situation = tuple[str, str, str, str]
"""Kind, metric, method, by."""


@cache
def shortfalls() -> dict[Situation, Shortfall]:
    """Return the table by (kind, metric, method, by)."""
    numbers = {"most": int, "lowest": float, "highest": float}
    found: dict[Situation, Shortfall] = {}
    with TABLE.open(encoding="utf-8", newline="") as file:
        for line in csv.DictReader(file):
            row = Shortfall(**{f.name: numbers.get(f.name, str)(line[f.name]) for f in fields(Shortfall)})
            found[row.kind, row.metric, row.method, row.by] = row
    return found


def shortfall_of(
    kind: str, metric: str, method: str, *, n: int, rarest: int | None = None
) -> Shortfall | None:
    """Return what was measured of an interval on so few examples, or so few of a class; None where it holds.

    Parameters
    ----------
    n
        Examples.
    rarest
        Of the rarest class; None where there are no classes.

    Examples
    --------
    >>> shortfall_of("value", "accuracy", "wilson", n=1000, rarest=500) is None
    True
    """
    by, size = ("n", n) if rarest is None else ("rarest", rarest)
    table = shortfalls()
    found = table.get((kind, metric, method, by)) or table.get((kind, "*", method, by))
    return found if found is not None and size <= found.most else None
