"""Studies that make estimates without a run make those of a run."""

from __future__ import annotations

import numpy as np
import pytest

from evalreport.intervals import leading, recommended, resolved
from evalreport.metrics.difference import paired_difference
from evalreport.metrics.sample import estimate_all
from research.studies import seeds
from research.studies.led import of_errors
from research.studies.populations import population
from research.studies.simulation import LEVEL


@pytest.mark.parametrize("n", [30, 100])
def test_estimates_of_errors_are_those_of_a_run(n: int) -> None:
    """Value, leading interval and that of the difference, for MAE, MSE, RMSE and R2."""
    design = population("skewed errors")
    predictions, units = design.draw(np.random.default_rng(4), n)
    sample = estimate_all(predictions, design.quantities, units=units, n_resamples=2, seed=0)
    made = of_errors(predictions, units)
    assert set(made) == set(sample.estimates)
    for key, estimate in sample.estimates.items():
        expected, found = leading(estimate, LEVEL), leading(made[key], LEVEL)
        assert made[key].value == pytest.approx(estimate.value, rel=1e-12)
        assert (found.method, found.reason) == (expected.method, expected.reason)
        assert (found.low, found.high) == pytest.approx((expected.low, expected.high), rel=1e-9)
    for quantity in design.quantities:
        expected, found = (
            resolved(pair, recommended(pair), LEVEL)
            for of in (sample.estimates, made)
            for pair in (paired_difference(of["a", quantity], of["b", quantity]),)
        )
        assert (found.low, found.high) == pytest.approx((expected.low, expected.high), rel=1e-9)


@pytest.mark.slow
@pytest.mark.parametrize("cell", seeds.STUDY.cells, ids=lambda cell: cell.name)
def test_decisions_over_seeds_are_those_of_a_run(cell: seeds.Trained) -> None:
    """By the functions of a run and by the run: the same decision on the same data."""
    for number in range(4):
        of_run = seeds.counted(cell, np.random.default_rng(number), number)["seeds_t"]
        assert seeds.decided(cell, np.random.default_rng(number), number)["seeds_t"] == of_run
