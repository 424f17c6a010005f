"""The registry of metrics: a metric is one documented function under a decorator that says its family.

Everything else (value, interval, paired difference, influence values, row in ``evalreport list metrics``,
glossary entry in the report) follows from that function.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cache
from typing import Any, Literal, TypedDict, TypeVar

import numpy as np

from evalreport.engine.distributions import Array, Columns, ones, ratio
from evalreport.options import Task
from evalreport.registry import Registry, summary_of
from evalreport.schema.comparisons import ComparisonRecord
from evalreport.schema.metrics import MetricRecord
from evalreport.texts import Message, Text
from evalreport.texts.labels import in_sentence

Family = Literal["binary_table", "table", "moments", "ranking", "rows", "contingency", "judged", "training"]
Needs = Literal[
    "labels", "scores", "probabilities", "values", "outcomes", "passes", "gold", "groups", "training"
]
Average = Literal["macro", "micro", "weighted"]
Area = Literal["", "roc", "partial_roc", "precision_recall"]
IsoSlope = Literal["", "counts", "rates"]
Infinite = Literal["", "zero_probability", "zero_truth"]
Function = Callable[..., Any]
Decorator = Callable[[Function], Function]
Number = TypeVar("Number", float, Array)
Fields = dict[str, Any]
"""Fields of ``Metric`` that several metrics share, by name."""

BOOTSTRAP_INTERVALS = ("bootstrap_percentile", "bootstrap_basic", "bootstrap_normal")
SMOOTH_INTERVALS = ("bootstrap_bca", "normal", *BOOTSTRAP_INTERVALS)
PROPORTION_INTERVALS = ("wilson", "agresti_coull", "clopper_pearson", "jeffreys")


@dataclass(frozen=True, slots=True)
class Affine:
    """A metric that is another one on another scale: slope times that one's value plus offset.

    Attributes
    ----------
    of
        The name of the other metric, the base.
    slope
        Not 0; below 0 the direction turns round.
    """

    of: str
    slope: float
    offset: float

    def forward(self, value: Number) -> Number:
        """Return the values on this scale of values of the base, a number or an array."""
        return self.slope * value + self.offset

    def back(self, value: Number) -> Number:
        """Return the values of the base from values on this scale, a number or an array."""
        return (value - self.offset) / self.slope

    def limits(self, low: float, high: float) -> tuple[float, float]:
        """Return limits of the base on this scale, in ascending order."""
        first, second = self.forward(low), self.forward(high)
        return (first, second) if self.slope > 0 else (second, first)


@dataclass(frozen=True, slots=True, kw_only=True)
class Metric:
    """One registered metric and what holds for it: everything else asks these properties, never the name.

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
        ``judged``: function of a judge's outcomes and people's of some rows (``metrics.judged``);
        ``contingency``: function of ``clustering.Overlap``, sums over the table of true groups by the model's groups;
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
        Ranking: closed form by group, (d positives, d negatives), each (g, ...), from the two weights. Rows: closed
        form by example, (b, n), from the state and weights (b, n). None where there is none.
    per_example
        Means over the examples only: maps a ``ModelView`` to the numbers (n,) whose mean the value is.
    mean_over_pairs
        Means only, where there is a formula: maps a ``ModelView`` to the mean over every truth with every prediction.
    of_counts
        Tables only, where it is faster: the value of two classes as a function of ``Counts``.
    binned
        Ranking only: the values (b,) from ``BinWeights``, for replicates of very many rows.
    by_ranks, resampled
        Rows only: whether it is a function of the order of the scores, so that swaps exchange ranks; False where a
        replicate costs too much, so that there are no bootstrap intervals.
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
        Rows: maps a state to the reason where there is more than one. Training: maps a ``TrainingFit`` to it.
    no_interval
        Why no interval of one model's value is honest; empty where ``intervals`` are.
    losses, less_moved
        Moments only: what the second column holds, where these are losses that are none negative; and the metric
        that single large ones move less.
    affine_of
        Where it is another metric on another scale: intervals are then that one's, mapped (decorator ``affine``).
    monotone_of
        Where a class's value rises with a metric of the family ``binary_table`` that is a proportion: its name, and the
        function that maps its value to this one's.
    root_of
        Where it is the root of a mean of squares over the examples: the name of that mean.
    recall_slope
        Where the value rises or falls in a straight line with the mean of the class recalls: by how much.
    negatives
        Where it counts true negatives: whether it takes them of those that are negative (``truth``) or of those that
        were called so (``answers``). Of an example without an answer, which counts as wrong, it matters.
    micro_is_accuracy
        Whether its micro average is the share of right answers.
    share_of_right
        Whether it is the share of right answers: of predicted labels, or of outcomes where all are 0 or 1.
    area
        Which area under a curve it is. DeLong's error and Newcombe's interval are those of ``roc``, the whole area.
    mean_over_positives
        Whether it is a mean of one number for each positive example.
    uninformed
        Value of a model that tells no example from another (a random order, the mean of the truth), whatever the
        data; None where it depends on them.
    infinite_at
        What makes a single example's term infinite: a probability of 0 of the true class, or a true value of 0.
    one_sided
        Whether it counts one kind of error only: any value can be bought with the other kind, so no threshold is best.
    iso_slope
        Straight lines of the ROC square along which it does not change: of slope N/P (``counts``) or 1 (``rates``).
    criterion
        Where the threshold of its best value is always looked for: what that is called in the results.
    turnable
        Whether only the user knows its direction: ``--lower-is-better`` turns it round.
    extensive
        True where the value depends on how many examples there are, not only on their distribution.
    least_of_a_class
        With fewer examples of the rarest class its bootstrap intervals do not hold.
    filled
        Contingency only: whether intervals ask for enough examples in the ``groups`` or in the ``cells`` of the table.
    least_classes
        Left out of a run that does not name it where there are fewer classes: it says nothing there.
    headline
        Whether the report shows it open; the others are folded unless the user names them.
    shown_with
        The heading of the report that it stands under, where that is not what it needs.
    figures
        Names of the pictures that explain it in the report's methods.
    numbered, of_number
        Where it has a number k: how its spelling with k begins (``pass@`` of ``pass@5``), and the function that maps k
        to ``per_example``. The bare name stands for k = 1 and the smallest number of attempts.
    of_probability, of_gaps
        Two classes: a loss from the positive class's probability, the truth (1 or 0) and a function that takes
        logarithms; whether the columns are ones and, by bin, gaps and ones. Engines can add these up.
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
    per_example: Function | None = None
    mean_over_pairs: Function | None = None
    of_counts: Function | None = None
    by_ranks: bool = False
    resampled: bool = True
    binned: Function | None = None
    proportion: Function | None = None
    intervals: tuple[str, ...] = SMOOTH_INTERVALS
    difference_interval: str = "bootstrap_bca"
    test: str = "permutation"
    smooth: bool = True
    undefined: Text = ""
    why_undefined: Function | None = None
    no_interval: Text = ""
    losses: Text = ""
    less_moved: str = ""
    affine_of: Affine | None = None
    monotone_of: tuple[str, Function] | None = None
    root_of: str = ""
    recall_slope: float = 0.0
    negatives: Literal["", "truth", "answers"] = ""
    micro_is_accuracy: bool = False
    share_of_right: bool = False
    area: Area = ""
    mean_over_positives: bool = False
    uninformed: float | None = None
    infinite_at: Infinite = ""
    one_sided: bool = False
    iso_slope: IsoSlope = ""
    criterion: str = ""
    turnable: bool = False
    extensive: bool = False
    least_of_a_class: int = 0
    filled: Literal["", "groups", "cells"] = ""
    least_classes: int = 0
    headline: bool = False
    shown_with: Needs | None = None
    figures: tuple[str, ...] = ()
    numbered: str = ""
    of_number: Function | None = None
    of_probability: Function | None = None
    of_gaps: bool = False
    source: str = ""

    @property
    def is_mean(self) -> bool:
        """Whether it is a mean of one number for each example, so that it has a value on a single one."""
        return self.per_example is not None

    @property
    def is_auc(self) -> bool:
        """Whether it is the whole area under the ROC curve, or that area on another scale."""
        return self.area == "roc"

    @property
    def may_be_proportion(self) -> bool:
        """Whether some interval of a binomial proportion is honest for it, on data where it is one."""
        return not {*PROPORTION_INTERVALS}.isdisjoint(self.intervals)

    @property
    def heading(self) -> str:
        """The heading of the report that it stands under: what it needs, unless it names another."""
        return self.shown_with or self.needs

    @property
    def replicates_hold(self) -> bool:
        """Whether bootstrap replicates say how far the value, or a difference of two, may be."""
        return self.resampled and not self.no_interval and bool({*BOOTSTRAP_INTERVALS} & {*self.intervals})

    @property
    def testable(self) -> bool:
        """Whether some test of a difference is honest: by its replicates, or by swapping outputs."""
        return self.replicates_hold or self.family in (
            *("table", "binary_table", "moments", "ranking", "judged"),
        )

    @property
    def phrase(self) -> str:
        """The label inside a sentence: ``accuracy``, but ``ROC AUC`` and ``Brier score``."""
        return in_sentence(self.label)


@dataclass(frozen=True, slots=True)
class Chosen:
    """What a class-wise metric of the family ``rows`` is given: the prepared state, and which average or class."""

    state: Any
    average: Average | None
    code: int | None


class Metrics(Registry[Metric]):
    """The registered metrics; those with a number also by their spelling with it, such as ``pass@5``."""

    def __getitem__(self, name: str) -> Metric:
        found = self._entries.get(name) or self._with_number(name)
        return super().__getitem__(name) if found is None else found

    def __contains__(self, name: object) -> bool:
        return super().__contains__(name) or (isinstance(name, str) and self._with_number(name) is not None)

    def _with_number(self, name: str) -> Metric | None:
        match = NUMBERED.fullmatch(name)
        if match is None:
            return None
        found = next((m for m in self._entries.values() if m.numbered == match["begins"]), None)
        return None if found is None else _numbered(found, int(match["number"]))


NUMBERED = re.compile(r"(?P<begins>[a-z]+[@^])(?P<number>[1-9][0-9]{0,5})")
METRICS: Registry[Metric] = Metrics("metric")


@cache
def _numbered(metric: Metric, k: int) -> Metric:
    """Return a metric with its number."""
    assert metric.of_number is not None
    name = f"{metric.numbered}{k}"
    per_example = metric.of_number(k)
    return replace(
        metric,
        name=name,
        label=name,
        per_example=per_example,
        columns=columns_of(per_example),
        undefined=Message("undefined.fewer_attempts", k=k),
        numbered="",
        headline=metric.headline and k > 1,  # that of k = 1 is the mean outcome
    )


LABELS: Fields = {"tasks": ("binary", "multiclass"), "needs": "labels"}


def register(documented: Function, **fields: Any) -> Function:
    """Add a metric; its name is the function's, its summary the first sentence of the docstring."""
    given = {"function": documented, **fields}
    METRICS.add(Metric(name=documented.__name__, summary=summary_of(documented), **given))
    return documented


def _family(family: Family, **usual: Any) -> Callable[..., Decorator]:
    """Return the decorator ``(label, formula, **fields)`` of a family, with what usually holds for its metrics."""

    def decorator(label: str, formula: str, **fields: Any) -> Decorator:
        given = {**usual, **fields}
        if "proportion" in given and family in ("binary_table", "table"):
            given = {"intervals": (*PROPORTION_INTERVALS, *SMOOTH_INTERVALS), **given}
        return lambda function: register(function, label=label, formula=formula, family=family, **given)

    return decorator


binary_table = _family("binary_table", averages=("macro", "micro", "weighted"), **LABELS)
"""Register a function of ``Counts``, each (...), returning (...)."""

table = _family("table", **LABELS)
"""Register a function of margins (..., 3, K), returning (...)."""

moments = _family("moments")
"""Register a function of weighted sums (..., p) of ``columns``, returning (...)."""

ranking = _family("ranking", tasks=("binary",), needs="scores")
"""Register a function of (positives, negatives), the weights (g, ...) of each group of tied scores in order."""

rows = _family("rows")
"""Register a function of (state, weights), the weights (b, n), returning (b,); ``prepare`` makes the state."""

contingency = _family(
    "contingency", tasks=("clustering",), needs="groups", test="bootstrap_difference", filled="cells",
    undefined=Message("undefined.one_group"),
)  # fmt: skip
"""Register a function of ``clustering.Overlap``."""

judged = _family(
    "judged", tasks=("outcome",), needs="gold", range=(-float("inf"), float("inf")), intervals=("ppi",),
    difference_interval="ppi", test="ppi", resampled=False, share_of_right=True,
)  # fmt: skip
"""Register a function of (judge's outcomes, people's), each (n,), which estimates what people say of all rows."""


def weighted_mean(sums: Array) -> Array:
    """Return the mean from the sums of weights and of weighted losses: sums[..., 1] / sums[..., 0]."""
    return ratio(sums[..., 1], sums[..., 0])


def columns_of(loss: Function) -> Function:
    """Return the columns of the mean of a loss: ones, and the losses."""

    def columns(view: Any) -> Columns:
        losses = np.asarray(loss(view), dtype=np.float64)
        return ones(len(losses)), losses

    return columns


MEAN: Fields = {
    "function": weighted_mean,
    "intervals": ("hall", "t", *SMOOTH_INTERVALS),
    "difference_interval": "t",
    "test": "paired_t",
    "greater_is_better": False,
}


def mean_loss(label: str, formula: str, *, per_example: Function | None = None, **fields: Any) -> Decorator:
    """Register the mean of a per-example loss: the decorated function maps a ``ModelView`` to (n,).

    Where the function has another form, ``per_example`` is the one of that form.
    """

    def _decorate(function: Function) -> Function:
        loss = per_example or function
        given = {**MEAN, "columns": columns_of(loss), "per_example": loss, **fields}
        return moments(label, formula, **given)(function)

    return _decorate


def affine(label: str, formula: str, *, of: str, **fields: Any) -> Decorator:
    """Register a metric that is another one on another scale: the decorated function maps that one's value to this.

    Everything that holds of the base holds of it: its range, derivative, tests and intervals, the limits of which are
    mapped. What differs is given in ``fields``.

    Parameters
    ----------
    of
        The name of the base, which is registered already.

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
        METRICS.add(_on_another_scale(function, affine_map(function, of), label, formula, fields))
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
    found = Affine(of, float(function(1.0)) - offset, offset)
    if not found.slope or abs(float(function(2.0)) - found.forward(2.0)) > 1e-9 * abs(found.slope):
        raise ValueError(f"{function!r} is no straight line with a slope of the value of {of!r}")
    return found


def _on_another_scale(function: Function, scale: Affine, label: str, formula: str, fields: Fields) -> Metric:
    """Return the base with everything that is on its scale mapped; the intervals' functions are given the base."""
    base = METRICS[scale.of]

    def valued(of_base: Function | None) -> Function | None:
        return None if of_base is None else lambda *state: scale.forward(of_base(*state))

    def sloped(of_base: Function) -> Function:
        def slopes(*state: Any) -> Any:
            found = of_base(*state)
            parts = found if isinstance(found, tuple) else (found,)
            scaled = tuple(scale.slope * part for part in parts)
            return scaled if isinstance(found, tuple) else scaled[0]

        return slopes

    better = base.greater_is_better
    own: Fields = {
        "name": function.__name__,
        "label": label,
        "formula": formula,
        "summary": summary_of(function),
        "function": valued(base.function),
        "derivative": None if base.derivative is None else sloped(base.derivative),
        "per_example": valued(base.per_example),
        "mean_over_pairs": valued(base.mean_over_pairs),
        "of_counts": valued(base.of_counts),
        "binned": valued(base.binned),
        "range": scale.limits(*base.range),
        "binary_range": None if base.binary_range is None else scale.limits(*base.binary_range),
        "greater_is_better": better if better is None or scale.slope > 0 else not better,
        "uninformed": None if base.uninformed is None else scale.forward(base.uninformed),
        "recall_slope": scale.slope * base.recall_slope,
        "affine_of": scale,
        # True of the base itself only.
        "monotone_of": None,
        "root_of": "",
        "share_of_right": False,
        "micro_is_accuracy": False,
        "headline": False,
        "figures": (),
        "criterion": "",
    }
    return replace(base, **{**own, **fields})


PRIMARY: dict[Task, str] = {
    "binary": "accuracy",
    "multiclass": "accuracy",
    "regression": "rmse",
    "outcome": "mean_outcome",
    "scores": "mean_value",
    "clustering": "adjusted_rand",
}
"""The primary metric by task, unless one is named."""

JUDGED = "mean_gold"
"""The primary metric where people judged some of the answers, unless one is named."""


class QuantityFields(TypedDict):
    """The fields by which every record says what it is a value of."""

    metric: str
    average: Average | None
    label: str | None


@dataclass(frozen=True, slots=True)
class Quantity:
    """A metric, and for several classes its average or the class it is about."""

    metric: str
    average: Average | None = None
    label: str | None = None

    @classmethod
    def of(cls, record: MetricRecord | ComparisonRecord) -> Quantity:
        """Return what a record is about."""
        return cls(record.metric, record.average, record.label)  # type: ignore[arg-type]

    @property
    def fields(self) -> QuantityFields:
        """What a record of it says."""
        return {"metric": self.metric, "average": self.average, "label": self.label}

    @property
    def spelled(self) -> str:
        """The command line's spelling: ``f1``, ``f1_macro``, ``recall[class=3]``.

        Examples
        --------
        >>> Quantity("f1", average="macro").spelled, Quantity("recall", label="3").spelled
        ('f1_macro', 'recall[class=3]')
        """
        if self.label is not None:
            return f"{self.metric}[class={self.label}]"
        return f"{self.metric}_{self.average}" if self.average else self.metric


def slopes_of_ranks() -> dict[str, Function]:
    """Return the derivatives of the rank metrics, by name; without metrics that are another one on another scale.

    Each takes the weights (g,) of positives and negatives of each group of tied scores, best first, and returns its
    derivatives (g,) by the weight of a positive and of a negative of each group.
    """
    own = [m for m in METRICS.values() if m.family == "ranking" and m.affine_of is None]
    return {m.name: m.derivative for m in own if m.derivative is not None}


def losses_of_probability() -> dict[str, Function]:
    """Return the mean losses of two classes, by name; without metrics that are another one on another scale.

    Each takes the probability of the positive class, the truth (1 or 0) and a function that takes logarithms; arrays
    and an engine's columns alike.
    """
    own = [m for m in METRICS.values() if m.affine_of is None]
    return {m.name: m.of_probability for m in own if m.of_probability is not None}


def definition(quantity: Quantity) -> Metric:
    """Return the registered metric of a quantity."""
    return METRICS[quantity.metric]


def greater_is_better(quantity: Quantity, *, lower_is_better: bool = False) -> bool:
    """Say whether a larger value is better; ``--lower-is-better`` turns outcomes and values round, nothing else."""
    metric = definition(quantity)
    if lower_is_better and metric.turnable:
        return metric.greater_is_better is False
    return metric.greater_is_better is True
