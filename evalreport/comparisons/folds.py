"""Tests of two learning algorithms on the folds, or repeated hold-outs, that both were trained and tested on.

x_j: the difference of the metric on fit j. The fits share training data, so the x_j are not independent: what
each test does about that, and how often it errs all the same (``measured.py``), stands beside its p-value.
"""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt

from evalreport.comparisons.registry import Outcome, Pair, comparison_test, probability
from evalreport.engine.distributions import f_tail, t_tail
from evalreport.texts import Message

Floats = npt.NDArray[np.float64]

NO_SPREAD = Message("reason.no_spread_of_folds")


def fold_differences(pair: Pair) -> Floats:
    """Return the difference on every fit, (J,), sorted by repeat, then fold."""
    assert pair.difference.fits is not None
    return pair.difference.fits.values


def _t_test(x: Floats, variance_factor: float) -> Outcome:
    """Return t = mean / sqrt(factor s^2) with J - 1 degrees of freedom."""
    mean, df = float(x.mean()), len(x) - 1
    spread = float(x.std(ddof=1))
    if not x.any():
        return Outcome(0.0, 1.0, df, "cohen_d", 0.0)
    if spread <= 1e-12 * abs(mean):
        return Outcome(None, None, df, reason=NO_SPREAD)
    statistic = mean / (math.sqrt(variance_factor) * spread)
    return Outcome(statistic, probability(2 * t_tail(abs(statistic), df)), df, "cohen_d", mean / spread)


@comparison_test(
    "Corrected resampled t",
    "trained_folds",
    beside=("bayes_correlated_t",),
)
def corrected_resampled_t(pair: Pair) -> Outcome:
    """Student's t on the fold differences, the variance times 1/J + n_test/n_train because training sets overlap."""
    assert pair.difference.fits is not None
    x = fold_differences(pair)
    return _t_test(x, 1 / len(x) + pair.difference.fits.test_train_ratio)


@comparison_test(
    "Naive t over folds",
    "folds",
)
def cv_paired_t(pair: Pair) -> Outcome:
    """Student's t on the fold differences as if the folds were independent; shown as a warning, never leading."""
    x = fold_differences(pair)
    return _t_test(x, 1 / len(x))


def halves(pair: Pair) -> Floats:
    """Return the differences (5, 2) of five repeats of two-fold cross-validation, in the order of the files' names."""
    assert pair.difference.fits is not None
    return fold_differences(pair).reshape(5, 2)


@comparison_test(
    "5x2cv t",
    "halves",
    name="5x2cv_t",
)
def five_by_two_t(pair: Pair) -> Outcome:
    """First difference of five repeats of two-fold cross-validation over the spread within the repeats."""
    x = halves(pair)
    variance = float(x.var(axis=1, ddof=1).mean())
    if not x.any():
        return Outcome(0.0, 1.0, 5)
    if variance <= 1e-24 * float((x**2).max()):
        return Outcome(None, None, 5, reason=NO_SPREAD)
    statistic = float(x[0, 0]) / math.sqrt(variance)
    return Outcome(statistic, probability(2 * t_tail(abs(statistic), 5)), 5)


@comparison_test(
    "5x2cv F",
    "halves",
    beside=("5x2cv_t",),
    name="5x2cv_f",
)
def five_by_two_f(pair: Pair) -> Outcome:
    """All ten squared differences of five repeats of two-fold cross-validation over the spread within the repeats."""
    x = halves(pair)
    within = float(x.var(axis=1, ddof=1).sum())
    if not x.any():
        return Outcome(0.0, 1.0, 10, details={"df2": 5.0})
    if within <= 1e-24 * float((x**2).max()):
        return Outcome(None, None, 10, reason=NO_SPREAD, details={"df2": 5.0})
    statistic = float((x**2).sum()) / (2 * within)
    return Outcome(statistic, probability(f_tail(statistic, 10, 5)), 10, details={"df2": 5.0})
