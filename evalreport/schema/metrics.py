"""Values of metrics: with intervals, by fold, of baselines, and confusion matrices."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal, Protocol, TypedDict

from evalreport.schema.inputs import JsonObject
from evalreport.texts import Message

MEANS_OF_A_COLUMN = frozenset({"mean_outcome", "mean_value"})
"""Metrics that are the mean of a column of the user's, whose name says more than the metric's."""

ROC_AREAS = frozenset({"roc_auc", "roc_auc_ovr"})
"""The area under a binary curve, and under that of one class against the rest."""


Average = Literal["macro", "micro", "weighted"]


class QuantityFields(TypedDict):
    """The fields by which every record says what it is a value of."""

    metric: str
    average: Average | None
    label: str | None


class OfQuantity(Protocol):
    """A record of a value, which says what it is a value of."""

    @property
    def metric(self) -> str:
        """The metric's name."""

    @property
    def average(self) -> str | None:
        """How it is averaged over classes."""

    @property
    def label(self) -> str | None:
        """The class that it is about."""


@dataclass(frozen=True, slots=True)
class Quantity:
    """A metric, and for several classes its average or the class it is about."""

    metric: str
    average: Average | None = None
    label: str | None = None

    @classmethod
    def of(cls, record: OfQuantity) -> Quantity:
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


@dataclass(frozen=True, slots=True, kw_only=True)
class Interval:
    """One interval of a value, in the metric's units; ``level`` is its confidence, 0 to 1.

    ``low`` and ``high`` are null, with a reason, where the method is undefined or does not hold its level.
    """

    method: str
    level: float
    low: float | None
    high: float | None
    reason: Message | None = None


class Limited(Protocol):
    """Whatever has two limits."""

    @property
    def low(self) -> float | None:
        """The lower limit, in the value's unit; None: there is none."""

    @property
    def high(self) -> float | None:
        """The upper limit, in the value's unit; None: there is none."""


def limit_fields(limits: Limited | None, prefix: str = "") -> JsonObject:
    """Return limits as the fields of a record, whose names may have a prefix; null where there are none.

    Examples
    --------
    >>> limit_fields(Interval(method="t", level=0.95, low=0.1, high=0.2), "width_")
    {'width_low': 0.1, 'width_high': 0.2}
    """
    return {f"{prefix}{end}": getattr(limits, end, None) for end in ("low", "high")}


@dataclass(frozen=True, slots=True, kw_only=True)
class Slice:
    """A subgroup: a metadata column and one of its values."""

    column: str
    value: str


@dataclass(frozen=True, slots=True, kw_only=True)
class MetricRecord:
    """One model's value of one metric with its intervals, the recommended one first.

    ``average`` (macro, micro, weighted) or ``label`` (the class) where the metric has one; ``slice`` null: over all
    examples. ``value`` and ``standard_error`` are in the metric's units, null where undefined, with a ``reason``; a
    value by convention has a reason, too. ``n``: the examples it is computed from.

    ``trials``: the number of independent, equally weighted examples whose proportion the value is; None where it is no
    such proportion. Gates are decided by the exact limits that follow from it.
    """

    model: str
    metric: str
    average: str | None = None
    label: str | None = None
    slice: Slice | None = None
    value: float | None = None
    standard_error: float | None = None
    n: int
    reason: Message | None = None
    intervals: tuple[Interval, ...] = ()
    formula: str | None = None
    """The definition with this model's counts filled in, where the metric is a function of counts."""
    n_effective: float | None = None
    """With weights, Kish's effective number of examples; else null."""
    clusters_effective: float | None = None
    """The effective number of clusters G*, as if the examples of a cluster were identical; null without clusters."""
    clusters: int | None = None
    """The number of clusters that hold the ``n`` examples; null without clusters."""
    of_gates: Interval | None = None
    """With looks, of metrics in gates: the recommended interval at one minus the look's level."""
    trials: float | None = None
    these_low: float | None = None
    these_high: float | None = None
    """Of a mean outcome over attempts: the interval for exactly these questions, where only attempts vary."""
    exploratory: bool = False
    """Whether the metric, the model or the slice was not declared in the criteria of the run."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MetricRatioRecord:
    """Value of a over value of b, which a gate asks for, with limits by ``method``; null with the ``reason``.

    ``high`` null beside ``low``: no ratio is ruled out from above.
    """

    a: str
    b: str
    metric: str
    average: str | None = None
    label: str | None = None
    slice: Slice | None = None
    ratio: float | None
    low: float | None
    high: float | None
    level: float
    method: str
    reason: Message | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class FoldRecord:
    """One model's value of one metric on one fold; null where it is undefined there. ``n``: examples of the fold."""

    model: str
    repeat: str | None
    fold: str | None
    metric: str
    average: str | None
    label: str | None
    value: float | None
    n: int


@dataclass(frozen=True, slots=True, kw_only=True)
class ConfusionRecord:
    """One cell of one model's confusion matrix; ``count`` is a sum of weights where examples have weights."""

    model: str
    true: str
    predicted: str
    count: float


COMPANIONS: Mapping[str, tuple[str, ...]] = {
    "binary": (
        "roc_auc",
        "recall",
        "precision",
        "f1",
        "average_precision",
        "log_loss",
        "mcc",
        "accuracy",
        "brier",
    ),
    "multiclass": ("f1", "balanced_accuracy", "log_loss", "mcc", "cohen_kappa", "accuracy"),
    "regression": ("mae", "r2", "mape", "rmse", "mse"),
}
"""Metrics to show beside the primary one, by task; pairs have verdicts of their own on the first that is no loss."""

BESIDE_MAPE = ("mae", "rmse")
"""Metrics to name where some true values are nearly 0."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ErrorTrendRecord:
    """The errors (predicted - true) along the predictions, and one test of their level, slope and curvature.

    The errors are fitted to ``level`` + ``slope`` z + ``curvature`` (z^2 - 1), z the standardised prediction.
    ``leads``: which of the three is the most standard errors away from 0. ``at_low`` and ``at_high``: the fitted error
    at the 5th and at the 95th percentile of the predictions. ``statistic``: Wald's F(3, ``df2``). ``p_signs``: its
    p-value under random signs of the errors, null above 10,000 examples. ``shown``: ``p_signs``, else ``p_value``, is
    at most 0.03.
    """

    level: float
    slope: float
    curvature: float
    leads: Literal["level", "slope", "curvature"]
    at_low: float
    at_high: float
    statistic: float
    df2: int
    p_value: float
    p_signs: float | None
    shown: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class ResidualRecord:
    """One model's predicted and true values, thinned for drawing, and its calibration in bins of equal size.

    ``predicted`` and ``true`` are of some examples, spread evenly over the order of predictions, and of those with
    the largest errors. Each bin has its mean prediction, mean truth, limits of the mean truth at ``level`` (null
    where examples are not independent, or too few) and count. ``trend`` is None where examples come in clusters, weigh
    differently, or are fewer than 60 or than 400 times the squared skewness of the errors.
    """

    model: str
    predicted: tuple[float, ...]
    true: tuple[float, ...]
    bin_predicted: tuple[float, ...]
    bin_true: tuple[float, ...]
    bin_low: tuple[float | None, ...]
    bin_high: tuple[float | None, ...]
    bin_count: tuple[float, ...]
    level: float
    n: int
    trend: ErrorTrendRecord | None = None
