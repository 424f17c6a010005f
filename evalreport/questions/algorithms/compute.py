"""Error estimates of algorithms, their bias and variance, and their learning curves."""

from __future__ import annotations

import numpy as np

from evalreport.metrics.criteria import criteria_records
from evalreport.predictions.series import series_of
from evalreport.questions.algorithms.decomposition import decomposition_records, replicate_curves
from evalreport.questions.algorithms.error_estimators import chosen_records
from evalreport.questions.algorithms.estimates import criterion_choices, error_estimate_records
from evalreport.questions.algorithms.learning_curves import (
    chosen_points,
    curve_fits,
    curve_points,
    decomposed_points,
    family_points,
)
from evalreport.questions.algorithms.records import AlgorithmLists, LearningFitRecord
from evalreport.questions.question import Run, question


@question("algorithms", applies=lambda run: len(run.samples) == 1)
def algorithms(run: Run) -> AlgorithmLists:
    """Return the error estimates of algorithms, their bias and variance, and their learning curves."""
    whole, loaded, options = run.data.whole, run.data.loaded, run.options
    sample = run.samples[0]
    # Squares of numbers near the largest double are infinite; such figures are left out or null.
    with np.errstate(over="ignore", invalid="ignore"):
        estimates = error_estimate_records(loaded, sample, options)
        series = series_of(whole)
        decomposition, examples = decomposition_records(loaded, options)
        points = family_points(sample.predictions, estimates)
        fits: tuple[LearningFitRecord, ...] = ()
        if series is not None:
            used, _ = chosen_points(whole, series)
            points = curve_points(whole, series, used, options)
            fits = curve_fits(whole, series, options)
            decomposition = decomposed_points(whole, series, options)
        criteria = criteria_records(loaded, options.metrics, options.confidence)
        return AlgorithmLists(
            decomposition=decomposition,
            example_variance=examples,
            replicate_predictions=replicate_curves(loaded),
            error_estimates=estimates,
            chosen_parameters=chosen_records(sample.predictions, sample.rows.layout.fits),
            criterion_choices=criterion_choices(criteria),
            learning_curves=points,
            learning_fits=fits,
        )
