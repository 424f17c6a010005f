"""What answers cost: each model's figures, and ratios of two models'."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from evalreport.schema.metrics import Slice
from evalreport.schema.pairs import RATIO, inverted, seen_from
from evalreport.texts import Message


@dataclass(frozen=True, slots=True, kw_only=True)
class CostLimits:
    """Limits of the figures of a ``CostRecord``."""

    low: float | None = None
    high: float | None = None
    median_low: float | None = None
    median_high: float | None = None
    p95_low: float | None = None
    p95_high: float | None = None
    per_success_low: float | None = None
    per_success_high: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class CostRecord:
    """What one model's answers cost, by one column.

    ``n`` and ``mean`` are over questions, a suite's mean over its tasks; ``low`` and ``high`` by ``method``. ``median``
    and ``p95``: quantiles of all answers, with limits by order statistics. ``sum``: of all answers. ``per_success``:
    sum of the costs over the number of successes, so that failures are charged. ``undominated``: no other model has a
    primary value at least as good and a mean at most as large, one of them strictly; null where a model lacks the
    metric. ``largest_share``: how much of the sum the dearest answer takes. ``reason``: why something is null; those of
    single figures, such as ``p95_reason``, are parts of it.
    """

    model: str
    column: str
    unit: str | None
    slice: Slice | None = None
    n: int
    answers: int
    """Single answers: as many as questions, or more."""
    mean: float
    low: float | None = None
    high: float | None = None
    method: str
    median: float
    median_low: float | None = None
    median_high: float | None = None
    p95: float
    p95_low: float | None = None
    p95_high: float | None = None
    sum: float
    successes: int | None = None
    """Answers that succeeded; null where answers neither succeed nor fail."""
    per_success: float | None = None
    per_success_low: float | None = None
    per_success_high: float | None = None
    undominated: bool | None = None
    largest_share: float | None = None
    alike: bool = False
    """All costs are the same: a gate is decided by the value."""
    of_gates: CostLimits | None = None
    """With looks: the limits at one minus the look's level, by which gates are decided."""
    reason: Message | None = None
    mean_reason: Message | None = None
    median_reason: Message | None = None
    p95_reason: Message | None = None
    per_success_reason: Message | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class CostRatioRecord:
    """Mean cost of a over mean cost of b, with limits by ``method``; ``per_success_ratio``: of their costs per success.

    ``alike``: one's costs are a multiple of the other's, so that there is nothing to estimate.
    """

    a: str
    b: str
    column: str
    slice: Slice | None = None
    ratio: float | None
    low: float | None = None
    high: float | None = None
    level: float
    method: str
    alike: bool = False
    reason: Message | None = None
    per_success_ratio: float | None = None
    per_success_low: float | None = None
    per_success_high: float | None = None
    per_success_reason: Message | None = None


PER_SUCCESS = ("per_success_ratio", "per_success_low", "per_success_high")


def ratio_between(
    ratios: Iterable[CostRatioRecord], column: str, a: str, b: str, within: Slice | None = None
) -> CostRatioRecord | None:
    """Return the ratio of two models, turned round where the records hold the other one."""
    for row in ratios:
        if (row.column, row.slice) == (column, within) and {row.a, row.b} == {a, b}:
            return seen_from(a, row, RATIO, PER_SUCCESS, by=inverted)
    return None


@dataclass(frozen=True, kw_only=True)
class CostLists:
    """The lists of results.json about costs."""

    costs: Sequence[CostRecord] = ()
    cost_ratios: Sequence[CostRatioRecord] = ()
