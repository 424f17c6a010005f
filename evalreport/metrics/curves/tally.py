"""What the replicates of every ladder say: one pass over the draws serves bands and operating points."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from evalreport.metrics.curves.criteria import Criterion, optimism
from evalreport.metrics.curves.ladder import Floats, Ladder, visible_points
from evalreport.metrics.curves.replicates import (
    Coarse,
    Replicate,
    coarse,
    precision_at_recall,
    replicates,
    tpr_at,
)
from evalreport.metrics.units import Units

FIXED_FPR = (0.01, 0.05, 0.1, 0.2)
"""False positive rates at which the recall is stated."""

FIXED_RECALL = (0.9, 0.6, 0.3)
"""Recalls at which the precision is stated: the lecture's three."""

MOST_IN_GRID = 120
MOST_CHOSEN = 1000
"""Replicates at most in which thresholds are chosen anew."""

MOST_BANDS = 60
"""With more curves than this (many classes) none has a band."""


@dataclass(frozen=True, slots=True)
class Tally:
    """What the replicates say of one ladder.

    Attributes
    ----------
    ladder
        The ranking.
    grid
        (T,) false positive rates, rising.
    tpr
        (B, T) true positive rates there, nan where a replicate lacks a class; (0, T) without replicates.
    optimism
        By criterion, (B',): by how much the value at a threshold chosen anew flatters it.
    precision
        By recall, (B',): the precision at the highest threshold that reaches it.
    """

    ladder: Ladder
    grid: Floats
    tpr: Floats
    optimism: tuple[Floats, ...]
    precision: tuple[Floats, ...]


def tallies(
    ladders: Sequence[Ladder],
    units: Units,
    criteria: Sequence[Criterion],
    *,
    n_resamples: int,
    seed: int,
) -> tuple[Tally, ...]:
    """Resample every ladder by the same draws; of several classes the bands alone are taken.

    Parameters
    ----------
    n_resamples
        Bootstrap replicates B.
    """
    cut = [coarse(one) for one in ladders]
    grids = [grid_of(one) for one in ladders]
    taken: list[_Taken] = [_Taken([], [], []) for _ in cut]
    chosen = 0
    if len(cut) <= MOST_BANDS:
        for block in replicates(cut, units, n_resamples, seed=seed):
            for one, grid, drawn, so_far in zip(cut, grids, block, taken, strict=True):
                so_far.tpr.append(tpr_at(drawn, grid))
                if one.ladder.label is None and chosen < MOST_CHOSEN:
                    so_far.add_chosen(one, criteria, drawn)
            chosen += block[0].found.shape[1] if block else 0
    return tuple(
        Tally(one, grid, *so_far.joined(len(grid)))
        for one, grid, so_far in zip(ladders, grids, taken, strict=True)
    )


def grid_of(ladder: Ladder) -> Floats:
    """Return the false positive rates at which the band is taken: where the curve bends, and the fixed ones."""
    bends = ladder.fpr[visible_points(ladder.fpr, ladder.tpr, MOST_IN_GRID)]
    return np.unique(np.concatenate([bends, FIXED_FPR]))


@dataclass(frozen=True, slots=True)
class _Taken:
    """Blocks that were taken so far."""

    tpr: list[Floats]
    optimism: list[list[Floats]]
    precision: list[list[Floats]]

    def add_chosen(self, one: Coarse, criteria: Sequence[Criterion], drawn: Replicate) -> None:
        """Choose thresholds anew on a block of replicates."""
        self.optimism.append([optimism(criterion, one, drawn) for criterion in criteria])
        self.precision.append([precision_at_recall(drawn, recall) for recall in FIXED_RECALL])

    def joined(self, width: int) -> tuple[Floats, tuple[Floats, ...], tuple[Floats, ...]]:
        """Put the blocks together."""
        tpr = np.concatenate(self.tpr) if self.tpr else np.empty((0, width))
        optimistic, precise = (
            tuple(np.concatenate(parts) for parts in zip(*blocks, strict=True))
            for blocks in (self.optimism, self.precision)
        )
        return tpr, optimistic, precise
