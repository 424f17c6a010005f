"""Which rows make one evaluation: the parts of each design, by the values of its key columns."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from evalreport.metrics.layout import layout_of, parts_by
from evalreport.predictions.table import Predictions

FOLDS = "id,y_true,y_pred,repeat,fold\n" + "".join(
    f"{k},{'ab'[k % 2]},a,{r},{(k + r) % 2}\n" for r in range(2) for k in range(8)
)


def test_a_test_set_is_one_part(loaded: Callable[..., Predictions]) -> None:
    """All rows, in order."""
    layout = layout_of(loaded("id,y_true,y_pred\n1,a,a\n2,b,a\n3,a,b\n"))
    assert (layout.pooled.count, layout.ranked.count, layout.fits.count) == (1, 1, 1)
    np.testing.assert_array_equal(layout.pooled.rows()[0], [0, 1, 2])


def test_folds_are_pooled_by_repeat_and_ranked_by_fold(loaded: Callable[..., Predictions]) -> None:
    """Two repeats of two folds: two parts for counts, four for ranks and fits."""
    predictions = loaded(FOLDS)
    layout = layout_of(predictions)
    assert (layout.pooled.count, layout.ranked.count, layout.fits.count) == (2, 4, 4)
    rows = np.sort(np.concatenate(layout.fits.rows()))
    np.testing.assert_array_equal(rows, np.arange(predictions.n))


def test_columns_that_the_files_do_not_hold_divide_nothing(loaded: Callable[..., Predictions]) -> None:
    """One part without a name."""
    parts = parts_by(loaded("id,y_true,y_pred\n1,a,a\n2,b,a\n"), ["seed", "fold"])
    assert (parts.count, parts.names) == (1, ((),))
