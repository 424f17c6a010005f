"""How often a pair is decided on as many examples as "what would settle it" names, if the difference is the one seen.

A first data set is drawn until its pair is undecided and a number is named that is within reach. The rows of this set
are then the population: as many as were named are drawn from it with replacement, and analysed.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

import evalreport as er
from research.studies.harness import Cell, Result, Study
from research.studies.judgement import Line, at_least

FARTHEST = 6
"""Numbers that are more than so many times the present one are not tried: they take long."""

Rows = Mapping[str, Any]


@dataclass(frozen=True)
class Settled(Cell):
    """Examples of the first data set, of each model where these have test sets of their own, and the metric."""

    metric: str
    sizes: tuple[int, ...]


CELLS = (
    Settled("the same examples, accuracy", "mean_outcome", (250,)),
    Settled("the same examples, ROC AUC", "roc_auc", (200,)),
    Settled("two test sets, accuracy", "mean_outcome", (200, 400)),
    Settled("two test sets, ROC AUC", "roc_auc", (200, 200)),
    Settled("two test sets, RMSE", "rmse", (150, 300)),
)


def counted(cell: Settled, generator: np.random.Generator, number: int) -> Mapping[str, float]:
    """Say whether the pair is decided the right way round on the examples named."""
    paired = len(cell.sizes) == 1
    while True:
        first = drawn(cell, generator)
        verdict = decided(first, cell.metric, paired, number).verdicts[0]
        detectable = verdict.detectable
        if detectable is None or detectable.needed is None or detectable.needed > FARTHEST * sum(cell.sizes):
            continue
        break
    of_each = detectable.of_each or (detectable.needed, detectable.needed)
    rows = generator.integers(cell.sizes[0], size=of_each[0])
    again: dict[str, dict[str, Any]] = {}
    for name, n in zip("ab", of_each, strict=True):
        if not paired:
            rows = generator.integers(len(first[name]["id"]), size=n)
        again[name] = {column: np.asarray(values)[rows] for column, values in first[name].items()}
        again[name]["id"] = [f"{'' if paired else name}{i}" for i in range(n)]
    second = decided(again, cell.metric, paired, number)
    seen = second.comparisons[0].difference or 0.0
    ahead = (verdict.low or 0.0) + (verdict.high or 0.0) > 0
    return {"decided": second.verdicts[0].verdict in ("better", "worse") and (seen > 0) == ahead}


def drawn(cell: Settled, generator: np.random.Generator) -> dict[str, dict[str, Any]]:
    """Draw a first data set, in which model a is a little better."""
    source: dict[str, dict[str, Any]] = {}
    n = cell.sizes[0]
    hard, truth = generator.normal(size=n), generator.integers(0, 2, n)
    for name, ahead in (("a", 0.15), ("b", 0.0)):
        if len(cell.sizes) == 2:
            n = cell.sizes["ab".index(name)]
            hard, truth = generator.normal(size=n), generator.integers(0, 2, n)
        noise = generator.normal(size=n)
        ids = [f"{'' if len(cell.sizes) == 1 else name}{i}" for i in range(n)]
        if cell.metric == "mean_outcome":
            columns = {"outcome": (hard + noise < 1.0 + ahead).astype(int)}
        elif cell.metric == "rmse":
            columns = {"y_true": hard, "y_pred": hard + (1 - ahead / 2) * noise}
        else:
            columns = {"y_true": truth, "score": truth * (1 + ahead) + 0.7 * hard + 0.7 * noise}
        source[name] = {"id": ids, **columns}
    return source


def decided(source: Mapping[str, Rows], metric: str, paired: bool, number: int) -> er.Results:
    """Compare the two models."""
    join: Literal["error", "independent"] = "error" if paired else "independent"
    return er.evaluate(source, metrics=[metric], resamples=2, seed=number, join=join)


def promised(result: Result) -> Iterator[Line]:
    """Promise 70 % power at the least, where 80 % is meant."""
    yield at_least(f"{result.cell.name}: decided", result["decided"], 0.7, result.data_sets)


STUDY = Study("What would settle it", CELLS, counted, promised)
