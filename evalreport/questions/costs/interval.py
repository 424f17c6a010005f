"""Intervals of mean costs, of costs per success and of their ratios, on the log scale."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from evalreport.engine.cluster_variance import variance_of_clusters
from evalreport.engine.counts import kish
from evalreport.engine.distributions import t_quantile
from evalreport.intervals.losses import turned
from evalreport.intervals.registry import Bounds, interval
from evalreport.predictions.arrays import Floats, Indices, required
from evalreport.texts import Message

NO_VARIATION = Message("costs.no_variation")
TOO_FEW = Message("costs.too_few")
LEAST_SPREAD = 1e-12
"""Relative contributions that are all smaller than this do not vary."""


@dataclass(frozen=True, slots=True)
class Stratum:
    """Contributions of independent units to the logarithm of a figure.

    Attributes
    ----------
    contributions
        (J,) one a unit: a question, or a cluster of them.
    variance, df
        Of their sum.
    """

    contributions: Floats
    variance: float
    df: float


@dataclass(frozen=True, slots=True)
class CostFigure:
    """A positive figure of costs, and what each unit contributes to its logarithm.

    ``strata``: one for all questions; one for each task of a suite; those of both test sets of an independent ratio.
    """

    value: float
    strata: tuple[Stratum, ...]


def stratum(
    relative: Floats, share: Floats, *, cluster: Indices | None = None, weighted: bool = False
) -> Stratum | None:
    """Return the contributions share_i z_i of one stratum with their variance; None for fewer than two units.

    Parameters
    ----------
    relative
        (n,) z, each question's distance from the figure, relative to it; the weighted mean is 0.
    share
        (n,) how much each question counts in the figure: 1/n, or w / sum w.
    cluster
        (n,) codes of the clusters, which are the units then.
    weighted
        Whether the shares differ within the stratum.
    """
    u = share * relative
    if cluster is None:
        n = len(u)
        if n < 2:
            return None
        df = kish(share) - 1 if weighted else n - 1.0
        return Stratum(u, n / (n - 1) * float((u**2).sum()), df) if df > 0 else None
    _, codes = np.unique(cluster, return_inverse=True)
    sums = np.bincount(codes, weights=u).astype(np.float64)
    groups = len(sums)
    if groups < 2:
        return None
    if weighted:
        return Stratum(sums, groups / (groups - 1) * float((sums**2).sum()), groups - 1.0)
    variance = required(
        variance_of_clusters(sums, np.bincount(codes).astype(np.float64), float((u**2).sum()))
    )
    return Stratum(sums, variance.variance, variance.df)


@interval(
    "Hall's t on the log scale",
    of=CostFigure,
    needs=("costs",),
    source="Delta method on logarithms; Hall (1992), J R Stat Soc B 54:221; degrees of freedom by the kurtosis,"
    " Satterthwaite (1946), Biometrics Bulletin 2:110; Cochran (1977), Sampling Techniques, chapter 6; the outer limits"
    " and the cut were chosen by simulation (docs/costs.md)",
)
def log_hall(figure: CostFigure, level: float) -> Bounds:
    """Mean cost, cost per success or ratio: the outer limits of Student's t and of Hall's map, both on the log scale.

    With contributions u, SE = sqrt(V), a = sum u^3 / (sum u^2)^1.5, q = t((1 + level)/2; df) with df by the kurtosis of
    u, and C = 2 t((1 + level)/2; df0) SE, the limits are value times exp of max(-C, min(-q SE, -g^-1(q) SE)) and of
    min(C, max(q SE, -g^-1(-q) SE)).

    Parameters
    ----------
    figure
        The value, above 0, with two or more contributions in each stratum.
    level
        Confidence level.

    Examples
    --------
    Four costs of 1, 2, 3 and 4:

    >>> z = np.array([1.0, 2.0, 3.0, 4.0]) / 2.5 - 1
    >>> found = log_hall(CostFigure(2.5, (stratum(z, np.full(4, 0.25)),)), 0.95)
    >>> round(found.low, 3), round(found.high, 3)
    (1.099, 5.686)
    """
    u = np.concatenate([part.contributions for part in figure.strata])
    largest = float(np.abs(u).max(initial=0.0))
    variance = sum(part.variance for part in figure.strata)
    if largest == 0 or variance == 0:
        return Bounds(None, None, NO_VARIATION)
    scaled = u / largest
    squares = float((scaled**2).sum())
    a = float((scaled**3).sum()) / squares**1.5
    error, p = math.sqrt(variance), (1 + level) / 2
    q = t_quantile(p, _satterthwaite([(s.variance, _degrees(s)) for s in figure.strata]))
    cut = 2 * t_quantile(p, _satterthwaite([(s.variance, s.df) for s in figure.strata])) * error
    below, above = turned(q, a)
    low = max(-cut, min(-q, -below) * error)
    high = min(cut, max(q, -above) * error)
    return Bounds(figure.value * math.exp(low), figure.value * math.exp(high))


def _degrees(part: Stratum) -> float:
    """Return min(df0, 2 J / (kurtosis - 1)), with the kurtosis of the contributions about 0."""
    largest = float(np.abs(part.contributions).max())
    if largest == 0:
        return part.df
    squares = (part.contributions / largest) ** 2
    j = len(squares)
    kurtosis = j * float((squares**2).sum()) / float(squares.sum()) ** 2
    return part.df if 2 * j >= part.df * (kurtosis - 1) else 2 * j / (kurtosis - 1)


def _satterthwaite(parts: Sequence[tuple[float, float]]) -> float:
    """Return the degrees of freedom of a sum of variances, each with its own."""
    if len(parts) == 1:
        return parts[0][1]
    whole = sum(variance for variance, _ in parts)
    return 1 / sum((variance / whole) ** 2 / df for variance, df in parts)
