"""Calibration of probabilities: errors by bin, level, spread and the debiased error."""

from __future__ import annotations

import math

import numpy as np
from scipy import sparse, special

from evalreport.calibration.level import observed_expected as observed_over_expected
from evalreport.calibration.line import calibration_line, line_derivative
from evalreport.calibration.risks import Risks
from evalreport.calibration.squared_error import calibration_error as root_of_squares
from evalreport.engine.distributions import Array, ratio
from evalreport.metrics.registry import Fields, moments, rows
from evalreport.metrics.views import ModelView, forecast
from evalreport.predictions.arrays import Floats, Indices
from evalreport.predictions.score_sums import FORECAST_BINS
from evalreport.texts import Message

BINS = FORECAST_BINS


# --- calibration errors by bin --------------------------------------------------------------------------------------


def bin_of(p: Floats) -> Indices:
    """Return the bin 0 to 9 of each probability p (n,): ten bins [a, b) of equal width, the last one closed.

    Examples
    --------
    >>> bin_of(np.array([0.0, 0.1, 0.3, 0.99, 1.0])).tolist()
    [0, 1, 3, 9, 9]
    """
    # 0.3 lies at the edge of the fourth bin though 10 * 0.3 may be written as 2.9999999999999996.
    return np.minimum(np.floor(np.round(p * BINS, 12)), BINS - 1).astype(np.int64)


def _gaps_by_bin(view: ModelView) -> sparse.csr_array:
    """Return (n, 2 * 10) columns: forecast minus outcome in its bin; one in its bin."""
    p, came_true = forecast(view)
    n, bins = len(p), bin_of(p)
    values, columns = np.column_stack([p - came_true, np.ones(n)]), np.column_stack([bins, BINS + bins])
    return sparse.csr_array((values.ravel(), columns.ravel(), 2 * np.arange(n + 1)), shape=(n, 2 * BINS))


OF_PROBABILITIES: Fields = {
    "tasks": ("binary", "multiclass"), "needs": "probabilities", "resampled": False, "of_calibration": True,
}  # fmt: skip
BINNED: Fields = {
    "columns": _gaps_by_bin,
    "of_gaps": True,
    **OF_PROBABILITIES,
    "greater_is_better": False,
    "smooth": False,
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


# --- level, spread and error without bins of equal width ------------------------------------------------------------


def _risks(view: ModelView) -> Risks:
    return Risks(*forecast(view))


def _line(risks: Risks, weights: Floats, coefficient: int) -> Floats:
    if risks.no_line:
        return np.full(len(weights), np.nan)
    return np.array([calibration_line(risks, row)[coefficient] for row in weights])


def _line_derivative(risks: Risks, weights: Floats, coefficient: int) -> Floats:
    return np.stack([line_derivative(risks, row, coefficient) for row in weights])


OF_RISKS: Fields = {
    "prepare": _risks,
    "of_risks": True,
    **OF_PROBABILITIES,
    "no_test": Message("no_test.describes"),
}
LINE: Fields = {
    **OF_RISKS,
    "range": (-float("inf"), float("inf")),
    "greater_is_better": None,
    "intervals": ("line_slope", "normal"),
    "difference_interval": "paired_influence",
    "why_undefined": lambda risks: risks.no_line,
    "source": "Cox (1958), Biometrika 45:562; errors by the sandwich, Huber (1967)",
}


@rows(
    "Calibration slope",
    "b of the joint logistic fit logit P(y = 1) = a + b logit p",
    derivative=lambda risks, weights: _line_derivative(risks, weights, 1),
    **LINE,
)
def calibration_slope(risks: Risks, weights: Floats) -> Floats:
    """Slope of the truth's log odds on the forecast's: 1 is right, below 1 the probabilities are too extreme.

    Undefined where a probability of 0 or 1 contradicts the outcome (where it agrees the example is left out), or the
    probabilities separate the classes. Not resampled: each replicate would be a fit of its own. Several classes: of the
    largest probability, and whether that class is the true one; ``[class=X]``: of class X against the rest.
    """
    return _line(risks, weights, 1)


@rows(
    "Calibration intercept",
    "a of the joint logistic fit logit P(y = 1) = a + b logit p",
    derivative=lambda risks, weights: _line_derivative(risks, weights, 0),
    **{**LINE, "intervals": ("line_intercept", "normal")},
)
def calibration_intercept(risks: Risks, weights: Floats) -> Floats:
    """Intercept of the same line as the calibration slope: 0 is right, above 0 the probabilities are too low.

    Undefined where the slope is. Several classes: as the slope.
    """
    return _line(risks, weights, 0)


def _shift(risks: Risks, weights: Floats) -> float:
    return math.nan if _no_shift(risks) else risks.under(weights).open.shift


def _shift_derivative(risks: Risks, weights: Floats) -> Floats:
    a = _shift(risks, weights)
    m = special.expit(risks.logit + a)
    own = weights * risks.has_logit
    return np.asarray((risks.y - m) / float((own * m * (1 - m)).sum()) * risks.has_logit)


def _no_shift(risks: Risks) -> Message | None:
    """Say why no shift of the log odds gives the observed events; None where one does."""
    certain = {Message("undefined.certain").code, Message("undefined.all_certain").code}
    if risks.no_line is not None and risks.no_line.code in certain:
        return risks.no_line
    y = risks.y[risks.has_logit]
    return Message("undefined.one_class") if y.min() == y.max() else None


@rows(
    "Calibration in the large",
    "a with sum y = sum expit(logit p + a)",
    derivative=lambda risks, weights: np.stack([_shift_derivative(risks, row) for row in weights]),
    **{
        **LINE,
        "intervals": ("in_the_large", "normal"),
        "why_undefined": _no_shift,
        "source": "Cox (1958), Biometrika 45:562; Van Calster et al. (2016), J Clin Epidemiol 74:167",
    },
)
def calibration_in_the_large(risks: Risks, weights: Floats) -> Floats:
    """Shift of all log odds that gives the observed number of events: 0 is right, below 0 probabilities are too high.

    Several classes: of the largest probability, and whether that class is the true one; ``[class=X]``: of class X
    against the rest. Undefined where a probability of 0 or 1 contradicts the outcome (where it agrees the example is
    left out), or no outcome differs.
    """
    return np.array([_shift(risks, row) for row in weights])


@rows(
    "Observed / expected",
    "sum y / sum p",
    derivative=lambda risks, weights: np.stack([_ratio_derivative(risks, row) for row in weights]),
    range=(0.0, float("inf")),
    greater_is_better=None,
    undefined=Message("undefined.nothing_expected"),
    intervals=("score_ratio", "normal"),
    difference_interval="paired_influence",
    source="score limits of a ratio of counts with Pearson's dispersion: McCullagh and Nelder (1989), chapter 4",
    **OF_RISKS,
)
def observed_expected(risks: Risks, weights: Floats) -> Floats:
    """Events that occurred over those that the probabilities announce: 1 is right, below 1 they are too high.

    Several classes: of the largest probability, and whether that class is the true one; ``[class=X]``: of class X
    against the rest.
    """
    return np.array([observed_over_expected(risks.under(row)) for row in weights])


def _ratio_derivative(risks: Risks, weights: Floats) -> Floats:
    expected = float((weights * risks.p).sum())
    ratio_now = observed_over_expected(risks.under(weights))
    return np.asarray((risks.y - ratio_now * risks.p) / expected)


@rows(
    "Calibration error",
    "root of sum over 10 bins by rank of n_b / n (mean y - mean p)^2, less what chance adds",
    greater_is_better=False,
    smooth=False,
    undefined=Message("undefined.calibration_error"),
    intervals=("debiased_squares",),
    difference_interval="difference_of_squares",
    of_squares=True,
    extensive=True,
    source="Kumar, Liang and Ma (2019), NeurIPS; Sun et al. (2024), arXiv 2408.08998; the interval was chosen by"
    " simulation",
    **OF_RISKS,
)
def calibration_error(risks: Risks, weights: Floats) -> Floats:
    """Debiased calibration error: how far the shares of events in deciles of risk lie from their mean probability.

    0 where chance alone explains the gaps. Several classes: of the largest probability, and whether that class is the
    true one; ``[class=X]``: of class X against the rest. Within a decile too high and too low cancel. Undefined for
    fewer than 20 examples, and under weights.
    """
    error = math.nan if risks.bins is None else root_of_squares(risks.bins)
    return np.array([error if (row == row[0]).all() else math.nan for row in weights])
