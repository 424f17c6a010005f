"""Intervals of means of losses and of functions of mean squared errors, and of their differences."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np
import pytest
from scipy import stats

from evalreport.comparisons.pairs import compare
from evalreport.comparisons.registry import Pair
from evalreport.intervals import leading, limits, recommended
from evalreport.intervals.losses import tail_factor
from evalreport.metrics.difference import Difference
from evalreport.metrics.estimate import Estimate
from evalreport.metrics.registry import Quantity
from evalreport.metrics.sample import estimate_all
from evalreport.options import Options
from evalreport.predictions.table import ModelOutputs, Predictions
from evalreport.samplings import sampling_by
from research.studies.designs import predictions_on
from tests.reference.third_round import assert_agrees, each


def estimated(predictions: Predictions, quantity: Quantity) -> Estimate:
    """Estimate one quantity of the only model."""
    sample = estimate_all(predictions, [quantity], units=sampling_by(predictions.n), n_resamples=50, seed=0)
    return sample.estimates["a", quantity]


def with_errors(*errors: Any, truth: Any = None) -> Predictions:
    """Return a regression test set in which models a, b have these errors."""
    true = np.linspace(0, 1, len(errors[0])) if truth is None else np.asarray(truth, dtype=float)
    models = [ModelOutputs(m, y_pred=true + np.asarray(e)) for m, e in zip("ab", errors, strict=False)]
    return predictions_on("regression", true, tuple(models))


def difference_of(predictions: Predictions, metric: str) -> Difference:
    """Return a - b as a comparison sets it up."""
    quantity = Quantity(metric)
    sample = estimate_all(predictions, [quantity], units=sampling_by(predictions.n), n_resamples=2, seed=0)
    (comparison,) = compare(sample, [quantity], Options(resamples=2))
    assert isinstance(comparison.found, Pair)
    return comparison.found.difference


def leading_limits(estimate: Estimate | Difference) -> dict[str, float | None]:
    """Return the value with the limits that lead."""
    found = limits(estimate, recommended(estimate), 0.95)
    return {"estimate": estimate.value, "low": found.low, "high": found.high}


# --- one model's mean losses -----------------------------------------------------------------------------------------


def halls(losses: np.ndarray, level: float) -> tuple[float, float]:
    """Return the limits by Hall's (1992) inverse as it is printed: (3/a) ((1 + a (x - a/6))^(1/3) - 1)."""
    n, mean = len(losses), losses.mean()
    away = losses - mean
    a = (away**3).mean() / (away**2).mean() ** 1.5 / math.sqrt(n)
    x = stats.t.ppf((1 + level) / 2, n - 1) * np.array([1, -1])
    turned = 3 / a * (np.cbrt(1 + a * (x - a / 6)) - 1)
    low, high = mean - turned * losses.std(ddof=1) / math.sqrt(n)
    return float(low), float(high)


@pytest.mark.parametrize("level", [0.5, 0.95, 0.999])
@pytest.mark.parametrize("seed", [1, 2, 3])
def test_hall_is_the_printed_inverse(level: float, seed: int) -> None:
    """The limits of MAE and MSE are those of the published formula; those of RMSE are the roots of MSE's."""
    errors = np.random.default_rng(seed).standard_t(3, size=40)
    predictions = with_errors(errors)
    for metric, losses in (("mae", np.abs(errors)), ("mse", errors**2)):
        found = limits(estimated(predictions, Quantity(metric)), "hall", level)
        low, high = halls(losses, level)
        assert (found.low, found.high) == pytest.approx((max(low, 0), high), rel=1e-9)
    squares = limits(estimated(predictions, Quantity("mse")), "hall", level)
    roots = limits(estimated(predictions, Quantity("rmse")), "hall", level)
    assert squares.low is not None
    assert squares.high is not None
    assert (roots.low, roots.high) == pytest.approx(
        (math.sqrt(squares.low), math.sqrt(squares.high)), rel=1e-9
    )


def test_without_skewness_hall_is_t() -> None:
    """Losses that lie symmetrically about their mean have no skewness to take out: the limits are Student's."""
    errors = np.concatenate([np.linspace(1, 2, 20), -np.linspace(1, 2, 20)])
    estimate = estimated(with_errors(errors), Quantity("mae"))
    by_hall, by_t = (limits(estimate, name, 0.95) for name in ("hall", "t"))
    assert (by_hall.low, by_hall.high) == pytest.approx((by_t.low, by_t.high), rel=1e-12)
    assert recommended(estimate) == "t_or_hall_df"


def test_the_long_side_is_where_the_tail_is() -> None:
    """Of losses skewed to the right the upper limit lies farther away than the lower one, and farther than t's."""
    errors = np.random.default_rng(4).exponential(size=50)
    estimate = estimated(with_errors(errors), Quantity("mae"))
    by_hall, by_t = (limits(estimate, name, 0.95) for name in ("hall", "t"))
    assert by_hall.low is not None
    assert by_hall.high is not None
    assert by_t.high is not None
    assert by_hall.high - estimate.value > estimate.value - by_hall.low
    assert by_hall.high > by_t.high


def test_hall_keeps_to_units() -> None:
    """RMSE in units of a hundred thousandth or a hundred thousand has the limits of the same errors, scaled."""
    errors = np.random.default_rng(6).normal(size=60)
    plain = limits(estimated(with_errors(errors), Quantity("rmse")), "hall", 0.95)
    assert plain.low is not None
    assert plain.high is not None
    for unit in (1e-5, 1e5):
        true = np.zeros(60)
        predictions = predictions_on("regression", true, (ModelOutputs("a", y_pred=true + unit * errors),))
        found = limits(estimated(predictions, Quantity("rmse")), "hall", 0.95)
        assert (found.low, found.high) == pytest.approx((plain.low * unit, plain.high * unit), rel=1e-9)


# --- one model's squared errors -------------------------------------------------------------------------------------


@each("rmse_value", "r2_value")
def test_squared_errors_are_the_reference_s(case: Mapping[str, Any]) -> None:
    """Mpmath's 40 digits: RMSE with a tail that is raised and with none, and R²."""
    given = case["input"]
    predictions = with_errors(given["e"], truth=given.get("y"))
    estimate = estimated(predictions, Quantity(case["method"].partition("_")[0]))
    assert recommended(estimate) == "hall_tail"
    assert_agrees(leading_limits(estimate), case)
    if "factor" in case["expected"]:
        factor = tail_factor(np.square(given["e"]))
        assert factor == pytest.approx(case["expected"]["factor"], rel=case["tolerance"])


def test_functions_of_the_mean_squared_error_have_its_limits_mapped() -> None:
    """MSE has the squares of RMSE's limits, RRSE the roots of one less R²'s."""
    rng = np.random.default_rng(4)
    predictions = with_errors(rng.standard_t(3, size=60), truth=rng.normal(size=60))
    found = {
        name: leading(estimated(predictions, Quantity(name)), 0.95) for name in ("mse", "rmse", "r2", "rrse")
    }
    rmse, r2 = found["rmse"], found["r2"]
    assert rmse.low is not None
    assert rmse.high is not None
    assert r2.low is not None
    assert r2.high is not None
    assert (found["mse"].low, found["mse"].high) == pytest.approx((rmse.low**2, rmse.high**2), rel=1e-9)
    roots = math.sqrt(1 - r2.high), math.sqrt(1 - r2.low)
    assert (found["rrse"].low, found["rrse"].high) == pytest.approx(roots, rel=1e-9)


def test_a_raised_limit_says_by_how_much() -> None:
    """Errors with t of 3 degrees of freedom: the largest look like a longer tail, and the note says so."""
    errors = np.random.default_rng(2).standard_t(3, size=60)
    found = leading(estimated(with_errors(errors), Quantity("rmse")), 0.95)
    raised = math.sqrt(tail_factor(errors**2)) - 1
    assert raised > 0.01
    assert f"the upper limit was raised by {100 * raised:.1f} %" in str(found.reason)


def test_equal_errors_have_no_tail_and_no_limits() -> None:
    """Where every error has the same size nothing shows how far they may vary: null, with the reason."""
    found = leading(estimated(with_errors(np.ones(40)), Quantity("rmse")), 0.95)
    assert (found.low, found.high) == (None, None)
    assert found.reason
    assert tail_factor(np.ones(40)) == 1


def test_a_truth_that_hardly_varies_leaves_r2_without_a_lower_limit() -> None:
    """One true value of fifty is apart: its variance has no lower limit above 0, so R² has none; the reason says so.

    The upper limit is that of METHODS 6G, step 4, written out with numpy and scipy.
    """
    truth = np.zeros(50)
    truth[0] = 1.0
    errors = np.random.default_rng(5).normal(size=50) / 10
    found = leading(estimated(with_errors(errors, truth=truth), Quantity("r2")), 0.95)
    assert found.low is None
    assert found.high == pytest.approx(0.942014599332243, rel=1e-12)
    assert "variance" in str(found.reason)


# --- two models -----------------------------------------------------------------------------------------------------


@each("loss_difference")
def test_differences_of_mean_losses_are_the_reference_s(case: Mapping[str, Any]) -> None:
    """Mpmath's 40 digits, for squared errors with these differences."""
    d = np.array(case["input"]["d"])
    a, b = np.sqrt(np.maximum(d, 0)), np.sqrt(np.maximum(-d, 0))
    difference = difference_of(with_errors(a, b, truth=np.zeros(len(d))), "mse")
    assert recommended(difference) == "t_or_hall"
    assert_agrees(leading_limits(difference), case)


@each("rmse_difference", "r2_difference")
def test_differences_of_rmse_and_r2_are_the_reference_s(case: Mapping[str, Any]) -> None:
    """Mpmath's 40 digits."""
    given, metric = case["input"], case["method"].partition("_")[0]
    difference = difference_of(with_errors(given["ea"], given["eb"], truth=given.get("y")), metric)
    assert recommended(difference) == {"rmse": "t_kurtosis", "r2": "t_or_hall"}[metric]
    assert_agrees(leading_limits(difference), case)


@pytest.mark.parametrize("metric", ["mse", "rmse", "r2"])
def test_alike_models_have_no_limits(metric: str) -> None:
    """The same error on every example: no variation, and so no limits; the reason says so."""
    errors = np.random.default_rng(6).normal(size=30)
    found = limits(
        difference := difference_of(with_errors(errors, errors), metric), recommended(difference), 0.95
    )
    assert (found.low, found.high) == (None, None)
    assert "no variation" in str(found.reason)


@pytest.mark.parametrize(
    ("metric", "method"), [("mae", "t"), ("mse", "t_or_hall"), ("rmse", "t_kurtosis"), ("r2", "t_or_hall")]
)
@pytest.mark.parametrize("unit", [1e-12, 1e12])
def test_differences_keep_to_units_and_to_the_order_of_models(metric: str, method: str, unit: float) -> None:
    """Errors and truth in other units have the limits scaled; the models turned round have them negated."""
    rng = np.random.default_rng(7)
    truth, a, b = (rng.standard_t(4, size=40) for _ in range(3))
    power = {"mae": 1, "mse": 2, "rmse": 1, "r2": 0}[metric]
    found = leading_limits(difference := difference_of(with_errors(a, b, truth=truth), metric))
    assert recommended(difference) == method
    assert found["low"] is not None
    assert found["high"] is not None
    scaled = leading_limits(difference_of(with_errors(unit * a, unit * b, truth=unit * truth), metric))
    expected = (found["low"] * unit**power, found["high"] * unit**power)
    assert (scaled["low"], scaled["high"]) == pytest.approx(expected, rel=1e-9)
    turned = leading_limits(difference_of(with_errors(b, a, truth=truth), metric))
    assert (turned["low"], turned["high"]) == pytest.approx((-found["high"], -found["low"]), rel=1e-9)
