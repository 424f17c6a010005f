"""Limits, and the roots of what rises."""

from __future__ import annotations

from collections.abc import Callable

from evalreport.engine.distributions import root

Limits = tuple[float | None, float | None]
"""Lower and upper limit; None where there is none."""

NO_LIMITS: Limits = (None, None)


def rising_root(function: Callable[[float], float], low: float, high: float) -> float:
    """Return the root of a rising function, which may lie at an end where rounding hides the change of sign."""
    if function(low) >= 0:
        return low
    return high if function(high) <= 0 else root(function, low, high, tolerance=1e-13)
