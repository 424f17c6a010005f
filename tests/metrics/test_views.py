"""One model's outputs with the truth, and those of some rows."""

from __future__ import annotations

import numpy as np

from evalreport.metrics.views import ModelView

TRUE = np.array([0, 1, 1, 0, 1])


def view(score: np.ndarray) -> ModelView:
    """A model of two classes."""
    proba = np.stack([1 - score, score], axis=1)
    return ModelView(TRUE, (score > 0.5).astype(np.int32), proba, None, 1, score, n_classes=2)


def test_some_rows_are_those_of_every_column() -> None:
    """In the order that was asked for."""
    rows = np.array([4, 0])
    whole = view(np.array([0.1, 0.9, 0.4, 0.6, 0.7]))
    some = whole.of(rows)
    assert some.true is not None
    assert some.proba is not None
    assert some.score is not None
    assert whole.proba is not None
    np.testing.assert_array_equal(some.true, [1, 0])
    np.testing.assert_array_equal(some.score, [0.7, 0.1])
    np.testing.assert_array_equal(some.proba, whole.proba[rows])
    assert some.outcome is None
    assert some.n_classes == 2
