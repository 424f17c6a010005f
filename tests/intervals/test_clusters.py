"""Intervals and tests of clusters, and of F1 under weights: R's values through a run, rows as counts, units, edges."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import pytest

from evalreport.engine.cluster_variance import variance_of_clusters
from evalreport.engine.distributions import t_quantile
from evalreport.intervals.proportions import score_limits
from tests.reference.third_round import assert_agrees, each
from tests.samples.pairs import Source, labels, row, run, values

RANDOM = np.random.default_rng(20)
SITE = np.repeat(np.arange(9), RANDOM.integers(2, 15, 9))
TRUTH = RANDOM.integers(0, 2, len(SITE))
CHANCE = RANDOM.uniform(0.5, 1, 9)[SITE]
A, B = (np.where(RANDOM.random(len(SITE)) < chance, TRUTH, 1 - TRUTH) for chance in (CHANCE, CHANCE - 0.1))


def sited(source: Source, site: Any = SITE) -> Source:
    """Return models with their examples' clusters."""
    return {name: {**model, "site": [f"s{s}" for s in site]} for name, model in source.items()}


@each("cluster_accuracy", "cluster_f1")
def test_values_by_clusters_have_the_references_limits(case: Mapping[str, Any]) -> None:
    """Accuracy and F1: value, error and Wilson's limits by R."""
    given, metric = case["input"], case["method"].removeprefix("cluster_")
    source = sited(labels(given["y_true"], a=given["y_pred"]), given["cluster"])
    (record,) = run(source, metrics=(metric,), cluster="site").metrics
    first = record.intervals[0]
    assert first.method == "cluster_wilson"
    error = record.standard_error
    assert error is not None
    found = {"value": record.value, "variance": error**2, "low": first.low, "high": first.high}
    assert_agrees(found, case)


@each("cluster_difference")
def test_differences_by_clusters_have_the_references_test(case: Mapping[str, Any]) -> None:
    """The leading test's p-value and limits, which are the verdict's and the gate's too."""
    given = case["input"]
    source = sited(labels(given["y_true"], a=given["a"], b=given["b"]), given["cluster"])
    results = run(source, metrics=("accuracy",), cluster="site", gates=("a.accuracy - b.accuracy >= -0.3",))
    leading = row(results, "cluster_t")
    assert leading.recommended
    assert leading.interval_method == "cluster_t"
    found = {"value": leading.difference, "low": leading.low, "high": leading.high}
    assert_agrees({**found, "p": leading.p_value, "df": leading.df}, case)
    (verdict,), (gate,) = results.verdicts, results.gates
    assert (verdict.low, verdict.high) == pytest.approx((leading.low, leading.high), rel=1e-12)
    assert (gate.low, gate.high) == pytest.approx((leading.low, leading.high), rel=1e-12)
    assert gate.outcome == "pass"


@each("weighted_f1")
def test_f1_under_weights_has_the_references_limits(case: Mapping[str, Any]) -> None:
    """The Jaccard index's effective number of trials by R's survey, mapped to F1; from counts as from rows."""
    given = case["input"]
    source = labels(given["y_true"], a=given["y_pred"])
    source["a"]["w"] = given["weight"]
    text = {name: [str(value) for value in given[name]] for name in ("y_true", "y_pred")}
    ones = [1] * len(text["y_true"])
    counts = {"y_true": text["y_true"], "y_pred.a": text["y_pred"], "w": given["weight"], "count": ones}
    for columns in (source, counts):
        (record,) = run(columns, metrics=("f1",), weight="w", task="binary", positive="1").metrics
        first = record.intervals[0]
        assert first.method == "weighted_wilson"
        assert_agrees({"value": record.value, "low": first.low, "high": first.high}, case)


def test_weighted_f1_of_1_has_kishs_number_of_trials() -> None:
    """J = 1 leaves Korn and Graubard's number undefined: 4 positives of weights 1, 1, 2, 2 are 36 / 10 trials."""
    truth, weight = [1, 1, 1, 1, 0, 0], [1.0, 1.0, 2.0, 2.0, 3.0, 3.0]
    source = labels(truth, a=truth)
    source["a"]["w"] = weight
    first = run(source, metrics=("f1",), weight="w", positive="1").metrics[0].intervals[0]
    assert first.high == 1
    # Wilson's lower limit of m of m is m / (m + t^2), with t of 144 / 28 - 1 degrees of freedom; F1 is 2 J / (1 + J).
    from scipy import stats

    jaccard = 3.6 / (3.6 + stats.t.ppf(0.975, 144 / 28 - 1) ** 2)
    assert first.low == pytest.approx(2 * jaccard / (1 + jaccard), rel=1e-12)


@pytest.mark.parametrize("metric", ["accuracy", "f1", "mcc"])
def test_clusters_of_counts_are_those_of_rows(metric: str) -> None:
    """A table of counts with the cluster as a column has the limits and the p-value of its examples."""
    results = run(sited(labels(TRUTH, a=A, b=B)), metrics=(metric,), cluster="site", positive="1")
    cells, times = np.unique(np.stack([SITE, TRUTH, A, B]), axis=1, return_counts=True)
    site, *told = ([str(value) for value in column] for column in cells)
    table = {
        "site": site,
        "y_true": told[0],
        "y_pred.a": told[1],
        "y_pred.b": told[2],
        "count": times.tolist(),
    }
    counted = run(table, metrics=(metric,), cluster="site", task="binary", positive="1")
    for one, other in zip(results.metrics, counted.metrics, strict=True):
        first, second = one.intervals[0], other.intervals[0]
        assert first.method == second.method == "cluster_wilson"
        assert (first.low, first.high) == pytest.approx((second.low, second.high), rel=1e-12)
    by_rows, by_counts = row(results, "cluster_t"), row(counted, "cluster_t")
    assert by_rows.p_value == pytest.approx(by_counts.p_value, rel=1e-12)
    assert (by_rows.low, by_rows.high) == pytest.approx((by_counts.low, by_counts.high), rel=1e-12)


@pytest.mark.parametrize("unit", [1e-12, 1.0, 1e12])
def test_unbounded_values_by_clusters_scale_with_their_unit(unit: float) -> None:
    """RMSE and MSE: the limits are the unit's, or its square's, and the p-value stays."""
    random = np.random.default_rng(3)
    truth = random.normal(size=len(SITE))
    errors = [random.normal(size=9)[SITE] + random.normal(size=len(SITE)) for _ in "ab"]
    plain, scaled = (
        run(
            sited(values(u * truth, a=u * (truth + errors[0]), b=u * (truth + 2 * errors[1]))),
            metrics=("rmse", "mse"),
            cluster="site",
        )
        for u in (1.0, unit)
    )
    for one, other in zip(plain.metrics, scaled.metrics, strict=True):
        factor = unit if one.metric == "rmse" else unit**2
        first, second = one.intervals[0], other.intervals[0]
        assert first.method == second.method == "cluster_t"
        assert second.low == pytest.approx(factor * first.low, rel=1e-9)
        assert second.high == pytest.approx(factor * first.high, rel=1e-9)
    assert row(scaled, "cluster_t").p_value == pytest.approx(row(plain, "cluster_t").p_value, rel=1e-9)


def test_fewer_errors_than_a_cluster_holds_bring_two_made_up_clusters() -> None:
    """Eight clusters of ten with four errors in one: e = 8 * 4/80 = 0.4, V + (1 - 0.4) (s^2 + (1-s)^2) / (16 * 56)."""
    from scipy import stats

    site = np.repeat(np.arange(8), 10)
    truth = np.arange(80) % 2
    said = np.where(np.arange(80) < 4, 1 - truth, truth)
    (record,) = run(sited(labels(truth, a=said), site), metrics=("accuracy",), cluster="site").metrics
    s = 76 / 80
    sums = np.bincount(site, weights=((said == truth) - s) / 80)
    within = s * (1 - s) / 80
    between = (sums**2).sum() / 10
    msb, msw = between / 7, (within - between) / 72
    rho = (msb - msw) / (msb + 9 * msw)
    variance = max(8 / 7 * (sums**2).sum(), within * (1 + 9 * rho))
    variance += (1 - 0.4) * (s**2 + (1 - s) ** 2) / (16 * 56)
    limits = score_limits(s, s * (1 - s) / variance, stats.t.ppf(0.975, 7))
    assert (record.intervals[0].low, record.intervals[0].high) == pytest.approx(limits, rel=1e-9)


def test_slices_of_clusters_lead_with_the_same_rules() -> None:
    """A slice's clusters are its own: those without an example in it do not enter."""
    source = sited(labels(TRUTH, a=A, b=B))
    for model in source.values():
        model["half"] = ["first" if s < 5 else "second" for s in SITE]
    results = run(source, metrics=("accuracy",), cluster="site", slices=("half",))
    inside = SITE < 5
    alone = run(
        sited(labels(TRUTH[inside], a=A[inside], b=B[inside]), SITE[inside]),
        metrics=("accuracy",),
        cluster="site",
    )
    sliced = [r for r in results.metrics if r.slice is not None and r.slice.value == "first"]
    for one, other in zip(sliced, alone.metrics, strict=True):
        assert one.intervals[0].method == "cluster_wilson"
        assert (one.intervals[0].low, one.intervals[0].high) == (
            other.intervals[0].low,
            other.intervals[0].high,
        )


SETS = 3000
"""Data sets of a simulation: a share of 95 % has a Monte Carlo standard error of 0.4 points, one of 3 % of 0.3."""


@pytest.mark.slow
@pytest.mark.parametrize("clusters", [8, 20])
def test_values_and_differences_hold_on_skewed_clusters_of_400_down_to_10_examples(clusters: int) -> None:
    """Accuracy 0.8, correlation 0.2: at least 93 % hold, on both sides of the truth at most 4 % of the values miss.

    A gate at the bar passes wrongly where the whole interval of the value lies above it. CR2 alone holds 91 %.
    """
    random = np.random.default_rng(80 + clusters)
    sizes = np.round(np.geomspace(400, 10, clusters))
    n, truth = int(sizes.sum()), 0.8
    below = above = missed = 0
    for _ in range(SETS):
        chances = [random.beta(4 * truth, 4 * (1 - truth), clusters) for _ in "ab"]
        first, second = (random.binomial(sizes.astype(int), chance).astype(float) for chance in chances)
        value = first.sum() / n
        found = variance_of_clusters((first - sizes * value) / n, sizes, value * (1 - value) / n)
        assert found is not None
        low, high = score_limits(value, value * (1 - value) / found.variance, t_quantile(0.975, found.df))
        below, above = below + (high < truth), above + (low > truth)
        difference, moved = value - second.sum() / n, first - second
        # Answers of the two models are independent within a cluster: the expected sum of squared differences.
        shares = first / sizes, second / sizes
        squares = float((sizes * sum(share * (1 - share) for share in shares) + moved**2 / sizes).sum())
        squares = squares / n**2 - difference**2 / n
        of_both = variance_of_clusters((moved - sizes * difference) / n, sizes, squares)
        assert of_both is not None
        missed += abs(difference) > t_quantile(0.975, of_both.df) * of_both.variance**0.5
    assert (below + above) / SETS < 0.07
    assert missed / SETS < 0.07
    assert max(below, above) / SETS < 0.04
