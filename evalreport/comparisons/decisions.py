"""How a family of tests is decided: adjusted p-values, one interval a pair, equivalence."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np

from evalreport.comparisons.registry import Outcome, Pair, comparison_test, probability
from evalreport.config import Correction
from evalreport.engine.distributions import root
from evalreport.intervals import INTERVALS, recommended, resolved
from evalreport.metrics.estimate import Floats
from evalreport.records import Interval
from evalreport.texts import Message


def adjust(p_values: Sequence[float], correction: Correction) -> list[float]:
    """Adjust p-values so that they can be compared with the level itself.

    Parameters
    ----------
    p_values
        One family, each in (0, 1].
    correction
        ``holm`` (step-down Bonferroni: family-wise error, any dependence), ``bonferroni``,
        ``bh`` (false discovery rate) or ``none``.

    References
    ----------
    Holm (1979), Scand J Stat 6:65; Benjamini and Hochberg (1995), J R Stat Soc B 57:289.

    Examples
    --------
    >>> [round(p, 3) for p in adjust([0.01, 0.04, 0.03], "holm")]
    [0.03, 0.06, 0.06]
    """
    return [float(p) for p in _adjusted(np.asarray(p_values, dtype=np.float64), correction)]


def _adjusted(p: Floats, correction: Correction) -> Floats:
    m = len(p)
    if correction == "none" or m == 0:
        return p
    if correction == "bonferroni":
        return np.minimum(p * m, 1)
    order = np.argsort(p, kind="stable")
    adjusted = np.empty(m)
    if correction == "holm":
        adjusted[order] = np.maximum.accumulate(p[order] * np.arange(m, 0, -1))
    else:
        ranks = np.arange(1, m + 1)
        adjusted[order] = np.minimum.accumulate((p[order] * m / ranks)[::-1])[::-1]
    return np.minimum(adjusted, 1)


def level_of_each(alpha: float, adjusted: Sequence[float], correction: Correction) -> float:
    """Return the level of each pair's limits, so that what ``alpha`` promises holds over the family.

    1 - alpha / m for ``holm`` and ``bonferroni``: all m intervals hold together. 1 - alpha max(r, 1) / m with r decided
    pairs for ``bh``: the expected share of the decided pairs' intervals that miss is at most alpha. 1 - alpha for
    ``none``.

    Parameters
    ----------
    adjusted
        The adjusted p-values of the family's m pairs.

    References
    ----------
    Benjamini and Yekutieli (2005), J Am Stat Assoc 100:71.

    Examples
    --------
    >>> [round(level_of_each(0.05, [0.01, 0.04, 0.3, 0.5], how), 4) for how in ("holm", "bh", "none")]
    [0.9875, 0.975, 0.95]
    """
    m = max(len(adjusted), 1)
    if correction == "none":
        return 1 - alpha
    decided = sum(p <= alpha for p in adjusted) if correction == "bh" else 1
    return 1 - alpha * max(decided, 1) / m


def decides(difference: float | None, p: float | None, limits: Interval, alpha: float) -> bool:
    """Say whether a pair is decided: the test rejects, and its direction is that of the difference.

    Where the limits lie wholly on the other side of 0 than the difference (a mean of data sets that one of them turns
    round, against their ranks) nothing is decided.
    """
    if p is None or p > alpha or not difference:
        return False
    if limits.low is None or limits.high is None:
        return True
    return limits.high > 0 if difference > 0 else limits.low < 0


def agreeing(limits: Interval, difference: float | None, *, decided: bool) -> Interval:
    """Return limits that exclude 0 exactly where the pair is decided.

    A decided pair's are cut at 0, which is then no part of them; an undecided one's are stretched to 0.

    Examples
    --------
    >>> agreeing(Interval(method="t", level=0.95, low=-0.01, high=0.09), 0.04, decided=True)
    Interval(method='t, cut at 0', level=0.95, low=0.0, high=0.09, reason=None)
    >>> agreeing(Interval(method="t", level=0.95, low=-0.09, high=-0.01), -0.05, decided=False).method
    't, stretched to 0'
    """
    low, high = limits.low, limits.high
    if low is None or high is None:
        return limits
    if decided and difference is not None and low <= 0 <= high:
        cut = (0.0, high) if difference > 0 else (low, 0.0)
        return replace(limits, method=f"{limits.method}, cut at 0", low=cut[0], high=cut[1])
    if not decided and not low <= 0 <= high:
        return replace(
            limits, method=f"{limits.method}, stretched to 0", low=min(low, 0.0), high=max(high, 0.0)
        )
    return limits


def room_within(limits: Interval, margin: float) -> float:
    """Return how far limits lie inside [-margin, margin]; below 0 where they do not, or where there are none."""
    if limits.low is None or limits.high is None:
        return -float("inf")
    return min(margin - limits.high, limits.low + margin)


def tost(pair: Pair, margin: float) -> float | None:
    """Return the smallest alpha at which the 1 - 2 alpha interval lies inside (-margin, margin).

    Parameters
    ----------
    pair
        Its recommended interval is inverted.
    margin
        Smallest difference that matters, in the metric's units, > 0.

    Returns
    -------
    float or None
        1 where no level does (the observed difference is not inside); None where there is no interval.

    References
    ----------
    Schuirmann (1987), J Pharmacokinet Biopharm 15:657; Westlake (1981).
    """
    name = recommended(pair.difference)

    def room(alpha: float) -> float:
        return room_within(resolved(pair.difference, name, 1 - 2 * alpha), margin)

    # No replicate lies beyond the extreme ones, so a bootstrap interval resolves no smaller alpha than this.
    resampled = INTERVALS[name].kind == "bootstrap" and pair.difference.replicates is not None
    smallest = 1 / (len(pair.difference.replicates_used) + 1) if resampled else SMALLEST_ALPHA
    largest = 0.5 - SMALLEST_ALPHA
    if resolved(pair.difference, name, 1 - 2 * largest).low is None:
        return None
    return smallest_alpha(room, smallest, smallest=smallest, largest=largest)


NO_INTERVAL = Message("reason.no_interval_to_invert")
SMALLEST_ALPHA = 1e-9
"""No p-value of an inverted interval is computed below this."""


def smallest_alpha(
    room: Callable[[float], float],
    at: float,
    *,
    smallest: float = SMALLEST_ALPHA,
    largest: float = 1 - SMALLEST_ALPHA,
) -> float:
    """Return the smallest alpha at which an interval lies inside the margin; 1 where none does.

    Parameters
    ----------
    room
        How far the interval at alpha lies inside the margin: below 0 where it does not. It grows with alpha.
    at
        The alpha that is decided at: the answer is at or below it exactly where the interval lies inside there, even
        where limits change their method on the way.
    """
    if room(at) >= 0:
        return probability(smallest if room(smallest) >= 0 else root(room, smallest, at, tolerance=1e-10))
    if room(largest) < 0:
        return 1.0
    return probability(max(root(room, at, largest, tolerance=1e-10), math.nextafter(at, 1)))


@comparison_test("Equivalence, two one-sided tests", "margin", name="tost")
def equivalence(pair: Pair) -> Outcome:
    """Smallest level at which the recommended interval of the difference lies inside the declared margin."""
    assert pair.margin is not None
    p = tost(pair, pair.margin)
    return Outcome(None, p, reason=None if p is not None else NO_INTERVAL)
