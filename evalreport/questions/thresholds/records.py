"""Curves, thresholds on them, and distributions of scores and residuals."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

from evalreport.texts import Message


@dataclass(frozen=True, slots=True, kw_only=True)
class CurveRecord:
    """One curve of one model; x, y, threshold, low, high, count are arrays of equal length (or None).

    ``band`` is the kind of the limits: ``pointwise`` limits hold at each x alone.
    """

    model: str
    curve: str
    label: str | None
    x: tuple[float, ...]
    y: tuple[float, ...]
    threshold: tuple[float | None, ...] | None = None
    low: tuple[float | None, ...] | None = None
    high: tuple[float | None, ...] | None = None
    count: tuple[float, ...] | None = None
    band: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class CurveSummaryRecord:
    """One number of one curve, computed from all its points: an area, or its height ``at`` an x.

    ``low`` and ``high`` are limits at ``level`` by ``method``; null, with a ``reason``, where there are none.
    """

    model: str
    curve: str
    label: str | None
    quantity: str
    at: float | None
    value: float | None
    low: float | None = None
    high: float | None = None
    level: float | None = None
    method: str | None = None
    reason: Message | None = None


EQUAL_ERRORS = "eer"
"""The criterion of the threshold at which both error rates are equal."""


@dataclass(frozen=True, slots=True, kw_only=True)
class OperatingPointRecord:
    """One threshold of one model, chosen by a criterion on these data, with its counts and value.

    ``threshold`` is null where no example is to be called positive. The counts are those at the threshold;
    ``value`` is of ``metric``. ``optimistic`` says that the threshold was chosen on the data it is measured on.
    """

    model: str
    criterion: str
    metric: str
    at: float | None
    threshold: float | None
    value: float | None
    low: float | None
    high: float | None
    level: float
    method: str | None
    tp: float
    fp: float
    fn: float
    tn: float
    optimistic: bool
    text: Message
    reason: Message | None = None
    details: Mapping[str, int | float] = field(default_factory=dict)
    """Further numbers by name: ``optimism``, ``ties``, ``slope`` and ``offset`` of the line that touches the curve."""


Relation = Literal["above", "below", "crosses", "same"]


@dataclass(frozen=True, slots=True, kw_only=True)
class DominanceRecord:
    """Whether one model's curve is above the other's, seen from a, with the false positive rates where they cross.

    ``a_most`` and ``b_most`` are the largest distances by which each is higher, at ``..._at``. ``clear``: each is
    higher by a distance that matters; ``clear_crossings`` are then those between such stretches, wiggles left out,
    and ``decided`` whether each is shown to have the larger recall at some false positive rate (null where that is not
    tested: clusters, weights, examples of their own).
    """

    a: str
    b: str
    curve: str
    label: str | None = None
    relation: Relation
    crossings: tuple[float, ...] = ()
    a_most: float
    a_most_at: float | None = None
    b_most: float
    b_most_at: float | None = None
    clear: bool = False
    text: Message
    clear_crossings: tuple[float, ...] = ()
    decided: bool | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ThresholdChangeRecord:
    """The change in cases if a model's decisions were made at ``threshold``.

    ``fewer_alarms`` is positive predictions before less those after, and of these ``fewer_false_alarms`` are
    negatives and ``fewer_hits`` positives; negative numbers mean more.
    """

    model: str
    threshold: float
    changed: float | None = None
    fewer_alarms: float | None = None
    fewer_false_alarms: float | None = None
    fewer_hits: float | None = None
    tp: float | None = None
    fp: float | None = None
    fn: float | None = None
    tn: float | None = None
    text: Message
    reason: Message | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ScoreHistogramRecord:
    """The histogram of one model's scores in one class: ``counts`` between ``edges``.

    ``positive``: whether that class is the positive one. ``scale`` is ``probability`` (of the positive class) or
    ``score``; the first and the last bin of bare scores include all scores beyond their edge. ``median``: of the
    scores themselves; at least half are as large, and at least half as small.
    """

    model: str
    true: str
    positive: bool
    scale: Literal["probability", "score"]
    edges: tuple[float, ...]
    counts: tuple[float, ...]
    n: float
    median: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class DecisionCurveRecord:
    """One model's net benefit at one threshold of the declared range, with pointwise limits.

    ``treat_all``: the net benefit of flagging everybody; of nobody it is 0. ``minus_all``: the model's less that.
    ``standardised``: the net benefit over the prevalence. ``avoided``: interventions avoided for each example, compared
    with treating all, at the same net number of cases found. ``above_none``, ``above_all`` and ``all_above_none``
    (treat all above treat none): 1 where it is shown over the whole range of thresholds, -1 where the reverse is.
    """

    model: str
    threshold: float
    net_benefit: float
    low: float | None = None
    high: float | None = None
    treat_all: float
    minus_all: float
    minus_all_low: float | None = None
    minus_all_high: float | None = None
    standardised: float | None = None
    avoided: float
    avoided_low: float | None = None
    avoided_high: float | None = None
    prevalence: float
    above_none: Literal[-1, 0, 1] = 0
    above_all: Literal[-1, 0, 1] = 0
    all_above_none: Literal[-1, 0, 1] = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class DecisionCurveDifferenceRecord:
    """The difference a - b of two models' net benefits at one threshold, with pointwise limits; no test, no verdict.

    ``above``: 1 where a is shown to have the larger one, over the whole range of thresholds, -1 where b is, else 0.
    """

    a: str
    b: str
    threshold: float
    difference: float
    low: float | None = None
    high: float | None = None
    above: Literal[-1, 0, 1] = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class MurphyDifferenceRecord:
    """The difference a - b of two models' mean elementary scores, a negative one favours a; arrays over ``threshold``.

    ``low`` and ``high`` hold over all thresholds and pairs together: each at 1 less a share of the permitted error
    (``level`` is that of one). Null where the examples' sampling gives no error.
    """

    a: str
    b: str
    level: float
    threshold: tuple[float, ...]
    difference: tuple[float, ...]
    low: tuple[float | None, ...]
    high: tuple[float | None, ...]


@dataclass(frozen=True, kw_only=True)
class ThresholdLists:
    """The lists of results.json about thresholds."""

    curves: Sequence[CurveRecord] = ()
    curve_summaries: Sequence[CurveSummaryRecord] = ()
    operating_points: Sequence[OperatingPointRecord] = ()
    dominance: Sequence[DominanceRecord] = ()
    threshold_changes: Sequence[ThresholdChangeRecord] = ()
    score_histograms: Sequence[ScoreHistogramRecord] = ()
    decision_curves: Sequence[DecisionCurveRecord] = ()
    decision_curve_differences: Sequence[DecisionCurveDifferenceRecord] = ()
    murphy_differences: Sequence[MurphyDifferenceRecord] = ()
