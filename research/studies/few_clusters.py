"""How often the interval of one value holds under three to ten clusters of one size; docs/few-clusters.csv.

Run by ``make study-few-clusters``, three minutes on one core. Each data set is drawn by numpy, and the interval that
leads is asked for its limits. The examples of a cluster are alike by an intraclass correlation: the share of right
answers of a cluster is a beta variate, scores and errors have a normal part that the cluster shares.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from scipy import stats

from evalreport.intervals import leading
from evalreport.metrics.estimate import Estimate
from evalreport.metrics.evidence import Mean
from evalreport.metrics.registry import Quantity, definition
from evalreport.predictions.arrays import Floats
from evalreport.samplings import Influence, Sampling, sampling_by
from evalreport.schema.metrics import Interval
from research.studies.harness import Run
from research.studies.tally import Tally, one

CLUSTERS = (3, 5, 8, 10)
SIZES = (10, 40)
CORRELATIONS = (0.2, 0.5)
SHARES = (0.8, 0.95)
SHIFT = 1.5
"""Between the means of the scores of both classes, in standard deviations within a cluster."""
LEVEL = 0.95


@dataclass(frozen=True, slots=True)
class Values:
    """Values (S,) of data sets, their derivatives (S, G, n) by the examples' weights, and the true value."""

    values: Floats
    derivatives: Floats
    truth: float


def of_labels(
    generator: np.random.Generator, shape: tuple[int, int, int], share: float, correlation: float
) -> dict[str, Values]:
    """Draw answers that are right together, and return accuracy and F1: classes are even, both truths the share."""
    sets, clusters, _ = shape
    concentration = 1 / correlation - 1
    chances = generator.beta(concentration * share, concentration * (1 - share), (sets, clusters, 1))
    right, positive = generator.random(shape) < chances, generator.random(shape) < 0.5
    accuracy = right.mean((1, 2))
    tp, wrong = (right & positive).astype(float), (~right).astype(float)
    whole = (2 * tp + wrong).sum((1, 2))
    f1 = 2 * tp.sum((1, 2)) / whole
    return {
        "accuracy": Values(accuracy, (right - _each(accuracy)) / right[0].size, share),
        "f1": Values(f1, (2 * tp - _each(f1) * (2 * tp + wrong)) / _each(whole), share),
    }


def of_scores(
    generator: np.random.Generator, shape: tuple[int, int, int], correlation: float
) -> dict[str, Values]:
    """Draw scores that a cluster moves together, and return the area under the ROC curve."""
    sets, clusters, _ = shape
    shared = np.sqrt(correlation / (1 - correlation))
    positive = generator.random(shape) < 0.5
    scores = (
        SHIFT * positive + shared * generator.normal(size=(sets, clusters, 1)) + generator.normal(size=shape)
    )
    flat, y = scores.reshape(sets, -1), positive.reshape(sets, -1)
    m, k = y.sum(1, keepdims=True), (~y).sum(1, keepdims=True)
    ranks = _ranks(flat)
    placed = np.where(
        y,
        (ranks - _ranks(np.where(y, flat, np.inf))) / k,
        1 - (ranks - _ranks(np.where(y, np.inf, flat))) / m,
    )
    area = (placed * y).sum(1, keepdims=True) / m
    derivatives = (placed - area) / np.where(y, m, k)
    truth = float(stats.norm.cdf(SHIFT / np.sqrt(2 * (1 + shared**2))))
    return {"roc_auc": Values(area[:, 0], derivatives.reshape(shape), truth)}


def of_errors(
    generator: np.random.Generator, shape: tuple[int, int, int], correlation: float
) -> dict[str, Values]:
    """Draw errors that a cluster shares in part, and return MSE and RMSE, both truths 1."""
    sets, clusters, _ = shape
    errors = np.sqrt(correlation) * generator.normal(size=(sets, clusters, 1))
    squares = (errors + np.sqrt(1 - correlation) * generator.normal(size=shape)) ** 2
    mse = squares.mean((1, 2))
    derivatives = (squares - _each(mse)) / squares[0].size
    rmse = np.sqrt(mse)
    return {"mse": Values(mse, derivatives, 1.0), "rmse": Values(rmse, derivatives / _each(2 * rmse), 1.0)}


def _each(values: Floats) -> Floats:
    return values[:, None, None]


def _ranks(values: Floats) -> npt.NDArray[np.intp]:
    return values.argsort(axis=1).argsort(axis=1)


def rows(run: Run) -> Iterator[Mapping[str, object]]:
    """Yield how often the leading interval holds, with the lower 99 % limit of that, and its mean width."""
    cells = [(g, n, c) for g in CLUSTERS for n in SIZES for c in CORRELATIONS]
    for g, n, correlation in cells:
        generator = np.random.default_rng([run.seed, g, n, round(100 * correlation)])
        shape = (run.replications, g, n)
        sampling = sampling_by(g * n, cluster=np.repeat(np.arange(g), n))
        drawn = {
            (metric, share): values
            for share in SHARES
            for metric, values in of_labels(generator, shape, share, correlation).items()
        }
        drawn |= {
            (name, values.truth): values for name, values in of_scores(generator, shape, correlation).items()
        }
        drawn |= {
            (name, values.truth): values for name, values in of_errors(generator, shape, correlation).items()
        }
        for (metric, truth), values in drawn.items():
            tally = Tally()
            for value, derivatives in zip(values.values, values.derivatives, strict=True):
                interval = interval_of(metric, value, derivatives, sampling)
                tally += one(truth, interval.low, interval.high)
            yield {
                "metric": metric, "clusters": g, "size": n, "correlation": correlation, "truth": f"{truth:.4g}",
                "sets": run.replications, "given": round(tally.given), "held": f"{tally.coverage:.4f}",
                "lower": f"{tally.least(0.99):.4f}", "width": f"{tally.width / tally.given:.4g}", "seed": run.seed,
            }  # fmt: skip


def interval_of(metric: str, value: float, derivatives: Floats, sampling: Sampling) -> Interval:
    """Return the interval that leads."""
    by_example = derivatives.ravel()
    estimate = Estimate(
        model="m",
        quantity=Quantity(metric),
        value=float(value),
        range=definition(Quantity(metric)).scale.range,
        sampling=sampling,
        evidence=Mean(),
        influence=Influence(derivatives.sum(1), np.ones(len(derivatives)), None, lambda: by_example),
    )
    return leading(estimate, LEVEL)
