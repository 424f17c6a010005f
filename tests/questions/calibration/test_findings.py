"""The heading about calibration: what the corrected test shows, and what a model's own interval doubts."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import evalreport as er
from evalreport.questions.calibration.findings import Finding, calibration_findings, calibration_heading

RNG = np.random.default_rng(17)
P = RNG.uniform(0.05, 0.6, 800)
Y = (RNG.random(800) < P).astype(int)
DATA = {"a": {"id": [f"e{k}" for k in range(800)], "y_true": Y, "p_1": P}}


@pytest.mark.parametrize(
    "low, high, begins",
    [
        (0.8, 1.2, "No miscalibration shows"),
        (0.56, 0.91, "Perhaps too high, not shown by the corrected test"),
        (1.1, 1.5, "Perhaps too low, not shown by the corrected test"),
    ],
)
def test_an_interval_that_leaves_out_1_is_not_said_to_show_nothing(
    low: float, high: float, begins: str
) -> None:
    """The test shows nothing in all three; the interval of observed over predicted decides the words."""
    (found,) = calibration_findings(er.evaluate(DATA, resamples=20))
    assert found.kind == "none"
    record = replace(found.record, observed_expected_low=low, observed_expected_high=high)
    heading = calibration_heading([Finding(record, found.kind, found.p_adjusted)], lambda name: name)
    assert str(heading).startswith(begins)
