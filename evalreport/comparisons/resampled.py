"""Tests by resampling, for any metric: the paired bootstrap and the swap of whole predictions."""

from __future__ import annotations

import numpy as np

from evalreport.comparisons.registry import Outcome, Pair, comparison_test, probability

ROUNDING = 1e-12
"""Differences closer than this are the same number written by another order of additions."""


@comparison_test(
    "Paired bootstrap",
    "replicates",
    null_hypothesis="the two models have the same value of the metric in the population",
    assumptions="examples are independent; 1,000 or more replicates",
    source="Efron and Tibshirani (1993), chapter 16; p = min(1, 2 (1 + smaller tail) / (B + 1))",
)
def bootstrap_difference(pair: Pair) -> Outcome:
    """Share of the bootstrap differences on the far side of 0, twice; both models in the same draws."""
    if pair.difference.replicates is None or not len(pair.difference.replicates_used):
        return Outcome(None, None, reason="no bootstrap replicate in which both values are defined")
    used = pair.difference.replicates_used
    if pair.independent and pair.difference.value == 0:
        return Outcome(0.0, 1.0)  # separate draws of equal values lie about 0 unevenly by chance alone
    tail = min(int((used <= ROUNDING).sum()), int((used >= -ROUNDING).sum()))
    return Outcome(pair.difference.value, probability(2 * (1 + tail) / (len(used) + 1)))


@comparison_test(
    "Paired permutation",
    "swaps",
    null_hypothesis="which of the two models made which prediction does not matter: they could be swapped row by row",
    assumptions="examples are independent",
    source="Noreen (1989); Yeh (2000), COLING; exact where the swaps can be enumerated",
)
def permutation(pair: Pair) -> Outcome:
    """Share of the row-by-row swaps of the two models that give a difference as large as the observed one."""
    if pair.swapped is None:
        return Outcome(None, None, reason="the models' outputs cannot be swapped for this metric")
    observed = abs(pair.difference.value)
    scale = max(observed, float(np.abs(pair.swapped).max(initial=0.0)))
    extreme = np.abs(pair.swapped) >= observed - ROUNDING * max(scale, ROUNDING)
    if pair.swap_weights is not None:
        return Outcome(pair.difference.value, probability(float(pair.swap_weights[extreme].sum())))
    return Outcome(pair.difference.value, probability((int(extreme.sum()) + 1) / (len(extreme) + 1)))
