"""The primary metric of a run that names none: chosen by the truth and the kinds of columns, never by outcomes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np

from evalreport.metrics.registry import JUDGED, PRIMARY
from evalreport.metrics.sums import summed_names
from evalreport.options import Options
from evalreport.predictions.arrays import Floats, required
from evalreport.predictions.numbers import ERRORS, levels, quantiles
from evalreport.predictions.table import ModelOutputs, Predictions
from evalreport.samplings import sampling_of
from evalreport.texts import Message, Text

UNEVEN = 0.8
"""Where the largest class holds this share, a constant answer has a high accuracy."""
RARE = 0.25
"""A class with less than this part of an even share is rare."""

Why = Literal[
    "usual",
    "named",
    "threshold",
    "uneven",
    "rare",
    "scores_alone",
    "judged",
    "of_series",
    "blocked",
    "ordered",
]


@dataclass(frozen=True, slots=True)
class Primary:
    """The default primary metric and why it is that one.

    Attributes
    ----------
    metric
        Its name; None where no metric is given by two models: some give labels only, the others none.
    usual
        The metric that a run of the task has otherwise.
    share
        Share of the largest class, by weight; None without classes.
    """

    metric: str | None
    usual: str
    why: Why
    share: float | None = None

    @property
    def because(self) -> Text | None:
        """Why it is this metric and not the usual one, for the line below the headline."""
        if self.why in ("usual", "blocked", "judged"):
            return None
        return Message(f"primary.{self.why}", share=self.share)

    @property
    def usual_unless_primary(self) -> str | None:
        """The usual metric of the task, where another one was taken."""
        return None if self.usual == self.metric else self.usual


def default_primary(predictions: Predictions, options: Options, *, of_series: str | None) -> Primary:
    """Return the primary metric where none is named.

    Two classes: ROC AUC where every model gives scores and either some model gives no labels of its own or the larger
    class holds 80 % or more; else balanced accuracy where the larger class holds 80 % or more; else accuracy. Several
    classes: balanced accuracy where the largest class holds 80 % or more or the rarest less than a quarter of an even
    share; else accuracy. Where some models give labels only and others none: ROC AUC among those with scores, where
    these are two or more.
    """
    usual = _of_numbers(predictions) or PRIMARY[predictions.task]
    if predictions.task == "sets":
        return Primary(None, usual, "blocked")
    if of_series is not None:
        return Primary(of_series, usual, "of_series")
    ordered = predictions.labels.in_order and not predictions.outside
    if ordered and all(has_labels(m, options) for m in predictions.models):
        return Primary("quadratic_kappa", usual, "ordered")
    if predictions.has_gold:
        return Primary(JUDGED, usual, "judged")
    if predictions.task not in ("binary", "multiclass") or predictions.y_true is None:
        return Primary(usual, usual, "usual")
    shares = class_shares(predictions, options)
    largest = float(shares.max()) if len(shares) else 1.0
    models = predictions.models
    ranks = [m.name for m in models if _ranks(predictions, m)]
    labels = [m.name for m in models if has_labels(m, options)]
    if predictions.task == "binary" and len(ranks) == len(models) and len(labels) < len(models):
        return Primary("roc_auc", usual, "threshold", largest)
    if predictions.task == "binary" and len(ranks) == len(models) and largest >= UNEVEN:
        return Primary("roc_auc", usual, "uneven", largest)
    if len(labels) < len(models):
        if predictions.task == "binary" and len(ranks) >= 2:
            return Primary("roc_auc", usual, "scores_alone", largest)
        return Primary(None, usual, "blocked", largest)
    if largest >= UNEVEN:
        return Primary("balanced_accuracy", usual, "uneven", largest)
    held = shares[shares > 0]
    if predictions.task == "multiclass" and len(held) and held.min() < RARE / len(shares):
        return Primary("balanced_accuracy", usual, "rare", largest)
    return Primary(usual, usual, "usual", largest)


def _of_numbers(predictions: Predictions) -> str | None:
    """Return the usual metric of sums of errors, and of intervals and quantiles; None of everything else."""
    numbers = predictions.models[0].numbers
    if predictions.task == "sums" and set(ERRORS) <= summed_names(numbers):
        return "error_ratio"
    if predictions.task != "intervals":
        return None
    of_quantiles, named_levels = bool(quantiles(numbers)), levels(numbers)
    if of_quantiles or len(named_levels) > 1:
        return "wis" if named_levels else "mean_pinball"
    return f"interval_score[level={named_levels[0]:.12g}]"


def has_labels(model: ModelOutputs, options: Options) -> bool:
    """Say whether a model's labels are its own, or those of a threshold that was named."""
    return model.y_pred is not None and (not model.cut_at_half or options.threshold is not None)


def _ranks(predictions: Predictions, model: ModelOutputs) -> bool:
    sums = predictions.scores
    return model.score is not None or (sums is not None and sums.holds("roc_auc", model.name))


def class_shares(predictions: Predictions, options: Options) -> Floats:
    """Return the share of each class (K,), by weight where there are weights."""
    units = sampling_of(predictions, cluster=None, weight=options.weight)
    k = len(predictions.classes)
    counts = np.bincount(required(predictions.y_true), weights=units.heavy, minlength=k).astype(float)
    total = counts.sum()
    return counts / total if total else counts
