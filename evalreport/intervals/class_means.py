"""Means over classes of shares that are binomial class by class: recalls, and F1 through its Jaccard index."""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt

from evalreport.intervals.proportions import wilson_limits
from evalreport.intervals.registry import Bounds, interval
from evalreport.metrics.estimate import Estimate
from evalreport.texts import Message

Floats = npt.NDArray[np.float64]

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
    n_classes = len(held) if estimate.metric.family == "table" else len(table)
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
    right = table.diagonal()
    trials = table.sum(axis=0) + table.sum(axis=1) - right
    held = np.flatnonzero(trials)
    if not len(held):
        return Bounds(None, None, Message("limits.no_class_occurs"))
    jaccard = right[held] / trials[held]
    below, above = _distances(right[held], trials[held], level)
    # F1 = 2 J / (1 + J) rises with J.
    value, low, high = (2 * j / (1 + j) for j in (jaccard, jaccard - below, jaccard + above))
    correlations = _correlations(table[np.ix_(held, held)], value, (trials + right)[held])
    down, up = (
        math.sqrt(max(float(np.einsum("i,ij,j->", side, correlations, side)), 0.0)) / len(table)
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
