"""How often the intervals and the test of ``--order time`` hold on series whose examples are alike by an AR(1) process.

Two models that are equally good, so that their difference is 0. Outcomes are normal AR(1) series themselves; of
regressions the errors are, so that squared ones have the square of the correlation; of labels and scores the truth and
the noise of each model are.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from scipy import signal

from evalreport.engine.distributions import normal_quantile, t_quantile
from evalreport.intervals import leading, limits
from evalreport.metrics.difference import Difference, paired_difference
from evalreport.metrics.estimate import Estimate
from evalreport.metrics.registry import Quantity
from evalreport.metrics.sample import estimate_all
from evalreport.predictions.table import ModelOutputs, Predictions
from evalreport.samplings import sampling_by
from evalreport.samplings.in_order import InOrder
from research.studies.designs import predictions_on
from research.studies.harness import Cell, Result, Run, Study, measure, named
from research.studies.judgement import LEAST, Line, at_least
from research.studies.tally import one

Floats = npt.NDArray[np.float64]

LEVEL = 0.95
CORRELATIONS = (0.2, 0.5, 0.8)
SIZES = (30, 100, 500, 2000)
SHARED = 0.3
"""Correlation of the two models' noise at one time."""
SKILL = 0.7
"""Correlation of the latent truth and the score."""
TRUTHS = {
    "mean_outcome": 0.0,
    "rmse": 1.0,
    "f1": 0.5 + math.asin(SKILL) / math.pi,
    "roc_auc": 0.5 + 2 / math.pi * math.asin(SKILL / math.sqrt(2)),
}
"""The true values: of labels and scores by the orthant probabilities of normal variables."""


def series(generator: np.random.Generator, correlation: float, n: int, k: int) -> Floats:
    """Draw k stationary AR(1) series of n normal values with variance 1, (k, n)."""
    shocks = generator.normal(size=(k, n)) * math.sqrt(1 - correlation**2)
    shocks[:, 0] /= math.sqrt(1 - correlation**2)
    return np.asarray(signal.lfilter([1.0], [1.0, -correlation], shocks, axis=1))


def draw(generator: np.random.Generator, correlation: float, n: int) -> list[tuple[Predictions, Quantity]]:
    """Draw one test set of each kind, with the quantities that are estimated on it."""
    common, *own = series(generator, correlation, n, 3)
    noise = [math.sqrt(SHARED) * common + math.sqrt(1 - SHARED) * one for one in own]
    (latent,) = series(generator, correlation, n, 1)
    scores = [SKILL * latent + math.sqrt(1 - SKILL**2) * one for one in noise]
    true = (latent > 0).astype(np.int32)
    outcomes = [ModelOutputs(name, outcome=one) for name, one in zip("ab", noise, strict=True)]
    numbers = [ModelOutputs(name, y_pred=one) for name, one in zip("ab", noise, strict=True)]
    labels = [
        ModelOutputs(name, y_pred=(one > 0).astype(np.int32), score=one)
        for name, one in zip("ab", scores, strict=True)
    ]
    of_labels = predictions_on("binary", true, tuple(labels), 2)
    return [
        (predictions_on("outcome", None, tuple(outcomes)), Quantity("mean_outcome")),
        (predictions_on("regression", np.zeros(n), tuple(numbers)), Quantity("rmse")),
        (of_labels, Quantity("f1")),
        (of_labels, Quantity("roc_auc")),
    ]


@dataclass(frozen=True)
class Series(Cell):
    """Series of n examples with one correlation between neighbours."""

    correlation: float
    n: int


CELLS = tuple(
    Series(f"AR(1) of {r:g}, n = {n}", r, n, stream=named(r, n)) for r in CORRELATIONS for n in SIZES
)


def counted(cell: Series, generator: np.random.Generator, _number: int) -> Mapping[tuple[str, str], float]:
    """Say of one data set what each metric's intervals hold, by metric."""
    units = sampling_by(cell.n, order=np.arange(cell.n))
    holds: dict[tuple[str, str], float] = {}
    for predictions, quantity in draw(generator, cell.correlation, cell.n):
        sample = estimate_all(predictions, (quantity,), units=units, n_resamples=1, seed=0)
        first, second = (sample.estimates[name, quantity] for name in "ab")
        if not (first.defined and second.defined):
            continue
        interval, delta = leading(first, LEVEL), paired_difference(first, second)
        between = limits(delta, "hac_t", LEVEL)
        value = one(TRUTHS[quantity.metric], interval.low, interval.high)
        figures = {
            "sets": 1.0,
            "value_held": value.held,
            "value_above": value.above,
            "value_below": value.below,
            "difference_held": one(0.0, between.low, between.high).held,
            "paired_t_held": abs(delta.value) <= _paired_t(delta),
            "newey_west_held": abs(delta.value) <= _newey_west(delta),
        }
        holds |= {(quantity.metric, name): figure for name, figure in figures.items()}
    return holds


def _paired_t(delta: Estimate | Difference) -> float:
    """Return half the width of Student's interval, as if the examples were independent."""
    derivative = _series(delta)
    n = len(derivative)
    return t_quantile((1 + LEVEL) / 2, n - 1) * math.sqrt(n / (n - 1) * float((derivative**2).sum()))


def _series(delta: Estimate | Difference) -> Floats:
    """Return the derivatives of the difference by the weight of each example, in order of time."""
    assert isinstance(delta.sampling, InOrder)
    derivative = delta.sampling.series(delta)
    assert derivative is not None
    return derivative


def _newey_west(delta: Estimate | Difference) -> float:
    """Half a width by Bartlett's weights and 4 (n/100)^(2/9) lags (Newey and West 1987, 1994)."""
    derivative = _series(delta)
    lags = int(4 * (len(derivative) / 100) ** (2 / 9))
    lagged = [(1 - k / (lags + 1)) * float(derivative[k:] @ derivative[:-k]) for k in range(1, lags + 1)]
    variance = float(derivative @ derivative) + 2 * sum(lagged)
    return normal_quantile((1 + LEVEL) / 2) * math.sqrt(max(variance, 0.0))


SHARES = (
    "value_held", "value_above", "value_below", "difference_held", "paired_t_held", "newey_west_held",
)  # fmt: skip


def rows(run: Run) -> Iterator[Mapping[str, object]]:
    """Yield a row for every correlation, size and metric."""
    for result in measure(CELLS, counted, run):
        for metric in TRUTHS:
            sets = result[metric, "sets"]
            yield {
                "correlation": result.cell.correlation, "n": result.cell.n, "metric": metric,
                **{name: round(result[metric, name] / sets, 4) for name in SHARES},
                "sets": round(sets * result.data_sets), "seed": run.seed,
            }  # fmt: skip


def promised(result: Result) -> Iterator[Line]:
    """Promise intervals of values and differences by ``--order time``, from 100 examples on."""
    for metric in TRUTHS:
        sets = result[metric, "sets"]
        for name, figure in ((metric, "value_held"), (f"difference of {metric}", "difference_held")):
            rate, drawn = result[metric, figure] / sets, round(sets * result.data_sets)
            yield at_least(f"{result.cell.name}: {name}", rate, LEAST, drawn)


STUDY = Study("Order of time", tuple(cell for cell in CELLS if cell.n >= 100), counted, promised)
