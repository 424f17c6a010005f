"""Rank metrics against their definitions, written out the slow way."""

from __future__ import annotations

import itertools
from fractions import Fraction

import numpy as np
import pytest
from sklearn import metrics as sk

from evalreport.metrics.registry import Quantity
from tests.samples.metrics import Rows, binary_rows, estimates_of, ids, several_rows, truth_and_scores, value

SEEDS = range(4)


def ranked(positives: list[int], scores: list[float]) -> Rows:
    """Return rows with given scores between 0 and 1."""
    return {"id": ids(len(positives)), "y_true": [str(p) for p in positives], "p_1": scores}


# --- ranking --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", SEEDS)
def test_partial_auc_is_scikit_learns(seed: int) -> None:
    """The standardised partial area equals scikit-learn's with max_fpr = 0.1, ties included."""
    rows = binary_rows(seed, 97, decimals=1)
    positive, scores = truth_and_scores(rows)
    expected = sk.roc_auc_score(positive, scores, max_fpr=0.1)
    assert value("binary", rows, "partial_auc") == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize("seed", SEEDS)
def test_pr_auc_is_the_trapezoid(seed: int) -> None:
    """The area joins scikit-learn's points of distinct thresholds, from (0, precision of the first)."""
    rows = binary_rows(seed, 80, decimals=1)
    precision, recall, _ = sk.precision_recall_curve(*truth_and_scores(rows))
    precision, recall = precision[-2::-1], recall[-2::-1]  # its last point, (0, 1), is not on the curve
    expected = np.trapezoid(np.append(precision[0], precision), np.append(0, recall))
    assert value("binary", rows, "pr_auc") == pytest.approx(float(expected), abs=1e-12)


@pytest.mark.parametrize("seed", SEEDS)
def test_eer_lies_on_the_polygon(seed: int) -> None:
    """The equal error rate is where scikit-learn's ROC polygon meets FPR = 1 - TPR, by bisection."""
    from scipy import optimize

    rows = binary_rows(seed, 61, decimals=1)
    fpr, tpr, _ = sk.roc_curve(*truth_and_scores(rows), drop_intermediate=False)
    along = np.arange(len(fpr))
    root = optimize.brentq(lambda x: np.interp(x, along, fpr) + np.interp(x, along, tpr) - 1, 0, len(fpr) - 1)
    assert value("binary", rows, "eer") == pytest.approx(float(np.interp(root, along, fpr)), abs=1e-9)


@pytest.mark.parametrize("seed", SEEDS)
def test_best_accuracy_over_all_thresholds(seed: int) -> None:
    """The best accuracy is the largest over every threshold, with all and none predicted positive."""
    rows = binary_rows(seed, 50)
    positive, scores = truth_and_scores(rows)
    best = max(float(np.mean((scores >= t) == positive)) for t in [*scores, 2.0])
    assert value("binary", rows, "max_accuracy") == pytest.approx(best, abs=1e-14)


def test_cut_inside_ties_is_the_expected_share() -> None:
    """Precision, recall and F1 at 10 with ties at the cut: the mean over every order of the tied examples.

    Eight examples above the cut, 3 of them positive; four tied, 1 positive; two places are left: hits 3 + 1/2.
    """
    truth = [1, 0, 1, 0, 1, 0, 0, 0, 1, 0, 0, 0, 1, 0]
    scores = [0.9] * 8 + [0.5] * 4 + [0.1] * 2
    orders = list(itertools.permutations([1, 0, 0, 0]))
    hits = Fraction(sum(3 + sum(order[:2]) for order in orders), len(orders))
    assert hits == Fraction(7, 2)
    rows = ranked(truth, scores)
    assert value("binary", rows, "precision_at_10") == pytest.approx(float(hits / 10), abs=1e-14)
    assert value("binary", rows, "recall_at_10") == pytest.approx(float(hits / 5), abs=1e-14)
    assert value("binary", rows, "f1_at_10") == pytest.approx(float(2 * hits / 15), abs=1e-14)
    # Five positives: the first five of the eight tied ones, of whom 3 are positive.
    assert value("binary", rows, "r_precision") == pytest.approx(5 * 3 / 8 / 5, abs=1e-14)


def test_fewer_than_ten_examples() -> None:
    """With nine examples the metrics at 10 are null and say why; with ten they are there."""
    truth, scores = [1, 0] * 5, np.linspace(0.95, 0.05, 10).tolist()
    short = estimates_of("binary", ranked(truth[:9], scores[:9]))
    for name in ("precision_at_10", "recall_at_10", "f1_at_10"):
        assert np.isnan(short[Quantity(name)].value)
        assert "fewer than ten" in (short[Quantity(name)].reason or "")
    assert value("binary", ranked(truth, scores), "precision_at_10") == 0.5


def test_negated_scores_turn_the_area_round_and_swapping_classes_too_keeps_it() -> None:
    """AUC of negated scores is 1 - AUC; with the classes swapped as well it is the same."""
    rows = binary_rows(5)
    negated = rows | {"p_1": [1 - p for p in rows["p_1"]]}
    swapped = negated | {"y_true": [str(1 - int(t)) for t in rows["y_true"]]}
    area = value("binary", rows, "roc_auc")
    assert value("binary", negated, "roc_auc") == pytest.approx(1 - area, abs=1e-14)
    assert value("binary", swapped, "roc_auc") == pytest.approx(area, abs=1e-14)
    assert value("binary", rows, "eer") == pytest.approx(value("binary", swapped, "eer"), abs=1e-14)


# --- several classes ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", SEEDS)
def test_areas_of_several_classes(seed: int) -> None:
    """One-vs-rest per class, macro, weighted, and one-vs-one equal scikit-learn's binary areas, pair by pair."""
    rows = several_rows(seed, 70)
    truth, estimates = np.array(rows["y_true"]), estimates_of("multiclass", rows)
    classes = [f"c{k}" for k in range(4)]
    scores = {c: np.array(rows[f"p_{c}"]) for c in classes}
    rest = [sk.roc_auc_score(truth == c, scores[c]) for c in classes]
    pairs = []
    for c, other in itertools.permutations(classes, 2):
        held = (truth == c) | (truth == other)
        pairs.append(sk.roc_auc_score(truth[held] == c, scores[c][held]))
    shares = [np.mean(truth == c) for c in classes]
    for c, area in zip(classes, rest, strict=True):
        assert estimates[Quantity("roc_auc_ovr", label=c)].value == pytest.approx(area, abs=1e-13)
    assert estimates[Quantity("roc_auc_ovr", "macro")].value == pytest.approx(np.mean(rest), abs=1e-13)
    assert estimates[Quantity("roc_auc_ovr", "weighted")].value == pytest.approx(
        np.dot(shares, rest), abs=1e-13
    )
    assert estimates[Quantity("roc_auc_ovo")].value == pytest.approx(np.mean(pairs), abs=1e-13)


def test_a_class_that_the_truth_lacks_has_no_area() -> None:
    """A class of the p_ columns that never occurs: null with its reason, not an area of 0 in the mean."""
    rows = several_rows(1, 40)
    rows["y_true"] = ["c0" if label == "c3" else label for label in rows["y_true"]]
    estimates = estimates_of("multiclass", rows)
    for quantity in (
        Quantity("roc_auc_ovr", "macro"),
        Quantity("roc_auc_ovr", label="c3"),
        Quantity("roc_auc_ovo"),
    ):
        assert np.isnan(estimates[quantity].value)
        assert "lacks a class" in (estimates[quantity].reason or "")
    assert not np.isnan(estimates[Quantity("roc_auc_ovr", label="c0")].value)
