"""The spread between groups without noise, and the gaps that noise alone gives."""

from __future__ import annotations

import numpy as np
import pytest

import evalreport
from evalreport.questions.slices.group_spread import gaps_by_noise, spread
from tests.reference.third_round import assert_agrees, each


@each("group_spread")
def test_spread_and_gaps(case):
    """Double precision by a second program."""
    x, n = (np.array(case["input"][name], dtype=float) for name in ("successes", "n"))
    (sd, low, high), (mean, point) = spread(x, n, 0.95), gaps_by_noise(x, n, seed=0)
    found = {"sd": sd, "sd_low": low, "sd_high": high, "largest_gap": float(np.ptp(x / n))}
    assert_agrees(found | {"gap_by_noise": mean, "gap_by_noise_95": point}, case)


def test_the_impact_ratio_and_the_spread_follow_from_slices():
    """By hand: 30 of 100 women and 50 of 100 men are selected, a ratio of 0.6; the gap is 0.2."""
    sex = ["f"] * 100 + ["m"] * 100
    selected = [1] * 30 + [0] * 70 + [1] * 50 + [0] * 50
    truth = [1, 0] * 100
    gates = [
        "selection_rate[sex=f] / selection_rate[sex=m] >= 0.8",
        "m.selection_rate[sex=f] >= 0.3 * m.selection_rate[sex=m]",
    ]
    rows = {"id": [str(i) for i in range(200)], "y_true": truth, "y_pred": selected, "sex": sex}
    results = evalreport.evaluate({"m": rows}, slices=["sex"], gates=gates, resamples=50)
    fails, passes = results.gates
    assert (fails.outcome, passes.outcome) == ("undecided", "pass")
    assert fails.value == pytest.approx(0.6)
    assert fails.low < 0.6 < fails.high
    (spread_record,) = (r for r in results.group_spread if r.metric == "selection_rate")
    assert spread_record.largest_gap == pytest.approx(0.2)
    assert spread_record.sd_low > 0
