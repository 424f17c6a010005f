"""Agreement of a model's groups with the true ones, whatever the groups are called.

Every one of these is a function of a few sums over the table of true groups by the model's groups, so that values,
derivatives and replicates follow from ``Overlap`` alone. The definitions are scikit-learn's.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from evalreport.engine.derivative import Array, ratio
from evalreport.engine.distributions import exp, log, log_choose
from evalreport.metrics.registry import Decorator, Fields, affine, register
from evalreport.texts import Message

Floats = npt.NDArray[np.float64]

ROUNDING = 1e-13
"""Entropies at or below this are those of a single group."""


class Overlap(NamedTuple):
    """Sums over the table of true groups by the model's groups, arrays of one shape.

    Attributes
    ----------
    n
        Examples.
    same_both, same_true, same_groups
        Squared counts, added up over the cells, over the true groups and over the model's groups.
    log_n, log_both, log_true, log_groups
        x ln x of n, and of the counts, added up likewise.
    largest
        The largest cell of each of the model's groups, added up.
    expected
        Mutual information (nats) of the two groupings of the data, expected were they independent.
    """

    n: Array
    same_both: Array
    same_true: Array
    same_groups: Array
    log_n: Array
    log_both: Array
    log_true: Array
    log_groups: Array
    largest: Array
    expected: Array


def _contingency(label: str, formula: str, **fields: object) -> Decorator:
    given: Fields = {
        "tasks": ("clustering",),
        "needs": "groups",
        "test": "bootstrap_difference",
        "undefined": Message("undefined.one_group"),
        "filled": "cells",
        **fields,
    }
    return lambda function: register(function, label=label, formula=formula, family="contingency", **given)


@_contingency(
    "Rand index",
    "share of the pairs of examples that both groupings put together, or both apart",
    filled="groups",
    extensive=True,
    source="Rand (1971), J Am Stat Assoc 66:846",
)
def rand_index(o: Overlap) -> Array:
    """Share of the pairs of examples on which the two groupings agree; near 1 by chance where groups are many."""
    pairs = o.n * (o.n - 1)
    return ratio(pairs + 2 * o.same_both - o.same_true - o.same_groups, pairs)


@_contingency(
    "Adjusted Rand index",
    "(Rand index - its expected value) / (1 - its expected value)",
    range=(-0.5, 1.0),
    extensive=True,
    filled="groups",
    headline=True,
    source="Hubert and Arabie (1985), J Classif 2:193, equation 5",
)
def adjusted_rand(o: Overlap) -> Array:
    """Rand index corrected for chance: 0 for groups drawn at random, 1 for the true groups."""
    pairs, both, true, groups = (x - o.n for x in (o.n * o.n, o.same_both, o.same_true, o.same_groups))
    chance = true * groups
    return ratio(both * pairs - chance, (true + groups) / 2 * pairs - chance)


def _entropies(o: Overlap) -> tuple[Array, Array, Array]:
    """Return the mutual information of the two groupings, and the entropies of the truth and of the groups."""
    true, groups = o.log_n - o.log_true, o.log_n - o.log_groups
    shared = true + groups - (o.log_n - o.log_both)
    mutual, of_truth, of_groups = (
        np.where((x / o.n).real > ROUNDING, x / o.n, 0) for x in (shared, true, groups)
    )
    return mutual, of_truth, of_groups


@_contingency(
    "NMI",
    "I(true; groups) / mean of H(true) and H(groups)",
    headline=True,
    source="Strehl and Ghosh (2002), J Mach Learn Res 3:583; the arithmetic mean, as in scikit-learn",
)
def nmi(o: Overlap) -> Array:
    """Normalized mutual information, arithmetic mean; it rises with the number of groups, by chance alone."""
    mutual, true, groups = _entropies(o)
    return ratio(mutual, (true + groups) / 2)


@_contingency(
    "AMI",
    "(I - E[I]) / (mean of H(true) and H(groups) - E[I])",
    range=(-1.0, 1.0),
    extensive=True,
    headline=True,
    source="Vinh, Epps and Bailey (2010), J Mach Learn Res 11:2837; the arithmetic mean, as in scikit-learn",
)
def ami(o: Overlap) -> Array:
    """Mutual information corrected for chance (adjusted, arithmetic mean): 0 for groups drawn at random."""
    mutual, true, groups = _entropies(o)
    beyond = (true + groups) / 2 - o.expected
    return ratio(mutual - o.expected, np.where(np.abs(beyond.real) > ROUNDING, beyond, 0))


@_contingency(
    "Homogeneity",
    "I(true; groups) / H(true)",
    undefined=Message("undefined.one_true_group"),
    source="Rosenberg and Hirschberg (2007), EMNLP-CoNLL, pages 410-420",
)
def homogeneity(o: Overlap) -> Array:
    """How far each group holds examples of one true group only; smaller groups make it rise."""
    mutual, true, _ = _entropies(o)
    return ratio(mutual, true)


@_contingency(
    "Completeness",
    "I(true; groups) / H(groups)",
    undefined=Message("undefined.one_model_group"),
    source="Rosenberg and Hirschberg (2007), EMNLP-CoNLL, pages 410-420",
)
def completeness(o: Overlap) -> Array:
    """How far each true group lies within one group; larger groups make it rise."""
    mutual, _, groups = _entropies(o)
    return ratio(mutual, groups)


@affine(
    "V-measure",
    "2 homogeneity completeness / (homogeneity + completeness)",
    of="nmi",
    headline=False,
    source="Rosenberg and Hirschberg (2007), EMNLP-CoNLL, pages 410-420",
)
def v_measure(of_nmi: float) -> float:
    """Harmonic mean of homogeneity and completeness: the same number as NMI by the arithmetic mean."""
    return of_nmi


@_contingency(
    "Purity",
    "sum over the groups of their most frequent true group's examples / n",
    filled="groups",
    source="Manning, Raghavan and Schuetze (2008), Introduction to Information Retrieval, section 16.3",
)
def purity(o: Overlap) -> Array:
    """Share of examples in their group's most frequent true group; 1 where every example is a group of its own."""
    return ratio(o.largest, o.n)


def expected_mutual_information(true: Floats, groups: Floats) -> float:
    """Return the mutual information (nats) expected of two groupings of these sizes that are independent.

    The sum over cells and counts k of P(k) k/n ln(n k / (a b)), P hypergeometric. Sizes that occur repeatedly are
    evaluated once, and counts so far from their mean that P is below 1e-30 are left out.

    Parameters
    ----------
    true, groups
        Sizes of the groups, whole numbers above 0 of one sum.

    References
    ----------
    Vinh, Epps and Bailey (2010), J Mach Learn Res 11:2837, equation 24a.

    Examples
    --------
    Two groupings of four examples into pairs are the same, or independent, in one and two of three cases:

    >>> bool(np.isclose(expected_mutual_information(np.array([2.0, 2.0]), np.array([2.0, 2.0])), np.log(2) / 3))
    True
    """
    n, found = float(true.sum()), 0.0
    if len(true) == 1 or len(groups) == 1:
        return 0.0
    columns = list(zip(*np.unique(groups, return_counts=True), strict=True))
    for a, rows in zip(*np.unique(true, return_counts=True), strict=True):
        for b, times in columns:
            mean = a * b / n
            reach = 12 * (mean * (1 - a / n) * (1 - b / n)) ** 0.5 + 30
            low, high = max(0.0, a + b - n, np.floor(mean - reach)), min(a, b, np.ceil(mean + reach))
            k = np.arange(low, high + 1)
            logs = log_choose(a, k) + log_choose(n - a, b - k)
            chances = exp(logs - logs.max())
            terms = chances[k > 0] * k[k > 0] * log(k[k > 0] / mean)
            found += float(rows * times * terms.sum() / chances.sum()) / n
    return found
