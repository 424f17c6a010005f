"""How often each test of two equally good algorithms rejects at 0.05: measured, and printed beside the test.

The figures are those of the study of tests (``make study-tests``), which checks that they are still what it finds.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from evalreport.metrics.estimate import Fits

Rates = Mapping[str, float]

MEASURED: Mapping[tuple[str, str], Rates] = {}
"""(layout, test) -> rejection rate at 0.05 by learner."""

STUDY = "measured type I error at 0.05 on 300 examples"


def layout_measured(design: str, fits: Fits | None) -> str:
    """Return which layout of the study a design is nearest to.

    Examples
    --------
    >>> layout_measured("5x2cv", None)
    '5x2cv'
    """
    if design == "cross-validation" and fits is not None:
        repeats = len(np.unique(fits.repeat))
        return "repeated cross-validation" if repeats > 1 else "cross-validation"
    return design


def measured_size(design: str, fits: Fits | None, test: str) -> str | None:
    """Say how often a test rejects where nothing is to be found; None where that was not measured."""
    rates = MEASURED.get((layout_measured(design, fits), test))
    if rates is None:
        return None
    return f"{STUDY}: " + ", ".join(f"{rate:.3f} ({learner})" for learner, rate in rates.items())
