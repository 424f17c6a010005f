"""The debiased calibration error agrees with its reference, and is near 0 where nothing is wrong."""

from __future__ import annotations

import math

import numpy as np

from evalreport.calibration.squared_error import (
    binned,
    bins_by_rank,
    calibration_error,
    difference_limits,
    squared_error_limits,
)
from tests.calibration.cases import risks_of
from tests.reference.third_round import assert_agrees, each


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


def test_the_squared_error_has_no_bias() -> None:
    """Its mean over 2,000 data sets of calibrated probabilities lies within four errors of 0, unlike ECE's."""
    random = np.random.default_rng(7)
    values = []
    for _ in range(2000):
        p = random.random(100)
        found = binned(p, (random.random(100) < p).astype(float))
        assert found is not None
        values.append(found.value)
    assert abs(np.mean(values)) < 4 * np.std(values) / math.sqrt(2000)


def test_ties_share_a_bin() -> None:
    """Equal probabilities are never parted."""
    p = np.repeat([0.1, 0.2, 0.9], [50, 30, 20])
    assert [len(set(bins_by_rank(p)[p == value])) for value in (0.1, 0.2, 0.9)] == [1, 1, 1]


def test_fewer_than_20_examples_have_no_error() -> None:
    """Ten bins of one example say nothing."""
    assert binned(np.linspace(0.1, 0.9, 19), np.zeros(19)) is None


def test_a_model_does_not_differ_from_itself() -> None:
    """The difference is 0, within limits of no width beyond rounding."""
    random = np.random.default_rng(8)
    p = random.random(200)
    found = binned(p, (random.random(200) < p**2).astype(float))
    assert found is not None
    low, high = difference_limits(found, found, 0.95)
    assert low is not None
    assert high is not None
    assert abs(low) < 1e-9
    assert abs(high) < 1e-9
