"""The types of arrays, and values that must be there."""

from __future__ import annotations

from typing import Any, TypeAlias, TypeVar

import numpy as np
import numpy.typing as npt
import pyarrow as pa

Floats = npt.NDArray[np.float64]


Codes = npt.NDArray[np.int32]


Indices = npt.NDArray[np.int64]


Mask = npt.NDArray[np.bool_]


Values = npt.NDArray[Any]
"""Codes of classes or categories, or numbers: whichever the task or the column has."""


Arrow: TypeAlias = pa.Array | pa.ChunkedArray


T = TypeVar("T")


def required(value: T | None) -> T:
    """Return a value that has to be there: whoever asks has checked, or the loading has."""
    assert value is not None
    return value
