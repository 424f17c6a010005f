"""Gates on the ratio of two models' values agree with Fieller's limits and are undecided where there are none."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import optimize, stats

import evalreport
from evalreport.errors import UsageError
from evalreport.gates.conditions import parse


def labels(seed, n=200, error=0.2):
    """Return the rows of one model, whose truth is the same for every seed."""
    rng, truth = np.random.default_rng(seed), np.random.default_rng(99).integers(0, 2, n)
    wrong = rng.random(n) < error
    return {
        "id": [f"q{i:04}" for i in range(n)], "y_true": truth, "y_pred": np.where(wrong, 1 - truth, truth),
        "lang": ["de", "en"] * (n // 2), "group": [f"g{i // 5}" for i in range(n)],
    }  # fmt: skip


def run(*gates, models=None, **options):
    """Compare two models under gates."""
    given = {"new": labels(1), "old": labels(2, error=0.25)} if models is None else models
    options = {"metrics": ["accuracy"], "resamples": 50, **options}
    return evalreport.evaluate(given, gates=list(gates), **options)


def score(x, y, level=0.95):
    """Return the ratios of two shares that the restricted score test does not reject, its likelihood by search."""
    n, z = len(x), stats.norm.ppf((1 + level) / 2)
    a, b, c = (float((one & other).sum()) for one, other in ((x, y), (x, ~y), (~x, y)))

    def statistic(r):
        def shares(q):
            # Both right s, only the first p: s + p = r (s + q), and all three add up to t.
            t = (a + b + c) / n
            s = (t - (1 + r) * q) / r
            return s, r * q + (r - 1) * s

        def unlikely(q):
            s, p = shares(q)
            if min(s, p, q) <= 0:
                return math.inf
            return -sum(k * math.log(v) for k, v in ((a, s), (b, p), (c, q)) if k)

        t = (a + b + c) / n
        least, most = max(0.0, (1 - r) * t), t / (1 + r)
        q = optimize.minimize_scalar(
            unlikely, bounds=(least, most), method="bounded", options={"xatol": 1e-13}
        ).x
        s, p = shares(q)
        variance = n * (s * (1 - r) ** 2 + p + r * r * q)
        return ((a + b) - r * (a + c)) / math.sqrt(variance)

    ratio = (a + b) / (a + c)
    return (
        optimize.brentq(lambda r: statistic(r) - z, 0.5 * ratio, ratio),
        optimize.brentq(lambda r: statistic(r) + z, ratio, 2 * ratio),
    )


def fieller(x, y, level=0.95):
    """Return Fieller's limits of mean(x) / mean(y): roots of the quadratic in k."""
    n, t = len(x), stats.t.ppf((1 + level) / 2, len(x) - 1)
    (vx, c), (_, vy) = np.cov(x, y) / n
    a, b, d = y.mean() ** 2 - t**2 * vy, x.mean() * y.mean() - t**2 * c, x.mean() ** 2 - t**2 * vx
    root = math.sqrt(b**2 - a * d)
    return (b - root) / a, (b + root) / a


def test_the_ratio_of_two_shares_has_the_limits_of_the_restricted_score():
    """Shares of right answers, pair by pair; over all examples and within a slice; also of wrong ones."""
    results = run(
        "new.accuracy >= 0.9 * old.accuracy", "new.accuracy[lang=de] / old.accuracy[lang=de] >= 0.9"
    )
    x, y = (np.equal(m["y_true"], m["y_pred"]) for m in (labels(1), labels(2, error=0.25)))
    for row, rows in zip(results.metric_ratios, (slice(None), slice(None, None, 2)), strict=True):
        assert row.ratio == pytest.approx(x[rows].mean() / y[rows].mean())
        assert (row.low, row.high) == pytest.approx(score(x[rows], y[rows]), rel=1e-6)
        assert row.method == "score"
    assert [g.value for g in results.gates] == [r.ratio for r in results.metric_ratios]
    (wrong,) = run("new.error_rate <= 1.1 * old.error_rate", metrics=["error_rate"]).metric_ratios
    assert (wrong.low, wrong.high) == pytest.approx(score(~x, ~y), rel=1e-6)


def test_the_ratio_of_two_mean_losses_has_fiellers_limits():
    """Mean absolute errors, pair by pair."""
    rng = np.random.default_rng(3)
    truth = rng.normal(size=80)
    models = {
        name: {"id": [str(i) for i in range(80)], "y_true": truth, "y_pred": truth + s * rng.normal(size=80)}
        for name, s in (("new", 1.0), ("old", 1.3))
    }
    row = run("new.mae <= 1.0 * old.mae", models=models, metrics=["mae"]).metric_ratios[0]
    x, y = (np.abs(m["y_pred"] - truth) for m in models.values())
    assert (row.low, row.high) == pytest.approx(fieller(x, y), rel=1e-9)


@pytest.mark.parametrize(("bar", "outcome"), [("0.5", "pass"), ("1.05", "undecided"), ("3", "fail")])
def test_the_outcome_is_that_of_the_limits(bar, outcome):
    """Written either way; turned round, the limits are the inverted ones."""
    results = run(
        f"new.accuracy >= {bar} * old.accuracy",
        f"new.accuracy / old.accuracy >= {bar}",
        "old.accuracy / new.accuracy <= 9",
    )
    first, second, _ = results.gates
    assert first.outcome == second.outcome == outcome
    there, back = results.metric_ratios
    assert (there.low, there.high) == pytest.approx((1 / back.high, 1 / back.low), rel=1e-9)


def test_other_metrics_have_the_limits_of_their_influence_values():
    """F1 is 2 TP / (2 TP + FP + FN): its influence by hand, a - k b at the limits is one t error from 0."""
    row = run("new.f1 >= 0.9 * old.f1", metrics=["f1"]).metric_ratios[0]
    values, influences = [], []
    for model in (labels(1), labels(2, error=0.25)):
        truth, said = model["y_true"], model["y_pred"]
        twice, sums = 2 * ((truth == 1) & (said == 1)), 0.0 + truth + said
        f1 = twice.sum() / sums.sum()
        values.append(f1)
        influences.append((twice - f1 * sums) / sums.mean())

    def beyond(k):
        z = influences[0] - k * influences[1]
        error = math.sqrt((z**2).sum() / (len(z) - 1) / len(z))
        return abs(values[0] - k * values[1]) - stats.t.ppf(0.975, len(z) - 1) * error

    ratio = values[0] / values[1]
    assert row.low == pytest.approx(optimize.brentq(beyond, 0.3 * ratio, ratio), rel=1e-6)
    assert row.high == pytest.approx(optimize.brentq(beyond, ratio, 3 * ratio), rel=1e-6)


def test_clusters_and_independent_sets_have_limits_of_their_own():
    """Clusters of five widen nothing here but differ; two test sets are wider than pairs by what they share."""
    gate = "new.accuracy >= 0.9 * old.accuracy"
    plain, clustered = run(gate).metric_ratios[0], run(gate, cluster="group").metric_ratios[0]
    assert clustered.ratio == plain.ratio
    assert clustered.high - clustered.low != plain.high - plain.low
    apart = labels(2, error=0.25) | {"id": [f"other{i}" for i in range(200)]}
    found = run(gate, models={"new": labels(1), "old": apart}, join="independent").metric_ratios[0]
    assert found.method == "square_and_add"
    values = evalreport.evaluate(
        {"new": labels(1), "old": apart}, join="independent", metrics=["accuracy"], resamples=50
    ).metrics
    (x, lx, ux), (y, ly, uy) = ((m.value, m.intervals[0].low, m.intervals[0].high) for m in values)
    low = x / y * math.exp(-math.hypot(math.log(x / lx), math.log(uy / y)))
    high = x / y * math.exp(math.hypot(math.log(ux / x), math.log(y / ly)))
    assert (found.low, found.high) == pytest.approx((low, high), rel=1e-12)


def test_without_spread_nothing_is_decided():
    """Two models without an error on 20 questions: no interval, no pass."""
    whole = labels(1, n=20, error=0)
    gate = run("new.accuracy >= 0.9 * old.accuracy", models={"new": whole, "old": whole}).gates[0]
    assert (gate.outcome, gate.value) == ("undecided", 1)
    wrong = labels(1, n=20, error=1)
    gate = run("new.accuracy >= 0.9 * old.accuracy", models={"new": whole, "old": wrong}).gates[0]
    assert (gate.outcome, gate.value) == ("undecided", None)


@pytest.mark.parametrize(
    ("gate", "problem"),
    [
        ("new.accuracy >= 0.9 * old.f1", "one metric"),
        ("new.accuracy >= 0 * old.accuracy", "above 0"),
        ("new.accuracy[lang=de] >= 0.9 * old.accuracy[lang=en]", "same examples"),
        ("new.accuracy[lang=fr] >= 0.9 * old.accuracy[lang=fr]", "unknown value"),
        ("new.nothing >= 0.9 * old.nothing", "unknown metric"),
    ],
)
def test_ratios_that_mean_nothing_are_refused(gate, problem):
    """CONTRACT: exit 2."""
    with pytest.raises(UsageError, match=problem):
        run(gate, slices=["lang"])


def test_costs_and_groups_of_one_model_are_no_ratios_of_models():
    """They have limits of their own."""
    texts = (
        "a.f1 >= 0.9 * b.f1",
        "a.cost_mean <= 2 * b.cost_mean",
        "a.f1[s=x] / a.f1[s=y] >= 0.8",
        "a.f1 >= b.f1",
    )
    assert [parse(text, models=["a", "b"]).of_models for text in texts] == [True, False, False, False]
