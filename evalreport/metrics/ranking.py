"""Rank metrics: functions of the weights (g, ...) of positives and negatives in each group of ties, best first."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from evalreport.engine.derivative import ratio
from evalreport.engine.histogram import (
    Bins,
    BinWeights,
    binned_area_up_to,
    binned_average_precision,
    binned_pr_auc,
    binned_roc_auc,
)
from evalreport.engine.memory import running_sum
from evalreport.metrics.registry import SMOOTH_INTERVALS, ranking
from evalreport.texts import Message

Array = npt.NDArray[Any]
Floats = npt.NDArray[np.float64]


def _negatives_beaten(negatives: Array) -> Array:
    """Weight of negatives ranked below each group, plus half of those tied with it, (g, ...)."""
    at_or_above = running_sum(negatives)
    beaten = negatives / 2
    beaten -= at_or_above
    beaten += at_or_above[-1]
    return beaten


def _roc_auc_derivative(positives: Floats, negatives: Floats) -> tuple[Floats, Floats]:
    """DeLong's placements, centred: (V10 - AUC) / P and (V01 - AUC) / N, (g,) each."""
    found = running_sum(positives)
    p, n = found[-1], running_sum(negatives)[-1]
    # In place, for a million groups: half of the time is fresh memory.
    beaten, above = _negatives_beaten(negatives), positives / 2
    beaten /= n
    auc = (positives * beaten).sum() / p
    beaten -= auc
    beaten /= p
    np.subtract(found, above, out=above)
    above /= p
    above -= auc
    above /= n
    return beaten, above


@ranking(
    "ROC AUC",
    "P(score of a positive > score of a negative) + P(tie) / 2",
    derivative=_roc_auc_derivative,
    binned=binned_roc_auc,
    area="roc",
    uninformed=0.5,
    headline=True,
    intervals=("logit", "newcombe_auc", "delong", *SMOOTH_INTERVALS),
    difference_interval="delong",
    test="delong",
    undefined=Message("undefined.one_class"),
    source="DeLong, DeLong and Clarke-Pearson (1988), Biometrics 44:837, equation 1",
)
def roc_auc(positives: Array, negatives: Array) -> Array:
    """Probability that a positive example is scored above a negative one, ties counting one half."""
    won = (positives * _negatives_beaten(negatives)).sum(0)
    return ratio(won, positives.sum(0) * negatives.sum(0))


def _average_precision_derivative(positives: Floats, negatives: Floats) -> tuple[Floats, Floats]:
    """Closed form by suffix sums over the groups at or below the example's own."""
    found, wrong = running_sum(positives), running_sum(negatives)
    p, called = found[-1], found + wrong
    called[called == 0] = 1
    precision = found / called
    value = float((positives * precision).sum() / p)
    # In place, for a million groups: half of the time is fresh memory.
    called *= called
    np.divide(positives, called, out=called)
    by_positive = np.cumsum((called * wrong)[::-1])[::-1]
    by_positive += precision
    by_positive -= value
    by_positive /= p
    called *= found
    by_negative = np.cumsum(called[::-1], out=precision)[::-1]
    by_negative /= -p
    return by_positive, by_negative


@ranking(
    "Average precision",
    "sum over thresholds of (R_k - R_(k-1)) P_k",
    derivative=_average_precision_derivative,
    binned=binned_average_precision,
    area="precision_recall",
    mean_over_positives=True,
    headline=True,
    undefined=Message("undefined.no_positive"),
)
def average_precision(positives: Array, negatives: Array) -> Array:
    """Mean of the precision at each positive example, taken over the distinct thresholds (step sum)."""
    found = running_sum(positives)
    precision = found / np.maximum(found + running_sum(negatives), np.finfo(np.float64).tiny)
    return ratio((positives * precision).sum(0), positives.sum(0))


# --- areas under parts of the curves --------------------------------------------------------------------------------

MOST_FALSE_POSITIVES = 0.1
"""The partial area is taken over false positive rates from 0 to here."""


def _included(negatives: Array) -> tuple[Array, Array]:
    """Return each group's share inside the range of false positive rates, (g, ...), and its negatives there."""
    before = np.cumsum(negatives, axis=0) - negatives
    allowed = MOST_FALSE_POSITIVES * (before[-1] + negatives[-1])
    inside = np.clip(allowed - before, 0, negatives)
    return inside / np.where(negatives > 0, negatives, 1), inside


def _standardised(area: Array) -> Array:
    """McClish's scale: 1/2 for guessing, 1 for a perfect start of the curve."""
    c = MOST_FALSE_POSITIVES
    return np.asarray((1 + (area - c * c / 2) / (c - c * c / 2)) / 2)


def _partial_auc_derivative(positives: Floats, negatives: Floats) -> tuple[Floats, Floats]:
    """Closed form: the area is a sum of trapezoids, and another negative shifts where the range ends."""
    c, p, n = MOST_FALSE_POSITIVES, positives.sum(), negatives.sum()
    share, inside = _included(negatives)
    found = np.cumsum(positives)
    before = found - positives
    area = float((inside * (before + share * positives / 2)).sum())
    by_positive = inside.sum() - np.cumsum(inside) + inside * share / 2
    last = int(np.flatnonzero(inside > 0).max(initial=0))
    height = before[last] + share[last] * positives[last]
    by_negative = np.full(len(negatives), c * height)
    by_negative[:last] += before[:last] + positives[:last] / 2 - height
    by_negative[last] -= share[last] ** 2 * positives[last] / 2
    scale = 2 * (c - c * c / 2) * p * n
    return (by_positive - area / p) / scale, (by_negative - area / n) / scale


def _binned_partial_auc(bins: Bins, weights: BinWeights) -> Floats:
    return _standardised(binned_area_up_to(bins, weights, MOST_FALSE_POSITIVES))


@ranking(
    "Partial AUC",
    "A = area under the ROC curve for FPR in [0, 0.1]; (1 + (A - 0.005) / 0.095) / 2",
    derivative=_partial_auc_derivative,
    binned=_binned_partial_auc,
    area="partial_roc",
    range=((1 - MOST_FALSE_POSITIVES / (2 - MOST_FALSE_POSITIVES)) / 2, 1.0),
    undefined=Message("undefined.one_class"),
    source="McClish (1989), Med Decis Making 9:190",
)
def partial_auc(positives: Array, negatives: Array) -> Array:
    """Area under the ROC curve up to a false positive rate of 0.1, standardised: 0.5 for guessing, 1 at best.

    Straight lines join the points of the distinct thresholds, so the last piece may be cut inside a group of ties.
    Undefined where the truth holds one class only.
    """
    share, inside = _included(negatives)
    before = np.cumsum(positives, axis=0) - positives
    area = (inside * (before + share * positives / 2)).sum(0)
    return _standardised(ratio(area, positives.sum(0) * negatives.sum(0)))


def _pr_auc_derivative(positives: Floats, negatives: Floats) -> tuple[Floats, Floats]:
    """Closed form: each precision carries half the recall gained before it and half the recall gained after it."""
    p = positives.sum()
    found = np.cumsum(positives)
    called = np.cumsum(positives + negatives)
    used = np.flatnonzero(positives + negatives > 0)
    gained, tp, called_there = positives[used], found[used], called[used]
    precision = tp / called_there
    heights = (precision + np.concatenate([precision[:1], precision[:-1]])) / 2
    carried = (gained + np.concatenate([gained[1:], [0.0]])) / 2
    carried[0] += gained[0] / 2
    value = float((gained * heights).sum() / p)
    later_positive = np.cumsum((carried * (called_there - tp) / called_there**2)[::-1])[::-1]
    later_negative = np.cumsum((carried * tp / called_there**2)[::-1])[::-1]
    by_positive, by_negative = np.zeros(len(positives)), np.zeros(len(positives))
    by_positive[used] = (heights - value + later_positive) / p
    by_negative[used] = -later_negative / p
    return by_positive, by_negative


@ranking(
    "PR AUC (trapezoid)",
    "sum over thresholds of (R_k - R_(k-1)) (P_k + P_(k-1)) / 2, from (0, P_1)",
    derivative=_pr_auc_derivative,
    binned=binned_pr_auc,
    area="precision_recall",
    undefined=Message("undefined.no_positive"),
    source="Davis and Goadrich (2006), ICML, on why straight lines flatter the curve; Boyd, Eng and Page (2013)",
)
def pr_auc(positives: Array, negatives: Array) -> Array:
    """Area under the precision-recall curve by trapezoids over the distinct thresholds; average precision is safer.

    It begins at recall 0 with the precision of the highest threshold. Straight lines between points in this plane
    are optimistic. Undefined where no example is positive.
    """
    found = np.cumsum(positives, axis=0)
    called = np.cumsum(positives + negatives, axis=0)
    precision = found / np.maximum(called, np.finfo(np.float64).tiny)
    # A threshold above every drawn example has no precision: the first drawn one's holds from recall 0 on.
    earlier = np.where(called[:-1] > 0, precision[:-1], precision[1:])
    first = positives[0] * precision[0]
    area = first + (positives[1:] * (precision[1:] + earlier) / 2).sum(0)
    return ratio(area, positives.sum(0))
