"""Probabilities with outcomes: their clusters, and the roots of what rises."""

from __future__ import annotations

import math

import numpy as np
import pytest

from evalreport.calibration.limits import rising_root
from evalreport.calibration.risks import Risks, around


def test_certain_probabilities_are_left_out_of_the_logits() -> None:
    """Those of 0 and 1 have none; contradicted ones are counted."""
    risks = Risks(np.array([0.0, 0.2, 1.0, 0.7]), np.array([1.0, 0.0, 0.0, 1.0]))
    assert risks.contradicted == (1, 1)
    assert risks.open.p.tolist() == [0.2, 0.7]
    assert risks.open.logit == pytest.approx([math.log(0.25), math.log(7 / 3)])


def test_clusters_are_numbered_anew() -> None:
    """Sums by cluster keep the order of those that are left."""
    risks = Risks(np.full(4, 0.5), np.ones(4), cluster=np.array([0, 1, 2, 2])).of(np.array([1, 2, 3]))
    assert risks.by_cluster(np.array([1.0, 10.0, 100.0])).ravel().tolist() == [1.0, 110.0]


def test_the_larger_error_counts() -> None:
    """Of the variance by the outcomes and that by the model."""
    risks = Risks(np.full(4, 0.5), np.ones(4))
    derivative = np.array([0.1, -0.1, 0.1, -0.1])
    low, high = around(1.0, 0.95, risks, derivative, least=0.01)
    assert (low, high) == pytest.approx((1 - 0.2 * 1.959963985, 1 + 0.2 * 1.959963985))
    low, high = around(1.0, 0.95, risks, derivative, least=0.25)
    assert (low, high) == pytest.approx((1 - 0.5 * 1.959963985, 1 + 0.5 * 1.959963985))


def test_a_root_may_lie_at_an_end() -> None:
    """Where rounding hides the change of sign."""
    assert rising_root(lambda x: x - 2.0, 0.0, 5.0) == pytest.approx(2.0)
    assert rising_root(lambda x: x + 1.0, 0.0, 5.0) == 0.0
    assert rising_root(lambda x: x - 9.0, 0.0, 5.0) == 5.0
