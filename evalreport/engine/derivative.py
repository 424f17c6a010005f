"""Quotients that know when they are undefined, and exact derivatives by the complex step."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[Any]

_AT_ONCE = 1 << 18
"""Numbers at which a function is differentiated at once (8 MB): bounds memory where there are many classes."""


def ratio(numerator: Array, denominator: Array) -> Array:
    """Divide element by element; nan where the denominator is 0 (undefined, said by the caller).

    Works on real and on complex arrays, so that metrics written with it can be differentiated.

    Examples
    --------
    >>> ratio(np.array([1.0, 0.0]), np.array([2.0, 0.0]))
    array([0.5, nan])
    """
    numerator, denominator = np.asarray(numerator), np.asarray(denominator)
    defined = denominator.real != 0
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
    step = 1e-30 * np.where(flat == 0, 1.0, np.abs(flat)).astype(np.longdouble)
    slopes = np.empty(flat.size)
    at_once = max(1, _AT_ONCE // max(flat.size, 1))
    for start in range(0, flat.size, at_once):
        some = np.arange(start, min(start + at_once, flat.size))
        # Long numbers: products of complex doubles round otherwise on processors that multiply and add in one.
        steps = np.tile(flat.astype(np.clongdouble), (len(some), 1))
        steps[np.arange(len(some)), some] += 1j * step[some]
        with np.errstate(all="ignore"):
            values = function(steps.reshape(len(some), *np.shape(point)))
        slopes[some] = np.asarray(values).imag / step[some]
    return slopes.reshape(np.shape(point))


def slopes_at(
    function: Callable[[Array], Array], points: npt.NDArray[np.float64], axes: int
) -> npt.NDArray[np.float64]:
    """Differentiate a function of statistics (..., *shape) -> (...) at every point; 0 where it is undefined.

    The complex step of ``gradient`` at many points, in double precision: its last digits depend on the processor, so
    it serves where numbers are compared and none is shown. ``axes``: how many axes a point's statistics have.
    """
    found = np.empty_like(points)
    step = 1e-30 * max(1.0, float(np.abs(points).max(initial=0.0)))
    for place in np.ndindex(points.shape[points.ndim - axes :]):
        moved = points.astype(np.complex128)
        moved[(..., *place)] += 1j * step
        with np.errstate(all="ignore"):
            found[(..., *place)] = np.asarray(function(moved)).imag / step
    return np.where(np.isfinite(found), found, 0.0)
