"""The box of fragile verdicts: the most fragile first, and what is cut is said."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import evalreport as er
from evalreport.questions.fragility.section import MOST_ROWS, describe
from evalreport.report.view import view_of

pytestmark = pytest.mark.usefixtures("primary_alone")

IDS = [f"e{k}" for k in range(200)]
Y = np.array(["yes", "no"] * 100)
TURNED = np.where(Y == "yes", "no", "yes")


def wrong(first: int) -> dict[str, object]:
    """A model that is wrong on the first so many examples."""
    return {"id": IDS, "y_true": Y, "y_pred": np.where(np.arange(200) < first, TURNED, Y)}


def test_the_most_fragile_verdict_stands_first() -> None:
    """By the number of examples that would have to turn round."""
    results = er.evaluate({"a": wrong(0), "b": wrong(12), "c": wrong(60)}, resamples=20)
    box = describe(view_of(results))
    assert box is not None
    turned = [int(str(row.cells[0].text)) for row in box.tables[0].rows]
    assert turned == sorted(turned)
    assert turned == sorted(r.turned for r in results.fragility if r.turned is not None)


def test_without_a_decided_pair_there_is_no_box() -> None:
    """Two models alike."""
    results = er.evaluate({"a": wrong(3), "b": wrong(4)}, resamples=20)
    assert describe(view_of(results)) is None


def test_many_verdicts_are_cut_and_counted() -> None:
    """As many as are shown, of how many."""
    results = er.evaluate({"a": wrong(0), "b": wrong(60)}, resamples=20)
    many = replace(results, fragility=results.fragility * (MOST_ROWS + 1))
    box = describe(view_of(many))
    assert box is not None
    assert len(box.tables[0].rows) == MOST_ROWS
    assert str(MOST_ROWS + 1) in box.tables[0].note


def test_where_nothing_was_computed_there_is_no_box() -> None:
    """Three decided pairs of values on data sets, of which nothing is turned round."""
    values = {f"d{k}": (0.9 + k / 1000, 0.8 + k / 1100, 0.6 + k / 900) for k in range(14)}
    rows = {
        name: {"dataset": list(values), "value": [v[i] for v in values.values()]}
        for i, name in enumerate("abc")
    }
    results = er.evaluate(rows, resamples=20)
    assert results.fragility
    assert all(record.turned is None for record in results.fragility)
    assert describe(view_of(results)) is None
