"""Which interval leads: by how many examples a class has, and for means of losses and of class recalls."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import stats

from evalreport.intervals import INTERVALS, leading, limits, recommended
from evalreport.intervals.leaders import DRAWN, LEADERS
from evalreport.intervals.proportions import covariances, newcombe_independent_limits, wilson_limits
from evalreport.metrics.estimate import Estimate
from evalreport.metrics.registry import Quantity
from evalreport.metrics.sample import estimate_all
from evalreport.metrics.units import Units
from evalreport.predictions.table import ModelOutputs, Predictions
from research.studies.designs import labelled, predictions_on


def estimated(predictions: Predictions, quantity: Quantity, units: Units | None = None) -> Estimate:
    """Estimate one quantity of the only model."""
    units = units or Units(predictions.n)
    sample = estimate_all(predictions, [quantity], units=units, n_resamples=50, seed=0)
    return sample.estimates["a", quantity]


def classified(table: list[list[int]]) -> Predictions:
    """Return a test set with these counts, rows true."""
    counts, k = np.array(table), len(table)
    true, said = np.unravel_index(np.repeat(np.arange(k * k), counts.ravel()), (k, k))
    return labelled(true.astype(np.int32), {"a": said.astype(np.int32)}, k)


def with_errors(errors: np.ndarray) -> Predictions:
    """Return a regression test set with these errors."""
    true = np.linspace(0, 1, len(errors))
    return predictions_on("regression", true, (ModelOutputs("a", y_pred=true + errors),))


# --- area under the ROC curve ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("positives", "negatives", "leads"),
    [
        (29, 100, "newcombe_auc"),
        (100, 29, "newcombe_auc"),
        (11, 11, "newcombe_auc"),
        (20, 500, "newcombe_auc"),
        (30, 30, "logit"),
        (30, 500, "logit"),
    ],
)
def test_the_logit_needs_thirty_of_each_class(positives: int, negatives: int, leads: str) -> None:
    """With fewer than 30 positives or negatives DeLong's error is unsure and Newcombe's interval leads."""
    true = np.repeat([1, 0], [positives, negatives]).astype(np.int32)
    score = np.random.default_rng(5).normal(size=len(true)) + true
    predictions = predictions_on("binary", true, (ModelOutputs("a", score=score),), 2)
    estimate = estimated(predictions, Quantity("roc_auc"))
    assert 0.05 < estimate.value < 0.95
    assert recommended(estimate) == leads


# --- means of losses ------------------------------------------------------------------------------------------------


def halls(losses: np.ndarray, level: float) -> tuple[float, float]:
    """Return the limits by Hall's (1992) inverse as it is printed: (3/a) ((1 + a (x - a/6))^(1/3) - 1)."""
    n, mean = len(losses), losses.mean()
    away = losses - mean
    a = (away**3).mean() / (away**2).mean() ** 1.5 / math.sqrt(n)
    x = stats.t.ppf((1 + level) / 2, n - 1) * np.array([1, -1])
    turned = 3 / a * (np.cbrt(1 + a * (x - a / 6)) - 1)
    low, high = mean - turned * losses.std(ddof=1) / math.sqrt(n)
    return float(low), float(high)


@pytest.mark.parametrize("level", [0.5, 0.95, 0.999])
@pytest.mark.parametrize("seed", [1, 2, 3])
def test_hall_is_the_printed_inverse(level: float, seed: int) -> None:
    """The limits of MAE and MSE are those of the published formula; those of RMSE are the roots of MSE's."""
    errors = np.random.default_rng(seed).standard_t(3, size=40)
    predictions = with_errors(errors)
    for metric, losses in (("mae", np.abs(errors)), ("mse", errors**2)):
        found = limits(estimated(predictions, Quantity(metric)), "hall", level)
        low, high = halls(losses, level)
        assert (found.low, found.high) == pytest.approx((max(low, 0), high), rel=1e-9)
    squares = limits(estimated(predictions, Quantity("mse")), "hall", level)
    roots = limits(estimated(predictions, Quantity("rmse")), "hall", level)
    assert squares.low is not None
    assert squares.high is not None
    assert (roots.low, roots.high) == pytest.approx(
        (math.sqrt(squares.low), math.sqrt(squares.high)), rel=1e-9
    )


def test_without_skewness_hall_is_t() -> None:
    """Losses that lie symmetrically about their mean have no skewness to take out: the limits are Student's."""
    errors = np.concatenate([np.linspace(1, 2, 20), -np.linspace(1, 2, 20)])
    estimate = estimated(with_errors(errors), Quantity("mae"))
    by_hall, by_t = (limits(estimate, name, 0.95) for name in ("hall", "t"))
    assert (by_hall.low, by_hall.high) == pytest.approx((by_t.low, by_t.high), rel=1e-12)
    assert recommended(estimate) == "hall"


def test_the_long_side_is_where_the_tail_is() -> None:
    """Of losses skewed to the right the upper limit lies farther away than the lower one, and farther than t's."""
    errors = np.random.default_rng(4).exponential(size=50)
    estimate = estimated(with_errors(errors), Quantity("mae"))
    by_hall, by_t = (limits(estimate, name, 0.95) for name in ("hall", "t"))
    assert by_hall.low is not None
    assert by_hall.high is not None
    assert by_t.high is not None
    assert by_hall.high - estimate.value > estimate.value - by_hall.low
    assert by_hall.high > by_t.high


def test_hall_keeps_to_units() -> None:
    """RMSE in units of a hundred thousandth or a hundred thousand has the limits of the same errors, scaled."""
    errors = np.random.default_rng(6).normal(size=60)
    plain = limits(estimated(with_errors(errors), Quantity("rmse")), "hall", 0.95)
    assert plain.low is not None
    assert plain.high is not None
    for unit in (1e-5, 1e5):
        true = np.zeros(60)
        predictions = predictions_on("regression", true, (ModelOutputs("a", y_pred=true + unit * errors),))
        found = limits(estimated(predictions, Quantity("rmse")), "hall", 0.95)
        assert (found.low, found.high) == pytest.approx((plain.low * unit, plain.high * unit), rel=1e-9)


def test_signed_means_and_clusters_keep_their_intervals() -> None:
    """A mean of signed errors leads with t; whole clusters lead with theirs, whatever the losses."""
    errors = np.random.default_rng(7).normal(size=60)
    assert recommended(estimated(with_errors(errors), Quantity("bias_error"))) == "t"
    clusters = Units(60, np.repeat(np.arange(12), 5))
    for metric in ("mae", "rmse"):
        estimate = estimated(with_errors(errors), Quantity(metric), clusters)
        assert recommended(estimate) == "cluster_t"
        assert limits(estimate, "hall", 0.95).low is None


# --- means over classes ---------------------------------------------------------------------------------------------


def test_two_recalls_are_newcombe_s_difference_of_independent_proportions() -> None:
    """Recall + specificity - 1 is a difference of two independent proportions: Newcombe (1998), method 10, mapped."""
    estimate = estimated(classified([[88, 12], [3, 7]]), Quantity("balanced_accuracy"))
    found = leading(estimate, 0.95)
    low, high = newcombe_independent_limits((7, 10), (12, 100), 0.95)
    assert found.method == "wilson_recalls"
    assert (found.low, found.high) == pytest.approx(((1 + low) / 2, (1 + high) / 2), rel=1e-12)


def test_three_recalls_are_squared_and_added() -> None:
    """By hand from three Wilson intervals; the error per class is the mirror image, macro recall the same value."""
    predictions = classified([[70, 3, 2], [6, 12, 2], [1, 1, 3]])
    sides = [wilson_limits(x, m, 0.95) for x, m in ((70, 75), (12, 20), (3, 5))]
    shares = [70 / 75, 12 / 20, 3 / 5]
    down = math.sqrt(sum((p - low) ** 2 for p, (low, _) in zip(shares, sides, strict=True))) / 3
    up = math.sqrt(sum((high - p) ** 2 for p, (_, high) in zip(shares, sides, strict=True))) / 3
    value = sum(shares) / 3
    for quantity in (Quantity("balanced_accuracy"), Quantity("recall", average="macro")):
        found = leading(estimated(predictions, quantity), 0.95)
        assert (found.low, found.high) == pytest.approx((value - down, value + up), rel=1e-12)
    found = leading(estimated(predictions, Quantity("mean_per_class_error")), 0.95)
    assert (found.low, found.high) == pytest.approx((1 - value - up, 1 - value + down), rel=1e-12)


def test_a_class_without_examples_adds_nothing() -> None:
    """Balanced accuracy is over the classes held: a third one that only occurs as an answer changes no limit."""
    two = leading(estimated(classified([[80, 20], [3, 7]]), Quantity("balanced_accuracy")), 0.95)
    three = leading(
        estimated(classified([[80, 15, 5], [2, 7, 1], [0, 0, 0]]), Quantity("balanced_accuracy")), 0.95
    )
    assert (three.low, three.high) == pytest.approx((two.low, two.high), rel=1e-12)


def test_covariances_of_f1_add_up_to_the_standard_error() -> None:
    """The sum of the classes' covariances over K^2 is the squared standard error of macro F1 by the engine."""
    table = np.array([[70, 3, 2], [6, 12, 2], [1, 1, 3]])
    estimate = estimated(classified(table.tolist()), Quantity("f1", average="macro"))
    sums = (table.sum(0) + table.sum(1)).astype(float)
    shared = covariances(table.astype(float), 2 * table.diagonal() / sums, sums)
    assert estimate.standard_error == pytest.approx(math.sqrt(shared.sum()) / 3, rel=1e-9)


def test_macro_f1_of_large_samples_is_the_normal_interval() -> None:
    """With many examples of each class the squared and added limits come to those of the standard error."""
    table = (10_000 * np.array([[70, 3, 2], [6, 12, 2], [1, 1, 3]])).tolist()
    estimate = estimated(classified(table), Quantity("f1", average="macro"))
    found, normal = leading(estimate, 0.95), limits(estimate, "normal", 0.95)
    assert found.method == "wilson_f1s"
    assert (found.low, found.high) == pytest.approx((normal.low, normal.high), abs=2e-5)


@pytest.mark.parametrize("quantity", [Quantity("balanced_accuracy"), Quantity("f1", average="macro")])
def test_at_the_edge_the_weakest_class_leads(quantity: Quantity) -> None:
    """At 1 the interval is the weakest of the classes' Wilson intervals through the definition, with its reason."""
    predictions = classified([[50, 0, 0], [0, 20, 0], [0, 0, 4]])
    found = leading(estimated(predictions, quantity), 0.95)
    assert found.high == 1
    assert found.method == "wilson"
    assert found.reason is not None
    if quantity.metric == "balanced_accuracy":
        assert found.low == pytest.approx((2 + wilson_limits(4, 4, 0.95)[0]) / 3)


@pytest.mark.parametrize(("classes", "leads"), [(3, True), (4, False)])
def test_more_than_three_classes_lead_by_the_bootstrap(classes: int, leads: bool) -> None:
    """The skewness of limits that are squared and added does not shrink with the number of classes: BCa leads."""
    predictions = classified((np.eye(classes, dtype=int) * 20 + 1).tolist())
    by_class = {
        Quantity("balanced_accuracy"): "wilson_recalls",
        Quantity("f1", average="macro"): "wilson_f1s",
    }
    for quantity, method in by_class.items():
        estimate = estimated(predictions, quantity)
        assert recommended(estimate) == (method if leads else "bootstrap_bca")
        assert (limits(estimate, method, 0.95).low is not None) == leads


def test_clusters_and_weights_do_not_lead_by_class() -> None:
    """A recall of clusters or of weighted examples is no binomial share: their own intervals lead."""
    predictions = classified([[70, 3, 2], [6, 12, 2], [1, 1, 3]])
    clusters = Units(100, np.repeat(np.arange(20), 5))
    weights = Units(100, weight=np.linspace(1, 2, 100))
    for quantity in (Quantity("balanced_accuracy"), Quantity("f1", average="macro")):
        assert recommended(estimated(predictions, quantity, clusters)) == "cluster_wilson"
        assert recommended(estimated(predictions, quantity, weights)) == "weighted_t"


# --- the table ------------------------------------------------------------------------------------------------------


def test_every_row_of_the_table_names_an_interval_and_what_is_drawn() -> None:
    """A misspelled interval or condition would only be seen on data that the row is for."""
    assert {row.interval for row in LEADERS if isinstance(row.interval, str)} <= set(INTERVALS)
    assert {row.drawn for row in LEADERS} == set(DRAWN)
