"""Metrics at a threshold that a user declares: net benefit, and recall or precision at a rate of alarms or flags."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import numpy as np

from evalreport.metrics.metric import Parameter
from evalreport.metrics.registry import Fields, rows
from evalreport.metrics.views import ModelView, Scored, forecast
from evalreport.predictions.arrays import Floats, required
from evalreport.texts import Message


def cumulative_groups(score: Floats, y: Floats, weight: Floats | float = 1.0) -> tuple[Floats, Floats]:
    """Return the weights of positives and of negatives at each distinct score and above, (G + 1,), from 0 on."""
    group = np.unique(-score, return_inverse=True)[1].ravel()
    of_each = (np.bincount(group, weights=weight * side) for side in (y, 1 - y))
    tp, fp = (np.concatenate([[0.0], np.cumsum(counts)]) for counts in of_each)
    return tp, fp


def of_each(state: Scored, weights: Floats, value: Callable[[Floats, Floats], float]) -> Floats:
    """Return values (b,) under weights (b, n), from positives and negatives at each score and above."""
    return np.array([value(*cumulative_groups(*state, row)) for row in weights])


def _scored(view: ModelView) -> Scored:
    return Scored(required(view.score), np.asarray(view.true == view.positive_code, dtype=np.float64))


OVER_COUNTS = "own combination: Wilson's limits over all counts that agree with the rate"
AT: Fields = {
    "tasks": ("binary",),
    "scored": lambda state: state,
    "resampled": False,
    "no_test": Message("no_test.describes"),
}


def rows_of_benefit(score: Floats, y: Floats, at: float) -> Floats:
    """Return what each example (n,) adds to the net benefit at a threshold: 1, -t / (1 - t) or 0."""
    flagged = score >= at
    return np.asarray(flagged * (y - at / (1 - at) * (1 - y)))


def _benefit_derivative(state: Scored, weights: Floats, *, at: float) -> Floats:
    added = rows_of_benefit(state.score, state.y, at)
    totals = weights.sum(axis=1, keepdims=True)
    return np.asarray((added - (weights * added).sum(axis=1, keepdims=True) / totals) / totals)


@rows(
    "Net benefit",
    "TP / n - t / (1 - t) FP / n, positive where p >= t",
    prepare=forecast,
    derivative=_benefit_derivative,
    needs="probabilities",
    parameter=Parameter("net_benefit", "at", "Net benefit at {x}"),
    range=(-float("inf"), 1.0),
    intervals=("net_benefit_mover", "normal"),
    difference_interval="net_benefit_tango",
    source="Vickers and Elkin (2006), Med Decis Making 26:565",
    **AT,
)
def net_benefit(state: Scored, weights: Floats, *, at: float) -> Floats:
    """Share of true positives less that of false ones at the odds of the threshold; written `net_benefit[at=X]`.

    Treating none has 0; treating all the prevalence less the odds times the rest.
    """
    added = rows_of_benefit(state.score, state.y, at)
    return np.asarray((weights * added).sum(axis=1) / weights.sum(axis=1))


SLACK = 1e-9
RANKED: Fields = {**AT, "prepare": _scored, "needs": "scores", "smooth": False}
AT_RATE: Fields = {**RANKED, "intervals": ("at_rate_scan",), "source": OVER_COUNTS}
OVER_THRESHOLDS: Fields = {
    **RANKED,
    "undefined": Message("undefined.one_class"),
    "intervals": ("at_fpr_scan",),
    "difference_interval": "at_fpr_mover",
    "source": "profile over the threshold: Claeskens, Jing, Peng and Zhou (2003), Can J Stat 31:173",
}


def _recall_at_fpr(tp: Floats, fp: Floats, at: float) -> float:
    if not tp[-1] or not fp[-1]:
        return float("nan")
    return float(tp[np.flatnonzero(fp <= at * fp[-1] + SLACK)[-1]] / tp[-1])


@rows(
    "Recall at a false positive rate",
    "recall at the lowest threshold whose FPR is at most X",
    parameter=Parameter("recall", "at_fpr", "Recall at FPR {x}"),
    **OVER_THRESHOLDS,
)
def recall_at_fpr(state: Scored, weights: Floats, *, at: float) -> Floats:
    """Share of positives found at the lowest threshold whose FPR is at most X; written `recall[at_fpr=X]`.

    A tie is flagged whole or not at all.
    """
    return of_each(state, weights, partial(_recall_at_fpr, at=at))


def hits_at(tp: Floats, fp: Floats, flagged: float) -> float:
    """Return the positives among the first ``flagged`` examples; those tied there count by their share.

    Parameters
    ----------
    tp, fp
        (g + 1,) positives and negatives above each of g distinct scores, from 0.
    flagged
        A number of examples, whole or not.
    """
    total = tp + fp
    if flagged >= total[-1]:
        return float(tp[-1])
    g = int(np.flatnonzero(total <= flagged)[-1])
    return float(tp[g] + (flagged - total[g]) / (total[g + 1] - total[g]) * (tp[g + 1] - tp[g]))


@rows(
    "Precision among the highest scores",
    "share of positives among the X n highest scores, ties shared",
    parameter=Parameter("precision", "at_rate", "Precision in the top {x}"),
    difference_interval="at_rate_mover",
    **AT_RATE,
)
def precision_at_rate(state: Scored, weights: Floats, *, at: float) -> Floats:
    """Share of positives among the X n examples with the highest scores, an alert queue; `precision[at_rate=X]`."""

    def value(tp: Floats, fp: Floats) -> float:
        flagged = at * float(tp[-1] + fp[-1])
        return hits_at(tp, fp, flagged) / flagged

    return of_each(state, weights, value)


@rows(
    "Recall among the highest scores",
    "positives among the X n highest scores / all positives, ties shared",
    parameter=Parameter("recall", "at_rate", "Recall in the top {x}"),
    undefined=Message("undefined.no_positive"),
    difference_interval="",
    **AT_RATE,
)
def recall_at_rate(state: Scored, weights: Floats, *, at: float) -> Floats:
    """Share of all positives found among the X n examples with the highest scores; written `recall[at_rate=X]`."""

    def value(tp: Floats, fp: Floats) -> float:
        hits = hits_at(tp, fp, at * float(tp[-1] + fp[-1]))
        return hits / float(tp[-1]) if tp[-1] else float("nan")

    return of_each(state, weights, value)


def _missed(x: float, _n: int) -> float:
    """Return the share of positives that is missed at a recall."""
    return 1 - x


# --- the classes exchanged: at a share of positives found -------------------------------------------------------------

AT_RECALL: Fields = {**OVER_THRESHOLDS, "scored": lambda state: (-state.score, 1 - state.y)}


@rows(
    "Specificity at a recall",
    "specificity at the highest threshold whose recall is at least X",
    parameter=Parameter("specificity", "at_recall", "Specificity at recall {x}", rate=_missed),
    **AT_RECALL,
)
def specificity_at_recall(state: Scored, weights: Floats, *, at: float) -> Floats:
    """Share of negatives left alone where at least the share X of positives is found; `specificity[at_recall=X]`.

    It is the recall of the negatives at a rate of missed positives of 1 - X.
    """
    exchanged = Scored(-state.score, 1 - state.y)
    return of_each(exchanged, weights, partial(_recall_at_fpr, at=1 - at))


@rows(
    "Precision at a recall",
    "precision at the highest threshold whose recall is at least X",
    parameter=Parameter("precision", "at_recall", "Precision at recall {x}", rate=_missed),
    **{**AT_RECALL, "intervals": ("at_recall_scan",), "difference_interval": ""},
)
def precision_at_recall(state: Scored, weights: Floats, *, at: float) -> Floats:
    """Share of right alarms where at least the share X of positives is found; written `precision[at_recall=X]`."""

    def value(tp: Floats, fp: Floats) -> float:
        if not tp[-1] or not fp[-1]:
            return float("nan")
        g = int(np.flatnonzero(tp >= at * tp[-1] - SLACK)[0])
        return float(tp[g] / (tp[g] + fp[g]))

    return of_each(state, weights, value)
