"""The registry of metrics: a metric is one documented function under a decorator that says its family.

Everything else (value, interval, paired difference, influence values, row in ``evalreport list metrics``,
glossary entry in the report) follows from that function.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import fields, replace
from functools import cache, partial
from typing import Any, TypeVar

import numpy as np

from evalreport.engine.distributions import Array, Columns, ratio
from evalreport.metrics.metric import (
    MEAN_INTERVALS,
    PROPORTION_INTERVALS,
    TABLE_INTERVALS,
    Affine,
    ClassCounts,
    Computation,
    Contingency,
    Display,
    Function,
    Inference,
    Margins,
    Metric,
    Moments,
    PredictionPoweredMean,
    Ranks,
    RowWise,
    Scale,
)
from evalreport.options import Task
from evalreport.predictions.arrays import required
from evalreport.registry import Registry, summary_of, unknown_name
from evalreport.schema.metrics import Quantity as Quantity
from evalreport.texts import Message

Decorator = Callable[[Function], Function]
Fields = dict[str, Any]
"""Keywords of a decorator that several metrics share."""
Record = TypeVar("Record")


class Metrics(Registry[Metric]):
    """The registered metrics; those with a number also by their spelling with it, such as ``pass@5``."""

    def __getitem__(self, name: str) -> Metric:
        known = self._entries.get(name) or self.with_number(name)
        return super().__getitem__(name) if known is None else known

    def __contains__(self, name: object) -> bool:
        return super().__contains__(name) or (isinstance(name, str) and self.with_number(name) is not None)

    def with_number(self, name: str) -> Metric | None:
        """Return the metric that a spelling with a number names; None: there is none."""
        for metric in self._entries.values():
            number = metric.parameter or metric.numbered
            if number is not None and (x := number.read(name)) is not None:
                return _with_number(metric, x)
        return None


METRICS = Metrics("metric")


@cache
def _with_number(metric: Metric, x: float) -> Metric:
    """Return a metric with its number."""
    computation, number = metric.computation, required(metric.parameter or metric.numbered)
    given = replace(number, value=x)
    if isinstance(computation, Moments):
        per_example = partial(required(computation.per_example), at=x)
        columns = columns_of(per_example)
        computation = replace(computation, per_example=per_example, columns=columns, numbered=given)
    elif isinstance(computation, RowWise):
        function, derivative = partial(computation.function, at=x), computation.derivative
        slopes = None if derivative is None else partial(derivative, at=x)
        computation = replace(computation, function=function, derivative=slopes, parameter=given)
    shown = replace(metric.display, label=number.label.format(x=f"{x:g}"))
    named = replace(metric, name=number.spelled(x), computation=computation, display=shown)
    if number.name:
        return named
    # That of k = 1 is the mean outcome.
    return replace(
        named,
        scale=replace(metric.scale, undefined=Message("undefined.fewer_attempts", k=x)),
        display=replace(shown, headline=shown.headline and x > 1),
    )


LABELS: Fields = {
    "tasks": ("binary", "multiclass"),
    "needs": "labels",
    "intervals": TABLE_INTERVALS,
    "difference_interval": "plus_two",
}


def register(family: type[Computation], documented: Function, **keywords: Any) -> Function:
    """Add a metric; its name is the function's, its summary the first sentence of the docstring.

    Parameters
    ----------
    family
        The record of how it is computed.
    keywords
        The fields of that record, of ``Scale``, ``Inference``, ``Display`` and ``Metric``, in any order.

    Raises
    ------
    TypeError
        Where a keyword is no field of these records, or one that they need is missing.
    """
    name = documented.__name__
    given = {"function": documented, "summary": summary_of(documented), **keywords}
    records: Fields = {
        "computation": _taken(family, given),
        "scale": _taken(Scale, given),
        "inference": _taken(Inference, given),
        "display": _taken(Display, given),
    }
    own = {
        key: given.pop(key)
        for key in ("tasks", "needs", "least_classes", "sums", "ordered", "only_named")
        if key in given
    }
    for unknown in given:
        others = " and ".join(other.__name__ for other in FAMILIES if unknown in _names(other))
        if others:
            raise TypeError(f"metric {name!r}: {unknown!r} belongs to {others}, not to {family.__name__}")
        known = [field for record in (family, Scale, Inference, Display, Metric) for field in _names(record)]
        raise TypeError(f"metric {name!r}: {unknown_name('keyword', unknown, known)}")
    METRICS.add(Metric(name=name, **records, **own))
    return documented


FAMILIES: tuple[type[Computation], ...] = Computation.__args__


def _names(record: type[Any]) -> list[str]:
    return [field.name for field in fields(record)]


def _taken(record: type[Record], given: Fields) -> Record:
    """Build a record from the keywords that are its fields, and remove these."""
    return record(**{name: given.pop(name) for name in _names(record) if name in given})


def _family(family: type[Computation], **usual: Any) -> Callable[..., Decorator]:
    """Return the decorator ``(label, formula, **keywords)`` of a family, with the usual fields of its metrics."""

    def decorator(label: str, formula: str, **keywords: Any) -> Decorator:
        given = {**usual, **keywords}
        if "proportion" in given and family in (ClassCounts, Margins):
            given = {**given, "intervals": (*PROPORTION_INTERVALS, *TABLE_INTERVALS), **keywords}
        if given.get("sums"):
            given = {**given, "tasks": (*given["tasks"], "sums")}
        return lambda function: register(family, function, **{"label": label, "formula": formula, **given})

    return decorator


binary_table = _family(ClassCounts, averages=("macro", "micro", "weighted"), **LABELS)
"""Register a function of ``Counts``, each (...), returning (...)."""

table = _family(Margins, **LABELS)
"""Register a function of margins (..., 3, K), returning (...)."""

moments = _family(Moments)
"""Register a function of weighted sums (..., p) of ``columns``, returning (...)."""

ranking = _family(Ranks, tasks=("binary",), needs="scores")
"""Register a function of ``RankedWeights``, the weights (g, ...) of each group of tied scores in order."""

at_corners = _family(
    Ranks,
    tasks=("binary",),
    needs="scores",
    smooth=False,
    intervals=("threshold_wilson", "bootstrap_percentile"),
)
"""Register a function of ``RankedWeights`` at the corners of the ROC curve, which has no derivative."""

rows = _family(RowWise)
"""Register a function of (state, weights), the weights (b, n), returning (b,); ``prepare`` makes the state."""

contingency = _family(
    Contingency, tasks=("clustering",), needs="groups",
    undefined=Message("undefined.one_group"),
)  # fmt: skip
"""Register a function of ``clustering.Overlap``."""

prediction_powered = _family(
    PredictionPoweredMean, tasks=("outcome",), needs="gold", range=(-float("inf"), float("inf")), intervals=("ppi",),
    difference_interval="ppi", test="ppi", resampled=False, share_of_right=True,
)  # fmt: skip
"""Register a function of (outcomes, gold), each (n,), which estimates the mean of gold over all rows."""


def weighted_mean(sums: Array) -> Array:
    """Return the mean from the sums of weights and of weighted losses: sums[..., 1] / sums[..., 0]."""
    return ratio(sums[..., 1], sums[..., 0])


def columns_of(loss: Function) -> Function:
    """Return the columns of the mean of a loss: ones, and the losses."""

    def columns(view: Any) -> Columns:
        losses = np.asarray(loss(view), dtype=np.float64)
        return np.ones(len(losses)), losses

    return columns


MEAN: Fields = {
    "function": weighted_mean,
    "intervals": ("t_or_hall_df", *MEAN_INTERVALS),
    "difference_interval": "t",
    "test": "paired_t",
    "greater_is_better": False,
}


def mean_loss(label: str, formula: str, *, per_example: Function | None = None, **keywords: Any) -> Decorator:
    """Register the mean of a per-example loss: the decorated function maps a ``ModelView`` to (n,).

    Where the function has another form, ``per_example`` is the one of that form.
    """

    def _decorate(function: Function) -> Function:
        loss = per_example or function
        given = {**MEAN, "columns": columns_of(loss), "per_example": loss, **keywords}
        return moments(label, formula, **given)(function)

    return _decorate


def affine(label: str, formula: str, *, of: str, **shown: Any) -> Decorator:
    """Register a metric that is another one on another scale: the decorated function maps that one's value to this.

    Everything that holds of the base holds of it: its range, derivative, tests and intervals, the limits of which are
    mapped. It is shown by fields of ``Display`` of its own.

    Parameters
    ----------
    of
        The name of the base, which is registered already.
    shown
        Further fields of ``Display``.

    Raises
    ------
    ValueError
        Where the function is not a straight line with a slope.

    Examples
    --------
    A correlation in [-1, 1] put on the scale of [0, 1]:

    >>> affine_map(lambda mcc: (mcc + 1) / 2, "mcc")
    Affine(of='mcc', slope=0.5, offset=0.5)
    """

    def _decorate(function: Function) -> Function:
        scale = affine_map(function, of)
        shown_as = {
            "source": METRICS[of].display.source,
            "shown_with": METRICS[of].display.shown_with,
            **shown,
        }
        display = Display(label=label, formula=formula, summary=summary_of(function), **shown_as)
        METRICS.add(_on_another_scale(METRICS[of], function.__name__, scale, display))
        return function

    return _decorate


def affine_map(function: Function, of: str) -> Affine:
    """Return the slope and the offset of a straight line, from its values at 0 and 1.

    Raises
    ------
    ValueError
        Where the value at 2 is off that line, or the slope is 0.
    """
    offset = float(function(0.0))
    mapped_value = Affine(of, float(function(1.0)) - offset, offset)
    if not mapped_value.slope or abs(float(function(2.0)) - mapped_value.forward(2.0)) > 1e-9 * abs(
        mapped_value.slope
    ):
        raise ValueError(f"{function!r} is no straight line with a slope of the value of {of!r}")
    return mapped_value


def _on_another_scale(base: Metric, name: str, scale: Affine, display: Display) -> Metric:
    """Return the base with everything that is on its scale mapped; the intervals' functions are given the base."""

    def valued(of_base: Function | None) -> Function | None:
        return None if of_base is None else lambda *state: scale.forward(of_base(*state))

    def sloped(of_base: Function) -> Function:
        def slopes(*state: Any) -> Any:
            found = of_base(*state)
            parts = found if isinstance(found, tuple) else (found,)
            scaled = tuple(scale.slope * part for part in parts)
            return scaled if isinstance(found, tuple) else scaled[0]

        return slopes

    values, better = base.scale, base.scale.greater_is_better
    computation: Fields = {
        field: getattr(base.computation, field) for field in _names(type(base.computation))
    }
    for key in {"function", "per_example", "mean_over_pairs", "of_counts"} & computation.keys():
        computation[key] = valued(computation[key])
    if computation.get("derivative") is not None:
        computation["derivative"] = sloped(computation["derivative"])
    if "recall_slope" in computation:
        computation["recall_slope"] *= scale.slope
    # True of the base itself only.
    only = {
        "monotone_of": None,
        "root_of": "",
        "from_squares": None,
        "micro_is_accuracy": False,
        "criterion": "",
    }
    computation.update((key, value) for key, value in only.items() if key in computation)
    return replace(
        base,
        name=name,
        tasks=tuple(task for task in base.tasks if task != "sums"),
        sums=(),
        computation=type(base.computation)(**computation),
        scale=replace(
            values,
            range=scale.limits(*values.range),
            binary_range=None if values.binary_range is None else scale.limits(*values.binary_range),
            greater_is_better=better if better is None or scale.slope > 0 else not better,
            uninformed=None if values.uninformed is None else scale.forward(values.uninformed),
            share_of_right=False,
            affine_of=scale,
        ),
        display=display,
    )


PRIMARY: dict[Task, str] = {
    "binary": "accuracy",
    "multiclass": "accuracy",
    "regression": "rmse",
    "outcome": "mean_outcome",
    "scores": "mean_value",
    "clustering": "adjusted_rand",
    "sums": "f1",
    "intervals": "wis",
    "sets": "coverage",
}
"""The primary metric by task, unless one is named."""

OF_THE_POSITIVE = frozenset({"precision", "recall", "f1", "f0_5", "f2", "jaccard"})
"""Metrics that, of two classes, are about the positive one: a sentence names it."""

JUDGED = "mean_gold"
"""The primary metric where some of the answers have gold, unless one is named."""


def slopes_of_ranks() -> dict[str, Function]:
    """Return the derivatives of the rank metrics, by name; without metrics that are another one on another scale.

    Each takes the weights (g,) of positives and negatives of each group of tied scores, best first, and returns its
    derivatives (g,) by the weight of a positive and of a negative of each group.
    """
    own = _on_a_scale_of_their_own(Ranks)
    return {name: ranks.derivative for name, ranks in own if ranks.derivative is not None}


def losses_of_probability() -> dict[str, Function]:
    """Return the mean losses of two classes, by name; without metrics that are another one on another scale.

    Each takes the probability of the positive class, the truth (1 or 0) and a function that takes logarithms; arrays
    and an engine's columns alike.
    """
    own = _on_a_scale_of_their_own(Moments)
    return {name: moments.of_probability for name, moments in own if moments.of_probability is not None}


def _on_a_scale_of_their_own(family: type[Record]) -> Iterator[tuple[str, Record]]:
    for metric in METRICS.values():
        if isinstance(metric.computation, family) and metric.scale.affine_of is None:
            yield metric.name, metric.computation


def definition(quantity: Quantity) -> Metric:
    """Return the registered metric of a quantity."""
    return METRICS[quantity.metric]


def greater_is_better(quantity: Quantity, *, lower_is_better: bool = False) -> bool:
    """Say whether a larger value is better; ``--lower-is-better`` turns outcomes and values round, nothing else."""
    metric = definition(quantity)
    if lower_is_better and metric.scale.turnable:
        return metric.scale.greater_is_better is False
    return metric.scale.greater_is_better is True


def of_family(quantities: Iterable[Quantity], *families: type[Computation]) -> list[Quantity]:
    """Return the quantities whose metrics are of one of the families."""
    return [q for q in quantities if isinstance(definition(q).computation, families)]
