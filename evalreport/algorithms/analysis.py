"""Everything that a run says about learning algorithms, by its name in the results."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from evalreport.algorithms.decomposition import decomposition_records, replicate_curves
from evalreport.algorithms.error_estimators import chosen_records
from evalreport.algorithms.estimates import criterion_choices, error_estimate_records
from evalreport.algorithms.learning_curves import (
    chosen_points,
    curve_fits,
    curve_points,
    decomposed_points,
    family_points,
)
from evalreport.config import Options
from evalreport.data.predictions import Predictions
from evalreport.data.selection import series_of
from evalreport.errors import UsageError
from evalreport.metrics.criteria import criteria_records
from evalreport.metrics.sample import Sample
from evalreport.results import ResultFields


def about_algorithms(
    whole: Predictions, loaded: Predictions, samples: Sequence[Sample], options: Options
) -> ResultFields:
    """Return the fields of the results that are about algorithms; nothing for independent test sets.

    Parameters
    ----------
    whole
        The whole table, with every point of learning and complexity curves.
    loaded
        The same at one point of each curve, with training rows and rows in the bag.
    samples
        The estimates on its test rows; several where the models have test sets of their own.
    """
    if len(samples) != 1:
        return {}
    # Squares of numbers near the largest double are infinite; such figures are left out or null.
    with np.errstate(over="ignore", invalid="ignore"):
        return _fields(whole, loaded, samples[0], options)


def _fields(whole: Predictions, loaded: Predictions, sample: Sample, options: Options) -> ResultFields:
    estimates = error_estimate_records(loaded, sample, options)
    decomposition, examples = decomposition_records(loaded, options)
    fields = {
        "decomposition": decomposition,
        "example_variance": examples,
        "replicate_predictions": replicate_curves(loaded),
        "error_estimates": estimates,
        "chosen_parameters": chosen_records(sample.predictions, sample.rows.layout.fits),
        "criterion_choices": criterion_choices(criteria_records(loaded, options.metrics, options.confidence)),
        "learning_curves": family_points(sample.predictions, estimates),
    }
    series = series_of(whole)
    if series is not None:
        used, _ = chosen_points(whole, series)
        fields["learning_curves"] = curve_points(whole, series, used, options)
        fields["learning_fits"] = curve_fits(whole, series, options)
        fields["decomposition"] = decomposed_points(whole, series, options)
    return fields


def require_decomposable(whole: Predictions, options: Options) -> None:
    """Refuse options of the decomposition that would change nothing.

    Raises
    ------
    UsageError
        A noise level without replicates of a regression, or Kohavi and Wolpert's split without replicates of labels;
        either beside weights.
    """
    replicated = options.weight is None and (whole.design == "bootstrap" or "replicate" in whole.keys)
    if options.noise is not None and not (replicated and whole.task == "regression"):
        raise UsageError(
            "--noise is about the bias and variance of regression replicates, and these files hold none: leave it out"
        )
    if options.same_input is not None and not replicated:
        raise UsageError(
            "--same-input is about bias and variance, which need a column replicate: leave it out"
        )
    if options.kohavi_wolpert and not (replicated and whole.classes):
        raise UsageError(
            "--kohavi-wolpert is about replicates of predicted labels, and these files hold none: leave it out"
        )
