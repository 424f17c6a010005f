"""Replicates from histograms: the same for any number of threads and beside any other metric."""

import numpy as np

from evalreport.engine.parallel import working
from evalreport.loading.load import load
from evalreport.metrics.registry import Quantity
from evalreport.metrics.sample import estimate_all
from evalreport.options import Options
from evalreport.samplings import sampling_by, sampling_of
from research.benchmarks.stress import AT_CUTS, FEW, METRICS, models


def test_replicates_are_the_same_from_any_number_of_threads() -> None:
    """Blocks of draws are worked on side by side, and nothing but time depends on it: rows of both ways of drawing."""
    for n in FEW:
        predictions, quantities = models("ordinary", n), [Quantity(name) for name in (*METRICS, *AT_CUTS)]
        found = []
        for jobs in (1, 3):
            with working(jobs):
                found.append(
                    estimate_all(
                        predictions, quantities, units=sampling_by(n), n_resamples=200, seed=1
                    ).estimates
                )
        for key, estimate in found[0].items():
            np.testing.assert_array_equal(estimate.replicates, found[1][key].replicates, str(key))


def test_another_metric_moves_no_replicate() -> None:
    """The replicates of one metric are the same to the last bit whatever else is asked for."""
    predictions = models("ordinary")
    alone = estimate_all(
        predictions, [Quantity("log_loss")], units=sampling_by(predictions.n), n_resamples=3, seed=0
    )
    every = [Quantity(name) for name in (*METRICS, "calibration_slope")]
    beside = estimate_all(predictions, every, units=sampling_by(predictions.n), n_resamples=3, seed=0)
    for model in predictions.models:
        one, other = (s.estimates[model.name, Quantity("log_loss")].replicates for s in (alone, beside))
        np.testing.assert_array_equal(one, other)


def test_replicates_of_folds_that_are_the_value_are_equal_to_it() -> None:
    """BCa counts those equal to the value by half: in single precision they would be a little above or below it."""
    rng = np.random.default_rng(0)
    true = np.arange(24) % 3 == 0
    columns = {
        "y_true": true.astype(int),
        "score": np.round(rng.normal(size=24) + true),
        "fold": np.arange(24) % 4,
    }
    predictions = load({"a": columns}, options=Options())
    units = sampling_of(predictions, cluster=None, weight=None)
    for name in ("roc_auc", "average_precision", "pr_auc", "partial_auc"):
        sample = estimate_all(predictions, [Quantity(name)], units=units, n_resamples=2_000, seed=1)
        estimate = sample.estimates["a", Quantity(name)]
        away = np.abs(estimate.replicates_used - estimate.value)
        near = away < 1e-5
        assert near.any()
        assert (away[near] < 1e-12).all()
