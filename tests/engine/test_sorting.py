"""The radix sort gives numpy's stable order, at once and range by range."""

from __future__ import annotations

import numpy as np
import pytest

from evalreport.engine import sorting
from evalreport.engine.sorting import rows_by_digits


@pytest.mark.parametrize("most", [1 << 21, 5_000], ids=["at-once", "range-by-range"])
@pytest.mark.parametrize("bits", [1, 12, 33, 63])
def test_the_order_is_that_of_a_stable_sort(most: int, bits: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Rows with equal keys stay in the order of the rows, or in that of the sort before (numpy's lexsort)."""
    monkeypatch.setattr(sorting, "_MANY_ROWS", most)
    random = np.random.default_rng(1)
    first, second = random.integers(0, 2**bits, (2, 30_000), dtype=np.uint64)
    second[:10_000] = 3  # many equal ones lie in one range
    assert rows_by_digits(second).tolist() == np.argsort(second, kind="stable").tolist()
    assert rows_by_digits(first, rows_by_digits(second)).tolist() == np.lexsort((second, first)).tolist()
