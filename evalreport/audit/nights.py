"""What nights tell that may be asked after each of them: evidence of a drop, bets against a floor, their correlation.

A night is one value of a metric on examples of its own. Evidence is a number e whose mean is at most 1, at every night,
where nothing changed; so it reaches 1 / alpha at *any* night with probability at most alpha (Ville's inequality).

References
----------
Robbins (1970), Ann Math Stat 41:1397 (mixtures that may be watched); Lai (1976), Ann Stat 4:265 (Student's t under
them); Shin, Ramdas and Rinaldo (2024), New Engl J Stat Data Sci 2:229 (a change at an unknown time); Waudby-Smith and
Ramdas (2024), J R Stat Soc B 86:1 (bets on a bounded mean).
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from scipy import special

from evalreport.engine import portable
from evalreport.engine.distributions import normal_tail

Floats = npt.NDArray[np.float64]

HORIZON = 365
"""Nights since the accepted ones at which a drop may begin; a later one is seen as if it had begun earlier."""
AT_ONCE = 0.25
"""Share of the stake for a drop right after the accepted nights; the rest is spread evenly over the horizon."""
SHORTEST = 3
"""Nights that a drop must have lasted: with fewer, single nights far out raise false alarms."""
PRIOR_VARIANCE = 1.0
"""Of the size of a drop, in standard deviations of a night (a half-normal prior)."""
FRACTIONS = (0.05, 0.1, 0.2, 0.4, 0.8)
"""Shares of the stake that are bet against a floor, mixed evenly."""
LEAST_CORRELATED = 4
"""Nights below which their correlation has no test: the statistic has too few values."""


@dataclass(frozen=True, slots=True)
class Night:
    """A metric's value on the examples of one night, its standard error (0: unknown), and their number."""

    value: float
    error: float
    n: int


def drop_evidence(
    accepted: Floats, nights: Floats, errors: Floats | None = None
) -> tuple[Floats, npt.NDArray[np.int64]]:
    """Return the logarithm of the evidence that later nights lie lower than the accepted ones, and since which night.

    For a drop that began after tau nights, B is the likelihood ratio of the values' location and scale invariants, with
    a half-normal prior on the drop in standard deviations of a night. With a nights before and b since, D the
    difference of their means, SS the pooled sum of squares within, n_e = ab / (a + b) and k = 1 + n_e g::

        B = k^(-1/2) ((SS + n_e D^2) / Q)^((nu + 1) / 2) 2 T_(nu + 1)(-D n_e sqrt(g / k) sqrt((nu + 1) / Q))

    with nu = a + b - 2 and Q = SS + n_e D^2 / k. The evidence is the mean of B over tau, with a quarter of the weight
    on tau = 0. For independent normal nights of one level and one spread, whatever these are, its mean is at most 1.

    Parameters
    ----------
    accepted, nights
        (..., A) and (..., t) values, greater is better; A at least 1.
    errors
        (..., A + t) standard errors of these values by their examples alone. SS is then not believed to be smaller than
        they explain, nor D to be more certain: values of few examples or few mistakes are neither normal nor of one
        spread. That makes the evidence smaller, never larger.

    Returns
    -------
    tuple
        (...) log e, and (...) the nights before the likeliest beginning of a drop; 0 where there is nothing to say.
    """
    before, t = accepted.shape[-1], nights.shape[-1]
    values, variances = _scaled(np.concatenate([accepted, nights], axis=-1), errors)
    starts = np.arange(min(t - SHORTEST + 1, HORIZON))
    reserve = (1 - AT_ONCE) * max(HORIZON - t, 0) / HORIZON
    if before + t < SHORTEST or not len(starts):
        e = reserve if t and before + t >= SHORTEST else 1.0
        return np.full(values.shape[:-1], math.log(e)), np.zeros(values.shape[:-1], dtype=np.int64)
    a, b = before + starts, t - starts
    weights = np.full(len(starts), (1 - AT_ONCE) / HORIZON)
    weights[0] += AT_ONCE
    early, late = _split(values, a)
    difference = late / b - early / a
    within = np.sum(values * values, axis=-1, keepdims=True) - early * early / a - late * late / b
    within = np.maximum(within, 0.0) + 1e-14
    if variances is not None:
        explained, uncertain = _by_sampling(variances, a, b)
        careful = np.maximum(within, explained) + np.maximum(uncertain - explained, 0.0)
        within = np.where(difference < 0, careful, within)
    ratios = _log_ratio(difference, within, a, b)
    log_e = np.logaddexp.reduce(ratios + portable.log(weights), axis=-1)
    if reserve > 0:
        log_e = np.logaddexp(log_e, math.log(reserve))
    return np.asarray(log_e), np.asarray(np.argmax(ratios, axis=-1))


def _scaled(values: Floats, errors: Floats | None) -> tuple[Floats, Floats | None]:
    """Centre values at the first and divide them by the largest: no unit matters, and no digit of a level is lost."""
    centred = values - values[..., :1]
    size = np.max(np.abs(centred), axis=-1, keepdims=True)
    size = np.where(size > 0, size, 1.0)
    return centred / size, None if errors is None else (errors / size) ** 2


def _split(values: Floats, a: npt.NDArray[np.int64]) -> tuple[Floats, Floats]:
    """Return the sums of the first a values and of the rest, for every a."""
    sums = np.cumsum(values, axis=-1)
    early = sums[..., a - 1]
    return early, sums[..., -1:] - early


def _by_sampling(
    variances: Floats, a: npt.NDArray[np.int64], b: npt.NDArray[np.int64]
) -> tuple[Floats, Floats]:
    """Return what the nights' own standard errors make of SS, and what SS they make of D's variance."""
    early, late = _split(variances, a)
    explained = early * (1 - 1 / a) + late * (1 - 1 / b)
    of_difference = early / a**2 + late / b**2
    return explained, (a + b - 2) * (a * b / (a + b)) * of_difference


def _log_ratio(
    difference: Floats, within: Floats, a: npt.NDArray[np.int64], b: npt.NDArray[np.int64]
) -> Floats:
    """Return log B; see ``drop_evidence``."""
    n_e, df = a * b / (a + b), a + b - 1.0
    k = 1 + n_e * PRIOR_VARIANCE
    q = within + n_e * difference**2 / k
    place = -difference * n_e * np.sqrt(PRIOR_VARIANCE / k) * np.sqrt(df / q)
    ratio = portable.log((within + n_e * difference**2) / q) * (df / 2) - portable.log(k) / 2
    with np.errstate(divide="ignore"):  # far above the earlier nights there is no evidence at all
        return np.asarray(ratio + math.log(2) + portable.log(special.stdtr(df, place)))


def floor_evidence(nights: Floats, floor: float, best: float) -> float:
    """Return the logarithm of the evidence that nights lie below a floor, whatever their distribution or dependence.

    The mean over f of the products of 1 + f (floor - x) / (best - floor): a fair game or worse for whoever bets, as
    long as every night's expectation, given all nights before, is at least the floor.

    Parameters
    ----------
    nights
        (t,) values; of a loss ``best`` lies below the floor.
    floor, best
        The declared floor, and the best value that there is.
    """
    loss = (floor - nights) / (best - floor)
    logs = portable.log1p(np.outer(FRACTIONS, loss)).sum(axis=1)
    return float(np.logaddexp.reduce(logs)) - math.log(len(FRACTIONS))


def mean_limits(nights: Floats, alpha: float) -> tuple[float, float] | None:
    """Return limits of the mean of independent normal nights that hold at every night at once; None: too few nights.

    The means whose likelihood ratio (a normal prior on the distance in standard deviations, nothing assumed of these)
    stays below 1 / alpha: with k = 1 + n and c = (sqrt(k) / alpha)^(2 / n), mean -+ sqrt(SS / n (c - 1) / (1 - c / k)).

    Examples
    --------
    >>> low, high = mean_limits(np.array([0.84, 0.85, 0.86, 0.85, 0.84, 0.86, 0.85]), 0.05)
    >>> round(low, 3), round(high, 3)
    (0.836, 0.864)
    """
    n = len(nights)
    k = 1 + n * PRIOR_VARIANCE
    c = (math.sqrt(k) / alpha) ** (2 / n) if n else math.inf
    if c >= k:
        return None
    mean = float(nights.mean())
    squares = float(((nights - mean) ** 2).sum())
    half = math.sqrt(squares / n * (c - 1) / (1 - c / k))
    return mean - half, mean + half


def serial_correlation(nights: Floats) -> tuple[float, float] | None:
    """Return the correlation of each night with the next, and p of a positive one; None: too few nights, or all equal.

    r = sum d_i d_(i+1) / sum d_i^2 with d = x - mean; of n independent normal values it has mean -1/n and variance
    (n - 2)^2 / (n^2 (n - 1)) (Moran 1948, Biometrika 35:255), and is taken as normal, which 4 values nearly justify.

    Examples
    --------
    >>> r, p = serial_correlation(np.array([1.0, 2, 3, 4, 5, 6, 7]))
    >>> round(r, 3), round(p, 3)
    (0.571, 0.007)
    """
    n, apart = len(nights), nights - nights.mean() if len(nights) else nights
    squares = portable.dot(apart, apart)
    if n < LEAST_CORRELATED or squares <= 1e-24 * portable.dot(nights, nights):
        return None
    r = portable.dot(apart[1:], apart[:-1]) / squares
    return r, normal_tail((r + 1 / n) * n * math.sqrt(n - 1) / (n - 2))
