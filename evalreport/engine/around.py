"""Medians and mean absolute deviations under many weights: only values near the middle need a look each.

Under bootstrap weights the median and the mean move by a few standard errors. Values outside a window around
them lie on the same side in every replicate, so they enter as sums; the rare replicate that leaves the window is
done in full.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from evalreport.engine.portable import weighted_sums

Floats = npt.NDArray[np.float64]

STANDARD_ERRORS = 8.0


@dataclass(frozen=True, slots=True)
class Sorted:
    """Values in ascending order, (n,), and the rows that they come from."""

    values: Floats
    rows: npt.NDArray[np.int64]


def ascending(values: Floats) -> Sorted:
    """Sort values once."""
    rows = np.argsort(values, kind="stable")
    return Sorted(values[rows], rows)


def weighted_median(table: Sorted, weights: Floats) -> Floats:
    """Return the median (b,) under weights (b, n), as if every value stood there as often as it weighs.

    The mean of the smallest value with at least half of the weight at or below it and the smallest with more than
    half; so whole weights give the median of the repeated values.

    Examples
    --------
    >>> table = ascending(np.array([3.0, 1.0, 2.0]))
    >>> weighted_median(table, np.array([[1.0, 1, 1], [2, 1, 1], [0, 1, 1]]))
    array([2. , 2.5, 1.5])
    """
    n = len(table.values)
    half = int(STANDARD_ERRORS * np.sqrt(n) / 2) + 1
    low, high = max(n // 2 - half, 0), min(n // 2 + half + 1, n)
    found = _median_between(table, weights, low, high)
    outside = np.isnan(found)
    if outside.any():
        found[outside] = _median_between(table, weights[outside], 0, n)
    return found


def _median_between(table: Sorted, weights: Floats, low: int, high: int) -> Floats:
    """Return the medians that lie among the sorted values low to high; nan for the others."""
    goal = weights.sum(axis=1) / 2
    below = np.zeros(len(table.values))
    below[table.rows[:low]] = 1
    reached = np.cumsum(weights[:, table.rows[low:high]], axis=1) + weighted_sums(weights, below)[:, None]
    slack = 1e-12 * goal
    first = (reached >= (goal - slack)[:, None]).argmax(axis=1)
    second = (reached > (goal + slack)[:, None]).argmax(axis=1)
    values = (table.values[low:high][first] + table.values[low:high][second]) / 2
    inside = (reached[:, -1] > goal + slack) & ((reached[:, 0] < goal - slack) | (low == 0))
    return np.where(inside, values, np.nan)


def absolute_deviations(table: Sorted, weights: Floats, centres: Floats) -> Floats:
    """Return sum w |x - m| (b,) about the centres m (b,), under weights (b, n); values best near 0 on average.

    Values below all centres or above all of them enter as sums.
    """
    values, rows = table.values, table.rows
    low = int(np.searchsorted(values, centres.min(), side="left"))
    high = int(np.searchsorted(values, centres.max(), side="right"))
    sign = np.concatenate([np.full(low, -1.0), np.zeros(high - low), np.ones(len(values) - high)])
    side, signed = np.empty(len(values)), np.empty(len(values))
    side[rows], signed[rows] = sign, sign * values
    outer = weighted_sums(weights, signed) - centres * weighted_sums(weights, side)
    near = np.abs(values[low:high] - centres[:, None])
    return np.asarray(outer + (weights[:, rows[low:high]] * near).sum(axis=1))
