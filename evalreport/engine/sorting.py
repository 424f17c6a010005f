"""Radix sort: the order of the rows by their keys."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

Words = npt.NDArray[np.uint64]
Places = npt.NDArray[np.int32] | npt.NDArray[np.int64]

_FEW_ROWS = 1 << 12
"""Fewer rows are sorted by numpy."""


def rows_by_digits(keys: npt.NDArray[np.uint32] | Words, before: Places | None = None) -> Places:
    """Return the rows in the order of their keys (n,), ties in the order of ``before``, or by row number.

    A radix sort of up to 16 bits at a time, a third of the time of sorting plain numbers. Each row is a sparse
    matrix's only entry in its row; the columns, one after the other, have them in order.

    Examples
    --------
    >>> rows_by_digits(np.array([70_000, 3, 70_000, 0], dtype=np.uint64)).tolist()
    [3, 1, 0, 2]
    """
    if len(keys) < _FEW_ROWS:
        own = (keys if before is None else keys[before]).argsort(kind="stable")
        return own if before is None else before[own]
    from scipy import sparse

    n, bits = len(keys), max(int(keys.max()).bit_length(), 2)
    pairs = -(-bits // 32)
    width = -(-bits // (2 * pairs))
    kind = np.int32 if n < 2**31 - 1 else np.int64
    shape, mask, pointers = (n, 1 << width), (1 << width) - 1, np.arange(n + 1, dtype=kind)
    rows = before
    for low in range(0, bits, 2 * width):
        one, next_one = (((keys >> shift) & mask).astype(kind) for shift in (low, low + width))
        if rows is not None:
            one, next_one = one.take(rows), next_one.take(rows)
        # The next digit, and the row, go along with the first.
        first = sparse.csr_array((next_one, one, pointers), shape=shape).tocsc()
        own = first.indices if rows is None else rows.take(first.indices)
        rows = sparse.csr_array((own, first.data, pointers), shape=shape).tocsc().data
    assert rows is not None
    return rows
