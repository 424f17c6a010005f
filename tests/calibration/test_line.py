"""The calibration line, also where Newton's full steps go too far."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import minimize
from scipy.special import expit

from evalreport.calibration import line
from evalreport.calibration.level import line_limits
from evalreport.calibration.line import Logits, _no_fit, calibration_line, logits_of
from tests.calibration.cases import risks_of
from tests.reference.third_round import assert_agrees, each
from tests.samples.cases import quick


def line_of(logit: np.ndarray, y: np.ndarray) -> Logits:
    """Return the input of the fit, which is there."""
    return Logits(expit(logit), y, logit, None)


@pytest.mark.parametrize("spread", quick([0.01, 1.0, 10.0, 30.0], [1.0]))
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

        found = deviance(calibration_line(line_of(logit, y), weights))
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
    found = calibration_line(line_of(logit, y), weights)
    monkeypatch.setattr(line, "_MANY", n + 1)
    np.testing.assert_allclose(found, calibration_line(line_of(logit, y), weights), rtol=1e-9)


def test_a_certain_probability_that_agrees_is_left_out() -> None:
    """Probabilities of 0 and 1 that agree with the outcome do not move the line; one that disagrees leaves none."""
    p, y = np.array([0.2, 0.4, 0.3, 0.8, 0.6]), np.array([0.0, 1.0, 0.0, 0.0, 1.0])
    plain = calibration_line(logits_of(p, y), np.ones(5))
    with_certain = logits_of(np.append(p, [0.0, 1.0]), np.append(y, [0.0, 1.0]))
    np.testing.assert_allclose(calibration_line(with_certain, np.ones(7)), plain, rtol=1e-12)
    assert "contradicts" in str(logits_of(np.append(p, 0.0), np.append(y, 1.0)).reason)


@each("slope")
def test_calibration_slope(case):
    """The slope is that of R's glm, its error the larger of the sandwich's and the model's."""
    risks = risks_of(case)
    low, high = line_limits(risks, 1, 0.95)
    slope = float(calibration_line(logits_of(risks.p, risks.y), risks.w)[1])
    assert_agrees({"value": slope, "low": low, "high": high}, case)
