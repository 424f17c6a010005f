"""Tables of counts."""

from __future__ import annotations

import numpy as np

from evalreport.engine.counts import margins_of, one_vs_rest


def test_true_negatives_of_a_class_include_confusions_among_the_others() -> None:
    """TN of class 0 counts the two examples of 1 taken for 2, too: 10 - row - column + corner = 6, not 4."""
    counts = one_vs_rest(margins_of(np.array([[2.0, 1, 0], [1, 3, 2], [0, 0, 1]])))
    assert counts.tn[0] == 6
