"""From Arrow to numpy and back without pandas, which Arrow's own conversions import where it is installed.

That import takes a sixth of a second, and nothing here is a pandas object.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

if TYPE_CHECKING:
    import pyarrow as pa


def as_numpy(array: pa.Array | pa.ChunkedArray, missing: float) -> npt.NDArray[Any]:
    """Return an array of numbers as numpy, with something else for what is missing."""
    import pyarrow as pa

    if isinstance(array, pa.ChunkedArray):
        array = array.combine_chunks()
    if not len(array):
        return np.empty(0)
    values = pa.Array.from_buffers(array.type, len(array), [None, array.buffers()[1]], offset=array.offset)
    found = np.from_dlpack(values)
    return np.where(flags(array.is_null()), missing, found) if array.null_count else found


def flags(array: pa.Array) -> npt.NDArray[np.bool_]:
    """Return an array of truths, none of them missing, as numpy."""
    import pyarrow as pa

    return np.from_dlpack(array.cast(pa.uint8())).astype(bool)


def from_numpy(numbers: npt.NDArray[Any], present: npt.NDArray[np.bool_] | None = None) -> pa.Array:
    """Return numbers or truths as an Arrow array; ``present``: which are not missing, None where none is."""
    import pyarrow as pa

    bits = None if present is None else np.packbits(present, bitorder="little")
    values = (
        np.packbits(numbers, bitorder="little") if numbers.dtype == bool else np.ascontiguousarray(numbers)
    )
    buffers = [None if part is None else pa.py_buffer(part) for part in (bits, values)]
    return pa.Array.from_buffers(pa.from_numpy_dtype(numbers.dtype), len(numbers), buffers)


def from_texts(texts: Sequence[str]) -> pa.StringArray:
    """Return texts as an Arrow array."""
    import pyarrow as pa

    encoded = [text.encode() for text in texts]
    ends = np.cumsum([0, *map(len, encoded)], dtype=np.int32)
    return pa.StringArray.from_buffers(len(texts), pa.py_buffer(ends), pa.py_buffer(b"".join(encoded)))


def missing(kind: pa.DataType) -> pa.Scalar:
    """Return the missing value of a type."""
    import pyarrow as pa

    return pa.nulls(1, kind)[0]
