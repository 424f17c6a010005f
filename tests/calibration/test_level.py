"""Observed over expected and calibration in the large agree with R, and have limits where one outcome never came."""

from __future__ import annotations

import math

import numpy as np
import pytest

from evalreport.calibration.level import (
    in_the_large_limits,
    observed_expected,
    observed_expected_limits,
)
from evalreport.calibration.risks import Risks
from tests.calibration.cases import risks_of
from tests.reference.third_round import assert_agrees, each


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
    value = risks.shift
    # R's glm stops one iteration early.
    assert_agrees({"value": value, "low": low, "high": high}, {**case, "tolerance": 1e-7})


def test_without_events_only_the_upper_limit_is_known() -> None:
    """No event among 200 at 1 %: the ratio is 0 with an upper limit, the shift has no lower one."""
    risks = Risks(np.full(200, 0.01), np.zeros(200))
    low, high = observed_expected_limits(risks, 0.95)
    assert low == 0.0
    assert high is not None
    assert 1 < high < 5
    assert risks.shift == -math.inf
    lower, upper = in_the_large_limits(risks, 0.95)
    assert lower is None
    # At this shift the expected number of events is 1.96 of its standard errors above 0.
    assert upper is not None
    m = 1 / (1 + math.exp(-(math.log(0.01 / 0.99) + upper)))
    assert 200 * m == pytest.approx(1.959964 * math.sqrt(200 * m * (1 - m)), rel=1e-6)


def test_events_alone_mirror_no_events() -> None:
    """With p and y turned the shift changes its sign."""
    lower, upper = in_the_large_limits(Risks(np.full(200, 0.01), np.zeros(200)), 0.95)
    other_lower, other_upper = in_the_large_limits(Risks(np.full(200, 0.99), np.ones(200)), 0.95)
    assert other_upper is lower is None
    assert upper is not None
    assert other_lower == pytest.approx(-upper, rel=1e-9)


def test_nothing_expected_has_no_ratio() -> None:
    """Probabilities of 0 alone expect no event."""
    risks = Risks(np.zeros(30), np.zeros(30))
    assert math.isnan(observed_expected(risks))
    assert observed_expected_limits(risks, 0.95) == (None, None)
