"""The registry of metrics: a metric is one documented function under a decorator that says its family.

Everything else (value, interval, paired difference, influence values, row in ``evalreport list metrics``,
glossary entry in the report) follows from that function.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from evalreport.engine.derivative import ratio
from evalreport.keys import Task
from evalreport.registry import Registry, summary_of

Family = Literal["binary_table", "table", "moments", "ranking", "rows", "training"]
Needs = Literal["labels", "scores", "probabilities", "values", "outcomes", "training"]
Average = Literal["macro", "micro", "weighted"]
Function = Callable[..., Any]


BOOTSTRAP_INTERVALS = ("bootstrap_percentile", "bootstrap_basic", "bootstrap_normal")
SMOOTH_INTERVALS = ("bootstrap_bca", "normal", *BOOTSTRAP_INTERVALS)
PROPORTION_INTERVALS = ("wilson", "agresti_coull", "clopper_pearson", "jeffreys")


@dataclass(frozen=True, slots=True, kw_only=True)
class Metric:
    """One registered metric.

    Attributes
    ----------
    name, label
        The contract's name (``roc_auc``) and how a report writes it (``ROC AUC``).
    summary, formula
        One plain sentence; the definition in one line of text.
    family
        ``binary_table``: function of ``Counts``, averaged over classes where there are several;
        ``table``: function of margins (..., 3, K): diagonal, totals by true class, totals by predicted class;
        ``moments``: function of weighted sums (..., p) of per-example ``columns``;
        ``ranking``: function of the weights (g, ...) of positives and negatives along a model's sorted scores;
        ``training``: a criterion of training rows (``metrics.criteria``), no function of test predictions;
        ``rows``: function of a prepared state and weights (b, n), for what none of the others can express.
    tasks, needs
        Where it is defined; which output of the model it needs.
    function
        The definition; nan where undefined.
    range, binary_range
        Smallest and largest possible value (may be infinite); another one on two classes, where it differs.
    greater_is_better
        None where neither direction is better.
    averages
        For several classes, the averages that are computed; the first is what the bare name means.
    columns
        Moments only: maps a ``ModelView`` to (n, p), dense or sparse; the first column is ones.
    prepare
        Rows only: maps a ``ModelView`` to the state (sorted once, binned once) that the function is given; metrics
        that name the same ``prepare`` share it. With ``averages`` the function is given ``Chosen``.
    derivative
        Ranking: closed form by group, (d positives, d negatives), each (g,), from the two weights. Rows: closed
        form by example, (n,), from the state and weights (n,). None where there is none.
    binned
        Ranking only: the values (b,) from ``Bins`` and their ``BinWeights``, for replicates of very many rows.
    resampled
        Rows only: False where a replicate costs too much, so that there are no bootstrap intervals.
    proportion
        Where it is a binomial proportion: maps ``Counts`` (``table`` metrics: right, n; ``rows``: state and
        weights) to (successes, trials).
    intervals
        Names of the honest intervals, the recommended one first.
    difference_interval, test
        The recommended interval and test of a paired difference on one test set.
    smooth
        False where influence values do not exist, so no ``normal`` and no BCa interval.
    undefined
        When 0/0 occurs, in words; the value is then 0 by the field's convention, with this as the reason.
    why_undefined
        Rows only: maps a state to the reason where there is more than one.
    no_interval
        Why no interval of one model's value is honest; empty where ``intervals`` are.
    losses, less_moved
        Moments only: what the second column holds, where these are losses that are none negative; and the metric
        that single large ones move less.
    root_of_mean
        True where the value is the root of a mean of squares over the examples.
    recall_slope
        Where the value rises or falls in a straight line with the mean of the class recalls: by how much.
    extensive
        True where the value depends on how many examples there are, not only on their distribution.
    least_of_a_class
        With fewer examples of the rarest class its bootstrap intervals do not hold.
    least_classes
        Left out of a run that does not name it where there are fewer classes: it says nothing there.
    source
        Paper, equation or page.
    """

    name: str
    label: str
    summary: str
    formula: str
    family: Family
    tasks: tuple[Task, ...]
    needs: Needs
    function: Function
    range: tuple[float, float] = (0.0, 1.0)
    binary_range: tuple[float, float] | None = None
    greater_is_better: bool | None = True
    averages: tuple[Average, ...] = ()
    columns: Function | None = None
    prepare: Function | None = None
    derivative: Function | None = None
    resampled: bool = True
    binned: Function | None = None
    proportion: Function | None = None
    intervals: tuple[str, ...] = SMOOTH_INTERVALS
    difference_interval: str = "bootstrap_bca"
    test: str = "permutation"
    smooth: bool = True
    undefined: str = ""
    why_undefined: Function | None = None
    no_interval: str = ""
    losses: str = ""
    less_moved: str = ""
    root_of_mean: bool = False
    recall_slope: float = 0.0
    extensive: bool = False
    least_of_a_class: int = 0
    least_classes: int = 0
    source: str = ""

    @property
    def replicates_hold(self) -> bool:
        """Whether bootstrap replicates say how far the value, or a difference of two, may be."""
        return self.resampled and not self.no_interval and bool({*BOOTSTRAP_INTERVALS} & {*self.intervals})

    @property
    def testable(self) -> bool:
        """Whether some test of a difference is honest: by its replicates, or by swapping outputs."""
        return self.replicates_hold or self.family in ("table", "binary_table", "moments", "ranking")

    @property
    def phrase(self) -> str:
        """The label inside a sentence: ``accuracy``, but ``ROC AUC`` and ``Brier score``."""
        first = self.label.split(" ")[0]
        proper = not first[1:].islower() or first in ("Brier", "Cohen's", "Scott's", "Jaccard")
        return self.label if proper else self.label[0].lower() + self.label[1:]


@dataclass(frozen=True, slots=True)
class Chosen:
    """What a class-wise metric of the family ``rows`` is given: the prepared state, and which average or class."""

    state: Any
    average: Average | None
    code: int | None


METRICS: Registry[Metric] = Registry("metric")

LABELS: dict[str, Any] = {"tasks": ("binary", "multiclass"), "needs": "labels"}


def register(documented: Function, **fields: Any) -> Function:
    """Add a metric; its name is the function's, its summary the first sentence of the docstring."""
    given = {"function": documented, **fields}
    METRICS.add(Metric(name=documented.__name__, summary=summary_of(documented), **given))
    return documented


def binary_table(label: str, formula: str, **fields: Any) -> Callable[[Function], Function]:
    """Register a function of ``Counts``, each (...), returning (...)."""
    given = {"averages": ("macro", "micro", "weighted"), **LABELS, **fields}
    if "proportion" in fields:
        given = {"intervals": (*PROPORTION_INTERVALS, *SMOOTH_INTERVALS), **given}
    return lambda function: register(function, label=label, formula=formula, family="binary_table", **given)


def table(label: str, formula: str, **fields: Any) -> Callable[[Function], Function]:
    """Register a function of margins (..., 3, K), returning (...)."""
    given = {**LABELS, **fields}
    return lambda function: register(function, label=label, formula=formula, family="table", **given)


def moments(label: str, formula: str, **fields: Any) -> Callable[[Function], Function]:
    """Register a function of weighted sums (..., p) of ``columns``, returning (...)."""
    return lambda function: register(function, label=label, formula=formula, family="moments", **fields)


def weighted_mean(sums: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """Return the mean from the sums of weights and of weighted losses: sums[..., 1] / sums[..., 0]."""
    return ratio(sums[..., 1], sums[..., 0])


def mean_loss(
    label: str, formula: str, *, greater_is_better: bool | None = False, **fields: Any
) -> Callable[[Function], Function]:
    """Register the mean of a per-example loss: the decorated function maps a ``ModelView`` to (n,)."""

    def decorate(loss: Function) -> Function:
        def columns(view: Any) -> npt.NDArray[np.float64]:
            losses = loss(view)
            # Each column lies together in memory.
            return np.stack([np.ones_like(losses), losses]).T

        given = {
            "intervals": ("hall", "t", *SMOOTH_INTERVALS),
            "difference_interval": "t",
            "test": "paired_t",
            **fields,
        }
        return register(
            loss,
            function=weighted_mean,
            label=label,
            formula=formula,
            family="moments",
            columns=columns,
            greater_is_better=greater_is_better,
            **given,
        )

    return decorate


def ranking(label: str, formula: str, **fields: Any) -> Callable[[Function], Function]:
    """Register a function of (positives, negatives), the weights (g, ...) of each group of tied scores in order."""
    given = {"tasks": ("binary",), "needs": "scores", **fields}
    return lambda function: register(function, label=label, formula=formula, family="ranking", **given)


def rows(label: str, formula: str, *, prepare: Function, **fields: Any) -> Callable[[Function], Function]:
    """Register a function of (state, weights), the weights (b, n), returning (b,)."""
    given = {"prepare": prepare, **fields}
    return lambda function: register(function, label=label, formula=formula, family="rows", **given)
