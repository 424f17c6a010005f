"""How often tests of two learning algorithms reject, where they are equally good and where one is better.

n = 300; two blocks of features with the same distribution given the class. One algorithm is trained on the first,
the other on the second: at every training size both have the same expected accuracy, so the null hypothesis holds
exactly. For power the first block's classes lie further apart.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from evalreport.comparisons.registry import TESTS, Pair
from evalreport.metrics.counted_rows import CountedRows
from evalreport.metrics.difference import Difference
from evalreport.metrics.estimate import Estimate
from evalreport.metrics.evidence import PairedProportion, Proportion, agreement
from evalreport.metrics.registry import Quantity
from evalreport.samplings import Fits, sampling_by
from research.studies.harness import Cell, named
from research.studies.learners import LEARNERS, Masks

Floats = npt.NDArray[np.float64]

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


@dataclass(frozen=True)
class Trained(Cell):
    """A learner, and how much further apart the classes of the first block lie: 0 where both are equally good."""

    learner: str
    shift: float


CELLS = (
    *(Trained(name, name, 0.0, stream=(*named(name), 0)) for name in LEARNERS),
    *(
        Trained(f"power, {name}", name, shift, data_sets=500, stream=(*named(name), round(1000 * shift)))
        for name, shift in SHIFT.items()
    ),
)


def counted(cell: Trained, generator: np.random.Generator, _number: int) -> Mapping[str, float]:
    """Say which tests reject at 0.05 on one data set, by layout and test."""
    first, second, y = draw(generator, cell.shift)
    made = layouts(generator)
    # Ten-fold cross-validation is the first repeat of ten: it is not fitted twice.
    fitted = {name: masks for name, (masks, _) in made.items() if name != "cross-validation"}
    test = np.concatenate(list(fitted.values()))
    right = np.stack([LEARNERS[cell.learner](x, y, ~test, test) == y for x in (first, second)])
    edges = np.cumsum([0, *(len(masks) for masks in fitted.values())])
    parts = {name: right[:, a:b] for name, a, b in zip(fitted, edges[:-1], edges[1:], strict=True)}
    parts["cross-validation"] = parts["repeated cross-validation"][:, :10]
    rejected: dict[str, float] = {}
    for layout, tests in TESTED.items():
        pair = pair_of(parts[layout], made[layout][0], layout, made[layout][1])
        for name in tests:
            p = TESTS[name].function(pair).p_value
            rejected[f"{layout}: {name}"] = p is not None and p <= ALPHA
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
