"""Observed over expected and calibration in the large agree with R, and have limits where one outcome never came."""

from __future__ import annotations

import math

import numpy as np
import pytest

from evalreport.calibration.level import in_the_large_limits, observed_expected, observed_expected_limits
from evalreport.calibration.risks import Risks
from tests.calibration.cases import risks_of
from tests.reference.third_round import assert_agrees, each


@each("oe_count")
def test_observed_over_expected(case):
    """Value and quasi-Poisson score limits are those of METHODS 7H by independent code."""
    risks = risks_of(case)
    low, high = observed_expected_limits(risks, 0.95)
    assert_agrees({"ratio": observed_expected(risks), "low": low, "high": high}, case)


@each("oe")
def test_the_ratio_itself_is_that_of_before(case):
    """Of these records the limits are superseded by METHODS 7H."""
    assert_agrees({"ratio": observed_expected(risks_of(case))}, case)


def test_probabilities_that_are_far_too_low_and_too_extreme_have_limits_on_both_sides() -> None:
    """400 events where 174 are expected: wide on both sides; the earlier limits were 0.80 and 2.31 (METHODS 7H)."""
    random = np.random.default_rng(3)
    x = random.normal(size=1000)
    p = 1 / (1 + np.exp(2.5 - 2.0 * x))
    y = (random.random(1000) < 1 / (1 + np.exp(0.45 - 0.6 * x))).astype(float)
    risks = Risks(p, y)
    low, high = observed_expected_limits(risks, 0.95)
    r = y.sum() / p.sum()
    draws = np.random.default_rng(4).integers(0, 1000, (2000, 1000))
    replicates = y[draws].sum(axis=1) / p[draws].sum(axis=1)
    assert low is not None
    assert high is not None
    # The bootstrap lets E vary as well; the limits are of this E.
    assert low < np.quantile(replicates, 0.1) < r < np.quantile(replicates, 0.9) < high
    assert 0.7 < (high - r) / (r - low) < 1.5


def test_clusters_and_weights_of_observed_over_expected() -> None:
    """By hand with numpy: residuals summed by cluster, and weights that add up to Kish's effective number."""
    random = np.random.default_rng(6)
    p = random.uniform(0.05, 0.6, 120)
    y, cluster = (random.random(120) < p).astype(float), np.repeat(np.arange(30), 4)
    r, z = y.sum() / p.sum(), 1.959963984540054

    def expected(variation: float, observed: float, total: float) -> list[float]:
        phi = (variation + 0.5) / (observed + 0.5)
        middle, half = observed + phi * z * z / 2, z * math.sqrt(phi * observed + (phi * z / 2) ** 2)
        return [(middle - half) / total, (middle + half) / total]

    sums = np.bincount(cluster, weights=y - r * p)
    found = observed_expected_limits(Risks(p, y, None, cluster), 0.95)
    assert list(found) == pytest.approx(expected(30 / 29 * (sums**2).sum(), y.sum(), p.sum()), rel=1e-12)
    w = random.uniform(1, 5, 120)
    scaled = w * w.sum() / (w**2).sum()
    n = scaled.sum()
    r = (w * y).sum() / (w * p).sum()
    variation = n / (n - 1) * ((scaled * (y - r * p)) ** 2).sum()
    found = observed_expected_limits(Risks(p, y, w), 0.95)
    assert list(found) == pytest.approx(
        expected(variation, (scaled * y).sum(), (scaled * p).sum()), rel=1e-12
    )
    assert found == pytest.approx(observed_expected_limits(Risks(p, y, 7 * w), 0.95), rel=1e-12)


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
