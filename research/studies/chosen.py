"""How often the value of a model that was chosen among several lies beyond the limit that is said of it.

Accuracies of models on the same examples, by difficulty alike or not; pairs are decided by McNemar's mid-p and Holm.
The number of models that may be best is found on the same examples: where a pair of equal models is decided by chance,
its leader counts as chosen among fewer. So up to 2.6 % of the limits lay above the truth, where 2.5 % are meant.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache

import numpy as np
from scipy import stats

from evalreport.comparisons.adjustment import adjust
from evalreport.intervals.proportions import clopper_pearson_limits
from research.studies.harness import Cell, Study, limits


@dataclass(frozen=True)
class Chosen(Cell):
    """Models with these accuracies; ``alike``: the correlation of their answers before they are cut."""

    n: int
    accuracies: tuple[float, ...]
    alike: float


UNEQUAL = (0.8, 0.8, 0.8, 0.75, 0.75)
CELLS = (
    *(
        Chosen(f"{m} equal models of {p}, correlation {alike}, n = {n:,}", n, (p,) * m, alike)
        for m in (2, 5, 20)
        for p in (0.8, 0.95)
        for alike in (0.0, 0.8)
        for n in (200, 1000)
    ),
    *(
        Chosen(f"three models of 0.8, two of 0.75, correlation {alike}, n = {n:,}", n, UNEQUAL, alike)
        for alike in (0.0, 0.8)
        for n in (200, 1000)
    ),
)  # fmt: skip


def may_be_best(right: np.ndarray) -> list[int]:
    """Return the models that no other one is decided to be better than; the decisions of all pairs, by Holm.

    Parameters
    ----------
    right
        (M, n) 1 where a model is right.
    """
    first, second = np.triu_indices(len(right), 1)
    both = right @ right.T
    only = np.diag(both)[:, None] - both
    b, c = only[first, second], only[second, first]
    smaller = np.minimum(b, c)
    p = stats.binom.cdf(smaller, b + c, 0.5) + stats.binom.cdf(smaller - 1, b + c, 0.5)
    adjusted = np.array(adjust(np.where(b == c, 1.0, p).tolist(), "holm"))
    worse = np.where(b > c, second, first)[(adjusted <= 0.05) & (b != c)]
    return sorted(set(range(len(right))) - set(worse.tolist()))


@cache
def exact(successes: int, trials: int, level: float) -> tuple[float, float]:
    """Return Clopper and Pearson's limits."""
    return clopper_pearson_limits(successes, trials, level)


def counted(cell: Chosen, generator: np.random.Generator, number: int) -> Mapping[str, float]:
    """Say whether the leader's accuracy lies below the lower limit, or above the upper one; its own limits beside."""
    del number
    shared = generator.standard_normal(cell.n)
    latent = np.sqrt(cell.alike) * shared + np.sqrt(1 - cell.alike) * generator.standard_normal(
        (len(cell.accuracies), cell.n)
    )
    right = (latent < stats.norm.ppf(cell.accuracies)[:, None]).astype(np.int64)
    correct = right.sum(axis=1)
    leader = int(correct.argmax())
    among = len({leader, *may_be_best(right)})
    truth = cell.accuracies[leader]
    low, high = exact(int(correct[leader]), cell.n, 1 - 0.05 / among)
    own, _ = exact(int(correct[leader]), cell.n, 0.95)
    return {
        "praised too much": truth < low,
        "praised too little": truth > high,
        "by its own limit": truth < own,
    }


STUDY = Study(
    "The model that was chosen",
    CELLS,
    counted,
    limits({"praised too much": ("at most", 0.035), "praised too little": ("at most", 0.03)}),
)
