"""Intervals of a difference over blocks: folds, data sets or examples that both models share."""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt

from evalreport.engine.distributions import t_quantile
from evalreport.engine.signed_ranks import LARGEST_EXACT, signed_rank_distribution, signed_rank_tail
from evalreport.intervals.proportions import quantile
from evalreport.intervals.registry import Bounds, interval
from evalreport.metrics.estimate import Estimate
from evalreport.texts import Message

Floats = npt.NDArray[np.float64]

LARGEST_EXACT_UNTIED = 300
"""Up to so many blocks without ties the limits stand on the exact distribution of the signed rank sum."""
MOST_BLOCKS = 1_000
"""Beyond, the m (m + 1) / 2 averages of two differences would fill memory for nothing."""


@interval(
    "t over folds, uncorrected", "fits", source="Student (1908), Biometrika 6:1; on folds it is too narrow"
)
def cv_t(estimate: Estimate, level: float) -> Bounds:
    """Mean over folds plus or minus t errors as if the folds were independent, which they are not."""
    assert estimate.fits is not None
    values = estimate.fits.values
    if len(values) < 2 or np.isnan(values).any():
        return Bounds(None, None, Message("limits.few_folds"))
    error = float(values.std(ddof=1)) / math.sqrt(len(values))
    half = t_quantile((1 + level) / 2, len(values) - 1) * error
    centre = float(values.mean())
    return Bounds(centre - half, centre + half, Message("limits.overlapping"))


@interval(
    "Hodges-Lehmann",
    "blocks",
    source="Hodges and Lehmann (1963), Ann Math Stat 34:598; Hollander and Wolfe, 3.3",
)
def hodges_lehmann(estimate: Estimate, level: float) -> Bounds:
    """All shifts that the Wilcoxon signed-rank test does not reject, from the averages of two differences."""
    assert estimate.paired is not None
    differences = np.round(estimate.paired, 10)
    m = len(differences)
    tied = m <= LARGEST_EXACT and len(np.unique(differences)) < m
    lower_limit = _limit_with_ties if tied else _limit
    low, least = (lower_limit(turned, level) for turned in (differences, -differences))
    if low is None or least is None:
        return Bounds(None, None, Message("limits.few_differences", total=m, level=level))
    if low == -least:
        return Bounds(None, None, Message("limits.ties"))
    return Bounds(low, -least)


def _averages(differences: Floats) -> Floats:
    """Return the averages of two differences, each with itself too, in ascending order."""
    rows, columns = np.triu_indices(len(differences))
    return np.sort((differences[rows] + differences[columns]) / 2)


def _limit_with_ties(differences: Floats, level: float) -> float | None:
    """Return the lower end of the shifts that the test conditional on ties does not reject; None where it has none.

    Between two neighbouring averages of two differences the ranks, and so the p-value, do not change. With ties it
    need not rise from each of these stretches to the next: so they are looked at from the lowest up.
    """
    averages = np.unique(_averages(differences))
    between = np.concatenate([[averages[0] - 1], (averages[:-1] + averages[1:]) / 2])
    for place, shift in enumerate(between):
        if signed_rank_tail(shift - differences) > (1 - level) / 2 * (1 + 1e-12):
            return float(averages[place - 1]) if place else None
    return float(averages[-1])


def _limit(differences: Floats, level: float) -> float | None:
    """Return the lower limit from the distribution without ties; None where there is none."""
    rank = _rank_of_limit(len(differences), level)
    return None if rank is None else float(_averages(differences)[rank - 1])


def _rank_of_limit(m: int, level: float) -> int | None:
    """Return which of the ordered averages is the lower limit, counted from 1; None where none reaches the level."""
    tail = (1 - level) / 2
    if m > LARGEST_EXACT_UNTIED:
        spread = math.sqrt(m * (m + 1) * (2 * m + 1) / 24)
        return max(1, math.floor(m * (m + 1) / 4 - quantile(level) * spread))
    # The lower limit is the q-th average, q the smallest number with P(V <= q) >= tail; P(V < q) is what it leaves out.
    cumulative = np.cumsum(signed_rank_distribution(tuple(range(1, m + 1))))
    q = int(np.searchsorted(cumulative, tail * (1 - 1e-12)))
    return q if q >= 1 else None
