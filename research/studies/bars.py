"""Gates on values that lie exactly at the bar: how often they pass, and how often they fail.

Proportions by enumeration, at every number of examples; everything else simulated, differences through the public API.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy import stats

import evalreport as er
from evalreport.gates.deciding import outcome_of
from evalreport.gates.outcomes import judging_interval
from evalreport.intervals import leading
from evalreport.metrics.registry import Quantity
from evalreport.metrics.sample import estimate_all
from evalreport.predictions.table import ModelOutputs, Predictions
from evalreport.samplings import sampling_by
from evalreport.schema.metrics import Interval, MetricRecord
from research.studies.designs import labelled, predictions_on
from research.studies.harness import Cell, Result, Study
from research.studies.judgement import Fact, Line, at_most, never

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
        model="a", metric="accuracy", average=None, label=None, slice=None, value=value, standard_error=None, n=trials,
        reason=None, intervals=(interval,), trials=float(trials),
    )  # fmt: skip


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
    predictions, quantity = draw(cell, generator), Quantity(cell.metric)
    if not cell.name.startswith("difference"):
        sample = estimate_all(predictions, [quantity], units=sampling_by(cell.n), n_resamples=2, seed=number)
        limits = leading(sample.estimates["a", quantity], 0.95)
        outcome = outcome_of(">=", cell.bar, low=_known(limits.low), high=_known(limits.high))
        return {"passes": outcome == "pass", "fails": outcome == "fail", "contradicts": False}
    return _of_pair(cell, predictions, number)


def _known(limit: float | None) -> float:
    assert limit is not None
    return limit


def _of_pair(cell: Bar, predictions: Predictions, seed: int) -> Mapping[str, float]:
    """Judge a difference through the public API, where gate and verdict are decided apart."""
    source: Any = predictions  # taken as it is, though users give tables
    results = er.evaluate(
        source, metrics=[cell.metric], resamples=2, seed=seed, intervals=["normal"], tests=["sign"],
        gates=[f"a.{cell.metric} - b.{cell.metric} >= 0"],
    )  # fmt: skip
    (found,) = results.gates
    decided = results.verdicts[0].verdict in ("better", "worse")
    return {
        "passes": found.outcome == "pass",
        "fails": found.outcome == "fail",
        "contradicts": (found.outcome != "undecided") != decided,
    }


def draw(cell: Bar, generator: np.random.Generator) -> Predictions:
    """Draw a test set whose metric is truly the bar."""
    n, names = cell.n, "ab" if cell.name.startswith("difference") else "a"
    if cell.metric == "mean_outcome":
        outcome = (ModelOutputs("a", outcome=generator.normal(size=n)),)
        return predictions_on("outcome", None, outcome)
    if cell.metric in ("rmse", "mae"):
        true = generator.normal(size=n)
        models = tuple(ModelOutputs(m, y_pred=true + generator.normal(size=n)) for m in names)
        return predictions_on("regression", true, models)
    # Even classes; recall and false positive rate 0.8 and 0.2: F1 and accuracy are 0.8.
    positive = generator.random(n) < 0.5
    codes = positive.astype(np.int32)
    if cell.metric == "roc_auc":
        shift = np.sqrt(2) * stats.norm.ppf(AUC)
        scores = shift * positive + generator.normal(size=n)
        return predictions_on("binary", codes, (ModelOutputs("a", score=scores),), 2)
    said = {m: ((generator.random(n) < 0.8) == positive).astype(np.int32) for m in names}
    return labelled(codes, said, 2)


def promised(result: Result) -> Iterator[Line]:
    """Promise that a gate exactly at its bar passes and fails rarely, and is never against the verdict."""
    name, n = result.cell.name, result.data_sets
    for side in ("passes", "fails"):
        yield at_most(f"{name} at the bar: {side}", result[side], 0.035, n)
    if name.startswith("difference"):
        yield never(f"{name}: gate against verdict", result["contradicts"], n)


STUDY = Study("Gates", CELLS, counted, promised)


def of_proportions() -> Iterator[Line]:
    """Promise the same of proportions at every number of examples, by enumeration."""
    for row in enumerate_bars():
        for side in ("passes", "fails"):
            yield Fact(
                promise=f"a proportion at the bar {row['bar']:g}, every n to {row['most']}: {side}",
                asked="at most 2.5 %",
                found=f"{100 * row[side]:.2f} %",
                holds=row[side] <= 0.025,
            )
