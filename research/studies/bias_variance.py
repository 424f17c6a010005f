"""How often the limits of expected loss, variance and bias^2 miss, where the replicates are drawn as the examples are.

Replicate k predicts b + m_k + e_ki of a truth of 0 with noise: m_k of variance ``together`` moves all of its
predictions, e_ki of variance ``apart`` each one alone. Bias^2 is b^2 plus the noise, which nothing tells apart.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from evalreport.questions.algorithms.decomposition import Split, of_squares, of_variance
from evalreport.questions.algorithms.replicates import spread_of
from evalreport.questions.algorithms.two_ways import of_bias, over_both
from research.studies.harness import Cell, Study, limits

NOISE, REDRAWN, LEVEL = 0.02, 100, 0.95


@dataclass(frozen=True)
class Replicated(Cell):
    """Replicates, examples, the bias, and the variances of what replicates share and do not share."""

    replicates: int
    examples: int
    bias: float
    together: float
    apart: float


CELLS = tuple(
    Replicated(
        f"{k} replicates, {n} examples, bias {bias}, variance {together} together and {apart} apart",
        k, n, bias, together, apart,
    )
    for k, n, bias, together, apart in (
        (10, 200, 0.0, 0.5, 0.0),
        (10, 200, 0.5, 0.5, 0.0),
        (10, 200, 0.5, 0.2, 0.2),
        (10, 200, 0.5, 0.05, 0.45),
        (10, 50, 0.5, 0.1, 0.4),
        (15, 200, 0.5, 0.5, 0.0),
        (30, 200, 0.0, 0.5, 0.0),
        (30, 200, 0.5, 0.5, 0.0),
        (30, 200, 0.5, 0.0, 0.5),
        (30, 1000, 0.0, 0.5, 0.0),
        (100, 200, 0.5, 0.5, 0.0),
    )
)  # fmt: skip


def counted(cell: Replicated, generator: np.random.Generator, number: int) -> Mapping[str, float]:
    """Say of which of expected loss, variance and bias^2 the limits miss the algorithm's value."""
    del number
    size = (cell.replicates, cell.examples)
    truth = generator.normal(0, NOISE**0.5, cell.examples)
    move = generator.normal(0, cell.together**0.5, (cell.replicates, 1))
    predicted = cell.bias + move + generator.normal(0, cell.apart**0.5, size)
    given = np.ones(size, dtype=bool)
    equal = np.full(cell.replicates, 1 / cell.replicates)
    weights = generator.multinomial(cell.replicates, equal, size=REDRAWN).astype(np.float64)
    parts = of_squares("squared", predicted, given, truth, weights, None)
    variance, noise = cell.together + cell.apart, NOISE + cell.bias**2
    missed = {}
    for name, (low, high), true in (
        ("expected loss", over_both(parts.losses, given, None, LEVEL, (0.0, np.inf)), noise + variance),
        ("variance", of_variance(np.asarray(parts.squares), given, None, LEVEL), variance),
        ("bias", of_bias(spread_of(unbiased(parts.split), None), float(parts.redrawn[:, 1].std(ddof=1)),
                         parts.shared, cell.replicates, LEVEL), noise),
    ):  # fmt: skip
        missed[f"{name} missed"] = low is None or high is None or not low <= true <= high
    return missed


def unbiased(split: Split) -> np.ndarray:
    """Return the examples' unbiased bias^2, which squared losses have."""
    assert split.bias_unbiased is not None
    return split.bias_unbiased


STUDY = Study(
    "Bias and variance",
    CELLS,
    counted,
    limits({f"{name} missed": ("at most", 0.06) for name in ("expected loss", "variance", "bias")}),
)
