"""The box of looks: nothing where there is one look, else a row for each."""

from __future__ import annotations

import numpy as np

import evalreport as er
from evalreport.questions.looks.section import describe
from evalreport.report.view import view_of

IDS = [f"e{k}" for k in range(60)]
Y = np.array(["yes", "no"] * 30)
MODELS = {
    "a": {"id": IDS, "y_true": Y, "y_pred": Y},
    "b": {"id": IDS, "y_true": Y, "y_pred": np.where(np.arange(60) < 20, "yes", Y)},
}


def test_without_looks_there_is_no_box() -> None:
    """Nothing was declared."""
    assert describe(view_of(er.evaluate(MODELS, resamples=20))) is None


def test_the_second_of_three_looks_says_where_it_stands() -> None:
    """Each of them has a third of the level."""
    box = describe(view_of(er.evaluate(MODELS, looks=3, look=2, resamples=20)))
    assert box is not None
    assert "two" in box.heading
    assert "three" in box.heading
    assert box.tables[0].rows
