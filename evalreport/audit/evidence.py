"""Evidence that the values of later runs lie below those of the accepted runs, or below a floor."""

from __future__ import annotations

import math

import numpy as np
from scipy import special

from evalreport.engine import distributions
from evalreport.engine.distributions import normal_tail
from evalreport.predictions.arrays import Floats, Indices

HORIZON = 365
"""Runs within which a drop may begin, where a series does not say how many a year has."""
AT_ONCE = 0.25
"""Prior weight of a drop right after the accepted runs; the rest is spread evenly over the horizon."""
SHORTEST = 3
"""Runs that a drop must have lasted: with fewer, single outlying runs raise false alarms."""
PRIOR_VARIANCE = 1.0
"""Variance of the half-normal prior of a drop's size, in standard deviations of a run's value."""
FRACTIONS = (0.05, 0.1, 0.2, 0.4, 0.8)
"""Shares of the capital that are bet against a floor, averaged."""
LEAST_CORRELATED = 4
"""Runs below which their serial correlation has no test."""


def drop_evidence(
    accepted: Floats, later: Floats, errors: Floats | None = None, *, horizon: int = HORIZON
) -> tuple[Floats, Indices]:
    """Return the logarithm of the evidence that later values are lower, and where the drop began.

    For a drop that began after tau runs, B is the likelihood ratio of the values' location and scale invariants, with
    a half-normal prior on the drop in standard deviations of a value. With a values before and b since, D the
    difference of their means, SS the pooled sum of squares within, n_e = ab / (a + b) and k = 1 + n_e g::

        B = k^(-1/2) ((SS + n_e D^2) / Q)^((nu + 1) / 2) 2 T_(nu + 1)(-D n_e sqrt(g / k) sqrt((nu + 1) / Q))

    with nu = a + b - 2 and Q = SS + n_e D^2 / k. The evidence is the mean of B over tau, with a quarter of the weight
    on tau = 0. For independent normal values of one unknown mean and variance, its expectation is at most 1.

    Parameters
    ----------
    accepted, later
        (..., A) and (..., t) values, greater is better; A at least 1.
    errors
        (..., A + t) standard errors of these values from their examples alone. SS is then at least what they explain,
        and D at most as certain as they allow, since values of few examples or few mistakes are neither normal nor
        of one variance. That makes the evidence smaller, never larger.
    horizon
        Runs since the accepted ones within which a drop may begin; a later drop is treated as an earlier one.

    Returns
    -------
    tuple
        (...) log e, and (...) the number of later values before the likeliest beginning of a drop, 0 if none.
    """
    before, t = accepted.shape[-1], later.shape[-1]
    values, variances = _scaled(np.concatenate([accepted, later], axis=-1), errors)
    starts = np.arange(min(t - SHORTEST + 1, horizon))
    reserve = (1 - AT_ONCE) * max(horizon - t, 0) / horizon
    if before + t < SHORTEST or not len(starts):
        e = reserve if t and before + t >= SHORTEST else 1.0
        return np.full(values.shape[:-1], math.log(e)), np.zeros(values.shape[:-1], dtype=np.int64)
    a, b = before + starts, t - starts
    weights = np.full(len(starts), (1 - AT_ONCE) / horizon)
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
    log_e = np.logaddexp.reduce(ratios + distributions.log(weights), axis=-1)
    if reserve > 0:
        log_e = np.logaddexp(log_e, math.log(reserve))
    return np.asarray(log_e), np.asarray(np.argmax(ratios, axis=-1))


def _scaled(values: Floats, errors: Floats | None) -> tuple[Floats, Floats | None]:
    """Subtract the first value and divide by the largest distance, so that units do not matter and no digit is lost."""
    centred = values - values[..., :1]
    size = np.max(np.abs(centred), axis=-1, keepdims=True)
    size = np.where(size > 0, size, 1.0)
    return centred / size, None if errors is None else (errors / size) ** 2


def _split(values: Floats, a: Indices) -> tuple[Floats, Floats]:
    """Return the sums of the first a values and of the rest, for every a."""
    sums = np.cumsum(values, axis=-1)
    early = sums[..., a - 1]
    return early, sums[..., -1:] - early


def _by_sampling(variances: Floats, a: Indices, b: Indices) -> tuple[Floats, Floats]:
    """Return the SS that the values' own standard errors explain, and the SS that D's variance by them would need."""
    early, late = _split(variances, a)
    explained = early * (1 - 1 / a) + late * (1 - 1 / b)
    of_difference = early / a**2 + late / b**2
    return explained, (a + b - 2) * (a * b / (a + b)) * of_difference


def _log_ratio(difference: Floats, within: Floats, a: Indices, b: Indices) -> Floats:
    """Return log B; see ``drop_evidence``."""
    n_e, df = a * b / (a + b), a + b - 1.0
    k = 1 + n_e * PRIOR_VARIANCE
    q = within + n_e * difference**2 / k
    place = -difference * n_e * np.sqrt(PRIOR_VARIANCE / k) * np.sqrt(df / q)
    ratio = distributions.log((within + n_e * difference**2) / q) * (df / 2) - distributions.log(k) / 2
    with np.errstate(divide="ignore"):  # far above the earlier values there is no evidence
        return np.asarray(ratio + math.log(2) + distributions.log(special.stdtr(df, place)))


def floor_evidence(values: Floats, floor: float, best: float) -> float:
    """Return the logarithm of the evidence that values lie below a floor, for any distribution and dependence.

    The mean over f of the products of 1 + f (floor - x) / (best - floor): a bet that cannot gain on average while
    each value's expectation, given all values before, is at least the floor.

    Parameters
    ----------
    values
        (t,) values in order.
    floor, best
        The declared floor, and the best possible value; for a loss it is below the floor.
    """
    loss = (floor - values) / (best - floor)
    logs = distributions.log1p(np.outer(FRACTIONS, loss)).sum(axis=1)
    return float(np.logaddexp.reduce(logs)) - math.log(len(FRACTIONS))


def mean_limits(values: Floats, alpha: float) -> tuple[float, float] | None:
    """Return limits of the mean of independent normal values that hold after every value at once; None: too few values.

    The means whose likelihood ratio (normal prior on the distance in standard deviations, unknown variance) stays
    below 1 / alpha: with k = 1 + n and c = (sqrt(k) / alpha)^(2 / n), mean -+ sqrt(SS / n (c - 1) / (1 - c / k)).

    Examples
    --------
    >>> low, high = mean_limits(np.array([0.84, 0.85, 0.86, 0.85, 0.84, 0.86, 0.85]), 0.05)
    >>> round(low, 3), round(high, 3)
    (0.836, 0.864)
    """
    n = len(values)
    k = 1 + n * PRIOR_VARIANCE
    c = (math.sqrt(k) / alpha) ** (2 / n) if n else math.inf
    if c >= k:
        return None
    mean = float(values.mean())
    squares = float(((values - mean) ** 2).sum())
    half = math.sqrt(squares / n * (c - 1) / (1 - c / k))
    return mean - half, mean + half


def serial_correlation(values: Floats) -> tuple[float, float] | None:
    """Return the correlation of each value with the next, and p of a positive one; None: too few values, or all equal.

    r = sum d_i d_(i+1) / sum d_i^2 with d = x - mean; of n independent normal values it has mean -1/n and variance
    (n - 2)^2 / (n^2 (n - 1)) (Moran 1948, Biometrika 35:255), and is nearly normal from 4 values on.

    Examples
    --------
    >>> r, p = serial_correlation(np.array([1.0, 2, 3, 4, 5, 6, 7]))
    >>> round(r, 3), round(p, 3)
    (0.571, 0.007)
    """
    n, centred = len(values), values - values.mean() if len(values) else values
    squares = distributions.dot(centred, centred)
    if n < LEAST_CORRELATED or squares <= 1e-24 * distributions.dot(values, values):
        return None
    r = distributions.dot(centred[1:], centred[:-1]) / squares
    return r, normal_tail((r + 1 / n) * n * math.sqrt(n - 1) / (n - 2))
