"""Exact tests of two models on a single question, answered several times by each."""

from __future__ import annotations

import math
from functools import cache
from itertools import combinations

import numpy as np

from evalreport.engine.draws import stream
from evalreport.predictions.arrays import Floats

MOST_ARRANGEMENTS = 20_000
"""With more ways to share the outcomes out, some are drawn."""
FEW_DRAWS, MOST_DRAWS = 2000, 1_000_000
LIKELY = 0.05
"""A first p-value above this, of ``FEW_DRAWS`` arrangements, is not drawn again with more."""


@cache
def fisher_midp(passes_a: int, n_a: int, passes_b: int, n_b: int) -> float:
    """Return the two-sided mid-p value of Fisher's exact test of equal chances to pass.

    Tables with the same margins are as probable as C(n_a, x) C(n_b, s - x), s passes in all. The mid-p is the
    probability of the less probable tables and half that of those as probable as the one seen.

    Parameters
    ----------
    passes_a, passes_b
        Attempts that passed.
    n_a, n_b
        Attempts, at least 1 each.

    References
    ----------
    Fisher (1935); Lancaster (1961), J Am Stat Assoc 56:223 (mid-p).

    Examples
    --------
    Of two tables 1/20 as probable as all together, all passes against none of three attempts: 1/20.

    >>> fisher_midp(3, 3, 0, 3)
    0.05
    """
    total = passes_a + passes_b
    possible = range(max(0, total - n_b), min(n_a, total) + 1)
    weights = [math.comb(n_a, x) * math.comb(n_b, total - x) for x in possible]
    seen = weights[passes_a - possible.start]
    less = sum(weight for weight in weights if weight < seen)
    alike = sum(weight for weight in weights if weight == seen)
    return (2 * less + alike) / (2 * math.comb(n_a + n_b, total))


def permutation_midp(a: Floats, b: Floats, *, seed: int = 0, purpose: str = "", draws: int = 0) -> float:
    """Return the two-sided mid-p value of the permutation test of one question's outcomes.

    The outcomes of both models are shared out among them in every way; an arrangement counts where its difference of
    means is farther from 0 than the one seen, and half where it is as far. Of more than ``MOST_ARRANGEMENTS`` ways some
    are drawn, and the p-value is (count + 1) / (draws + 1).

    Parameters
    ----------
    a, b
        The outcomes of each model's attempts.
    seed, purpose
        Of the random stream.
    draws
        How many arrangements are drawn where a first p-value of ``FEW_DRAWS`` is small; cut at ``MOST_DRAWS``.

    References
    ----------
    Pitman (1937), Suppl J R Stat Soc 4:119.

    Examples
    --------
    Of the six ways to share out 1, 2, 5 and 6 in twos, two are as far apart as 1, 2 and 5, 6.

    >>> round(permutation_midp(np.array([1.0, 2.0]), np.array([5.0, 6.0])), 6)
    0.166667
    """
    pooled = np.sort(np.concatenate([a, b]))
    centred = pooled - pooled.mean()
    largest = float(np.abs(centred).max())
    if largest == 0:
        return 0.5
    centred = centred / largest
    # With all outcomes centred the difference of means is the sum of a's share, times a constant.
    seen = abs(float((np.sort(a) - pooled.mean()).sum())) / largest
    near = 1e-9 * len(pooled)
    if math.comb(len(pooled), len(a)) <= MOST_ARRANGEMENTS:
        rows = np.array(list(combinations(range(len(pooled)), len(a))), dtype=np.int64)
        sums = np.abs(centred[rows].sum(axis=1))
        farther, as_far = (sums > seen + near).sum(), (np.abs(sums - seen) <= near).sum()
        return float((farther + as_far / 2) / len(sums))
    first = _drawn(centred, len(a), seen, near, FEW_DRAWS, (seed, f"{purpose} first"))
    more = min(max(draws, MOST_ARRANGEMENTS), MOST_DRAWS)
    return first if first > LIKELY else _drawn(centred, len(a), seen, near, more, (seed, purpose))


def _drawn(values: Floats, k: int, seen: float, near: float, draws: int, source: tuple[int, str]) -> float:
    count, block = 0.0, max(1, 2_000_000 // len(values))
    for number, start in enumerate(range(0, draws, block)):
        size = min(block, draws - start)
        order = stream(*source, number).random((size, len(values)))
        chosen = np.argpartition(order, k - 1, axis=1)[:, :k]
        sums = np.abs(values[np.sort(chosen, axis=1)].sum(axis=1))
        count += float((sums > seen + near).sum()) + float((np.abs(sums - seen) <= near).sum()) / 2
    return (count + 1) / (draws + 1)


def smallest_midp(n_a: int, n_b: int) -> float:
    """Return the mid-p value of all passes against none, the smallest that a question can have.

    Examples
    --------
    >>> round(smallest_midp(4, 4), 6)
    0.014286
    """
    return fisher_midp(n_a, n_a, 0, n_b)


def attempts_needed(questions: int, alpha: float) -> int:
    """Return the least number of attempts of each model at which all passes against none would be decided.

    The least k with m / C(2k, k) <= alpha, m questions in the family.

    Examples
    --------
    >>> attempts_needed(20, 0.05), attempts_needed(1, 0.05)
    (6, 3)
    """
    k = 1
    while questions / math.comb(2 * k, k) > alpha:
        k += 1
    return k
