"""Intervals of means of losses and of functions of mean squared errors: skewed, and with heavy tails.

Hall's map takes out the skewness of a mean. Degrees of freedom by the kurtosis count how well a variance is known: that
of n numbers has about the relative variance (kurtosis - 1) / n, as a chi-square with 2 n / (kurtosis - 1) degrees has.
"""

from __future__ import annotations

import math

import numpy as np

from evalreport.engine.counts import by_kurtosis
from evalreport.engine.distributions import log, powers, t_quantile
from evalreport.intervals.proportions import ValueLimits, mover
from evalreport.intervals.registry import EXAMPLES_ALIKE, Bounds, evidence_of, interval
from evalreport.intervals.student import NO_SPREAD, NOT_SMOOTH
from evalreport.metrics.difference import Difference
from evalreport.metrics.estimate import Estimate
from evalreport.metrics.evidence import SquaredErrors
from evalreport.predictions.arrays import Floats
from evalreport.texts import Message

ONE_EXAMPLE = Bounds(None, None, Message("limits.one_example"))
NO_VARIATION = Bounds(None, None, Message("limits.no_variation"))
HALL = "Hall (1992), J R Stat Soc B 54:221, the monotone cubic transformation"
KURTOSIS = "degrees of freedom by the kurtosis: Satterthwaite (1946), Biometrics Bull 2:110"
OUTER_LIMITS = f"{HALL}; {KURTOSIS}; the outer limits of both are our own combination (docs/coverage.md)"
OF_LOSSES = (*EXAMPLES_ALIKE, "one_set", "no_difference_of_roots", "losses")
WEIGHTED_TOO = ("some_interval", "one_task", "independent_or_weighted", "one_set", "losses")


# --- one model ------------------------------------------------------------------------------------------------------


@interval("Student's t, skewness removed", needs=OF_LOSSES, source=HALL)
def hall(estimate: Estimate | Difference, level: float) -> Bounds:
    """Mean of losses, or the root of one, by Student's t after a cubic map that takes out the skewness of the losses.

    g(T) = T + a T^2 / 3 + a^2 T^3 / 27 + a / 6, a the skewness over sqrt(n), is nearer to t than T is; the limits are
    those of T = g^-1(-t) and g^-1(t). The root of a mean of squares has the roots of the limits of that mean.
    """
    return _hall(estimate, level, estimate.df)


@interval("Student's t, skewness and tails", of=Estimate, needs=WEIGHTED_TOO, source=f"{HALL}; {KURTOSIS}")
def hall_df(estimate: Estimate, level: float) -> Bounds:
    """Mean of losses by Hall's map of Student's t, with degrees of freedom by the kurtosis of the losses.

    Under weights skewness and kurtosis are those of the weighted contributions w (loss - mean), and the degrees of
    freedom are at most Kish's effective number of examples less one.
    """
    return _hall(estimate, level, _df(estimate))


@interval("Student's t, or with skewness and tails", of=Estimate, needs=WEIGHTED_TOO, source=OUTER_LIMITS)
def t_or_hall_df(estimate: Estimate, level: float) -> Bounds:
    """Mean of losses: the outer limits of Student's t and of Hall's map with degrees of freedom by the kurtosis.

    Of weighted clusters both have the error and the degrees of freedom of ``weighted_t``.
    """
    return _outer(_student(estimate, level, estimate.df), _hall(estimate, level, _df(estimate)))


def _df(value: Estimate | Difference) -> float | None:
    """Return min(n - 1, 2 n / (kurtosis - 1)), under weights Kish's n - 1; that alone where no kurtosis is known."""
    if value.df is None or value.kurtosis is None:
        return value.df
    return by_kurtosis(value.df, value.sampling.n_units, value.kurtosis)


def _student(value: Estimate | Difference, level: float, df: float | None) -> Bounds:
    error = value.corrected_error
    if error is None or df is None:
        return NOT_SMOOTH if value.derivative is None else ONE_EXAMPLE
    half = t_quantile((1 + level) / 2, df) * error
    return Bounds(value.value - half, value.value + half, NO_SPREAD if error == 0 else None)


def _hall(value: Estimate | Difference, level: float, df: float | None) -> Bounds:
    error = value.corrected_error
    if error is None or df is None:
        return NOT_SMOOTH if value.derivative is None else ONE_EXAMPLE
    lowest, highest = turned(t_quantile((1 + level) / 2, df), 6 * (value.acceleration or 0.0))
    reason = NO_SPREAD if error == 0 else None
    if not value.metric.root_of:
        return Bounds(value.value - lowest * error, value.value - highest * error, reason)
    # The error of the mean of squares is 2 value error; all is relative to it, so that no square overflows.
    relative = 2 * error / value.value if value.value > 0 else 0.0
    low, high = (value.value * math.sqrt(max(1 - t * relative, 0.0)) for t in (lowest, highest))
    return Bounds(low, high, reason)


def turned(quantile: float, a: float) -> tuple[float, float]:
    """Return g^-1(t) and g^-1(-t): how many errors the limits lie below the mean."""
    return _before_the_map(quantile, a), _before_the_map(-quantile, a)


def _before_the_map(g: float, a: float) -> float:
    """Return T with g(T) = g: (1 + a T / 3)^3 = 1 + a (g - a / 6), solved so that a may be 0."""
    cubed = 1 + a * (g - a / 6)
    root = math.copysign(abs(cubed) ** (1 / 3), cubed)
    return 3 * (g - a / 6) / (root * root + root + 1)


def _outer(first: Bounds, second: Bounds) -> Bounds:
    """Return the lower of two lower limits and the higher of two higher ones."""
    if first.low is None or first.high is None or second.low is None or second.high is None:
        return first if first.low is None else second
    return Bounds(min(first.low, second.low), max(first.high, second.high), first.reason or second.reason)


# --- one model's squared errors, whose tail may be heavier than the sample shows ------------------------------------

LEAST_ALPHA = 1.4
"""The tail index is not taken for less: with 1.15 limits are up to ten times as long, with 2 nothing is raised."""

LEAST_TAIL = 5
"""At least so many of the largest squares make the tail."""


@interval(
    "Student's t, skewness and a Pareto tail",
    of=SquaredErrors,
    needs=(*EXAMPLES_ALIKE, "one_set"),
    source=f"{HALL}; Hill (1975), Ann Stat 3:1163; a mean with a Pareto tail: Johansson (2003), Extremes 6:91; the"
    " floor of the tail index and the combination are our own (docs/coverage.md)",
)
def hall_tail(estimate: Estimate, level: float) -> Bounds:
    """Mean squared error, or a function of it, by Hall's map with degrees of freedom by the kurtosis, tail included.

    The upper limit of the mean is raised by the factor by which the mean grows where the k = max(5, 1.5 sqrt(n))
    largest squares are replaced by a Pareto tail with Hill's index, not below 1.4. RMSE has the roots of the limits. R²
    is a function of the ratio of the mean to the variance of the truth: their logarithms' limits are squared and added,
    with the correlation of squared errors and squared distances of the truth from its mean.
    """
    evidence, from_squares = evidence_of(estimate, SquaredErrors), estimate.metric.from_squares
    assert from_squares is not None
    if len(evidence.squares) < 2:
        return ONE_EXAMPLE
    scale = float(evidence.squares.max())
    if scale == 0:
        return Bounds(estimate.value, estimate.value, NO_SPREAD)
    squares = evidence.squares / scale
    mean, factor = float(squares.mean()), tail_factor(squares)
    low, high = limits_of_mean(squares, level, heavy=True)
    low, high = max(low, 0.0), high * factor
    if evidence.spread is None:
        ends = [from_squares(limit * scale) for limit in (low, high)]
    else:
        unit = scale / float(evidence.spread.max())
        lowest, highest = _limits_of_ratio((mean, low, high), squares, evidence.spread, level)
        if highest is None:
            end, unsure = from_squares(lowest * unit), Message("limits.spread_unsure")
            if end < estimate.value:
                return Bounds(end, None, unsure)
            return Bounds(None, end, unsure)
        ends = [from_squares(limit * unit) for limit in (lowest, highest)]
    reason = None
    if factor > 1:
        raised = abs(from_squares(factor) / from_squares(1.0) - 1) if evidence.spread is None else factor - 1
        key = "limits.tail" if evidence.spread is None else "limits.tail_of_squares"
        reason = Message(key, n=len(squares), raised=raised)
    return Bounds(min(*ends, estimate.value), max(*ends, estimate.value), reason)


def tail_factor(squares: Floats) -> float:
    """Return by how much a mean grows where its largest numbers are replaced by a Pareto tail; at least 1.

    Examples
    --------
    Without a tail nothing is raised:

    >>> tail_factor(np.ones(100))
    1.0
    """
    n, ordered = len(squares), np.sort(squares)
    k = max(LEAST_TAIL, math.floor(1.5 * math.sqrt(n)))
    if n <= k or ordered[n - k - 1] == 0 or ordered[-1] == ordered[n - k - 1]:
        return 1.0
    threshold = float(ordered[n - k - 1])
    alpha = max(1 / float(log(ordered[n - k :] / threshold).mean()), LEAST_ALPHA)
    with_tail = float(ordered[: n - k].sum()) / n + k / n * threshold * alpha / (alpha - 1)
    return max(1.0, with_tail / float(squares.mean()))


def limits_of_mean(values: Floats, level: float, *, heavy: bool) -> tuple[float, float]:
    """Return Hall's limits of a mean, with t of n - 1 degrees of freedom, where tails are heavy by the kurtosis."""
    n, mean = len(values), float(values.mean())
    largest, squares, cubes, fourths = powers(values - mean, np.broadcast_to(1.0, n))
    if squares == 0:
        return mean, mean
    df = by_kurtosis(n - 1.0, n, n * fourths / squares**2) if heavy else n - 1.0
    lowest, highest = turned(t_quantile((1 + level) / 2, df), cubes / squares**1.5)
    error = largest * math.sqrt(squares / (n * (n - 1)))
    return mean - lowest * error, mean - highest * error


def _limits_of_ratio(
    of_mean: ValueLimits, squares: Floats, spread: Floats, level: float
) -> tuple[float, float | None]:
    """Return limits of the ratio of two means; no upper one where the lower limit of the lower mean is not above 0."""
    spread = spread / float(spread.max())
    mean = float(spread.mean())
    low, high = limits_of_mean(spread, level, heavy=False)
    first, second = _logarithms(of_mean), _logarithms((mean, low, high))
    away, far = squares - of_mean[0], spread - mean
    variance = float((away**2).sum()) * float((far**2).sum())
    r = float((away * far).sum()) / math.sqrt(variance) if variance > 0 else 0.0
    if low <= 0:
        lowest = (
            0.0 if first[1] == -math.inf else math.exp(mover(first, (second[0], second[0], second[2]), r)[0])
        )
        return lowest, None
    if first[1] == -math.inf:
        highest = mover((first[0], first[0], first[2]), second, r)[1]
        return 0.0, math.exp(highest)
    lowest, highest = mover(first, second, r)
    return math.exp(lowest), math.exp(highest)


def _logarithms(limits: ValueLimits) -> ValueLimits:
    value, low, high = (float(log(np.array(limit))) if limit > 0 else -math.inf for limit in limits)
    return value, low, high


# --- two models -----------------------------------------------------------------------------------------------------

OF_DIFFERENCE = (*EXAMPLES_ALIKE, "one_set", "influence", "its_difference")


@interval(
    "Student's t by the kurtosis, or skewness removed",
    of=Difference,
    needs=OF_DIFFERENCE,
    source=OUTER_LIMITS,
)
def t_or_hall(difference: Difference, level: float) -> Bounds:
    """Difference of mean losses, or of R²: the outer limits of Student's t by the kurtosis and of Hall's map.

    The first mends heavy tails, the second skewness, both of the influence values: of the differences of the losses.
    """
    if difference.corrected_error == 0:
        return NO_VARIATION
    return _outer(_student(difference, level, _df(difference)), _hall(difference, level, difference.df))


@interval("Student's t by the kurtosis", of=Difference, needs=OF_DIFFERENCE, source=KURTOSIS)
def t_kurtosis(difference: Difference, level: float) -> Bounds:
    """Difference of roots of mean squares by Student's t of influence values, degrees of freedom by their kurtosis."""
    if difference.corrected_error == 0:
        return NO_VARIATION
    return _student(difference, level, _df(difference))
