"""Quantiles of answers, and their limits by order statistics."""

from __future__ import annotations

import math

import numpy as np

from evalreport.engine.cluster_variance import variance_of_clusters
from evalreport.engine.counts import effective_clusters
from evalreport.engine.distributions import t_quantile
from evalreport.intervals.registry import ROWS_ALIKE, Bounds, evidence_of, interval
from evalreport.metrics.estimate import Estimate
from evalreport.metrics.evidence import Median
from evalreport.predictions.arrays import Floats, Indices
from evalreport.texts import Message


def quantile_limits(
    values: Floats, share: float, level: float, groups: Indices | None = None
) -> tuple[float, Bounds]:
    """Return numpy's linear quantile of all answers, and limits by order statistics.

    With B ~ Bin(n, share), k = ppf(tail), h = isf(tail) + 1 and tail = (1 - level)/2, the limits are the k-th and h-th
    smallest value; there is none where k = 0 or h > n. Answers in groups count as n* independent ones, and k and h are
    scaled by n / n*.

    Parameters
    ----------
    values
        (n,) answers.
    share
        0.5 for the median, 0.95 for the 95th percentile.
    groups
        (n,) codes of the questions or clusters, where several answers belong to one.

    References
    ----------
    Conover (1999), Practical Nonparametric Statistics, section 3.2; n* after Woodruff (1952), J Am Stat Assoc 47:635.

    Examples
    --------
    With 10 values the 95th percentile has no upper limit.

    >>> value, limits = quantile_limits(np.arange(1.0, 11.0), 0.5, 0.95)
    >>> value, limits.low, limits.high
    (5.5, 2.0, 9.0)
    >>> quantile_limits(np.arange(1.0, 11.0), 0.95, 0.95)[1].high is None
    True
    """
    from scipy import stats

    ordered = np.sort(values)
    n, value = len(ordered), float(np.quantile(values, share))
    counted = n if groups is None else independent_answers(values, value, level, groups)
    tail = (1 - level) / 2
    law = stats.binom(counted, share)
    k, h = int(law.ppf(tail)), int(law.isf(tail)) + 1
    low = None if k <= 0 else float(ordered[(k - 1) * n // counted])
    high = None if h > counted else float(ordered[-(-h * n // counted) - 1])
    needed = Message("costs.few_for_quantile", n=counted, needed=fewest_answers(share, level))
    return value, Bounds(low, high, needed if low is None or high is None else None)


def independent_answers(values: Floats, value: float, level: float, groups: Indices) -> int:
    """Return how many independent answers would show a quantile as well as these do: n*, at least 1, at most n.

    It compares the variance of the share of answers up to the quantile with that of a binomial one.
    """
    n = len(values)
    _, codes = np.unique(groups, return_inverse=True)
    sizes = np.bincount(codes).astype(np.float64)
    if len(sizes) == n:
        return n
    below = values <= value
    share = float(below.mean())
    if share == 1:
        return max(1, min(n, math.floor(effective_clusters(sizes))))
    d = (below - share) / n
    variance = variance_of_clusters(
        np.bincount(codes, weights=d).astype(np.float64), sizes, float((d**2).sum())
    )
    if variance is None:
        return 1
    p = (1 + level) / 2
    ratio = t_quantile(p, n - 1) / t_quantile(p, variance.df)
    return min(n, max(1, math.floor(share * (1 - share) / variance.variance * ratio**2 + 1e-9)))


def fewest_answers(share: float, level: float) -> int:
    """Return the least number of independent answers at which a quantile has both limits.

    Examples
    --------
    >>> fewest_answers(0.95, 0.95), fewest_answers(0.5, 0.95)
    (72, 6)
    """
    from scipy import stats

    tail = (1 - level) / 2
    farther = max(share, 1 - share)
    n = math.ceil(math.log(tail) / math.log(farther))
    while True:
        law = stats.binom(n, share)
        if law.ppf(tail) > 0 and law.isf(tail) < n:
            return n
        n += 1


@interval(
    "Order statistics",
    of=Median,
    needs=ROWS_ALIKE,
    source="Conover (1999), Practical Nonparametric Statistics, section 3.2",
)
def order_statistics(estimate: Estimate, level: float) -> Bounds:
    """Two of the sorted values between which the median lies whatever their distribution."""
    return quantile_limits(evidence_of(estimate, Median).values, 0.5, level)[1]
