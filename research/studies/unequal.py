"""Unequal clusters and unequal weights: verdicts, equivalence at the margin and gates at the bar, by the public API.

Clusters of 400 down to 10 examples, intraclass correlation 0.05. Weights: 1,000 examples with log-normal weights, which
say nothing of them. At the margin the difference is so large that an interval fits between it and the other margin.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

import evalreport as er
from research.studies.cells import Cell
from research.studies.designs import LARGEST, SMALLEST

Floats = npt.NDArray[np.float64]

N, ACCURACY, CORRELATION, ALPHA = 1000, 0.75, 0.05, 0.05


@dataclass(frozen=True)
class Unequal(Cell):
    """Two models of which ``a`` is better by ``ahead``: 0, or the margin exactly.

    ``clusters``: how many; 0: single examples with weights.
    """

    clusters: int
    metric: str
    margin: float
    ahead: float
    limit: float

    @property
    def data_sets(self) -> int:
        """Fewer than a thousand: there are many cells."""
        return 600


CELLS = tuple(
    Unequal(
        f"{name}, {metric}, {'at the margin' if ahead else 'equal'}", clusters, metric, margin, ahead, limit
    )
    for name, clusters, margin in (("20 clusters", 20, 0.3), ("8 clusters", 8, 0.4), ("weights", 0, 0.15))
    for metric in ("accuracy", "f1")
    for ahead, limit in ((0.0, 0.08 if clusters == 8 else 0.07), (margin, 0.05))
    if metric == "accuracy" or not ahead
)
"""Limits: of misses of 95 % intervals (at 8 clusters 8 %), and of equivalence where the difference is the margin."""


def counted(cell: Unequal, generator: np.random.Generator, number: int) -> Mapping[str, float]:
    """Say whether the pair is decided, called equivalent, and whether a gate at the true value passes or fails."""
    method = "cluster_t" if cell.clusters else "weighted_t"
    results = er.evaluate(
        draw(cell, generator), metrics=[cell.metric], intervals=[method], tests=[method], resamples=2, seed=number,
        margin=cell.margin, gates=[f"a.{cell.metric} >= {ACCURACY}"], cluster="group" if cell.clusters else None,
        weight=None if cell.clusters else "w",
    )  # fmt: skip
    said, outcome = results.verdicts[0].verdict, results.gates[0].outcome
    row = next(row for row in results.comparisons if row.recommended)
    value = next(row for row in results.metrics if row.model == "a").intervals[0]
    return {
        "decided": row.p_adjusted is not None and row.p_adjusted <= ALPHA,
        "equivalent": said == "equivalent",
        "gate passes": outcome == "pass",
        "gate fails": outcome == "fail",
        "missed": _misses(value.low, value.high, ACCURACY),
        "difference missed": _misses(row.low, row.high, cell.ahead),
        "warned": any(w.code in ("few_clusters", "unequal_weights") for w in results.warnings),
    }


def _misses(low: float | None, high: float | None, truth: float) -> bool:
    return low is None or high is None or not low <= truth <= high


def draw(cell: Unequal, generator: np.random.Generator) -> dict[str, dict[str, Any]]:
    """Draw a test set as a user would write it: errors do not depend on the class, so that F1 equals accuracy."""
    shares = (ACCURACY, ACCURACY - cell.ahead)
    if cell.clusters:
        sizes = np.round(np.geomspace(LARGEST, SMALLEST, cell.clusters)).astype(int)
        group = np.repeat(np.arange(cell.clusters), sizes)
        spread = 1 / CORRELATION - 1
        chances = [generator.beta(spread * p, spread * (1 - p), cell.clusters)[group] for p in shares]
        column = {"group": [f"g{k:02d}" for k in group]}
    else:
        chances = [np.full(N, p) for p in shares]
        column = {"w": np.exp(generator.normal(size=N)).tolist()}
    n = len(chances[0])
    true = generator.random(n) < 0.5
    return {
        name: {
            "id": [f"{i:04d}" for i in range(n)],
            "y_true": true.astype(int).tolist(),
            "y_pred": ((generator.random(n) < chance) == true).astype(int).tolist(),
            **column,
        }
        for name, chance in zip("ab", chances, strict=True)
    }
