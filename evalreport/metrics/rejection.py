"""Risk and coverage: how much is right among the answers that a model is surest of."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy.special import digamma, polygamma

from evalreport.metrics.at_rates import OVER_COUNTS, cumulative_groups, hits_at
from evalreport.metrics.metric import Parameter
from evalreport.metrics.registry import Fields, rows
from evalreport.metrics.views import ModelView
from evalreport.predictions.arrays import Floats, Indices, required
from evalreport.texts import Message


@dataclass(frozen=True, slots=True)
class Confidences:
    """Each example's tie of confidence, the surest first, how sure the model is, and whether its answer is wrong.

    Attributes
    ----------
    confidence, wrong
        (n,) the largest probability; 1 where the answer is wrong, else 0.
    tie
        (n,) the place of the tie, from 0 on.
    mean_weight
        What an example weighs on average.
    """

    confidence: Floats
    wrong: Floats
    tie: Indices
    mean_weight: float

    def by_tie(self, weights: Floats) -> tuple[Floats, Floats]:
        """Return the weight of each tie (b, G), and of what is wrong in it."""
        scaled = weights / self.mean_weight
        count = int(self.tie.max()) + 1
        sums = [
            np.stack(
                [
                    np.bincount(self.tie, weights=row * side, minlength=count).astype(np.float64)
                    for row in scaled
                ]
            )
            for side in (np.ones(len(self.wrong)), self.wrong)
        ]
        return sums[0], sums[1]


def confidences(view: ModelView) -> Confidences:
    """Rank the examples by the largest probability."""
    sure = required(view.proba).max(axis=1)
    # A rule that draws its answers gives no label to each example, and has no such value.
    wrong = np.full(len(sure), np.nan)
    if view.y_pred is not None:
        wrong = np.asarray(view.y_pred != view.true, dtype=np.float64)
    return Confidences(sure, wrong, np.unique(-sure, return_inverse=True)[1].ravel(), view.mean_weight)


def _before(sums: Floats) -> Floats:
    return np.asarray(np.cumsum(sums, axis=1) - sums)


def _area(size: Floats, wrong: Floats) -> Floats:
    """Return the mean of the shares wrong among the k surest, (b,), from the ties (b, G).

    Within a tie every answer counts its mean m: the sum of (B + j m) / (N + j) over its j is s m + (B - m N) D, with
    D = psi(N + s + 1) - psi(N + 1).
    """
    n, b = _before(size), _before(wrong)
    mean = np.where(size > 0, wrong / np.where(size > 0, size, 1), 0)
    sums = digamma(n + size + 1) - digamma(n + 1)
    return np.asarray((wrong + (b - mean * n) * sums).sum(axis=1) / size.sum(axis=1))


def _area_slopes(state: Confidences, weights: Floats) -> Floats:
    """Return the derivative (b, n) by each example's weight: of its tie's size, and of what is wrong in it."""
    size, wrong = state.by_tie(weights)
    total = size.sum(axis=1, keepdims=True)
    n, b = _before(size), _before(wrong)
    safe = np.where(size > 0, size, 1)
    mean = np.where(size > 0, wrong / safe, 0)
    ends, begins = n + size + 1, n + 1
    sums = digamma(ends) - digamma(begins)
    later = -mean * sums + (b - mean * n) * (polygamma(1, ends) - polygamma(1, begins))

    def after(values: Floats) -> Floats:
        return np.asarray(values.sum(axis=1, keepdims=True) - np.cumsum(values, axis=1))

    by_wrong = 1 - n / safe * sums + after(sums)
    by_size = mean * n / safe * sums + (b - mean * n) * polygamma(1, ends) + after(later)
    by_size = by_size - _area(size, wrong)[:, None]
    slopes = (by_size[:, state.tie] + by_wrong[:, state.tie] * state.wrong) / total
    return np.asarray(slopes / state.mean_weight)


RISK: Fields = {
    "tasks": ("binary", "multiclass"),
    "needs": "probabilities",
    "prepare": confidences,
    "greater_is_better": False,
    "only_named": True,
    "intervals": ("trials_wilson", "t", "normal", "bootstrap_percentile"),
    "difference_interval": "t",
}


@rows(
    "Area under the risk-coverage curve",
    "mean over k of the share wrong among the k surest answers",
    derivative=_area_slopes,
    source="Geifman, Uziel and El-Yaniv (2019), ICLR",
    **RISK,
)
def aurc(state: Confidences, weights: Floats) -> Floats:
    """Mean share of wrong answers among the surest, over all shares that may be answered; ties count their mean."""
    return _area(*state.by_tie(weights))


def _risk(state: Confidences, weights: Floats) -> Floats:
    return np.asarray((weights @ state.wrong) / weights.sum(axis=1))


def _excess_slopes(state: Confidences, weights: Floats) -> Floats:
    risk = _risk(state, weights)[:, None]
    right = np.where(risk < 1, 1 - risk, 1)
    of_risk = (state.wrong - risk) / weights.sum(axis=1, keepdims=True)
    return np.asarray(_area_slopes(state, weights) + np.log(right) * of_risk)


@rows(
    "Excess area under the risk-coverage curve",
    "AURC - (r + (1 - r) ln(1 - r)), r the share wrong of all answers",
    derivative=_excess_slopes,
    source="Geifman, Uziel and El-Yaniv (2019), ICLR",
    **RISK,
)
def e_aurc(state: Confidences, weights: Floats) -> Floats:
    """AURC less that of the best order of the same answers, all right ones first: how well confidence ranks them."""
    risk = _risk(state, weights)
    right = np.where(risk < 1, 1 - risk, 1)
    # The least area is the integral's, which the mean over whole examples does not reach; rounding may.
    return np.maximum(_area(*state.by_tie(weights)) - (risk + (1 - risk) * np.log(right)), 0.0)


def answered(x: float, n: float) -> float:
    """Return how many answers are a share of n, rounded up."""
    return float(math.ceil(x * n - 1e-9))


def _scored(state: Confidences) -> tuple[Floats, Floats]:
    return state.confidence, 1 - state.wrong


RATE: Callable[[float, int], float] = lambda x, n: answered(x, n) / n  # noqa: E731


@rows(
    "Accuracy at a coverage",
    "right among the c n surest answers / their number, rounded up; ties shared",
    prepare=confidences,
    tasks=("binary", "multiclass"),
    needs="probabilities",
    scored=_scored,
    parameter=Parameter("accuracy", "at_coverage", "Accuracy at coverage {x}", rate=RATE),
    smooth=False,
    resampled=False,
    intervals=("at_rate_scan",),
    difference_interval="at_rate_mover",
    no_test=Message("no_test.describes"),
    source=OVER_COUNTS,
)
def accuracy_at_coverage(state: Confidences, weights: Floats, *, at: float) -> Floats:
    """Share of right answers among the surest ones, at a share that is answered; written `accuracy[at_coverage=X]`."""
    if np.isnan(state.wrong).any():
        return np.full(len(weights), np.nan)
    accuracies = []
    for row in weights / state.mean_weight:
        right, wrong = cumulative_groups(state.confidence, 1 - state.wrong, row)
        asked = answered(at, float(right[-1] + wrong[-1]))
        accuracies.append(hits_at(right, wrong, asked) / min(asked, float(right[-1] + wrong[-1])))
    return np.array(accuracies)
