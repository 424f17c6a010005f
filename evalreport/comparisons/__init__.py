"""Registered tests of pairs, effects, multiplicity and the one table of decisions."""

from evalreport.comparisons import example_tests, fits, verdicts
from evalreport.comparisons.registry import TESTS, Outcome, Pair, Test

__all__ = ["TESTS", "Outcome", "Pair", "Test", "example_tests", "fits", "verdicts"]
