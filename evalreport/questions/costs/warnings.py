"""Warnings about costs: what one answer holds, what few questions may not hold, what was left out."""

from __future__ import annotations

from collections.abc import Iterator

from evalreport.predictions.table import Predictions
from evalreport.questions.costs.compute import Costs
from evalreport.schema.warnings import WarningRecord, warning
from evalreport.warnings.checks import check

LARGE_SHARE = 0.2
"""From so large a share of the sum on, one answer is named in a caution."""
MANY = 300
"""Of so many questions on, rare costs are likely to have been met."""


@check("cost_left_out")
def left_out(costs: Costs, predictions: Predictions) -> Iterator[WarningRecord]:
    """Warn of answers without a cost, whose questions are left out of that column's figures."""
    for column, n in costs.left_out.items():
        yield warning("cost_left_out", about=(column,), column=column, n=n, total=predictions.n_examples)


@check("one_large_cost", of_models=True)
def large(costs: Costs) -> Iterator[WarningRecord]:
    """Warn of an answer that holds much of what a model spent."""
    for record in costs.costs:
        share = record.largest_share
        if record.slice is None and share is not None and share >= LARGE_SHARE:
            yield warning(
                "one_large_cost", about=(record.model, record.column), model=record.model, column=record.column,
                share=share,
            )  # fmt: skip


@check("rare_costs")
def rare(costs: Costs) -> Iterator[WarningRecord]:
    """Say of which costs so few questions may hold none; once for each number of questions."""
    overall = [record for record in costs.costs if record.slice is None]
    for n in sorted({record.n for record in overall if record.n < MANY}):
        columns = tuple(dict.fromkeys(r.column for r in overall if r.n == n))
        yield warning("rare_costs", about=columns, n=n, one_in=one_in(n))


def one_in(n: int) -> int:
    """Return k: of a cost that fewer than one answer in k has, n answers may hold none (with a chance of 5 %).

    Examples
    --------
    >>> [one_in(n) for n in (30, 50, 100)]
    [11, 17, 34]
    """
    k: float = 1 / (1 - 0.05 ** (1.0 / n))
    return round(k)
