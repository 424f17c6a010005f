"""``--order time``: values, differences, tests and gates by hac_t, from the formula; edges; rows in any order."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from scipy import stats

from evalreport.errors import UsageError
from tests.samples.cases import every
from tests.samples.pairs import Source, ids, labels, outcomes, row, run, values

Floats = npt.NDArray[np.float64]
N = 120


def drifting(seed: int, n: int = N) -> Floats:
    """Draw an AR(1) series with a correlation of 0.7."""
    random, found = np.random.default_rng(seed), np.zeros(n)
    for t in range(1, n):
        found[t] = 0.7 * found[t - 1] + random.normal()
    return found


TRUTH, A, B = drifting(0), drifting(1), 1.5 * drifting(2)


def timed(source: Source, time: Any = None) -> Source:
    """Return models with their examples' times."""
    return {
        name: {**model, "time": list(range(len(model["id"]))) if time is None else list(time)}
        for name, model in source.items()
    }


def hac(z: Floats) -> tuple[float, int]:
    """Return the error of a mean by METHODS' formula, term by term, and its degrees of freedom."""
    n = len(z)
    b, t = max(4, round(0.41 * n ** (2 / 3))), np.arange(1, n + 1)
    sums = [math.sqrt(2 / n) * (z * np.cos(math.pi * j * (t - 0.5) / n)).sum() for j in range(1, b + 1)]
    return math.sqrt(sum(s * s for s in sums) / b / n), b


def test_values_differences_tests_and_gates_are_of_one_formula() -> None:
    """MAE in order of time: the interval, p-value, verdict, equivalence and gate from one error and t(B)."""
    losses = {"a": np.abs(A), "b": np.abs(B)}
    source = timed(values(TRUTH, a=TRUTH + A, b=TRUTH + B))
    results = run(
        source, metrics=("mae",), order="time", margin=2.0, gates=("a.mae <= 1", "a.mae - b.mae < 0")
    )
    for record in results.metrics:
        loss = losses[record.model]
        error, df = hac(loss - loss.mean())
        half, first = stats.t.ppf(0.975, df) * error, record.intervals[0]
        assert first.method == "hac_t"
        assert record.standard_error == pytest.approx(error, rel=1e-9)
        assert (first.low, first.high) == pytest.approx((loss.mean() - half, loss.mean() + half), rel=1e-9)
    difference = losses["a"] - losses["b"]
    error, df = hac(difference - difference.mean())
    found = row(results, "hac_t")
    assert found.recommended
    assert found.interval_method == "hac_t"
    assert found.df == df
    assert found.p_value == pytest.approx(2 * stats.t.sf(abs(difference.mean()) / error, df), rel=1e-9)
    half = stats.t.ppf(0.975, df) * error
    limits = (difference.mean() - half, difference.mean() + half)
    assert (found.low, found.high) == pytest.approx(limits, rel=1e-9)
    (verdict,), gate = results.verdicts, results.gates[1]
    assert (verdict.low, verdict.high) == pytest.approx(limits, rel=1e-9)
    assert (gate.low, gate.high) == pytest.approx(limits, rel=1e-9)
    # The smallest alpha at which the 1 - 2 alpha interval lies within the margin.
    equivalent = row(results, "tost")
    assert equivalent.p_value == pytest.approx(stats.t.sf((2 - abs(difference.mean())) / error, df), rel=1e-6)


@pytest.mark.parametrize("metric", every(3, ["accuracy", "f1", "roc_auc", "rmse", "r2", "log_loss"]))
def test_neither_the_order_of_rows_nor_the_form_of_time_matters(metric: str) -> None:
    """Shuffled rows with dates as times have the same intervals and p-values as rows in order with numbers."""
    truth = (TRUTH > 0).astype(int)
    share = 1 / (1 + np.exp(-(TRUTH + A))), 1 / (1 + np.exp(-(TRUTH + B)))
    if metric in ("rmse", "r2"):
        source = values(TRUTH, a=TRUTH + A, b=TRUTH + B)
    else:
        source = labels(truth, a=TRUTH + A > 0, b=TRUTH + B > 0)
        for model, p in zip(source.values(), share, strict=True):
            model["y_pred"] = [str(int(s > 0.5)) for s in p]
            model["p_1"] = p.tolist()
    plain = run(timed(source), metrics=(metric,), order="time", resamples=50)
    shuffled = np.random.default_rng(4).permutation(N)
    days = [f"2025-{1 + t // 28:02d}-{1 + t % 28:02d}" for t in range(N)]
    other = {
        name: {column: [cells[i] for i in shuffled] for column, cells in model.items()}
        for name, model in timed(source, days).items()
    }
    moved = run(other, metrics=(metric,), order="time", resamples=50)
    for one, same in zip(plain.metrics, moved.metrics, strict=True):
        assert one.intervals[0].method == "hac_t"
        assert one.intervals == same.intervals
    assert row(plain, "hac_t").p_value == row(moved, "hac_t").p_value


def test_examples_of_the_same_time_are_in_the_order_of_their_ids() -> None:
    """All at one time: the ids are the order, as numbers in the order of the ids would be."""
    source = values(TRUTH, a=TRUTH + A)
    ties = run(timed(source, ["2025-01-01"] * N), metrics=("mae",), order="time")
    assert (
        ties.metrics[0].intervals[0]
        == run(timed(source), metrics=("mae",), order="time").metrics[0].intervals[0]
    )


def test_fewer_than_20_examples_have_no_limits() -> None:
    """Neither a value nor a difference, with the reason; 20 have."""
    for n in (19, 20):
        source = timed(values(TRUTH[:n], a=(TRUTH + A)[:n], b=(TRUTH + B)[:n]))
        results = run(source, metrics=("mae",), order="time")
        first, found = results.metrics[0].intervals[0], row(results, "hac_t")
        assert (first.low is None, found.p_value is None, found.low is None) == (n == 19,) * 3
        if n == 19:
            assert "fewer than 20 examples" in str(first.reason)


def test_a_share_of_0_or_1_has_as_many_trials_as_degrees_of_freedom_and_one() -> None:
    """All 120 right: B = 10, so Clopper and Pearson's limits of 11 of 11; a loss that never varies has none."""
    truth = (TRUTH > 0).astype(int)
    (record,) = run(timed(labels(truth, a=truth)), metrics=("accuracy",), order="time").metrics
    first = record.intervals[0]
    assert first.method == "clopper_pearson"
    assert (first.low, first.high) == pytest.approx((0.025 ** (1 / 11), 1), rel=1e-12)
    (record,) = run(timed(values(TRUTH, a=TRUTH + 1)), metrics=("mae",), order="time").metrics
    assert (record.intervals[0].low, record.intervals[0].high) == (None, None)
    assert "no variation" in str(record.intervals[0].reason)


def test_a_model_against_itself_has_p_1() -> None:
    """Difference 0, p = 1, in every test that is shown."""
    results = run(timed(values(TRUTH, a=TRUTH + A, b=TRUTH + A)), metrics=("mae",), order="time", horizon=3)
    shown = [r for r in results.comparisons if r.p_value is not None]
    assert {r.test for r in shown} == {"hac_t", "diebold_mariano"}
    assert all((r.difference, r.p_value) == (0, 1) for r in shown)


def test_slices_keep_the_order() -> None:
    """A slice's examples are its own series, in the same order."""
    half = np.where(np.arange(N) % 3 == 0, "x", "y")
    source = timed(values(TRUTH, a=TRUTH + A, b=TRUTH + B))
    for model in source.values():
        model["half"] = half.tolist()
    results = run(source, metrics=("mae",), order="time", slices=("half",))
    (record,) = (r for r in results.metrics if r.model == "a" and r.slice and r.slice.value == "y")
    loss = np.abs(A)[half == "y"]
    error, df = hac(loss - loss.mean())
    assert record.intervals[0].high == pytest.approx(loss.mean() + stats.t.ppf(0.975, df) * error, rel=1e-9)
    # The slice and the rest are neighbours: of their difference the error is that of one series.
    (apart,) = (r for r in results.disparities if (r.model, r.slice.value, r.reference) == ("a", "y", "rest"))
    members = half == "y"
    z = N * np.where(members, (np.abs(A) - loss.mean()) / members.sum(), 0.0)
    rest = np.abs(A)[~members].mean()
    z -= N * np.where(members, 0.0, (np.abs(A) - rest) / (~members).sum())
    error, df = hac(z)
    assert apart.p_value == pytest.approx(2 * stats.t.sf(abs(loss.mean() - rest) / error, df), rel=1e-9)


def test_metrics_without_influence_values_are_described_by_moving_blocks() -> None:
    """The median error has a bootstrap interval of blocks, and neither a p-value nor a verdict."""
    results = run(
        timed(values(TRUTH, a=TRUTH + A, b=TRUTH + B)), metrics=("medae",), order="time", resamples=800
    )
    assert results.metrics[0].intervals[0].method == "bootstrap_percentile"
    (found,) = (r for r in results.comparisons if r.recommended)
    assert found.p_value is None
    assert results.verdicts[0].verdict == "undecided"


@pytest.mark.parametrize("test", ["permutation", "paired_t", "bootstrap_difference"])
def test_tests_of_independent_examples_are_refused(test: str) -> None:
    """By name, with the reason."""
    results = run(
        timed(values(TRUTH, a=TRUTH + A, b=TRUTH + B)), metrics=("mae",), order="time", tests=(test,)
    )
    found = row(results, test)
    assert found.p_value is None
    assert "hac_t" in str(found.reason)


@pytest.mark.slow
def test_it_holds_on_dependent_differences_where_the_paired_t_does_not() -> None:
    """AR(1) of .5, n = 100: 5.9 % wrong decisions at 5 % (METHODS 6O), of the paired t 26 %."""
    random, wrong, naive, sets = np.random.default_rng(9), 0, 0, 3000
    for _ in range(sets):
        shocks, z = random.normal(size=100), np.zeros(100)
        z[0] = shocks[0] / math.sqrt(0.75)
        for t in range(1, 100):
            z[t] = 0.5 * z[t - 1] + shocks[t]
        error, df = hac(z - z.mean())
        wrong += abs(z.mean()) > stats.t.ppf(0.975, df) * error
        naive += abs(z.mean()) > 1.984 * z.std(ddof=1) / 10
    assert wrong / sets < 0.07
    assert naive / sets > 0.22


OTHER = {"outcome": [1, 0] * 30, "time": list(range(60))}


@pytest.mark.parametrize(
    ("columns", "options", "said"),
    [
        ({}, {"cluster": "g"}, "cluster"),
        ({}, {"weight": "w"}, "weight"),
        ({"time": None}, {}, "no column time"),
        ({"time": [*range(59), None]}, {}, "has no time"),
        ({"time": [f"day {i}" for i in range(60)]}, {}, "neither a number nor a date"),
        ({"time": ["2025-01-01T00:00Z", *["2025-01-02"] * 59]}, {}, "zone"),
        ({"task": ["x", "y"] * 30}, {}, "suite"),
        ({"id": ids(30) * 2, "attempt": [1] * 30 + [2] * 30}, {}, "attempts"),
        ({"id": ids(30) * 2, "seed": [1] * 30 + [2] * 30}, {}, "seeds"),
        ({"fold": [1, 2, 3] * 20}, {}, "cross-validation"),
        ({"id": ids(30) * 2, "replicate": [1] * 30 + [2] * 30}, {}, "bootstrap"),
        ({"id": ids(30) * 2, "dataset": ["x"] * 30 + ["y"] * 30}, {}, "datasets"),
    ],
)
def test_what_is_no_series_is_refused(columns: dict[str, Any], options: dict[str, Any], said: str) -> None:
    """With the reason: other units, several fits, tasks, attempts; no time, or a time that cannot be read."""
    given = {"id": ids(60), "g": ["x"] * 60, "w": [1.0] * 60, **OTHER, **columns}
    model = {name: cells for name, cells in given.items() if cells is not None}
    with pytest.raises(UsageError, match=said):
        run({"a": model}, task="outcome", order="time", **options)


def test_a_horizon_needs_an_order() -> None:
    """And is a whole number of steps."""
    source = timed(outcomes(a=A))
    with pytest.raises(UsageError, match="order time"):
        run(source, horizon=2)
    with pytest.raises(UsageError, match="at least 1"):
        run(source, order="time", horizon=0)


def test_a_share_of_three_rows_has_three_trials() -> None:
    """Precision of three flagged rows of 160, all right: limits of 3 of 3; specificity keeps its 13 trials."""
    truth = np.arange(160) % 2
    source = timed(labels(truth, a=(np.arange(160) < 6) * truth))
    results = run(source, metrics=("precision", "specificity"), order="time")
    limits = {m.metric: m.intervals[0] for m in results.metrics}
    assert [i.method for i in limits.values()] == ["clopper_pearson"] * 2
    assert limits["precision"].low == pytest.approx(stats.beta.ppf(0.025, 3, 1), rel=1e-9)
    assert limits["specificity"].low == pytest.approx(stats.beta.ppf(0.025, 13, 1), rel=1e-9)
    assert "or as the examples of the share" in str(limits["precision"].reason)
