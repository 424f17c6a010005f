"""Registered tests of pairs, effects, multiplicity and the one table of decisions."""

from evalreport.comparisons import example_tests, fits, inverted_interval, permutation, score_tests
from evalreport.comparisons.equivalence import equivalence
from evalreport.comparisons.registry import TESTS, Outcome, Pair, Test

__all__ = ["TESTS", "Outcome", "Pair", "Test", "equivalence"]
