"""Tails and quantiles of the usual distributions, and a root of a function, at the price of ``scipy.special``.

``scipy.stats`` has them too, but takes half a second to import and a tenth of a millisecond a call; rarer
distributions are taken from there, where they are needed.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import numpy.typing as npt
from scipy import special

Floats = npt.NDArray[np.float64]


def normal_quantile(p: float) -> float:
    """Return the standard normal quantile."""
    return float(special.ndtri(p))


def normal_tail(z: float) -> float:
    """Return the probability that a standard normal variable exceeds z."""
    return float(special.ndtr(-z))


def t_quantile(p: float, df: float) -> float:
    """Return the quantile of Student's t."""
    return float(special.stdtrit(df, p))


def t_tail(t: float, df: float) -> float:
    """Return the probability that Student's t exceeds t."""
    return float(special.stdtr(df, -t))


def chi2_tail(x: float, df: float) -> float:
    """Return the probability that a chi-squared variable exceeds x."""
    return float(special.gammaincc(df / 2, x / 2))


def f_tail(x: float, df: float, df2: float) -> float:
    """Return the probability that an F variable exceeds x."""
    return float(special.fdtrc(df, df2, x))


def beta_quantile(p: float, a: float, b: float) -> float:
    """Return the quantile of the beta distribution."""
    return float(special.betaincinv(a, b, p))


def binomial_at_most(k: float, n: float, p: float) -> float:
    """Return the probability of at most k successes.

    Examples
    --------
    >>> binomial_at_most(1, 3, 0.5)
    0.5
    """
    if k < 0:
        return 0.0
    return 1.0 if k >= n else float(special.betainc(n - k, k + 1, 1 - p))


def binomial_at_least(k: float, n: float, p: float) -> float:
    """Return the probability of at least k successes."""
    if k <= 0:
        return 1.0
    return 0.0 if k > n else float(special.betainc(k, n - k + 1, p))


def fair_binomial(k: Floats, n: npt.NDArray[np.int64]) -> Floats:
    """Return the probability of k heads in n tosses of a fair coin, element by element.

    Steps of the distribution function in the smaller tail, where they lose no digits.

    Examples
    --------
    >>> fair_binomial(np.array([0.0, 1.0, 2.0, 3.0]), np.array([3, 3, 3, 3]))
    array([0.125, 0.375, 0.375, 0.125])
    """
    smaller = np.minimum(k, n - k)
    below = np.where(smaller > 0, special.betainc(n - smaller + 1, np.maximum(smaller, 1), 0.5), 0)
    # At n = 0 both parameters of the first would be 0 and 1: there is one outcome.
    at_most = np.where(n > 0, special.betainc(np.maximum(n - smaller, 1), smaller + 1, 0.5), 1)
    return np.asarray(at_most - below)


def root(function: Callable[[float], float], low: float, high: float, *, tolerance: float = 2e-12) -> float:
    """Return a root between two points of different sign, by Brent's method.

    Raises
    ------
    ValueError
        The function has the same sign at both ends.
    """
    from scipy import optimize

    return float(optimize.brentq(function, low, high, xtol=tolerance))
