"""Tests of intervals in order of time: as many misses as the level says, and none that announces the next."""

from __future__ import annotations

import math

import numpy as np

from evalreport.engine.distributions import chi2_tail
from evalreport.predictions.arrays import Mask
from evalreport.questions.coverage.records import CoverageTestRecord
from evalreport.texts import Message


def miss_tests(model: str, level: float, missed: Mask) -> tuple[CoverageTestRecord, ...]:
    """Return Kupiec's test, Christoffersen's of independence, and of both.

    Parameters
    ----------
    missed
        (n,) whether the truth lies outside its interval, in order of time.

    References
    ----------
    Kupiec (1995), J Derivatives 3:73; Christoffersen (1998), Int Econ Rev 39:841.

    Examples
    --------
    10 misses in 100 where 5 are expected (LR = 4.131), never two in a row:

    >>> import numpy as np
    >>> found = miss_tests("m", 0.95, np.arange(100) % 10 == 0)
    >>> [round(test.statistic, 3) for test in found]
    [4.131, 2.015, 6.146]
    """
    n, misses = len(missed), int(missed.sum())
    share = 1 - level
    unconditional = 2 * (_likelihood(n - misses, misses, misses / n) - _likelihood(n - misses, misses, share))
    before, after = missed[:-1], missed[1:]
    n00, n01, n10, n11 = (
        int(np.count_nonzero((before == a) & (after == b)))
        for a, b in ((False, False), (False, True), (True, False), (True, True))
    )
    independence = None
    if n > 1 and 0 < misses < n:
        p01, p11 = _share(n01, n00), _share(n11, n10)
        apart = _likelihood(n00, n01, p01) + _likelihood(n10, n11, p11)
        together = _likelihood(n00 + n10, n01 + n11, _share(n01 + n11, n00 + n10))
        independence = max(2 * (apart - together), 0.0)
    why = Message("coverage.no_transition") if independence is None else None
    both = None if independence is None else max(unconditional, 0.0) + independence
    values = (("kupiec", max(unconditional, 0.0), 1, None), ("christoffersen", independence, 1, why))
    return tuple(
        CoverageTestRecord(
            model=model,
            level=level,
            test=name,  # type: ignore[arg-type]
            statistic=statistic,
            df=df,
            p_value=None if statistic is None else chi2_tail(statistic, df),
            n=n,
            misses=misses,
            reason=reason,
        )
        for name, statistic, df, reason in (*values, ("conditional", both, 2, why))
    )


def _share(of: int, rest: int) -> float:
    return of / (of + rest) if of + rest else 0.0


def _likelihood(others: int, misses: int, p: float) -> float:
    """Return the logarithm of (1 - p)^others p^misses, with 0^0 = 1."""
    first = others * math.log(1 - p) if others and p < 1 else (-math.inf if others else 0.0)
    second = misses * math.log(p) if misses and p > 0 else (-math.inf if misses else 0.0)
    return first + second
