"""Registered tests of pairs, effects, multiplicity and the one table of decisions."""

from evalreport.comparisons import labels, losses, resampled, scores
from evalreport.comparisons.registry import TESTS, Outcome, Pair, Test

__all__ = ["TESTS", "Outcome", "Pair", "Test", "labels", "losses", "resampled", "scores"]
