"""Net benefit, recall at a false positive rate and precision at a rate agree with the reference values."""

from __future__ import annotations

import numpy as np
import pytest

from evalreport.intervals.at_rates import (
    at_fpr_difference,
    at_fpr_limits,
    at_rate_difference,
    at_rate_limits,
    benefit_difference_limits,
    benefit_limits,
    benefit_over_all,
)
from evalreport.metrics.at_rates import cumulative_groups, hits_at, rows_of_benefit
from tests.reference.third_round import assert_agrees, each


def arrays(case, *names):
    """Return inputs of a case as numbers."""
    return tuple(np.array(case["input"][name], dtype=float) for name in names)


@each("net_benefit")
def test_net_benefit(case):
    """Values as dcurves has them, limits from R's Wilson limits."""
    (p, y), at = arrays(case, "p", "y"), case["input"]["threshold"]
    flagged, n = p >= at, len(y)
    tp, fp = float((flagged & (y == 1)).sum()), float((flagged & (y == 0)).sum())
    tn, fn = float((~flagged & (y == 0)).sum()), float((~flagged & (y == 1)).sum())
    low, high = benefit_limits(tp, fp, n, at, 0.95)
    over_all, over_low, over_high = benefit_over_all(tn, fn, n, at, 0.95)
    found = {"value": float(rows_of_benefit(p, y, at).mean()), "low": low, "high": high}
    found |= {"minus_all": over_all, "minus_all_low": over_low, "minus_all_high": over_high}
    assert_agrees(found, case)


@each("net_benefit_difference")
def test_difference_of_net_benefits(case):
    """Limits from Tango's among positives and negatives, found by R's uniroot."""
    (y, p, q), at = arrays(case, "y", "a", "b"), case["input"]["threshold"]
    a, b = p >= at, q >= at
    kinds = [(float((a & ~b & (y == k)).sum()), float((b & ~a & (y == k)).sum())) for k in (1, 0)]
    low, high = benefit_difference_limits(kinds[0], kinds[1], len(y), at, 0.95)
    value = float((rows_of_benefit(p, y, at) - rows_of_benefit(q, y, at)).mean())
    assert_agrees({"value": value, "low": low, "high": high}, case)


@each("at_fpr_scan")
def test_recall_at_a_false_positive_rate(case):
    """The scan over thresholds: all tied, fewer than one expected false positive, and a usual case."""
    (y, score), rate = arrays(case, "y", "scores"), case["input"]["x"]
    low, high = at_fpr_limits(*cumulative_groups(score, y), rate, 0.95)
    assert_agrees({"low": low, "high": high}, case)


@each("at_fpr_mover")
def test_difference_of_recalls_at_a_false_positive_rate(case):
    """The correlation, whether scores are coarse, and the limits."""
    y, first, second = arrays(case, "y", "scores_a", "scores_b")
    low, high, rho, coarse = at_fpr_difference(y, first, second, case["input"]["x"], 0.95)
    assert_agrees({"low": low, "high": high, "rho": rho, "coarse": float(coarse)}, case)


@each("at_rate_scan")
def test_precision_and_recall_at_a_rate(case):
    """The scan over numbers of flagged examples, ties shared."""
    (y, score), rate = arrays(case, "y", "scores"), case["input"]["x"]
    groups = cumulative_groups(score, y)
    hits = hits_at(*groups, rate * len(y))
    low, high = at_rate_limits(*groups, rate, 0.95, of_positives=False)
    recall_low, recall_high = at_rate_limits(*groups, rate, 0.95, of_positives=True)
    found = {"estimate": hits / (rate * len(y)), "low": low, "high": high, "recall": hits / y.sum()}
    assert_agrees(found | {"recall_low": recall_low, "recall_high": recall_high}, case)


@each("at_rate_mover")
def test_difference_of_precisions_at_a_rate(case):
    """The correlation and the limits."""
    y, first, second = arrays(case, "y", "scores_a", "scores_b")
    low, high, rho = at_rate_difference((y, first), (y, second), case["input"]["x"], 0.95)
    assert_agrees({"low": low, "high": high, "rho": rho}, case)


def test_accuracies_at_a_coverage_are_compared_by_each_model_s_own_right_answers() -> None:
    """Limits of a difference were those of the first model's right answers under both models' confidence."""
    rng = np.random.default_rng(3)
    confidence = rng.random((2, 300))
    right = (rng.random((2, 300)) < np.array([[0.9], [0.6]])).astype(float)
    forward, backward = (
        at_rate_difference((right[i], confidence[i]), (right[1 - i], confidence[1 - i]), 0.8, 0.95)
        for i in (0, 1)
    )
    assert forward[:2] == pytest.approx((-backward[1], -backward[0]), rel=1e-12)
    # Independent answers: near the interval of two independent shares of 240 at 0.9 and 0.6.
    error = np.sqrt(0.9 * 0.1 / 240 + 0.6 * 0.4 / 240)
    surest = [np.sort(np.argsort(-c)[:240]) for c in confidence]
    difference = right[0][surest[0]].mean() - right[1][surest[1]].mean()
    assert forward[:2] == pytest.approx((difference - 1.96 * error, difference + 1.96 * error), abs=0.03)
