"""The calibration line, also where Newton's full steps go too far."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import minimize
from scipy.special import expit

from evalreport.calibration.level import line_limits
from evalreport.calibration.line import calibration_line
from evalreport.calibration.risks import Risks, no_fit
from tests.calibration.cases import risks_of
from tests.reference.third_round import assert_agrees, each
from tests.samples.cases import quick


def line_of(logit: np.ndarray, y: np.ndarray) -> Risks:
    """Return probabilities with these log odds, also where those lie so far out that the probability rounds to 1."""
    risks = Risks(np.clip(expit(logit), 1e-300, 1 - 1e-16), y)
    vars(risks)["logit"] = logit
    return risks


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
        if no_fit(logit, y == 1):
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


def test_a_certain_probability_that_agrees_is_left_out() -> None:
    """Probabilities of 0 and 1 that agree with the outcome do not move the line; one that disagrees leaves none."""
    p, y = np.array([0.2, 0.4, 0.3, 0.8, 0.6]), np.array([0.0, 1.0, 0.0, 0.0, 1.0])
    plain = calibration_line(Risks(p, y), np.ones(5))
    with_certain = Risks(np.append(p, [0.0, 1.0]), np.append(y, [0.0, 1.0]))
    np.testing.assert_allclose(calibration_line(with_certain, np.ones(7)), plain, rtol=1e-12)
    assert "contradicts" in str(Risks(np.append(p, 0.0), np.append(y, 1.0)).no_line)


@each("slope")
def test_calibration_slope(case):
    """The slope is that of R's glm, its error the larger of the sandwich's and the model's."""
    risks = risks_of(case)
    low, high = line_limits(risks, 1, 0.95)
    slope = float(calibration_line(risks, risks.w)[1])
    assert_agrees({"value": slope, "low": low, "high": high}, case)
