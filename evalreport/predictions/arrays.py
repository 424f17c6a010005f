"""The types of arrays."""

from __future__ import annotations

from typing import Any, TypeAlias

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
