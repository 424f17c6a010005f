"""Verdicts on suites, on several attempts at questions and beside a judge: error rates and power, by the public API.

The populations are those of ``research.studies.suite_designs`` and ``research.studies.judged_designs``. Beside a
judge who favours the second model the two are equally good; that the judge alone would call it better is the trap.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

import evalreport as er
from evalreport.predictions.column_names import TASK
from research.studies.harness import Cell
from research.studies.judged_designs import RIGHT, outcomes_of
from research.studies.suite_designs import BEHIND, CENTRES, passes_of, suite_of

ALPHA = 0.05
FEW_GOLD = 70


@dataclass(frozen=True)
class Layout(Cell):
    """Two models, equally good or (``apart``) not; ``kind``: ``suite``, ``clusters``, ``attempts`` or ``judge``.

    Attributes
    ----------
    size
        Tasks, questions, or answers that people judged.
    of
        Attempts at each question; sensitivity of the judge.
    apart
        The true difference.
    limit
        How often equally good models may be told apart; beside a judge whom people checked on few answers, by z, more
        often, of which a run warns (``few_gold``).
    """

    kind: str
    size: int
    of: float
    apart: float
    limit: float = 0.07


SPECIFICITY = {0.7: 0.7, 0.95: 0.9}
AHEAD = {"judge": RIGHT["a"] - RIGHT["b"], "attempts": 0.049119}
"""True differences of the cells of power; of suites ``BEHIND``."""
CELLS = tuple(
    Layout(f"{kind}, {size}, {of:g}, {'apart' if apart else 'equal'}", kind, size, of,
           AHEAD.get(kind, BEHIND) if apart else 0.0, 0.1 if kind == "judge" and size <= FEW_GOLD else 0.07,
           data_sets=400 if apart else 2_000)
    for kind, sizes, several in (
        ("suite", (5, 15, 30), (1,)),
        ("clusters", (5, 15, 30), (1,)),
        ("attempts", (30, 100), (3, 10)),
        ("judge", (30, 50, 500), tuple(SPECIFICITY)),
    )
    for size in sizes
    for of in several
    for apart in (False, True)
)  # fmt: skip


def counted(cell: Layout, generator: np.random.Generator, number: int) -> Mapping[str, float]:
    """Say whether the pair is decided, whether for the worse model, and whether its interval misses."""
    group = "group" if cell.kind == "clusters" else None
    results = er.evaluate(
        draw(cell, generator), intervals=["normal"], resamples=2, seed=number, cluster=group, task="outcome"
    )
    (verdict,) = results.verdicts
    row = next(row for row in results.comparisons if row.recommended)
    return {
        "decided": row.p_adjusted is not None and row.p_adjusted <= ALPHA,
        "right": verdict.verdict == "better",
        "wrong": verdict.verdict == "worse",
        "missed": row.low is None or row.high is None or not row.low <= cell.apart <= row.high,
    }


def draw(cell: Layout, generator: np.random.Generator) -> dict[str, dict[str, Any]]:
    """Draw the files of both models as a user would write them."""
    if cell.kind == "attempts":
        centres = CENTRES if cell.apart else dict.fromkeys("ab", CENTRES["a"])
        passes = passes_of(generator, cell.size, int(cell.of), centres)
        return {name: _attempts(count, int(cell.of)) for name, count in passes.items()}
    if cell.kind == "judge":
        right = RIGHT if cell.apart else dict.fromkeys("ab", RIGHT["b"])
        drawn = outcomes_of(generator, cell.size, (cell.of, SPECIFICITY[cell.of]), right)
        return {
            name: {
                "id": _ids(len(said)),
                "outcome": said.tolist(),
                "gold": [None if np.isnan(one) else float(one) for one in known],
            }
            for name, (said, known) in drawn.items()
        }
    predictions, units = suite_of(generator, cell.size, clusters=cell.kind == "clusters", behind=cell.apart)
    names = predictions.keys[TASK].categories
    assert names is not None
    column: dict[str, list[str]] = {"task": [names[code] for code in predictions.keys[TASK].values]}
    if units.cluster is not None:
        column["group"] = [f"g{code}" for code in units.cluster]
    return {
        model.name: {"id": _ids(units.n), "outcome": np.asarray(model.outcome).tolist(), **column}
        for model in predictions.models
    }


def _attempts(passes: npt.NDArray[np.int64], attempts: int) -> dict[str, list[Any]]:
    """Write the answers of one model, the right ones of a question first."""
    return {
        "id": [one for one in _ids(len(passes)) for _ in range(attempts)],
        "attempt": list(range(1, attempts + 1)) * len(passes),
        "outcome": [float(k < count) for count in passes for k in range(attempts)],
    }


def _ids(n: int) -> list[str]:
    return [f"{i:04d}" for i in range(n)]
