"""The test of errors along the predictions: against the textbook formula, its edges, and the title."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import stats

import evalreport
from evalreport.metrics.predicted_values import error_trend
from evalreport.questions.thresholds.curves_section import describe_distributions
from evalreport.report.view import view_of
from tests.samples.cases import every


def drawn(
    n: int = 80, level: float = 0.0, slope: float = 0.0, curvature: float = 0.0
) -> tuple[np.ndarray, ...]:
    """Return predictions and true values whose errors have a trend."""
    random = np.random.default_rng(12)
    predicted = random.normal(5, 2, n)
    z = (predicted - predicted.mean()) / predicted.std()
    errors = level + slope * z + curvature * (z * z - 1) + random.normal(size=n) * (1 + 0.3 * np.abs(z))
    return predicted, predicted - errors


def wald(x: np.ndarray, bread: np.ndarray, errors: np.ndarray) -> float:
    """Return F of the formula for some errors."""
    b, h = bread @ x.T @ errors, np.einsum("ij,jk,ik->i", x, bread, x)
    v = bread @ (x.T * ((errors - x @ b) / (1 - h)) ** 2) @ x @ bread
    return float(b @ np.linalg.inv(v) @ b / 3)


def test_wald_s_f_is_that_of_the_formula() -> None:
    """HC3 by inverses: (X'X)^-1 X' diag(e^2 / (1 - h)^2) X (X'X)^-1; F = b' V^-1 b / 3 on 3 and n - 3."""
    predicted, true = drawn(slope=0.3)
    z = (predicted - predicted.mean()) / predicted.std()
    x = np.column_stack([np.ones_like(z), z, z**2 - 1])
    bread = np.linalg.inv(x.T @ x)
    b = bread @ x.T @ (predicted - true)
    e, h = predicted - true - x @ b, np.einsum("ij,jk,ik->i", x, bread, x)
    v = bread @ (x.T * (e / (1 - h)) ** 2) @ x @ bread
    f = b @ np.linalg.inv(v) @ b / 3
    assert wald(x, bread, predicted - true) == pytest.approx(f)
    trend = error_trend(predicted, true)
    assert trend is not None
    assert (trend.level, trend.slope, trend.curvature) == pytest.approx(tuple(b), rel=1e-9)
    assert trend.level == pytest.approx((predicted - true).mean())
    assert (trend.statistic, trend.df2) == (pytest.approx(f, rel=1e-9), 77)
    assert trend.p_value == pytest.approx(stats.f.sf(f, 3, 77), rel=1e-9)
    signs = 2.0 * np.random.default_rng(3).integers(0, 2, size=(4000, 80)) - 1
    larger = sum(wald(x, bread, sign * (predicted - true)) >= f for sign in signs)
    assert trend.p_signs is not None
    assert trend.p_signs == pytest.approx(
        larger / 4000, abs=0.03
    )  # 3.5 errors of 499 draws of a share of 0.04
    assert trend.leads == ("level", "slope", "curvature")[int(np.abs(b / np.sqrt(np.diag(v))).argmax())]


def test_a_trend_is_named_from_three_percent_down() -> None:
    """Random signs decide up to 10,000 examples, F beyond."""
    shown = {}
    for n, slope in ((400, 0.0), (400, 0.4), (10_001, 0.0), (10_001, 0.4)):
        predicted, true = drawn(n, slope=slope)
        trend = error_trend(predicted, true)
        assert trend is not None
        p = trend.p_value if trend.p_signs is None else trend.p_signs
        assert (trend.p_signs is None) == (n > 10_000)
        assert trend.shown == (p <= 0.03)
        shown[n, slope] = trend.shown
    assert shown == {(400, 0.0): False, (400, 0.4): True, (10_001, 0.0): False, (10_001, 0.4): True}


def test_skewed_errors_of_few_examples_are_not_tested() -> None:
    """The test named a trend in 8 to 14 % of 60 exponential errors around 0, of skewness 2: about 1,600 are needed."""
    random = np.random.default_rng(5)
    for n, tested in ((60, False), (400, False), (4000, True)):
        predicted = random.normal(size=n)
        trend = error_trend(predicted, predicted - random.exponential(size=n) + 1)
        assert (trend is not None) == tested


@pytest.mark.parametrize("scale", [1e-12, 1e12])
def test_the_unit_changes_no_p_value(scale: float) -> None:
    """Coefficients are in the unit of the predictions."""
    predicted, true = drawn(curvature=0.4)
    trend, scaled = error_trend(predicted, true), error_trend(scale * predicted, scale * true)
    assert trend is not None
    assert scaled is not None
    assert scaled.p_value == pytest.approx(trend.p_value, rel=1e-6)
    assert scaled.p_signs == trend.p_signs
    assert scaled.curvature == pytest.approx(scale * trend.curvature, rel=1e-6)


@pytest.mark.parametrize(
    "predicted",
    [np.ones(80), np.repeat([1.0, 2.0], 40), np.arange(59.0), np.r_[np.arange(79.0) % 2, 9.0]],
    ids=["constant", "two values", "too few", "one row alone"],
)
def test_without_three_coefficients_nothing_is_tested(predicted: np.ndarray) -> None:
    """Constant predictions, two different ones, 59 rows, a row that alone decides a coefficient."""
    random = np.random.default_rng(1)
    assert error_trend(predicted, predicted - random.normal(size=len(predicted))) is None


def test_predictions_without_error_have_no_test() -> None:
    """Errors that are all 0, or all 1."""
    assert error_trend(np.arange(80.0), np.arange(80.0)) is None
    assert error_trend(np.arange(80.0), np.arange(80.0) + 1) is None


@pytest.mark.parametrize(
    ("trend", "title"),
    every(
        3,
        [
            ({}, "No trend is shown in the errors of m along its predictions"),
            ({"level": 2.0}, "too high on average"),
            ({"level": -2.0}, "too low on average"),
            ({"slope": 2.0}, "the more too high or the less too low"),
            ({"slope": -2.0}, "the more too low or the less too high"),
            ({"curvature": 2.0}, "too high at both ends"),
            ({"curvature": -2.0}, "too low at both ends"),
        ],
    ),
)
def test_the_title_names_what_leads(trend: dict[str, float], title: str) -> None:
    """A level, a slope or a curvature of two standard deviations of the errors."""
    predicted, true = drawn(**trend)
    rows = {"id": [f"{i:03d}" for i in range(80)], "y_true": true.tolist(), "y_pred": predicted.tolist()}
    results = evalreport.evaluate({"m": rows}, task="regression", resamples=20)
    described = describe_distributions(view_of(results))
    assert described is not None
    assert title in described.figures[1].title
    assert described.figures[0].title != described.figures[1].title
    assert "HC3" in described.figures[1].caption


def test_clusters_have_a_neutral_title() -> None:
    """Errors of one cluster are alike: no test, whatever the trend."""
    predicted, true = drawn(slope=2.0)
    rows = {"id": [f"{i:03d}" for i in range(80)], "who": [str(i // 4) for i in range(80)]}
    rows |= {"y_true": true.tolist(), "y_pred": predicted.tolist()}
    results = evalreport.evaluate({"m": rows}, task="regression", cluster="who", resamples=20)
    described = describe_distributions(view_of(results))
    assert described is not None
    assert described.figures[1].title == "The errors of m along its predictions"
    assert math.isfinite(results.residuals[0].n)
    assert results.residuals[0].trend is None
