"""The level at which an interval meets a value: one root, and p-values that agree with their intervals."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from scipy import stats

import evalreport
from evalreport.intervals import limits
from evalreport.intervals.inversion import SMALLEST_ALPHA, level_where, smallest_alpha
from evalreport.intervals.two_sets import nested
from evalreport.loading.load import load
from evalreport.metrics.difference import unpaired_difference
from evalreport.metrics.estimation import estimate_table
from evalreport.metrics.registry import Quantity
from evalreport.options import Options
from evalreport.schema.metrics import Interval
from tests.samples.cases import every, quick
from tests.samples.pairs import labels, row, run, scores


@pytest.mark.parametrize("statistic", [0.0, 0.3, 1.96, 5.0, -2.5])
@pytest.mark.parametrize("df", [3, 80])
def test_of_a_t_interval_it_is_the_p_value_of_the_t_test(statistic: float, df: int) -> None:
    """Scipy's two-sided p, to 1e-8; the same where the interval lies about another value."""

    def limits(level: float) -> Interval:
        half = float(stats.t.ppf((1 + level) / 2, df))
        return Interval(method="t", level=level, low=7 + statistic - half, high=7 + statistic + half)

    expected = 2 * stats.t.sf(abs(statistic), df)
    p = level_where(limits, meets=7.0)
    assert p == pytest.approx(expected if expected < 0.999 else 1.0, rel=1e-8)


def test_ends_of_the_scale_and_no_interval() -> None:
    """Far away it is the smallest alpha; a limit at the value itself leaves nothing out; without limits: None."""

    def constant(low: float | None) -> Interval:
        return Interval(method="m", level=0.95, low=low, high=None if low is None else 2.0)

    assert level_where(lambda _: constant(1.0)) == SMALLEST_ALPHA
    assert level_where(lambda _: constant(0.0)) == 1.0
    assert level_where(lambda _: constant(None)) is None
    assert smallest_alpha(lambda alpha: -math.inf if alpha < 0.2 else 1.0, 0.05) == pytest.approx(0.2)


def between(low: float, high: float) -> Interval:
    """Return an interval."""
    return Interval(method="m", level=0.95, low=low, high=high)


def test_limits_that_are_not_nested_are_scanned_from_above() -> None:
    """0 lies outside up to the level 0.2, from 0.5 to 0.6, and from 0.97 to 0.98; inside at 95 %, so p > 0.05: 1 - 0.6.

    Outside up to 0.96, where 95 % decide, and after a gap from 0.98 to 0.9876: 1 - 0.9876.
    """

    def undecided(level: float) -> Interval:
        outside = level <= 0.2 or 0.5 <= level <= 0.6 or 0.97 <= level <= 0.98
        return between(1.0 if outside else -1.0, 2.0)

    assert level_where(undecided, nested=False) == pytest.approx(0.4, abs=1e-8)

    def decided(level: float) -> Interval:
        return between(1.0 if level <= 0.96 or 0.98 <= level <= 0.9876 else -1.0, 2.0)

    assert level_where(decided, nested=False) == pytest.approx(1 - 0.9876, abs=1e-8)


@pytest.mark.parametrize("apart", [True, False])
def test_levels_at_which_there_are_no_limits_do_not_decide(apart: bool) -> None:
    """Far from 0 up to the level 0.97, and no limits above it: 0.03."""

    def limits(level: float) -> Interval:
        far = between(12.0, 20.0 + level)
        return far if level <= 0.97 else Interval(method="m", level=level, low=None, high=None)

    assert level_where(limits, nested=apart) == pytest.approx(0.03, abs=1e-8)


@pytest.mark.parametrize("metric", ["rmse", "r2"])
@pytest.mark.parametrize("seed", quick(range(4), [0]))
def test_p_values_of_two_sets_are_those_of_a_scan_from_above(metric: str, seed: int) -> None:
    """METHODS 7B: the largest level at which 0 is outside, from above in steps; 8 rows with heavy tails against 60."""
    random = np.random.default_rng([seed, 11])
    sides = []
    for name, n, spread in (("new", 8, 1.0 + seed), ("old", 60, 1.0)):
        truth = random.normal(size=n)
        wrong = spread * random.standard_t(3, n)
        rows = {"id": [f"{name}{i}" for i in range(n)], "y_true": truth, "y_pred": truth + wrong}
        table, quantity = load({name: rows}, options=Options(task="regression")), Quantity(metric)
        sides.append(
            estimate_table(table, [quantity], Options(resamples=1), seed=0).estimates[name, quantity]
        )
    difference = unpaired_difference(*sides)

    def at(level: float) -> Interval:
        return limits(difference, "square_and_add", level)

    def outside(level: float) -> bool:
        interval = at(level)
        return (
            interval.low is not None and interval.high is not None and not interval.low <= 0 <= interval.high
        )

    p = level_where(at, nested=nested(difference))
    assert p is not None
    levels = 1 - np.arange(1, 200) / 200
    largest = next((level for level in levels if outside(level)), None)
    if largest is None:
        assert p > 0.99
    else:
        assert 1 - largest - 0.005 <= p <= 1 - largest + 1e-9


@pytest.mark.parametrize("metric", every(2, ["mcc", "cohen_kappa", "f2", "roc_auc"]))
def test_the_interval_at_one_minus_p_touches_zero(metric: str) -> None:
    """A run at the confidence 1 - p has a limit at 0, to 1e-9."""
    random = np.random.default_rng(4)
    truth = random.integers(0, 2, 120)
    if metric == "roc_auc":
        source = scores(truth, a=truth + random.normal(size=120), b=truth + 1.7 * random.normal(size=120))
    else:
        a, b = (np.where(random.random(120) < q, 1 - truth, truth) for q in (0.2, 0.3))
        source = labels(truth, a=a, b=b)
    p = row(run(source, metrics=(metric,)), "interval").p_value
    assert p is not None
    assert 1e-6 < p < 0.9
    touching = row(run(source, metrics=(metric,), confidence=1 - p), "interval")
    assert min(abs(touching.low), abs(touching.high)) == pytest.approx(0, abs=1e-9)


def apart(few: int = 12, many: int = 400) -> dict[str, dict[str, Any]]:
    """Return a new model that is right on few rows of its own, and an old one on many."""
    random = np.random.default_rng(7)
    sides = {}
    for name, n, spread in (("new", few, 0.1), ("old", many, 0.6)):
        truth = (np.arange(n) % 3 == 0).astype(int)
        score = truth + spread * random.normal(size=n)
        sides[name] = {
            "id": [f"{name}{i}" for i in range(n)], "y_true": truth,
            "y_pred": (score > 0.5).astype(int), "score": score,
        }  # fmt: skip
    return sides


@pytest.mark.parametrize(
    "metric", every(3, ["roc_auc", "f1", "mcc", "balanced_accuracy", "average_precision"])
)
def test_twelve_rows_all_right_decide_nothing_against_400_others(metric: str) -> None:
    """Both values' own limits, squared and added by hand; row, verdict and gate have the same ones."""
    gate = f"new.{metric} - old.{metric} >= 0.1"
    results = evalreport.evaluate(apart(), join="independent", metrics=[metric], resamples=200, gates=[gate])
    (x, lx, ux), (y, ly, uy) = (
        (m.value, m.intervals[0].low, m.intervals[0].high) for m in results.metrics[:2]
    )
    leading = row(results, "interval", "new", "old")
    by_hand = (x - y - math.hypot(x - lx, uy - y), min(x - y + math.hypot(ux - x, y - ly), leading.high))
    assert leading.interval_method == "square_and_add"
    assert (leading.low, leading.high) == pytest.approx(by_hand, rel=1e-12)
    assert results.verdicts[0].verdict == "undecided"
    assert (results.verdicts[0].low, results.gates[0].low) == (leading.low, leading.low)
    assert results.gates[0].outcome == "undecided"


@pytest.mark.slow
def test_of_many_models_other_metrics_are_compared_with_the_best_alone() -> None:
    """21 models: all 210 pairs on accuracy, 20 on each other metric, and the number of those that are not there."""
    random = np.random.default_rng(2)
    truth = random.integers(0, 2, 60)
    source = labels(
        truth,
        **{f"m{k:02d}": np.where(random.random(60) < 0.1 + k / 60, 1 - truth, truth) for k in range(21)},
    )
    results = evalreport.evaluate(source, resamples=50)
    led = [c for c in results.comparisons if c.leads and c.b is not None]
    by_metric = {m: sum(c.metric == m for c in led) for m in {c.metric for c in led}}
    assert by_metric.pop("accuracy") == 210
    assert set(by_metric.values()) == {20}
    assert results.comparisons_left_out == 190 * len(by_metric)
    best = next(r.model for r in results.ranking if r.rank == 1)
    assert all(best in (c.a, c.b) for c in led if c.metric != "accuracy")
    assert {c.test for c in results.comparisons if c.metric == "accuracy" and c.b} == {"mcnemar_midp"}
    assert len(results.effects) == 210
