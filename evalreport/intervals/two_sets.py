"""The interval of a difference of two models that have test sets of their own."""

from __future__ import annotations

import math

from evalreport.intervals.choice import squared_and_added, values_with_limits, with_few_rows
from evalreport.intervals.leaders import recommended
from evalreport.intervals.registry import INTERVALS, Bounds, interval
from evalreport.metrics.difference import Difference
from evalreport.metrics.estimate import Estimate
from evalreport.metrics.evidence import SquaredErrors
from evalreport.texts import Message


@interval(
    "Squared and added",
    of=Difference,
    needs=("some_interval", "two_sets"),
    source="Zou and Donner (2008), Stat Med 27:1693",
)
def square_and_add(difference: Difference, level: float) -> Bounds:
    """Difference of the values on two test sets: the distances of both values from their limits, squared and added.

    low = a - b - sqrt((a - l_a)^2 + (u_b - b)^2), high likewise, with the limits that lead for each value: so a small
    set on which a model is perfect has a width. Those of means of n rows are 1 + 6 / n times as far away. Of two
    proportions with Wilson's limits it is Newcombe's interval.
    """
    return squared_and_added(difference, level)


def nested(difference: Difference) -> bool:
    """Say whether the limits of a difference surely move apart as the level rises.

    On two test sets those of R2 need not: a value whose squares reach 0 has another upper limit. Nor need limits of
    replicates, which change their method where few lie beyond them.
    """
    if not difference.sampling.two_sets:
        return True
    sides = (difference.a, difference.b)
    ratios = (isinstance(side.evidence, SquaredErrors) and side.evidence.spread is not None for side in sides)
    return not any(ratios) and not any(INTERVALS[recommended(side)].by_resampling for side in sides)


def ratio_of_two_sets(a: Estimate, b: Estimate, level: float) -> Bounds:
    """Return limits of a / b, both above 0, from the values' leading limits: squared and added on logarithms.

    Where b's lower limit is not above 0 the ratio has no upper limit, with the reason.
    """
    sides = values_with_limits(a, b, level)
    if isinstance(sides, Bounds):
        return sides
    (x, low_x, high_x), (y, low_y, high_y) = with_few_rows(a, sides[0]), with_few_rows(b, sides[1])
    if x <= 0:
        return Bounds(None, None, Message("gates.no_ratio"))
    below = math.inf if low_x <= 0 else math.hypot(math.log(x / low_x), math.log(high_y / y))
    above = math.inf if low_y <= 0 else math.hypot(math.log(high_x / x), math.log(y / low_y))
    why = Message("gates.ratio_without_end") if math.isinf(above) else None
    return Bounds(x / y * math.exp(-below), None if why else x / y * math.exp(above), why)
