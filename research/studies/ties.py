"""Wilcoxon's signed-rank test where differences tie, measured through the public API.

Two models get marks in steps of a tenth on every data set, drawn alike, so that many differences tie and some are 0.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import numpy as np

import evalreport as er
from research.studies.harness import Cell, Result, Study
from research.studies.judgement import Line, at_most

ALPHA, LIMIT = 0.05, 0.07
"""The level of the test, and the rate that is promised of every test."""


@dataclass(frozen=True)
class Ties(Cell):
    """So many data sets, on each of which both models get one of five marks."""

    n: int
    limit: float


CELLS = tuple(
    Ties(f"ties, n = {n}", n, ALPHA if n <= 10 else LIMIT, data_sets=500)
    for n in (4, 6, 8, 10, 15, 20, 30, 50)
)
"""With few data sets the steps of the exact distribution are so coarse that it stays well below its level."""


def counted(cell: Ties, generator: np.random.Generator, number: int) -> Mapping[str, float]:
    """Say whether the test rejects at 0.05, and whether a model is called better."""
    marks = generator.integers(5, 10, (2, cell.n)) / 10
    names = [f"d{i:02d}" for i in range(cell.n)]
    results = er.evaluate(
        {model: {"dataset": names, "value": row.tolist()} for model, row in zip("ab", marks, strict=True)},
        tests=["wilcoxon"], resamples=50, seed=number,
    )  # fmt: skip
    (row,) = (row for row in results.comparisons if row.test == "wilcoxon")
    return {
        "wilcoxon": row.p_value is not None and row.p_value <= ALPHA,
        "better": results.verdicts[0].verdict in ("better", "worse"),
    }


def promised(result: Result) -> Iterator[Line]:
    """Promise that Wilcoxon's test keeps its level with ties at every n to 50."""
    cell = result.cell
    yield at_most(f"Wilcoxon with ties, n = {cell.n}", result["wilcoxon"], cell.limit, result.data_sets)


STUDY = Study("Ties", CELLS, counted, promised)
