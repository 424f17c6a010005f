"""Calibration of probabilities: errors by bin, and the calibration line."""

from __future__ import annotations

import math
from dataclasses import dataclass, field

import numpy as np
from scipy import sparse, special

from evalreport.engine.distributions import Array, dot, log, log1p, parts_of, ratio
from evalreport.metrics.registry import Fields, moments, rows
from evalreport.metrics.views import ModelView
from evalreport.predictions.arrays import Floats, Indices, Mask
from evalreport.predictions.score_sums import FORECAST_BINS
from evalreport.texts import Message

BINS = FORECAST_BINS


# --- calibration errors by bin --------------------------------------------------------------------------------------


def _forecast(view: ModelView) -> tuple[Floats, Floats]:
    """Return the predicted probabilities and whether each event occurred, (n,) each."""
    assert view.proba is not None
    assert view.true is not None
    if view.positive_code is not None:
        return view.proba[:, view.positive_code], (view.true == view.positive_code).astype(np.float64)
    return view.proba.max(axis=1), (view.proba.argmax(axis=1) == view.true).astype(np.float64)


def bin_of(p: Floats) -> Indices:
    """Return the bin of each probability: ten bins [a, b) of equal width, the last one closed.

    Examples
    --------
    >>> bin_of(np.array([0.0, 0.1, 0.3, 0.99, 1.0])).tolist()
    [0, 1, 3, 9, 9]
    """
    # 0.3 lies at the edge of the fourth bin though 10 * 0.3 may be written as 2.9999999999999996.
    return np.minimum(np.floor(np.round(p * BINS, 12)), BINS - 1).astype(np.int64)


def _gaps_by_bin(view: ModelView) -> sparse.csr_array:
    """Return (n, 2 * 10) columns: forecast minus outcome in its bin; one in its bin."""
    p, came_true = _forecast(view)
    n = len(p)
    values, column = np.ones((n, 2)), np.empty((n, 2), dtype=np.int32)
    for part in parts_of(p):
        np.subtract(p[part], came_true[part], out=values[part, 0])
        column[part, 0] = bin_of(p[part])
        np.add(column[part, 0], BINS, out=column[part, 1])
    # Places of one kind of number: scipy would widen the others.
    ends = 2 * np.arange(n + 1, dtype=np.int32 if 2 * n < 2**31 else np.int64)
    return sparse.csr_array((values.ravel(), column.ravel(), ends), shape=(n, 2 * BINS))


BINNED: Fields = {
    "columns": _gaps_by_bin,
    "of_gaps": True,
    "tasks": ("binary", "multiclass"),
    "needs": "probabilities",
    "greater_is_better": False,
    "smooth": False,
    "resampled": False,
    "intervals": (),
    "no_interval": Message("no_interval.calibration_error"),
    "no_test": Message("no_test.calibration_error"),
}


@moments(
    "ECE",
    "sum over 10 bins of n_b / n * |mean p - observed frequency|",
    source="Naeini, Cooper and Hauskrecht (2015), AAAI; Guo et al. (2017), ICML, equation 3",
    **BINNED,
)
def ece(sums: Array) -> Array:
    """Expected calibration error: mean gap between probability and frequency over ten bins of equal width.

    Two classes: the positive class's probability; several: the largest one, and whether that class is the true
    one. Its value depends on the bins and on n: a perfectly calibrated model has more than 0.
    """
    return ratio(np.abs(sums[..., :BINS]).sum(-1), sums[..., BINS:].sum(-1))


@moments(
    "MCE",
    "max over 10 bins of |mean p - observed frequency|",
    source="Naeini, Cooper and Hauskrecht (2015), AAAI",
    **BINNED,
)
def mce(sums: Array) -> Array:
    """Maximum calibration error: the largest gap between probability and frequency over ten bins of equal width.

    One bin with few examples can decide it.
    """
    gaps, counts = np.abs(sums[..., :BINS]), sums[..., BINS:]
    # Weights are 0 or more, and an empty bin has no gap; what subtraction leaves of an empty bin is not a count.
    held = counts > 1e-9 * counts.sum(-1, keepdims=True)
    return np.asarray(np.where(held, gaps / np.where(held, counts, 1), 0).max(-1))


# --- the calibration line -------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Logits:
    """Logits of the probabilities (n,), the outcomes (n,), and why there is no fit of one on the other, if so.

    ``fitted`` holds the last weights and their line: slope and intercept, and their derivatives, share one fit.
    """

    logit: Floats
    y: Floats
    reason: Message | None
    fitted: list[tuple[Floats, Floats]] = field(default_factory=list)


def _logits(view: ModelView) -> Logits:
    p, y = _forecast(view)
    if ((p <= 0) | (p >= 1)).any():
        return Logits(np.empty(len(p)), y, Message("undefined.certain"))
    logit = log(p) - log1p(-p)
    return Logits(logit, y, _no_fit(logit, y == 1))


def _no_fit(logit: Floats, positive: Mask) -> Message | None:
    """Say why the likelihood has no single maximum; None where it has one."""
    if positive.all() or not positive.any():
        return Message("undefined.one_class")
    if np.ptp(logit) == 0:
        return Message("undefined.constant")
    low, high = logit[~positive], logit[positive]
    if high.min() >= low.max() or high.max() <= low.min():
        return Message("undefined.separated")
    return None


_MANY, _EVERY = 8192, 16


def calibration_line(state: Logits, weights: Floats) -> Floats:
    """Return (intercept, slope) of the weighted logistic fit of y on logit p, by Newton's method.

    Parameters
    ----------
    state
        Without a ``reason``.
    weights
        (n,), 0 or more.
    """
    if state.fitted and np.array_equal(state.fitted[0][0], weights):
        return state.fitted[0][1]
    line, before = _begin(state, weights), math.inf
    for _ in range(100):
        p, score = _fitted(state, weights, line)
        step = _information(state, weights, p).solved(score)
        if not np.isfinite(step).all():
            break
        while _raises_deviance(state, weights, line, step):
            step = step / 2
        line = line + step
        size = float(np.abs(step).max()) / max(1.0, float(np.abs(line).max()))
        # Near its end each step has about the square of the one before: one that is no smaller is rounding.
        if size <= 1e-13 or before <= size <= 1e-6:
            break
        before = size
    state.fitted[:] = [(weights, line)]
    return line


def _begin(state: Logits, weights: Floats) -> Floats:
    """Return the line that the search begins with: of many examples that of every 16th, where there is one."""
    if len(weights) >= _MANY:
        some = slice(None, None, _EVERY)
        logit, y, own = state.logit[some], state.y[some], weights[some]
        if _no_fit(logit[own > 0], y[own > 0] == 1) is None:
            found = calibration_line(Logits(logit, y, None), own)
            if np.isfinite(found).all():
                return found
    # Start at the share of positives, not at the forecast: far from the truth p (1 - p) gives no usable step.
    share = np.clip(dot(weights, state.y) / weights.sum(), 1e-12, 1 - 1e-12)
    return np.array([float(log(share) - log1p(-share)), 0.0])


def _fitted(state: Logits, weights: Floats, line: Floats) -> tuple[Floats, Floats]:
    """Return the fitted probabilities (n,) and the score: the log likelihood's derivatives by intercept and slope."""
    p = special.expit(line[0] + line[1] * state.logit)
    left = weights * (state.y - p)
    return p, np.array([left.sum(), dot(state.logit, left)])


def _raises_deviance(state: Logits, weights: Floats, line: Floats, step: Floats) -> bool:
    """Say whether Newton's step goes too far.

    Where it changes no log odds by more than 1 it does not: no variance p (1 - p) grows by more than e, and the
    deviance falls by at least 0.28 of the decrement (Bach 2010, Electron J Stat 4:384, proposition 1).
    """
    ends = step[0] + step[1] * np.array([state.logit.min(), state.logit.max()])
    if np.abs(ends).max() <= 1:
        return False
    before, after = (_deviance(state, weights, one) for one in (line, line + step))
    return after > before * (1 + 1e-12) + 1e-12


def _deviance(state: Logits, weights: Floats, line: Floats) -> float:
    signed = np.where(state.y == 1, -1, 1) * (line[0] + line[1] * state.logit)
    return dot(weights, np.logaddexp(0, signed))


@dataclass(frozen=True, slots=True)
class _Information:
    """The line's information matrix: the sum of v = w p (1 - p), and the logits' mean and squares under v."""

    weight: float
    mean: float
    squares: float

    def solved(self, vector: Floats) -> Floats:
        """Return the information's inverse times a vector (2,); 0 in directions that the data do not determine."""
        of_intercept, of_slope = vector.tolist()
        slope = (of_slope - self.mean * of_intercept) / self.squares if self.squares > 0 else 0.0
        intercept = of_intercept / self.weight if self.weight > 0 else 0.0
        return np.array([intercept - self.mean * slope, slope])


def _information(state: Logits, weights: Floats, p: Floats) -> _Information:
    v = weights * p * (1 - p)
    weight = float(v.sum())
    mean = dot(v, state.logit) / weight if weight > 0 else 0.0
    return _Information(weight, mean, dot(v, (state.logit - mean) ** 2))


def _line(state: Logits, weights: Floats, coefficient: int) -> Floats:
    if state.reason:
        return np.full(len(weights), np.nan)
    return np.array([calibration_line(state, row)[coefficient] for row in weights])


def _line_derivative(state: Logits, weights: Floats, coefficient: int) -> Floats:
    """Implicit differentiation of the score equations: the sandwich's rows, H^-1 x (y - p)."""

    def of_one(row: Floats) -> Floats:
        p, _ = _fitted(state, row, calibration_line(state, row))
        information = _information(state, row, p)
        of_ones, of_logit = (information.solved(unit)[coefficient] for unit in np.eye(2))
        return np.asarray((of_ones + of_logit * state.logit) * (state.y - p))

    return np.stack([of_one(row) for row in weights])


LINE: Fields = {
    "prepare": _logits,
    "tasks": ("binary",),
    "needs": "probabilities",
    "range": (-float("inf"), float("inf")),
    "greater_is_better": None,
    "resampled": False,
    "intervals": ("normal",),
    "why_undefined": lambda state: state.reason,
    "source": "Cox (1958), Biometrika 45:562; errors by the sandwich, Huber (1967)",
}


@rows(
    "Calibration slope",
    "b of the joint logistic fit logit P(y = 1) = a + b logit p",
    derivative=lambda state, weights: _line_derivative(state, weights, 1),
    **LINE,
)
def calibration_slope(state: Logits, weights: Floats) -> Floats:
    """Slope of the truth's log odds on the forecast's: 1 is right, below 1 the probabilities are too extreme.

    Undefined where a probability is 0 or 1, or the probabilities separate the classes. Not resampled: each
    replicate would be a fit of its own.
    """
    return _line(state, weights, 1)


@rows(
    "Calibration intercept",
    "a of the joint logistic fit logit P(y = 1) = a + b logit p",
    derivative=lambda state, weights: _line_derivative(state, weights, 0),
    **LINE,
)
def calibration_intercept(state: Logits, weights: Floats) -> Floats:
    """Intercept of the same line as the calibration slope: 0 is right, above 0 the probabilities are too low.

    Undefined where a probability is 0 or 1, or the probabilities separate the classes.
    """
    return _line(state, weights, 0)
