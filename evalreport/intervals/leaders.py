"""Which interval leads, by sampling and evidence."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache

from evalreport.calibration.risks import Risks
from evalreport.intervals.registry import INTERVALS, Value, missing
from evalreport.metrics.difference import Difference
from evalreport.metrics.estimate import Estimate
from evalreport.metrics.evidence import (
    EffectiveProportion,
    Judged,
    PairedLabels,
    PairedProportion,
    PairedRanking,
    PairedRisks,
    PairedScores,
    Proportion,
    Ranking,
    Scores,
    TwoProportions,
    WeightedF1,
)
from evalreport.metrics.registry import METRICS
from evalreport.registry import summary_of

OWN_TEST_SETS, ORDERED = "test sets of their own", "examples in order of time"
"""Words of the tables for two kinds of sampling."""

DRAWN: Mapping[str, Callable[[Value], bool]] = {
    "": lambda _: True,
    "folds": lambda e: e.of_folds,
    "training seeds": lambda e: e.of_seeds,
    "data sets": lambda e: e.over_datasets,
    OWN_TEST_SETS: lambda e: e.sampling.two_sets,
    "tasks": lambda e: e.sampling.tasks is not None,
    ORDERED: lambda e: e.sampling.order is not None,
    "clusters": lambda e: e.sampling.clusters is not None,
    "weighted examples": lambda e: e.sampling.weighted,
}
"""The sampling, in the words of the table; empty: any, which below the other rows means single examples."""


def first_of_metric(estimate: Value) -> str:
    """Return the first of the metric's own intervals that applies."""
    own = estimate.metric.inference.intervals
    applicable = (name for name in own if missing(INTERVALS[name], estimate) is None)
    return next(applicable, general(estimate))


def of_difference(estimate: Value) -> str:
    """Return the metric's interval of a difference; where that one does not apply t of a mean, else the general one."""
    own = INTERVALS[estimate.metric.inference.difference_interval]
    if isinstance(estimate.evidence, PairedRisks | PairedScores):
        return own.name
    if own.by_resampling:
        return general(estimate)
    if missing(own, estimate) is None:
        return own.name
    return "t" if estimate.metric.is_mean else general(estimate)


GENERAL = ("bootstrap_bca", "bootstrap_percentile", "normal")
"""Intervals that hold for every sampling, in order of preference."""


def general(estimate: Value) -> str:
    """Return the first of ``GENERAL`` that the metric has; where it has none, its first, which is then refused."""
    own = estimate.metric.inference.intervals
    return next((name for name in GENERAL if name in own), own[0] if own else "bootstrap_percentile")


def examples_alike(estimate: Value) -> bool:
    """Whether examples are independent and weigh the same."""
    return estimate.sampling.alike


def a_share_of_trials(estimate: Value) -> bool:
    """Whether the metric has no interval of its whole table of counts that stands before those of a proportion."""
    own = estimate.metric.inference.intervals
    return not own or "label_table" not in INTERVALS[own[0]].needs


def far_from_the_ends(estimate: Value) -> bool:
    """Whether both classes have 30 examples and the area is from 0.05 to 0.95."""
    evidence = estimate.evidence
    return (
        isinstance(evidence, Ranking)
        and min(evidence.class_sizes) >= 30
        and 0.05 <= estimate.of_base.value <= 0.95
    )


@dataclass(frozen=True, slots=True)
class Leader:
    """One row of the table of leading intervals.

    Attributes
    ----------
    interval
        Its name, or a function that chooses it among those of the metric.
    drawn
        What is drawn, a key of ``DRAWN``.
    of
        The type of evidence, or ``Estimate`` or ``Difference`` for any evidence of those; ``object`` for any.
    where
        A further condition.
    """

    interval: str | Callable[[Value], str]
    drawn: str = ""
    of: type = object
    where: Callable[[Value], bool] | None = None


LEADERS: tuple[Leader, ...] = (
    Leader("corrected_t", "folds"),
    Leader("seeds_t", "training seeds"),
    Leader("hodges_lehmann", "data sets", Difference),
    Leader("newcombe_independent", of=TwoProportions),
    Leader("square_and_add", OWN_TEST_SETS, Difference),
    Leader("hac_t", ORDERED),
    Leader(general, ORDERED),
    Leader(first_of_metric, of=Risks),
    Leader(of_difference, of=PairedRisks),
    Leader(first_of_metric, of=Scores, where=examples_alike),
    Leader(of_difference, of=PairedScores, where=examples_alike),
    Leader("wilson", "weighted examples", EffectiveProportion),
    Leader("weighted_wilson", "weighted examples", WeightedF1),
    Leader("weighted_t", "weighted examples"),
    Leader("suite_t", "tasks"),
    Leader("cluster_wilson", "clusters", Estimate),
    Leader("cluster_t", "clusters"),
    Leader("cr2_t", "clusters"),
    Leader("ppi", of=Judged),
    Leader("t", "data sets"),
    Leader(general, "weighted examples"),
    Leader(general, "tasks"),
    Leader(general, "clusters"),
    Leader("plus_two", of=PairedProportion),
    Leader("plus_two", of=PairedLabels),
    Leader("plus_two", of=PairedRanking),
    Leader(of_difference, of=Difference),
    Leader("logit", of=Ranking, where=far_from_the_ends),
    Leader("newcombe_auc", of=Ranking),
    Leader("wilson", of=Proportion, where=a_share_of_trials),
    Leader(first_of_metric),
)
"""Read from the top: the first row that fits, and whose interval applies, names the interval that leads."""


def recommended(estimate: Value) -> str:
    """Return the name of the interval that leads (docs/intervals.md)."""
    drawn = tuple(word for word, holds in DRAWN.items() if holds(estimate))
    kinds: tuple[type, ...] = (type(estimate), type(estimate.evidence))
    for row in _rows_of(kinds, drawn):
        if row.where is not None and not row.where(estimate):
            continue
        if not isinstance(row.interval, str):
            return row.interval(estimate)
        if missing(INTERVALS[row.interval], estimate) is None:
            return row.interval
    raise AssertionError("the last row fits every estimate")


@cache
def _rows_of(kinds: tuple[type, ...], drawn: tuple[str, ...]) -> tuple[Leader, ...]:
    """Return the rows of the table that are of a type of value or evidence, and of the sampling."""
    return tuple(
        row for row in LEADERS if row.drawn in drawn and any(issubclass(kind, row.of) for kind in kinds)
    )


def situation(drawn: str, of: type, where: Callable[..., bool] | None) -> str:
    """Write one row of a table of leaders in words: sampling, evidence and condition.

    Examples
    --------
    >>> situation("weighted examples", EffectiveProportion, None)
    'weighted examples, effective proportion'
    """
    evidence = "" if of is object else re.sub(r"(?<!^)(?=[A-Z])", " ", of.__name__).lower()
    condition = "" if where is None else summary_of(where).removeprefix("Whether ").rstrip(".")
    return ", ".join(filter(None, (drawn, evidence, condition))) or "anything else"


def leads_for(name: str) -> str:
    """Say in which rows of the table an interval leads, numbered from the top; empty where in none."""
    of_metrics = [metric.inference for metric in METRICS.values()]
    chosen: Mapping[Callable[[Value], str], set[str]] = {
        first_of_metric: {n for one in of_metrics for n in _until_general(one.intervals)},
        of_difference: {
            n for one in of_metrics if (n := one.difference_interval) and not INTERVALS[n].by_resampling
        },
        general: {*GENERAL},
    }
    found = []
    for number, row in enumerate(LEADERS, start=1):
        text = f"{number} {situation(row.drawn, row.of, row.where)}"
        if row.interval == name:
            found.append(text)
        elif not isinstance(row.interval, str) and name in chosen[row.interval]:
            found.append(f"{text}, by the metric")
    return "; ".join(found)


def _until_general(intervals: Sequence[str]) -> list[str]:
    """Return a metric's intervals up to the first that applies to any data, without those of a plain proportion."""
    end = next((position for position, name in enumerate(intervals) if name in GENERAL), len(intervals))
    return [name for name in intervals[: end + 1] if Proportion not in INTERVALS[name].of]
