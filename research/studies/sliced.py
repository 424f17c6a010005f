"""Forty slices of sixty examples: how often one is flagged where none differs, and the one that does is found.

Measured through the public API.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import numpy as np

import evalreport as er
from research.studies.harness import Cell, Result, Study
from research.studies.judgement import Line, at_least, at_most

SLICES, EACH, ACCURACY, FALLEN = 40, 60, 0.9, 0.6
NAMES = [f"g{k:02d}" for k in range(SLICES) for _ in range(EACH)]
IDS = [f"{i:04d}" for i in range(len(NAMES))]


@dataclass(frozen=True)
class Sliced(Cell):
    """Slices of one accuracy, or with a first one of another; ``limit``: most flagged, or least found."""

    first: float
    limit: float
    metric: str = "mean_outcome"

    @property
    def data_sets(self) -> int:
        """Fewer where a slice falls: it is found nearly always."""
        return 500 if self.first == ACCURACY else 200


CELLS = (Sliced("nothing differs", ACCURACY, 0.06), Sliced("one slice at 0.6", FALLEN, 0.8))


def counted(cell: Sliced, generator: np.random.Generator, number: int) -> Mapping[str, float]:
    """Say whether any slice that does not differ is flagged, and whether the first one is."""
    chances = np.full(len(NAMES), ACCURACY)
    chances[:EACH] = cell.first
    outcome = (generator.random(len(NAMES)) < chances).astype(int).tolist()
    results = er.evaluate(
        {"a": {"id": IDS, "outcome": outcome, "group": NAMES}}, task="outcome", metrics=[cell.metric],
        intervals=["wilson"], slices=["group"], resamples=2, seed=number,
    )  # fmt: skip
    flagged = {row.slice.value for row in results.disparities if row.flagged}
    fell = {NAMES[0]} if cell.first != ACCURACY else set()
    return {"flagged": bool(flagged - fell), "found": bool(flagged & fell)}


def promised(result: Result) -> Iterator[Line]:
    """Promise that no slice is flagged where none differs, and that one that differs is found."""
    if result.cell.first == ACCURACY:
        name = "40 slices x 60, none differs: any flagged"
        yield at_most(name, result["flagged"], 0.06, result.data_sets)
    else:
        yield at_least("one slice at 0.6 among 0.9: found", result["found"], 0.8, result.data_sets)


STUDY = Study("Slices", CELLS, counted, promised)
