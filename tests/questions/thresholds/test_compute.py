"""Murphy curves and who is ahead at every cost ratio, against counts by hand and scikit-learn's Brier score."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.metrics import brier_score_loss

import evalreport as er
from evalreport.intervals.at_rates import benefit_difference_limits
from evalreport.metrics.curves import murphy
from evalreport.metrics.threshold_counts import Forecasts
from evalreport.plots.curves import curve_of

pytestmark = pytest.mark.usefixtures("primary_alone")


def elementary(p: np.ndarray, y: np.ndarray, at: float) -> np.ndarray:
    """Return each example's score: 1 - t where an event is missed, t where a false alarm is raised."""
    return np.where(y == 1, (1 - at) * (p < at), at * (p >= at))


def models(n: int, seed: int, noises: tuple[float, ...]) -> dict[str, dict]:
    """Return models of the same events: their log odds with noise of some spreads."""
    random = np.random.default_rng(seed)
    x = 1.5 * random.normal(size=n) - 0.5
    y = (random.random(n) < 1 / (1 + np.exp(-x))).astype(int)
    ids = [f"{i:05d}" for i in range(n)]
    return {
        f"m{k}": {"id": ids, "y_true": y, "p_1": 1 / (1 + np.exp(-x - noise * random.normal(size=n)))}
        for k, noise in enumerate(noises)
    }


@pytest.mark.parametrize("digits", [2, 12])
@pytest.mark.parametrize("weighted", [False, True])
def test_twice_the_area_is_the_brier_score(digits: int, weighted: bool) -> None:
    """With ties and without, with weights and without (scikit-learn's brier_score_loss)."""
    random = np.random.default_rng(4)
    p = np.round(random.random(300), digits)
    y = random.random(300) < p**2
    w = random.integers(0, 4, 300).astype(float) if weighted else np.ones(300)
    points = murphy(Forecasts("m", p, y, None, None, w))
    area = np.trapezoid(points.y, points.x)
    assert 2 * area == pytest.approx(brier_score_loss(y, p, sample_weight=w), rel=1e-12)


def test_the_curve_is_the_mean_elementary_score_at_each_threshold() -> None:
    """At any threshold that is no probability, by the examples' scores; 0 at both ends."""
    random = np.random.default_rng(5)
    p, y = random.random(50), random.random(50) < 0.4
    points = murphy(Forecasts("m", p, y, None, None, np.ones(50)))
    for at in (0.013, 0.2, 0.51, 0.987):
        assert np.interp(at, points.x, points.y) == pytest.approx(elementary(p, y, at).mean(), abs=1e-12)
    assert (points.x[0], points.y[0], points.x[-1], points.y[-1]) == (0, 0, 1, 0)


def test_differences_are_those_of_the_scores_with_limits_over_thresholds_and_pairs() -> None:
    """Other less reference, the lowest Brier score; limits by hand from the net benefit at the shared level."""
    source = models(800, 7, (0.2, 1.0, 2.5))
    results = er.evaluate(source, resamples=20)
    brier = {name: np.mean((m["p_1"] - m["y_true"]) ** 2) for name, m in source.items()}
    best = min(brier, key=lambda name: brier[name])
    assert [(r.a, r.b) for r in results.murphy_differences] == [(m, best) for m in source if m != best]
    y = source[best]["y_true"]
    q = source[best]["p_1"]
    for record in results.murphy_differences:
        # 19 thresholds and three pairs, since the data choose the reference.
        assert record.level == pytest.approx(1 - 0.05 / (19 * 3))
        assert record.threshold == pytest.approx([k / 20 for k in range(1, 20)])
        p = source[record.a]["p_1"]
        for at, value, low, high in zip(
            record.threshold, record.difference, record.low, record.high, strict=True
        ):
            expected = (elementary(p, y, at) - elementary(q, y, at)).mean()
            assert value == pytest.approx(expected, abs=1e-12)
            a, b = p >= at, q >= at
            kinds = [((a & ~b & of).sum(), (b & ~a & of).sum()) for of in (y == 1, y == 0)]
            limits = benefit_difference_limits(*kinds, 800, at, record.level)
            assert (low, high) == pytest.approx((-(1 - at) * limits[1], -(1 - at) * limits[0]), abs=1e-12)
            assert low <= value <= high
    noisiest = next(r for r in results.murphy_differences if r.a == "m2")
    assert max(noisiest.low) > 0


def test_a_baseline_is_the_reference_and_its_pairs_are_the_family() -> None:
    """Two pairs share the error, not three."""
    records = er.evaluate(models(300, 8, (0.2, 1.0, 2.5)), resamples=20, baseline="m1").murphy_differences
    assert [(r.a, r.b) for r in records] == [("m0", "m1"), ("m2", "m1")]
    assert records[0].level == pytest.approx(1 - 0.05 / (19 * 2))


def test_the_axis_ends_where_hardly_any_probability_lies_above() -> None:
    """Probabilities below 4 %: twenty thresholds up to 5 %."""
    source = models(400, 9, (0.2, 1.0))
    for model in source.values():
        model["p_1"] = 0.04 * model["p_1"]
    (record,) = er.evaluate(source, resamples=20).murphy_differences
    assert record.threshold == pytest.approx([0.05 * k / 20 for k in range(1, 21)])


@pytest.mark.slow
def test_under_weights_and_clusters_limits_are_those_of_the_sampling() -> None:
    """Weights of one for all examples change no value; the limits are a t interval about it."""
    source = models(400, 10, (0.2, 1.0))
    plain = er.evaluate(source, resamples=20).murphy_differences[0]
    for model in source.values():
        model["patient"] = [f"p{i // 2}" for i in range(400)]
    (record,) = er.evaluate(source, resamples=20, cluster="patient").murphy_differences
    assert record.difference == pytest.approx(plain.difference, abs=1e-12)
    widths = [high - low for low, high in zip(record.low, record.high, strict=True)]
    assert widths == pytest.approx(
        [2 * (high - value) for high, value in zip(record.high, record.difference, strict=True)], abs=1e-12
    )


def test_one_model_has_a_curve_and_no_difference() -> None:
    """Who is ahead needs two; labels alone have neither."""
    results = er.evaluate(models(100, 11, (0.5,)), resamples=20)
    assert results.murphy_differences == []
    assert curve_of(results, "m0", "murphy", None) is not None
    labels = {
        "a": {"y_true": [0, 1] * 30, "y_pred": [0, 1] * 30},
        "b": {"y_true": [0, 1] * 30, "y_pred": [0] * 60},
    }
    assert er.evaluate(labels, resamples=20).murphy_differences == []
