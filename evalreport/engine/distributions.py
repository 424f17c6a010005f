"""Tails and quantiles of the usual distributions, a root of a function, and exact derivatives by the complex step.

``scipy.stats`` has tails and quantiles too, but takes half a second to import and a tenth of a millisecond a
call; rarer distributions are taken from there, where they are needed.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt
from scipy import sparse, special

Array = npt.NDArray[Any]
Floats = npt.NDArray[np.float64]
Columns: TypeAlias = tuple[Floats, ...] | sparse.csr_array
"""Per-example columns: p vectors (n,), or scipy.sparse (n, p)."""


def dot(a: Array, b: Array) -> float:
    """Return the sum of the products of two vectors."""
    return float(a @ b)


def powers(values: Array, counts: Array) -> tuple[float, float, float, float]:
    """Return the largest absolute value of (n,), and the sums of all squares, cubes and fourth powers in units of it.

    So the powers of huge or tiny values neither overflow nor vanish. ``counts``: how often each value occurs.

    Examples
    --------
    >>> powers(np.array([1.0, -2.0]), np.array([4.0, 1.0]))
    (2.0, 2.0, -0.5, 1.25)
    """
    largest = float(max(values.max(initial=0.0), -values.min(initial=0.0))) or 1.0
    scaled = values / largest
    power, sums = counts * scaled, []
    for _ in range(3):
        power = power * scaled
        sums.append(float(power.sum()))
    squares, cubes, fourths = sums
    return largest, squares, cubes, fourths


def column_totals(weights: Floats | None, columns: Columns) -> Floats:
    """Return the weighted sum (p,) of each column; None: weights of one."""
    if not isinstance(columns, tuple):
        return np.asarray((np.ones(columns.shape[0]) if weights is None else weights) @ columns)
    return np.array([(column if weights is None else weights * column).sum() for column in columns])


def combined(columns: Columns, slopes: Floats) -> Floats:
    """Return the sum (n,) of columns, each times its slope (p,)."""
    if not isinstance(columns, tuple):
        return np.asarray(columns @ slopes)
    return np.asarray(sum(column * slope for column, slope in zip(columns, slopes.tolist(), strict=True)))


# --- functions of one number ----------------------------------------------------------------------------------------


def log_choose(n: Array | float, k: Array | float) -> Floats:
    """Return logarithms of the binomial coefficients n over k, element by element."""
    return np.asarray(special.gammaln(n + 1.0) - special.gammaln(k + 1.0) - special.gammaln(n - k + 1.0))


def log(x: Array) -> Floats:
    """Return natural logarithms, element by element."""
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.asarray(np.log(x))


def log1p(x: Array) -> Floats:
    """Return logarithms of 1 + x, element by element."""
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.asarray(np.log1p(x))


def exp(x: Array) -> Floats:
    """Return exponentials, element by element."""
    with np.errstate(over="ignore"):
        return np.asarray(np.exp(x))


ROUNDING = 1e-12
"""Sums of the same numbers in another order agree within this share of them."""


def levelled(values: Sequence[float]) -> list[float]:
    """Return values in which those that are the same number but for rounding are equal, to the least of them.

    Means of the same numbers in another order are such values; which is the smaller one says nothing.

    Examples
    --------
    >>> levelled([0.3, 0.1 + 0.2, 0.5])
    [0.3, 0.3, 0.5]
    """
    level: dict[float, float] = {}
    last = -math.inf
    for value in sorted(set(values)):
        if not math.isclose(value, last, rel_tol=ROUNDING):
            last = value
        level[value] = last
    return [level[value] for value in values]


def normal_quantile(p: float) -> float:
    """Return the standard normal quantile."""
    return float(special.ndtri(p))


def logit_limits(share: float, half: float) -> tuple[float, float]:
    """Return limits of a share that are ``half`` away from it on the logit scale."""
    centre = math.log(share / (1 - share))
    return from_logit(centre - half), from_logit(centre + half)


def from_logit(x: float) -> float:
    """Return 1 / (1 + exp(-x)), without overflow.

    Examples
    --------
    >>> from_logit(0.0), from_logit(-1000.0), from_logit(1000.0)
    (0.5, 0.0, 1.0)
    """
    return 1 / (1 + math.exp(-x)) if x > 0 else math.exp(x) / (1 + math.exp(x))


def normal_tail(z: float) -> float:
    """Return the probability that a standard normal variable exceeds z."""
    return float(special.ndtr(-z))


def tails(z: Floats) -> Floats:
    """Return the probabilities that a standard normal variable exceeds z, element by element."""
    return np.asarray(special.ndtr(-z))


def t_quantile(p: float, df: float) -> float:
    """Return the quantile of Student's t; with infinite degrees of freedom of the normal distribution."""
    return normal_quantile(p) if math.isinf(df) else float(special.stdtrit(df, p))


def t_tail(t: float, df: float) -> float:
    """Return the probability that Student's t exceeds t; with infinite degrees of freedom that a normal number does."""
    return normal_tail(t) if math.isinf(df) else float(special.stdtr(df, -t))


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


def sample_quantiles(values: Array, probabilities: Sequence[float]) -> Floats:
    """Return the order statistics of values (n,) or (n, m) at (n + 1) p, interpolated: (k,) or (k, m).

    References
    ----------
    Davison and Hinkley (1997), section 5.2.1; numpy calls the method "weibull".

    Examples
    --------
    >>> sample_quantiles(np.array([3.0, 1.0, 2.0]), [0.25, 0.375, 1.0])
    array([1. , 1.5, 3. ])
    """
    n = len(values)
    place = np.clip((n + 1) * np.asarray(probabilities, dtype=np.float64) - 1, 0, n - 1)
    below, above = np.floor(place).astype(np.int64), np.ceil(place).astype(np.int64)
    ordered = np.partition(np.ascontiguousarray(values.T), [*below, *above], axis=-1)
    low, high = ordered[..., below], ordered[..., above]
    return np.asarray((low + (place - below) * (high - low)).T)


def root(function: Callable[[float], float], low: float, high: float, *, tolerance: float = 2e-12) -> float:
    """Return a root between two points of different sign, by Brent's method.

    Raises
    ------
    ValueError
        The function has the same sign at both ends.
    RuntimeError
        A hundred steps did not suffice.
    """
    from scipy.optimize import brentq

    # brentq leaves a cycle that holds its function, and with it whatever that refers to.
    held = [function]
    try:
        return float(brentq(lambda x: held[0](x), low, high, xtol=tolerance))
    finally:
        held.clear()


_AT_ONCE = 1 << 18
"""Numbers at which a function is differentiated at once (8 MB): bounds memory where there are many classes."""


def ratio(numerator: Array | float, denominator: Array) -> Array:
    """Divide element by element; nan where the denominator is 0 (undefined; the caller gives the reason).

    Works on real and on complex arrays, so that metrics written with it can be differentiated.

    Examples
    --------
    >>> ratio(np.array([1.0, 0.0]), np.array([2.0, 0.0]))
    array([0.5, nan])
    """
    numerator, denominator = np.asarray(numerator), np.asarray(denominator)
    defined = denominator.real != 0
    if defined.all():
        return np.asarray(numerator / denominator)
    return np.where(defined, numerator / np.where(defined, denominator, 1), np.nan)


def zero_where_undefined(values: Array) -> Array:
    """Replace nan by 0: the field's convention for an undefined class inside an average."""
    return np.where(np.isnan(values.real), 0, values)


def gradient(function: Callable[[Array], Array], point: Array) -> npt.NDArray[np.float64]:
    """Differentiate a function of statistics at a point, exact to rounding.

    The complex step: df/dx_k = Im f(x + i h e_k) / h. There is no difference of nearly equal numbers, so h can be
    so small beside x_k that the truncation error vanishes.

    Parameters
    ----------
    function
        Maps (m, *shape) to (m,), analytic near the point.
    point
        Statistics of any shape.

    Returns
    -------
    array of the shape of ``point``

    References
    ----------
    Squire and Trapp (1998), SIAM Review 40(1), 110-112, equation 2.

    Examples
    --------
    >>> gradient(lambda x: x[:, 0] ** 2 * x[:, 1], np.array([3.0, 2.0]))
    array([12.,  9.])
    """
    flat = np.asarray(point, dtype=np.float64).ravel()
    # A step that vanishes beside the number, and is a normal number itself.
    step = np.maximum(1e-30 * np.where(flat == 0, 1.0, np.abs(flat)), np.finfo(np.float64).tiny)
    slopes = np.empty(flat.size)
    at_once = max(1, _AT_ONCE // max(flat.size, 1))
    for start in range(0, flat.size, at_once):
        some = np.arange(start, min(start + at_once, flat.size))
        steps = np.tile(flat.astype(np.complex128), (len(some), 1))
        steps[np.arange(len(some)), some] += 1j * step[some]
        with np.errstate(all="ignore"):
            values = function(steps.reshape(len(some), *np.shape(point)))
        slopes[some] = np.asarray(values).imag / step[some]
    return slopes.reshape(np.shape(point))


def slopes_at(
    function: Callable[[Array], Array], points: npt.NDArray[np.float64], axes: int
) -> npt.NDArray[np.float64]:
    """Differentiate a function of statistics (..., *shape) -> (...) at every point; 0 where it is undefined.

    The complex step of ``gradient`` at many points.

    Parameters
    ----------
    axes
        How many axes a point's statistics have.
    """
    flat = points.reshape(*points.shape[: points.ndim - axes], -1)
    slopes, size = np.empty_like(flat), flat.shape[-1]
    step = 1e-30 * (float(np.abs(points).max(initial=0.0)) or 1.0)
    at_once = max(1, _AT_ONCE // max(flat.size, 1))
    for start in range(0, size, at_once):
        some = np.arange(start, min(start + at_once, size))
        moved: Array = np.repeat(flat[None].astype(np.complex128), len(some), axis=0)
        moved[np.arange(len(some)), ..., some] += 1j * step
        with np.errstate(all="ignore"):
            values = np.asarray(function(moved.reshape(len(some), *points.shape)))
        slopes[..., some] = np.moveaxis(values.imag / step, 0, -1)
    return np.where(np.isfinite(slopes), slopes, 0.0).reshape(points.shape)


def slopes_by_each(function: Callable[..., Array], arrays: Sequence[Array]) -> npt.NDArray[np.float64]:
    """Differentiate a function of k arrays of one shape (...) by each of them, (..., k); 0 where it is undefined.

    Examples
    --------
    >>> slopes_by_each(lambda x, y: x**2 * y, [np.array([3.0]), np.array([2.0])])
    array([[12.,  9.]])
    """
    points = np.stack([np.asarray(array, dtype=np.float64) for array in arrays], axis=-1)
    return slopes_at(lambda point: function(*np.moveaxis(point, -1, 0)), points, 1)
