"""The histogram engine of rank metrics stays within 0.02 standard errors of the exact kernel: blocking."""

from collections.abc import Callable
from functools import cache

import numpy as np
import numpy.typing as npt
import pytest

from evalreport.engine.histogram import (
    Bins,
    binned_average_precision,
    binned_roc_auc,
    bins_of,
    variance_lost,
)
from evalreport.engine.multinomial import uniform_multinomial
from evalreport.engine.ranks import Order, descending_order, group_weights
from evalreport.metrics import METRICS

Floats = npt.NDArray[np.float64]
N, REPLICATES = 210_000, 8
METRIC_NAMES = ("roc_auc", "average_precision")
BINNED: dict[str, Callable[[Bins, Floats, Floats], Floats]] = {
    "roc_auc": binned_roc_auc,
    "average_precision": binned_average_precision,
}


def scores(case: str, generator: np.random.Generator) -> tuple[npt.NDArray[np.bool_], Floats]:
    """Make one of the cases that are hard for a histogram."""
    shares = {"prevalence 0.1 %": 0.001, "rare and near-perfect": 0.002}
    positive = generator.random(N) < shares.get(case, 0.3)
    if case == "100 positives":
        positive = np.zeros(N, dtype=bool)
        positive[generator.choice(N, 100, replace=False)] = True
    noise = generator.standard_cauchy(N) if case == "heavy tails" else generator.normal(size=N)
    distance = {"near-perfect": 6.0, "rare and near-perfect": 6.0, "worse than chance": -3.0}.get(case, 1.0)
    score = noise + distance * positive
    if case == "all tied":
        score = np.zeros(N)
    if case == "few distinct scores":
        score = np.round(score)
    return positive, score


CASES = (
    "ordinary",
    "prevalence 0.1 %",
    "100 positives",
    "near-perfect",
    "rare and near-perfect",
    "worse than chance",
    "all tied",
    "few distinct scores",
    "heavy tails",
)


@cache
def drawn() -> tuple[Floats, npt.NDArray[np.float32]]:
    """Draw one set of weights for all cases: (b, n) for the exact kernel, (n, b) for the histogram."""
    weights = uniform_multinomial(N, REPLICATES, np.random.default_rng(5))
    return weights.T.astype(np.float64), weights.astype(np.float32)


def by_both(order: Order, name: str) -> tuple[Floats, Floats, Floats]:
    """Return replicates by the exact kernel and by the histogram, and the derivatives by row."""
    weights, by_row = drawn()
    bins = bins_of(order, np.ones(N))
    sums = np.asarray(bins.columns.T @ by_row, dtype=np.float64)
    half = len(bins.wins)
    metric = METRICS[name]
    assert metric.derivative is not None
    positive, negative = metric.derivative(*group_weights(np.ones(N), order))
    derivative = np.where(order.positive, positive[order.group], negative[order.group])
    exact = metric.function(*group_weights(weights, order))
    return exact, BINNED[name](bins, sums[:half], sums[half:]), derivative


@pytest.mark.parametrize("case", CASES)
def test_stress_suite(case: str) -> None:
    """Values and paired differences are at most 0.02 standard errors off in every replicate."""
    generator = np.random.default_rng(6)
    positive, score = scores(case, generator)
    other = score if case == "all tied" else score + 0.3 * generator.normal(size=N)
    for name in METRIC_NAMES:
        exact, binned, slope = by_both(descending_order(score, positive), name)
        exact_other, binned_other, slope_other = by_both(descending_order(other, positive), name)
        # All tied: the area is one half in every replicate, and only rounding is left to be off by.
        error = max(float(np.sqrt((slope**2).sum())), 1e-12)
        assert np.abs(exact - binned).max() <= 0.02 * error, name
        error = max(float(np.sqrt(((slope - slope_other) ** 2).sum())), 1e-12)
        assert np.abs((exact - exact_other) - (binned - binned_other)).max() <= 0.02 * error, name


@pytest.mark.parametrize("case", ["ordinary", "near-perfect", "few distinct scores"])
def test_data_themselves_are_exact(case: str) -> None:
    """Under the data's own weights the histogram gives the exact value: its corrections come from there."""
    positive, score = scores(case, np.random.default_rng(7))
    order = descending_order(score, positive)
    bins = bins_of(order, np.ones(N))
    half = len(bins.wins)
    sums = np.asarray(bins.columns.T @ np.ones((N, 1), dtype=np.float32), dtype=np.float64)
    for name in METRIC_NAMES:
        exact = float(METRICS[name].function(*group_weights(np.ones(N), order)))
        assert BINNED[name](bins, sums[:half], sums[half:])[0] == pytest.approx(exact, rel=1e-12)


def test_guard_is_the_share_of_variance_inside_bins() -> None:
    """The printed guard is small for a fine histogram and 1 where all of it lies inside one bin."""
    positive, score = scores("ordinary", np.random.default_rng(8))
    order = descending_order(score, positive)
    _, _, slope = by_both(order, "roc_auc")
    assert variance_lost(bins_of(order, np.ones(N)), slope, positive) < 1e-5
    tied = bins_of(descending_order(np.zeros(N), positive), np.ones(N))
    centred = slope - np.where(positive, slope[positive].mean(), slope[~positive].mean())
    assert variance_lost(tied, centred, positive) == pytest.approx(1.0)
