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
    What stands below the horizontal axis; the metric of the results if empty.
index, key
    The model's place in the ranking, from 0, and what names the drawn parts so that a page can hide them.
name
    What stands above; the model's name if None.
title
    What stands above.
names
    What is said for a model; its name if None.
legend
    Whether the models are named: beside the ends of their lines, in colour the contenders, the others as a number.
highlight
    The models that are drawn in colour; those that are not clearly behind on the metric of the chart if None, of more
    than six models at most four of them; and the baseline.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from evalreport.plots.style import report_style as report_style

# The public name of each chart: the module it is in, and its name there.
_CHARTS = {
    "values": ("pairs", "values"),
    "forest": ("pairs", "forest"),
    "fold_differences": ("pairs", "strip"),
    "critical_differences": ("pairs", "critical_differences"),
    "roc": ("curves", "roc"),
    "precision_recall": ("curves", "precision_recall"),
    "error_rates": ("thresholds", "error_rates"),
    "threshold_sweep": ("thresholds", "sweep"),
    "score_histogram": ("thresholds", "score_histogram"),
    "reliability": ("thresholds", "reliability"),
    "accuracy_rejection": ("thresholds", "accuracy_rejection"),
    "gain": ("thresholds", "gain"),
    "lift": ("thresholds", "lift"),
    "confusion": ("pairs", "confusion"),
    "predicted_true": ("thresholds", "predicted_true"),
    "residuals": ("thresholds", "residuals"),
    "by_slice": ("pairs", "by_slice"),
    "error_estimates": ("estimates", "estimates"),
    "learning_curves": ("estimates", "learning"),
    "bias_variance": ("estimates", "bias_variance"),
    "bias_variance_course": ("estimates", "bias_variance_course"),
    "replicates": ("estimates", "replicates"),
    "f1_at_recall": ("pictures", "f1_at_recall"),
    "count_sets": ("pictures", "count_sets"),
}
_CONTEXTS = {"report_style": ("style", "report_style")}

__all__ = [*_CHARTS, *_CONTEXTS]


def __getattr__(name: str) -> Callable[..., Axes]:
    place = (_CHARTS | _CONTEXTS).get(name)
    if place is None:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    chart: Callable[..., Axes] = getattr(importlib.import_module(f"{__name__}.{place[0]}"), place[1])
    return chart


def __dir__() -> list[str]:
    return sorted(__all__)
