"""The test that inverts a pair's interval: it leads wherever no exact, score or t test is known."""

from __future__ import annotations

from evalreport.comparisons.example_tests import NEGLIGIBLE
from evalreport.comparisons.registry import Outcome, Pair, comparison_test, probability
from evalreport.intervals.inversion import level_where
from evalreport.intervals.two_sets import nested
from evalreport.texts import Message


@comparison_test("Interval, inverted", "interval", beside=("delong", "bootstrap_difference"))
def interval(pair: Pair) -> Outcome:
    """One minus the level at which the pair's leading interval meets 0, so that test and interval agree."""
    if abs(pair.difference.value) <= NEGLIGIBLE * max(abs(pair.a.value), abs(pair.b.value)):
        return Outcome(None, 1.0)
    p = level_where(pair.limits, nested=nested(pair.difference))
    if p is None:
        return Outcome(None, None, reason=pair.limits(0.95).reason or Message("reason.no_interval_to_invert"))
    return Outcome(None, probability(p))
