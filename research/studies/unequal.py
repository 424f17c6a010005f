"""Unequal clusters and unequal weights: verdicts, equivalence at the margin and gates at the bar.

Clusters of 400 down to 10 examples, intraclass correlation 0.05. Weights: 1,000 examples with log-normal weights, which
say nothing of them. At the margin the difference is so large that an interval fits between it and the other margin.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

import numpy as np

import evalreport as er
from evalreport.gates.deciding import outcome_of
from evalreport.intervals import leading
from evalreport.metrics.registry import Quantity
from evalreport.metrics.sample import estimate_all
from evalreport.options import Options
from evalreport.predictions.table import Predictions
from evalreport.samplings import Sampling, sampling_by
from research.studies.designs import answers_in_clusters, unequal_clusters
from research.studies.harness import Cell, Result, Study
from research.studies.judgement import LEAST, Line, at_least, at_most
from research.studies.pair_decision import LEADING, decide_pair
from research.studies.simulation import LEVEL
from research.studies.tally import one

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
    data_sets: int = field(default=600, kw_only=True)


CELLS = tuple(
    Unequal(
        f"{name}, {metric}, {'at the margin' if ahead else 'equal'}", clusters, metric, margin, ahead, limit
    )
    for name, clusters, margin in (("20 clusters", 20, 0.3), ("8 clusters", 8, 0.4), ("weights", 0, 0.15))
    for metric in ("accuracy", "f1")
    for ahead, limit in ((0.0, 0.07), (margin, 0.05))
    if metric == "accuracy" or not ahead
)
"""Limits: of misses of 95 % intervals, and of equivalence where the difference is the margin."""


def counted(cell: Unequal, generator: np.random.Generator, number: int) -> Mapping[str, float]:
    """Say whether the pair is decided, called equivalent, and whether a gate at the true value passes or fails.

    A verdict of equivalence is that of a run through the public API, in which nothing but the margin differs.
    """
    predictions, units = draw(cell, generator)
    quantity = Quantity(cell.metric)
    sample = estimate_all(predictions, [quantity], units=units, n_resamples=2, seed=number)
    decision, p_values = decide_pair(sample, quantity, Options(resamples=2, seed=number))
    value = leading(sample.estimates["a", quantity], LEVEL)
    assert value.low is not None
    assert value.high is not None
    assert decision.limits is not None
    outcome, p = outcome_of(">=", ACCURACY, low=value.low, high=value.high), p_values[LEADING]
    return {
        "decided": p is not None and p <= ALPHA,
        "equivalent": bool(cell.ahead) and _equivalent(cell, predictions, units, number),
        "gate passes": outcome == "pass",
        "gate fails": outcome == "fail",
        "missed": not one(ACCURACY, value.low, value.high).held,
        "difference missed": not one(cell.ahead, decision.limits.low, decision.limits.high).held,
    }


def _equivalent(cell: Unequal, predictions: Predictions, units: Sampling, seed: int) -> bool:
    clusters, weights = units.cluster, units.weight
    assert predictions.y_true is not None
    column = {"w": weights.tolist()} if clusters is None and weights is not None else {}
    if clusters is not None:
        column = {"group": [f"g{k:02d}" for k in clusters]}
    source = {
        model.name: {
            "id": [f"{i:04d}" for i in range(predictions.n)],
            "y_true": predictions.y_true.tolist(),
            "y_pred": model.y_pred.tolist(),
            **column,
        }
        for model in predictions.models
        if model.y_pred is not None
    }
    results = er.evaluate(
        source, metrics=[cell.metric], intervals=["normal"], tests=["sign"], resamples=2, seed=seed,
        margin=cell.margin, cluster="group" if cell.clusters else None, weight=None if cell.clusters else "w",
    )  # fmt: skip
    return results.verdicts[0].verdict == "equivalent"


def draw(cell: Unequal, generator: np.random.Generator) -> tuple[Predictions, Sampling]:
    """Draw a test set and its units: errors do not depend on the class, so that F1 equals accuracy."""
    if cell.clusters:
        return unequal_clusters("", ACCURACY, CORRELATION, cell.ahead).draw(generator, cell.clusters)
    weight = np.exp(generator.normal(size=N))
    chances = {model: np.full(N, p) for model, p in (("a", ACCURACY), ("b", ACCURACY - cell.ahead))}
    predictions, _ = answers_in_clusters(generator, np.arange(N), chances)
    return predictions, sampling_by(N, weight=weight)


def promised(result: Result) -> Iterator[Line]:
    """Promise intervals, verdicts, equivalence and gates on clusters and weights of unequal size."""
    name, n = result.cell.name, result.data_sets
    if result.cell.ahead:
        yield at_most(f"{name}: called equivalent", result["equivalent"], 0.05, n)
        return
    yield at_least(f"{name}: the value's interval", 1 - result["missed"], LEAST, n)
    yield at_least(f"{name}: the difference's interval", 1 - result["difference missed"], LEAST, n)
    yield at_most(f"{name}: the pair is decided", result["decided"], 0.07, n)
    for side in ("passes", "fails"):
        yield at_most(f"{name}: a gate at its bar {side}", result[f"gate {side}"], 0.035, n)


STUDY = Study("Unequal clusters and weights", CELLS, counted, promised)
