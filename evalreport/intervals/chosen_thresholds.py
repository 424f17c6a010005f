"""Intervals of values at a threshold that was chosen on the examples it is measured on."""

from __future__ import annotations

import math

from evalreport.engine.distributions import gradient, t_quantile
from evalreport.intervals.label_tables import made_up_share
from evalreport.intervals.proportions import quantile
from evalreport.intervals.registry import Bounds, evidence_of, interval
from evalreport.metrics.estimate import Estimate
from evalreport.metrics.evidence import AtChosen
from evalreport.texts import Message

LEAST_USED = 50
"""With fewer replicates that hold both classes there are no limits."""

NO_REPLICATES = Message("limits.few_with_both_classes")


@interval(
    "Fresh examples, threshold rechosen",
    of=AtChosen,
    needs=("of_this_metric",),
    source="the optimism of a choice by the bootstrap: Efron and Tibshirani (1993), Introduction to the Bootstrap;"
    " with the limits of plus four: our own combination (docs/curves.md)",
)
def rechosen(estimate: Estimate, level: float) -> Bounds:
    """What the threshold chosen here gives on fresh examples: the delta method, less the bootstrap's optimism.

    With one made-up example in each cell of the 2 x 2 table at the threshold ((z / z(95 %))^2 at other levels) the
    value is c, its error s. In each replicate the threshold is chosen anew; its value there less that on the data is
    the optimism o, the latter v: limits c - mean(o) -+ z sqrt(s^2 + var(v)). In clusters, under weights and in order of
    time c is the value itself, s and Student's t are the sampling's.
    """
    chosen = evidence_of(estimate, AtChosen)
    return on_fresh_examples(chosen, estimate.value, level)


def expected(chosen: AtChosen, value: float) -> float | None:
    """Return what the value is expected to be on fresh examples; None with too few replicates."""
    return value - float(chosen.optimism.mean()) if len(chosen.optimism) >= LEAST_USED else None


def on_fresh_examples(chosen: AtChosen, value: float, level: float) -> Bounds:
    """Return limits of the value on fresh examples, with what to expect there for the reason."""
    fresh = expected(chosen, value)
    if fresh is None:
        return Bounds(None, None, NO_REPLICATES)
    spread = float(chosen.on_data.var(ddof=1))
    if chosen.alike:
        centre, variance = _after_made_up(chosen, level)
        by = quantile(level)
    elif chosen.student is None or not (chosen.student.error or spread):
        return Bounds(None, None, Message("limits.same_threshold"))
    else:
        centre, variance = value, chosen.student.error**2
        by = t_quantile((1 + level) / 2, chosen.student.df)
    middle, half = centre - float(chosen.optimism.mean()), by * math.sqrt(variance + spread)
    return Bounds(middle - half, middle + half, Message("limits.chosen_here", expected=fresh))


def _after_made_up(chosen: AtChosen, level: float) -> tuple[float, float]:
    """Return the value and its variance after the made-up examples of ``plus_four``, one a cell at 95 %."""
    table = chosen.table + made_up_share(level)
    slopes = gradient(chosen.of_table, table)
    mean = float((table * slopes).sum() / table.sum())
    return float(chosen.of_table(table[None, :])[0]), float((table * (slopes - mean) ** 2).sum())
