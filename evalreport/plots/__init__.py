"""Charts of results: one function a chart, on the axes given or on new ones, for notebooks and for the report.

>>> import evalreport as er
>>> from evalreport import plots
>>> scores = {"forest": {"p_1": [0.9, 0.2, 0.7, 0.4]}, "logreg": {"p_1": [0.6, 0.5, 0.7, 0.1]}}
>>> results = er.evaluate(scores, truth=[1, 0, 1, 0], resamples=100)
>>> axes = plots.precision_recall(results)

A chart of all models is called as ``chart(results, ax=None)``, one of a single model as
``chart(results, model, ax=None)``; everything else goes by keyword, and the axes come back. With ``report_style()``
around it a chart has the report's font and colours. Importing this package does not import matplotlib.

What charts take by the same name means the same, unless a chart says otherwise:

Parameters
----------
model
    The model's name in the results.
ax
    Matplotlib axes; new ones if None.
axis_label
    The label of the horizontal axis; the metric of the results if empty.
index, key
    The model's place in the ranking, from 0, and the name of the drawn parts, by which a page can hide them.
name
    The title above the axes; the model's name if None.
title
    The title above the axes.
names
    Names of models to write; the model's own if None.
legend
    Whether the models are named: beside the ends of their lines, in colour the contenders, the others as a number.
highlight
    The models that are drawn in colour; those that are not clearly behind on the metric of the chart if None, of more
    than six models at most four of them; and the baseline.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from evalreport.plots.style import report_style as report_style

__all__ = [
    "values",
    "forest",
    "fold_differences",
    "critical_differences",
    "roc",
    "precision_recall",
    "error_rates",
    "threshold_sweep",
    "score_histogram",
    "reliability",
    "calibration_curve",
    "net_benefit",
    "net_benefit_difference",
    "interventions_avoided",
    "murphy",
    "murphy_difference",
    "miscalibration_discrimination",
    "quality_against_cost",
    "coverage_by_level",
    "width_by_level",
    "accuracy_rejection",
    "gain",
    "lift",
    "confusion",
    "predicted_true",
    "residuals",
    "by_slice",
    "over_time",
    "error_estimates",
    "learning_curves",
    "bias_variance",
    "bias_variance_course",
    "replicates",
    "f1_at_recall",
    "count_sets",
    "report_style",
]


def __getattr__(name: str) -> Callable[..., Axes]:
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    # On first use, because charts import numpy.
    from evalreport.plots import calibration, curves, estimates, pairs, pictures, scores, style, thresholds
    from evalreport.questions.costs import charts as of_costs
    from evalreport.questions.coverage import charts as of_coverage

    modules = (
        calibration,
        curves,
        estimates,
        pairs,
        pictures,
        scores,
        style,
        thresholds,
        of_costs,
        of_coverage,
    )
    chart: Callable[..., Axes] = next(getattr(m, name) for m in modules if hasattr(m, name))
    return chart


def __dir__() -> list[str]:
    return sorted(__all__)
