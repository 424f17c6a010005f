"""Tests on the per-example differences of two models' losses."""

from __future__ import annotations

import math

from evalreport.comparisons.registry import Outcome, Pair, comparison_test, probability
from evalreport.engine.distributions import t_tail
from evalreport.texts import Message

NEGLIGIBLE = 1e-12
"""A standard error of at most this share of the difference is rounding."""

NO_SPREAD = Message("reason.no_spread")


@comparison_test(
    "Paired t",
    "losses",
    beside=("bootstrap_difference", "permutation"),
)
def paired_t(pair: Pair) -> Outcome:
    """Student's t test on the differences of the two models' losses, example by example."""
    mean, error, units = pair.difference.value, pair.difference.corrected_error, pair.difference.n_units
    if pair.losses is not None and not (pair.losses[:, 0] - pair.losses[:, 1]).any():
        return Outcome(0.0, 1.0, units - 1, "cohen_d", 0.0)
    if error is None:
        return Outcome(None, None, reason=Message("reason.one_example"))
    if error <= NEGLIGIBLE * abs(mean):
        return Outcome(None, None, units - 1, reason=NO_SPREAD)
    p = probability(2 * t_tail(abs(mean / error), units - 1))
    return Outcome(mean / error, p, units - 1, "cohen_d", mean / (error * math.sqrt(units)))


@comparison_test(
    "t by clusters, bias-reduced",
    "clusters",
    beside=("permutation", "bootstrap_difference"),
)
def cr2_t(pair: Pair) -> Outcome:
    """Difference over its bias-reduced cluster-robust error (CR2), by t with Satterthwaite's degrees of freedom."""
    return _by_influence(pair, Message("reason.one_cluster"))


@comparison_test(
    "t under weights",
    "weights",
    beside=("permutation", "bootstrap_difference"),
)
def weighted_t(pair: Pair) -> Outcome:
    """Weighted difference over its error, by t with one degree of freedom less than Kish's n (than clusters)."""
    return _by_influence(pair, Message("reason.one_example_or_cluster"))


def _by_influence(pair: Pair, alone: Message) -> Outcome:
    """Divide the difference by its error from influence values."""
    difference, error, df = pair.difference.value, pair.difference.corrected_error, pair.difference.df
    if error is None or df is None:
        return Outcome(None, None, reason=alone)
    if error <= NEGLIGIBLE * abs(difference):
        alike = abs(difference) <= NEGLIGIBLE * max(abs(pair.a.value), abs(pair.b.value))
        return Outcome(0.0, 1.0, df) if alike else Outcome(None, None, df, reason=NO_SPREAD)
    return Outcome(difference / error, probability(2 * t_tail(abs(difference / error), df)), df)
