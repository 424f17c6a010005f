"""The permutation test, against R and against the plain enumeration of every way to swap the two models' rows."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import pytest
from scipy import sparse, stats
from scipy.stats import rankdata
from sklearn import metrics as sk

import evalreport
from evalreport.comparisons.permutation import _swapped_weights
from evalreport.comparisons.unit_swaps import swapped_sums
from tests.reference.second_round import agrees, each
from tests.samples.pairs import Source, labels, row, run, scores, values
from tests.samples.swaps import Value, auc, balanced_accuracy, enumerated, f1, mcc, precision

LABELS: dict[str, Value] = {
    "accuracy": lambda t, p, w: float(np.average(t == p, weights=w)),
    "f1": f1,
    "mcc": mcc,
    "precision": precision,
    "balanced_accuracy": balanced_accuracy,
}


@pytest.mark.parametrize("metric", sorted(LABELS))
@pytest.mark.parametrize("seed", [0, 1])
def test_two_classes(metric: str, seed: int) -> None:
    """Binary label metrics on 9 examples: p is the enumerated one (512 swaps), to rounding."""
    random = np.random.default_rng(seed)
    truth = np.tile([0, 1, 1], 3)
    a, b = (np.where(random.random(9) < 0.35, 1 - truth, truth) for _ in range(2))
    found = row(run(labels(truth, a=a, b=b), metrics=(metric,), tests=("permutation",)), "permutation")
    expected = enumerated(truth, a, b, LABELS[metric], np.arange(9), mean=metric == "accuracy")
    assert found.p_value == pytest.approx(expected, abs=1e-12)


@each("swap")
def test_r_by_enumeration(record: Mapping[str, Any]) -> None:
    """Difference, statistic and p are those of R's enumeration of every swap of the discordant rows."""
    inputs, expected = record["inputs"], record["value"]
    source = labels(inputs["truth"], a=inputs["a"], b=inputs["b"])
    found = row(run(source, metrics=(inputs["metric"],), tests=("permutation",)), "permutation")
    assert found.difference is not None
    assert found.statistic is not None
    assert found.p_value is not None
    assert agrees(found.difference, expected["diff"])
    assert agrees(found.statistic, expected["t"])
    assert agrees(found.p_value, expected["p_two_sided"])
    assert found.details["discordant"] == expected["n_discordant"]


@pytest.mark.parametrize("average", ["macro", "weighted"])
def test_several_classes(average: str) -> None:
    """Averaged F1 over three classes on 9 examples."""
    random = np.random.default_rng(5)
    truth = np.tile([0, 1, 2], 3)
    a, b = (np.where(random.random(9) < 0.4, random.integers(0, 3, 9), truth) for _ in range(2))
    found = row(run(labels(truth, a=a, b=b), metrics=(f"f1_{average}",)), "permutation")

    def value(t: np.ndarray, p: np.ndarray, w: np.ndarray) -> float:
        of_class = [f1((t == k).astype(int), (p == k).astype(int), w) for k in range(3)]
        of_all = [w[t == k].sum() for k in range(3)] if average == "weighted" else None
        return float(np.average(of_class, weights=of_all))

    expected = enumerated(truth, a, b, value, np.arange(9))
    assert found.p_value == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize("metric", sorted(LABELS))
@pytest.mark.parametrize("weights", [[0.5, 2.0, 2.0], [0.3, 0.7, 1.1, 1.3, 1.9, 2.3, 2.9, 3.1, 3.7]])
def test_weighted_labels(metric: str, weights: list[float]) -> None:
    """Binary label metrics of 9 weighted examples, in rows and in counts: p is that of all 512 swaps, to rounding."""
    random = np.random.default_rng(4)
    truth, weight = np.tile([0, 1, 1], 3), np.resize(weights, 9)
    a, b = (np.where(random.random(9) < q, 1 - truth, truth) for q in (0.2, 0.5))
    source: Any = {name: {**model, "w": weight.tolist()} for name, model in labels(truth, a=a, b=b).items()}
    counts = {"y_true": truth, "y_pred.a": a, "y_pred.b": b, "w": weight, "count": [1] * 9}
    expected = enumerated(truth, a, b, LABELS[metric], np.arange(9), weight=weight)
    for given in (source, counts):
        found = row(run(given, metrics=(metric,), tests=("permutation",), weight="w"), "permutation")
        assert found.p_value == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize("largest", [3, 60])
def test_sums_of_swapped_weights_have_the_moments_of_fair_coins(largest: int) -> None:
    """Of c rows of weight w each changes sides with probability 1/2, drawn one by one or as numbers of a cell.

    By kind the sums of w and of w^2 have means sum c w / 2, variances sum c w^2 / 4 and so on; within 5 Monte Carlo
    errors of 40,000 swaps.
    """
    random, n = np.random.default_rng(5), 40_000
    sizes, kind = random.integers(1, largest, 30), np.repeat([0, 1, 2], 10)
    weight = random.lognormal(0, 0.5, 30)
    sums, probabilities = _swapped_weights(sizes, weight, kind, n, 0)
    assert probabilities is None
    for k in range(3):
        own, times = weight[kind == k], sizes[kind == k]
        drawn = np.stack([part[:, k] for part in sums])
        powers = np.stack([own, own**2])
        covariance = np.einsum("ai,bi,i->ab", powers, powers, times) / 4
        error = np.sqrt(np.diag(covariance) / n)
        assert (np.abs(drawn.mean(axis=1) - (powers * times).sum(axis=1) / 2) < 5 * error).all()
        assert np.cov(drawn) == pytest.approx(covariance, rel=5 * np.sqrt(2 / n))
    assert abs(np.corrcoef(sums[0][:, 0], sums[0][:, 1])[0, 1]) < 5 / np.sqrt(n)


@pytest.mark.parametrize("metric", ["mae", "rmse", "r2"])
def test_errors_of_values(metric: str) -> None:
    """Means of losses and functions of them: whole predictions change sides."""
    random = np.random.default_rng(6)
    truth = random.normal(size=10)
    a, b = truth + random.normal(size=10), truth + 2 * random.normal(size=10)
    value: dict[str, Value] = {
        "mae": lambda t, p, w: float(np.average(np.abs(t - p), weights=w)),
        "rmse": lambda t, p, w: float(np.sqrt(np.average((t - p) ** 2, weights=w))),
        "r2": lambda t, p, w: float(
            1 - (w * (t - p) ** 2).sum() / (w * (t - np.average(t, weights=w)) ** 2).sum()
        ),
    }
    found = row(run(values(truth, a=a, b=b), metrics=(metric,), tests=("permutation",)), "permutation")
    expected = enumerated(truth, a, b, value[metric], np.arange(10), mean=metric == "mae")
    assert found.p_value == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize("metric", ["roc_auc", "average_precision"])
def test_ranks_change_sides_not_scores(metric: str) -> None:
    """Rank metrics: the mid-ranks within each model are swapped, ties included.

    The enumeration swaps scipy's mid-ranks and takes the metric of them by its definition, which is scikit-learn's.
    """
    random = np.random.default_rng(7)
    truth = np.tile([0, 1, 0], 3)
    a = np.round(truth + random.normal(size=9), 0)
    b = 100 * np.round(truth + 2 * random.normal(size=9), 1)

    def precision_of(t: np.ndarray, s: np.ndarray, w: np.ndarray) -> float:
        flagged = s[None, :] >= np.unique(s)[::-1, None]
        hits = (flagged * (w * t)).sum(axis=1)
        return float((np.diff(hits, prepend=0.0) * hits / (flagged * w).sum(axis=1)).sum() / (w * t).sum())

    ones = np.ones(9)
    assert precision_of(truth, b, ones) == pytest.approx(sk.average_precision_score(truth, b), abs=1e-12)
    value: Value = auc if metric == "roc_auc" else precision_of
    found = row(run(scores(truth, a=a, b=b), metrics=(metric,), tests=("permutation",)), "permutation")
    expected = enumerated(truth, rankdata(a), rankdata(b), value, np.arange(9))
    assert found.p_value == pytest.approx(expected, abs=1e-12)


def test_a_third_model_moves_nothing_in_the_test_of_two() -> None:
    """Swaps are of the two models' own ranks: p-value and number of examples that differ are theirs alone."""
    random = np.random.default_rng(3)
    truth = np.tile([0, 0, 0, 1], 20)
    models = {
        name: truth + spread * random.normal(size=80) for name, spread in (("a", 1), ("b", 2), ("c", 3))
    }

    def of(*names: str) -> dict[str, Any]:
        source = scores(truth, **{name: models[name] for name in names})
        found = row(run(source, metrics=("average_precision",), correction="none"), "permutation")
        return {"p": found.p_value, "statistic": found.statistic, **found.details}

    # With a third model more swaps are drawn, of which the first ones are the same.
    alone, beside = of("a", "b"), of("a", "b", "c")
    assert alone["discordant"] == beside["discordant"]
    assert alone["statistic"] == pytest.approx(beside["statistic"], rel=1e-12)
    assert alone["p"] == pytest.approx(beside["p"], abs=0.02)


@pytest.mark.parametrize("kind", ["labels", "values", "scores"])
def test_whole_clusters_change_sides(kind: str) -> None:
    """Under --cluster a cluster's rows change sides together: 2^9 swaps of 9 clusters of unequal size."""
    random = np.random.default_rng(8)
    unit = np.repeat(np.arange(9), [1, 2, 3, 4, 5, 1, 2, 3, 4])
    truth = np.arange(len(unit)) % 2
    value: Value
    source: Source
    if kind == "labels":
        a, b = (np.where(random.random(25) < q, 1 - truth, truth) for q in (0.2, 0.45))
        source, metric, value = labels(truth, a=a, b=b), "f1", LABELS["f1"]
    elif kind == "values":
        a, b = (truth + s * random.normal(size=25) for s in (1, 1.5))
        source, metric = values(truth + 0.5, a=a + 0.5, b=b + 0.5), "mae"
        value = lambda t, p, w: float(np.average(np.abs(t - p), weights=w))  # noqa: E731
    else:
        a, b = (rankdata(truth + s * random.normal(size=25)) for s in (1, 2))
        source, metric, value = scores(truth, a=a, b=b), "roc_auc", auc
    for model in source.values():
        model["site"] = [f"s{u}" for u in unit]
    found = row(run(source, metrics=(metric,), cluster="site", tests=("permutation",)), "permutation")
    assert not found.recommended, "it stands beside cluster_t"
    assert found.p_value == pytest.approx(
        enumerated(truth, a, b, value, unit, mean=kind == "values"), abs=1e-12
    )


def test_monte_carlo_agrees_with_the_exact_mcnemar_distribution() -> None:
    """With too many kinds to enumerate, p is (count + 1) / (B + 1) of B drawn swaps.

    For accuracy the swap distribution is McNemar's: with seven classes and 60 discordant examples the drawn p
    lies within 4 Monte Carlo errors of the exact binomial p.
    """
    random = np.random.default_rng(9)
    truth = random.integers(0, 7, 300)
    a = np.where(random.random(300) < 0.3, random.integers(0, 7, 300), truth)
    b = np.where(random.random(300) < 0.36, random.integers(0, 7, 300), truth)
    results = run(
        labels(truth, a=a, b=b), metrics=("accuracy",), resamples=4000, tests=("permutation", "mcnemar_exact")
    )
    exact, drawn = row(results, "mcnemar_exact").p_value, row(results, "permutation").p_value
    assert abs(drawn - exact) < 4 * np.sqrt(exact * (1 - exact) / 4000) + 1 / 4001
    assert (drawn * 4001) == pytest.approx(round(drawn * 4001), abs=1e-6)


def test_few_examples_that_change_sides_set_a_floor() -> None:
    """Three discordant examples: 2^3 swaps, so p is at least 2 / 8, and the row says so."""
    truth = np.tile([0, 1], 10)
    a, b = truth.copy(), truth.copy()
    b[[0, 1, 3]] = 1 - b[[0, 1, 3]]
    found = row(run(labels(truth, a=a, b=b), metrics=("f1",), tests=("permutation",)), "permutation")
    assert found.p_value == 0.25
    assert found.reason is not None
    assert "below 0.25" in found.reason


def test_equal_precision_at_unlike_operating_points_is_not_rejected_too_often() -> None:
    """Precision .8 of both models, one calling 12 % positive, the other 40 %: at most 11 % of 200 test sets.

    Three Monte Carlo errors of 8 % are 5.8 points. The study of tests has models further apart.
    """
    random = np.random.default_rng(2026)
    rejected = 0
    for seed in range(200):
        truth = (random.random(400) < 0.5).astype(int)
        # P(positive | 1) : P(positive | 0) = 4 : 1 at an even prevalence is a precision of .8.
        a, b = (
            (random.random(400) < np.where(truth == 1, 1.6, 0.4) * rate).astype(int) for rate in (0.12, 0.4)
        )
        source = labels(truth, a=a, b=b)
        results = run(source, metrics=("precision",), tests=("permutation",), resamples=50, seed=seed)
        p = row(results, "permutation").p_value
        rejected += p is not None and p <= 0.05
    assert rejected / 200 < 0.11 + 3 * np.sqrt(0.08 * 0.92 / 200) / 2


def test_sums_of_swapped_units_have_the_moments_of_fair_coins() -> None:
    """Equal columns always have equal sums; the mean is half the total, the variance a quarter of the squares.

    20,000 swaps: the mean has a standard error of 0.007 standard deviations, the variance one of 1 %.
    """
    random = np.random.default_rng(3)
    units, swaps = 203, 20_000
    filled = random.random((units, 4)) < 0.4
    table = np.where(filled, random.normal(size=(units, 4)), 0.0)
    table = np.column_stack([table, table[:, 0]])
    sums = swapped_sums(sparse.csr_array(table), swaps, 1)
    np.testing.assert_allclose(sums[:, 0], sums[:, 4], rtol=0, atol=1e-12)
    spread = np.sqrt((table**2).sum(axis=0)) / 2
    np.testing.assert_allclose((sums.mean(axis=0) - table.sum(axis=0) / 2) / spread, 0, atol=0.03)
    np.testing.assert_allclose(sums.std(axis=0) / spread, 1, atol=0.03)
    covariance = np.cov(sums[:, :4].T) / np.outer(spread[:4], spread[:4])
    expected = table[:, :4].T @ table[:, :4] / 4 / np.outer(spread[:4], spread[:4])
    np.testing.assert_allclose(covariance, expected, atol=0.03)


def test_sums_of_many_swapped_units_are_those_of_fair_coins() -> None:
    """Of 3,000 units alike the sum is drawn at once: its distribution is that of coins thrown one by one.

    4,000 swaps: two distribution functions differ by 0.044 once in 1,000 times (Kolmogorov and Smirnov); equal columns
    have equal sums, and the third is the sum of the first two.
    """
    random = np.random.default_rng(4)
    units, swaps = 3_000, 4_000
    first, second = random.normal(size=units), random.exponential(size=units)
    table = np.column_stack([first, second, first + second, second])
    sums = swapped_sums(sparse.csr_array(table), swaps, 1)
    np.testing.assert_allclose(sums[:, 2], sums[:, 0] + sums[:, 1], rtol=0, atol=1e-9)
    np.testing.assert_allclose(sums[:, 3], sums[:, 1], rtol=0, atol=1e-9)
    coins = random.integers(0, 2, (swaps, units)) @ table
    for of_one, of_coins in (
        (sums[:, 0], coins[:, 0]),
        (sums[:, 1], coins[:, 1]),
        (sums @ [1, -2, 0, 0], coins @ [1, -2, 0, 0]),
    ):
        assert stats.ks_2samp(of_one, of_coins).statistic < 0.044


def test_sums_of_many_units_alike_take_the_values_of_coins() -> None:
    """Changes of 1 or -1, as of losses of 0 and 1: the sum is a whole number, and a p-value holds all of an atom."""
    table = np.ones((1_000, 1))
    table[:300] = -1
    sums = swapped_sums(sparse.csr_array(table), 2_000, 1)
    np.testing.assert_array_equal(sums, np.round(sums))


@pytest.mark.parametrize("largest", [1e-170, 1e160, np.inf])
def test_sums_of_huge_and_tiny_units(largest: float) -> None:
    """Squares that leave the range of doubles spoil no sum of another column, and stop nothing."""
    random = np.random.default_rng(5)
    table = random.normal(size=(2_000, 2)) * [1.0, min(largest, 1e160)]
    if largest == np.inf:
        table[5, 1] = np.inf
    sums = swapped_sums(sparse.csr_array(table), 4_000, 1)
    spread = np.sqrt((table[:, 0] ** 2).sum()) / 2
    assert sums[:, 0].std() == pytest.approx(spread, rel=0.05)
    if largest < np.inf:
        size = np.sqrt(((table[:, 1] / largest) ** 2).sum()) / 2
        assert (sums[:, 1] / largest).std() == pytest.approx(size, rel=0.05)


def test_one_unit_that_makes_most_of_a_sum_is_tossed_by_itself() -> None:
    """3,000 units of which one is a hundred times as large: no sum lies in the middle, where the normal one is most."""
    table = np.ones((3_000, 1))
    table[7] = 1_000.0
    sums = swapped_sums(sparse.csr_array(table), 2_000, 1)[:, 0]
    assert (np.abs(sums - table.sum() / 2) > 300).all()


def test_without_a_named_test_only_the_primary_metric_has_more_than_one() -> None:
    """Every other metric carries the test that leads alone; `--test all` brings the others back."""
    random = np.random.default_rng(4)
    truth = random.integers(0, 2, 80)
    source = {
        name: {"y_true": truth, "p_1": np.clip(truth * 0.4 + 0.6 * random.random(80), 0.01, 0.99)}
        for name in "ab"
    }
    plain, every = (
        evalreport.evaluate(source, resamples=100, threshold=0.5, **named)
        for named in ({}, {"tests": ["all"]})
    )
    primary = [c.test for c in plain.comparisons if c.metric == "accuracy" and c.b]
    assert primary[0] == "mcnemar_midp"
    assert len(primary) > 1
    others = [c for c in plain.comparisons if c.metric != "accuracy" and c.b]
    assert others
    assert all(c.leads for c in others)
    assert len(every.comparisons) > 2 * len(plain.comparisons)
