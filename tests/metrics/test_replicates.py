"""Replicates over units and over groups of influence values: paired, of their own spread, and moved by nothing else."""

import numpy as np
import pytest

from evalreport.engine.parallel import working
from evalreport.loading.load import load
from evalreport.metrics.difference import paired_difference
from evalreport.metrics.records import replicates_found
from evalreport.metrics.registry import Quantity
from evalreport.metrics.replicates import MOST_DRAWN, group_sums, groups_of, of_units
from evalreport.metrics.sample import Sample, estimate_all
from evalreport.options import Options
from evalreport.predictions.table import Labels, ModelOutputs, Predictions
from evalreport.samplings import sampling_by, sampling_of

METRICS = ("roc_auc", "average_precision", "partial_auc", "pr_auc", "log_loss", "brier")
AT_CUTS = ("eer", "recall_at_10", "f1_at_10", "r_precision")
MANY = MOST_DRAWN + 500


def models(n: int, share: float = 0.3) -> Predictions:
    """Return a model, one that differs somewhat, and one that differs hardly."""
    generator = np.random.default_rng(6)
    positive = generator.random(n) < share
    score = generator.normal(size=n) + positive
    outputs = []
    for name, spread in (("model", 0.0), ("other", 0.3), ("twin", 0.003)):
        p = 1 / (1 + np.exp(1 - score - spread * generator.normal(size=n)))
        outputs.append(ModelOutputs(name, score=p, proba=np.column_stack([1 - p, p])))
    return Predictions(
        task="binary",
        design="test-set",
        ids=np.arange(n),
        example=np.arange(n),
        y_true=positive.astype(np.int32),
        models=tuple(outputs),
        labels=Labels(classes=("0", "1"), positive="1"),
    )


def sampled(predictions: Predictions, metrics=METRICS, n_resamples: int = 2_000, **options) -> Sample:
    """Estimate metrics with replicates."""
    quantities = [Quantity(name) for name in metrics]
    units = options.pop("units", sampling_by(predictions.n))
    return estimate_all(predictions, quantities, units=units, n_resamples=n_resamples, seed=1, **options)


@pytest.mark.slow
@pytest.mark.parametrize("n", [2_500, MANY])
def test_replicates_are_the_same_from_any_number_of_threads(n: int) -> None:
    """Blocks of draws are worked on side by side, and nothing but time depends on it: of both ways of drawing."""
    estimates = []
    for jobs in (1, 3):
        with working(jobs):
            estimates.append(
                sampled(models(n), (*METRICS, *AT_CUTS), n_resamples=200, of_rows=True).estimates
            )
    for key, estimate in estimates[0].items():
        np.testing.assert_array_equal(estimate.replicates, estimates[1][key].replicates, str(key))


@pytest.mark.parametrize("n", [2_500, MANY])
def test_another_metric_moves_no_replicate(n: int) -> None:
    """The replicates of one metric are the same to the last bit whatever else is asked for."""
    predictions = models(n)
    alone = sampled(predictions, ("log_loss",), n_resamples=3)
    beside = sampled(predictions, (*METRICS, "calibration_slope"), n_resamples=3)
    for model in predictions.models:
        key = model.name, Quantity("log_loss")
        np.testing.assert_array_equal(alone.estimates[key].replicates, beside.estimates[key].replicates)


def test_groups_keep_each_standard_error_and_that_of_differences() -> None:
    """2,000 replicates have the standard error within 5 Monte Carlo errors (1.6 %); twins stay paired."""
    sample = sampled(models(MANY))
    for name in METRICS:
        a, b, twin = (sample.estimates[m, Quantity(name)] for m in ("model", "other", "twin"))
        for value in (a, paired_difference(a, b), paired_difference(a, twin)):
            assert value.standard_error is not None
            assert value.replicates_used.std() == pytest.approx(value.standard_error, rel=0.08), name


@pytest.mark.slow
def test_groups_give_the_limits_of_drawn_rows() -> None:
    """Quantiles of both ways of drawing differ by less than 5 Monte Carlo errors of two, 0.08 standard errors each."""
    predictions = models(MANY)
    below = sampling_by(MANY, strata=np.zeros(MANY, dtype=np.int64))  # one stratum: rows are drawn
    grouped, by_rows = sampled(predictions), sampled(predictions, units=below)
    for name in METRICS:
        one, other = (s.estimates["model", Quantity(name)] for s in (grouped, by_rows))
        for share in (0.025, 0.5, 0.975):
            apart = np.quantile(one.replicates, share) - np.quantile(other.replicates, share)
            assert abs(apart) < 0.4 * one.standard_error, (name, share)


def test_what_has_no_influence_values_is_resampled_by_name_alone() -> None:
    """Of many rows; of few, and where a class is rare, the rows are drawn for every metric."""
    key = "model", Quantity("eer")
    assert sampled(models(MANY), AT_CUTS, n_resamples=20).estimates[key].replicates is None
    assert sampled(models(MANY), AT_CUTS, n_resamples=20, of_rows=True).estimates[key].replicates is not None
    rare = sampled(models(MANY, share=20 / MANY), AT_CUTS, n_resamples=20)
    assert rare.estimates[key].replicates is not None


@pytest.mark.parametrize(("share", "in_groups"), [(0.1, False), (0.3, True)])
def test_areas_of_precision_are_drawn_in_groups_from_2_000_positives_on(
    share: float, in_groups: bool
) -> None:
    """About 1,050 and 3,150 positives: rows are drawn of few, and of the area under the ROC curve groups in both."""
    sample = sampled(models(MANY, share), n_resamples=20)
    for name in ("average_precision", "pr_auc", "roc_auc"):
        key = "twin", Quantity(name)
        by_rows = of_units(sample.rows, [key], 20, seed=1)[key]
        same = np.array_equal(sample.estimates[key].replicates, by_rows)
        assert same == (name != "roc_auc" and not in_groups)
    (told,) = replicates_found(sample)
    assert ("precision-recall" in str(told.value)) == (not in_groups)


def test_groups_are_of_equal_size_and_sums_keep_the_spread() -> None:
    """Sizes differ by one at most; centred sums have the root of the summed squares of the values."""
    groups = groups_of(MANY, seed=3)
    assert np.ptp(np.bincount(groups)) == 1
    slopes = np.random.default_rng(0).normal(size=MANY)
    sums = group_sums(slopes, groups)
    assert sums.sum() == pytest.approx(0, abs=1e-9)
    assert (sums**2).sum() == pytest.approx((slopes**2).sum(), rel=1e-12)
    assert not group_sums(np.zeros(MANY), groups).any()


def test_replicates_of_folds_that_are_the_value_are_equal_to_it() -> None:
    """BCa counts those equal to the value by half: rounded otherwise they would be a little above or below it."""
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
