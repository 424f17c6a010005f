"""Alarms where the shares of the classes change: about the model at the accepted shares, about the data as they are."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn import metrics as sklearn

from tests.samples.audits import audited
from tests.samples.cases import every
from tests.samples.nights import answer

N = 1000


def run(number, *, positives, recall=0.8, false_alarms=0.1, n=N):
    """Return a label model with exactly these rates, on examples of its own."""
    truth = np.arange(n) < round(positives * n)
    said = np.zeros(n, dtype=int)
    for group, rate in ((truth, recall), (~truth, false_alarms)):
        rows = np.flatnonzero(group)
        said[rows[: round(rate * len(rows))]] = 1
    ids = [f"e{number:03d}-{k:05d}" for k in range(n)]
    return {"m": {"id": ids, "y_true": truth.astype(int).tolist(), "y_pred": said.tolist()}}


def at_half(metric, source):
    """Return scikit-learn's value with the classes weighted to half each."""
    truth, said = (np.array(source["m"][name]) for name in ("y_true", "y_pred"))
    weights = np.where(truth == 1, 0.5 / truth.mean(), 0.5 / (1 - truth.mean()))
    return metric(truth, said, sample_weight=weights)


@pytest.mark.parametrize(
    ("name", "metric"),
    every(
        2,
        [
            ("f1", sklearn.f1_score),
            ("precision", sklearn.precision_score),
            ("accuracy", sklearn.accuracy_score),
            ("mcc", sklearn.matthews_corrcoef),
        ],
    ),
)
def test_a_run_with_fewer_positives_is_compared_at_the_accepted_share(history, name, metric):
    """Half are positive when accepted, then 15 %, with the same rates: the value moves, the alarm compares another."""
    then, now = run(0, positives=0.5), run(1, positives=0.15)
    audited(history, then, metrics=(name,), positive="1")
    found, _, _ = audited(history, now, metrics=(name,), positive="1")
    row = answer(found, "worse")
    assert row.details["now_at_shares"] == pytest.approx(at_half(metric, now), abs=1e-12)
    assert row.details["reference"] == pytest.approx(
        metric(then["m"]["y_true"], then["m"]["y_pred"]), abs=1e-12
    )
    assert row.details["now"] == pytest.approx(metric(now["m"]["y_true"], now["m"]["y_pred"]), abs=1e-12)
    assert not row.alarm
    assert row.details["z"] == pytest.approx(0.0, abs=0.01)
    assert "compared at the accepted runs’ shares of the classes" in str(row.text)
    labels = answer(found, "labels")
    assert labels.alarm
    assert "15.0 % are “1”, 50.0 % were" in str(labels.text)


@pytest.mark.parametrize("name", every(3, ["recall", "specificity", "balanced_accuracy"]))
def test_what_does_not_move_with_the_share_needs_nothing(history, name):
    """The value is the same at any share, and nothing is said of it."""
    for number, positives in enumerate((0.5, 0.15)):
        found, _, _ = audited(history, run(number, positives=positives), metrics=(name,), positive="1")
    row = answer(found, "worse")
    assert "now_at_shares" not in row.details
    assert row.p_value > 0.4


def test_a_fall_that_a_season_hides_is_found(history):
    """Recall from 0.7 to 0.4 at 1 % false alarms, half positive and then 20 %: accuracy rises from 0.845 to 0.872."""
    audited(history, run(0, positives=0.5, recall=0.7, false_alarms=0.01), positive="1")
    found, _, _ = audited(history, run(1, positives=0.2, recall=0.4, false_alarms=0.01, n=2000), positive="1")
    row = answer(found, "worse")
    assert (row.details["now"], row.details["then"]) == pytest.approx((0.872, 0.845), abs=0.001)
    assert row.details["now_at_shares"] == pytest.approx(0.5 * 0.4 + 0.5 * 0.99, abs=0.001)
    assert row.alarm
    assert str(found.results.headline.text).startswith(
        "m is worse than when accepted: accuracy 0.695, 0.845 then, with the classes weighted as they were"
    )


@pytest.mark.slow
def test_a_season_of_the_share_is_no_alarm_about_the_model(history):
    """Half positive, then ten runs with 30 % and the same rates: F1 falls, and no lasting change of the model shows."""
    for number, positives in enumerate((0.5, *([0.3] * 10))):
        found, _, _ = audited(history, run(number, positives=positives), metrics=("f1",), positive="1")
    row, kept = answer(found, "worse"), found.results.evidence[0]
    assert not row.alarm
    assert row.details["evidence"] < 1.5
    assert kept.values_since[-1] < kept.values_accepted[0] - 0.05
    assert kept.at_shares[0] == pytest.approx(kept.values_accepted[0], abs=1e-9)


def test_a_gate_is_about_the_values_as_they_are_and_says_so(history):
    """F1 falls by the mix alone: no alarm, and the gate on F1 fails with that sentence."""
    gates = ("m.f1 >= accepted - 0.02", "alarms <= 0")
    for number, positives in enumerate((0.5, 0.1)):
        found, _, _ = audited(
            history, run(number, positives=positives), metrics=("f1",), positive="1", gates=gates
        )
    on_value, on_alarms = found.results.gates
    assert on_value.outcome == "fail"
    assert "a gate is about the values as they are" in str(on_value.text)
    assert (on_alarms.outcome, on_alarms.value) == ("pass", 0.0)
