"""The test behind the heading agrees with R, keeps its level, and names what is off."""

from __future__ import annotations

import math

import numpy as np
from scipy.special import expit
from scipy.stats import beta

from evalreport.calibration.risks import Risks
from evalreport.calibration.score_test import DRAWS, score_test
from tests.calibration.cases import risks_of
from tests.reference.third_round import assert_agrees, each


@each("heading", "heading_weighted", "heading_clusters")
def test_score_test(case):
    """Statistics and p-values are those of the matrices in R; a drawn p-value lies within five errors of its draws."""
    found = score_test(risks_of(case), seed=0)
    assert found is not None
    names = ("score", "curvature", "p_line", "p_curvature")
    assert_agrees({name: getattr(found, name) for name in names}, case)
    expected = case["expected"]["p"]
    slack = 0.0 if found.method != "monte_carlo" else 5 * math.sqrt(expected * (1 - expected) / DRAWS)
    assert abs(found.p_value - expected) <= slack + 1e-8


def test_calibrated_probabilities_are_rejected_as_rarely_as_promised() -> None:
    """400 data sets of calibrated probabilities: the rejections are compatible with 5 %."""
    random = np.random.default_rng(5)
    rejected = 0
    for _ in range(400):
        p = expit(random.normal(-1.5, 1.2, size=500))
        found = score_test(Risks(p, (random.random(500) < p).astype(float)), seed=0)
        assert found is not None
        rejected += found.p_value < 0.05
    assert beta.ppf(0.01, rejected, 401 - rejected) < 0.06
    assert beta.ppf(0.99, rejected + 1, 400 - rejected) > 0.04


def test_one_probability_for_all_has_a_level_and_no_more() -> None:
    """Then the statistic is the squared standardised difference of observed and expected."""
    y = np.repeat([1.0, 0.0], [40, 160])
    found = score_test(Risks(np.full(200, 0.3), y), seed=0)
    assert found is not None
    assert math.isclose(found.score, (40 - 60) ** 2 / (200 * 0.3 * 0.7), rel_tol=1e-12)
    assert found.curvature == 0


def test_probabilities_of_0_and_1_alone_are_not_tested() -> None:
    """They have no log odds."""
    assert score_test(Risks(np.array([0.0, 1.0, 1.0]), np.array([0.0, 1.0, 1.0])), seed=0) is None
