"""Regression errors beside the plain means: relative to the mean predictor, at the median, at the worst."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from evalreport.engine.distributions import Array, Columns, ratio
from evalreport.engine.ranks import Sorted, ascending, weighted_median
from evalreport.metrics.evidence import Median
from evalreport.metrics.metric import SMOOTH_INTERVALS
from evalreport.metrics.probabilities import INFINITE, SQUARES, VALUES, r2, squared_errors_and_truth
from evalreport.metrics.registry import moments, rows
from evalreport.metrics.views import ModelView
from evalreport.predictions.arrays import Floats, required
from evalreport.texts import Message

NEARLY_ALL = 1e-12
"""A variation below this share of the sum of squares is rounding."""


def _truth_and_prediction(view: ModelView) -> Columns:
    # Centred, so that the sums of squares about the means lose no digits.
    y, f = (values - values.mean() for values in (required(view.true), required(view.y_pred)))
    return np.ones(len(y)), y, f, y * y, f * f, y * f


@moments(
    "R² (correlation)",
    "squared Pearson correlation of truth and prediction",
    columns=_truth_and_prediction,
    undefined=Message("undefined.all_equal"),
    source="Kvålseth (1985), Am Stat 39:279, the sixth of his eight definitions",
    **VALUES,
)
def r2_correlation(sums: Array) -> Array:
    """Squared correlation of truth and prediction: how well the best straight line through them would do.

    It forgives any bias and scale, even a wrong sign, so it may be high where R² is negative; the two are equal
    only for least squares on its own training data. Undefined where the truth or the predictions do not vary.
    """
    n, y, f, yy, ff, yf = (sums[..., k] for k in range(6))
    spread_y, spread_f = yy - ratio(y * y, n), ff - ratio(f * f, n)
    varies = (spread_y.real > NEARLY_ALL * np.abs(yy)) & (spread_f.real > NEARLY_ALL * np.abs(ff))
    scale_y, scale_f = (np.sqrt(np.where(varies, spread, 1)) for spread in (spread_y, spread_f))
    return ratio(yf - ratio(y * f, n), np.where(varies, scale_y * scale_f, 0)) ** 2


@moments(
    "RRSE",
    "sqrt(sum (prediction - truth)^2 / sum (truth - mean truth)^2)",
    columns=squared_errors_and_truth,
    range=INFINITE,
    greater_is_better=False,
    intervals=("hall_tail", *SMOOTH_INTERVALS),
    difference_interval="t_kurtosis",
    test="paired_t",
    from_squares=math.sqrt,
    losses=SQUARES,
    less_moved="rae",
    undefined=Message("undefined.true_equal"),
    source="Witten, Frank and Hall (2011), Data Mining, table 5.8",
    **VALUES,
)
def rrse(sums: Array) -> Array:
    """Root relative squared error: the RMSE relative to that of always predicting the mean truth; sqrt(1 - R²).

    Undefined where all true values are equal.
    """
    left = 1 - r2(sums)
    # The root has no derivative at 0; the value there is still 0.
    return np.where(
        left.real > 0, np.sqrt(np.where(left.real > 0, left, 1)), np.where(np.isnan(left), np.nan, 0)
    )


@dataclass(frozen=True, slots=True)
class Deviations:
    """Absolute errors (n,), and the true values about their mean (n,)."""

    errors: Floats
    truth: Floats


def _deviations(view: ModelView) -> Deviations:
    truth = required(view.true)
    return Deviations(np.abs(view.errors), truth - truth.mean())


def _spread(state: Deviations, weights: Floats) -> tuple[Floats, Floats]:
    """Return the weighted means (b,) and the sums of absolute deviations about them, 0 where that is rounding."""
    totals = weights.sum(axis=1)
    # A draw of whole clusters may leave a small part (a replicate's out-of-bag rows) without a row.
    means = (weights @ state.truth) / np.where(totals > 0, totals, 1)
    spread = (weights * np.abs(state.truth - means[:, None])).sum(axis=1)
    # A spread of rounding is 0.
    return means, np.where(spread > NEARLY_ALL * (spread + totals * np.abs(means)), spread, 0)


def _rae_derivative(state: Deviations, weights: Floats) -> Floats:
    """Quotient rule; the mean moves too, by (y - mean) / sum w."""
    means, spreads = _spread(state, weights)
    away, spread = state.truth - means[:, None], spreads[:, None]
    value = (weights @ state.errors)[:, None] / spread
    pull = ((weights * np.sign(away)).sum(axis=1) / weights.sum(axis=1))[:, None]
    return np.asarray((state.errors - value * (np.abs(away) - pull * away)) / spread)


@rows(
    "RAE",
    "sum |prediction - truth| / sum |truth - mean truth|",
    prepare=_deviations,
    derivative=_rae_derivative,
    range=INFINITE,
    greater_is_better=False,
    undefined=Message("undefined.true_equal"),
    source="Witten, Frank and Hall (2011), Data Mining, table 5.8",
    **VALUES,
)
def rae(state: Deviations, weights: Floats) -> Floats:
    """Relative absolute error: the absolute error relative to that of always predicting the mean truth.

    Below 1 the model is better than the mean. Undefined where all true values are equal.
    """
    return ratio(weights @ state.errors, _spread(state, weights)[1])


def _sorted_errors(view: ModelView) -> Sorted:
    return ascending(np.abs(view.errors))


@rows(
    "Median absolute error",
    "median |prediction - truth|",
    prepare=_sorted_errors,
    closed=lambda state: Median(state.values),
    range=INFINITE,
    greater_is_better=False,
    smooth=False,
    intervals=("order_statistics", "bootstrap_percentile"),
    **VALUES,
)
def medae(state: Sorted, weights: Floats) -> Floats:
    """Median of the absolute errors, in the target's units: half of the predictions are closer.

    With an even number of examples the mean of the two in the middle.
    """
    return weighted_median(state, weights)


_LARGEST = 32


@rows(
    "Largest error",
    "max |prediction - truth|",
    prepare=_sorted_errors,
    range=INFINITE,
    greater_is_better=False,
    smooth=False,
    resampled=False,
    intervals=(),
    no_interval=Message("no_interval.max_error"),
    **VALUES,
)
def max_error(state: Sorted, weights: Floats) -> Floats:
    """Largest absolute error on the test set, in the target's units; it grows with the number of examples."""
    largest, missing = np.zeros(len(weights)), np.arange(len(weights))
    # The largest ones first: nearly always one of these is held.
    for end in range(len(state.rows), 0, -_LARGEST):
        some = slice(max(end - _LARGEST, 0), end)
        held = weights[missing[:, None], state.rows[some]] > 0
        largest[missing] = np.where(held, state.values[some], 0).max(axis=1)
        missing = missing[~held.any(axis=1)]
    return largest
