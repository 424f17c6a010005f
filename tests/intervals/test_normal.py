"""The bootstrap intervals and standard errors against programs that know nothing of weights or influence values."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import numpy.typing as npt
import pytest
from scipy import stats

from evalreport.intervals import limits
from evalreport.metrics.estimate import Estimate
from evalreport.metrics.registry import Quantity
from evalreport.metrics.sample import estimate_all
from evalreport.predictions.table import ModelOutputs, Predictions
from evalreport.samplings import sampling_by
from research.studies.designs import predictions_on
from tests.samples.cases import every

Floats = npt.NDArray[np.float64]
RESAMPLES = 10_000


def estimated(predictions: Predictions, metric: str, *, n_resamples: int = RESAMPLES) -> Estimate:
    """Estimate one metric of the only model."""
    units = sampling_by(predictions.n)
    quantity = Quantity(metric)
    sample = estimate_all(predictions, [quantity], units=units, n_resamples=n_resamples, seed=4)
    return sample.estimates["a", quantity]


def two_classes(n: int = 120) -> Predictions:
    """Make a test set with labels and scores, some of them tied."""
    random = np.random.default_rng(21)
    true = (random.random(n) < 0.4).astype(np.int32)
    score = np.round(true + random.normal(size=n), 1)
    said = (score > 0.5).astype(np.int32)
    return predictions_on("binary", true, (ModelOutputs("a", y_pred=said, score=score),), 2)


def real_values(n: int = 80) -> Predictions:
    """Make a test set of real values with skewed errors."""
    random = np.random.default_rng(22)
    true = random.normal(size=n)
    return predictions_on("regression", true, (ModelOutputs("a", y_pred=true + random.exponential(size=n)),))


def columns_of(
    predictions: Predictions,
) -> tuple[npt.NDArray[np.generic], npt.NDArray[np.generic], Floats | None]:
    """Return truth, labels or values, and scores of the only model."""
    model = predictions.models[0]
    assert predictions.y_true is not None
    assert model.y_pred is not None
    return predictions.y_true, model.y_pred, model.score


Statistic = Callable[[Predictions], Callable[[npt.NDArray[np.int64]], float]]


def by_labels(function: Callable[..., float]) -> Statistic:
    """Turn a function of truth and predictions into one of rows."""

    def on_rows(predictions: Predictions) -> Callable[[npt.NDArray[np.int64]], float]:
        true, said, _ = columns_of(predictions)
        return lambda rows: float(function(true[rows], said[rows]))

    return on_rows


def by_scores(function: Callable[..., float]) -> Statistic:
    """Turn a function of truth and scores into one of rows."""

    def on_rows(predictions: Predictions) -> Callable[[npt.NDArray[np.int64]], float]:
        true, _, score = columns_of(predictions)
        assert score is not None
        return lambda rows: float(function(true[rows], score[rows]))

    return on_rows


def f1_of(true: npt.NDArray[np.int32], said: npt.NDArray[np.int32]) -> float:
    """Twice the positives found over positives plus positive predictions; scikit-learn's is slow on few rows."""
    return float(2 * (true & said).sum() / (true.sum() + said.sum()))


def correlation_of(true: npt.NDArray[np.int32], said: npt.NDArray[np.int32]) -> float:
    """Matthews' correlation is Pearson's of the two columns of zeros and ones."""
    return float(np.corrcoef(true, said)[0, 1])


def area_of(true: npt.NDArray[np.int32], score: Floats) -> float:
    """Area under the ROC curve by Mann and Whitney's rank sum."""
    positives = int(true.sum())
    ranks = stats.rankdata(score)[true == 1].sum()
    return float((ranks - positives * (positives + 1) / 2) / (positives * (len(true) - positives)))


def precision_along(true: Floats, score: Floats) -> float:
    """Average the precision over the positives, equal scores taken together."""
    falling = np.argsort(-score)
    hits, last = true[falling].cumsum(), np.flatnonzero(np.diff(-score[falling], append=np.inf))
    return float(np.diff(hits[last], prepend=0) @ (hits[last] / (last + 1)) / hits[-1])


STATISTICS: dict[str, tuple[Callable[..., Predictions], Statistic]] = {
    "f1": (two_classes, by_labels(f1_of)),
    "mcc": (two_classes, by_labels(correlation_of)),
    "roc_auc": (two_classes, by_scores(area_of)),
    "average_precision": (two_classes, by_scores(precision_along)),
    "mae": (real_values, by_labels(lambda true, said: np.abs(said - true).mean())),
    "rmse": (real_values, by_labels(lambda true, said: np.sqrt(((said - true) ** 2).mean()))),
    "r2": (real_values, by_labels(lambda true, said: 1 - ((said - true) ** 2).mean() / true.var())),
}  # fmt: skip


@pytest.mark.parametrize("metric", every(3, STATISTICS))
def test_standard_error_is_the_jackknifes_in_the_limit(metric: str) -> None:
    """The standard error from influence values is the leave-one-out jackknife's, up to terms of order 1/n.

    The jackknife leaves each example out in a plain numpy or scikit-learn metric. Both differ by a relative term of
    order 1/n, for the factor (n - 1)/n and the curvature of the metric; a constant of 5 is allowed at both sizes.
    """
    distance = []
    for n in (100, 400):
        make, statistic = STATISTICS[metric]
        predictions = make(n)
        value = statistic(predictions)
        rows = np.arange(n)
        left_out = np.array([value(np.delete(rows, i)) for i in rows])
        jackknife = np.sqrt((n - 1) / n * ((left_out - left_out.mean()) ** 2).sum())
        error = estimated(predictions, metric, n_resamples=2).standard_error
        assert error is not None
        distance.append(abs(error / jackknife - 1))
    assert distance[0] < 0.05
    assert distance[1] < 0.0125


def test_standard_error_of_a_mean_is_the_jackknifes() -> None:
    """For a mean the jackknife with its factor (n - 1)/n is s / sqrt(n) exactly, Student's standard error."""
    predictions = real_values()
    true, said, _ = columns_of(predictions)
    errors = np.abs(said - true)
    estimate = estimated(predictions, "mae", n_resamples=2)
    assert estimate.corrected_error == pytest.approx(errors.std(ddof=1) / np.sqrt(len(errors)), rel=1e-12)


@pytest.mark.parametrize("metric", every(3, STATISTICS))
def test_replicates_are_those_of_a_naive_loop(metric: str) -> None:
    """Percentile limits are those of a loop that draws rows and computes the metric anew, within Monte Carlo error.

    The level of an estimated quantile has the error sqrt(p (1 - p) / B): four of them, of both programs together,
    must enclose our limit in the loop's distribution.
    """
    make, statistic = STATISTICS[metric]
    predictions, loops = make(), 2000
    value, random, n = statistic(predictions), np.random.default_rng(5), predictions.n
    naive = np.array([value(random.integers(0, n, n)) for _ in range(loops)])
    one = limits(estimated(predictions, metric), "bootstrap_percentile", 0.95)
    error = np.sqrt(0.025 * 0.975 * (1 / loops + 1 / RESAMPLES))
    assert_between(one.low, naive, 0.025, 4 * error)
    assert_between(one.high, naive, 0.975, 4 * error)


def assert_between(limit: float | None, replicates: Floats, level: float, error: float) -> None:
    """Check that a limit lies between the replicates' quantiles at the level minus and plus the error."""
    low, high = np.quantile(replicates, [max(level - error, 0), min(level + error, 1)])
    assert limit is not None
    assert low - 1e-12 <= limit <= high + 1e-12


@pytest.mark.parametrize("metric", ["mae", "f1"])
def test_bca_is_scipys(metric: str) -> None:
    """BCa limits of a mean and of a ratio are those of scipy.stats.bootstrap, within Monte Carlo error.

    Ours take the acceleration from influence values, scipy's from n refits. A BCa level's error is that of a
    quantile plus that of z0 (sqrt(pi / 2 / B), moving the level by twice the normal density), of both programs; what
    scipy's limits are worth is read off our own replicates.
    """
    make, statistic = STATISTICS[metric]
    predictions = make()
    value, rows = statistic(predictions), np.arange(predictions.n)
    theirs = stats.bootstrap(
        (rows,), value, method="BCa", vectorized=False, n_resamples=5000, rng=np.random.default_rng(6)
    ).confidence_interval
    estimate = estimated(predictions, metric)
    one = limits(estimate, "bootstrap_bca", 0.95)
    both = 1 / 5000 + 1 / RESAMPLES
    for ours, limit in ((one.low, theirs.low), (one.high, theirs.high)):
        assert ours is not None
        level = float((estimate.replicates_used <= ours).mean())
        error = np.sqrt(level * (1 - level) * both)
        error += 2 * stats.norm.pdf(stats.norm.ppf(level)) * np.sqrt(np.pi / 2 * both)
        assert_between(limit, estimate.replicates_used, level, 4 * error)
