"""All records about algorithms."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields
from typing import Any

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
from evalreport.metrics.criteria import criteria_records
from evalreport.metrics.sample import Sample
from evalreport.options import Options
from evalreport.predictions.series import series_of
from evalreport.predictions.table import Predictions
from evalreport.schema.algorithms import (
    ChosenRecord,
    CriterionChoiceRecord,
    DecompositionRecord,
    ErrorEstimateRecord,
    ExampleVarianceRecord,
    LearningFitRecord,
    LearningPointRecord,
)
from evalreport.schema.curves import CurveRecord


@dataclass(frozen=True, slots=True, kw_only=True)
class AlgorithmRecords:
    """The lists of the results that are about algorithms."""

    decomposition: tuple[DecompositionRecord, ...] = ()
    example_variance: tuple[ExampleVarianceRecord, ...] = ()
    replicate_predictions: tuple[CurveRecord, ...] = ()
    error_estimates: tuple[ErrorEstimateRecord, ...] = ()
    chosen_parameters: tuple[ChosenRecord, ...] = ()
    criterion_choices: tuple[CriterionChoiceRecord, ...] = ()
    learning_curves: tuple[LearningPointRecord, ...] = ()
    learning_fits: tuple[LearningFitRecord, ...] = ()

    @property
    def by_field(self) -> dict[str, Any]:
        """The lists by the field of the results that holds them, which has the same name."""
        return {field.name: getattr(self, field.name) for field in fields(self)}


def algorithm_records(
    whole: Predictions, loaded: Predictions, samples: Sequence[Sample], options: Options
) -> AlgorithmRecords:
    """Return all records about algorithms; none for independent test sets.

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
        return AlgorithmRecords()
    sample = samples[0]
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
        return AlgorithmRecords(
            decomposition=decomposition,
            example_variance=examples,
            replicate_predictions=replicate_curves(loaded),
            error_estimates=estimates,
            chosen_parameters=chosen_records(sample.predictions, sample.rows.layout.fits),
            criterion_choices=criterion_choices(criteria),
            learning_curves=points,
            learning_fits=fits,
        )
