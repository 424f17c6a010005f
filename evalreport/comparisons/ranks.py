"""Signed-rank and sign tests on paired differences: over data sets, folds, or examples whose mean is the metric.

Differences are rounded to 10 decimals first, so that numbers which differ by rounding alone are ties.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from evalreport.comparisons.registry import Outcome, Pair, comparison_test, probability
from evalreport.engine.distributions import binomial_at_most, normal_tail
from evalreport.engine.ranks import mid_ranks
from evalreport.engine.signed_ranks import signed_rank_tail, standardised

Floats = npt.NDArray[np.float64]

DECIMALS = 10


def rounded_differences(pair: Pair) -> Floats:
    """Return the differences by block, (m,), rounded as the rank tests read them."""
    assert pair.difference.paired is not None
    return np.round(pair.difference.paired, DECIMALS) + 0.0


@comparison_test(
    "Wilcoxon signed rank",
    "blocks",
    beside=("sign", "bayes_signed_rank", "nemenyi", "conover"),
    inverse="hodges_lehmann",
)
def wilcoxon(pair: Pair) -> Outcome:
    """Sum of the ranks of the positive differences: exact up to 50, ties included, else normal with tie correction."""
    moved = rounded_differences(pair)
    moved = moved[moved != 0]
    if not len(moved):
        return _no_difference()
    ranks = mid_ranks(np.abs(moved))
    p = min(1.0, 2 * min(signed_rank_tail(moved), signed_rank_tail(-moved)))
    return _outcome(float(ranks[moved > 0].sum()), ranks, p)


@comparison_test(
    "Wilcoxon signed rank, Pratt's zeros",
    "blocks",
    inverse="hodges_lehmann",
)
def wilcoxon_pratt(pair: Pair) -> Outcome:
    """Signed ranks where differences of 0 take the lowest ranks and count on neither side, normal approximation."""
    differences = rounded_differences(pair)
    if not differences.any():
        return _no_difference()
    ranks = mid_ranks(np.abs(differences))[differences != 0]
    positive = float(ranks[differences[differences != 0] > 0].sum())
    p = 2 * normal_tail(abs(standardised(ranks, positive)))
    return _outcome(positive, ranks, p)


def _outcome(positive: float, ranks: Floats, p: float) -> Outcome:
    """Add the rank-biserial correlation: the favourable less the unfavourable share of the ranks (Kerby 2014)."""
    share = positive / float(ranks.sum())
    return Outcome(
        positive, probability(p), None, "rank_biserial", 2 * share - 1, details={"n": float(len(ranks))}
    )


def _no_difference() -> Outcome:
    return Outcome(0.0, 1.0, None, "rank_biserial", 0.0, details={"n": 0.0})


@comparison_test(
    "Sign",
    "blocks",
)
def sign(pair: Pair) -> Outcome:
    """Exact two-sided binomial test on the number of positive among the differences other than 0."""
    differences = rounded_differences(pair)
    positive, negative = int((differences > 0).sum()), int((differences < 0).sum())
    n, smaller = positive + negative, min(positive, negative)
    details = {"n": float(n)}
    if positive == negative:
        return Outcome(float(positive), 1.0, None, "cohen_g", 0.0, details=details)
    p = min(1.0, 2 * binomial_at_most(smaller, n, 0.5))
    return Outcome(float(positive), probability(p), None, "cohen_g", positive / n - 0.5, details=details)
