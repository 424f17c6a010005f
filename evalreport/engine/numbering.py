"""Rows numbered by what they have in common; without scipy, which loading does not wait for."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
import numpy.typing as npt


def numbered(columns: Iterable[npt.ArrayLike]) -> npt.NDArray[np.int64]:
    """Number rows by the distinct combinations of their values in some columns (n,), in the order of these values.

    Examples
    --------
    >>> numbered([np.array([5, 5, 2]), np.array([0.5, 0.1, 0.1])]).tolist()
    [2, 1, 0]
    """
    packed: npt.NDArray[np.int64] | None = None
    for column in columns:
        codes = np.unique(column, return_inverse=True)[1].ravel().astype(np.int64)
        if packed is not None:
            codes += packed * (int(codes.max(initial=0)) + 1)
            codes = np.unique(codes, return_inverse=True)[1].ravel().astype(np.int64)
        packed = codes
    assert packed is not None
    return packed
