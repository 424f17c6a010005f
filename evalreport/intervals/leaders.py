"""Which interval leads, by sampling and evidence."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from evalreport.calibration.risks import Risks
from evalreport.intervals.registry import INTERVALS, Value, missing
from evalreport.metrics import evidence
from evalreport.metrics.difference import Difference
from evalreport.metrics.estimate import Estimate
from evalreport.metrics.registry import METRICS
from evalreport.registry import summary_of
from evalreport.samplings import ORDERED, OWN_TEST_SETS, STUDENTS

UNLIKE = "units that are not alike"
FOLDS = "folds"
"""Words of the table beside those of the samplings."""


def drawn(estimate: Value) -> tuple[str, ...]:
    """Return what is drawn, in the words of the table; empty: any, which below the other rows is single examples."""
    words = ["", *estimate.sampling.words]
    words += [FOLDS] if estimate.of_folds else []
    words += [] if estimate.sampling.alike else [UNLIKE]
    return tuple(words)


def of_sampling(estimate: Value) -> str | None:
    """Return the t interval of the sampling that applies; None where there is none."""
    names = (student.name for student in estimate.sampling.students)
    return next((name for name in names if missing(INTERVALS[name], estimate) is None), None)


def first_of_metric(estimate: Value) -> str:
    """Return the first of the metric's own intervals that applies."""
    own = estimate.metric.inference.intervals
    applicable = (name for name in own if missing(INTERVALS[name], estimate) is None)
    return next(applicable, general(estimate))


def of_difference(estimate: Value) -> str:
    """Return the metric's interval of a difference; where that one does not apply t of a mean, else the general one."""
    if not estimate.metric.inference.difference_interval:
        return general(estimate)
    own = INTERVALS[estimate.metric.inference.difference_interval]
    if estimate.sampling.only_sums and estimate.metric.is_mean:
        return "t"  # of sums alone neither skewness nor kurtosis is known
    if isinstance(estimate.evidence, evidence.PairedRisks | evidence.PairedScores):
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
    ranking = estimate.evidence
    return (
        isinstance(ranking, evidence.Ranking)
        and min(ranking.class_sizes) >= 30
        and 0.05 <= estimate.of_base.value <= 0.95
    )


def in_a_range(estimate: Value) -> bool:
    """Whether the metric has a largest value."""
    return all(map(math.isfinite, estimate.range))


def no_mean(estimate: Value) -> bool:
    """Whether the metric is no mean over the examples."""
    return not estimate.metric.is_mean


Choice = Callable[..., str | None]


@dataclass(frozen=True, slots=True)
class Leader:
    """One row of a table of leading intervals or tests.

    Attributes
    ----------
    name
        Its name, or a function that chooses it among those of the metric or the sampling; None: the row does not fit.
    drawn
        What is drawn, one of the words that ``drawn`` returns.
    of
        The type of evidence, or ``Estimate`` or ``Difference`` for any evidence of those; ``object`` for any.
    where
        A further condition: of a value, or of a pair and a test.
    """

    name: str | Choice
    drawn: str = ""
    of: type = object
    where: Callable[..., bool] | None = None


LEADERS: tuple[Leader, ...] = (
    Leader("corrected_t", FOLDS),
    Leader("seeds_t", "training seeds"),
    Leader("hodges_lehmann", "data sets", Difference),
    Leader("newcombe_independent", of=evidence.TwoProportions),
    Leader("square_and_add", OWN_TEST_SETS, Difference),
    Leader("rechosen", of=evidence.AtChosen),
    Leader(of_sampling, ORDERED),
    Leader(general, ORDERED),
    Leader(first_of_metric, of=Risks),
    Leader(of_difference, of=evidence.PairedRisks),
    Leader(first_of_metric, of=evidence.Scores, where=examples_alike),
    Leader(of_difference, of=evidence.PairedScores, where=examples_alike),
    Leader("unit_wilson", of=evidence.SumsByUnit, where=in_a_range),
    Leader("unit_log", of=evidence.SumsByUnit),
    Leader("unit_plus", of=evidence.PairedSums),
    Leader("wilson", "weighted examples", evidence.EffectiveProportion),
    Leader("weighted_wilson", "weighted examples", evidence.WeightedF1),
    Leader("cluster_wilson", "clusters", Estimate),
    Leader("t_or_hall_df", "clusters", Estimate),
    Leader("hall_df", "weighted examples", Estimate),
    Leader("weighted_logit", "weighted examples", Estimate, where=no_mean),
    Leader(of_sampling),
    Leader(general, UNLIKE),
    Leader("plus_two", of=evidence.PairedProportion),
    Leader("plus_two", of=evidence.PairedLabels),
    Leader("plus_two", of=evidence.PairedRanking),
    Leader(of_difference, of=Difference),
    Leader("logit", of=evidence.Ranking, where=far_from_the_ends),
    Leader("newcombe_auc", of=evidence.Ranking),
    Leader("wilson", of=evidence.Proportion, where=a_share_of_trials),
    Leader(first_of_metric),
)
"""Read from the top: the first row that fits, and whose interval applies, names the interval that leads."""


def recommended(estimate: Value) -> str:
    """Return the name of the interval that leads (docs/intervals.md)."""
    words = drawn(estimate)
    kinds = (estimate, estimate.evidence)
    for row in LEADERS:
        if row.drawn not in words or not any(isinstance(kind, row.of) for kind in kinds):
            continue
        if row.where is not None and not row.where(estimate):
            continue
        if isinstance(row.name, str):
            if missing(INTERVALS[row.name], estimate) is None:
                return row.name
        elif (name := row.name(estimate)) is not None:
            return name
    raise AssertionError("the last row fits every estimate")


def situation(words: str, of: type, where: Callable[..., bool] | None) -> str:
    """Write one row of a table of leaders in words: sampling, evidence and condition.

    Examples
    --------
    >>> situation("weighted examples", evidence.EffectiveProportion, None)
    'weighted examples, effective proportion'
    """
    of_type = "" if of is object else re.sub(r"(?<!^)(?=[A-Z])", " ", of.__name__).lower()
    condition = "" if where is None else summary_of(where).removeprefix("Whether ").rstrip(".")
    return ", ".join(filter(None, (words, of_type, condition))) or "anything else"


def leads_for(name: str) -> str:
    """Say in which rows of the table an interval leads, numbered from the top; empty where in none."""
    of_metrics = [metric.inference for metric in METRICS.values()]
    rows = rows_that_lead(
        LEADERS,
        name,
        {
            first_of_metric: {n for one in of_metrics for n in _until_general(one.intervals)},
            of_difference: {
                n for one in of_metrics if (n := one.difference_interval) and not INTERVALS[n].by_resampling
            },
            general: {*GENERAL},
        },
    )
    named = any(row.name == name for row in LEADERS)
    return "; ".join(rows if named else [*by_sampling(name, LEADERS, of_sampling), *rows])


def rows_that_lead(table: Sequence[Leader], name: str, chosen: Mapping[Choice, set[str]]) -> list[str]:
    """Say in which rows of a table an interval or a test leads, numbered from the top.

    Parameters
    ----------
    chosen
        The names that a function may choose by the metric.
    """
    rows = []
    for number, row in enumerate(table, start=1):
        text = f"{number} {situation(row.drawn, row.of, row.where)}"
        if row.name == name:
            rows.append(text)
        elif not isinstance(row.name, str) and name in chosen.get(row.name, ()):
            rows.append(f"{text}, by the metric")
    return rows


def by_sampling(name: str, table: Sequence[Leader], of_sampling: Choice) -> list[str]:
    """Say in which row of a table the t of a sampling leads: of the rows that ask the sampling by a function."""
    words = [student.drawn for student in STUDENTS if student.name == name]
    places = [k for k, row in enumerate(table, 1) if row.name is of_sampling and row.drawn in ("", *words)]
    return [f"{places[0]} {word}" for word in words]


def _until_general(intervals: Sequence[str]) -> list[str]:
    """Return a metric's intervals up to the first that applies to any data, without those of a plain proportion."""
    end = next((position for position, name in enumerate(intervals) if name in GENERAL), len(intervals))
    return [name for name in intervals[: end + 1] if evidence.Proportion not in INTERVALS[name].of]
