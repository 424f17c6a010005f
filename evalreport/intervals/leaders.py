"""Which interval leads, by what is drawn and by the evidence."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from evalreport.intervals.registry import INTERVALS, Value, missing
from evalreport.metrics.estimate import Difference
from evalreport.metrics.evidence import (
    EffectiveProportion,
    Judged,
    PairedProportion,
    Proportion,
    Ranking,
    TwoProportions,
)
from evalreport.metrics.metric import Metric

DRAWN: Mapping[str, Callable[[Value], bool]] = {
    "": lambda _: True,
    "folds": lambda e: e.of_folds,
    "training seeds": lambda e: e.of_seeds,
    "data sets": lambda e: e.over_datasets,
    "test sets of their own": lambda e: e.sampling.two_sets,
    "tasks": lambda e: e.sampling.tasks is not None,
    "clusters": lambda e: e.sampling.clusters is not None,
    "weighted examples": lambda e: e.sampling.weighted,
}
"""What is drawn, by the words of the table; empty: anything, which below the other rows is single examples."""


def first_of_metric(estimate: Value) -> str:
    """Return the first of the metric's own intervals that applies."""
    metric = estimate.metric
    applicable = (name for name in metric.inference.intervals if missing(INTERVALS[name], estimate) is None)
    return next(applicable, _general(metric))


def of_difference(estimate: Value) -> str:
    """Return the metric's interval of a difference; t where that one is of paired proportions, which these are not."""
    own = INTERVALS[estimate.metric.inference.difference_interval]
    if own.by_resampling:
        return _general(estimate.metric)
    return own.name if own.of_one_value else "t"


def general(estimate: Value) -> str:
    """Return bootstrap_bca, bootstrap_percentile or normal: the first that the metric has, whatever is drawn."""
    return _general(estimate.metric)


def _general(metric: Metric) -> str:
    found = (
        n for n in ("bootstrap_bca", "bootstrap_percentile", "normal") if n in metric.inference.intervals
    )
    return next(
        found, metric.inference.intervals[0] if metric.inference.intervals else "bootstrap_percentile"
    )


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
        The type of evidence, or ``Difference`` for any difference; ``object`` for any.
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
    Leader("wilson", "weighted examples", EffectiveProportion),
    Leader("weighted_t", "weighted examples"),
    Leader("suite_t", "tasks"),
    Leader("cr2_t", "clusters"),
    Leader("ppi", of=Judged),
    Leader("t", "data sets"),
    Leader(general, "test sets of their own"),
    Leader(general, "weighted examples"),
    Leader(general, "tasks"),
    Leader(general, "clusters"),
    Leader("newcombe_paired", of=PairedProportion),
    Leader(of_difference, of=Difference),
    Leader("logit", of=Ranking, where=far_from_the_ends),
    Leader("newcombe_auc", of=Ranking),
    Leader("wilson", of=Proportion),
    Leader(first_of_metric),
)
"""Read from the top: the first row that fits, and whose interval applies, names the interval that leads."""


def recommended(estimate: Value) -> str:
    """Return the name of the interval that leads (docs/intervals.md)."""
    for row in LEADERS:
        fits = isinstance(estimate, row.of) or isinstance(estimate.evidence, row.of)
        if not fits or not DRAWN[row.drawn](estimate) or (row.where is not None and not row.where(estimate)):
            continue
        if not isinstance(row.interval, str):
            return row.interval(estimate)
        if missing(INTERVALS[row.interval], estimate) is None:
            return row.interval
    raise AssertionError("the last row fits every estimate")
