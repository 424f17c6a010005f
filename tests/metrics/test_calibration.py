"""Calibration: errors by bin, and the line also where Newton's full steps go too far."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import minimize

from evalreport.metrics import calibration
from evalreport.metrics.calibration import Logits, _no_fit, calibration_line
from evalreport.metrics.registry import Quantity
from tests.samples.metrics import binary_rows, estimates_of, ids, truth_and_scores, value


@pytest.mark.parametrize("spread", [0.01, 1.0, 10.0, 30.0])
def test_the_line_has_the_least_deviance(spread: float) -> None:
    """No start of a general minimiser finds a line with less deviance."""
    random = np.random.default_rng(round(100 * spread))
    fitted = 0
    for _ in range(60):
        n = int(random.integers(3, 200))
        logit = random.normal(size=n) * spread + random.choice([0.0, -8.0, 8.0])
        apart = 3 * random.normal() + 2 * random.normal() * (logit - logit.mean()) / logit.std()
        y = (random.random(n) < 1 / (1 + np.exp(-apart))).astype(float)
        if _no_fit(logit, y == 1):
            continue
        weights = 10 ** random.uniform(-6, 6, n) if fitted % 2 else np.ones(n)
        scale = float(weights.sum())

        def deviance(
            line: np.ndarray, logit: np.ndarray = logit, y: np.ndarray = y, w: np.ndarray = weights / scale
        ) -> float:
            return float(w @ np.logaddexp(0, np.where(y == 1, -1, 1) * (line[0] + line[1] * logit)))

        found = deviance(calibration_line(Logits(logit, y, None), weights))
        best = min(minimize(deviance, start, method="Nelder-Mead").fun for start in ([0.0, 0.0], [0.0, 0.1]))
        assert found <= best + 1e-9
        fitted += 1
    assert fitted > 20


@pytest.mark.parametrize(
    "case", ["plain", "classes in order", "every 16th weighs nothing", "far from the truth"]
)
def test_the_line_of_many_examples_does_not_hang_on_where_the_search_begins(
    case: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Beginning with the line of every 16th example, where there is one, finds the line that no slope leads to."""
    random, n = np.random.default_rng(3), 20_000
    logit = random.normal(size=n) * (0.001 if case == "far from the truth" else 1)
    y = (random.random(n) < 1 / (1 + np.exp(-0.7 * logit + 2))).astype(np.float64)
    if case == "classes in order":
        order = np.argsort(y, kind="stable")
        logit, y = logit[order], y[order]
    if case == "far from the truth":
        logit += 30
    weights = random.uniform(0.5, 2, n)
    if case == "every 16th weighs nothing":
        weights[::16] = 0
    found = calibration_line(Logits(logit, y, None), weights)
    monkeypatch.setattr(calibration, "_MANY", n + 1)
    np.testing.assert_allclose(found, calibration_line(Logits(logit, y, None), weights), rtol=1e-9)


# --- probabilities --------------------------------------------------------------------------------------------------


def test_calibration_bins_are_closed_below() -> None:
    """Probabilities on the edges belong to the upper bin, 1 to the last: by hand, gaps 0.1 and 0.7 of one example each.

    0.1 lies in [0.1, 0.2) and 0.3 in [0.3, 0.4), as text 0.3 though 10 * 0.3 may round below 3.
    """
    rows = {"id": ids(4), "y_true": ["0", "1", "1", "1"], "p_1": [0.1, 0.3, 0.35, 1.0]}
    # bin 1: |0.1 - 0|, bin 3: |0.325 - 1|, bin 9: 0
    assert value("binary", rows, "ece") == pytest.approx((0.1 + 2 * 0.675) / 4, abs=1e-14)
    assert value("binary", rows, "mce") == pytest.approx(0.675, abs=1e-14)


def test_calibration_line_and_its_errors_are_those_of_statsmodels() -> None:
    """Slope, intercept and their robust errors equal statsmodels' logistic GLM with the HC0 sandwich."""
    import statsmodels.api as sm

    rows = binary_rows(4, 150)
    positive, p = truth_and_scores(rows)
    model = sm.GLM(
        positive.astype(float), sm.add_constant(np.log(p / (1 - p))), family=sm.families.Binomial()
    )
    fit = model.fit(cov_type="HC0", tol=1e-14)
    estimates = estimates_of("binary", rows)
    for place, name in enumerate(("calibration_intercept", "calibration_slope")):
        assert estimates[Quantity(name)].value == pytest.approx(fit.params[place], rel=1e-8)
        assert estimates[Quantity(name)].standard_error == pytest.approx(fit.bse[place], rel=1e-7)


@pytest.mark.parametrize(
    "p, reason",
    [
        ([0.0, 0.6, 0.7, 0.3, 0.5, 0.9], "exactly 0 or 1"),
        ([0.1, 0.6, 0.2, 0.7, 0.3, 0.8], "separate the classes"),
        ([0.1, 0.3, 0.3, 0.7, 0.3, 0.8], "separate the classes"),
        ([0.4] * 6, "all probabilities are equal"),
    ],
)
def test_calibration_line_that_is_not_there(p: list[float], reason: str) -> None:
    """Null with the reason: a probability of 0 or 1, separation (ties at the edge too), one probability for all."""
    estimates = estimates_of("binary", {"id": ids(6), "y_true": ["0", "1"] * 3, "p_1": p})
    for name in ("calibration_slope", "calibration_intercept"):
        assert np.isnan(estimates[Quantity(name)].value)
        assert reason in (estimates[Quantity(name)].reason or "")
