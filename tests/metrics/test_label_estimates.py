"""Label metrics from distinct cells of labels."""

import numpy as np
import pytest

from evalreport.loading.load import load
from evalreport.metrics.estimation import estimate_models
from evalreport.metrics.label_estimates import LabelTables
from evalreport.metrics.layout import layout_of
from evalreport.metrics.registry import Quantity
from evalreport.options import Options
from evalreport.samplings import sampling_of


@pytest.mark.parametrize("largest", [4, 60])
def test_weighted_cells_are_drawn_as_their_examples(largest: int) -> None:
    """Cells of unlike weights have multinomial counts, whether their examples are drawn or they: within 5 Monte Carlo
    errors.

    A cell of c among n examples is drawn c times on average, with the variance c (1 - c / n); two of c and d with the
    covariance -c d / n.
    """
    random, resamples = np.random.default_rng(5), 20_000
    times = random.integers(1, largest, 12).astype(float)
    predictions = load(
        {
            "y_true": np.resize(["a", "b"], 12),
            "y_pred.m": ["a"] * 12,
            "w": np.arange(12) + 0.5,
            "count": times,
        },
        options=Options(weight="w"),
    )
    units = sampling_of(predictions, cluster=None, weight="w")
    tables = LabelTables.of(predictions, units, layout_of(predictions).pooled)
    assert tables is not None
    assert tables.cells is not None
    counts, n = tables.cells.counts, times.sum()
    assert sorted(counts) == sorted(times)
    drawn = np.concatenate(list(tables.draws(resamples, seed=0)))
    assert (drawn.sum(axis=1) == n).all()
    covariance = np.diag(counts) - np.outer(counts, counts) / n
    spread = np.sqrt(np.diag(covariance))
    assert (np.abs(drawn.mean(axis=0) - counts) < 5 * spread / np.sqrt(resamples)).all()
    error = np.sqrt((np.outer(spread, spread) ** 2 + covariance**2) / resamples)
    assert (np.abs(np.cov(drawn.T) - covariance) < 6 * error).all()


def test_fixed_class_counts_vary_within_each_true_class() -> None:
    """The answers of each class are binomial by themselves, so false positives of two classes have two variances.

    Of 40 a's 30 are called a, of 20 b's 12 and of 40 c's 2: precision is 30 / 44.
    """
    called, sizes = [30, 12, 2], [40, 20, 40]
    counts: dict[str, list[object]] = {"y_true": ["a", "b", "c"] * 2, "y_pred.m": [*"aaabbc"]}
    counts["count"] = [*called, *(size - n for n, size in zip(called, sizes, strict=True))]
    options = Options(fixed_class_counts=True, resamples=100)
    of_a = Quantity("precision", label="a")
    (sample,) = estimate_models(load(counts), [of_a], options)
    (estimate,) = sample.estimates.values()
    within = [n * (1 - n / size) for n, size in zip(called, sizes, strict=True)]
    p = 30 / 44
    error = np.sqrt((1 - p) ** 2 * within[0] + p**2 * (within[1] + within[2])) / 44
    assert estimate.standard_error == pytest.approx(error)
