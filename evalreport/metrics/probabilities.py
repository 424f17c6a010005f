"""Mean losses, further metrics of probabilities (top k, deviance, soft AUC), and means over attempts."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, TypeAlias

import numpy as np

from evalreport.engine.distributions import Array, Columns, log, ratio
from evalreport.metrics.metric import (
    MEAN_INTERVALS,
    PROPORTION_INTERVALS,
    SMOOTH_INTERVALS,
    Function,
    Parameter,
)
from evalreport.metrics.registry import Decorator, Fields, mean_loss, moments, rows
from evalreport.metrics.views import ModelView, Scored, forecast
from evalreport.predictions.arrays import Floats, Indices, required
from evalreport.texts import Message

INFINITE, ANY_NUMBER = (0.0, float("inf")), (-float("inf"), float("inf"))
SQUARES = Message("losses.squared")
VALUES: Fields = {"tasks": ("regression",), "needs": "values"}
CLASS_PROBABILITIES: Fields = {"tasks": ("binary", "multiclass"), "needs": "probabilities"}
SKEWED: Fields = {"intervals": ("hall_df", *MEAN_INTERVALS), "difference_interval": "t_or_hall"}
"""Intervals of mean losses of probabilities."""
CLIP = 1e-15
"""Probabilities inside a logarithm stay this far from 0 and 1."""
Operand: TypeAlias = Any
"""An array or a column of an engine: a type that adds and multiplies."""


def _log_loss_of(p: Operand, true: Operand, log_of: Callable[[Operand], Operand]) -> Operand:
    p = p.clip(CLIP, 1 - CLIP)
    return -log_of(true * p + (1 - true) * (1 - p))


def _square_of(p: Operand, true: Operand, _log_of: Callable[[Operand], Operand]) -> Operand:
    return (p - true) * (p - true)


@mean_loss(
    "Log loss",
    "-mean ln p(true), p clipped to [1e-15, 1 - 1e-15]",
    **CLASS_PROBABILITIES,
    **SKEWED,
    range=INFINITE,
    losses=Message("losses.logarithmic"),
    infinite_at="zero_probability",
    headline=True,
    of_calibration=True,
    less_moved="brier",
    of_probability=_log_loss_of,
)
def log_loss(view: ModelView) -> Floats:
    """Mean negative natural logarithm of the probability given to the true class (cross-entropy)."""
    positive = view.positive_code
    if positive is None:
        return np.asarray(-log(np.maximum(view.p_true, CLIP)))
    # The positive class's probability is clipped and its complement taken, as the field's programs do: the
    # complement of 1 - 1e-15 differs from 1e-15 in its fourth digit.
    p = np.clip(required(view.proba)[:, positive], CLIP, 1 - CLIP)
    return -log(np.where(required(view.true) == positive, p, 1 - p))


@mean_loss(
    "Brier score",
    "binary: mean (p - y)^2; several classes: mean sum_k (p_k - [y = k])^2",
    **CLASS_PROBABILITIES,
    **SKEWED,
    range=(0.0, 2.0),
    binary_range=(0.0, 1.0),
    losses=Message("losses.probabilities"),
    headline=True,
    of_calibration=True,
    of_probability=_square_of,
    source="Brier (1950), Mon Weather Rev 78:1",
)
def brier(view: ModelView) -> Floats:
    """Mean squared error of the probabilities (two classes: 0 to 1; several: summed over classes, 0 to 2)."""
    proba, true, code = required(view.proba), required(view.true), view.positive_code
    if code is not None:
        return np.asarray((proba[:, code] - (true == code)) ** 2)
    target = np.arange(proba.shape[1]) == true[:, None]
    return np.asarray(((proba - target) ** 2).sum(axis=1))


@mean_loss(
    "Complement MSE",
    "mean (1 - p(true))^2",
    **CLASS_PROBABILITIES,
    **SKEWED,
    range=(0.0, 1.0),
    of_probability=_square_of,
)
def complement_mse(view: ModelView) -> Floats:
    """Mean squared complement of the probability given to the true class."""
    return np.asarray((1 - view.p_true) ** 2)


def _squares_over_pairs(view: ModelView) -> float:
    """Add the two variances and the squared distance of the means: the mean of (y_i - h_j)^2 over all i, j."""
    y, h = (np.asarray(values, dtype=np.float64) for values in (required(view.true), required(view.y_pred)))
    return float(y.var() + h.var() + (y.mean() - h.mean()) ** 2)


@mean_loss(
    "MSE",
    "mean (prediction - truth)^2",
    **VALUES,
    range=INFINITE,
    intervals=("hall_tail", *MEAN_INTERVALS),
    difference_interval="t_or_hall",
    from_squares=float,
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
    **VALUES,
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
    **VALUES,
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
    **VALUES,
    range=ANY_NUMBER,
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
    range=ANY_NUMBER,
    greater_is_better=True,
    intervals=("t", *PROPORTION_INTERVALS, *SMOOTH_INTERVALS),
    share_of_right=True,
    turnable=True,
    headline=True,
)
def mean_outcome(view: ModelView) -> Floats:
    """Mean of the outcomes that were decided elsewhere (0/1: the share of successes)."""
    return required(view.outcome)


@mean_loss(
    "Mean value",
    "mean of the values",
    tasks=("scores",),
    needs="outcomes",
    range=ANY_NUMBER,
    greater_is_better=True,
    intervals=("t", *SMOOTH_INTERVALS),
    turnable=True,
    headline=True,
)
def mean_value(view: ModelView) -> Floats:
    """Mean of the scores that were computed elsewhere, one a data set (or fold)."""
    return required(view.outcome)


def _squared_errors(view: ModelView) -> Columns:
    errors = view.errors
    return np.ones(len(errors)), errors**2


@moments(
    "RMSE",
    "sqrt(mean (prediction - truth)^2)",
    columns=_squared_errors,
    **VALUES,
    range=INFINITE,
    greater_is_better=False,
    intervals=("hall_tail", "hall", *SMOOTH_INTERVALS),
    difference_interval="t_kurtosis",
    from_squares=math.sqrt,
    losses=SQUARES,
    less_moved="mae",
    root_of="mse",
    test="paired_t",
    headline=True,
)
def rmse(sums: Array) -> Array:
    """Square root of the mean squared error, in the target's units."""
    mean = ratio(sums[..., 1], sums[..., 0])
    # The root has no derivative at 0; the value there is still 0.
    return np.where(mean.real > 0, np.sqrt(np.where(mean.real > 0, mean, 1)), 0 * mean)


def squared_errors_and_truth(view: ModelView) -> Columns:
    """Return four columns: ones, squared errors, the truth about its mean, and that squared."""
    true = required(view.true)
    # Centred, so that the sum of squares about the mean loses no digits.
    centred = true - true.mean()
    return *_squared_errors(view), centred, centred**2


@moments(
    "R²",
    "1 - sum (truth - prediction)^2 / sum (truth - mean truth)^2",
    columns=squared_errors_and_truth,
    **VALUES,
    range=(-float("inf"), 1.0),
    intervals=("hall_tail", *SMOOTH_INTERVALS),
    difference_interval="t_or_hall",
    from_squares=lambda ratio: 1 - ratio,
    losses=SQUARES,
    less_moved="mae",
    undefined=Message("undefined.true_equal"),
    uninformed=0.0,
    test="paired_t",
    headline=True,
)
def r2(sums: Array) -> Array:
    """Share of the squared variation about the mean that is explained; negative where the mean predicts better."""
    weight, squared_error, total, total_square = (sums[..., k] for k in range(4))
    spread = total_square - ratio(total**2, weight)
    spread = np.where(spread.real > 1e-12 * np.abs(total_square), spread, 0)
    return 1 - ratio(squared_error, spread)


# --- the top k classes ----------------------------------------------------------------------------------------------


def _hits(view: ModelView, k: int) -> Floats:
    """Return the chance (n,) that the true class is among the first k when ties are broken at random.

    Of m labels that share the true one's probability, j places are left below those with more: j / m, at most 1.
    """
    assert view.proba is not None
    of_true = view.p_true[:, None]
    above, tied = (view.proba > of_true).sum(axis=1), (view.proba == of_true).sum(axis=1)
    return np.asarray(np.clip((k - above) / tied, 0.0, 1.0))


def _top_k(k: int) -> Decorator:
    return mean_loss(
        f"Top-{k} accuracy",
        f"mean chance that the true class is among the first {k}, ties in random order",
        tasks=("multiclass",),
        needs="probabilities",
        range=(0.0, 1.0),
        greater_is_better=True,
        intervals=("t", *PROPORTION_INTERVALS, *SMOOTH_INTERVALS),
        least_classes=k + 1,
        shown_with="scores",
    )


@_top_k(2)
def top_2_accuracy(view: ModelView) -> Floats:
    """Share of examples whose true class is among the two most probable ones, ties broken at random."""
    return _hits(view, 2)


@_top_k(3)
def top_3_accuracy(view: ModelView) -> Floats:
    """Share of examples whose true class is among the three most probable ones, ties broken at random."""
    return _hits(view, 3)


@_top_k(5)
def top_5_accuracy(view: ModelView) -> Floats:
    """Share of examples whose true class is among the five most probable ones, ties broken at random."""
    return _hits(view, 5)


# --- values without an interval -------------------------------------------------------------------------------------

VALUE_ONLY: Fields = {"needs": "probabilities", "resampled": False, "smooth": False, "intervals": ()}


@rows(
    "Deviance",
    "-2 sum ln p(true), p clipped to [1e-15, 1 - 1e-15]",
    prepare=log_loss,
    tasks=("binary", "multiclass"),
    range=INFINITE,
    greater_is_better=False,
    extensive=True,
    no_interval=Message("no_interval.deviance"),
    source="McCullagh and Nelder (1989), Generalized Linear Models, section 2.3",
    **VALUE_ONLY,
)
def deviance(losses: Floats, weights: Floats) -> Floats:
    """Twice the negative log likelihood of the truth: 2 n times the log loss, so it grows with the test set.

    Probabilities are clipped as for the log loss.
    """
    return 2 * (weights @ losses)


SHARPNESS = 10.0
"""The contract's beta in sigma(beta (s+ - s-))."""

MOST_PAIRS, PARTS = 4_000_000, 1_000
"""Up to this many pairs each is counted; of more the examples of a class are put into this many parts."""


@rows(
    "Soft AUC",
    "mean over pairs of 1 / (1 + exp(-10 (p(positive) - p(negative))))",
    prepare=forecast,
    tasks=("binary",),
    undefined=Message("undefined.one_class"),
    shown_with="scores",
    no_interval=Message("no_interval.soft_auc"),
    source="Yan, Dodier, Mozer and Wolniewicz (2003), ICML, equation 5, in its logistic form",
    **VALUE_ONLY,
)
def soft_auc(state: Scored, weights: Floats) -> Floats:
    """Smoothed ROC AUC on probabilities: each pair counts by a logistic curve of its difference instead of 0 or 1.

    Of more than 4 million pairs those of the mean probabilities of 1,000 parts of each class, equal in number and in
    order: off by at most 5 (v + v'), the mean variances within parts, which is about 1e-6. Undefined where the truth
    holds one class only.
    """
    of_classes = [np.flatnonzero(state.y == outcome) for outcome in (1, 0)]
    whole = len(of_classes[0]) * len(of_classes[1]) <= MOST_PAIRS
    (p, of_p), (n, of_n) = (_parts(state.score, rows, weights, whole=whole) for rows in of_classes)
    # 1 / (1 + exp(y - x)) as exp(x) / (exp(x) + exp(y)), which needs an exponential of each example, not of each pair.
    of_positive, of_negative = np.exp(SHARPNESS * p)[:, None], np.exp(SHARPNESS * n)
    won = ((of_p @ (of_positive / (of_positive + of_negative))) * of_n).sum(axis=1)
    return np.asarray(ratio(won, of_p.sum(axis=1) * of_n.sum(axis=1)))


def _parts(p: Floats, rows: Indices, weights: Floats, *, whole: bool) -> tuple[Floats, Floats]:
    """Return the probabilities (k,) of some rows, or their means over quantile parts, and their weights (b, k)."""
    if whole or len(rows) <= PARTS:
        return p[rows], weights[:, rows]
    ordered = rows[np.argsort(p[rows], kind="stable")]
    starts = np.arange(PARTS) * len(rows) // PARTS
    sizes = np.diff(starts, append=len(rows))
    return np.add.reduceat(p[ordered], starts) / sizes, np.add.reduceat(weights[:, ordered], starts, axis=1)


def mean_over_attempts(label: str, formula: str, *, begins: str, **fields: Any) -> Decorator:
    """Register the mean over questions of a function of their attempts, of those that passed, and of a number k.

    The decorated function maps (n,) attempts, (n,) of them that passed, and k to (n,); nan where it is undefined.
    """
    given: Fields = {
        "tasks": ("outcome",),
        "needs": "passes",
        "shown_with": "outcomes",
        "intervals": ("trials_wilson", "t", *SMOOTH_INTERVALS),
        "greater_is_better": True,
        **fields,
    }

    def _decorate(function: Function) -> Function:
        def per_example(view: ModelView, at: int = 1) -> Floats:
            return np.asarray(function(*required(view.passes), at))

        numbered = Parameter(begins, "", f"{begins}{{x}}")
        return mean_loss(label, formula, per_example=per_example, numbered=numbered, **given)(function)

    return _decorate


def _all_of(k: int, held: Floats, count: Floats) -> Floats:
    """Return C(held, k) / C(count, k), (n,): the chance that k of the attempts, drawn at random, are all held ones.

    nan where there are fewer than k attempts.
    """
    share = np.where(count >= k, 1.0, np.nan)
    for i in range(min(k, int(count.max(initial=0)))):
        share = share * np.maximum(held - i, 0) / np.maximum(count - i, 1)
    return share


@mean_over_attempts(
    "pass@k",
    "mean over questions of 1 - C(n - c, k) / C(n, k), with n attempts of which c passed",
    begins="pass@",
    headline=True,
    source="Chen et al. (2021), Evaluating Large Language Models Trained on Code, arXiv 2107.03374, section 2.1",
)
def pass_at_k(count: Floats, passed: Floats, k: int) -> Floats:
    """Chance that at least one of k attempts at a question passes, without bias from the number of attempts.

    pass@1 is the mean outcome. Undefined where a question has fewer than k attempts.

    Parameters
    ----------
    count, passed
        (n,) attempts at each question, and how many of them passed.
    k
        At least 1.

    Examples
    --------
    Of four attempts two passed; one of the six pairs of attempts holds no pass.

    >>> pass_at_k(np.array([4.0]), np.array([2.0]), 2).round(4).tolist()
    [0.8333]
    """
    return np.asarray(1.0 - _all_of(k, count - passed, count))


@mean_over_attempts(
    "pass^k",
    "mean over questions of C(c, k) / C(n, k), with n attempts of which c passed",
    begins="pass^",
    headline=True,
    source="Yao et al. (2024), tau-bench, arXiv 2406.12045",
)
def pass_hat_k(count: Floats, passed: Floats, k: int) -> Floats:
    """Chance that all of k attempts at a question pass: how reliable a model is, not how lucky.

    pass^1 is the mean outcome. Undefined where a question has fewer than k attempts. Parameters as ``pass_at_k``.

    Examples
    --------
    Of four attempts two passed; one of the six pairs of attempts passes twice.

    >>> pass_hat_k(np.array([4.0]), np.array([2.0]), 2).round(4).tolist()
    [0.1667]
    """
    return _all_of(k, passed, count)
