"""Level, spread, shape, error and parts agree with R, statsmodels and model-diagnostics."""

from __future__ import annotations

import math

import numpy as np

from evalreport.calibration.isotonic import isotonic, parts
from evalreport.calibration.level import (
    calibration_in_the_large,
    in_the_large_limits,
    observed_expected,
    observed_expected_limits,
)
from evalreport.calibration.line import calibration_line, line_limits, logits_of
from evalreport.calibration.risks import Risks
from evalreport.calibration.score_test import DRAWS, score_test
from evalreport.calibration.squared_error import binned, calibration_error, squared_error_limits
from tests.reference.third_round import assert_agrees, each


def risks_of(case):
    """Return a case's probabilities and outcomes."""
    given = {name: np.array(case["input"][name], dtype=float) for name in ("p", "y")}
    weight, cluster = (case["input"].get(name) for name in ("weight", "cluster"))
    return Risks(
        **given,
        weight=None if weight is None else np.array(weight, dtype=float),
        cluster=None if cluster is None else np.unique(cluster, return_inverse=True)[1],
    )


@each("oe")
def test_observed_over_expected(case):
    """Limits are the roots of the score test that R's uniroot finds."""
    risks = risks_of(case)
    low, high = observed_expected_limits(risks, 0.95)
    assert_agrees({"ratio": observed_expected(risks), "low": low, "high": high}, case)


@each("citl")
def test_calibration_in_the_large(case):
    """The shift is that of R's glm with an offset, its error the larger of the sandwich's and the model's."""
    risks = risks_of(case)
    low, high = in_the_large_limits(risks, 0.95)
    value = calibration_in_the_large(risks)
    # R's glm stops one iteration early.
    assert_agrees({"value": value, "low": low, "high": high}, {**case, "tolerance": 1e-7})


@each("slope")
def test_calibration_slope(case):
    """The slope is that of R's glm, its error the larger of the sandwich's and the model's."""
    risks = risks_of(case)
    low, high = line_limits(risks, 1, 0.95)
    slope = float(calibration_line(logits_of(risks.p, risks.y), risks.w)[1])
    assert_agrees({"value": slope, "low": low, "high": high}, case)


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


@each("squared_error")
def test_squared_error(case):
    """The debiased squared error of ten bins by rank, and its limits as roots."""
    risks = risks_of(case)
    found = binned(risks.p, risks.y)
    assert found is not None
    low, high = squared_error_limits(found, 0.95)
    assert_agrees(
        {
            "squared": found.value, "low_squared": low, "high_squared": high, "rms": calibration_error(found),
            "low": math.sqrt(low), "high": math.sqrt(high),
        },
        case,
    )  # fmt: skip


@each("corp_brier", "corp_log")
def test_parts_of_scores(case):
    """Miscalibration, discrimination and uncertainty are those of model-diagnostics."""
    found = parts(isotonic(risks_of(case)), logarithmic=case["method"] == "corp_log")
    names = ("miscalibration", "discrimination", "uncertainty")
    assert_agrees({name: getattr(found, name) for name in names}, case)
