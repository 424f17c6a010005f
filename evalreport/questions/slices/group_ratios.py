"""Ratios of the groups of a column to its largest group."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import partial

import numpy as np
import numpy.typing as npt

from evalreport.calibration.limits import rising_root
from evalreport.intervals.proportions import mover, wilson_limits
from evalreport.questions.slices.group_spread import Shares
from evalreport.questions.slices.limits import Successes, fisher
from evalreport.questions.slices.records import IN_HEADINGS, LEAST_TRIALS, GroupRatioRecord, stand_in_order

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
    low, high = not_ruled_out(lambda k, side: mover(x, y, 0.0, k)[side])
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

    bounds: list[float | None] = []
    for side in (0, 1):
        top = 1.0
        while reach(top, side) > 0 and top < LARGEST_RATIO:
            top *= 2
        open_ended = reach(top, side) > 0
        bounds.append(None if open_ended else rising_root(partial(below, side), 0.0, top))
    low, high = bounds
    return low or 0.0, high


def ratio_records(found: Sequence[Shares], level: float) -> tuple[GroupRatioRecord, ...]:
    """Return the ratio of each group's share to that of the largest group of its column."""
    return tuple(record for shares in found for record in _of_column(shares, level, _family(shares, found)))


def _family(shares: Shares, found: Sequence[Shares]) -> int:
    """Count the ratios that a heading chooses from: the groups of all columns of a model, times the metrics spoken of.

    Columns in order, such as periods, are left out where there are others.
    """
    alike = [s for s in found if (s.model, s.metric) == (shares.model, shares.metric)]
    without_order = [s for s in alike if not stand_in_order(s.names)]
    if without_order and stand_in_order(shares.names):
        return 0
    spoken_of = {s.metric for s in found if s.model == shares.model and s.metric in IN_HEADINGS}
    groups = sum(max(int(_tested(s).sum()) - 1, 0) for s in without_order or alike)
    return groups * (len(spoken_of) if shares.metric in spoken_of else 1)


def _tested(shares: Shares) -> npt.NDArray[np.bool_]:
    """Say which groups are large enough to be named; none where their trials are not known."""
    return np.asarray(~np.isnan(shares.trials) & (shares.trials >= LEAST_TRIALS))


def _of_column(shares: Shares, level: float, comparisons: int) -> Iterator[GroupRatioRecord]:
    counted = ~np.isnan(shares.trials) & (shares.trials > 0)
    if int(counted.sum()) < 2:
        return
    largest = int(np.argmax(np.where(counted, shares.trials, -1.0)))
    tested, reference = _tested(shares), _limited(shares, largest, level)
    for place, name in enumerate(shares.names):
        if place == largest or not counted[place]:
            continue
        group = _limited(shares, place, level)
        low, high = ratio_limits(group, reference) or (None, None)
        record = GroupRatioRecord(
            model=shares.model, metric=shares.metric, column=shares.column, value=name,
            reference=shares.names[largest], ratio=group[0] / reference[0] if reference[0] > 0 else None,
            low=low, high=high, level=level,
        )  # fmt: skip
        named = comparisons > 0 and tested[place] and tested[largest]
        yield _together(record, shares, (place, largest), comparisons) if named else record


def _together(
    record: GroupRatioRecord, shares: Shares, places: tuple[int, int], comparisons: int
) -> GroupRatioRecord:
    """Add the limits that hold for all comparisons of a heading, and whether the groups differ by them.

    Far out, where many comparisons put the level, Wilson's limits of small groups are too short; Fisher's test is not.
    """
    alpha = (1 - record.level) / comparisons
    limits = ratio_limits(*(_limited(shares, place, 1 - alpha) for place in places))
    if limits is None:
        return replace(record, comparisons=comparisons)
    low, high = limits
    (x1, n1), (x2, n2) = ((float(shares.successes[p]), float(shares.trials[p])) for p in places)
    apart = low > 1 or (high is not None and high < 1)
    return replace(
        record, simultaneous_low=low, simultaneous_high=high, comparisons=comparisons,
        differs=apart and fisher(Successes(x1, n1, x2, n2)) <= alpha,
    )  # fmt: skip


def _limited(shares: Shares, place: int, level: float) -> Limited:
    successes, trials = float(shares.successes[place]), float(shares.trials[place])
    return successes / trials, *wilson_limits(successes, trials, level)
