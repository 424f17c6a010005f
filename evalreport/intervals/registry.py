"""The registry of intervals: the evidence of each, and its other needs."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any, TypeVar

from evalreport.calibration.risks import Risks
from evalreport.metrics import evidence
from evalreport.metrics.difference import Difference
from evalreport.metrics.estimate import Estimate
from evalreport.registry import Registered, Registry, summary_of
from evalreport.texts import Message, Text

Value = Estimate | Difference


@dataclass(frozen=True, slots=True)
class Bounds:
    """Limits of an interval; None with a reason where they cannot be had honestly."""

    low: float | None
    high: float | None
    reason: Text | None = None


Function = Callable[[Any, float], Bounds]
E = TypeVar("E")


def evidence_of(value: Value, kind: type[E]) -> E:
    """Return the evidence of a value, which is of the type that the interval is registered for."""
    assert isinstance(value.evidence, kind)
    return value.evidence


@dataclass(frozen=True, slots=True)
class IntervalMethod(Registered):
    """One registered interval.

    Attributes
    ----------
    of
        Types of evidence that it is computed from, or ``Estimate`` or ``Difference`` where it takes any evidence.
    needs
        What else it needs of an estimate (``NEEDS``); of several that are missing the first is named.
    """

    of: tuple[type, ...]
    needs: tuple[str, ...]
    function: Function
    source: str

    @property
    def over_fits(self) -> bool:
        """Whether it is of the mean over folds or repeats."""
        return "folds" in self.needs

    @property
    def by_resampling(self) -> bool:
        """Whether it is made of bootstrap replicates."""
        return "resampled" in self.needs

    @property
    def of_fresh_examples(self) -> bool:
        """Whether it is about what a choice made on these examples gives on others, and may leave the value out."""
        return evidence.AtChosen in self.of

    @property
    def of_one_value(self) -> bool:
        """Whether it may be of one model's value; the others are of a difference alone."""
        return not all(issubclass(kind, (Difference, evidence.OfDifference)) for kind in self.of)


INTERVALS: Registry[IntervalMethod] = Registry("interval")

EXAMPLES_ALIKE = ("some_interval", "one_task", "equal_weights", "independent")
ITS_VALUE = (*EXAMPLES_ALIKE, "one_set", "its_value")
ITS_DIFFERENCE = (*EXAMPLES_ALIKE, "one_set", "its_difference")
ROWS_ALIKE = ("its_value", "equal_weights", "independent")
OF_AREAS = (*EXAMPLES_ALIKE, "auc")
REPLICATES = ("some_interval", "no_gold", "resampled", "smooth", "enough_of_a_class", "several_units")


def interval(
    label: str,
    *,
    of: type | tuple[type, ...] = (Estimate, Difference),
    needs: tuple[str, ...] = (),
    source: str = "",
) -> Callable[[Function], Function]:
    """Register a function of (estimate, level) that returns ``Bounds``; fields as of ``IntervalMethod``."""
    types = of if isinstance(of, tuple) else (of,)
    unknown = [need for need in needs if need not in NEEDS]
    if unknown:
        raise ValueError(
            f"interval {label!r} needs {unknown[0]!r}, which is not in NEEDS: {', '.join(NEEDS)}"
        )

    def _decorate(function: Function) -> Function:
        name, summary = function.__name__, summary_of(function)
        INTERVALS.add(IntervalMethod(name, label, summary, types, needs, function, source))
        return function

    return _decorate


MOST_BLOCKS = 1_000
"""Beyond, the m (m + 1) / 2 averages of two differences would fill memory for nothing."""


def _rows(value: Value) -> int | None:
    """Count the differences by fit or by example; None where there are none."""
    rows = value.rows if isinstance(value, Difference) else None
    return None if rows is None else rows.n


OF_SAMPLINGS = (
    "several_units", "no_gold", "gold", "clusters", "time_order", "weights", "tasks", "one_task", "equal_weights",
    "independent", "independent_or_weighted", "independent_or_datasets", "one_set",
)  # fmt: skip
"""Needs that the sampling says it meets."""


def _skewed(value: Value) -> bool:
    """Whether the first of the metric's own intervals is one of skewed losses."""
    first = INTERVALS[(*value.metric.inference.intervals, "normal")[0]]
    return "losses" in first.needs or evidence.SquaredErrors in first.of


def _sampling_meets(need: str, _: IntervalMethod, value: Value) -> bool:
    return need in value.sampling.meets


NEEDS: Mapping[str, Callable[[IntervalMethod, Value], bool]] = {
    "folds": lambda _, e: e.of_folds,
    "train_size": lambda _, e: e.fits is not None and not math.isnan(e.fits.test_train_ratio),
    "seeds": lambda _, e: e.of_seeds,
    "seed_influence": lambda _, e: e.crossed is not None,
    **{need: partial(_sampling_meets, need) for need in OF_SAMPLINGS},
    "paired": lambda _, e: _rows(e) is not None,
    "few_blocks": lambda _, e: (_rows(e) or 0) <= MOST_BLOCKS,
    "some_interval": lambda _, e: not e.metric.inference.no_interval,
    "resampled": lambda _, e: e.metric.inference.resampled,
    "smooth": lambda m, e: e.metric.inference.smooth or m.name in e.metric.inference.intervals,
    "enough_of_a_class": lambda _, e: e.rarest is None or e.rarest >= e.metric.inference.least_of_a_class,
    "influence": lambda _, e: e.influence is not None,
    "examples_of_clusters": lambda _, e: e.examples_known,
    "mean": lambda m, e: e.metric.is_mean or e.over_datasets or m.name in e.metric.inference.intervals,
    "two_sets": lambda _, e: e.sampling.two_sets,
    "no_difference_of_roots": lambda _, e: not (isinstance(e, Difference) and e.metric.root_of),
    "losses": lambda m, e: m.name in e.metric.inference.intervals or (e.sampling.weighted and _skewed(e)),
    "of_this_metric": lambda m, e: (
        m.name in (*e.metric.inference.intervals, e.metric.inference.difference_interval)
    ),
    "label_table": lambda _, e: (
        e.metric.inference.smooth
        and isinstance(e, Estimate)
        and (e.table is not None or isinstance(e.evidence, evidence.Ordered))
    ),
    "auc": lambda _, e: e.metric.is_auc or (e.quantity.label is not None and e.ranking is not None),
    "bounded": lambda _, e: all(map(math.isfinite, e.range)),
    "paired_share": lambda _, e: not isinstance(e, Difference) or e.shares is not None,
    "two_scores": lambda _, e: (
        not isinstance(e.evidence, evidence.PairedRanking)
        or (e.metric.is_auc and all(side.labels is not None for side in (e.evidence.a, e.evidence.b)))
    ),
    "costs": lambda *_: False,
    "its_value": lambda m, e: m.name in e.metric.inference.intervals,
    "its_difference": lambda m, e: (
        isinstance(e, Difference) and e.metric.inference.difference_interval == m.name
    ),
}
"""What intervals need of an estimate beside its evidence; the reason for a missing one is the text of its name."""

OTHER_EVIDENCE: Mapping[type, str] = {
    evidence.Proportion: "proportion",
    evidence.WeightedF1: "jaccard",
    evidence.AtChosen: "one_threshold",
    evidence.RankedClasses: "class_areas",
    evidence.PairedClasses: "class_areas",
    evidence.AtThreshold: "at_a_cut",
    evidence.Median: "at_a_cut",
    evidence.PairedLabels: "paired_labels",
    evidence.SquaredErrors: "squared_errors",
    evidence.PairedProportion: "agreement",
    evidence.PairedRisks: "paired_probabilities",
    evidence.PairedScores: "paired_probabilities",
    Risks: "probabilities",
    evidence.Scores: "probabilities",
    evidence.PairedRanking: "paired_rankings",
    evidence.TwoProportions: "independent_proportions",
    evidence.SumsByUnit: "sums",
    evidence.PairedSums: "sums",
    Difference: "paired",
    Estimate: "one_model",
}
"""The text of the reason, by the first type that an interval is of."""


def missing(method: IntervalMethod, estimate: Value, *, but: str = "") -> str | None:
    """Return the first need of a method that an estimate does not meet; None where the interval is honest."""
    for need in method.needs:
        if need != but and not NEEDS[need](method, estimate):
            return need
    if isinstance(estimate, method.of) or isinstance(estimate.evidence, method.of):
        return None
    if evidence.Ranking in method.of:
        return "one_model" if isinstance(estimate.evidence, evidence.PairedRanking) else "one_ranking"
    return OTHER_EVIDENCE[method.of[0]]


def why_missing(need: str, estimate: Value) -> Text:
    """Say that an estimate does not meet a need."""
    if need == "some_interval":
        why = estimate.metric.inference.no_interval
        assert why is not None
        return why
    if need == "enough_of_a_class":
        return Message("interval_needs.enough_of_a_class", least=estimate.metric.inference.least_of_a_class)
    return Message(f"interval_needs.{need}", **({"most": MOST_BLOCKS} if need == "few_blocks" else {}))


def lacks(method: IntervalMethod, estimate: Value) -> Text | None:
    """Say why a method is not honest for an estimate; None if it is."""
    need = missing(method, estimate)
    return None if need is None else why_missing(need, estimate)
