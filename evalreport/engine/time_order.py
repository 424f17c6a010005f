"""The variance of a mean whose examples follow one another in time, by cosine series and by autocovariances."""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt

from evalreport.engine.distributions import dot

Floats = npt.NDArray[np.float64]

LEAST_IN_TIME = 20
"""With fewer examples no estimate of the dependence holds."""


def cosines_of(n: int) -> int:
    """Return how many cosine series estimate the variance of n examples: its degrees of freedom.

    max(4, 0.41 n^(2/3)), which balances size and power.

    References
    ----------
    Lazarus, Lewis, Stock and Watson (2018), J Bus Econ Stat 36:541.

    Examples
    --------
    >>> cosines_of(20), cosines_of(100), cosines_of(2000)
    (4, 9, 65)
    """
    return max(4, round(0.41 * math.pow(n, 2 / 3)))


def cosine_sums(derivative: Floats) -> Floats:
    """Return the B weighted sums whose squares add up to the variance of a value, (B,).

    With B of ``cosines_of`` and d_t the derivative of the value by the weight of example t, in order of time, they are
    sqrt(2 / B) sum_t d_t cos(pi j (t - 1/2) / n) for j = 1 ... B. Neighbours that are alike make them larger.

    Examples
    --------
    A series that alternates has little variance at low frequencies, one that drifts has much:

    >>> alternating, drifting = np.tile([1.0, -1.0], 50), np.linspace(-1, 1, 100)
    >>> [round(float((cosine_sums(series) ** 2).sum())) for series in (alternating, drifting)]
    [1, 378]
    """
    from scipy import fft

    b = cosines_of(len(derivative))
    # The transform of type 2 is twice the sums of cosines.
    return np.asarray(fft.dct(derivative, type=2)[1 : b + 1] / np.sqrt(2 * b))


def truncated_variance(derivative: Floats, lags: int) -> float:
    """Return the variance by autocovariances of equal weight up to a lag, which can be negative.

    Parameters
    ----------
    derivative
        (n,) derivative of the value by each example's weight, in order of time.
    lags
        The largest lag, in examples; below n.

    References
    ----------
    Diebold and Mariano (1995), J Bus Econ Stat 13:253.
    """
    return dot(derivative, derivative) + 2 * sum(_lagged(derivative, lags))


def _lagged(derivative: Floats, lags: int) -> list[float]:
    """Return sum_t d_t d_(t - k) for k = 1 ... lags."""
    return [dot(derivative[lag:], derivative[:-lag]) for lag in range(1, min(lags, len(derivative) - 1) + 1)]


def block_length(n: int) -> int:
    """Return the length of the blocks that a moving-block bootstrap of n examples draws: 1.5 n^(1/3).

    Examples
    --------
    >>> block_length(30), block_length(1000)
    (5, 15)
    """
    return min(n, max(1, round(1.5 * math.pow(n, 1 / 3))))
