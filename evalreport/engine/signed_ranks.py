"""Wilcoxon's signed ranks: the sum of the ranks of the positive differences, exact with ties as without."""

from __future__ import annotations

import math
from functools import lru_cache

import numpy as np
import numpy.typing as npt

from evalreport.engine.distributions import normal_tail
from evalreport.engine.ranks import mid_ranks

Floats = npt.NDArray[np.float64]

LARGEST_EXACT = 50
"""Up to so many differences other than 0 the distribution is enumerated, and doubles hold it exactly."""


@lru_cache(maxsize=512)
def signed_rank_distribution(ranks: tuple[int, ...]) -> Floats:
    """Return the probabilities (sum of ranks + 1,) of the sum of those ranks that are positive, each with chance 1/2.

    Parameters
    ----------
    ranks
        Whole numbers: mid-ranks are doubled first.

    References
    ----------
    Streitberg and Roehmel (1986), Statistical Software Newsletter 12:10: the shift algorithm.

    Examples
    --------
    Four differences of one size have the mid-rank 2.5 each, so all four are positive once in 16 times:

    >>> float(signed_rank_distribution((5, 5, 5, 5))[20])
    0.0625
    """
    probabilities = np.zeros(sum(ranks) + 1)
    probabilities[0] = 1.0
    for rank in ranks:
        probabilities[rank:] = (probabilities[rank:] + probabilities[: len(probabilities) - rank]) / 2
        probabilities[:rank] /= 2
    return probabilities


def standardised(ranks: Floats, positive: float) -> float:
    """Return z of the positive rank sum: under the null each rank is positive with probability 1/2.

    The variance sum r^2 / 4 holds the corrections for ties and for Pratt's zeros: it is taken over the ranks in use.
    """
    return (positive - float(ranks.sum()) / 2) / math.sqrt(float((ranks**2).sum()) / 4)


def signed_rank_tail(differences: Floats) -> float:
    """Return the probability of a positive rank sum as small as that of the differences (m,), other than 0.

    Conditional on the mid-ranks and exact up to ``LARGEST_EXACT`` differences, else normal with tie correction.
    """
    ranks = mid_ranks(np.abs(differences))
    positive = float(ranks[differences > 0].sum())
    if len(ranks) > LARGEST_EXACT:
        return normal_tail(-standardised(ranks, positive))
    doubled = tuple(np.sort(np.rint(2 * ranks)).astype(int).tolist())
    return float(signed_rank_distribution(doubled)[: round(2 * positive) + 1].sum())
