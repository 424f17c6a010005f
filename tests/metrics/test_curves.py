"""Whatever the scores: curves rise or fall as they must, begin and end where they must, and areas count pairs."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from evalreport.metrics.curves import (
    CURVES,
    accuracy_rejection,
    far,
    frr,
    gain,
    lift,
    pareto,
    pr,
    pr_interpolated,
    precision_of,
    record_of,
    rejection_area,
    reliability,
    right_at_coverage,
    roc,
    roc_hull,
)
from evalreport.metrics.threshold_counts import Forecasts, ThresholdCounts, visible_points
from evalreport.questions.thresholds.curves import interpolated_area, partial_area
from tests.samples.curves import counts_along

# Sums of up to 40 shares in another order.
ROUNDING = 1e-12


@st.composite
def rankings(draw: st.DrawFn) -> tuple[np.ndarray, np.ndarray]:
    """Scores on few levels, so that many tie, with both classes."""
    n = draw(st.integers(2, 40))
    positive = draw(arrays(bool, n))
    positive[0], positive[-1] = True, False
    levels = draw(st.integers(1, 12))
    return draw(arrays(np.int64, n, elements=st.integers(0, levels))) / 4 - 1, positive


def threshold_counts_of(ranking: tuple[np.ndarray, np.ndarray]) -> ThresholdCounts:
    """Count along drawn scores."""
    return counts_along(*ranking)


@given(rankings())
def test_roc_rises_from_none_to_all(ranking):
    """Both rates rise together from (0, 0) to (1, 1) as the threshold falls."""
    points = roc(threshold_counts_of(ranking))
    assert (points.x[0], points.y[0], points.x[-1], points.y[-1]) == (0, 0, 1, 1)
    assert (np.diff(points.x) >= 0).all()
    assert (np.diff(points.y) >= 0).all()
    assert (np.diff(points.threshold[1:]) < 0).all()


@given(rankings())
def test_the_area_counts_pairs_with_ties_at_one_half(ranking):
    """Trapezoids under the ROC curve: share of pairs in which the positive is higher, a tie one half."""
    scores, positive = ranking
    points = roc(threshold_counts_of(ranking))
    pairs = np.sign(scores[positive][:, None] - scores[~positive][None, :])
    assert np.trapezoid(points.y, points.x) == pytest.approx((pairs + 1).mean() / 2, abs=ROUNDING)
    assert partial_area(points.x, points.y, 1.0) == pytest.approx((pairs + 1).mean() / 2, abs=ROUNDING)


@given(rankings())
def test_the_hull_is_concave_and_above_the_curve(ranking):
    """Its slopes fall, it touches the curve in its corners, and no point of the curve lies above it."""
    one = threshold_counts_of(ranking)
    curve, hull = roc(one), roc_hull(one)
    slopes = np.divide(
        np.diff(hull.y), np.diff(hull.x), out=np.full(len(hull.x) - 1, np.inf), where=np.diff(hull.x) > 0
    )
    assert (np.diff(slopes[np.isfinite(slopes)]) < 0).all()
    assert not np.isinf(slopes[1:]).any()
    assert (np.interp(curve.x, hull.x, hull.y) >= curve.y - ROUNDING).all()
    assert {*zip(hull.x, hull.y, strict=True)} <= {*zip(curve.x, curve.y, strict=True)}
    corners = one.hull
    assert (corners[0], corners[-1]) == (0, len(one.thresholds))


@given(rankings())
def test_precision_recall_ends_at_the_share_of_positives(ranking):
    """At recall 1 with everything called the precision is P / (P + N); it begins with the first threshold's."""
    points = pr(threshold_counts_of(ranking))
    positive = ranking[1]
    assert (points.x[0], points.x[-1]) == (0, 1)
    assert points.y[-1] == pytest.approx(positive.mean(), abs=ROUNDING)
    assert points.y[0] == points.y[1]


@given(rankings())
def test_interpolated_precision_is_the_best_from_there_on(ranking):
    """At every recall the highest precision at that recall or more, straight from the definition; it never rises."""
    one = threshold_counts_of(ranking)
    points = pr_interpolated(one)
    assert (np.diff(points.y) <= 0).all()
    precision, recall = precision_of(one), one.tpr[1:]
    for r in recall:
        place = np.searchsorted(points.x[1:], r, side="left") + 1
        assert points.y[place] == precision[recall >= r].max()


@given(rankings())
def test_the_pareto_front_is_what_no_other_threshold_beats(ranking):
    """A point is on the front where no other has both more precision and as much recall, or the other way round."""
    one = threshold_counts_of(ranking)
    precision, recall = precision_of(one), one.tpr[1:]
    front = {
        (r, p)
        for r, p in zip(recall, precision, strict=True)
        if r > 0 and not ((recall >= r) & (precision >= p) & ((recall > r) | (precision > p))).any()
    }
    points = pareto(one)
    assert {*zip(points.x, points.y, strict=True)} == front
    assert (np.diff(points.x) > 0).all()
    assert (np.diff(points.y) < 0).all()


@given(rankings())
def test_error_rates_by_threshold_go_opposite_ways(ranking):
    """A higher threshold accepts fewer negatives and rejects more positives, from the definition at each score."""
    scores, positive = ranking
    accepted, rejected = far(threshold_counts_of(ranking)), frr(threshold_counts_of(ranking))
    assert (np.diff(accepted.y) <= 0).all()
    assert (np.diff(rejected.y) >= 0).all()
    for threshold, share, missed in zip(accepted.x, accepted.y, rejected.y, strict=True):
        assert share == pytest.approx((scores[~positive] >= threshold).mean(), abs=ROUNDING)
        assert missed == pytest.approx((scores[positive] < threshold).mean(), abs=ROUNDING)


@given(rankings())
def test_gain_and_lift_are_one_another(ranking):
    """Lift is gain by the share called; at the end both are 1."""
    gained, lifted = gain(threshold_counts_of(ranking)), lift(threshold_counts_of(ranking))
    assert (gained.x[0], gained.y[0], gained.x[-1], gained.y[-1]) == (0, 0, 1, 1)
    assert lifted.y[-1] == pytest.approx(1, abs=ROUNDING)
    assert lifted.y * lifted.x == pytest.approx(gained.y[1:], abs=ROUNDING)


@given(rankings())
def test_weights_are_repetitions(ranking):
    """An example of weight 3 counts as three of weight 1, in every curve of scores."""
    scores, positive = ranking
    weights = np.arange(len(scores)) % 3 + 1
    weighted = counts_along(scores, positive, weights.astype(np.float64))
    repeated = counts_along(np.repeat(scores, weights), np.repeat(positive, weights))
    for entry in CURVES.values():
        if entry.needs == "scores":
            one, other = entry.function(weighted), entry.function(repeated)
            assert one.x == pytest.approx(other.x, abs=ROUNDING), entry.name
            assert one.y == pytest.approx(other.y, abs=ROUNDING), entry.name


@given(rankings(), st.integers(3, 30))
def test_thinning_keeps_ends_and_never_has_more_points(ranking, most):
    """The first and the last point stay, and a record has at most so many, in order."""
    points = roc(threshold_counts_of(ranking))
    kept = visible_points(points.x, points.y, most)
    assert (kept[0], kept[-1]) == (0, len(points.x) - 1)
    assert len(kept) <= most
    assert (np.diff(kept) > 0).all()


def test_thinning_does_not_change_what_is_seen():
    """Of 20,000 points 500 stay, and nowhere does the polyline move by more than 1/200 of the square."""
    random = np.random.default_rng(0)
    positive = random.random(20_000) < 0.3
    points = roc(counts_along(random.normal(size=20_000) + 1.2 * positive, positive))
    record = record_of(CURVES["roc"], points, model="m")
    assert len(record.x) <= 500
    grid = np.linspace(0, 1, 1001)
    whole = np.interp(grid, points.x, points.y)
    assert np.abs(np.interp(grid, record.x, record.y) - whole).max() < 1 / 200


def test_thinning_knows_no_scale():
    """Scores of any size are thinned alike, up to the largest that a double holds."""
    x = np.array([0.0, 1.0, 2.0, 3.0, 4.0])
    y = np.array([0.0, 0.0, 1.0, 1.0, 1.0])
    for size in (1e-300, 1.0, 4e307):
        assert visible_points((x - 2) * size, y, 10).tolist() == [0, 1, 2, 4]


def forecasts_of(p: np.ndarray, positive: np.ndarray) -> Forecasts:
    """Return forecasts whose answers are those from one half on."""
    right = (p >= 0.5) == positive
    return Forecasts("m", p, positive, np.maximum(p, 1 - p), right, np.ones(len(p)))


@given(rankings())
def test_reliability_bins_hold_every_example(ranking):
    """The counts add up to n, mean forecasts lie in their bins, and shares are those of the bins."""
    scores, positive = ranking
    p = (scores + 1) / 3
    points = reliability(forecasts_of(p, positive))
    assert points.count.sum() == len(p)
    assert (np.diff(points.x) > 0).all()
    assert points.count @ points.y == pytest.approx(positive.sum(), abs=ROUNDING * len(p))
    assert points.count @ points.x == pytest.approx(p.sum(), abs=ROUNDING * len(p))


@given(rankings())
def test_rejecting_nothing_leaves_the_accuracy(ranking):
    """At 0 rejected stands the accuracy; every point is the accuracy of those at least as certain."""
    scores, positive = ranking
    given_here = forecasts_of((scores + 1) / 3, positive)
    points = accuracy_rejection(given_here)
    assert points.x[0] == 0
    assert points.y[0] == pytest.approx(given_here.right.mean(), abs=ROUNDING)
    for share, accuracy, certain in zip(points.x, points.y, points.threshold, strict=True):
        kept = given_here.confidence >= certain
        assert share == pytest.approx(1 - kept.mean(), abs=ROUNDING)
        assert accuracy == pytest.approx(given_here.right[kept].mean(), abs=ROUNDING)


@pytest.mark.slow
@given(rankings())
def test_the_rejection_area_is_the_mean_accuracy_over_coverages(ranking):
    """The closed form agrees with adding up the accuracy at 20,000 coverages."""
    scores, positive = ranking
    kept, right = forecasts_of((scores + 1) / 3, positive).kept_and_right[1:]
    coverages = (np.arange(20_000) + 0.5) / 20_000
    accuracy = right_at_coverage(kept, right, coverages) / (coverages * kept[-1])
    # The midpoint rule on 20,000 pieces of a curve whose slope is largest where it begins.
    assert rejection_area(kept, right) == pytest.approx(accuracy.mean(), abs=1e-4)


@given(rankings())
def test_the_interpolated_area_is_that_of_false_positives_rising_in_line(ranking):
    """The closed form agrees with adding up TP / (TP + FP) at 20,000 recalls, FP in line between thresholds."""
    one = threshold_counts_of(ranking)
    # Of several thresholds with one number of true positives the first has fewest false ones, the last begins a line.
    starts = np.flatnonzero(np.diff(one.found) > 0)
    recalls = (np.arange(20_000) + 0.5) / 20_000 * one.positives
    piece = np.searchsorted(one.found[starts + 1], recalls)
    begin, end = starts[piece], starts[piece] + 1
    share = (recalls - one.found[begin]) / (one.found[end] - one.found[begin])
    wrong = one.wrong[begin] + share * (one.wrong[end] - one.wrong[begin])
    # The midpoint rule: precision is steepest at recall 0, where it may begin at 0 and rise at once.
    assert interpolated_area(one) == pytest.approx((recalls / (recalls + wrong)).mean(), abs=1e-3)


def test_examples_of_weight_zero_are_no_step_of_the_rejection_curve():
    """The same curve and area as without the example that counts nothing, wherever it would stand."""
    p, came_true = np.array([0.9, 0.8, 0.7, 0.6]), np.array([True, False, True, True])
    held = np.array([True, True, False, True])
    every = Forecasts("m", p, came_true, p, came_true, held.astype(float))
    some = Forecasts("m", p[held], came_true[held], p[held], came_true[held], np.ones(3))
    for one, other in zip(every.kept_and_right, some.kept_and_right, strict=True):
        assert one.tolist() == other.tolist()
    assert rejection_area(*every.kept_and_right[1:]) == rejection_area(*some.kept_and_right[1:])


def test_a_corner_that_stands_twice_is_kept():
    """An example of weight 0 repeats a point of the curve: thinning leaves the corner where it is."""
    x, y = np.array([0.0, 0.0, 0.0, 0.5, 1.0, 1.0]), np.array([0.0, 0.6, 0.6, 0.8, 1.0, 1.0])
    kept = visible_points(x, y, 500)
    assert [(x[i], y[i]) for i in kept] == [(0.0, 0.0), (0.0, 0.6), (1.0, 1.0)]
    assert kept[-1] == 5
