"""Label quantities as functions of the margins of a table of counts: their values and derivatives."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property
from typing import Literal

import numpy as np

from evalreport.engine.counts import Counts, one_vs_rest, two_classes
from evalreport.engine.distributions import Array, ratio, slopes_at, slopes_by_each, zero_where_undefined
from evalreport.metrics.metric import ClassCounts, Margins, Metric
from evalreport.metrics.registry import Quantity, definition
from evalreport.predictions.arrays import Floats
from evalreport.predictions.table import Predictions


@dataclass(frozen=True)
class TableFunctions:
    """Values and derivatives of label quantities at the same margins; what quantities share is computed once.

    Counts are kept, and what the classes have of the last metric: its averages and classes follow one another.

    Attributes
    ----------
    margins
        (..., 3, K): right, true and predicted of each class.
    collapsed
        Whether there are two classes, the one that a quantity is about and all others.
    """

    margins: Floats
    predictions: Predictions
    collapsed: bool = False
    _values: dict[str, Floats] = field(default_factory=dict)
    _slopes: dict[tuple[str, bool], Floats] = field(default_factory=dict)

    @cached_property
    def counts(self) -> Counts:
        """The counts (..., K) of every class against the rest."""
        return one_vs_rest(self.margins)

    @cached_property
    def pooled(self) -> Counts:
        """The sums (..., 1) of the counts over the classes."""
        return Counts(*(part.sum(-1, keepdims=True) for part in self.counts))

    def value(self, quantity: Quantity) -> Floats:
        """Return the quantity (...), nan where it is 0/0 and no average."""
        metric = definition(quantity)
        if isinstance(metric.computation, Margins):
            return np.asarray(metric.computation.function(self.margins))
        if quantity.average is None and quantity.label is None:
            return np.asarray(metric.computation.function(self.of_class(quantity)))
        if quantity.average is None:
            return self._by_class(metric)[..., self._code(quantity)]
        if quantity.average == "micro":
            return np.asarray(metric.computation.function(self.pooled))[..., 0]
        values = zero_where_undefined(self._by_class(metric))
        if quantity.average == "macro":
            return np.asarray(values[..., : len(self.predictions.classes)].mean(-1))
        true = self.margins[..., 1, :]
        return ratio((values * true).sum(-1), true.sum(-1))

    def of_class(self, quantity: Quantity) -> Counts:
        """Return the counts (...) of the class that a quantity is about, against the rest."""
        code, negatives = self._code(quantity), answers_outside(quantity, self.predictions)
        if negatives:
            return two_classes(self.margins, code, by_answer=negatives == "answers")
        return Counts(*(part[..., code] for part in self.counts))

    def _code(self, quantity: Quantity) -> int:
        return 0 if self.collapsed else class_code(quantity, self.predictions)

    def _by_class(self, metric: Metric) -> Floats:
        """Return a metric's values (..., K) of every class, nan where 0/0."""
        if metric.name not in self._values:
            self._values.clear()
            self._values[metric.name] = np.asarray(metric.computation.function(self.counts))
        return self._values[metric.name]

    def slopes(self, quantity: Quantity) -> Floats:
        """Return the derivatives (..., 3, K) of a quantity by the margins; 0 where it is undefined.

        A metric of one class against the rest has four derivatives for any number of classes.
        """
        metric, m = definition(quantity), self.margins
        if isinstance(metric.computation, Margins) or answers_outside(quantity, self.predictions):
            function = table_function(quantity, self.predictions)
            return slopes_at(lambda at: zero_where_undefined(function(at)), m, 2)
        if quantity.average is None:
            code = self._code(quantity)
            return by_margins(self.by_count(quantity)[..., None, :], m, slice(code, code + 1))
        if quantity.average == "micro":
            everywhere = np.broadcast_to(self._by_count(metric, pooled=True), (*m[..., 0, :].shape, 4))
            return by_margins(everywhere, m, slice(None))
        k = len(self.predictions.classes) if quantity.average == "macro" else m.shape[-1]
        by_count, true = self._by_count(metric)[..., :k, :], m[..., 1, :]
        if quantity.average == "macro":
            return by_margins(by_count / k, m, slice(k))
        total = true.sum(-1, keepdims=True)
        share, value = true / total, zero_where_undefined(self._by_class(metric))
        found = by_margins(by_count * share[..., None], m, slice(None))
        found[..., 1, :] += (value - (value * share).sum(-1, keepdims=True)) / total
        return found

    def by_count(self, quantity: Quantity) -> Floats:
        """Return the derivatives (..., 4) of a single class's quantity by its TP, FP, FN and TN; 0 where undefined."""
        metric = definition(quantity)
        if quantity.label is None:
            return self._slopes_of(metric, self.of_class(quantity))
        return self._by_count(metric)[..., self._code(quantity), :]

    def _by_count(self, metric: Metric, *, pooled: bool = False) -> Floats:
        """Return a metric's derivatives (..., K, 4) by the counts of every class; pooled: by their sums (..., 1, 4)."""
        if (metric.name, pooled) not in self._slopes:
            if (metric.name, not pooled) not in self._slopes:
                self._slopes.clear()
            counts = self.pooled if pooled else self.counts
            self._slopes[metric.name, pooled] = self._slopes_of(metric, counts)
        return self._slopes[metric.name, pooled]

    def _slopes_of(self, metric: Metric, counts: Counts) -> Floats:
        """Return a metric's derivatives (..., 4) at the counts (...) of classes against the rest."""
        function = metric.computation.function
        return slopes_by_each(lambda *parts: zero_where_undefined(function(Counts(*parts))), counts)


def by_margins(by_count: Floats, margins: Floats, classes: slice) -> Floats:
    """Return derivatives by the margins (..., 3, K) from those by the counts (..., k, 4) of some classes."""
    tp, fp, fn, tn = (by_count[..., j] for j in range(4))
    slopes = np.zeros_like(margins)
    slopes[..., 0, classes] = tp - fp - fn + tn
    slopes[..., 1, classes] = fn - tn
    slopes[..., 2, classes] = fp - tn
    # Every example, of any class, is one more true negative of the others.
    slopes[..., 1, :] += tn.sum(-1, keepdims=True)
    return slopes


def table_function(quantity: Quantity, predictions: Predictions) -> Callable[[Array], Array]:
    """Return the function of margins (..., 3, K) -> (...) that a label quantity is."""
    return lambda m: TableFunctions(m, predictions).value(quantity)


def class_code(quantity: Quantity, predictions: Predictions) -> int:
    """Return the code of the class that a class-wise quantity is about."""
    return predictions.positive_code if quantity.label is None else predictions.labels.codes[quantity.label]


def answers_outside(quantity: Quantity, predictions: Predictions) -> Literal["", "truth", "answers"]:
    """Return which negatives a metric of one of two classes counts where some examples have no prediction at all.

    Empty where every example has one, or no true negatives are counted.
    """
    computation = definition(quantity).computation
    outside = predictions.outside > 0 and predictions.task == "binary"
    return computation.negatives if outside and isinstance(computation, ClassCounts) else ""
