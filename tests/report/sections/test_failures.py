"""Examples on which the models differ most."""

from __future__ import annotations

import re

import pytest

import evalreport as er
from evalreport.report.sections import cases, failures
from evalreport.report.view import view_of
from evalreport.schema.results import Results


def test_answers_that_are_numbers_have_the_same_decimals(regression: Results) -> None:
    """One decimal where they lie 100 apart; the heading says the widest example with four digits."""
    found = failures.describe_failures(view_of(regression))
    assert found is not None
    texts = [answer.value for row in found.tables[0].rows for answer in row.cells[1:]]
    assert {len(text.partition(".")[2]) for text in texts} == {1}
    widest = sorted(float(a.value.replace("−", "-")) for a in found.tables[0].rows[0].cells[1:])
    said = re.search(r", (\S+) by (\S+) and (\S+) by (\S+)$", found.heading)
    assert said is not None
    low, high = (float(text.replace("−", "-")) for text in (said[1], said[3]))
    names = [model.name for model in view_of(regression).models]
    of_model = {
        name: answer.value for name, answer in zip(names, found.tables[0].rows[0].cells[1:], strict=True)
    }
    assert [float(of_model[name].replace("−", "-")) for name in (said[2], said[4])] == [widest[0], widest[-1]]
    assert (low, high) == pytest.approx((widest[0], widest[-1]), abs=0.06)
    assert found.text == "The examples on which the models’ values lie furthest apart:"


def test_predictions_of_several_fits_are_not_called_examples() -> None:
    """Three classes, two folds' worth of fits: the counts are of predictions, and a note says so."""
    columns = {
        "id": [i % 60 for i in range(120)],
        "repeat": [i // 60 for i in range(120)],
        "fold": [i % 2 for i in range(120)],
        "y_true": ["abc"[i % 60 % 3] for i in range(120)],
        "y_pred": ["abc"[(i % 60 + (i % 7 == 0)) % 3] for i in range(120)],
    }
    results = er.evaluate({"one": columns}, metrics=["accuracy"], resamples=50)
    found = cases.describe(view_of(results))
    assert found is not None
    assert found.groups == ("120 predictions",)
    assert "Counted over all fits" in found.note
