"""Numbers, truths and texts go to Arrow and back as they are, gaps included."""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from evalreport.predictions.cells import as_numpy, flags, from_numpy, from_texts, missing


def test_numbers_with_gaps_from_the_middle_of_an_array() -> None:
    """A slice keeps its own values and gaps; without gaps nothing is replaced."""
    whole = pa.array([1.5, None, 2.5, None, 4.0])
    np.testing.assert_array_equal(as_numpy(whole[1:4], np.nan), [np.nan, 2.5, np.nan])
    np.testing.assert_array_equal(as_numpy(pa.array([3, 4, 5], pa.int32())[1:], -1), [4, 5])
    np.testing.assert_array_equal(as_numpy(pa.chunked_array([[1.0], [None]]), 0), [1, 0])
    assert len(as_numpy(pa.array([], pa.float64()), np.nan)) == 0
    np.testing.assert_array_equal(flags(whole.is_null()[2:]), [False, True, False])


def test_what_is_given_to_arrow_is_what_it_holds() -> None:
    """Every second number of an array, truths, texts in any script and the missing value."""
    numbers = np.arange(20)[::2]
    assert from_numpy(numbers).equals(pa.array(numbers))
    assert from_numpy(numbers, numbers > 4).equals(pa.array(numbers, mask=numbers <= 4))
    assert from_numpy(numbers > 4).equals(pa.array(numbers > 4))
    assert from_texts(["", "é", "text"]).equals(pa.array(["", "é", "text"]))
    assert missing(pa.string()).as_py() is None
