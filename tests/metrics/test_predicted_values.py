"""The records that charts of single predictions are drawn of: binned or thinned, never the raw rows."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import evalreport
from evalreport import plots
from evalreport.metrics.predicted_values import MOST_POINTS, SCORE_BINS
from evalreport.schema.results import Results

pytestmark = pytest.mark.usefixtures("primary_alone")


def evaluated(rows: dict[str, Any], **options: Any) -> Results:
    """Evaluate without replicates that matter."""
    return evalreport.evaluate(rows, resamples=50, **options)


def test_probabilities_are_counted_in_bins_a_twentieth_wide() -> None:
    """By hand: [a, b), the last closed; a probability on an edge counts in the bin that begins there."""
    p = [0.0, 0.05, 0.0999, 0.15, 0.95, 1.0]
    results = evaluated({"m": {"p_1": p}}, truth=[0, 0, 0, 1, 1, 1], positive="1")
    low, high = results.score_histograms
    assert (low.true, low.positive, low.scale, low.n) == ("0", False, "probability", 3)
    assert low.counts == (1, 2, *[0] * 18)
    assert high.counts == (0, 0, 0, 1, *[0] * 15, 2)
    assert low.edges == pytest.approx([k / 20 for k in range(21)])


def test_bare_scores_have_edges_of_their_own_and_lose_no_example() -> None:
    """One score far away stretches no bin (its bin holds what lies beyond), and every class adds up to its size."""
    scores = [*np.linspace(-1, 1, 2000), 1e9]
    truth = [i % 2 for i in range(2001)]
    results = evaluated({"m": {"score": scores}}, truth=truth, positive="1")
    assert {r.scale for r in results.score_histograms} == {"score"}
    assert [sum(r.counts) for r in results.score_histograms] == [1001, 1000]
    assert results.score_histograms[0].edges[-1] < 2
    assert len(results.score_histograms[0].counts) == SCORE_BINS


def test_whole_scores_have_a_bin_each_and_the_true_median() -> None:
    """A risk score of 4 to 13 points: ten bins of one value each, none left out, and the medians that numpy gives."""
    rng = np.random.default_rng(3)
    truth = [i % 3 == 0 for i in range(90)]
    score = np.where(truth, rng.integers(6, 13, 90), rng.integers(4, 9, 90)).astype(float)
    score[:2] = (13.0, 4.0)
    results = evaluated({"m": {"score": score}}, truth=[int(t) for t in truth], positive="1")
    low, high = results.score_histograms
    assert low.edges == tuple(k - 0.5 for k in range(4, 15))
    assert high.counts == tuple(int(((score == k) & truth).sum()) for k in range(4, 14))
    assert [low.median, high.median] == [
        np.quantile(score[np.array(truth) == side], 0.5, method="inverted_cdf") for side in (False, True)
    ]


def test_medians_are_weighted() -> None:
    """By hand: half of the weight 4 is reached at 0.7."""
    rows = {"m": {"p_1": [0.2, 0.7, 0.9, 0.1], "w": [1.0, 2.0, 1.0, 1.0]}}
    results = evaluated(rows, truth=[1, 1, 1, 0], positive="1", weight="w")
    assert [r.median for r in results.score_histograms] == [0.1, 0.7]


@pytest.mark.parametrize("scores", [[3.0, 3.0, 3.0, 3.0], [-1.7e308, 0.0, 1.0, 1.7e308]])
def test_scores_without_width_or_without_bounds_are_counted(scores: list[float]) -> None:
    """All scores the same, or as far apart as doubles can be: finite edges, every example in a bin."""
    results = evaluated({"m": {"score": scores}}, truth=[0, 1, 0, 1], positive="1")
    assert all(np.isfinite(r.edges).all() and sum(r.counts) == 2 for r in results.score_histograms)


def test_weights_count_in_the_bars() -> None:
    """An example of weight 3 counts three times."""
    results = evaluated({"m": {"p_1": [0.1, 0.9], "w": [3.0, 1.0]}}, truth=[0, 1], positive="1", weight="w")
    assert [sum(r.counts) for r in results.score_histograms] == [3, 1]


def test_calibration_in_bins_by_hand() -> None:
    """Ten examples are two bins of five by prediction; means, and Student's t of the errors, from the textbook."""
    predicted = [1.0, 2.0, 3.0, 4.0, 5.0, 11.0, 12.0, 13.0, 14.0, 15.0]
    true = [1.5, 2.0, 2.5, 4.0, 5.0, 10.0, 12.0, 14.0, 14.0, 15.0]
    (record,) = evaluated({"m": {"y_pred": predicted}}, truth=true, task="regression").residuals
    assert record.bin_predicted == (3.0, 13.0)
    assert record.bin_true == (3.0, 13.0)
    assert record.bin_count == (5.0, 5.0)
    # Errors of the second bin: -1, 0, 1, 0, 0: standard deviation sqrt(1/2); t(0.975, 4) = 2.776445 (tables).
    half = 2.776445 * 0.5**0.5 / 5**0.5
    assert record.bin_high[1] == pytest.approx(13 + half, abs=1e-6)
    assert record.bin_low[1] == pytest.approx(13 - half, abs=1e-6)
    assert (record.n, record.level) == (10, 0.95)


def test_equal_predictions_stay_in_one_bin() -> None:
    """A constant model has one bin, with the mean of all true values."""
    truth = list(np.arange(60.0))
    (record,) = evaluated({"m": {"y_pred": [7.0] * 60}}, truth=truth, task="regression").residuals
    assert record.bin_predicted == (7.0,)
    assert record.bin_true == (29.5,)


def test_examples_in_clusters_have_no_limits() -> None:
    """Student's t of single errors would be too narrow: the limits are left out."""
    rows = {"y_pred": list(np.arange(40.0)), "who": [f"c{k // 4}" for k in range(40)]}
    (record,) = evaluated(
        {"m": rows}, truth=list(np.arange(40.0) + 1), task="regression", cluster="who"
    ).residuals
    assert set(record.bin_low) == {None}


def test_of_many_examples_few_are_kept_with_the_largest_errors() -> None:
    """Ten thousand rows leave at most two hundred points; the one error that stands out is among them."""
    random = np.random.default_rng(0)
    true = random.normal(size=10_000)
    predicted = true + 0.1 * random.normal(size=10_000)
    predicted[1234] = 99.0
    (record,) = evaluated({"m": {"y_pred": predicted}}, truth=true, task="regression").residuals
    assert len(record.predicted) == len(record.true) <= MOST_POINTS
    assert 99.0 in record.predicted
    assert sum(record.bin_count) == 10_000


def test_other_tasks_have_neither() -> None:
    """Labels alone have no scores, and classes no residuals."""
    results = evaluated({"m": {"y_pred": [0, 1, 1, 0]}}, truth=[0, 1, 0, 0])
    assert (results.score_histograms, results.residuals) == ([], [])


@pytest.mark.parametrize("chart", [plots.predicted_true, plots.residuals])
def test_the_largest_errors_are_drawn_last(chart: Callable[..., Any]) -> None:
    """Points that are drawn first lie below the others: the examples come in the order of their errors."""
    truth = [1.0, 2.0, 3.0, 4.0, 5.0, 6.0]
    wrong = [0.9, -0.1, 0.4, -2.0, 0.2, 0.0]
    made = {"ridge": {"y_pred": [t + e for t, e in zip(truth, wrong, strict=True)]}}
    results = evaluated(made, truth=truth, task="regression")
    points = next(line for line in chart(results, "ridge").lines if line.get_linestyle() == "None")
    x, y = points.get_xdata(), points.get_ydata()
    errors = [abs(b) if chart is plots.residuals else abs(b - a) for a, b in zip(x, y, strict=True)]
    assert errors == sorted(errors)
    assert errors[-1] == pytest.approx(2.0)
