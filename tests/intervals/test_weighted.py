"""Values in a bounded range under weights: limits on the logit scale."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats
from sklearn.metrics import balanced_accuracy_score, matthews_corrcoef, roc_auc_score

import evalreport as er
from evalreport.engine.counts import kish
from evalreport.predictions.arrays import Floats

N = 120
RANDOM = np.random.default_rng(62)
TRUTH = (RANDOM.random(N) < 0.4).astype(int)
SCORE = np.round(RANDOM.normal(size=N) + 1.3 * TRUTH, 1)
WEIGHT = RANDOM.lognormal(0, 0.8, N)
HOME = RANDOM.integers(0, 30, N)


def run(metric: str, **columns: list[object]) -> er.Results:
    """Evaluate one model under the weights w, in homes where there is such a column."""
    source = {
        "id": [f"{i:03d}" for i in range(N)],
        "y_true": TRUTH.tolist(),
        "score": SCORE.tolist(),
        "y_pred": (SCORE > 0.6).astype(int).tolist(),
        **columns,
    }
    cluster = "home" if "home" in columns else None
    return er.evaluate({"a": source}, metrics=[metric], weight="w", cluster=cluster, resamples=2)


def slopes_of_area(weight: Floats) -> tuple[float, Floats]:
    """Return the area by all pairs, and its derivative by each weight, times the weight."""
    positive, negative = TRUTH == 1, TRUTH == 0
    wins = np.sign(SCORE[positive][:, None] - SCORE[negative][None]) / 2 + 0.5
    p, q = weight[positive], weight[negative]
    area = float(p @ wins @ q / p.sum() / q.sum())
    u = np.zeros(N)
    u[positive] = p * (wins @ q / q.sum() - area) / p.sum()
    u[negative] = q * (p @ wins / p.sum() - area) / q.sum()
    return area, u


def on_the_logit(value: float, error: float, df: float) -> tuple[float, float]:
    """Return t errors about the logit of a share, mapped back."""
    half = stats.t.ppf(0.975, df) * error / (value * (1 - value))
    centre = np.log(value / (1 - value))
    return 1 / (1 + np.exp(half - centre)), 1 / (1 + np.exp(-half - centre))


def by_kurtosis(u: Floats, df: float) -> float:
    """Return the fewer of some degrees of freedom and those that the kurtosis leaves."""
    return float(min(df, 2 * len(u) / (len(u) * (u**4).sum() / (u**2).sum() ** 2 - 1)))


def test_an_area_under_weights_has_limits_on_the_logit_scale() -> None:
    """Derivatives by all pairs; n / (n - 1), the fewer of Kish's n - 1 and the degrees of freedom by the kurtosis."""
    area, u = slopes_of_area(WEIGHT)
    assert area == pytest.approx(roc_auc_score(TRUTH, SCORE, sample_weight=WEIGHT), rel=1e-12)
    error, df = np.sqrt(N / (N - 1) * (u**2).sum()), by_kurtosis(u, kish(WEIGHT) - 1)
    record = run("roc_auc", w=WEIGHT.tolist()).metrics[0]
    leading = record.intervals[0]
    assert leading.method == "weighted_logit"
    assert record.value == pytest.approx(area, rel=1e-12)
    assert (leading.low, leading.high) == pytest.approx(on_the_logit(area, error, df), rel=1e-9)


def test_an_area_of_weighted_clusters_has_the_cluster_robust_error_on_the_logit_scale() -> None:
    """CR2 with summed weights as sizes; the fewer of Satterthwaite's degrees of freedom and those by the kurtosis."""
    area, by_example = slopes_of_area(WEIGHT)
    u, sizes = np.bincount(HOME, by_example), np.bincount(HOME, WEIGHT)
    h = sizes / sizes.sum()
    pull = h**2 / (1 - h)
    df = 1 / ((pull / (1 - h)).sum() - 2 * (pull * h / (1 - h)).sum() + pull.sum() ** 2)
    error = np.sqrt((u**2 / (1 - h)).sum())
    leading = run("roc_auc", w=WEIGHT.tolist(), home=HOME.tolist()).metrics[0].intervals[0]
    assert leading.method == "weighted_logit"
    assert (leading.low, leading.high) == pytest.approx(
        on_the_logit(area, error, by_kurtosis(u, df)), rel=1e-9
    )


@pytest.mark.parametrize("metric", ["balanced_accuracy", "mcc"])
def test_other_bounded_values_have_limits_within_their_range(metric: str) -> None:
    """The values are scikit-learn's; the limits hold them, and are not symmetric."""
    scored = {"balanced_accuracy": balanced_accuracy_score, "mcc": matthews_corrcoef}[metric]
    record = run(metric, w=WEIGHT.tolist()).metrics[0]
    assert record.value == pytest.approx(scored(TRUTH, SCORE > 0.6, sample_weight=WEIGHT), rel=1e-12)
    leading = record.intervals[0]
    assert leading.method == "weighted_logit"
    assert leading.low is not None
    assert leading.high is not None
    assert record.value - leading.low > leading.high - record.value


def test_a_perfect_ranking_under_weights_has_a_width() -> None:
    """The area is 1: nothing varies, and the limits are those of a share of effective examples."""
    source = {"id": list("abcdefgh"), "y_true": [0, 0, 0, 0, 1, 1, 1, 1], "score": [1, 2, 3, 4, 5, 6, 7, 8]}
    source["w"] = [1, 2, 1, 2, 1, 2, 1, 2]
    leading = er.evaluate({"a": source}, metrics=["roc_auc"], weight="w", resamples=2).metrics[0].intervals[0]
    assert leading.low is not None
    assert leading.low < 0.9
    assert leading.high == 1.0


@pytest.mark.parametrize("hits", [10, 7, 0])
def test_the_first_ten_of_weights_are_ten_and_no_more(hits: int) -> None:
    """Ten of ten, or none, under equal weights have the limits of ten trials, not of as many as there are positives."""
    truth = np.arange(200) % 2
    truth[-10:] = np.arange(10) < hits
    columns = {"p_1": np.linspace(0.01, 0.99, 200), "w": np.full(200, 2.0)}
    results = er.evaluate({"a": columns}, truth=truth, weight="w", metrics=["precision_at_10"], resamples=400)
    interval = results.metrics[0].intervals[0]
    low, high = stats.binomtest(hits, 10).proportion_ci(method="wilson")
    assert results.metrics[0].value == hits / 10
    if hits in (0, 10):
        assert (interval.low, interval.high) == pytest.approx((low, high), abs=1e-12)
    else:
        assert interval.low is None or interval.high - interval.low > 0.8 * (high - low)
