"""One run of a suite that the tests of its numbers and of its pages share."""

from __future__ import annotations

import pytest

import evalreport
from tests.suites.sources import outcomes


@pytest.fixture(scope="session")
def suite() -> evalreport.Results:
    """Three models on four tasks."""
    return evalreport.evaluate(outcomes(), resamples=200, gates=["b.mean_outcome[task=gsm8k] >= 0.8"])
