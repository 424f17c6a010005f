"""Registered tests of pairs, effects, multiplicity and the one table of decisions."""

from evalreport.comparisons import (
    bayes,
    equivalence,
    folds,
    labels,
    losses,
    omnibus,
    proportions,
    ranks,
    resampled,
    scores,
    seeds,
)
from evalreport.comparisons.registry import TESTS, Outcome, Pair, Test

__all__ = [
    "TESTS",
    "Outcome",
    "Pair",
    "Test",
    "bayes",
    "equivalence",
    "folds",
    "labels",
    "losses",
    "omnibus",
    "proportions",
    "ranks",
    "resampled",
    "scores",
    "seeds",
]
