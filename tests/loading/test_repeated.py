"""Rows that belong together."""

import numpy as np

from evalreport.engine.numbering import numbered
from evalreport.loading.repeated import repeated


def test_combinations_are_numbered_in_the_order_of_their_values() -> None:
    """As numpy numbers the distinct columns of the stacked codes."""
    rng = np.random.default_rng(3)
    columns = [rng.integers(-2, 5, 200), rng.normal(size=200).round(), rng.integers(0, 3, 200)]
    expected = np.unique(np.stack(columns), axis=1, return_inverse=True)[1].ravel()
    assert (numbered(columns) == expected).all()
    assert len(numbered([np.array([], dtype=np.int64), np.array([])])) == 0


def test_a_row_knows_the_first_one_with_its_key() -> None:
    """Counted by hand."""
    again, before = repeated(np.array([9, 2, 9, 9, 2, 5]))
    assert again.tolist() == [2, 3, 4]
    assert before.tolist() == [0, 1, 0, 0, 1, 5]
