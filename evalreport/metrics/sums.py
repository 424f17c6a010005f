"""Metrics of sums by unit: true and false positives of documents, images or patients, or errors in a total."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

import numpy as np

from evalreport.engine.counts import Counts
from evalreport.engine.distributions import Array, Columns, ratio
from evalreport.metrics.metric import ClassCounts, Function, Margins, Metric
from evalreport.metrics.registry import Quantity, definition, moments
from evalreport.metrics.views import ModelView
from evalreport.predictions.arrays import Floats, required
from evalreport.predictions.numbers import ERRORS, of_label
from evalreport.predictions.table import Predictions
from evalreport.texts import Message


@moments(
    "Error ratio",
    "errors / total",
    tasks=(),
    needs="sums",
    sums=ERRORS,
    columns=None,
    range=(0.0, float("inf")),
    greater_is_better=False,
    intervals=("unit_log",),
    difference_interval="unit_plus",
    undefined=Message("undefined.no_total"),
    headline=True,
)
def error_ratio(sums: Array) -> Array:
    """Errors of all units over their total: word and character error rates. It may exceed 1."""
    return ratio(sums[..., 1], sums[..., 2])


def summed_names(numbers: Collection[str]) -> frozenset[str]:
    """Return which sums a model has, without their labels.

    Examples
    --------
    >>> sorted(summed_names(["tp@0", "fp@0", "tp@1", "fp@1"]))
    ['fp', 'tp']
    """
    return frozenset(name.partition("@")[0] for name in numbers)


def columns_of_sums(view: ModelView, quantity: Quantity, predictions: Predictions) -> Columns:
    """Return ones and the sums (n,) that a quantity is a function of: of all labels, of one, or of each in turn."""
    names, labels = definition(quantity).sums, predictions.classes
    if quantity.label is not None:
        codes: Sequence[int] = (predictions.labels.codes[quantity.label],)
    else:
        codes = range(len(labels))
    if not labels:
        columns = [view.numbers[name] for name in names]
    elif quantity.average == "micro":
        columns = [_over_labels(view.numbers, name, codes) for name in names]
    else:
        columns = [view.numbers[of_label(name, code)] for code in codes for name in names]
    return (np.ones(len(columns[0])), *columns)


def _over_labels(numbers: Mapping[str, Floats], name: str, codes: Sequence[int]) -> Floats:
    return np.asarray(np.sum([numbers[of_label(name, code)] for code in codes], axis=0))


def function_of_sums(quantity: Quantity) -> Function:
    """Return the function of the totals (..., 1 + p) of ``columns_of_sums``.

    A macro average is the mean over the labels that have a denominator.
    """
    metric = definition(quantity)
    width = len(metric.sums)

    def of_one(totals: Array) -> Array:
        return _value(metric, totals)

    def of_each(totals: Array) -> Array:
        by_label = totals.reshape(*totals.shape[:-1], -1, width)
        values = _value(metric, by_label)
        defined = ~np.isnan(values.real)
        return ratio(np.where(defined, values, 0).sum(axis=-1), defined.sum(axis=-1))

    inner = of_each if quantity.average == "macro" else of_one
    return lambda sums: inner(sums[..., 1:])


def _value(metric: Metric, totals: Array) -> Array:
    computation = metric.computation
    parts = dict(zip(metric.sums, np.moveaxis(totals, -1, 0), strict=True))
    if not isinstance(computation, ClassCounts | Margins):
        with_ones = np.concatenate([np.ones_like(totals[..., :1]), totals], axis=-1)
        return np.asarray(computation.function(with_ones))
    counts = Counts(parts["tp"], parts["fp"], parts["fn"], parts.get("tn", np.zeros_like(parts["tp"])))
    function = required(computation.of_counts if isinstance(computation, Margins) else computation.function)
    return np.asarray(function(counts))


def labels_without_denominator(predictions: Predictions, quantity: Quantity, model: int) -> list[str]:
    """Return the labels that a macro average leaves out, for want of a denominator in one model's sums."""
    names, numbers = definition(quantity).sums, predictions.models[model].numbers
    labels = []
    for code, label in enumerate(predictions.classes):
        totals = np.array([numbers[of_label(name, code)].sum() for name in names])
        if np.isnan(_value(definition(quantity), totals)):
            labels.append(label)
    return labels
