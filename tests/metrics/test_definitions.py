"""Metrics that no program has under the same definition, against that definition written out the slow way."""

from __future__ import annotations

import itertools
from fractions import Fraction

import numpy as np
import pytest
from scipy import special, stats
from sklearn import metrics as sk

from evalreport.engine.counts import Counts
from evalreport.engine.ranks import absolute_deviations, ascending, weighted_median
from evalreport.intervals.choice import leading, limits
from evalreport.metrics.labels import f_beta
from evalreport.metrics.registry import Quantity
from tests.samples.metrics import Rows, binary_rows, estimates_of, ids, several_rows, value, value_rows

SEEDS = range(4)


def truth_and_scores(rows: Rows) -> tuple[np.ndarray, np.ndarray]:
    """Return which examples are positive, and the probabilities."""
    return np.array(rows["y_true"]) == "1", np.array(rows["p_1"])


def ranked(positives: list[int], scores: list[float]) -> Rows:
    """Return rows with given scores between 0 and 1."""
    return {"id": ids(len(positives)), "y_true": [str(p) for p in positives], "p_1": scores}


# --- the lectures' and other published numbers ----------------------------------------------------------------------


def test_f_beta_weighs_precision_and_recall() -> None:
    """F by beta is 1 / (alpha / P + (1 - alpha) / R), alpha = 1 / (1 + beta^2), by hand: P 1/3, R 3/4."""
    counts = Counts(*np.array([6.0, 12.0, 2.0, 130.0]))
    for beta in (0.0, 0.3, 0.5, 1.0, 2.0, 7.0):
        alpha = 1 / (1 + beta**2)
        by_hand = 1 / (alpha / (1 / 3) + (1 - alpha) / (3 / 4))
        assert f_beta(counts, beta=beta) == pytest.approx(by_hand, abs=1e-14)


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


@pytest.mark.parametrize("seed", SEEDS)
def test_soft_auc_is_the_mean_over_pairs(seed: int) -> None:
    """The interpolated sum equals the mean of sigma(10 d) over all pairs, to rounding."""
    rows = binary_rows(seed, 90, decimals=3) | {"p_1": np.random.default_rng(seed).random(90).tolist()}
    positive, p = truth_and_scores(rows)
    expected = special.expit(10 * (p[positive][:, None] - p[~positive])).mean()
    assert value("binary", rows, "soft_auc") == pytest.approx(float(expected), abs=1e-13)


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


@pytest.mark.parametrize("k", [2, 3, 5])
@pytest.mark.parametrize("seed", SEEDS)
def test_top_k_is_the_expected_hit_over_all_orders_of_the_ties(k: int, seed: int) -> None:
    """The value is the mean over all orders of the classes, each stably sorted by probability, enumerated."""
    rows = several_rows(seed, 30, classes=6)
    p = np.column_stack([rows[f"p_c{j}"] for j in range(6)])
    true = np.array([int(label[1:]) for label in rows["y_true"]])
    hits = np.zeros(len(true))
    orders = list(itertools.permutations(range(6)))
    for order in orders:
        first = np.array(order)[np.argsort(-p[:, order], axis=1, kind="stable")][:, :k]
        hits += (first == true[:, None]).any(axis=1)
    found = estimates_of("multiclass", rows)[Quantity(f"top_{k}_accuracy")]
    assert found.value == pytest.approx(float(hits.mean()) / len(orders), abs=1e-14)


def test_chances_of_ties_are_no_proportion() -> None:
    """Where a tie matters the value is a mean of chances, by hand 1, 1/3, 1/3 and 0, and Student's t leads."""
    rows = {"id": ids(4), "y_true": ["c1", "c1", "c2", "c3"]}
    shares = [(0.1, 0.8, 0.1, 0.0), (0.4, 0.2, 0.2, 0.2), (0.2, 0.2, 0.2, 0.4), (0.5, 0.3, 0.2, 0.0)]
    rows |= {f"p_c{j}": [row[j] for row in shares] for j in range(4)}
    found = estimates_of("multiclass", rows)[Quantity("top_2_accuracy")]
    # The first class takes one of two places; the other is for three classes that tie: j / m = 1 / 3.
    assert found.value == pytest.approx((1 + 1 / 3 + 1 / 3 + 0) / 4, abs=1e-15)
    assert found.trials is None
    assert limits(found, "wilson", 0.95).low is None
    assert leading(found, 0.95).method == "t"


def test_top_k_without_ties_is_a_proportion() -> None:
    """Where no tie matters a hit is 0 or 1, and Wilson's interval leads."""
    rows = several_rows(0, 40, classes=6)
    shares = np.random.default_rng(0).dirichlet(np.ones(6), size=40)
    rows |= {f"p_c{j}": shares[:, j].tolist() for j in range(6)}
    found = estimates_of("multiclass", rows)[Quantity("top_2_accuracy")]
    assert (found.trials, found.successes) == (40, round(40 * found.value))
    assert leading(found, 0.95).method == "wilson"


def test_a_model_that_ties_everything_gains_nothing_in_top_k() -> None:
    """Equal probabilities of all classes are right among the first k as often as k of them drawn at random: k / K."""
    rows = several_rows(1, 40, classes=6)
    rows |= {f"p_c{j}": [1 / 6] * 40 for j in range(6)}
    for k in (2, 3, 5):
        assert value("multiclass", rows, f"top_{k}_accuracy") == pytest.approx(k / 6, abs=1e-14)


@pytest.mark.parametrize("seed", SEEDS)
def test_macro_accuracy_is_micro_accuracy(seed: int) -> None:
    """The mean one-vs-rest accuracy is 1 - 2 (1 - accuracy) / K, which pooled counts give too."""
    rows = several_rows(seed)
    accuracy = value("multiclass", rows, "accuracy")
    assert value("multiclass", rows, "macro_accuracy") == pytest.approx(1 - 2 * (1 - accuracy) / 4, abs=1e-14)


# --- probabilities --------------------------------------------------------------------------------------------------


def test_calibration_bins_are_closed_below() -> None:
    """Probabilities on the edges belong to the upper bin, 1 to the last: by hand, gaps 0.1 and 0.7 of one example each.

    0.1 lies in [0.1, 0.2) and 0.3 in [0.3, 0.4), as text 0.3 though 10 * 0.3 may round below 3.
    """
    rows = {"id": ids(4), "y_true": ["0", "1", "1", "1"], "p_1": [0.1, 0.3, 0.35, 1.0]}
    # bin 1: |0.1 - 0|, bin 3: |0.325 - 1|, bin 9: 0
    assert value("binary", rows, "ece") == pytest.approx((0.1 + 2 * 0.675) / 4, abs=1e-14)
    assert value("binary", rows, "mce") == pytest.approx(0.675, abs=1e-14)


def test_deviance_is_2n_log_losses() -> None:
    """Deviance = -2 sum ln p(true), with p clipped as for the log loss."""
    rows = binary_rows(2)
    positive, p = truth_and_scores(rows)
    expected = -2 * np.log(np.where(positive, p, 1 - p)).sum()
    assert value("binary", rows, "deviance") == pytest.approx(float(expected), rel=1e-13)
    assert value("binary", rows, "deviance") == pytest.approx(
        2 * 60 * value("binary", rows, "log_loss"), rel=1e-14
    )


def test_complement_mse_is_brier_for_two_classes_only() -> None:
    """The mean of (1 - p(true))^2 equals the Brier score of two classes, and not that of several."""
    two, several = binary_rows(3), several_rows(3)
    assert value("binary", two, "complement_mse") == pytest.approx(value("binary", two, "brier"), abs=1e-15)
    assert abs(value("multiclass", several, "complement_mse") - value("multiclass", several, "brier")) > 0.01


def test_calibration_line_and_its_errors_are_those_of_statsmodels() -> None:
    """Slope, intercept and their robust errors equal statsmodels' logistic GLM with the HC0 sandwich."""
    import statsmodels.api as sm

    rows = binary_rows(4, 150)
    positive, p = truth_and_scores(rows)
    model = sm.GLM(
        positive.astype(float), sm.add_constant(np.log(p / (1 - p))), family=sm.families.Binomial()
    )
    fit = model.fit(cov_type="HC0", tol=1e-14)
    estimates = estimates_of("binary", rows)
    for place, name in enumerate(("calibration_intercept", "calibration_slope")):
        assert estimates[Quantity(name)].value == pytest.approx(fit.params[place], rel=1e-8)
        assert estimates[Quantity(name)].standard_error == pytest.approx(fit.bse[place], rel=1e-7)


@pytest.mark.parametrize(
    "p, reason",
    [
        ([0.0, 0.6, 0.7, 0.3, 0.5, 0.9], "exactly 0 or 1"),
        ([0.1, 0.6, 0.2, 0.7, 0.3, 0.8], "separate the classes"),
        ([0.1, 0.3, 0.3, 0.7, 0.3, 0.8], "separate the classes"),
        ([0.4] * 6, "all probabilities are equal"),
    ],
)
def test_calibration_line_that_is_not_there(p: list[float], reason: str) -> None:
    """Null with the reason: a probability of 0 or 1, separation (ties at the edge too), one probability for all."""
    estimates = estimates_of("binary", {"id": ids(6), "y_true": ["0", "1"] * 3, "p_1": p})
    for name in ("calibration_slope", "calibration_intercept"):
        assert np.isnan(estimates[Quantity(name)].value)
        assert reason in (estimates[Quantity(name)].reason or "")


# --- regression -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", SEEDS)
def test_relative_regression_errors(seed: int) -> None:
    """RAE, RRSE, the squared correlation, the median and the largest error, written out with numpy and scipy."""
    rows = value_rows(seed, 31 + seed)
    y, f = np.array(rows["y_true"]), np.array(rows["y_pred"])
    e = np.abs(f - y)
    assert value("regression", rows, "rae") == pytest.approx(e.sum() / np.abs(y - y.mean()).sum(), rel=1e-13)
    rrse = np.sqrt((e**2).sum() / ((y - y.mean()) ** 2).sum())
    assert value("regression", rows, "rrse") == pytest.approx(rrse, rel=1e-12)
    assert value("regression", rows, "r2_correlation") == pytest.approx(
        stats.pearsonr(y, f)[0] ** 2, rel=1e-12
    )
    assert value("regression", rows, "medae") == pytest.approx(np.median(e), rel=1e-14)
    assert value("regression", rows, "max_error") == e.max()


def test_two_r2_are_two_things() -> None:
    """A prediction turned round and far off has squared correlation 1 and a strongly negative R²."""
    rows = value_rows(1)
    rows["y_pred"] = [100 - 3 * y for y in rows["y_true"]]
    assert value("regression", rows, "r2_correlation") == pytest.approx(1, abs=1e-12)
    assert value("regression", rows, "r2") < -100


@pytest.mark.parametrize("seed", SEEDS)
def test_weighted_medians_and_deviations_equal_the_repeated_values(seed: int) -> None:
    """Under whole-number weights: numpy's median and mean absolute deviation of the repeated values.

    One row of weights puts all mass on few values, far outside the window that bootstrap weights stay in.
    """
    random = np.random.default_rng(seed)
    values = np.round(random.normal(size=400), 1)
    weights = random.multinomial(400, np.full(400, 1 / 400), size=30).astype(float)
    weights[0] = 0
    weights[0, :3] = 5, 2, 7
    table = ascending(values)
    copies = [np.repeat(values, w.astype(int)) for w in weights]
    assert weighted_median(table, weights) == pytest.approx([np.median(c) for c in copies], abs=1e-14)
    means = np.array([c.mean() for c in copies])
    expected = [np.abs(c - c.mean()).sum() for c in copies]
    assert absolute_deviations(table, weights, means) == pytest.approx(expected, rel=1e-12)
