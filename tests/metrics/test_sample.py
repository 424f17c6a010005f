"""Every registered metric is a function of weights: its replicates, influence values and weights agree with that."""

from __future__ import annotations

import numpy as np
import pytest

from evalreport.metrics.registry import METRICS, Quantity, definition
from evalreport.metrics.sample import Sample
from evalreport.predictions.table import Predictions
from tests.samples.metrics import ROWS, Rows, by_quantity, estimates_of, ids, predictions_of, weighted

SERVED = ("binary", "multiclass", "regression")

# Their own data layouts: tested with those.
OTHER_TASKS = {
    "mean_outcome",
    "mean_value",
    "mean_gold",
    "pass_at_k",
    "pass_hat_k",
    "aic",
    "bic",
    "mdl",
    "vc_bound",
}
OTHER_TASKS |= {m.name for m in METRICS.values() if m.tasks == ("clustering",)}
# tests/metrics/test_sums.py, test_quantiles.py, test_ordered.py and test_rejection.py
OTHER_TASKS |= {m.name for m in METRICS.values() if m.tasks in (("sums",), ("intervals",), ("sets",))}
OTHER_TASKS |= {m.name for m in METRICS.values() if m.ordered or m.only_named}


def repeated(rows: Rows, times: np.ndarray) -> Rows:
    """Return row i as often as ``times[i]``, under ids of their own."""
    place = np.repeat(np.arange(len(times)), times)
    return {name: [column[i] for i in place] for name, column in rows.items()} | {"id": ids(len(place))}


def by_cell(predictions: Predictions, rows: Rows) -> Rows:
    """Return the rows in the canonical order of their truth and their model's label."""
    tables = weighted(predictions, np.ones(predictions.n)).tables
    assert tables is not None
    assert tables.cells is not None
    cells, true, said = tables.cells, predictions.y_true, predictions.models[0].y_pred
    kinds = zip(cells.true, cells.predicted[0], strict=True)
    order = np.concatenate([np.flatnonzero((true == t) & (said == p)) for t, p in kinds])
    return {name: [column[i] for i in order] for name, column in rows.items()} | {"id": ids(len(order))}


def cell_of_row(sample: Sample) -> np.ndarray:
    """Return the place of each row's truth and label among the distinct cells of the only model."""
    assert sample.tables is not None
    assert sample.tables.cells is not None
    cells, predictions = sample.tables.cells, sample.predictions
    place = {kind: k for k, kind in enumerate(zip(cells.true, cells.predicted[0], strict=True))}
    assert predictions.y_true is not None
    return np.array(
        [place[kind] for kind in zip(predictions.y_true, predictions.models[0].y_pred, strict=True)]
    )


def same(ours: float, theirs: float, tolerance: float) -> bool:
    """Tell whether two values agree, or are both undefined."""
    return bool(np.isclose(ours, theirs, rtol=tolerance, atol=tolerance, equal_nan=True))


def test_every_metric_is_reached() -> None:
    """The three tables below have every registered metric, except those of tasks with tables of their own."""
    reached = {q.metric for task in SERVED for q in estimates_of(task, ROWS[task]())}
    with_a_number = {name for name, metric in METRICS.items() if metric.lacks_parameter}
    assert reached == set(METRICS) - OTHER_TASKS - {"top_5_accuracy"} - with_a_number
    assert any(
        q.metric == "top_5_accuracy" for q in estimates_of("multiclass", ROWS["multiclass"](classes=6))
    )


@pytest.mark.parametrize("task", SERVED)
def test_weights_equal_repetition(task: str) -> None:
    """Whole-number weights give each metric the value of the test set with its rows repeated that often."""
    rows = ROWS[task](seed=3)
    times = np.random.default_rng(4).integers(1, 4, len(rows["id"]))
    by_weight = by_quantity(weighted(predictions_of(task, rows), times))
    copied = estimates_of(task, repeated(rows, times))
    assert by_weight.keys() == copied.keys()
    for quantity, estimate in by_weight.items():
        if quantity.metric.endswith("_at_10"):
            continue  # ten examples: one that weighs as much as three is one, its copies are three
        # both sides sum the same terms in another order; the calibration line is an iteration
        loose = 1e-8 if quantity.metric.startswith("calibration") else 1e-11
        # How much chance adds depends on how many examples there are: under weights there is no calibration error.
        weightless = quantity.metric == "calibration_error" and np.isnan(estimate.value)
        assert weightless or same(estimate.value, copied[quantity].value, loose), quantity


@pytest.mark.slow
@pytest.mark.parametrize("task", SERVED)
def test_influence_values_are_the_derivatives(task: str) -> None:
    """The derivative by each example's weight is that of central differences, for every smooth metric."""
    step, n = 1e-5, 20
    predictions = predictions_of(task, ROWS[task](seed=0, n=n))
    sample = weighted(predictions, np.ones(n))
    point = {q: estimate for q, estimate in by_quantity(sample).items() if definition(q).inference.smooth}
    moved = np.empty((n, 2), dtype=object)
    for i in range(n):
        for side, sign in enumerate((1, -1)):
            weights = np.ones(n)
            weights[i] += sign * step
            moved[i, side] = by_quantity(weighted(predictions, weights, quantities=[*point]))
    for quantity, estimate in point.items():
        numbers = np.array([up[quantity].value - down[quantity].value for up, down in moved]) / (2 * step)
        # truncation of order step^2 and rounding of order 1e-16 / step, on the metric's own scale
        scale = max(1.0, float(np.abs(numbers).max()))
        derivative = estimate.derivative
        assert derivative is not None, quantity
        if estimate.table is not None:
            derivative = derivative[cell_of_row(sample)]
        assert np.allclose(derivative, numbers, rtol=0, atol=1e-7 * scale), quantity


# Held by the derivative above alone. The partial area is piecewise smooth, and leaving an example out steps over an
# edge; in a fit an example of high leverage matters more when it leaves than its weight's derivative says.
DERIVATIVE_ALONE = {"partial_auc", "calibration_slope", "calibration_intercept"}


@pytest.mark.slow
@pytest.mark.parametrize("task", SERVED)
def test_jackknife(task: str) -> None:
    """The standard error from influence values is the leave-one-out jackknife's, within 5 % on 100 examples."""
    n = 100
    predictions = predictions_of(task, ROWS[task](seed=6, n=n))
    full = by_quantity(weighted(predictions, np.ones(n)))
    smooth = [
        q
        for q in full
        if definition(q).inference.smooth and q.metric not in DERIVATIVE_ALONE and q.label is None
    ]
    left: dict[Quantity, list[float]] = {q: [] for q in smooth}
    for i in range(n):
        left_out = (np.arange(n) != i).astype(float)
        part = by_quantity(weighted(predictions, left_out, quantities=smooth))
        for quantity, numbers in left.items():
            numbers.append(part[quantity].value)
    for quantity, numbers in left.items():
        jackknife = np.sqrt((n - 1) * np.var(numbers))
        # they differ by terms of order 1 / n
        assert full[quantity].standard_error == pytest.approx(jackknife, rel=0.05, abs=1e-12), quantity


@pytest.mark.parametrize("task", SERVED)
def test_replicates_equal_a_naive_loop(task: str) -> None:
    """Every bootstrap replicate equals the metric of the rows that the replicate drew, one by one."""
    rows, n, replicates = ROWS[task](seed=5, n=30), 30, 6
    if task != "regression":
        rows = by_cell(predictions_of(task, rows), rows)
    # Given as weights, ones let up to 8 rows a cell be drawn one by one, of label metrics in the order of the cells.
    sample = weighted(predictions_of(task, rows), np.ones(n), resamples=replicates)
    drawn = np.concatenate(list(sample.units.unit_draws(replicates, seed=0)))
    compared = 0
    for b, times in enumerate(drawn.astype(int)):
        if task != "regression" and {rows["y_true"][i] for i in np.flatnonzero(times)} != set(rows["y_true"]):
            continue  # the naive loop would not know the missing class
        naive = estimates_of(task, repeated(rows, times))
        for quantity, estimate in by_quantity(sample).items():
            if estimate.replicates is None or quantity not in naive:
                continue
            ours, theirs = estimate.replicates[b], naive[quantity]
            compared += 1
            assert same(ours, theirs.value, 1e-10) or (np.isnan(ours) and theirs.reason), quantity
    assert compared > 50


def test_metrics_that_prepare_the_same_share_it() -> None:
    """Metrics that name the same ``prepare`` are given one state: what is sorted once is sorted once."""
    states = weighted(predictions_of("regression", ROWS["regression"]()), np.ones(60)).rows.states
    assert states["m", Quantity("medae")][0] is states["m", Quantity("max_error")][0]


@pytest.mark.parametrize("task", SERVED)
def test_extensive_metrics_are_those_that_repetition_changes(task: str) -> None:
    """Repeating the test set changes the value of every metric registered as extensive, and of no other."""
    rows = ROWS[task](seed=7, n=30)
    once, twice = estimates_of(task, rows), estimates_of(task, repeated(rows, np.full(30, 2)))
    for quantity, estimate in once.items():
        loose = 1e-8 if quantity.metric.startswith("calibration") else 1e-11
        unchanged = same(estimate.value, twice[quantity].value, loose)
        if not definition(quantity).scale.extensive:
            assert unchanged, quantity
        elif quantity.metric != "precision_at_10":  # the top may be all positive both times
            assert not unchanged, quantity
