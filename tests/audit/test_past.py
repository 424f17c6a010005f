"""The earlier runs of a series, and which examples none of them held."""

from __future__ import annotations

import math

import pytest

from evalreport.history.store import prune
from tests.samples.audits import audited, gate_of
from tests.samples.nights import BAD, GOOD, answer, night, series


@pytest.mark.slow
def test_of_a_moving_window_only_what_is_new_counts(history):
    """200 examples that move on by 50 a run: 50 new ones each, from where less than half are the accepted run's."""
    audited(history, night(GOOD, 200, first=0))
    for shift in (50, 100, 150, 200, 250):
        found, _, _ = audited(history, night(GOOD, 200, first=shift))
        assert found.results.evidence[0].n_new == (50 if shift > 100 else 0)
    assert found.results.evidence[0].n_since == 150


@pytest.mark.slow
def test_examples_of_any_run_since_are_known(history):
    """What the first night held comes back in the third: only the rest of it is new."""
    series(history, [GOOD, GOOD])
    found, _, _ = audited(history, night(GOOD, 300, first=10_000))
    assert found.results.evidence[0].n_new == 100
    assert found.results.evidence[0].value == pytest.approx((270 - 200) / 100)


def test_fewer_than_ten_new_examples_make_no_run(history):
    """A run held all but 5 of these: nothing is decided, which is said, and the gate on alarms is undecided."""
    audited(history, night(GOOD, 200, first=0), series="other")
    audited(history, night(GOOD, 50, first=900))
    audited(history, night(GOOD, 200, first=0))
    found, _, _ = audited(history, night(GOOD, 200, first=5), gates=("alarms <= 0",))
    row = answer(found, "worse")
    assert row.reason == "5 new examples are too few for a value of their own; it takes 10"
    assert gate_of(found)[0] == "undecided"


@pytest.mark.slow
def test_an_overlap_that_cannot_be_looked_up_decides_nothing(history):
    """The predictions of the night that held these examples are pruned: none is known to be new, and none is."""
    series(history, [GOOD, GOOD])
    prune(history, "default", [2], predictions_only=True)
    found, _, _ = audited(history, night(BAD, 300, first=10_000))
    text = answer(found, "worse").text
    assert "this run adds nothing: run 2 may have held some of these examples" in text
    assert found.results.evidence[0].values_since == pytest.approx([GOOD, GOOD])


def test_without_ids_all_examples_are_taken_as_new_and_it_is_said(history):
    """Row numbers: runs are compared, not their rows, and the text says on what footing."""
    for accuracy in (GOOD, 0.91, 0.89):
        source = night(accuracy, 300, first=0)
        del source["forest"]["id"]
        found, _, _ = audited(history, source)
    row = answer(found, "worse")
    assert "without a column id all examples are taken as new" in row.text
    assert found.results.evidence[0].values_since == pytest.approx([0.91, 0.89], abs=0.002)


def test_customers_that_repeat_have_new_rows(history):
    """40 clusters of 5 new rows, half of the clusters known from the accepted run: all rows count, in 40 units."""
    audited(history, night(GOOD, 200, first=0, who=[f"c{k // 5}" for k in range(200)]), cluster="who")
    later = night(GOOD, 200, first=900, who=[f"c{20 + k // 5}" for k in range(200)])
    found, _, _ = audited(history, later, cluster="who")
    record = found.results.evidence[0]
    assert (record.unit, record.n_new) == ("cluster", 40)
    assert record.value == pytest.approx(0.9)
    assert record.standard_error > math.sqrt(0.9 * 0.1 / 200)  # whole clusters are wrong together
