"""What tests need of the data."""

from __future__ import annotations

import numpy as np
import pytest

from evalreport.comparisons.registry import Pair
from evalreport.comparisons.test_needs import lacks
from evalreport.metrics.difference import Difference
from evalreport.metrics.estimate import Estimate
from evalreport.metrics.evidence import Paired, Proportion
from evalreport.metrics.registry import Quantity
from evalreport.samplings import Fits, sampling_by


@pytest.mark.parametrize(
    ("design", "folds", "lacking"),
    [("5x2cv", 10, False), ("5x2cv", 8, True), ("5x2cv", None, True), ("cross-validation", 10, True)],
)
def test_five_by_two_needs_ten_values_of_five_by_two_folds(
    design: str, folds: int | None, lacking: bool
) -> None:
    """Ten folds of another design, fewer values or none at all lack the halves; that is said, and nothing raised."""
    fits = None
    if folds is not None:
        codes, sizes = np.arange(folds), np.full(folds, 20.0)
        fits = Fits(np.linspace(0.1, 0.3, folds), codes // 2, codes % 2, sizes, sizes)
    sampling = sampling_by(n=40)
    estimate = Estimate(
        model="m",
        quantity=Quantity("accuracy"),
        value=0.5,
        range=(0.0, 1.0),
        sampling=sampling,
        evidence=Proportion(20, 40),
    )
    delta = Difference(
        a=estimate, b=estimate, value=0.2, range=(-1.0, 1.0), sampling=sampling, evidence=Paired(), fits=fits
    )
    missing = lacks(Pair(a=estimate, b=estimate, difference=delta, design=design), "5x2cv_f")
    assert ("needs 5 repeats of 2 folds" in str(missing)) == lacking
    assert (missing is None) != lacking
