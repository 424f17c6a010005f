"""Equivalence tests: whether a pair's interval lies inside the declared margin."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace

from evalreport.comparisons.registry import Outcome, Pair, comparison_test
from evalreport.intervals import INTERVALS, resolved
from evalreport.intervals.inversion import SMALLEST_ALPHA, smallest_alpha
from evalreport.schema.comparisons import ComparisonRecord
from evalreport.schema.metrics import Interval
from evalreport.texts import Message


def equivalence_record(
    leading: ComparisonRecord,
    pair: Pair,
    settled: Callable[[float], tuple[bool, Interval]],
    margin: float,
    confidence: float,
) -> ComparisonRecord:
    """Test a pair for equivalence.

    Parameters
    ----------
    leading
        The record of the pair's recommended test.
    settled
        Whether the pair is decided, and its one interval, at any alpha; the interval gives the adjusted p-value.
    """
    p = tost(pair, margin)
    adjusted = smallest_alpha(lambda alpha: room_within(settled(alpha)[1], margin), 1 - confidence)
    return replace(
        leading,
        test="tost",
        statistic=None,
        df=None,
        p_value=p,
        p_adjusted=None if p is None else adjusted,
        effect=None,
        effect_size=None,
        recommended=False,
        caution=Message("caution.beyond_margin", margin=margin),
        reason=NO_INTERVAL if p is None else None,
    )


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
    name, delta = pair.recommended_interval, pair.difference
    if resolved(delta, name, 0.9).low is None:
        return None
    # No replicate lies beyond the extreme ones, so a bootstrap interval resolves no smaller alpha than this.
    resampled = INTERVALS[name].by_resampling and delta.replicates is not None
    smallest = 1 / (len(delta.replicates_used) + 1) if resampled else SMALLEST_ALPHA
    return smallest_alpha(
        lambda alpha: room_within(resolved(delta, name, 1 - 2 * alpha), margin),
        0.05,
        smallest=smallest,
        largest=0.5 - 1e-9,
    )


NO_INTERVAL = Message("reason.no_interval_to_invert")


def room_within(limits: Interval, margin: float) -> float:
    """Return how far limits lie inside [-margin, margin]; below 0 where they do not, or where there are none."""
    if limits.low is None or limits.high is None:
        return -math.inf
    return min(margin - limits.high, limits.low + margin)


@comparison_test("Equivalence, two one-sided tests", "margin", name="tost")
def equivalence(pair: Pair) -> Outcome:
    """Smallest level at which the recommended interval of the difference lies inside the declared margin."""
    assert pair.margin is not None
    p = tost(pair, pair.margin)
    return Outcome(None, p, reason=None if p is not None else NO_INTERVAL)
