"""Intervals of functions of the confusion table, and of their paired differences, after a few made-up examples.

A made-up example is shared out over the classes, half of all for right answers and half for wrong ones (one model) or
so that neither model gains (two). It keeps the delta method away from tables that seem not to vary: no count is 0.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from evalreport.engine.counts import Cells
from evalreport.engine.distributions import t_quantile
from evalreport.intervals.proportions import quantile
from evalreport.intervals.registry import EXAMPLES_ALIKE, Bounds, interval
from evalreport.metrics.difference import Difference
from evalreport.metrics.estimate import Estimate
from evalreport.metrics.evidence import (
    Ordered,
    PairedLabels,
    PairedProportion,
    PairedRanking,
    Table,
    agreement,
)
from evalreport.texts import Message

LEAST_LEVEL = 1e-3
"""Intervals at lower confidence levels add as many examples as at this one: never none."""


def made_up_share(level: float) -> float:
    """Return by how much the numbers of made-up examples of the 95 % level are multiplied: (z / z(95 %))^2."""
    return (quantile(max(level, LEAST_LEVEL)) / quantile(0.95)) ** 2


# --- one model ------------------------------------------------------------------------------------------------------


@interval(
    "Plus four",
    of=Estimate,
    needs=(*EXAMPLES_ALIKE, "one_set", "label_table"),
    source="Agresti and Coull (1998), Am Stat 52:119; several proportions: Price and Bonett (2004), Comput Stat Data"
    " Anal 45:449; for other functions of the table the delta method there, our own combination (docs/coverage.md)",
)
def plus_four(estimate: Estimate, level: float) -> Bounds:
    """Delta method after two right and two wrong answers, shared equally over the classes, by Student's t.

    Each of the K classes gets f right answers and f wrong ones, these shared over the other K - 1 labels, with
    f = (2 / K) (z / z(95 %))^2. Of a metric of one class that class and all others are the two. There are n - 1
    degrees of freedom, n without the made-up examples. No cell is empty, so a width is always left.
    """
    return of_table(_table(estimate), estimate.sampling.n_examples, estimate.value, level)


def _table(estimate: Estimate) -> Table:
    """Return the table of counts that a value is a function of."""
    table = estimate.evidence.table if isinstance(estimate.evidence, Ordered) else estimate.table
    assert table is not None
    return table


def of_table(table: Table, n: int, value: float, level: float) -> Bounds:
    """Return the limits of a function of a table of n examples."""
    others = len(table.labels) - 1
    if n < 2 or others < 1 or not table.rows:
        return Bounds(None, None, Message("limits.one_example" if n < 2 else "limits.one_class"))
    added = 2 / len(table.rows) * made_up_share(level)
    smoothed = table.with_made_up(right=added, wrong=added / others)
    shifted = table.at_made_up(right=added, wrong=added / others)
    slopes = shifted.slopes()
    # The mean derivative is 0 up to rounding where the value does not grow with the number of examples.
    mean = float((smoothed * slopes).sum() / smoothed.sum())
    error = math.sqrt(float((smoothed * (slopes - mean) ** 2).sum()))
    return _around(shifted.value, error, n - 1, value, level)


def _around(centre: float, error: float, df: float, value: float, level: float) -> Bounds:
    """Return limits about the centre that hold the value."""
    half = t_quantile((1 + level) / 2, df) * error
    return Bounds(min(centre - half, value), max(centre + half, value))


# --- two models -----------------------------------------------------------------------------------------------------


@interval(
    "Plus two",
    of=(PairedLabels, PairedProportion, PairedRanking),
    needs=(*EXAMPLES_ALIKE, "one_set", "two_scores"),
    source="accuracy: Bonett and Price (2012), J Educ Behav Stat 37:479; for other functions of the table the delta"
    " method there, our own combination (docs/coverage.md)",
)
def plus_two(difference: Difference, level: float) -> Bounds:
    """Delta method after two made-up examples on which exactly one of both models is right, by Student's t.

    For every class t and every label j other than t two cells get c / (K - 1) each: the first model says t and the
    second j, and the other way round; c = (1 / K) (z / z(95 %))^2. Of shares (accuracy; recall among the examples of
    its class) this is one example more in each discordant cell. There are n - 1 degrees of freedom, n without the
    made-up examples. The area under the ROC curve of two scores alone is the balanced accuracy of these labels.
    """
    evidence = difference.evidence
    if isinstance(evidence, PairedProportion):
        return _of_shares([evidence.table], difference.value, level)
    if isinstance(evidence, PairedRanking):
        return _of_shares(_agreement_by_class(evidence), difference.value, level)
    assert isinstance(evidence, PairedLabels)
    if evidence.within_class is not None:
        return _of_shares([evidence.within_class], difference.value, level)
    first, second = _table(difference.a), _table(difference.b)
    return of_tables(first, second, evidence.cells, difference.value, level)


def of_tables(first: Table, second: Table, cells: Cells, difference: float, level: float) -> Bounds:
    """Return the limits of m(A) - m(B) from the tables and from the cells that both answer."""
    n, others = float(cells.counts.sum()), len(first.labels) - 1
    if n < 2 or others < 1 or not first.rows:
        return Bounds(None, None, Message("limits.one_example" if n < 2 else "limits.one_class"))
    added = made_up_share(level) / len(first.rows) / others
    a, b = (table.at_made_up(right=added * others, wrong=added) for table in (first, second))
    of_a, of_b = a.slopes(), b.slopes()
    true, answers = cells.true, cells.predicted
    if first.collapsed is not None:
        true, answers = ((codes != first.collapsed).astype(np.int32) for codes in (true, answers))
    observed = of_a[true, answers[0]] - of_b[true, answers[1]]
    squares = float((cells.counts * observed**2).sum())
    rows, labels = np.array(first.rows), np.array(first.labels)
    wrong = rows[:, None] != labels
    for one, other in ((of_a, of_b), (of_b, of_a)):
        # The one is right, the other says any other label.
        apart = one[rows, rows][:, None] - other[np.ix_(rows, labels)]
        squares += added * float((wrong * apart**2).sum())
    return _around(a.value - b.value, math.sqrt(squares), n - 1, difference, level)


Agreement = tuple[float, float, float, float]
"""How many examples both models have right, only the first, only the second, neither."""


def _agreement_by_class(found: PairedRanking) -> list[Agreement]:
    """Return the examples of either class on which both labels are right, only the first, only the second, neither."""
    labels = (side.labels for side in (found.a, found.b) if side.labels is not None)
    positive = found.a.positive
    right = np.column_stack([*labels]) == positive[:, None]
    return [agreement(right[chosen]) for chosen in (positive, ~positive)]


def _of_shares(strata: Sequence[Agreement], difference: float, level: float) -> Bounds:
    """Return the limits of the mean over strata of the difference of two shares of the same examples.

    The closed form of ``of_tables``: one example in all is added to those that only the first model has right, and one
    to those that only the second has right, shared equally over the strata.
    """
    n, added = sum(map(sum, strata)), made_up_share(level) / len(strata)
    if n < 2:
        return Bounds(None, None, Message("limits.one_example"))
    centre = variance = 0.0
    for both, only_first, only_second, neither in strata:
        trials = both + only_first + only_second + neither + 2 * added
        of_stratum = (only_first - only_second) / trials
        apart = (only_first + only_second + 2 * added) / trials
        centre += of_stratum / len(strata)
        variance += (apart - of_stratum**2) / trials / len(strata) ** 2
    return _around(centre, math.sqrt(variance), n - 1, difference, level)
