"""Tests by resampling, for any metric: the paired bootstrap and the swap of whole predictions."""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt

from evalreport.comparisons.registry import Outcome, Pair, comparison_test, probability
from evalreport.texts import Message

Floats = npt.NDArray[np.float64]

ROUNDING = 1e-12
"""Differences closer than this are the same number written by another order of additions."""
NEARLY = 1e-9
"""Statistics that differ by this share are equal: their errors are sums in another order."""


@comparison_test(
    "Paired bootstrap",
    "replicates",
    beside=("permutation",),
)
def bootstrap_difference(pair: Pair) -> Outcome:
    """Share of the bootstrap differences on the far side of 0, twice; both models in the same draws."""
    if pair.difference.replicates is None or not len(pair.difference.replicates_used):
        return Outcome(None, None, reason=Message("reason.no_replicate"))
    used = pair.difference.replicates_used
    if pair.independent and pair.difference.value == 0:
        return Outcome(0.0, 1.0)  # separate draws of equal values lie about 0 unevenly by chance alone
    tail = min(int((used <= ROUNDING).sum()), int((used >= -ROUNDING).sum()))
    return Outcome(pair.difference.value, probability(2 * (1 + tail) / (len(used) + 1)))


@comparison_test(
    "Paired permutation",
    "swaps",
    beside=("bootstrap_difference",),
)
def permutation(pair: Pair) -> Outcome:
    """Share of the row-by-row swaps of the two models whose difference is as large for its error as the observed one.

    Where the metric is a mean over examples, or has no influence values, the differences themselves are compared.
    The statistic is the difference over its standard error, else the difference.
    """
    if pair.swapped is None:
        return Outcome(None, None, reason=Message("reason.cannot_be_swapped"))
    swapped = pair.swapped()
    value, observed = pair.difference.value, abs(pair.difference.value)
    scale = max(observed, float(np.abs(swapped.differences).max(initial=0.0)), ROUNDING)
    statistic, error = value, pair.difference.corrected_error
    if swapped.errors is None or error is None:
        extreme = np.abs(swapped.differences) >= observed - ROUNDING * scale
    else:
        statistic = float(_studentised(np.array([value]), np.array([error]), scale)[0])
        ratios = np.abs(_studentised(swapped.differences, swapped.errors, scale))
        extreme = ratios >= abs(statistic) * (1 - NEARLY)
    if swapped.weights is not None:
        p = float(swapped.weights[extreme].sum())
    else:
        p = (int(extreme.sum()) + 1) / (len(extreme) + 1)
    details = {"discordant": float(swapped.discordant)}
    return Outcome(statistic if math.isfinite(statistic) else None, probability(p), details=details)


def _studentised(differences: Floats, errors: Floats, scale: float) -> Floats:
    """Divide by the errors; without any error a difference is infinitely far from 0, unless it is 0."""
    exact = errors <= ROUNDING * scale
    found = differences / np.where(exact, 1.0, errors)
    return np.where(
        exact, np.where(np.abs(differences) <= ROUNDING * scale, 0.0, np.copysign(np.inf, differences)), found
    )
