"""Label metrics: functions of counts (TP, FP, FN, TN), or of the margins of the whole confusion table.

Sources: the definitions are scikit-learn's where it has the name (Pedregosa et al. 2011); 0/0 is nan here and
becomes 0 with its reason where a value is reported (the field's convention).
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from evalreport.engine.counts import Counts, are_whole, without_rounding
from evalreport.engine.distributions import Array, ratio
from evalreport.metrics.metric import PROPORTION_INTERVALS, TABLE_INTERVALS
from evalreport.metrics.registry import Fields, binary_table, table
from evalreport.metrics.views import ModelView
from evalreport.predictions.arrays import Floats
from evalreport.predictions.numbers import COUNTED
from evalreport.texts import Message, has


def _right(right: float, n: float) -> tuple[float, float]:
    return right, n


def _wrong(right: float, n: float) -> tuple[float, float]:
    return n - right, n


def _right_labels(view: ModelView) -> Floats:
    """1 for each example whose predicted label is the true one, else 0, (n,)."""
    return np.asarray(view.y_pred == view.true, dtype=np.float64)


def _balanced_accuracy_of_counts(c: Counts) -> Array:
    return np.asarray((ratio(c.tp, c.tp + c.fn) + ratio(c.tn, c.tn + c.fp)) / 2)


def _mcc_of_counts(c: Counts) -> Array:
    product = (c.tp + c.fp) * (c.tp + c.fn) * (c.tn + c.fp) * (c.tn + c.fn)
    return ratio(c.tp * c.tn - c.fp * c.fn, np.sqrt(product))


@table(
    "Accuracy",
    "right / n",
    sums=(*COUNTED, "tn"),
    proportion=_right,
    test="mcnemar_midp",
    per_example=_right_labels,
    of_counts=lambda c: ratio(c.tp + c.tn, c.tp + c.fp + c.fn + c.tn),
    share_of_right=True,
    iso_slope="counts",
    headline=True,
    between_groups=True,
)
def accuracy(margins: Array) -> Array:
    """Share of examples whose predicted class is the true class."""
    return ratio(margins[..., 0, :].sum(-1), margins[..., 1, :].sum(-1))


@table(
    "Error rate",
    "wrong / n",
    greater_is_better=False,
    proportion=_wrong,
    test="mcnemar_midp",
    per_example=lambda view: 1.0 - _right_labels(view),
    iso_slope="counts",
)
def error_rate(margins: Array) -> Array:
    """Share of examples whose predicted class is not the true class."""
    return np.asarray(1 - accuracy(margins))


def _class_recalls(margins: Array) -> tuple[Array, Array]:
    """Recall of each class, 0 where the truth does not hold it, and which classes it holds."""
    held = margins[..., 1, :].real > 0
    return np.where(held, margins[..., 0, :] / np.where(held, margins[..., 1, :], 1), 0), held


@table(
    "Balanced accuracy",
    "mean of the class recalls",
    test="score_recalls",
    recall_slope=1.0,
    of_counts=_balanced_accuracy_of_counts,
    iso_slope="rates",
)
def balanced_accuracy(margins: Array) -> Array:
    """Mean of the class recalls, over the classes that the truth holds."""
    recalls, held = _class_recalls(margins)
    return ratio(recalls.sum(-1), held.sum(-1))


@table(
    "Mean per-class error",
    "mean of (1 - class recall)",
    greater_is_better=False,
    test="score_recalls",
    recall_slope=-1.0,
)
def mean_per_class_error(margins: Array) -> Array:
    """Mean of the class error rates, over the classes that the truth holds."""
    return np.asarray(1 - balanced_accuracy(margins))


@table(
    "MCC",
    "(right n - sum true_k predicted_k) / sqrt((n^2 - sum predicted_k^2) (n^2 - sum true_k^2))",
    range=(-1.0, 1.0),
    undefined=Message("undefined.mcc"),
    of_counts=_mcc_of_counts,
    headline=True,
    source="Gorodkin (2004), Comput Biol Chem 28:367, equation 8; Matthews (1975) for two classes",
)
def mcc(margins: Array) -> Array:
    """Matthews correlation: the correlation of true and predicted class."""
    right, true, predicted = margins[..., 0, :].sum(-1), margins[..., 1, :], margins[..., 2, :]
    n = true.sum(-1)
    spreads = [n**2 - (margin**2).sum(-1) for margin in (true, predicted)]
    if not are_whole(margins):
        spreads = [without_rounding(spread, n**2) for spread in spreads]
    product = spreads[0] * spreads[1]
    # A spread of exactly 0 is undefined; rounding may leave a tiny negative one, so it is cut there first.
    root = np.sqrt(np.where(product.real > 0, product, 1))
    return ratio(right * n - (true * predicted).sum(-1), np.where(product.real > 0, root, 0))


CHANCE_CORRECTED: Fields = {"range": (-1.0, 1.0), "undefined": Message("undefined.chance")}


def _chance_corrected(margins: Array, squares: Array, times: int) -> Array:
    """Return (p_o - p_e) / (1 - p_e), where p_e is the sum of products over (times n)^2."""
    chance = ratio(squares.sum(-1), (times * margins[..., 1, :].sum(-1)) ** 2)
    rest = 1 - chance
    return ratio(accuracy(margins) - chance, rest if are_whole(margins) else without_rounding(rest, 1.0))


@table(
    "Cohen's kappa",
    "(p_o - p_e) / (1 - p_e), p_e = sum true_k predicted_k / n^2",
    **CHANCE_CORRECTED,
    source="Cohen (1960), Educ Psychol Meas 20:37",
)
def cohen_kappa(margins: Array) -> Array:
    """Agreement beyond what the two margins would give by chance."""
    return _chance_corrected(margins, margins[..., 1, :] * margins[..., 2, :], 1)


@table(
    "Scott's pi",
    "(p_o - p_e) / (1 - p_e), p_e = sum ((true_k + predicted_k) / 2n)^2",
    **CHANCE_CORRECTED,
    source="Scott (1955), Public Opin Q 19:321",
)
def scott_pi(margins: Array) -> Array:
    """Agreement beyond chance, with chance from the pooled margins."""
    return _chance_corrected(margins, (margins[..., 1, :] + margins[..., 2, :]) ** 2, 2)


Parts = tuple[Array, Array]
ShareOf = Callable[[Counts], Parts]


def _share(label: str, formula: str, **fields: object) -> Callable[[ShareOf], Callable[[Counts], Array]]:
    """Register a share of successes in trials, which the function gives; it counts one kind of error only.

    Where the catalogue says under its name when it is undefined, that is its reason.
    """

    def _decorate(parts: ShareOf) -> Callable[[Counts], Array]:
        def value(c: Counts) -> Array:
            return ratio(*parts(c))

        reason = f"undefined.{parts.__name__}"
        usual = {"one_sided": True, **({"undefined": Message(reason)} if has(reason) else {})}
        binary_table(label, formula, function=value, proportion=parts, **{**usual, **fields})(parts)
        return value

    return _decorate


@_share("Precision", "TP / (TP + FP)", sums=COUNTED, test="score_precision", micro_is_accuracy=True)
def precision(c: Counts) -> Parts:
    """Share of the positive predictions that are right."""
    return c.tp, c.tp + c.fp


@_share(
    "Recall",
    "TP / (TP + FN)",
    sums=COUNTED,
    between_groups=True,
    test="mcnemar_midp",
    recall_slope=1.0,
    micro_is_accuracy=True,
)
def recall(c: Counts) -> Parts:
    """Share of the positive examples that are found (sensitivity, true positive rate)."""
    return c.tp, c.tp + c.fn


@_share("Specificity", "TN / (TN + FP)", sums=(*COUNTED, "tn"), test="mcnemar_midp", negatives="truth")
def specificity(c: Counts) -> Parts:
    """Share of the negative examples that are predicted negative (true negative rate)."""
    return c.tn, c.tn + c.fp


@_share("NPV", "TN / (TN + FN)", test="score_precision", negatives="answers")
def npv(c: Counts) -> Parts:
    """Share of the negative predictions that are right (negative predictive value)."""
    return c.tn, c.tn + c.fn


@_share(
    "False positive rate", "FP / (FP + TN)", test="mcnemar_midp", greater_is_better=False, negatives="truth"
)
def fpr(c: Counts) -> Parts:
    """Share of the negative examples that are predicted positive (fall-out, false acceptance rate)."""
    return c.fp, c.fp + c.tn


@_share(
    "False negative rate", "FN / (FN + TP)", greater_is_better=False, test="mcnemar_midp", recall_slope=-1.0
)
def fnr(c: Counts) -> Parts:
    """Share of the positive examples that are missed (miss rate, false rejection rate)."""
    return c.fn, c.fn + c.tp


def f_beta(c: Counts, *, beta: float) -> Array:
    """Return F_beta, the weighted harmonic mean of precision P and recall R.

    F = 1 / (alpha / P + (1 - alpha) / R) = (1 + beta^2) P R / (beta^2 P + R), with alpha = 1 / (1 + beta^2).
    Recall counts beta times as much as precision: beta < 1 favours precision, beta > 1 recall.

    Parameters
    ----------
    c
        Counts of a class against the rest, arrays of one shape.
    beta
        At least 0; 0 gives precision, infinity recall.

    Returns
    -------
    array of the shape of the counts
        nan where the denominator alpha (TP + FP) + (1 - alpha) (TP + FN) is 0.

    References
    ----------
    van Rijsbergen (1979), Information Retrieval, chapter 7, equation for E = 1 - F.

    Examples
    --------
    >>> counts = Counts(*np.array([6.0, 12.0, 2.0, 130.0]))
    >>> [round(float(f_beta(counts, beta=b)), 4) for b in (0, 0.5, 1, 2, np.inf)]
    [0.3333, 0.375, 0.4615, 0.6, 0.75]
    """
    alpha = 1 / (1 + beta**2)
    return ratio(c.tp, alpha * (c.tp + c.fp) + (1 - alpha) * (c.tp + c.fn))


@binary_table(
    "F1",
    "2 TP / (2 TP + FP + FN)",
    sums=COUNTED,
    test="score_f1",
    monotone_of=("jaccard", lambda j: 2 * j / (1 + j)),
    micro_is_accuracy=True,
    headline=True,
    figures=("count-sets", "f1-at-recall"),
    undefined=Message("undefined.f1"),
    source="van Rijsbergen (1979), Information Retrieval, chapter 7",
)
def f1(c: Counts) -> Array:
    """Harmonic mean of precision and recall."""
    return f_beta(c, beta=1.0)


@binary_table(
    "F0.5", "1.25 TP / (1.25 TP + 0.25 FN + FP)", sums=COUNTED, undefined=Message("undefined.f_beta")
)
def f0_5(c: Counts) -> Array:
    """Weighted harmonic mean of precision and recall in which precision counts twice as much."""
    return f_beta(c, beta=0.5)


@binary_table("F2", "5 TP / (5 TP + 4 FN + FP)", sums=COUNTED, undefined=Message("undefined.f_beta"))
def f2(c: Counts) -> Array:
    """Weighted harmonic mean of precision and recall in which recall counts twice as much."""
    return f_beta(c, beta=2.0)


@_share(
    "Jaccard index",
    "TP / (TP + FP + FN)",
    sums=COUNTED,
    test="score_f1",
    intervals=(*TABLE_INTERVALS, *PROPORTION_INTERVALS),
    undefined=Message("undefined.f1"),
    one_sided=False,
)
def jaccard(c: Counts) -> Parts:
    """Positives found, among those that are positive or predicted positive."""
    return c.tp, c.tp + c.fp + c.fn


TWO_CLASSES: Fields = {"tasks": ("binary",), "averages": ()}


def _n(c: Counts) -> Array:
    return c.tp + c.fp + c.fn + c.tn


@binary_table(
    "Informedness",
    "TP / (TP + FN) + TN / (TN + FP) - 1",
    test="score_recalls",
    iso_slope="rates",
    criterion="youden",
    negatives="truth",
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
    negatives="answers",
    range=(-1.0, 1.0),
    undefined=Message("undefined.markedness"),
    source="Powers (2011), J Mach Learn Technol 2:37",
)
def markedness(c: Counts) -> Array:
    """Precision plus negative predictive value minus one: how much a prediction says about the truth.

    Undefined where all predictions are of one class.
    """
    return np.asarray(precision(c) + npv(c) - 1)


@_share("Prevalence", "(TP + FN) / n", greater_is_better=None, **TWO_CLASSES)
def prevalence(c: Counts) -> Parts:
    """Share of the examples that are positive; the same for every model, and always defined."""
    return c.tp + c.fn, _n(c)


@_share("Selection rate", "(TP + FP) / n", greater_is_better=None, between_groups=True, **TWO_CLASSES)
def selection_rate(c: Counts) -> Parts:
    """Share of the examples that are predicted positive."""
    return c.tp + c.fp, _n(c)


@_share(
    "Support (predicted positive => positive)",
    "TP / n",
    greater_is_better=None,
    source="Agrawal, Imielinski and Swami (1993), SIGMOD, section 2",
    **TWO_CLASSES,
)
def rule_support(c: Counts) -> Parts:
    """Support of the rule "predicted positive => positive": the share of the examples that are both."""
    return c.tp, _n(c)


@_share(
    "Confidence (predicted positive => positive)",
    "TP / (TP + FP)",
    test="score_precision",
    undefined=Message("undefined.precision"),
    source="Agrawal, Imielinski and Swami (1993), SIGMOD, section 2",
    **TWO_CLASSES,
)
def rule_confidence(c: Counts) -> Parts:
    """Confidence of the rule "predicted positive => positive": the precision under its name in rule mining."""
    return c.tp, c.tp + c.fp


@binary_table(
    "Lift (predicted positive => positive)",
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


@table("Macro accuracy", "mean over classes of (TP_k + TN_k) / n", tasks=("multiclass",))
def macro_accuracy(margins: Array) -> Array:
    """Mean of the one-vs-rest accuracies of the classes; equal to their micro average, and above the accuracy.

    Every wrong example is a false positive of one class and a false negative of another, so it is
    1 - 2 (1 - accuracy) / K.
    """
    right, true, predicted = margins[..., 0, :], margins[..., 1, :], margins[..., 2, :]
    n = true.sum(-1)[..., None]
    return np.asarray(ratio(n - true - predicted + 2 * right, n).mean(-1))
