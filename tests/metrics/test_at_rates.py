"""Precision and specificity at a recall (METHODS 6P with the classes exchanged)."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

import evalreport as er


def data(n: int = 120) -> dict[str, pd.DataFrame]:
    """Probabilities of two models."""
    rng = np.random.default_rng(21)
    y = (rng.random(n) < 0.4).astype(int)
    frames = {}
    for name, apart in (("a", 1.6), ("b", 1.0)):
        score = rng.normal(apart * y, 1)
        frames[name] = pd.DataFrame({"y_true": y, "p_1": 1 / (1 + np.exp(-(score - apart / 2)))})
    return frames


def exchanged(frames: dict[str, pd.DataFrame]) -> dict[str, pd.DataFrame]:
    """The other class in the place of the positive one."""
    return {m: pd.DataFrame({"y_true": 1 - f.y_true, "p_1": 1 - f.p_1}) for m, f in frames.items()}


def record(results: er.Results, model: str = "a") -> object:
    """The first record of a model."""
    return next(m for m in results.metrics if m.model == model)


def test_specificity_at_a_recall_is_recall_of_the_other_class_at_its_false_positive_rate() -> None:
    """Value, limits and difference, with the classes exchanged."""
    frames = data()
    found = er.evaluate(frames, metrics=["specificity[at_recall=0.9]"], resamples=20)
    other = er.evaluate(exchanged(frames), metrics=["recall[at_fpr=0.1]"], resamples=20)
    a, b = record(found), record(other)
    assert a.value == b.value
    assert a.intervals[0].low == pytest.approx(b.intervals[0].low, rel=1e-12)
    assert a.intervals[0].high == pytest.approx(b.intervals[0].high, rel=1e-12)
    assert a.intervals[0].method == "at_fpr_scan"
    rows = [
        next(c for c in r.comparisons if c.metric == m)
        for r, m in ((found, "specificity[at_recall=0.9]"), (other, "recall[at_fpr=0.1]"))
    ]
    assert rows[0].low == pytest.approx(rows[1].low, rel=1e-12)
    assert rows[0].high == pytest.approx(rows[1].high, rel=1e-12)


def test_precision_at_a_recall_is_at_the_highest_threshold_that_finds_it() -> None:
    """By the definition, over all thresholds; its interval holds it, and gates are decided by it."""
    frames = data()
    gates = ["a.precision[at_recall=0.8] >= 0.1", "a.specificity[at_recall=0.8] >= 0.999"]
    results = er.evaluate(frames, metrics=["precision[at_recall=0.8]"], gates=gates, resamples=20)
    y, p = frames["a"].y_true, frames["a"].p_1
    thresholds = [t for t in np.sort(p)[::-1] if ((p >= t) & (y == 1)).sum() >= 0.8 * y.sum()]
    flagged = p >= thresholds[0]
    found = record(results)
    assert found.value == pytest.approx((flagged & (y == 1)).sum() / flagged.sum(), rel=1e-12)
    first = found.intervals[0]
    assert first.method == "at_recall_scan"
    assert first.low < found.value < first.high
    assert [g.outcome for g in results.gates] == ["pass", "fail"]


def test_a_tie_is_flagged_whole() -> None:
    """All scores alike: everything is flagged, so precision is the prevalence and specificity 0."""
    frame = pd.DataFrame({"y_true": [1, 1, 0, 0, 0] * 8, "p_1": [0.5] * 40})
    results = er.evaluate(
        {"m": frame}, metrics=["precision[at_recall=0.5]", "specificity[at_recall=0.5]"], resamples=20
    )
    assert [m.value for m in results.metrics] == [0.4, 0.0]
