"""How often tests of two learning algorithms reject, where they are equally good and where one is better.

n = 300; two blocks of features with the same distribution given the class. One algorithm is trained on the first,
the other on the second: at every training size both have the same expected accuracy, so the null hypothesis holds
exactly. For power the first block's classes lie further apart.
"""

from __future__ import annotations

import zlib
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor

import numpy as np
import numpy.typing as npt

from evalreport.comparisons.registry import TESTS, Pair
from evalreport.metrics.counted_rows import CountedRows
from evalreport.metrics.difference import Difference
from evalreport.metrics.estimate import Estimate
from evalreport.metrics.evidence import PairedProportion, Proportion, agreement
from evalreport.metrics.registry import Quantity
from evalreport.samplings import Fits, sampling_by
from research.studies.learners import LEARNERS, Masks

Floats = npt.NDArray[np.float64]
Rates = dict[tuple[str, str], float]

N, FEATURES, SEPARATION, ALPHA = 300, 5, 0.35, 0.05
SHIFT = {"naive Bayes": 0.2, "tree": 0.3}
"""How much further apart the better algorithm's classes lie; power was measured for these."""

TESTED = {
    "cross-validation": ("corrected_resampled_t", "cv_paired_t", "wilcoxon", "mcnemar_midp"),
    "repeated cross-validation": ("corrected_resampled_t", "cv_paired_t", "wilcoxon"),
    "repeated-holdout": ("corrected_resampled_t", "cv_paired_t", "wilcoxon"),
    "5x2cv": ("5x2cv_f", "5x2cv_t", "corrected_resampled_t"),
    "test-set": ("mcnemar_midp",),
}
"""The tests measured in each layout."""


def draw(generator: np.random.Generator, shift: float) -> tuple[Floats, Floats, npt.NDArray[np.int64]]:
    """Draw the two blocks (n, 5) and the classes (n,)."""
    y = generator.integers(0, 2, N)
    side = (2 * y - 1)[:, None] / 2
    first = side * (2 * SEPARATION + shift) + generator.normal(size=(N, FEATURES))
    second = side * 2 * SEPARATION + generator.normal(size=(N, FEATURES))
    return first, second, y


def folds(generator: np.random.Generator, repeats: int, k: int) -> Masks:
    """Return the test rows (repeats k, n) of repeated k-fold cross-validation."""
    masks = []
    for _ in range(repeats):
        place = generator.permutation(N) % k
        masks += [place == fold for fold in range(k)]
    return np.stack(masks)


def holdouts(generator: np.random.Generator, repeats: int) -> Masks:
    """Return the test rows (repeats, n) of repeated hold-out of one third."""
    return np.stack([generator.permutation(N) < N // 3 for _ in range(repeats)])


def layouts(generator: np.random.Generator) -> dict[str, tuple[Masks, int]]:
    """Return the test rows of every layout and how many fits make a repeat."""
    ten = folds(generator, 10, 10)
    return {
        "cross-validation": (ten[:10], 10),
        "repeated cross-validation": (ten, 10),
        "repeated-holdout": (holdouts(generator, 30), 1),
        "5x2cv": (folds(generator, 5, 2), 2),
        "test-set": (holdouts(generator, 1), 1),
    }


def rejections(learner: str, shift: float, number: int, seed: int) -> Counter[tuple[str, str]]:
    """Return which tests reject at 0.05 on one data set: (layout, test)."""
    generator = np.random.default_rng([seed, zlib.crc32(learner.encode()), round(1000 * shift), number])
    first, second, y = draw(generator, shift)
    made = layouts(generator)
    # Ten-fold cross-validation is the first repeat of ten: it is not fitted twice.
    fitted = {name: masks for name, (masks, _) in made.items() if name != "cross-validation"}
    test = np.concatenate(list(fitted.values()))
    right = np.stack([LEARNERS[learner](x, y, ~test, test) == y for x in (first, second)])
    edges = np.cumsum([0, *(len(masks) for masks in fitted.values())])
    parts = {name: right[:, a:b] for name, a, b in zip(fitted, edges[:-1], edges[1:], strict=True)}
    parts["cross-validation"] = parts["repeated cross-validation"][:, :10]
    rejected: Counter[tuple[str, str]] = Counter()
    for layout, tests in TESTED.items():
        pair = pair_of(parts[layout], made[layout][0], layout, made[layout][1])
        for name in tests:
            p = TESTS[name].function(pair).p_value
            rejected[layout, name] += p is not None and p <= ALPHA
    return rejected


def pair_of(right: Masks, test: Masks, layout: str, per_repeat: int) -> Pair:
    """Set up what the tests are functions of: fold differences of accuracy, and who was right where.

    Parameters
    ----------
    right
        (2, J, n) whether each algorithm was right on each row.
    """
    n_test = test.sum(axis=1).astype(np.float64)
    values = (right & test).sum(axis=2) / n_test
    place = np.arange(len(test))
    fits = Fits(values[0] - values[1], place // per_repeat, place % per_repeat, n_test, N - n_test)
    pooled = np.stack([side[test] for side in right], axis=1).astype(np.float64)
    n, sampling = len(pooled), sampling_by(n=len(pooled))
    a, b = (
        Estimate(
            model="a",
            quantity=Quantity("accuracy"),
            value=float(right_ones.mean()),
            range=(0.0, 1.0),
            sampling=sampling,
            evidence=Proportion(float(right_ones.sum()), n),
        )
        for right_ones in pooled.T
    )
    differences = CountedRows(pooled[:, 0] - pooled[:, 1])
    delta = Difference(
        a=a,
        b=b,
        value=float(fits.values.mean()),
        range=(-1.0, 1.0),
        sampling=sampling,
        evidence=PairedProportion(*agreement(pooled), differences),
        fits=fits,
    )
    return Pair(a=a, b=b, difference=delta, design=layout)


def _chunk(task: tuple[str, float, int, int, int]) -> tuple[str, float, Counter[tuple[str, str]]]:
    learner, shift, start, stop, seed = task
    total: Counter[tuple[str, str]] = Counter()
    for number in range(start, stop):
        total += rejections(learner, shift, number, seed)
    return learner, shift, total


def measure(*, replications: int, seed: int, jobs: int) -> tuple[dict[str, Rates], dict[str, Rates]]:
    """Return the rejection rates by learner: with equally good algorithms, and with a better one (half as many)."""
    size = 25
    tasks = [
        (learner, shift, start, min(start + size, count), seed)
        for learner in LEARNERS
        for shift, count in ((0.0, replications), (SHIFT.get(learner, 0.0), replications // 2))
        if shift == 0.0 or learner in SHIFT
        for start in range(0, count, size)
    ]
    tasks = list(dict.fromkeys(tasks))
    totals: dict[tuple[str, float], Counter[tuple[str, str]]] = {}
    for learner, shift, found in _mapped(tasks, jobs):
        totals[learner, shift] = totals.get((learner, shift), Counter()) + found
    null = {name: _rates(totals[name, 0.0], replications) for name in LEARNERS}
    power = {name: _rates(totals[name, shift], replications // 2) for name, shift in SHIFT.items()}
    return null, power


def _mapped(
    tasks: list[tuple[str, float, int, int, int]], jobs: int
) -> Iterator[tuple[str, float, Counter[tuple[str, str]]]]:
    if jobs == 1:
        yield from map(_chunk, tasks)
        return
    with ProcessPoolExecutor(jobs) as pool:
        yield from pool.map(_chunk, tasks)


def _rates(counted: Counter[tuple[str, str]], replications: int) -> Rates:
    return {
        (layout, test): counted[layout, test] / replications
        for layout, tests in TESTED.items()
        for test in tests
    }
