"""Slices: how often one is flagged where none differs, and the one that does is found.

Forty slices of sixty outcomes, and thirty of five classes of which two are rare, on balanced accuracy (METHODS 7W).

Measured through the public API.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

import numpy as np

import evalreport as er
from research.studies.harness import Cell, Result, Study
from research.studies.judgement import Line, at_least, at_most

CLASSES = (0.4, 0.3, 0.2, 0.06, 0.04)


@dataclass(frozen=True)
class Sliced(Cell):
    """Slices of one accuracy, or with a first one of another; outcomes, or labels of five classes."""

    accuracy: float = 0.9
    first: float = 0.9
    slices: int = 40
    each: int = 60
    rare: bool = False
    data_sets: int = field(default=500, kw_only=True)


CELLS = (
    Sliced("nothing differs"),
    Sliced("one slice at 0.6", first=0.6, data_sets=200),
    Sliced("two of five classes rare, 30 x 100", 0.8, 0.8, 30, 100, rare=True, data_sets=2000),
    Sliced("two of five classes rare, 30 x 60", 0.8, 0.8, 30, 60, rare=True, data_sets=1000),
    Sliced(
        "two of five classes rare, 30 x 100, one slice at 0.5", 0.8, 0.5, 30, 100, rare=True, data_sets=300
    ),
)


def counted(cell: Sliced, generator: np.random.Generator, number: int) -> Mapping[str, float]:
    """Say whether any slice that does not differ is flagged, and whether the first one is."""
    groups = [f"g{k:02d}" for k in range(cell.slices) for _ in range(cell.each)]
    chances = np.full(len(groups), cell.accuracy)
    chances[: cell.each] = cell.first
    columns: dict[str, list[str] | list[int]] = {
        "id": [f"{i:04d}" for i in range(len(groups))],
        "group": groups,
    }
    right = generator.random(len(groups)) < chances
    if cell.rare:
        true = generator.choice(len(CLASSES), len(groups), p=CLASSES)
        wrong = (true + generator.integers(1, len(CLASSES), len(groups))) % len(CLASSES)
        columns |= {
            "y_true": [f"c{k}" for k in true],
            "y_pred": [f"c{k}" for k in np.where(right, true, wrong)],
        }
    else:
        columns["outcome"] = right.astype(int).tolist()
    results = er.evaluate(
        {"a": columns}, task="multiclass" if cell.rare else "outcome",
        metrics=["balanced_accuracy" if cell.rare else "mean_outcome"],
        intervals=["plus_four" if cell.rare else "wilson"], slices=["group"], resamples=2, seed=number,
    )  # fmt: skip
    flagged = {row.slice.value for row in results.disparities if row.flagged}
    fell = {groups[0]} if cell.first != cell.accuracy else set()
    return {"flagged": bool(flagged - fell), "found": bool(flagged & fell)}


def promised(result: Result) -> Iterator[Line]:
    """Promise that no slice is flagged where none differs, and that one that differs is found."""
    cell, of = result.cell, ", balanced accuracy, two of five classes rare" if result.cell.rare else ""
    if cell.first == cell.accuracy:
        name = f"{cell.slices} slices x {cell.each}{of}, none differs: any flagged"
        yield at_most(name, result["flagged"], 0.06, result.data_sets)
    else:
        name = f"one slice at {cell.first:g} among {cell.accuracy:g}{of}: found"
        yield at_least(name, result["found"], 0.8, result.data_sets)


STUDY = Study("Slices", CELLS, counted, promised)
