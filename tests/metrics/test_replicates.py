"""Replicates from histograms: the same for any number of threads and beside any other metric."""

import numpy as np

from evalreport.engine.parallel import working
from evalreport.metrics.registry import Quantity
from evalreport.metrics.sample import estimate_all
from evalreport.metrics.units import Units
from research.benchmarks.stress import AT_CUTS, FEW, METRICS, models


def test_replicates_are_the_same_from_any_number_of_threads() -> None:
    """Blocks of draws are worked on side by side, and nothing but time depends on it: rows of both ways of drawing."""
    for n in FEW:
        predictions, quantities = models("ordinary", n), [Quantity(name) for name in (*METRICS, *AT_CUTS)]
        found = []
        for jobs in (1, 3):
            with working(jobs):
                found.append(
                    estimate_all(predictions, quantities, units=Units(n), n_resamples=200, seed=1).estimates
                )
        for key, estimate in found[0].items():
            np.testing.assert_array_equal(estimate.replicates, found[1][key].replicates, str(key))


def test_another_metric_moves_no_replicate() -> None:
    """The replicates of one metric are the same to the last bit whatever else is asked for."""
    predictions = models("ordinary")
    alone = estimate_all(
        predictions, [Quantity("log_loss")], units=Units(predictions.n), n_resamples=3, seed=0
    )
    every = [Quantity(name) for name in (*METRICS, "calibration_slope")]
    beside = estimate_all(predictions, every, units=Units(predictions.n), n_resamples=3, seed=0)
    for model in predictions.models:
        one, other = (s.estimates[model.name, Quantity("log_loss")].replicates for s in (alone, beside))
        np.testing.assert_array_equal(one, other)
