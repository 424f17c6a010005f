"""Metrics as functions of the threshold: the sweep over all thresholds, and the definitions by counts alone."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import numpy.typing as npt

from evalreport.engine.derivative import ratio, zero_where_undefined
from evalreport.engine.tables import Counts
from evalreport.metrics.curves.ladder import Ladder
from evalreport.metrics.curves.registry import CURVES, Points, curve
from evalreport.metrics.registry import METRICS, Metric

Floats = npt.NDArray[np.float64]

SWEPT = ("accuracy", "balanced_accuracy", "f1", "mcc")
ONE_SIDED = frozenset(
    {
        "fnr", "fpr", "npv", "precision", "prevalence", "recall", "rule_confidence", "rule_lift", "rule_support",
        "specificity",
    }
)  # fmt: skip
"""Metrics of one kind of error: any value can be bought with the other kind, so no threshold is best."""


def has_a_best_threshold(metric: Metric) -> bool:
    """Say whether a metric of predicted labels weighs both kinds of error and has a better direction."""
    of_labels = metric.family in ("binary_table", "table") and "binary" in metric.tasks
    return of_labels and metric.greater_is_better is not None and metric.name not in ONE_SIDED


def by_counts(name: str, counts: Counts) -> Floats:
    """Return a label metric of two classes at TP, FP, FN, TN of any shape; 0 where it is 0/0, as everywhere.

    The metrics that are asked for at every threshold of every replicate are written out; they are the registry's.
    """
    if name in WRITTEN_OUT:
        return zero_where_undefined(WRITTEN_OUT[name](counts))
    metric = METRICS[name]
    if metric.family == "binary_table":
        return zero_where_undefined(metric.function(counts))
    tp, fp, fn, tn = counts
    margins = np.stack(
        [np.stack(pair, axis=-1) for pair in ((tn, tp), (tn + fp, tp + fn), (tn + fn, tp + fp))], axis=-2
    )
    return zero_where_undefined(metric.function(margins))


def _accuracy(c: Counts) -> Floats:
    return ratio(c.tp + c.tn, c.tp + c.fp + c.fn + c.tn)


def _balanced_accuracy(c: Counts) -> Floats:
    return np.asarray((ratio(c.tp, c.tp + c.fn) + ratio(c.tn, c.tn + c.fp)) / 2)


def _mcc(c: Counts) -> Floats:
    product = (c.tp + c.fp) * (c.tp + c.fn) * (c.tn + c.fp) * (c.tn + c.fn)
    return ratio(c.tp * c.tn - c.fp * c.fn, np.sqrt(product))


WRITTEN_OUT: dict[str, Callable[[Counts], Floats]] = {
    "accuracy": _accuracy,
    "balanced_accuracy": _balanced_accuracy,
    "mcc": _mcc,
}


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
