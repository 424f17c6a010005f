"""What a report says of replicates from histograms."""

from dataclasses import replace

from evalreport.metrics.histogram_records import histograms_found
from evalreport.metrics.registry import Quantity
from evalreport.metrics.sample import estimate_all
from evalreport.samplings import sampling_by
from research.benchmarks.stress import models


def test_the_report_names_twins() -> None:
    """The report says of which models' differences the replicates are not so good, and what to do."""
    predictions = models("ordinary")
    sample = estimate_all(
        predictions, [Quantity("roc_auc")], units=sampling_by(predictions.n), n_resamples=1, seed=0
    )
    (found_bins,) = histograms_found(sample)
    assert "(model - twin in roc_auc)" in found_bins.why
    two = replace(predictions, models=predictions.models[:2])
    sample = estimate_all(two, [Quantity("roc_auc")], units=sampling_by(two.n), n_resamples=1, seed=0)
    (found_bins,) = histograms_found(sample)
    assert "variation inside bins is left out for roc_auc (at most " in found_bins.why
    assert "hardly differ" not in found_bins.why
