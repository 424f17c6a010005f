"""Means of per-example losses and smooth functions of a few sums: probabilities, regression, outcomes."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from evalreport.engine.derivative import ratio
from evalreport.engine.portable import log
from evalreport.metrics.registry import PROPORTION_INTERVALS, SMOOTH_INTERVALS, mean_loss, moments
from evalreport.metrics.views import Floats, ModelView
from evalreport.texts import Message

Array = npt.NDArray[Any]

INFINITE = (0.0, float("inf"))
SQUARES = Message("losses.squared")
CLIP = 1e-15
"""Probabilities inside a logarithm stay this far from 0 and 1."""


@mean_loss(
    "Log loss",
    "-mean ln p(true), p clipped to [1e-15, 1 - 1e-15]",
    tasks=("binary", "multiclass"),
    needs="probabilities",
    range=INFINITE,
    losses=Message("losses.logarithmic"),
    infinite_at="zero_probability",
    headline=True,
    less_moved="brier",
)
def log_loss(view: ModelView) -> Floats:
    """Mean negative natural logarithm of the probability given to the true class (cross-entropy)."""
    if view.positive_code is None:
        return np.asarray(-log(np.maximum(view.p_true, CLIP)))
    assert view.proba is not None
    # The positive class's probability is clipped and its complement taken, as the field's programs do: the
    # complement of 1 - 1e-15 differs from 1e-15 in its fourth digit.
    p = np.clip(view.proba[:, view.positive_code], CLIP, 1 - CLIP)
    np.subtract(1, p, out=p, where=view.true != view.positive_code)
    return np.negative(log(p), out=p)


@mean_loss(
    "Brier score",
    "binary: mean (p - y)^2; several classes: mean sum_k (p_k - [y = k])^2",
    tasks=("binary", "multiclass"),
    needs="probabilities",
    range=(0.0, 2.0),
    binary_range=(0.0, 1.0),
    losses=Message("losses.probabilities"),
    headline=True,
    source="Brier (1950), Mon Weather Rev 78:1",
)
def brier(view: ModelView) -> Floats:
    """Mean squared error of the probabilities (two classes: 0 to 1; several: summed over classes, 0 to 2)."""
    assert view.proba is not None
    assert view.true is not None
    if view.positive_code is not None:
        errors = view.proba[:, view.positive_code] - (view.true == view.positive_code)
        return np.asarray(np.square(errors, out=errors))
    target = np.arange(view.proba.shape[1]) == view.true[:, None]
    return np.asarray(((view.proba - target) ** 2).sum(axis=1))


@mean_loss(
    "Complement MSE",
    "mean (1 - p(true))^2",
    tasks=("binary", "multiclass"),
    needs="probabilities",
    range=(0.0, 1.0),
)
def complement_mse(view: ModelView) -> Floats:
    """Mean squared complement of the probability given to the true class."""
    return np.asarray((1 - view.p_true) ** 2)


def _squares_over_pairs(view: ModelView) -> float:
    """Add the two variances and the squared distance of the means: the mean of (y_i - h_j)^2 over all i, j."""
    assert view.true is not None
    assert view.y_pred is not None
    y, h = (np.asarray(values, dtype=np.float64) for values in (view.true, view.y_pred))
    return float(y.var() + h.var() + (y.mean() - h.mean()) ** 2)


@mean_loss(
    "MSE",
    "mean (prediction - truth)^2",
    tasks=("regression",),
    needs="values",
    range=INFINITE,
    losses=SQUARES,
    less_moved="mae",
    mean_over_pairs=_squares_over_pairs,
)
def mse(view: ModelView) -> Floats:
    """Mean squared error."""
    return view.errors**2


@mean_loss(
    "MAE",
    "mean |prediction - truth|",
    tasks=("regression",),
    needs="values",
    range=INFINITE,
    losses=Message("losses.absolute"),
    headline=True,
    less_moved="medae",
)
def mae(view: ModelView) -> Floats:
    """Mean absolute error."""
    return np.abs(view.errors)


@mean_loss(
    "MAPE",
    "mean |prediction - truth| / |truth|",
    tasks=("regression",),
    needs="values",
    range=INFINITE,
    losses=Message("losses.relative"),
    infinite_at="zero_truth",
    less_moved="mae",
    undefined=Message("undefined.zero_truth"),
)
def mape(view: ModelView) -> Floats:
    """Mean absolute error relative to the size of the true value, as a fraction."""
    assert view.true is not None
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(view.true == 0, np.inf, np.abs(view.errors) / np.abs(view.true))


@mean_loss(
    "Bias",
    "mean (prediction - truth)",
    tasks=("regression",),
    needs="values",
    range=(-float("inf"), float("inf")),
    greater_is_better=None,
    intervals=("t", *SMOOTH_INTERVALS),
)
def bias_error(view: ModelView) -> Floats:
    """Mean error: positive where the predictions are too high."""
    return view.errors


@mean_loss(
    "Mean outcome",
    "mean of the outcomes",
    tasks=("outcome",),
    needs="outcomes",
    range=(-float("inf"), float("inf")),
    greater_is_better=True,
    intervals=("t", *PROPORTION_INTERVALS, *SMOOTH_INTERVALS),
    share_of_right=True,
    turnable=True,
    headline=True,
)
def mean_outcome(view: ModelView) -> Floats:
    """Mean of the outcomes that were judged elsewhere (0/1: the share of successes)."""
    assert view.outcome is not None
    return view.outcome


@mean_loss(
    "Mean value",
    "mean of the values",
    tasks=("scores",),
    needs="outcomes",
    range=(-float("inf"), float("inf")),
    greater_is_better=True,
    intervals=("t", *SMOOTH_INTERVALS),
    turnable=True,
    headline=True,
)
def mean_value(view: ModelView) -> Floats:
    """Mean of the scores that were computed elsewhere, one a data set (or fold)."""
    assert view.outcome is not None
    return view.outcome


def _squared_errors(view: ModelView) -> Floats:
    errors = view.errors
    return np.column_stack([np.ones_like(errors), errors**2])


@moments(
    "RMSE",
    "sqrt(mean (prediction - truth)^2)",
    columns=_squared_errors,
    tasks=("regression",),
    needs="values",
    range=INFINITE,
    greater_is_better=False,
    intervals=("hall", *SMOOTH_INTERVALS),
    losses=SQUARES,
    less_moved="mae",
    root_of="mse",
    headline=True,
)
def rmse(sums: Array) -> Array:
    """Square root of the mean squared error, in the target's units."""
    mean = ratio(sums[..., 1], sums[..., 0])
    # The root has no derivative at 0; the value there is still 0.
    return np.where(mean.real > 0, np.sqrt(np.where(mean.real > 0, mean, 1)), 0 * mean)


def squared_errors_and_truth(view: ModelView) -> Floats:
    """Return (n, 4) columns: ones, squared errors, the truth about its mean, and that squared."""
    assert view.true is not None
    errors = view.errors
    # Centred, so that the sum of squares about the mean loses no digits.
    centred = view.true - view.true.mean()
    return np.column_stack([np.ones_like(errors), errors**2, centred, centred**2])


@moments(
    "R²",
    "1 - sum (truth - prediction)^2 / sum (truth - mean truth)^2",
    columns=squared_errors_and_truth,
    tasks=("regression",),
    needs="values",
    range=(-float("inf"), 1.0),
    losses=SQUARES,
    less_moved="mae",
    undefined=Message("undefined.true_equal"),
    uninformed=0.0,
    headline=True,
)
def r2(sums: Array) -> Array:
    """Share of the squared variation about the mean that is explained; negative where the mean predicts better."""
    weight, squared_error, total, total_square = (sums[..., k] for k in range(4))
    spread = total_square - ratio(total**2, weight)
    spread = np.where(spread.real > 1e-12 * np.abs(total_square), spread, 0)
    return 1 - ratio(squared_error, spread)
