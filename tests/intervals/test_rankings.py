"""Intervals of areas under curves and of their paired differences: DeLong after made-up placements, logit and MOVER."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np
import pytest
from scipy import stats

from evalreport.comparisons.pairs import compare
from evalreport.comparisons.registry import Pair
from evalreport.intervals import limits, recommended
from evalreport.intervals.proportions import mover
from evalreport.metrics.difference import Difference
from evalreport.metrics.estimate import Estimate
from evalreport.metrics.evidence import Ranking
from evalreport.metrics.registry import Quantity
from evalreport.metrics.sample import estimate_all
from evalreport.options import Options
from evalreport.predictions.table import ModelOutputs
from evalreport.samplings import sampling_by
from evalreport.texts import Message
from research.studies.designs import predictions_on
from tests.reference.third_round import assert_agrees, each
from tests.samples.cases import quick

AUC, AP = Quantity("roc_auc"), Quantity("average_precision")
PR, PARTIAL = Quantity("pr_auc"), Quantity("partial_auc")


def estimate_of(true: Any, quantity: Quantity, *scores: Any) -> Estimate | Difference:
    """Estimate of one model's scores, or of the difference of two."""
    models = [ModelOutputs(name, score=np.asarray(s, float)) for name, s in zip("ab", scores, strict=False)]
    predictions = predictions_on("binary", np.asarray(true, np.int32), tuple(models), 2)
    sample = estimate_all(predictions, [quantity], units=sampling_by(predictions.n), n_resamples=2, seed=0)
    if len(models) == 1:
        return sample.estimates["a", quantity]
    (comparison,) = compare(sample, [quantity], Options(resamples=2))
    assert isinstance(comparison.found, Pair)
    return comparison.found.difference


def leading_limits(estimate: Estimate | Difference, level: float = 0.95) -> dict[str, float | None]:
    """Return the value with the limits that lead."""
    found = limits(estimate, recommended(estimate), level)
    return {"estimate": estimate.value, "low": found.low, "high": found.high}


@each("auc_difference_alike")
def test_differences_of_areas_are_the_reference_s(case: Mapping[str, Any]) -> None:
    """Alike and unlike models, with ties, at three levels."""
    given = case["input"]
    difference = estimate_of(given["y"], AUC, given["a"], given["b"])
    assert recommended(difference) == "plus_delong"
    assert_agrees({"difference": difference.value, **limits_of(difference, given["level"])}, case)


def limits_of(estimate: Estimate | Difference, level: float) -> dict[str, float | None]:
    """Return the limits that lead."""
    return {name: leading_limits(estimate, level)[name] for name in ("low", "high")}


@each("ap_difference", "ap_value")
def test_average_precisions_are_the_reference_s(case: Mapping[str, Any]) -> None:
    """Mpmath's 40 digits: values, one of them 1, and differences."""
    given = case["input"]
    scores = [given[name] for name in ("a", "b", "s") if name in given]
    estimate = estimate_of(given["y"], AP, *scores)
    assert recommended(estimate) == {"ap_difference": "ap_mover", "ap_value": "ap_logit"}[case["method"]]
    assert_agrees(leading_limits(estimate), case)


def test_identical_rankings_have_no_limits_and_p_1() -> None:
    """No placement differs, so nothing varies; two models that differ on one example have a width."""
    true = np.repeat([1, 0], 8)
    score = np.random.default_rng(1).normal(size=16)
    same = estimate_of(true, AUC, score, 3 * score)
    assert (leading_limits(same)["low"], leading_limits(same)["high"]) == (None, None)
    assert limits(same, "plus_delong", 0.95).reason == Message("limits.no_variation")
    moved = score.copy()
    moved[0] = score.min() - 1
    assert leading_limits(estimate_of(true, AUC, score, moved))["low"] is not None


def test_two_alike_rankings_by_hand() -> None:
    """Ten of each class, one pair of neighbours exchanged: d is 0.1 once, e is 0.1 once.

    D = 0.01, q = 10: a = 0.09 + 0.2, and the sum of (d - D)^2 is 0.09^2 + 9 x 0.01^2, of both classes.
    """
    true = np.tile([0, 1], 10)
    first = np.arange(20.0)
    second = first.copy()
    second[[9, 10]] = second[[10, 9]]
    variance = 2 * (0.09**2 + 9 * 0.01**2 + 0.29**2) / (10 * 11)
    half = stats.t.ppf(0.975, 18) * math.sqrt(variance)
    difference = estimate_of(true, AUC, first, second)
    assert abs(difference.value) == pytest.approx(0.01)
    found = leading_limits(difference)
    assert (found["low"], found["high"]) == pytest.approx(
        (difference.value - half, difference.value + half), rel=1e-9
    )


def test_one_positive_has_no_limits() -> None:
    """A variance takes two of each class; the reason says so."""
    true, rng = np.array([1, 0, 0, 0, 0, 0]), np.random.default_rng(2)
    differences = (
        (AUC, "plus_delong"),
        (AP, "ap_mover"),
        (PR, "pr_auc_mover"),
        (PARTIAL, "partial_auc_mover"),
    )
    for quantity, method in differences:
        found = limits(estimate_of(true, quantity, rng.normal(size=6), rng.normal(size=6)), method, 0.95)
        assert (found.low, found.high) == (None, None)
        assert found.reason
    for quantity, method in ((AP, "ap_logit"), (PR, "pr_auc_logit"), (PARTIAL, "partial_auc_wilson")):
        value = limits(estimate_of(true, quantity, rng.normal(size=6)), method, 0.95)
        assert (value.low, value.high) == (None, None)


@pytest.mark.parametrize("quantity", [AUC, AP, PR, PARTIAL])
def test_turned_models_and_other_units_of_the_scores(quantity: Quantity) -> None:
    """The models turned round have the limits negated; only the order of scores matters."""
    rng = np.random.default_rng(3)
    true = np.repeat([1, 0], [12, 30])
    a, b = (np.round(rng.normal(size=42) + true, 1) for _ in range(2))
    found = leading_limits(estimate_of(true, quantity, a, b))
    turned = leading_limits(estimate_of(true, quantity, b, a))
    scaled = leading_limits(estimate_of(true, quantity, a * 1e-12, np.exp(b)))
    assert found["low"] is not None
    assert found["high"] is not None
    assert (turned["low"], turned["high"]) == pytest.approx((-found["high"], -found["low"]), rel=1e-9)
    assert (scaled["low"], scaled["high"]) == pytest.approx((found["low"], found["high"]), rel=1e-9)


def test_without_correlation_mover_is_newcombe_s() -> None:
    """Distances 0.1 and 0.2 on either side: their squares add up; with correlation 1 they are subtracted."""
    first, second = (0.6, 0.5, 0.7), (0.4, 0.2, 0.6)
    assert mover(first, second, 0.0) == pytest.approx(
        (0.2 - math.hypot(0.1, 0.2), 0.2 + math.hypot(0.1, 0.2))
    )
    assert mover(first, second, 1.0) == pytest.approx((0.1, 0.3))


# --- AP, PR AUC and partial AUC: the formulas in numpy alone, derivatives by differences of the weights --------------


def areas(true: Any, score: Any, weight: Any) -> dict[Quantity, float]:
    """AP, PR AUC by trapezoids, and the area under the ROC curve for FPR <= 0.1 as a share of 0.1, of weighted rows."""
    thresholds = np.unique(score)[::-1]
    found = np.array([weight[(score >= t) & true].sum() for t in thresholds])
    wrong = np.array([weight[(score >= t) & ~true].sum() for t in thresholds])
    precision = found / (found + wrong)
    recall = np.append(0, found / found[-1])
    heights = (precision + np.append(precision[0], precision[:-1])) / 2
    false = np.append(0, wrong / wrong[-1])
    # Between two thresholds a straight line, which the end of the range may cut.
    pieces = zip(false[:-1], false[1:], recall[:-1], recall[1:], strict=True)
    area = sum(
        (min(f, 0.1) - e) * (r + r + (s - r) * (min(f, 0.1) - e) / (f - e)) / 2
        for e, f, r, s in pieces
        if e < 0.1 and f > e
    )
    gained = np.diff(recall)
    return {
        AP: float((gained * precision).sum()),
        PR: float((gained * heights).sum()),
        PARTIAL: float(area / 0.1),
    }


def influence(true: Any, score: Any, quantity: Quantity) -> Any:
    """The derivatives by the weight of each row, by central differences."""
    step, found = 1e-5, np.empty(len(true))
    for i in range(len(true)):
        moved = [np.ones(len(true)) for _ in range(2)]
        moved[0][i] += step
        moved[1][i] -= step
        up, down = (areas(true, score, w)[quantity] for w in moved)
        found[i] = (up - down) / (2 * step)
    return found


def steepest(true: Any, score: Any, quantity: Quantity) -> list[float]:
    """The largest derivative by one more positive, and by one more negative, at any score, from weights above 0."""
    step, largest = 1e-5, []
    for more in (True, False):
        slopes = []
        for there in np.unique(score):
            rows = np.append(true, more), np.append(score, there)
            at = [areas(*rows, np.append(np.ones(len(true)), w * step))[quantity] for w in (0, 1, 2)]
            slopes.append(abs(4 * at[1] - 3 * at[0] - at[2]) / (2 * step))
        largest.append(max(slopes))
    return largest


def wilson(x: float, trials: float, q: float) -> tuple[float, float]:
    """Wilson's limits with any quantile."""
    centre = (x + q * q / (2 * trials)) / (1 + q * q / trials)
    half = q * math.sqrt(x * (1 - x) / trials + q * q / (4 * trials**2)) / (1 + q * q / trials)
    return centre - half, centre + half


def by_hand(true: Any, score: Any, quantity: Quantity) -> tuple[float, float, float, Any]:
    """Value, limits at 95 % and derivatives; partial AUC as a share of its range."""
    x, z = areas(true, score, np.ones(len(true)))[quantity], influence(true, score, quantity)
    m, n = int(true.sum()), len(true)
    shared = 5 * len(np.unique(score)) <= n
    unseen = sum(slope**2 for slope in steepest(true, score, quantity)) if shared else 0.0

    def trials(variance: float, most: float) -> float:
        return max(x * (1 - x) / (variance + unseen), min(x * (1 - x) / variance, most) / 2)

    if quantity != PARTIAL and shared:
        raised = (m + (2 if quantity == PR else 0)) / (m - 1)
        return x, *wilson(x, trials((z**2).sum() * raised, m), stats.t.ppf(0.975, m - 1)), z
    if quantity == AP:
        error = math.sqrt((z**2).sum() * m / (m - 1)) / (x * (1 - x))
        q = stats.t.ppf(0.975, m - 1)
        low, high = (1 / (1 + math.exp(-(math.log(x / (1 - x)) + side * q * error))) for side in (-1, 1))
        return x, low, high, z
    if quantity == PR:
        kurtosis = n * (z**4).sum() / (z**2).sum() ** 2
        error = math.sqrt((z**2).sum() * (m + 2) / (m - 1)) / (x * (1 - x))
        q = stats.t.ppf(0.975, min(m - 1, 2 * n / (kurtosis - 1)))
        low, high = (1 / (1 + math.exp(-(math.log(x / (1 - x)) + side * q * error))) for side in (-1, 1))
        return x, low, high, z
    k, made_up = (n - m) / 10, (x**2 + (1 - x) ** 2) / 20
    parts = [
        ((z[true] ** 2).sum() + made_up / m**2) * m / (m - 1),
        ((z[~true] ** 2).sum() + made_up / k**2) * (n - m) / (n - m - 1),
    ]
    q = stats.t.ppf(0.975, sum(parts) ** 2 / (parts[0] ** 2 / (m - 1) + parts[1] ** 2 / max(k, 1)))
    return x, *wilson(x, trials(sum(parts), min(m, k)), q), z


@pytest.mark.parametrize("quantity", [AP, PR, PARTIAL])
@pytest.mark.parametrize("decimals", [0, 12])
@pytest.mark.parametrize("positives", quick([15, 60], [15]))
def test_areas_under_parts_are_the_formulas_by_numpy(
    quantity: Quantity, decimals: int, positives: int
) -> None:
    """Value and difference, of scores of few levels and without ties; differences of weights are exact to 1e-9."""
    rng = np.random.default_rng(positives + decimals)
    true = np.repeat([True, False], [positives, 66])
    a, b = (np.round(rng.normal(size=len(true)) + true, decimals) for _ in range(2))
    (x, low_x, high_x, z), (y, low_y, high_y, w) = (by_hand(true, s, quantity) for s in (a, b))
    r = (z * w).sum() / math.sqrt((z**2).sum() * (w**2).sum())
    below = math.sqrt((x - low_x) ** 2 + (high_y - y) ** 2 - 2 * r * (x - low_x) * (high_y - y))
    above = math.sqrt((high_x - x) ** 2 + (y - low_y) ** 2 - 2 * r * (high_x - x) * (y - low_y))
    leaders = {AP: "ap_logit", PR: "pr_auc_logit", PARTIAL: "partial_auc_wilson"}
    least = (1 - 0.1 / 1.9) / 2
    start, unit = (least, 1 - least) if quantity == PARTIAL else (0.0, 1.0)
    value = limits(estimate_of(true, quantity, a), leaders[quantity], 0.95)
    assert recommended(estimate_of(true, quantity, a)) == value.method
    found = leading_limits(estimate_of(true, quantity, a, b))
    assert (value.low, value.high) == pytest.approx((start + unit * low_x, start + unit * high_x), rel=1e-6)
    expected = [unit * limit for limit in (x - y - below, x - y + above)]
    assert [found["low"], found["high"]] == pytest.approx(expected, rel=1e-6)


@pytest.mark.parametrize(("positives", "negatives", "trials"), [(20, 300, 20), (20, 50, 5)])
def test_a_perfect_start_of_the_curve_has_wilson_s_limits(
    positives: int, negatives: int, trials: int
) -> None:
    """Partial AUC 1: as many trials as positives, or as negatives in the range of rates, whichever are fewer."""
    true = np.repeat([1, 0], [positives, negatives])
    found = leading_limits(estimate_of(true, PARTIAL, -np.arange(len(true))))
    # By hand: only made-up placements vary, (1/20) / m^2 and (1/20) / k^2 with the factors m/(m - 1) and N/(N - 1).
    m, k = positives, negatives / 10
    parts = [1 / (20 * m * (m - 1)), negatives / (20 * k**2 * (negatives - 1))]
    q = stats.t.ppf(0.975, sum(parts) ** 2 / (parts[0] ** 2 / (m - 1) + parts[1] ** 2 / k))
    least = (1 - 0.1 / 1.9) / 2
    assert found["high"] == 1
    assert found["low"] == pytest.approx(least + (1 - least) / (1 + q * q / trials), rel=1e-12)


def test_a_nearly_perfect_ranking_of_five_levels_by_hand() -> None:
    """One of 50 negatives among the 10 positives of the second level, none among the 40 of the first: 25 trials.

    AP = 0.8 + 0.2 x 50/51. The influence values alone leave some 250 trials, and a negative at the highest level fewer
    than half of the 50 that there are positives.
    """
    true = np.repeat([1, 0], [50, 50])
    score = np.repeat([5.0, 4.0, 4.0, 3.0, 2.0, 1.0], [40, 10, 1, 10, 10, 29])
    value = 0.8 + 0.2 * 50 / 51
    found = leading_limits(estimate_of(true, AP, score))
    assert found["estimate"] == pytest.approx(value)
    assert (found["low"], found["high"]) == pytest.approx(wilson(value, 25, stats.t.ppf(0.975, 49)))


def test_scores_are_shared_where_five_examples_have_each_on_average() -> None:
    """With one score more, or one example less, the rule of other scores holds."""
    rng = np.random.default_rng(11)
    for levels, n, shared in ((20, 100, True), (20, 99, False), (100, 500, True), (101, 500, False)):
        estimate = estimate_of(np.tile([1, 0, 0], n)[:n], AP, rng.permutation(np.arange(n) % levels))
        assert isinstance(estimate.evidence, Ranking)
        assert (estimate.evidence.steepest is not None) == shared


def test_areas_of_parts_lead_on_plain_rows_alone() -> None:
    """In clusters and under weights the intervals of those lead, as for average precision."""
    rng = np.random.default_rng(5)
    true = (rng.random(80) < 0.4).astype(np.int32)
    models = tuple(ModelOutputs(name, score=rng.normal(size=80) + true) for name in "ab")
    predictions = predictions_on("binary", true, models, 2)
    for units in (sampling_by(80, np.arange(80) // 4), sampling_by(80, weight=1 + rng.random(80))):
        sample = estimate_all(predictions, [AP, PR, PARTIAL], units=units, n_resamples=20, seed=0)
        assert len({recommended(sample.estimates["a", quantity]) for quantity in (AP, PR, PARTIAL)}) == 1


@pytest.mark.parametrize("code", [0, 1, 2])
def test_one_class_against_the_rest_is_the_area_of_two_classes(code: int) -> None:
    """Its interval is that of the same probabilities and that class as the positive one; no draws are needed."""
    random = np.random.default_rng(3)
    true = random.choice(3, 400, p=[0.05, 0.35, 0.6]).astype(np.int32)
    odds = np.exp(random.normal(size=(400, 3)) + 1.5 * np.eye(3)[true])
    proba = odds / odds.sum(axis=1, keepdims=True)
    predictions = predictions_on("multiclass", true, (ModelOutputs("a", proba=proba),), 3)
    quantity = Quantity("roc_auc_ovr", label=predictions.classes[code])
    sample = estimate_all(predictions, [quantity], units=sampling_by(400), n_resamples=2, seed=0)
    found = sample.estimates["a", quantity]
    of_two = estimate_of(true == code, AUC, proba[:, code])
    assert isinstance(of_two, Estimate)
    assert recommended(found) == recommended(of_two) == ("newcombe_auc" if code == 0 else "logit")
    for name in ("logit", "newcombe_auc", "delong"):
        one, other = limits(found, name, 0.95), limits(of_two, name, 0.95)
        assert (one.low, one.high) == pytest.approx((other.low, other.high), rel=1e-12)
