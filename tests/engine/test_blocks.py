"""Looking up many rows, some at a time, is indexing."""

from __future__ import annotations

import numpy as np
import pytest

from evalreport.engine import blocks
from evalreport.engine.blocks import looked_up


@pytest.mark.parametrize("rows", [0, 1, 7, 8, 20])
def test_looking_up_is_indexing(rows: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Also where the last block is a part of one; -1 is the last value, and the type is that of the values."""
    monkeypatch.setattr(blocks, "ROWS_AT_ONCE", 4)
    values = np.array([0.5, 1.5, np.nan], dtype=np.float32)
    places = np.random.default_rng(0).integers(-1, 3, rows).astype(np.int8)
    found = looked_up(values, places)
    assert found.dtype == values.dtype
    np.testing.assert_array_equal(found, values[places])
