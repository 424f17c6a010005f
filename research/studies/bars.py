"""Gates on values that lie exactly at the bar: how often they pass, and how often they fail.

Proportions by enumeration, at every number of examples; everything else simulated through the public API.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy import stats

import evalreport as er
from evalreport.gates.outcomes import judging_interval, outcome_of
from evalreport.schema.metrics import Interval, MetricRecord
from research.studies.cells import Cell

Floats = npt.NDArray[np.float64]

BARS = (0.5, 0.8, 0.9, 0.95, 0.99)
MOST = 300
"""Examples up to which every outcome is weighed."""


@cache
def exact_limits(successes: int, trials: int) -> tuple[float, float]:
    """Return the limits by which a gate on a proportion is decided."""
    found = judging_interval(proportion(successes, trials))
    assert found.low is not None
    assert found.high is not None
    return found.low, found.high


def proportion(successes: int, trials: int) -> MetricRecord:
    """Return the record of an accuracy, as a run writes it."""
    interval = Interval(method="wilson", level=0.95, low=None, high=None)
    value = successes / trials
    return MetricRecord(
        model="a",
        metric="accuracy",
        average=None,
        label=None,
        slice=None,
        value=value,
        standard_error=None,
        n=trials,
        reason=None,
        intervals=(interval,),
        trials=float(trials),
    )


def enumerate_bars(most: int = MOST) -> list[dict[str, Any]]:
    """Return, for every bar, the largest chance to pass and to fail exactly at it, over all numbers of examples."""
    rows = []
    for bar in BARS:
        worst = {"pass": (0.0, 0), "fail": (0.0, 0), "undecided": (0.0, 0)}
        for n in range(1, most + 1):
            chances = stats.binom.pmf(np.arange(n + 1), n, bar)
            said = [
                outcome_of(">=", bar, low=low, high=high)
                for low, high in (exact_limits(x, n) for x in range(n + 1))
            ]
            for outcome in worst:
                total = float(sum(c for c, o in zip(chances, said, strict=True) if o == outcome))
                worst[outcome] = max(worst[outcome], (total, n))
        rows.append(
            {"bar": bar, "most": most, "passes": worst["pass"][0], "passes_at": worst["pass"][1],
             "fails": worst["fail"][0], "fails_at": worst["fail"][1]}
        )  # fmt: skip
    return rows


@dataclass(frozen=True)
class Bar(Cell):
    """A metric and its true value, which is the bar; ``limit``: what is still about 2.5 % on either side."""

    metric: str
    n: int
    bar: float
    limit: float = 0.035


AUC = 0.8
CELLS = (
    Bar("rmse", "rmse", 200, 1.0),
    Bar("mae", "mae", 200, float(np.sqrt(2 / np.pi))),
    Bar("mean of an outcome", "mean_outcome", 50, 0.0),
    Bar("f1", "f1", 200, 0.8),
    Bar("area under the ROC curve", "roc_auc", 200, AUC),
    Bar("difference of rmse", "rmse", 200, 0.0),
    Bar("difference of accuracy", "accuracy", 200, 0.0),
)


def counted(cell: Bar, generator: np.random.Generator, number: int) -> Mapping[str, float]:
    """Say whether the gate passes, or fails, where the true value is the bar."""
    source = draw(cell, generator)
    two = cell.name.startswith("difference")
    gate = f"a.{cell.metric} - b.{cell.metric} >= 0" if two else f"a.{cell.metric} >= {cell.bar!r}"
    bootstrap = cell.metric in ("rmse", "accuracy")
    results = er.evaluate(
        source, metrics=[cell.metric], resamples=999 if bootstrap else 2, seed=number, gates=[gate],
        task="outcome" if cell.metric == "mean_outcome" else None,
        intervals=["normal"],
        tests=["mcnemar_midp" if cell.metric == "accuracy" else "permutation"],
    )  # fmt: skip
    (found,) = results.gates
    contradicts = two and (found.outcome != "undecided") != (
        results.verdicts[0].verdict in ("better", "worse")
    )
    return {"passes": found.outcome == "pass", "fails": found.outcome == "fail", "contradicts": contradicts}


def draw(cell: Bar, generator: np.random.Generator) -> dict[str, dict[str, Any]]:
    """Draw a test set whose metric is truly the bar."""
    n, names = cell.n, "ab" if cell.name.startswith("difference") else "a"
    ids: dict[str, Any] = {"id": [f"{i:04d}" for i in range(n)]}
    if cell.metric == "mean_outcome":
        return {"a": {**ids, "outcome": generator.normal(size=n).tolist()}}
    if cell.metric in ("rmse", "mae"):
        true = generator.normal(size=n)
        return {
            m: {**ids, "y_true": true.tolist(), "y_pred": (true + generator.normal(size=n)).tolist()}
            for m in names
        }
    # Even classes; recall and false positive rate 0.8 and 0.2: F1 and accuracy are 0.8.
    positive = generator.random(n) < 0.5
    labels = {**ids, "y_true": positive.astype(int).tolist()}
    if cell.metric == "roc_auc":
        shift = np.sqrt(2) * stats.norm.ppf(AUC)
        return {"a": {**labels, "score": (shift * positive + generator.normal(size=n)).tolist()}}
    return {
        m: {**labels, "y_pred": ((generator.random(n) < 0.8) == positive).astype(int).tolist()} for m in names
    }
