"""Rank metrics: functions of the weights (g, ...) of positives and negatives in each group of ties, best first."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from evalreport.engine.derivative import ratio
from evalreport.metrics.registry import SMOOTH_INTERVALS, ranking

Array = npt.NDArray[Any]
Floats = npt.NDArray[np.float64]


def _negatives_beaten(negatives: Array) -> Array:
    """Weight of negatives ranked below each group, plus half of those tied with it, (g, ...)."""
    at_or_above = np.cumsum(negatives, axis=0)
    return np.asarray(at_or_above[-1] - at_or_above + negatives / 2)


def _roc_auc_derivative(positives: Floats, negatives: Floats) -> tuple[Floats, Floats]:
    """DeLong's placements, centred: (V10 - AUC) / P and (V01 - AUC) / N, (g,) each."""
    p, n = positives.sum(), negatives.sum()
    auc = float(roc_auc(positives, negatives))
    above = np.cumsum(positives) - positives / 2
    return (_negatives_beaten(negatives) / n - auc) / p, (above / p - auc) / n


@ranking(
    "ROC AUC",
    "P(score of a positive > score of a negative) + P(tie) / 2",
    derivative=_roc_auc_derivative,
    intervals=("logit", "newcombe_auc", "delong", *SMOOTH_INTERVALS),
    difference_interval="delong",
    test="delong",
    undefined="the truth holds one class only",
    source="DeLong, DeLong and Clarke-Pearson (1988), Biometrics 44:837, equation 1",
)
def roc_auc(positives: Array, negatives: Array) -> Array:
    """Probability that a positive example is scored above a negative one, ties counting one half."""
    won = (positives * _negatives_beaten(negatives)).sum(0)
    return ratio(won, positives.sum(0) * negatives.sum(0))


def _average_precision_derivative(positives: Floats, negatives: Floats) -> tuple[Floats, Floats]:
    """Closed form by suffix sums over the groups at or below the example's own."""
    p = positives.sum()
    found, wrong = np.cumsum(positives), np.cumsum(negatives)
    called = np.where(found + wrong > 0, found + wrong, 1)
    precision = found / called
    value = float((positives * precision).sum() / p)
    later_positive = np.cumsum((positives * wrong / called**2)[::-1])[::-1]
    later_negative = np.cumsum((positives * found / called**2)[::-1])[::-1]
    return (precision - value + later_positive) / p, -later_negative / p


@ranking(
    "Average precision",
    "sum over thresholds of (R_k - R_(k-1)) P_k",
    derivative=_average_precision_derivative,
    undefined="no example is positive",
)
def average_precision(positives: Array, negatives: Array) -> Array:
    """Mean of the precision at each positive example, taken over the distinct thresholds (step sum)."""
    found = np.cumsum(positives, axis=0)
    called = np.cumsum(positives + negatives, axis=0)
    precision = found / np.maximum(called, np.finfo(np.float64).tiny)
    return ratio((positives * precision).sum(0), positives.sum(0))
