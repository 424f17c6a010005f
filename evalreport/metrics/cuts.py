"""Metrics at one threshold or one cut of a ranking: the best one, the balanced one, the first ten examples.

None is a smooth function of the examples, so none has an interval from influence values.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from evalreport.engine.derivative import ratio
from evalreport.engine.steps import Climb, Steps, steps_of
from evalreport.metrics.registry import PROPORTION_INTERVALS, rows
from evalreport.metrics.views import ModelView
from evalreport.texts import Message

Floats = npt.NDArray[np.float64]

FIRST = 10.0
"""How many examples the metrics ``..._at_10`` look at."""


def _steps(view: ModelView) -> Steps:
    assert view.score is not None
    assert view.true is not None
    return steps_of(view.score, view.true == view.positive_code)


RANKED: dict[str, Any] = {
    "prepare": _steps,
    "tasks": ("binary",),
    "needs": "scores",
    "smooth": False,
    "intervals": ("bootstrap_percentile",),
    "test": "bootstrap_difference",
}


@rows(
    "Equal error rate",
    "FPR where the ROC polygon meets FPR = 1 - TPR",
    greater_is_better=False,
    undefined=Message("undefined.one_class"),
    least_of_a_class=20,
    **RANKED,
)
def eer(state: Steps, weights: Floats) -> Floats:
    """Error rate at the point of the ROC curve where positives and negatives are mistaken equally often.

    The point lies on the straight line between two thresholds, where FPR = FNR = 1 - TPR. Undefined where the
    truth holds one class only.
    """
    climb = state.climb(weights)
    fpr, tpr = ratio(climb.wrong, climb.wrong[-1]), ratio(climb.found, climb.found[-1])
    beyond = fpr + tpr - 1
    # The sum rises from -1 to 1 along the curve: the first corner at or past 0 ends the piece that is crossed.
    last = np.maximum((beyond >= 0).argmax(axis=0), 1)[None, :]
    (h0, h1), (f0, f1) = (
        (np.take_along_axis(a, last - 1, axis=0)[0], np.take_along_axis(a, last, axis=0)[0])
        for a in (beyond, fpr)
    )
    return np.asarray(f0 + (f1 - f0) * ratio(-h0, h1 - h0))


@rows(
    "Best accuracy",
    "max over thresholds t of the accuracy of score >= t",
    resampled=False,
    no_interval=Message("no_interval.max_accuracy"),
    **RANKED | {"intervals": ()},
)
def max_accuracy(state: Steps, weights: Floats) -> Floats:
    """Highest accuracy that any threshold reaches, all and no example predicted positive included.

    It is chosen on the data that it is measured on, so it flatters: the accuracy at a threshold fixed beforehand
    is lower.
    """
    climb = state.climb(weights)
    right = climb.found - climb.wrong
    return np.asarray((right.max(axis=0) + climb.wrong[-1]) / (climb.found[-1] + climb.wrong[-1]))


def _hits(climb: Climb, cut: Floats) -> Floats:
    """Return the positives among the first ``cut`` (b,) examples: those tied at the cut count by their share."""
    called = climb.found + climb.wrong
    last = np.maximum((called >= cut * (1 - 1e-12)).argmax(axis=0), 1)[None, :]
    (c0, c1), (f0, f1) = (
        (np.take_along_axis(a, last - 1, axis=0)[0], np.take_along_axis(a, last, axis=0)[0])
        for a in (called, climb.found)
    )
    return np.asarray(f0 + (f1 - f0) * np.minimum(ratio(cut - c0, c1 - c0), 1))


def _first_hits(state: Steps, weights: Floats) -> tuple[Floats, Floats]:
    """Return the positives among the first ten, nan where there are not ten, and all positives."""
    climb = state.climb(weights)
    enough = climb.found[-1] + climb.wrong[-1] >= FIRST * (1 - 1e-12)
    hits = _hits(climb, np.full(weights.shape[0], FIRST))
    return np.where(enough, hits, np.nan), climb.found[-1]


@rows(
    "Precision at 10",
    "positives among the 10 highest scores / 10",
    proportion=lambda state, weights: (_first_hits(state, weights)[0][0], FIRST),
    undefined=Message("undefined.few_examples"),
    extensive=True,
    **RANKED | {"intervals": PROPORTION_INTERVALS},
)
def precision_at_10(state: Steps, weights: Floats) -> Floats:
    """Share of positives among the ten examples with the highest scores.

    Where ties straddle the cut it is the expected share over a random order of the tied examples. Undefined with
    fewer than ten examples. Its binomial interval is about the ten positions: how often what such scores rank
    first is positive.
    """
    hits, _ = _first_hits(state, weights)
    return np.asarray(hits / FIRST)


@rows(
    "Recall at 10",
    "positives among the 10 highest scores / positives",
    undefined=Message("undefined.recall_at_10"),
    extensive=True,
    **RANKED,
)
def recall_at_10(state: Steps, weights: Floats) -> Floats:
    """Share of all positives that stand among the ten examples with the highest scores.

    At most 10 / P with P positives. Ties at the cut count by their expected share. Undefined without a positive
    or with fewer than ten examples.
    """
    hits, positives = _first_hits(state, weights)
    return ratio(hits, positives)


@rows(
    "F1 at 10",
    "2 * positives among the 10 highest scores / (10 + positives)",
    undefined=Message("undefined.few_examples"),
    extensive=True,
    **RANKED,
)
def f1_at_10(state: Steps, weights: Floats) -> Floats:
    """Harmonic mean of precision and recall at ten: F1 where the ten highest scores are predicted positive.

    Ties at the cut count by their expected share. Undefined with fewer than ten examples.
    """
    hits, positives = _first_hits(state, weights)
    return ratio(2 * hits, FIRST + positives)


@rows(
    "R-precision",
    "positives among the P highest scores / P, P = number of positives",
    undefined=Message("undefined.no_positive"),
    **RANKED,
)
def r_precision(state: Steps, weights: Floats) -> Floats:
    """Precision where as many examples are called as there are positives; it equals recall and F1 there.

    Ties at the cut count by their expected share. Undefined without a positive.
    """
    climb = state.climb(weights)
    return ratio(_hits(climb, climb.found[-1]), climb.found[-1])
