"""Differences between a slice and other examples."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Literal

from evalreport.schema.metrics import Slice
from evalreport.texts import Message


@dataclass(frozen=True, slots=True, kw_only=True)
class DisparityRecord:
    """How one slice differs from all other examples on the primary metric, for one model: difference and ratio.

    ``reference`` is ``rest``; results of earlier versions also compare with ``whole`` and ``best``, the slice named in
    ``reference_value``. ``level``: simultaneous over the family of tests. ``p_value`` is that of ``test``;
    ``p_adjusted``, over the family, may start from a larger one (docs/slices.md). ``flagged``: ``p_adjusted`` is at or
    below 1 - confidence; the limits leave 0 out exactly then (cut or stretched, as ``method`` says). ``reason`` says
    why a slice is too small to be tested, or a limit is missing.
    """

    model: str
    metric: str
    average: str | None
    label: str | None
    slice: Slice
    reference: Literal["rest", "whole", "best"]
    reference_value: str | None = None
    difference: float | None
    low: float | None
    high: float | None
    ratio: float | None
    ratio_low: float | None
    ratio_high: float | None
    level: float
    method: str | None
    test: str | None = None
    p_value: float | None = None
    p_adjusted: float | None = None
    correction: str | None = None
    flagged: bool = False
    n: int
    reason: Message | None
    text: Message | None = None


IN_HEADINGS = ("selection_rate", "recall")
"""The metrics of which the heading speaks beside the primary one."""

LEAST_TRIALS = 10
"""A group with fewer trials is named in no heading."""

_PERIOD = re.compile(r"\d{4}(-(\d{2}(-\d{2})?|W\d{2}|Q[1-4]))?([T ]\d{2}:.*)?")
_BIN = re.compile(r"under \S+|\S+ to (under )?\S+|\S+ or over")


def stand_in_order(values: Sequence[str]) -> bool:
    """Say whether values of a column are dates, periods of them or bins of numbers, which have an order of their own.

    Examples
    --------
    >>> stand_in_order(["2026-01", "2026-02"]), stand_in_order(["under 18", "18 or over"]), stand_in_order(["f", "m"])
    (True, True, False)
    """
    return are_periods(values) or _are_all(_BIN, values)


def are_periods(values: Sequence[str]) -> bool:
    """Say whether values of a column are dates or periods of them, so that they can be drawn over time.

    Examples
    --------
    >>> are_periods(["2026-W09", "2026-W10", "(missing)"]), are_periods(["under 18", "18 or over"])
    (True, False)
    """
    return _are_all(_PERIOD, values)


def _are_all(kind: re.Pattern[str], values: Sequence[str]) -> bool:
    known = [value for value in values if not is_special(value)]
    return bool(known) and all(kind.fullmatch(value) for value in known)


def is_special(value: str) -> bool:
    """Say whether a value of a column stands for examples without one, such as ``(missing)``."""
    return value.startswith("(")


def distinct_tests(rows: Iterable[DisparityRecord]) -> int:
    """Count the tests of slices against the rest: of a column with two values each is the other's rest, so one test."""
    tested: dict[tuple[str, str], dict[str, bool]] = {}
    for row in rows:
        of_column = tested.setdefault((row.model, row.slice.column), {})
        of_column[row.slice.value] = of_column.get(row.slice.value, False) or row.p_adjusted is not None
    return sum(min(sum(each.values()), 1 if len(each) == 2 else len(each)) for each in tested.values())


@dataclass(frozen=True, slots=True, kw_only=True)
class GroupSpreadRecord:
    """How far the groups of one column differ on one metric of one model.

    ``sd``: the standard deviation of the groups' shares less what sampling gives, with limits. ``largest_gap``: the
    largest difference of two groups; ``gap_by_noise`` is its mean, ``gap_by_noise_95`` its 95 % point if all groups
    were alike, ``gap_by_noise_all`` that of all columns and metrics of the model together (Bonferroni). ``beyond``: the
    largest gap is above the latter, and at least two groups have ten trials or more. ``groups``: those counted;
    ``small_groups``: those with fewer than 30 trials, which count as much as the others; ``left_out``: groups with
    fewer than two trials.
    """

    model: str
    metric: str
    column: str
    sd: float | None = None
    sd_low: float | None = None
    sd_high: float | None = None
    largest_gap: float | None = None
    gap_by_noise: float | None = None
    gap_by_noise_95: float | None = None
    gap_by_noise_all: float | None = None
    beyond: bool = False
    groups: int | None = None
    small_groups: int | None = None
    left_out: tuple[str, ...] = ()
    reason: Message | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class GroupRatioRecord:
    """The ratio of one group's share to that of the largest group of its column (``reference``), with limits.

    ``high`` null: no ratio is ruled out from above. ``simultaneous_low`` and ``simultaneous_high`` hold for all
    ``comparisons`` that a heading may speak of; null where either group has fewer than ten trials. ``differs``: they
    leave 1 out, and so does Fisher's test (mid-p) at that level.
    """

    model: str
    metric: str
    column: str
    value: str
    reference: str
    ratio: float | None
    low: float | None
    high: float | None
    level: float
    simultaneous_low: float | None = None
    simultaneous_high: float | None = None
    comparisons: int | None = None
    differs: bool = False


@dataclass(frozen=True, kw_only=True)
class SliceLists:
    """The lists of results.json about slices."""

    disparities: Sequence[DisparityRecord] = ()
    group_ratios: Sequence[GroupRatioRecord] = ()
    group_spread: Sequence[GroupSpreadRecord] = ()
