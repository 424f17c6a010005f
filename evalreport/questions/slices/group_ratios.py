"""Ratios of the groups of a column to its largest group."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from functools import partial

import numpy as np

from evalreport.calibration.limits import rising_root
from evalreport.intervals.at_rates import mover
from evalreport.intervals.proportions import wilson_limits
from evalreport.questions.slices.group_spread import Shares
from evalreport.questions.slices.records import GroupRatioRecord

LARGEST_RATIO = 1e6
Limited = tuple[float, float, float]
"""A value with its limits."""


def ratio_limits(x: Limited | None, y: Limited | None) -> tuple[float, float | None] | None:
    """Return all k that x - k y does not rule out, x and y of disjoint groups; None without limits or for y = 0.

    The upper one is None where no k is ruled out from above. The limits of x - k y are those of both, squared and added
    (Zou and Donner 2008, Stat Med 27:1693).

    Examples
    --------
    >>> low, high = ratio_limits((0.24, 0.22, 0.26), (0.34, 0.32, 0.36))
    >>> round(low, 3), round(high, 3)
    (0.636, 0.781)
    """
    if x is None or y is None or y[0] <= 0:
        return None
    low, high = not_ruled_out(lambda k, side: mover(x, k, y, 0.0)[side])
    return low or 0.0, high


def not_ruled_out(reach: Callable[[float, int], float]) -> tuple[float, float | None]:
    """Return the least and the greatest k >= 0 at which x - k y may be 0; None where there is no greatest.

    Parameters
    ----------
    reach
        The lower (0) or upper (1) limit of x - k y at a k; falls in k.
    """

    def below(side: int, k: float) -> float:
        return -reach(k, side)

    found: list[float | None] = []
    for side in (0, 1):
        top = 1.0
        while reach(top, side) > 0 and top < LARGEST_RATIO:
            top *= 2
        open_ended = reach(top, side) > 0
        found.append(None if open_ended else rising_root(partial(below, side), 0.0, top))
    low, high = found
    return low or 0.0, high


def ratio_records(found: Iterable[Shares], level: float) -> tuple[GroupRatioRecord, ...]:
    """Return the ratio of each group's share to that of the largest group of its column."""
    return tuple(record for one in found for record in _of_column(one, level))


def _of_column(one: Shares, level: float) -> Iterator[GroupRatioRecord]:
    held = ~np.isnan(one.trials) & (one.trials > 0)
    if int(held.sum()) < 2:
        return
    largest = int(np.argmax(np.where(held, one.trials, -1.0)))
    reference = _limited(one, largest, level)
    for place, name in enumerate(one.names):
        if place == largest or not held[place]:
            continue
        own = _limited(one, place, level)
        limits = ratio_limits(own, reference)
        low, high = (None, None) if limits is None else limits
        yield GroupRatioRecord(
            model=one.model, metric=one.metric, column=one.column, value=name, reference=one.names[largest],
            ratio=own[0] / reference[0] if reference[0] > 0 else None, low=low, high=high, level=level,
        )  # fmt: skip


def _limited(one: Shares, place: int, level: float) -> Limited:
    successes, trials = float(one.successes[place]), float(one.trials[place])
    return successes / trials, *wilson_limits(successes, trials, level)
