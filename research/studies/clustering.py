"""How often the intervals of agreements of groups hold, and how often their test rejects where nothing is to be found.

Examples belong to one of K true groups; a model puts each into its own group but for a share, which goes anywhere among
its G groups. An interval should hold the mean of the metric over such sets of n examples (and over pairs of models, of
the difference).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

import evalreport
from evalreport.metrics.clustering import GroupTable, Overlap, expected_mutual_information
from evalreport.metrics.registry import METRICS
from research.studies.harness import Cell, Run, add, measure
from research.studies.tally import Tally, one

RESAMPLES, FOR_THE_MEAN = 400, 3000
NAMES = tuple(m.name for m in METRICS.values() if m.tasks == ("clustering",) and m.scale.affine_of is None)


@dataclass(frozen=True)
class Design(Cell):
    """n examples in K true groups of equal chance, or of chances 1 / k; two models with G groups and noise each."""

    n: int
    k: int
    groups: tuple[int, int]
    noise: tuple[float, float]
    skew: bool = False


DESIGNS = tuple(
    Design(f"n = {own[0]}, {own[1]} groups", *own, at_once=0, stream=(0,))
    for own in (
        (100, 3, (3, 3), (0.3, 0.3)),
        (100, 3, (3, 3), (0.1, 0.2)),
        (300, 3, (3, 6), (0.3, 0.3)),
        (500, 10, (10, 10), (0.3, 0.3)),
        (1000, 10, (10, 10), (0.05, 0.1), True),
        (500, 4, (20, 4), (0.3, 0.3), True),
        (2000, 20, (20, 20), (0.5, 0.5)),
        (200, 6, (6, 6), (0.9, 0.9)),
    )
)


def drawn(design: Design, random: np.random.Generator) -> tuple[np.ndarray, list[np.ndarray]]:
    """Draw one set: true groups, and each model's."""
    chances = 1 / np.arange(1, design.k + 1) if design.skew else np.ones(design.k)
    truth = random.choice(design.k, design.n, p=chances / chances.sum())
    said = []
    for groups, noise in zip(design.groups, design.noise, strict=True):
        # With more groups than true ones each true group is divided among its own at random.
        own = truth + design.k * random.integers(0, max(groups // design.k, 1), design.n)
        said.append(np.where(random.random(design.n) < noise, random.integers(0, groups, design.n), own))
    return truth, said


def values(truth: np.ndarray, said: np.ndarray) -> list[float]:
    """Return every metric of one grouping."""
    table = GroupTable.of(truth.astype(np.int32), said.astype(np.int32))
    sums = table.overlap(table.counts, expected_mutual_information(*table.sizes))
    return [float(METRICS[name].computation.function(Overlap(*sums))) for name in NAMES]


def counted(design: Design, generator: np.random.Generator, sets: int) -> Mapping[tuple[str, str], Any]:
    """Add up the intervals that hold, and the pairs that are told apart, by figure and metric."""
    many = (drawn(design, generator) for _ in range(FOR_THE_MEAN))
    means = np.mean([[values(truth, one_model) for one_model in said] for truth, said in many], axis=0)
    total: dict[tuple[str, str], Any] = {}
    for _ in range(sets):
        truth, said = drawn(design, generator)
        models = {name: {"y_true": truth, "y_pred": groups} for name, groups in zip("ab", said, strict=True)}
        found = evalreport.evaluate(models, task="clustering", metrics=NAMES, resamples=RESAMPLES)
        first = {r.metric: r.intervals[0] for r in found.metrics if r.model == "a"}
        for row in found.comparisons:
            interval = first.get(row.metric)
            if not row.recommended or interval is None or row.p_value is None:
                continue
            a, b = means[:, NAMES.index(row.metric)].tolist()
            value, difference = one(a, interval.low, interval.high), one(a - b, row.low, row.high)
            if value.given and difference.given:
                figures = {"value": value, "difference": difference, "apart": int(row.p_value <= 0.05)}
                add(total, {(name, row.metric): figure for name, figure in figures.items()})
    return total


def rows(run: Run) -> Iterator[Mapping[str, object]]:
    """Yield for each metric the shares of intervals that hold, and of pairs that are told apart."""
    for result in measure(DESIGNS, counted, run, equally=True):
        design = result.cell
        for name in NAMES:
            value, difference = (result.totals.get((kind, name), Tally()) for kind in ("value", "difference"))
            apart, sets = result.totals.get(("apart", name), 0), round(value.given)
            yield {
                "n": design.n, "true_groups": design.k, "groups": "/".join(map(str, design.groups)),
                "noise": "/".join(map(str, design.noise)), "skew": design.skew, "metric": name,
                "value_held": round(value.held / sets, 3) if sets else "",
                "difference_held": round(difference.held / sets, 3) if sets else "",
                "told_apart": round(apart / sets, 3) if sets else "", "sets": sets,
            }  # fmt: skip
