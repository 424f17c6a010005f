"""The one interval of a pair on the primary metric: simultaneous over the family, and never at odds with the test.

Decisions are by the adjusted p-value of the recommended test, so limits made from another statistic may reach over 0
where the pair is decided, or leave 0 out where it is not. They are cut or stretched at 0 then, and ``method`` says so.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from evalreport.keys import Correction
from evalreport.records import Interval


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
    >>> agreeing(Interval("t", 0.95, -0.01, 0.09), 0.04, decided=True)
    Interval(method='t, cut at 0', level=0.95, low=0.0, high=0.09, reason=None)
    >>> agreeing(Interval("t", 0.95, -0.09, -0.01), -0.05, decided=False).method
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
