"""The level at which an interval meets a value: the test that inverts the interval."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import cache

from evalreport.engine.distributions import normal_quantile, normal_tail, root
from evalreport.schema.metrics import Interval

SMALLEST_ALPHA = 1e-12
"""No interval is computed at a level nearer to 1 than this."""
AT_THE_VALUE = -1e-300
"""The room of an interval with a limit at the value."""


def level_where(
    limits: Callable[[float], Interval], meets: float = 0.0, *, nested: bool = True
) -> float | None:
    """Return 1 - L0, where L0 is the largest level at which a value lies outside an interval.

    It is the p-value of that value. The limits move apart as the level rises, so test and interval agree.

    Parameters
    ----------
    limits
        The interval at a level.
    meets
        The value.
    nested
        Whether every interval holds those of lower levels. Where not, levels are scanned from above: p-value and 95 %
        interval agree there too.

    Returns
    -------
    float or None
        1 where the value lies inside from the level 0.001 on; ``SMALLEST_ALPHA`` where it lies outside at every level;
        None where there is no interval.

    Examples
    --------
    A normal interval 2 -+ z: 0 is met at the two-sided p-value of z = 2.

    >>> from evalreport.engine.distributions import normal_quantile
    >>> def normal(level):
    ...     z = normal_quantile((1 + level) / 2)
    ...     return Interval(method="normal", level=level, low=2 - z, high=2 + z)
    >>> round(level_where(normal), 5)
    0.0455
    """
    usual = limits(0.95)
    if usual.low is None or usual.high is None:
        return None
    # Replicates of equal values differ by rounding, which depends on the unit of measurement.
    width = usual.high - usual.low
    rounding = 1e-12 * width

    def room(interval: Interval) -> float:
        if interval.low is None or interval.high is None:
            return -width or AT_THE_VALUE
        gap = max(interval.low - meets, meets - interval.high)
        # A limit at the value itself does not leave it out.
        return gap if abs(gap) > rounding else AT_THE_VALUE

    def room_at(alpha: float) -> float:
        return room(limits(1 - alpha))

    alpha = smallest_alpha(room_at, 0.05)
    return alpha if nested else _scanned(room_at, room(usual) >= 0, alpha)


STEP, COARSE_STEP = 1e-4, 1e-3
"""Between the alphas that are scanned, up to 0.05 and beyond."""


def _scanned(room: Callable[[float], float], decided: bool, crossing: float) -> float:
    """Return the smallest alpha with room, on the side of 0.05 that is ``decided``; ``crossing``: one with room."""
    first, step = (0.0, STEP) if decided else (0.05, COARSE_STEP)
    inside = first
    for k in range(1, math.ceil((crossing - first) / step)):
        alpha = first + k * step
        if room(alpha) >= 0:
            return _crossing(room, inside, alpha)
        inside = alpha
    return crossing


def _crossing(room: Callable[[float], float], inside: float, outside: float) -> float:
    while outside - inside > 1e-9:
        middle = (inside + outside) / 2
        inside, outside = (inside, middle) if room(middle) >= 0 else (middle, outside)
    return outside


def smallest_alpha(
    room: Callable[[float], float], at: float, *, smallest: float = SMALLEST_ALPHA, largest: float = 0.999
) -> float:
    """Return the smallest alpha at which an interval of level 1 - alpha fulfils a condition; 1 where none does.

    Parameters
    ----------
    room
        By how much the interval at alpha fulfils it: below 0 where it does not. It grows with alpha.
    at
        The alpha that is decided at: the answer is at or below it exactly where the condition holds there, even where
        limits change their method on the way.
    """
    decided, least, most = (normal_quantile(1 - alpha / 2) for alpha in (at, largest, smallest))

    @cache
    def by_normal_quantile(z: float) -> float:
        """Return the room at an alpha, which is nearly a straight line of its normal quantile."""
        return max(min(room(2 * normal_tail(z)), 1e300), -1e300)

    if by_normal_quantile(decided) >= 0:
        if by_normal_quantile(most) >= 0:
            return smallest
        return min(2 * normal_tail(root(by_normal_quantile, decided, most, tolerance=1e-9)), at)
    if by_normal_quantile(least) < 0:
        return 1.0
    crossing = 2 * normal_tail(root(by_normal_quantile, least, decided, tolerance=1e-9))
    return min(max(crossing, math.nextafter(at, 1)), 1.0)
