"""Quotients that know when they are undefined, and exact derivatives by the complex step."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[Any]


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
    so small that the truncation error vanishes.

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
    step = 1e-30 * max(1.0, float(np.abs(flat).max(initial=0.0)))
    steps = flat + 1j * step * np.eye(flat.size)
    with np.errstate(all="ignore"):
        values = function(steps.reshape(flat.size, *np.shape(point)))
    return (np.asarray(values).imag / step).reshape(np.shape(point))
