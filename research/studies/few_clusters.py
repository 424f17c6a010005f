"""How often the interval of one value holds under three to ten clusters of one size; docs/few-clusters.csv.

Run by ``make study-few-clusters``, an hour on one core. The examples of a cluster are alike by an intraclass
correlation: the share of right answers of a cluster is a beta variate, scores and errors have a normal part that the
cluster shares.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import numpy as np
from scipy import stats

from evalreport.metrics.registry import Quantity
from evalreport.predictions.table import ModelOutputs, Predictions
from evalreport.samplings import sampling_by
from research.studies.designs import Truth, labelled, predictions_on
from research.studies.harness import Cell, add
from research.studies.simulation import held_of
from research.studies.tally import Tally

SHARES = (0.8, 0.95)
SHIFT = 1.5
"""Between the means of the scores of both classes, in standard deviations within a cluster."""


@dataclass(frozen=True)
class Clustered(Cell):
    """Clusters, examples of each, and the correlation of two of them."""

    clusters: int
    size: int
    correlation: float


CELLS = tuple(
    Clustered(f"{g} clusters of {n}, correlation {r}", g, n, r, at_once=0, stream=(g, n, round(100 * r)))
    for g in (3, 5, 8, 10)
    for n in (10, 40)
    for r in (0.2, 0.5)
)


def drawn(
    cell: Clustered, generator: np.random.Generator, sets: int
) -> Iterator[tuple[Predictions, Mapping[str, float]]]:
    """Yield test sets of labels, of scores and of errors, with the true values of what is estimated on each."""
    shape, r = (sets, cell.clusters, cell.size), cell.correlation
    for share in SHARES:
        # Classes are even, and answers are right as often in both: accuracy and F1 are the share.
        chances = generator.beta((1 / r - 1) * share, (1 / r - 1) * (1 - share), (sets, cell.clusters, 1))
        right, positive = generator.random(shape) < chances, generator.random(shape) < 0.5
        for own, y in zip(right.reshape(sets, -1), positive.reshape(sets, -1), strict=True):
            labels = {"a": (own == y).astype(np.int32)}
            yield labelled(y.astype(np.int32), labels, 2), {"accuracy": share, "f1": share}
    shared = np.sqrt(r / (1 - r))
    positive = generator.random(shape) < 0.5
    scores = SHIFT * positive + shared * generator.normal(size=(*shape[:2], 1)) + generator.normal(size=shape)
    area = float(stats.norm.cdf(SHIFT / np.sqrt(2 * (1 + shared**2))))
    for score, y in zip(scores.reshape(sets, -1), positive.reshape(sets, -1), strict=True):
        model = (ModelOutputs("a", score=score),)
        yield predictions_on("binary", y.astype(np.int32), model, 2), {"roc_auc": area}
    errors = np.sqrt(r) * generator.normal(size=(*shape[:2], 1)) + np.sqrt(1 - r) * generator.normal(
        size=shape
    )
    for error in errors.reshape(sets, -1):
        model = (ModelOutputs("a", y_pred=error),)
        yield predictions_on("regression", np.zeros(len(error)), model), {"mse": 1.0, "rmse": 1.0}


def counted(cell: Clustered, generator: np.random.Generator, sets: int) -> Mapping[tuple[str, float], Tally]:
    """Add up what the intervals hold, by metric and true value."""
    units = sampling_by(cell.clusters * cell.size, cluster=np.repeat(np.arange(cell.clusters), cell.size))
    total: dict[tuple[str, float], Tally] = {}
    for predictions, values in drawn(cell, generator, sets):
        truths: dict[Truth, float] = {("value", "a", Quantity(m)): value for m, value in values.items()}
        found = held_of(predictions, truths, units)
        add(total, {(metric, values[metric]): tally for (_, metric), tally in found.items()})
    return total
