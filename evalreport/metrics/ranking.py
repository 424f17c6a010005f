"""Rank metrics: functions of the weights (g, ...) of positives and negatives in each group of ties, best first."""

from __future__ import annotations

import numpy as np

from evalreport.engine.distributions import Array, ratio
from evalreport.engine.ranks import Areas, ClassRanks, RankedWeights, by_class, class_ranks, placements, total
from evalreport.metrics.evidence import AtThreshold, EqualErrors
from evalreport.metrics.metric import PROPORTION_INTERVALS, SMOOTH_INTERVALS, Chosen
from evalreport.metrics.registry import Fields, affine, at_corners, ranking, rows
from evalreport.metrics.views import ModelView
from evalreport.predictions.arrays import Floats, Indices, Mask, required
from evalreport.texts import Message


def _won(weights: RankedWeights) -> Array:
    """Return the weight of the pairs of a positive and a negative that the positive wins, ties counting one half."""
    positives, above = weights.positives, weights.wrong
    ties = total(positives, weights.negatives) / 2
    return np.asarray(weights.hits[-1] * above[-1] - total(positives, above) + ties)


def _roc_auc_derivative(positives: Floats, negatives: Floats) -> tuple[Floats, Floats]:
    """DeLong's placements, centred: (V10 - AUC) / P and (V01 - AUC) / N, (g, ...) each."""
    weights = RankedWeights(positives, negatives)
    hits, wrong = weights.hits, weights.wrong
    p, n = hits[-1], wrong[-1]
    auc = _won(weights) / (p * n)
    # Shares are divided, so that those of a perfect and of a constant model are 1 and 1/2 exactly.
    beaten, above = (negatives / 2 - wrong + n) / n, (hits - positives / 2) / p
    return (beaten - auc) * (1 / p), (above - auc) * (1 / n)


@ranking(
    "ROC AUC",
    "P(score of a positive > score of a negative) + P(tie) / 2",
    derivative=_roc_auc_derivative,
    area="roc",
    uninformed=0.5,
    headline=True,
    intervals=("logit", "newcombe_auc", "delong", *SMOOTH_INTERVALS),
    difference_interval="plus_delong",
    undefined=Message("undefined.one_class"),
    source="DeLong, DeLong and Clarke-Pearson (1988), Biometrics 44:837, equation 1",
)
def roc_auc(weights: RankedWeights) -> Array:
    """Probability that a positive example is scored above a negative one, ties counting one half."""
    return ratio(_won(weights), weights.hits[-1] * weights.wrong[-1])


@affine("Gini coefficient", "2 AUC - 1", of="roc_auc")
def gini(auc: float) -> float:
    """Gini coefficient of the ranking (accuracy ratio): 0 for a random order, 1 for a perfect one."""
    return 2 * auc - 1


def _average_precision_derivative(positives: Floats, negatives: Floats) -> tuple[Floats, Floats]:
    """Closed form by suffix sums over the groups at or below the example's own."""
    weights = RankedWeights(positives, negatives)
    hits, wrong = weights.hits, weights.wrong
    p, value = hits[-1], average_precision(weights)
    called = np.where(weights.called > 0, weights.called, 1)
    each = positives / (called * called)
    won, lost = (np.cumsum((each * side)[::-1], axis=0)[::-1] for side in (wrong, hits))
    return (hits / called + won - value) / p, lost / -p


@ranking(
    "Average precision",
    "sum over thresholds of (R_k - R_(k-1)) P_k",
    derivative=_average_precision_derivative,
    area="precision_recall",
    mean_over_positives=True,
    headline=True,
    intervals=("ap_logit", *SMOOTH_INTERVALS),
    difference_interval="ap_mover",
    undefined=Message("undefined.no_positive"),
)
def average_precision(weights: RankedWeights) -> Array:
    """Mean of the precision at each positive example, taken over the distinct thresholds (step sum)."""
    return ratio(total(weights.positives, weights.precision), weights.hits[-1])


def _at(values: Array, groups: Indices) -> Array:
    """Return the values (...) of one group each, out of (g, ...)."""
    return np.asarray(values[groups] if values.ndim == 1 else values[groups, np.arange(values.shape[1])])


# --- areas under parts of the curves --------------------------------------------------------------------------------

MOST_FALSE_POSITIVES = 0.1
"""The partial area is taken over false positive rates from 0 to here."""


def _included(weights: RankedWeights) -> tuple[Array, Array]:
    """Return each group's share inside the range of false positive rates, and its negatives there.

    Both are (k, ...): behind the first k of the g groups the range has ended.
    """
    allowed = MOST_FALSE_POSITIVES * weights.wrong[-1]
    k = 1 + np.count_nonzero((weights.wrong < allowed).reshape(len(weights.wrong), -1).any(axis=1))
    negatives = weights.negatives[:k]
    inside = np.clip(allowed - (weights.wrong[:k] - negatives), 0, negatives)
    return inside / np.where(negatives > 0, negatives, 1), inside


def _standardised(area: Array) -> Array:
    """McClish's scale: 1/2 for guessing, 1 for a perfect start of the curve."""
    c = MOST_FALSE_POSITIVES
    return np.asarray((1 + (area - c * c / 2) / (c - c * c / 2)) / 2)


def _partial_auc_derivative(positives: Floats, negatives: Floats) -> tuple[Floats, Floats]:
    """Closed form: the area is a sum of trapezoids, and another negative shifts where the range ends."""
    c, p, n = MOST_FALSE_POSITIVES, positives.sum(), negatives.sum()
    weights = RankedWeights(positives, negatives)
    share, inside = _included(weights)
    first = positives[: len(inside)]
    before = weights.hits[: len(inside)] - first
    area = float((inside * (before + share * first / 2)).sum())
    by_positive = np.zeros(len(positives))
    by_positive[: len(inside)] = inside.sum() - np.cumsum(inside) + inside * share / 2
    last = int(np.flatnonzero(inside > 0).max(initial=0))
    height = before[last] + share[last] * first[last]
    by_negative = np.full(len(negatives), c * height)
    by_negative[:last] += before[:last] + first[:last] / 2 - height
    by_negative[last] -= share[last] ** 2 * first[last] / 2
    scale = 2 * (c - c * c / 2) * p * n
    return (by_positive - area / p) / scale, (by_negative - area / n) / scale


@ranking(
    "Partial AUC",
    "A = area under the ROC curve for FPR in [0, 0.1]; (1 + (A - 0.005) / 0.095) / 2",
    derivative=_partial_auc_derivative,
    area="partial_roc",
    most_false_positives=MOST_FALSE_POSITIVES,
    intervals=("partial_auc_wilson", *SMOOTH_INTERVALS),
    difference_interval="partial_auc_mover",
    range=((1 - MOST_FALSE_POSITIVES / (2 - MOST_FALSE_POSITIVES)) / 2, 1.0),
    undefined=Message("undefined.one_class"),
    source="McClish (1989), Med Decis Making 9:190",
)
def partial_auc(weights: RankedWeights) -> Array:
    """Area under the ROC curve up to a false positive rate of 0.1, standardised: 0.5 for guessing, 1 at best.

    Straight lines join the points of the distinct thresholds, so the last piece may be cut inside a group of ties.
    Undefined where the truth holds one class only.
    """
    share, inside = _included(weights)
    # Of the group in which the range ends a share is inside, and of its positives that share is counted.
    positives = weights.positives[: len(inside)]
    heights = weights.hits[: len(inside)] - positives + share * positives / 2
    return _standardised(ratio(total(inside, heights), weights.hits[-1] * weights.wrong[-1]))


def _pr_auc_derivative(positives: Floats, negatives: Floats) -> tuple[Floats, Floats]:
    """Closed form: each precision carries half the recall gained before it and half the recall gained after it."""
    held = positives + negatives > 0
    p, gained, tp = positives.sum(), positives[held], np.cumsum(positives[held])
    called = tp + np.cumsum(negatives[held])
    precision = tp / called
    heights = (precision + np.concatenate([precision[:1], precision[:-1]])) / 2
    value = float((gained * heights).sum() / p)
    carried = gained / 2 + np.append(gained[1:], 0) / 2
    carried[0] += gained[0] / 2
    carried /= called * called
    won, lost = (np.cumsum((carried * side)[::-1])[::-1] for side in (called - tp, tp))
    by_positive, by_negative = np.zeros(len(positives)), np.zeros(len(positives))
    by_positive[held], by_negative[held] = (heights + won - value) / p, lost / -p
    return by_positive, by_negative


@ranking(
    "PR AUC (trapezoid)",
    "sum over thresholds of (R_k - R_(k-1)) (P_k + P_(k-1)) / 2, from (0, P_1)",
    derivative=_pr_auc_derivative,
    area="precision_recall",
    mean_over_positives=True,
    intervals=("pr_auc_logit", *SMOOTH_INTERVALS),
    difference_interval="pr_auc_mover",
    undefined=Message("undefined.no_positive"),
    source="Davis and Goadrich (2006), ICML, on why straight lines flatter the curve; Boyd, Eng and Page (2013)",
)
def pr_auc(weights: RankedWeights) -> Array:
    """Area under the precision-recall curve by trapezoids over the distinct thresholds; average precision is safer.

    It begins at recall 0 with the precision of the highest threshold. Straight lines between points in this plane
    are optimistic. Undefined where no example is positive.
    """
    positives, precision = weights.positives, weights.precision
    # A threshold above every drawn example has no precision: the first drawn one's holds from recall 0 on.
    first = (weights.called > 0).argmax(axis=0)
    heights = total(positives, precision) + total(positives[1:], precision[:-1])
    return ratio((heights + _at(positives, first) * _at(precision, first)) / 2, weights.hits[-1])


def _ranks(view: ModelView) -> ClassRanks:
    return class_ranks(required(view.true), required(view.proba))


RANKED: Fields = {
    "prepare": _ranks,
    "tasks": ("multiclass",),
    "needs": "probabilities",
    "by_ranks": True,
    "shown_with": "scores",
    "intervals": ("classes_logit", *SMOOTH_INTERVALS),
    "difference_interval": "classes_t",
}


def _averaged(areas: Areas, chosen: Chosen) -> Floats:
    if chosen.code is not None:
        return areas.rest[:, chosen.code]
    if chosen.average == "macro":
        return np.asarray(areas.rest.mean(axis=1))
    return np.asarray((areas.rest * areas.totals).sum(axis=1) / areas.totals.sum(axis=1))


def _against_rest_derivative(chosen: Chosen, weights: Floats) -> Floats:
    """Placements, centred, class by class; a weighted mean also moves with the classes' shares."""
    state: ClassRanks = chosen.state
    areas, by_row = state.areas(weights), np.ascontiguousarray(weights.T)
    totals, rest = areas.totals.T, areas.rest.T
    n = totals.sum(axis=0)
    slopes = np.zeros(by_row.shape)
    for k, column in state.held():
        share = {"macro": 1 / state.n_classes, "weighted": totals[k] / n}.get(
            chosen.average or "", float(k == chosen.code)
        )
        if np.any(share):
            p, others = totals[k], n - totals[k]
            won, lost = placements(column, by_row)
            slopes[column.positives] += share * (won / others - rest[k]) / p
            slopes[column.negatives] += share * (lost / p - rest[k]) / others
    if chosen.average == "weighted":
        slopes += (rest[state.true] - _averaged(areas, chosen)) / n
    return np.asarray(slopes.T)


@rows(
    "ROC AUC, one vs rest",
    "P(p_k of an example of class k > p_k of another) + P(tie) / 2, averaged over classes",
    averages=("macro", "weighted"),
    headline=True,
    derivative=_against_rest_derivative,
    undefined=Message("undefined.auc_ovr"),
    source="Provost and Domingos (2001), CeDER working paper IS-00-04; Fawcett (2006), section 9.2",
    **RANKED,
)
def roc_auc_ovr(chosen: Chosen, weights: Floats) -> Floats:
    """Probability that an example of a class gets more probability of it than one of another class, by class.

    Averaged over all classes evenly (macro) or by how often they occur (weighted); ties count one half.
    Undefined where the truth lacks a class; such bootstrap replicates are left out.
    """
    state: ClassRanks = chosen.state
    return _averaged(state.areas(weights), chosen)


def _against_each_derivative(state: ClassRanks, weights: Floats) -> Floats:
    """Sum over ordered pairs of the centred placements of the area of k against j."""
    areas, by_row = state.areas(weights), np.ascontiguousarray(weights.T)
    totals = areas.totals.T
    slopes, scale = np.zeros(by_row.shape), ratio(np.ones(by_row.shape), totals[state.true])
    others = state.n_classes - 1
    for k, column in state.held():
        won, lost = placements(column, by_row, scale)
        slopes[column.positives] += (won - areas.others[:, k] * others) / totals[k]
        lost = lost / totals[k]
        of_class = state.true[column.negatives]
        pair = by_class(of_class, state.n_classes) @ (lost * by_row[column.negatives])
        slopes[column.negatives] += lost - ratio(pair, totals)[of_class]
    return np.asarray((slopes / (state.n_classes * others)).T)


@rows(
    "ROC AUC, one vs one",
    "mean over ordered pairs (k, j) of P(p_k of class k > p_k of class j) + P(tie) / 2",
    derivative=_against_each_derivative,
    undefined=Message("undefined.auc_ovo"),
    source="Hand and Till (2001), Mach Learn 45:171, equation 7",
    **RANKED,
)
def roc_auc_ovo(state: ClassRanks, weights: Floats) -> Floats:
    """Area under the ROC curve, averaged evenly over all ordered pairs of classes: class shares do not matter.

    Ties count one half. Undefined where the truth lacks a class; such bootstrap replicates are left out.
    """
    return np.asarray(state.areas(weights).others.mean(axis=1))


FIRST = 10.0
"""How many examples the metrics ``..._at_10`` look at, each of mean weight: no unit of the weights matters."""


def _both_errors(weights: RankedWeights) -> EqualErrors:
    return EqualErrors(*(np.append(0.0, sums[:, 0]) for sums in (weights.hits, weights.wrong)))


def _near(weights: RankedWeights, called: float) -> tuple[float, float]:
    """Return the positives and negatives, one half more each, among the n^0.8 / 2 examples about a place."""
    above = weights.called[:, 0]
    half = above[-1] ** 0.8 / 4
    hits, wrong = (
        np.interp([called - half, called + half], np.append(0, above), np.append(0, sums[:, 0]))
        for sums in (weights.hits, weights.wrong)
    )
    return float(hits[1] - hits[0]) + 0.5, float(wrong[1] - wrong[0]) + 0.5


@at_corners(
    "Equal error rate",
    "FPR where the ROC polygon meets FPR = 1 - TPR",
    closed=_both_errors,
    greater_is_better=False,
    undefined=Message("undefined.one_class"),
    least_of_a_class=20,
)
def eer(weights: RankedWeights) -> Floats:
    """Error rate at the point of the ROC curve where positives and negatives are mistaken equally often.

    The point is interpolated between two thresholds, where FPR = FNR = 1 - TPR. Undefined where the
    truth holds one class only.
    """
    p, n = (np.where(sums[-1] == 0, np.nan, sums[-1]) for sums in (weights.hits, weights.wrong))

    def beyond(found: Floats, wrong: Floats) -> Floats:
        """FPR + TPR - 1, which rises from -1 to 1 along the curve, and is 0 at the point."""
        return np.asarray(wrong / n + found / p - 1)

    (f0, w0), (f1, w1) = _corners(weights, beyond(weights.hits, weights.wrong) >= 0)
    h0, h1 = beyond(f0, w0), beyond(f1, w1)
    before, after = w0 / n, w1 / n
    return np.asarray(before + (after - before) * ratio(-h0, h1 - h0))


def _corners(weights: RankedWeights, reached: Mask) -> tuple[tuple[Floats, Floats], tuple[Floats, Floats]]:
    """Return (found, wrong), (b,) each, at the last corner before something is reached and at the first after it.

    ``reached``: (g, b), true from some group on.
    """
    sides = weights.hits, weights.wrong
    index = np.minimum((~reached).sum(axis=0), len(reached) - 1)
    hits, wrong = (np.where(index > 0, _at(sums, np.maximum(index - 1, 0)), 0.0) for sums in sides)
    return (hits, wrong), (_at(weights.hits, index), _at(weights.wrong, index))


@at_corners(
    "Best accuracy",
    "max over thresholds t of the accuracy of score >= t",
    resampled=False,
    best_of="accuracy",
    intervals=("rechosen",),
    difference_interval="",
    no_test=Message("no_test.chosen_threshold"),
)
def max_accuracy(weights: RankedWeights) -> Floats:
    """Highest accuracy that any threshold reaches, all and no example predicted positive included.

    It is chosen on the data that it is measured on, so it flatters: the accuracy at a threshold fixed beforehand
    is lower.
    """
    right = np.maximum((weights.hits - weights.wrong).max(axis=0), 0.0)
    return ratio(right + weights.wrong[-1], weights.called[-1])


@at_corners(
    "KS distance",
    "max over thresholds t of |TPR - FPR| of score >= t",
    resampled=False,
    no_interval=Message("no_interval.ks"),
    intervals=(),
    difference_interval="",
    undefined=Message("undefined.one_class"),
    source="Smirnov (1939), Bull Univ Moscou 2:3; as credit scoring uses it: Hand and Henley (1997), JRSS A 160:523",
)
def ks(weights: RankedWeights) -> Floats:
    """Largest distance between the score distributions of positives and negatives (Kolmogorov-Smirnov).

    The threshold is chosen on the data that it is measured on, so it flatters.
    """
    of_positives = ratio(weights.hits, weights.hits[-1:])
    return np.asarray(np.abs(of_positives - ratio(weights.wrong, weights.wrong[-1:])).max(axis=0))


def _hits(weights: RankedWeights, cut: Floats) -> Floats:
    """Return the positives among the first ``cut`` (b,) examples: those tied at the cut count by their share."""
    (f0, w0), (f1, w1) = _corners(weights, weights.called >= cut * (1 - 1e-12))
    c0, c1 = f0 + w0, f1 + w1
    return np.asarray(f0 + (f1 - f0) * np.minimum(ratio(cut - c0, c1 - c0), 1))


def _first_hits(weights: RankedWeights) -> tuple[Floats, Floats]:
    """Return the positives among the first ten, nan where there are not ten, and all: in examples of mean weight."""
    cut = FIRST * weights.example
    enough = weights.called[-1] >= cut * (1 - 1e-12)
    first = np.minimum(_hits(weights, np.full(weights.hits.shape[1], cut)), cut)
    return np.where(enough, first, np.nan) / weights.example, weights.hits[-1] / weights.example


@at_corners(
    "Precision at 10",
    "positives among the 10 highest scores / 10",
    proportion=lambda weights: (_first_hits(weights)[0][0], FIRST),
    undefined=Message("undefined.few_examples"),
    extensive=True,
    intervals=PROPORTION_INTERVALS,
    no_test=Message("no_test.first_ten"),
)
def precision_at_10(weights: RankedWeights) -> Floats:
    """Share of positives among the ten examples with the highest scores.

    Where ties straddle the cut it is the expected share over a random order of the tied examples. Undefined with
    fewer than ten examples. Its binomial interval is about the ten positions: how often what such scores rank
    first is positive.
    """
    return np.asarray(_first_hits(weights)[0] / FIRST)


@at_corners(
    "Recall at 10",
    "positives among the 10 highest scores / positives",
    closed=lambda weights: AtThreshold(FIRST, FIRST / weights.hits[-1, 0]),
    undefined=Message("undefined.recall_at_10"),
    extensive=True,
)
def recall_at_10(weights: RankedWeights) -> Floats:
    """Share of all positives that stand among the ten examples with the highest scores.

    At most 10 / P with P positives. Ties at the cut count by their expected share. Undefined without a positive
    or with fewer than ten examples.
    """
    return ratio(*_first_hits(weights))


@at_corners(
    "F1 at 10",
    "2 * positives among the 10 highest scores / (10 + positives)",
    closed=lambda weights: AtThreshold(FIRST, 2 * FIRST / (FIRST + weights.hits[-1, 0])),
    undefined=Message("undefined.few_examples"),
    extensive=True,
)
def f1_at_10(weights: RankedWeights) -> Floats:
    """Harmonic mean of precision and recall at ten: F1 where the ten highest scores are predicted positive.

    Ties at the cut count by their expected share. Undefined with fewer than ten examples.
    """
    hits, positives = _first_hits(weights)
    return ratio(2 * hits, FIRST + positives)


def _at_as_many_as_positives(weights: RankedWeights) -> AtThreshold:
    """Delta method, with the share s of positives among the examples at the threshold.

    The value moves by 1 - s with the recall there, by -s N/P with the false positive rate, and by s (1 + FPR - R) / P
    with the number of positives.
    """
    p, n = float(weights.hits[-1, 0]), float(weights.wrong[-1, 0])
    value = float(r_precision(weights)[0])
    if not 0 < value < 1:
        return AtThreshold(p)
    near, far = _near(weights, p)
    share, wrong = near / (near + far), p * (1 - value) / n
    variance = (1 - share) ** 2 * value * (1 - value) / p
    variance += share**2 * (1 - value) * (1 - wrong) / p
    variance += share**2 * (1 + wrong - value) ** 2 * n / (p * (n + p))
    return AtThreshold(value * (1 - value) / variance)


@at_corners(
    "R-precision",
    "positives among the P highest scores / P, P = number of positives",
    closed=_at_as_many_as_positives,
    undefined=Message("undefined.no_positive"),
)
def r_precision(weights: RankedWeights) -> Floats:
    """Precision where as many examples are called as there are positives; it equals recall and F1 there.

    Ties at the cut count by their expected share. Undefined without a positive.
    """
    return ratio(_hits(weights, weights.hits[-1]), weights.hits[-1])
