"""Results that the tests of several sections read."""

from __future__ import annotations

import numpy as np
import pytest

import evalreport as er
from evalreport.schema.results import Results
from tests.samples.regressions import frame


@pytest.fixture(scope="session")
def regression() -> Results:
    """Two models of 260 values, one of them off by more."""
    random = np.random.default_rng(4)
    true = random.normal(150, 60, 260)
    near, far = (true + random.normal(0, spread, 260) for spread in (30, 50))
    return er.evaluate({"near": frame(near, true), "far": frame(far, true)}, task="regression", resamples=100)
