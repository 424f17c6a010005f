"""Scores of prediction intervals, quantiles and prediction sets: coverage, width, interval score, pinball loss."""

from __future__ import annotations

import math

import numpy as np

from evalreport.metrics.metric import MEAN_INTERVALS, PROPORTION_INTERVALS, SMOOTH_INTERVALS, Parameter
from evalreport.metrics.registry import Fields, mean_loss
from evalreport.metrics.views import ModelView
from evalreport.predictions.arrays import Floats, required
from evalreport.predictions.numbers import levels, limits_at, member_of, quantile_at, quantiles
from evalreport.texts import Message

LOSSES: Fields = {
    "tasks": ("intervals",),
    "needs": "intervals",
    "range": (0.0, math.inf),
    "intervals": ("hall_df", *MEAN_INTERVALS),
    "difference_interval": "t_or_hall",
}
SHARES: Fields = {"intervals": ("t", *PROPORTION_INTERVALS, *SMOOTH_INTERVALS), "greater_is_better": True}
GNEITING = "Gneiting and Raftery (2007), JASA 102:359"


def _truth(view: ModelView) -> Floats:
    return np.asarray(view.true, dtype=np.float64)


def _limits(view: ModelView, at: float) -> tuple[Floats, Floats]:
    limits = required(limits_at(view.numbers, at))
    return limits


@mean_loss(
    "Weighted interval score",
    "mean (|y - median| / 2 + sum (1 - level) / 2 interval score) / (K + 1/2); without a median over K",
    **LOSSES,
    losses=Message("losses.interval"),
    less_moved="mean_pinball",
    headline=True,
    source="Bracher, Ray, Gneiting and Reich (2021), PLOS Comput Biol 17:e1008618",
)
def wis(view: ModelView) -> Floats:
    """Mean interval score of all levels, each weighted by half of what it leaves out, and of the median where given.

    Of many levels it is near the integral of the pinball loss over all quantiles (CRPS).
    """
    named_levels = levels(view.numbers)
    total = np.sum([(1 - level) / 2 * interval_score(view, level) for level in named_levels], axis=0)
    median = quantile_at(view.numbers, 0.5)
    if median is None:
        return np.asarray(total / len(named_levels))
    return np.asarray((np.abs(_truth(view) - median) / 2 + total) / (len(named_levels) + 0.5))


def _at_level(begins: str, label: str) -> Fields:
    return {"numbered": Parameter(begins, "level", label, example="0.9"), "headline": True}


@mean_loss(
    "Interval score",
    "mean ((high - low) + 2 / (1 - level) (distance of the truth from the interval))",
    **LOSSES,
    **_at_level("interval_score", "Interval score at {x}"),
    losses=Message("losses.interval"),
    source=f"Winkler (1972), JASA 67:187; {GNEITING}, equation 43",
)
def interval_score(view: ModelView, at: float) -> Floats:
    """Mean width of the intervals, and a penalty for each true value outside, the larger the higher the level."""
    (low, high), y = _limits(view, at), _truth(view)
    beyond = np.maximum(low - y, 0) + np.maximum(y - high, 0)
    return np.asarray((high - low) + 2 / (1 - at) * beyond)


@mean_loss(
    "Coverage of intervals",
    "share of low <= y <= high",
    **{**LOSSES, **SHARES, "range": (0.0, 1.0), "difference_interval": "t"},
    **_at_level("coverage", "Coverage at {x}"),
    traded=True,
)
def interval_coverage(view: ModelView, at: float) -> Floats:
    """Share of the true values that lie in their intervals. It should be the level, neither more nor less."""
    (low, high), y = _limits(view, at), _truth(view)
    return np.asarray((low <= y) & (y <= high), dtype=np.float64)


@mean_loss(
    "Interval width",
    "mean (high - low)",
    **LOSSES,
    **_at_level("interval_width", "Interval width at {x}"),
    traded=True,
)
def interval_width(view: ModelView, at: float) -> Floats:
    """Mean width of the intervals, in the target's units: of intervals that hold what they say, narrower is better."""
    low, high = _limits(view, at)
    return np.asarray(high - low)


@mean_loss(
    "Mean pinball loss",
    "mean over quantiles q at tau of (y - q) (tau - [y < q])",
    **{**LOSSES, "needs": "quantiles"},
    losses=Message("losses.pinball"),
    headline=True,
    source="Koenker and Bassett (1978), Econometrica 46:33",
)
def mean_pinball(view: ModelView) -> Floats:
    """Pinball loss, averaged over the quantiles that the model gives."""
    return np.asarray(np.mean([pinball(view, q) for q in quantiles(view.numbers)], axis=0))


@mean_loss(
    "Pinball loss",
    "mean (y - q) (tau - [y < q])",
    **{**LOSSES, "needs": "quantiles"},
    numbered=Parameter("pinball", "q", "Pinball loss at {x}"),
    losses=Message("losses.pinball"),
    source="Koenker and Bassett (1978), Econometrica 46:33",
)
def pinball(view: ModelView, at: float) -> Floats:
    """Distance of the truth from a quantile, weighted by tau above it and by 1 - tau below."""
    quantile, y = quantile_at(view.numbers, at), _truth(view)
    assert quantile is not None
    return np.asarray((y - quantile) * (at - (y < quantile)))


# --- prediction sets --------------------------------------------------------------------------------------------------

SETS: Fields = {"tasks": ("sets",), "needs": "sets", "headline": True, "traded": True}


@mean_loss("Coverage", "share of the true classes in their sets", **SETS, **SHARES, range=(0.0, 1.0))
def coverage(view: ModelView) -> Floats:
    """Share of the examples whose true class is in the prediction set."""
    members = np.column_stack([view.numbers[member_of(k)] for k in range(len(view.numbers))])
    return np.asarray(
        np.take_along_axis(members, np.asarray(view.true)[:, None].astype(np.intp), axis=1)[:, 0]
    )


@mean_loss("Set size", "mean number of classes in a set", **SETS, range=(0.0, math.inf))
def set_size(view: ModelView) -> Floats:
    """Mean number of classes in a prediction set: of sets that hold what they say, smaller is better."""
    return np.asarray(np.sum([view.numbers[member_of(k)] for k in range(len(view.numbers))], axis=0))
