"""The table of charts: public name -> function."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from evalreport.plots import calibration, curves, estimates, pairs, pictures, scores, style, thresholds
from evalreport.questions.costs.charts import quality_against_cost
from evalreport.questions.coverage.charts import coverage_by_level, width_by_level

CHARTS: Mapping[str, Callable[..., Any]] = {
    "values": pairs.values,
    "forest": pairs.forest,
    "fold_differences": pairs.strip,
    "critical_differences": pairs.critical_differences,
    "roc": curves.roc,
    "precision_recall": curves.precision_recall,
    "error_rates": thresholds.error_rates,
    "threshold_sweep": thresholds.sweep,
    "score_histogram": thresholds.score_histogram,
    "reliability": thresholds.reliability,
    "calibration_curve": calibration.calibration_curve,
    "net_benefit": calibration.net_benefit,
    "net_benefit_difference": calibration.net_benefit_difference,
    "interventions_avoided": calibration.interventions_avoided,
    "murphy": scores.murphy,
    "murphy_difference": scores.murphy_difference,
    "miscalibration_discrimination": scores.miscalibration_discrimination,
    "quality_against_cost": quality_against_cost,
    "coverage_by_level": coverage_by_level,
    "width_by_level": width_by_level,
    "accuracy_rejection": thresholds.accuracy_rejection,
    "gain": thresholds.gain,
    "lift": thresholds.lift,
    "confusion": pairs.confusion,
    "predicted_true": thresholds.predicted_true,
    "residuals": thresholds.residuals,
    "by_slice": pairs.by_slice,
    "over_time": pairs.over_time,
    "error_estimates": estimates.estimates,
    "learning_curves": estimates.learning,
    "bias_variance": estimates.bias_variance,
    "bias_variance_course": estimates.bias_variance_course,
    "replicates": estimates.replicates,
    "f1_at_recall": pictures.f1_at_recall,
    "count_sets": pictures.count_sets,
    "report_style": style.report_style,
}
