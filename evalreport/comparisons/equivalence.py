"""Equivalence within a declared margin: two one-sided tests, by inverting the interval of the difference."""

from __future__ import annotations

import math

from evalreport.comparisons.registry import Outcome, Pair, comparison_test, probability
from evalreport.engine.distributions import root
from evalreport.intervals import INTERVALS, limits, recommended


def tost(pair: Pair, margin: float) -> float | None:
    """Return the smallest alpha at which the 1 - 2 alpha interval lies inside (-margin, margin).

    Parameters
    ----------
    pair
        Its recommended interval is inverted.
    margin
        Smallest difference that matters, in the metric's units, > 0.

    Returns
    -------
    float or None
        1 where no level does (the observed difference is not inside); None where there is no interval.

    References
    ----------
    Schuirmann (1987), J Pharmacokinet Biopharm 15:657; Westlake (1981).
    """
    name = recommended(pair.difference)

    def room(alpha: float) -> float:
        interval = limits(pair.difference, name, 1 - 2 * alpha)
        if interval.low is None or interval.high is None:
            # Few data sets allow no interval at a high level: there it is as wide as can be.
            return -float("inf")
        return min(margin - interval.high, interval.low + margin)

    # No replicate lies beyond the extreme ones, so a bootstrap interval resolves no smaller alpha than this.
    resampled = INTERVALS[name].kind == "bootstrap" and pair.difference.replicates is not None
    smallest = 1 / (len(pair.difference.replicates_used) + 1) if resampled else 1e-9
    largest = 0.5 - 1e-9
    if math.isnan(room(largest)) or math.isnan(room(smallest)):
        return None
    if room(largest) <= 0:
        return 1.0
    if room(smallest) > 0:
        return probability(smallest)
    return probability(root(room, smallest, largest, tolerance=1e-10))


@comparison_test(
    "Equivalence, two one-sided tests",
    "margin",
    name="tost",
    null_hypothesis="the difference is as large as the declared margin or larger, either way",
    assumptions="those of the recommended interval of the difference, which is inverted",
    source="Schuirmann (1987), J Pharmacokinet Biopharm 15:657; Westlake (1981)",
)
def equivalence(pair: Pair) -> Outcome:
    """Smallest level at which the recommended interval of the difference lies inside the declared margin."""
    assert pair.margin is not None
    p = tost(pair, pair.margin)
    return Outcome(None, p, reason=None if p is not None else "the difference has no interval to be inverted")
