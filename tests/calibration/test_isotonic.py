"""The curve without bins, its band, and the parts of Brier score and log loss."""

from __future__ import annotations

import math

import numpy as np
import pytest
from sklearn.isotonic import IsotonicRegression

from evalreport.calibration.isotonic import consistency_band, isotonic, parts
from evalreport.calibration.risks import Risks
from tests.calibration.cases import risks_of
from tests.reference.third_round import assert_agrees, each


@each("corp_brier", "corp_log")
def test_parts_of_scores(case):
    """Miscalibration, discrimination and uncertainty are those of model-diagnostics."""
    found = parts(isotonic(risks_of(case)), logarithmic=case["method"] == "corp_log")
    names = ("miscalibration", "discrimination", "uncertainty")
    assert_agrees({name: getattr(found, name) for name in names}, case)


def drawn(n: int, seed: int, weight: bool = False) -> Risks:
    """Return calibrated probabilities with two decimals, so that some are equal."""
    random = np.random.default_rng(seed)
    p = np.round(random.random(n), 2)
    return Risks(p, (random.random(n) < p).astype(float), random.integers(1, 5, n) * 1.0 if weight else None)


@pytest.mark.parametrize("weight", [False, True])
def test_the_fit_is_scikit_learns(weight: bool) -> None:
    """Pool adjacent violators, with ties and weights."""
    risks = drawn(300, 3, weight)
    curve = isotonic(risks)
    fit = IsotonicRegression().fit(risks.p, risks.y, sample_weight=risks.weight)
    np.testing.assert_allclose(curve.fit, fit.predict(curve.p), rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("logarithmic", [False, True])
def test_parts_add_up_to_the_score(logarithmic: bool) -> None:
    """Score = miscalibration - discrimination + uncertainty."""
    risks = Risks(np.clip(drawn(300, 4).p, 0.01, 0.99), drawn(300, 4).y)
    found = parts(isotonic(risks), logarithmic=logarithmic)
    loss = -np.log(np.where(risks.y == 1, risks.p, 1 - risks.p)) if logarithmic else (risks.p - risks.y) ** 2
    assert found.miscalibration - found.discrimination + found.uncertainty == pytest.approx(
        loss.mean(), rel=1e-12
    )
    assert found.miscalibration >= 0
    assert found.discrimination >= 0


def test_a_probability_that_rules_out_what_happened_costs_without_end() -> None:
    """The log loss of such a forecast is infinite, and so is its miscalibration."""
    found = parts(isotonic(Risks(np.array([0.0, 0.5]), np.array([1.0, 0.0]))), logarithmic=True)
    assert math.isinf(found.miscalibration)


@pytest.mark.slow
def test_the_band_holds_the_curve_of_calibrated_probabilities() -> None:
    """Pointwise 95 %: over 20 data sets the curve leaves the band at about one in twenty probabilities."""
    outside = []
    for seed in range(20):
        curve = isotonic(drawn(400, 100 + seed))
        band = consistency_band(curve.p, curve.weight, level=0.95, seed=seed)
        outside.append(np.mean((curve.fit < band.low - 1e-12) | (curve.fit > band.high + 1e-12)))
    assert np.mean(outside) < 0.1
