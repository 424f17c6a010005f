"""No tolerance is absolute: measured in other units, the same data have the same tests, verdicts and limits."""

from __future__ import annotations

import functools
from typing import Any

import numpy as np
import pytest

import evalreport
from evalreport.comparisons.registry import TESTS
from evalreport.metrics.registry import METRICS
from evalreport.schema.results import Results
from tests.samples.audits import audited
from tests.samples.cases import crossed

from .strategies import ids

UNITS = (1e-12, 1e12)
N = 40
POWER = {"mse": 2}
"""Metrics in the unit of the values to this power; the others in the unit, or in none."""
SHARES = {"f1", "precision", "recall", "jaccard", "f0_5", "f2", "coverage[level=0.9]"}
UNITLESS = {"r2", "r2_correlation", "rae", "rrse", "mape", *SHARES}


def of_regression(unit: float) -> Results:
    """Return two models' numbers and a numeric slice, in a unit; a tenth of the errors are alike."""
    random = np.random.default_rng(21)
    truth = random.normal(10, 3, N)
    source = {}
    for name, size in (("a", 1.0), ("b", 1.4), ("c", 1.5)):
        error = np.round(size * random.normal(size=N), 1)
        source[name] = {
            "id": ids(N),
            "y_true": (unit * truth).tolist(),
            "y_pred": (unit * (truth + error)).tolist(),
        }
    metrics = tuple(m.name for m in METRICS.values() if "regression" in m.tasks and m.needs == "values")
    return _evaluated(source, task="regression", metrics=("mae", *(m for m in metrics if m != "mae")))


def of_values(unit: float) -> Results:
    """Return values of three models on ten data sets, some of whose differences are equal."""
    random = np.random.default_rng(22)
    level = np.round(random.uniform(0.6, 0.9, 10), 2)
    source = {}
    for name, step in (("a", 0.0), ("b", 0.1), ("c", 0.1)):
        values = level + step + np.round(0.02 * random.integers(-3, 3, 10), 2)
        source[name] = {"dataset": [f"d{k}" for k in range(10)], "value": (unit * values).tolist()}
    return _evaluated(source)


def of_outcomes(unit: float) -> Results:
    """Return outcomes that are numbers, such as seconds."""
    random = np.random.default_rng(23)
    shared = random.gamma(2, 1, N)
    source = {
        name: {"id": ids(N), "outcome": (unit * np.round(shared + size * random.normal(size=N), 2)).tolist()}
        for name, size in (("a", 0.5), ("b", 0.7), ("c", 0.6))
    }
    return _evaluated(source, task="outcome")


def of_folds(unit: float) -> Results:
    """Return two models' numbers over five folds."""
    random = np.random.default_rng(24)
    truth = random.normal(10, 3, N)
    source = {
        name: {
            "id": ids(N),
            "fold": (np.arange(N) % 5).tolist(),
            "y_true": (unit * truth).tolist(),
            "y_pred": (unit * (truth + size * random.normal(size=N))).tolist(),
        }
        for name, size in (("a", 1.0), ("b", 1.4))
    }
    return _evaluated(source, task="regression", metrics=("mse", "mae"))


def of_quantiles(unit: float) -> Results:
    """Return three models' quantiles of a number."""
    random = np.random.default_rng(27)
    mean = random.normal(10, 3, N)
    truth = mean + random.normal(size=N)
    source = {
        name: {"id": ids(N), "y_true": (unit * truth).tolist()}
        | {f"q_{q}": (unit * (mean + size * z)).tolist() for q, z in ((0.05, -1.6), (0.5, 0.0), (0.95, 1.6))}
        for name, size in (("a", 1.0), ("b", 0.5), ("c", 2.0))
    }
    return _evaluated(source)


def of_sums(unit: float) -> Results:
    """Return three models' sums by unit, such as areas in pixels or in square metres."""
    random = np.random.default_rng(28)
    size = random.gamma(2, 20, N)
    source = {}
    for name, share in (("a", 0.9), ("b", 0.8), ("c", 0.7)):
        tp = size * random.beta(20 * share, 20 * (1 - share), N)
        sums = {"tp": tp, "fp": size * random.beta(2, 20, N), "fn": size - tp}
        source[name] = {"id": ids(N)} | {column: (unit * cells).tolist() for column, cells in sums.items()}
    return _evaluated(source)


KINDS = {
    "regression": of_regression, "values": of_values, "outcomes": of_outcomes, "folds": of_folds,
    "quantiles": of_quantiles, "sums": of_sums,
}  # fmt: skip


def _evaluated(source: dict[str, dict[str, Any]], **options: Any) -> Results:
    """Run every test and interval."""
    return evalreport.evaluate(source, tests=tuple(TESTS), intervals=("all",), resamples=100, **options)


@functools.cache
def measured(kind: str, unit: float) -> Results:
    """Return the run in a unit, made once for all tests."""
    return KINDS[kind](unit)


def size_of(metric: str, unit: float) -> float:
    """Return the unit of a metric's values."""
    return 1.0 if metric in UNITLESS else unit ** POWER.get(metric, 1)


def _same(one: float | None, other: float | None, size: float, largest: float) -> bool:
    """Say whether numbers agree to 1e-7 of the largest in play, in units of ``size``."""
    if one is None or other is None:
        return one is None and other is None
    return abs(one / size - other) <= 1e-7 * max(abs(other), largest)


@pytest.mark.parametrize(("kind", "unit"), crossed(KINDS, UNITS))
def test_another_unit_changes_no_test(kind: str, unit: float) -> None:
    """Every test has the same p-value, and the difference and its limits go with the unit."""
    found, own = measured(kind, unit), measured(kind, 1.0)
    assert len(found.comparisons) == len(own.comparisons)
    for ours, theirs in zip(found.comparisons, own.comparisons, strict=True):
        where = (ours.test, ours.metric, ours.a, ours.b)
        assert (ours.test, ours.metric, ours.a, ours.b) == (theirs.test, theirs.metric, theirs.a, theirs.b)
        assert ours.interval_method == theirs.interval_method, where
        assert _same(ours.p_value, theirs.p_value, 1.0, 1e-9), (where, ours.p_value, theirs.p_value)
        assert _same(ours.effect_size, theirs.effect_size, 1.0, 1e-3), where
        size = size_of(ours.metric, unit)
        for name in ("difference", "low", "high"):
            assert _same(getattr(ours, name), getattr(theirs, name), size, 1e-3), (where, name)
    for one, other in zip(found.omnibus, own.omnibus, strict=True):
        assert _same(one.p_value, other.p_value, 1.0, 1e-9), one.test


@pytest.mark.parametrize(("kind", "unit"), crossed(KINDS, UNITS))
def test_another_unit_changes_no_verdict_and_no_effect(kind: str, unit: float) -> None:
    """Verdicts, ranks, effect sizes without unit, and the codes of warnings are the same."""
    found, own = measured(kind, unit), measured(kind, 1.0)
    assert [(v.about, v.verdict) for v in found.verdicts] == [(v.about, v.verdict) for v in own.verdicts]
    assert [(r.model, r.rank, r.letters) for r in found.ranking] == [
        (r.model, r.rank, r.letters) for r in own.ranking
    ]
    assert {w.code for w in found.warnings} == {w.code for w in own.warnings}
    for ours, theirs in zip(found.effects, own.effects, strict=True):
        assert (ours.effect, ours.a, ours.b) == (theirs.effect, theirs.a, theirs.b)
        assert _same(ours.value, theirs.value, 1.0, 1e-3), ours.effect


@pytest.mark.parametrize("unit", UNITS)
@pytest.mark.parametrize("kind", KINDS)
def test_another_unit_scales_every_interval(kind: str, unit: float) -> None:
    """Values, standard errors and the limits of every interval are those of the first unit, times the unit."""
    found, own = measured(kind, unit), measured(kind, 1.0)
    for ours, theirs in zip(found.metrics, own.metrics, strict=True):
        size = size_of(ours.metric, unit)
        assert _same(ours.value, theirs.value, size, 1e-3), ours.metric
        assert _same(ours.standard_error, theirs.standard_error, size, 1e-3), ours.metric
        assert [i.method for i in ours.intervals] == [i.method for i in theirs.intervals], ours.metric
        for one, other in zip(ours.intervals, theirs.intervals, strict=True):
            for name in ("low", "high"):
                assert _same(getattr(one, name), getattr(other, name), size, 1e-3), (ours.metric, one.method)


def test_ties_of_large_values_are_found() -> None:
    """Differences of 0.1 between scores of a million carry rounding of 1e-10: they are ties."""
    steps = np.array([0.1, 0.1, 0.1, 0.1, -0.1, -0.1, 0.3, -0.2])
    first = 1e6 + np.arange(8) * 7.3
    source = {
        name: {"dataset": [f"d{k}" for k in range(8)], "value": values.tolist()}
        for name, values in (("a", first + steps), ("b", first))
    }
    small = {
        name: {"dataset": [f"d{k}" for k in range(8)], "value": values.tolist()}
        for name, values in (("a", np.round(steps, 1) + 1), ("b", np.ones(8)))
    }
    large, plain = (
        next(r for r in evalreport.evaluate(s, resamples=20).comparisons if r.test == "wilcoxon")
        for s in (source, small)
    )
    assert (large.statistic, large.p_value) == (plain.statistic, plain.p_value)


SLICED = tuple("site " + "ABCD"[k % 4] for k in range(4 * N))


@functools.cache
def of_slices(unit: float) -> Results:
    """Return two models' numbers with a slice that differs and numbers to cut into bins, both in a unit."""
    random = np.random.default_rng(25)
    truth, income = random.normal(10, 3, 4 * N), random.gamma(2, 1000, 4 * N)
    worse = np.where(np.arange(4 * N) % 4 == 1, 3.0, 1.0)
    source = {
        name: {
            "id": ids(4 * N), "y_true": (unit * truth).tolist(),
            "y_pred": (unit * (truth + size * worse * random.normal(size=4 * N))).tolist(),
            "site": list(SLICED), "income": (unit * income).tolist(),
        }
        for name, size in (("a", 1.0), ("b", 1.3))
    }  # fmt: skip
    return evalreport.evaluate(
        source, task="regression", metrics=("mae", "rmse"), slices=("site", "income"), resamples=20
    )


@pytest.mark.parametrize("unit", UNITS)
def test_another_unit_flags_the_same_slices(unit: float) -> None:
    """Slices by a name and by bins of a number: p-values, flags, ratios, and differences that go with the unit."""
    found, own = of_slices(unit), of_slices(1.0)
    assert len(found.disparities) == len(own.disparities) > 0
    assert any(row.flagged for row in own.disparities)
    for ours, theirs in zip(found.disparities, own.disparities, strict=True):
        where = (ours.metric, ours.slice, ours.reference)
        assert (ours.flagged, ours.method, ours.test) == (theirs.flagged, theirs.method, theirs.test), where
        assert _same(ours.p_adjusted, theirs.p_adjusted, 1.0, 1e-9), where
        assert _same(ours.ratio, theirs.ratio, 1.0, 1e-3), where
        for name in ("difference", "low", "high"):
            assert _same(getattr(ours, name), getattr(theirs, name), unit, 1e-3), (where, name)


@pytest.mark.slow
@pytest.mark.parametrize("unit", UNITS)
def test_another_unit_raises_the_same_alarms(unit: float, history: Any) -> None:
    """Six runs of a regression whose errors grow in the last: answers, p-values and alarms are the same."""
    rows = {}
    for series, size in (("own", 1.0), ("other", unit)):
        random = np.random.default_rng(26)
        for run in range(6):
            truth = random.normal(10, 3, 200)
            error = (2.0 if run == 5 else 1.0) * random.normal(size=200)
            income = random.gamma(2, 1000, 200)
            model = {
                "id": [f"{run}-{k}" for k in range(200)], "y_true": (size * truth).tolist(),
                "y_pred": (size * (truth + error)).tolist(), "income": (size * income).tolist(),
            }  # fmt: skip
            bins = f"income:{1000 * size},{2500 * size}"
            done, _, _ = audited(
                history, {"m": model}, series=series, metrics=("mae",), task="regression", slices=(bins,)
            )
        rows[series] = done.results.audit
    assert len(rows["own"]) == len(rows["other"])
    assert any(row.alarm for row in rows["own"] if row.question.startswith("worse"))
    for ours, theirs in zip(rows["other"], rows["own"], strict=True):
        assert (ours.question, ours.test, ours.alarm) == (theirs.question, theirs.test, theirs.alarm)
        assert _same(ours.p_adjusted, theirs.p_adjusted, 1.0, 1e-9), ours.question
