"""The exact type I error of McNemar's tests, and the simulated one of tests of a difference of F1."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from scipy import stats

from evalreport.comparisons.pairs import compare
from evalreport.comparisons.registry import TESTS, Pair
from evalreport.comparisons.test_needs import lacks
from evalreport.metrics.registry import Quantity
from evalreport.metrics.sample import estimate_all
from evalreport.options import Options
from evalreport.samplings import sampling_by
from research.studies.designs import labelled
from research.studies.enumeration import paired_estimate
from research.studies.harness import Cell

ALPHA, RESAMPLES = 0.05, 500
DISCORDANCE = ((50, 0.1), (50, 0.2), (50, 0.4), (200, 0.1), (200, 0.2), (1000, 0.1))
"""Examples, and the share on which exactly one of the models is right."""
MCNEMAR = ("mcnemar_exact", "mcnemar_corrected", "mcnemar_midp", "mcnemar")
OF_F1 = ("permutation", "bootstrap_difference")


def mcnemar_size(n: int, discordance: float) -> dict[str, float]:
    """Return how often each test rejects where both models are equally good: every outcome weighed by its chance.

    Parameters
    ----------
    n
        Examples.
    discordance
        Chance that exactly one of the two models is right on an example.
    """
    sizes = dict.fromkeys(MCNEMAR, 0.0)
    for m in range(n + 1):
        chance = float(stats.binom.pmf(m, n, discordance))
        if chance < 1e-12:
            continue
        for test in MCNEMAR:
            most = _largest_rejected(test, m, n)
            sizes[test] += chance * 2 * float(stats.binom.cdf(most, m, 0.5)) if most >= 0 else 0.0
    return sizes


def _largest_rejected(test: str, m: int, n: int) -> int:
    """Return the largest min(b, c) at which the test rejects, -1 where it never does; p grows with it."""
    low, high = -1, (m - 1) // 2
    while low < high:
        middle = (low + high + 1) // 2
        if _p_value(test, middle, m - middle, n) <= ALPHA:
            low = middle
        else:
            high = middle - 1
    return low


def _p_value(test: str, b: int, c: int, n: int) -> float:
    delta = paired_estimate(n - b - c, b, c, 0)
    p = TESTS[test].function(Pair(a=delta.a, b=delta.b, difference=delta)).p_value
    assert p is not None
    return float(p)


@dataclass(frozen=True)
class Exchangeable(Cell):
    """Two exchangeable models of recall 0.8 and false alarm rate 0.1, on n examples of one prevalence."""

    n: int
    prevalence: float


CELLS = tuple(
    Exchangeable(f"n = {n}, prevalence {share:g}", n, share, stream=(n, round(1000 * share)))
    for n, share in ((50, 0.5), (100, 0.5), (300, 0.5), (300, 0.1))
)


def counted(cell: Exchangeable, generator: np.random.Generator, number: int) -> Mapping[str, float]:
    """Say which tests of a difference of F1 reject."""
    quantity = Quantity("f1")
    true = (generator.random(cell.n) < cell.prevalence).astype(np.int32)
    labels = {
        name: (generator.random(cell.n) < np.where(true == 1, 0.8, 0.1)).astype(np.int32) for name in "ab"
    }
    sample = estimate_all(
        labelled(true, labels, 2), [quantity], units=sampling_by(cell.n), n_resamples=RESAMPLES, seed=number
    )
    (comparison,) = compare(sample, [quantity], Options(resamples=RESAMPLES, seed=number))
    pair = comparison.pair
    rejected = {}
    for test in OF_F1:
        p = None if pair is None or lacks(pair, test) else TESTS[test].function(pair).p_value
        rejected[test] = p is not None and p <= ALPHA
    return rejected
