"""Metrics as functions of the threshold: the sweep over all thresholds, and the definitions by counts alone."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from evalreport.engine.derivative import zero_where_undefined
from evalreport.engine.tables import Counts
from evalreport.metrics.curves.ladder import Ladder
from evalreport.metrics.curves.registry import CURVES, Points, curve
from evalreport.metrics.registry import METRICS, Metric

Floats = npt.NDArray[np.float64]

SWEPT = ("accuracy", "balanced_accuracy", "f1", "mcc")


def has_a_best_threshold(metric: Metric) -> bool:
    """Say whether a metric of predicted labels weighs both kinds of error and has a better direction."""
    of_labels = metric.family in ("binary_table", "table") and "binary" in metric.tasks
    return of_labels and metric.greater_is_better is not None and not metric.one_sided


def by_counts(name: str, counts: Counts) -> Floats:
    """Return a label metric of two classes at TP, FP, FN, TN of any shape; 0 where it is 0/0, as everywhere.

    Some metrics have a faster form for two classes, ``of_counts``: this is asked for at every threshold and replicate.
    """
    metric = METRICS[name]
    if metric.of_counts is not None:
        return zero_where_undefined(metric.of_counts(counts))
    if metric.family == "binary_table":
        return zero_where_undefined(metric.function(counts))
    tp, fp, fn, tn = counts
    margins = np.stack(
        [np.stack(pair, axis=-1) for pair in ((tn, tp), (tn + fp, tp + fn), (tn + fn, tp + fp))], axis=-2
    )
    return zero_where_undefined(metric.function(margins))


def _register(name: str) -> None:
    def sweep(ladder: Ladder) -> Points:
        values = by_counts(name, ladder.counts)
        return Points(ladder.thresholds[::-1], values[:0:-1])

    label = METRICS[name].label
    sweep.__doc__ = f"{label} of the decisions at each threshold."
    curve(f"{label} by threshold", x="Threshold", y=label, name=f"sweep_{name}")(sweep)


for _name in SWEPT:
    _register(_name)

SWEEPS = tuple(name for name in CURVES if name.startswith("sweep_"))
