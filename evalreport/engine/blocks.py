"""Long arrays, some rows at a time: where NumPy would need many times the memory of a small column."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[Any]

Places = Array
"""Positions of rows, of 32 bits where that is enough."""

ROWS_AT_ONCE = 1 << 18


def places_type(n: int) -> type[np.int32] | type[np.int64]:
    """Return the type of the positions of n rows."""
    return np.int32 if n < 2**31 - 1 else np.int64


def looked_up(values: Array, places: Array) -> Array:
    """Return ``values[places]``; at once NumPy would make a word of eight bytes of every place first.

    Parameters
    ----------
    values
        (m,) numbers.
    places
        (n,) whole numbers from -m to m - 1, of any type.

    Examples
    --------
    >>> looked_up(np.array([10, 20, -1]), np.array([1, -1, 0], dtype=np.int8)).tolist()
    [20, -1, 10]
    """
    picked = np.empty(len(places), dtype=values.dtype)
    for start in range(0, len(places), ROWS_AT_ONCE):
        some = slice(start, start + ROWS_AT_ONCE)
        picked[some] = values[places[some]]
    return picked
