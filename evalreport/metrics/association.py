"""How truth and prediction go together: informedness, markedness, and "predicted positive => positive" as a rule."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from evalreport.engine.derivative import ratio
from evalreport.engine.tables import Counts
from evalreport.metrics.labels import npv, precision, recall, specificity
from evalreport.metrics.registry import binary_table, table
from evalreport.texts import Message

Array = npt.NDArray[Any]

TWO_CLASSES: dict[str, Any] = {"tasks": ("binary",), "averages": ()}


def _n(c: Counts) -> Array:
    return c.tp + c.fp + c.fn + c.tn


@binary_table(
    "Informedness",
    "TP / (TP + FN) + TN / (TN + FP) - 1",
    iso_slope="rates",
    criterion="youden",
    range=(-1.0, 1.0),
    undefined=Message("undefined.informedness"),
    source="Youden (1950), Cancer 3:32; Powers (2011), J Mach Learn Technol 2:37",
)
def informedness(c: Counts) -> Array:
    """Recall plus specificity minus one (Youden's J): 0 for guessing at any rate, 1 for no error.

    Undefined where the truth holds one class only.

    Examples
    --------
    >>> round(float(informedness(Counts(*np.array([6.0, 12.0, 2.0, 130.0])))), 6)
    0.665493
    """
    return np.asarray(recall(c) + specificity(c) - 1)


@binary_table(
    "Markedness",
    "TP / (TP + FP) + TN / (TN + FN) - 1",
    range=(-1.0, 1.0),
    undefined=Message("undefined.markedness"),
    source="Powers (2011), J Mach Learn Technol 2:37",
)
def markedness(c: Counts) -> Array:
    """Precision plus negative predictive value minus one: how much a prediction says about the truth.

    Undefined where all predictions are of one class.
    """
    return np.asarray(precision(c) + npv(c) - 1)


@binary_table(
    "Prevalence",
    "(TP + FN) / n",
    greater_is_better=None,
    proportion=lambda c: (c.tp + c.fn, _n(c)),
    one_sided=True,
    **TWO_CLASSES,
)
def prevalence(c: Counts) -> Array:
    """Share of the examples that are positive; the same for every model, and always defined."""
    return ratio(c.tp + c.fn, _n(c))


@binary_table(
    "Rule support",
    "TP / n",
    greater_is_better=None,
    proportion=lambda c: (c.tp, _n(c)),
    one_sided=True,
    source="Agrawal, Imielinski and Swami (1993), SIGMOD, section 2",
    **TWO_CLASSES,
)
def rule_support(c: Counts) -> Array:
    """Support of the rule "predicted positive => positive": the share of the examples that are both."""
    return ratio(c.tp, _n(c))


@binary_table(
    "Rule confidence",
    "TP / (TP + FP)",
    proportion=lambda c: (c.tp, c.tp + c.fp),
    one_sided=True,
    undefined=Message("undefined.precision"),
    source="Agrawal, Imielinski and Swami (1993), SIGMOD, section 2",
    **TWO_CLASSES,
)
def rule_confidence(c: Counts) -> Array:
    """Confidence of the rule "predicted positive => positive": the precision under its name in rule mining."""
    return np.asarray(precision(c))


@binary_table(
    "Rule lift",
    "(TP / (TP + FP)) / ((TP + FN) / n)",
    range=(0.0, float("inf")),
    one_sided=True,
    undefined=Message("undefined.rule_lift"),
    source="Brin, Motwani, Ullman and Tsur (1997), SIGMOD, there called interest",
    **TWO_CLASSES,
)
def rule_lift(c: Counts) -> Array:
    """Lift of the rule "predicted positive => positive": how many times more precise than guessing.

    1 for guessing, at most 1 / prevalence. Undefined where the precision or the prevalence is 0/0 or the latter 0.

    Examples
    --------
    >>> float(rule_lift(Counts(*np.array([50.0, 450.0, 50.0, 450.0]))))
    1.0
    """
    return ratio(precision(c), prevalence(c))


@table(
    "Macro accuracy",
    "mean over classes of (TP_k + TN_k) / n",
    tasks=("multiclass",),
)
def macro_accuracy(margins: Array) -> Array:
    """Mean of the one-vs-rest accuracies of the classes; equal to their micro average, and above the accuracy.

    Every wrong example is a false positive of one class and a false negative of another, so it is
    1 - 2 (1 - accuracy) / K.
    """
    right, true, predicted = margins[..., 0, :], margins[..., 1, :], margins[..., 2, :]
    n = true.sum(-1)[..., None]
    return np.asarray(ratio(n - true - predicted + 2 * right, n).mean(-1))
