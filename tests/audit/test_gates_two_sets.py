"""Gates since a run of other examples: limits of both values are squared and added, whatever the metric."""

from __future__ import annotations

import math

import numpy as np
import pytest

import evalreport as er
from tests.samples.audits import audited
from tests.samples.cases import every, quick

METRICS = ("roc_auc", "f1", "mcc", "balanced_accuracy", "average_precision")


def scored(name, n, positives, spread, seed=7):
    """Return a model whose scores are the truth and noise; a small spread makes no mistake."""
    random = np.random.default_rng(seed)
    truth = (np.arange(n) < positives).astype(int)
    score = np.clip(truth + spread * random.normal(size=n), -3, 4)
    ids = [f"{name}{k:05d}" for k in range(n)]
    return {"m": {"id": ids, "y_true": truth, "y_pred": (score > 0.5).astype(int), "score": score}}


def squared_and_added(now, then):
    """Return the limits by hand, from the values and limits of both runs."""
    (x, lx, ux), (y, ly, uy) = now, then
    return x - y - math.hypot(x - lx, uy - y), x - y + math.hypot(ux - x, y - ly)


def value_of(found, metric):
    """Return the value and the limits that lead."""
    (row,) = [m for m in found.results.metrics if m.metric == metric and m.slice is None]
    return row.value, row.intervals[0].low, row.intervals[0].high


@pytest.mark.parametrize("metric", every(2, METRICS))
@pytest.mark.parametrize(("n", "positives"), quick([(12, 4), (8, 1), (40, 14)], [(12, 4)]))
def test_few_perfect_rows_pass_no_gate_against_400_others(history, metric, n, positives):
    """Better by 0.1 than accepted, and than the last run: not decided, by limits of both values."""
    gates = tuple(f"m.{metric} >= {earlier} + 0.1" for earlier in ("accepted", "last"))
    given = {"metrics": (metric,), "positive": "1", "resamples": 300}
    before, _, _ = audited(history, scored("old", 400, 133, 0.6), **given)
    found, _, _ = audited(history, scored("new", n, positives, 0.05), gates=gates, **given)
    now, then = value_of(found, metric), value_of(before, metric)
    assert now[0] == 1
    for gate in found.results.gates:
        if now[1] is None:  # one positive: no limits, no decision
            assert gate.outcome == "undecided"
            continue
        low, high = squared_and_added(now, then)
        assert (gate.value, gate.low) == pytest.approx((1 - then[0], low), abs=1e-9)
        assert gate.high == pytest.approx(min(1.0, high), abs=1e-9)
        assert gate.outcome == ("pass" if low >= 0.1 else "undecided")
        if n < 40:
            assert gate.outcome == "undecided"


@pytest.mark.parametrize("metric", ["f1", "roc_auc", "mcc"])
def test_a_ratio_of_two_test_sets_is_on_logarithms(metric):
    """12 perfect rows are not shown to be 1.05 times as good as 400 others; the limits by hand."""
    both = {"new": scored("new", 12, 4, 0.05)["m"], "old": scored("old", 400, 133, 0.6)["m"]}
    gate = f"new.{metric} >= 1.05 * old.{metric}"
    results = er.evaluate(
        both, join="independent", metrics=[metric], resamples=200, positive="1", gates=[gate]
    )
    sides = [(m.value, m.intervals[0].low, m.intervals[0].high) for m in results.metrics[:2]]
    low, _ = squared_and_added(*[tuple(map(math.log, side)) for side in sides])
    (record,) = results.gates
    assert record.outcome == "undecided"
    assert record.low == pytest.approx(math.exp(low), rel=1e-9)


def test_regressions_of_two_sets_have_both_errors(history):
    """RMSE of 12 rows that are nearly right against 400: its limits are those of both values, 1 + 6 / n as wide."""
    random = np.random.default_rng(3)

    def numbers(name, n, size):
        truth = random.normal(size=n)
        return {
            "m": {
                "id": [f"{name}{k}" for k in range(n)],
                "y_true": truth,
                "y_pred": truth + size * random.normal(size=n),
            }
        }

    given = {"metrics": ("rmse",), "resamples": 300}
    before, _, _ = audited(history, numbers("old", 400, 1.0), **given)
    found, _, _ = audited(history, numbers("new", 12, 0.8), gates=("m.rmse <= accepted",), **given)
    now, then = (
        (value, value - (1 + 6 / n) * (value - low), value + (1 + 6 / n) * (high - value))
        for (value, low, high), n in ((value_of(found, "rmse"), 12), (value_of(before, "rmse"), 400))
    )
    low, high = squared_and_added(now, then)
    (gate,) = found.results.gates
    assert (gate.low, gate.high) == pytest.approx((low, high), abs=1e-9)
    assert gate.outcome == "undecided"
