"""The permutation test, against R and against the plain enumeration of every way to swap the two models' rows."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import pytest

import evalreport
from evalreport.comparisons.permutation import outcomes
from tests.reference.second_round import agrees, each
from tests.samples.cases import every, quick
from tests.samples.pairs import Source, labels, row, run, scores, values
from tests.samples.swaps import Value, balanced_accuracy, enumerated, f1, mcc, precision

LABELS: dict[str, Value] = {
    "accuracy": lambda t, p, w: float(np.average(t == p, weights=w)),
    "f1": f1,
    "mcc": mcc,
    "precision": precision,
    "balanced_accuracy": balanced_accuracy,
}


@pytest.mark.parametrize("metric", sorted(LABELS))
@pytest.mark.parametrize("seed", every(2, [0, 1]))
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
    found = row(
        run(labels(truth, a=a, b=b), metrics=(f"f1_{average}",), tests=("permutation",)), "permutation"
    )

    def value(t: np.ndarray, p: np.ndarray, w: np.ndarray) -> float:
        of_class = [f1((t == k).astype(int), (p == k).astype(int), w) for k in range(3)]
        of_all = [w[t == k].sum() for k in range(3)] if average == "weighted" else None
        return float(np.average(of_class, weights=of_all))

    expected = enumerated(truth, a, b, value, np.arange(9))
    assert found.p_value == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize("metric", every(2, sorted(LABELS)))
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


@pytest.mark.parametrize("metric", every(3, ["mae", "rmse", "r2"]))
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


@pytest.mark.slow
def test_a_third_model_moves_nothing_in_the_test_of_two() -> None:
    """Swaps are of the two models' own errors: p-value and number of examples that differ are theirs alone."""
    random = np.random.default_rng(3)
    truth = np.tile([0, 0, 0, 1], 20)
    models = {
        name: truth + spread * random.normal(size=80) for name, spread in (("a", 1), ("b", 2), ("c", 3))
    }

    def of(*names: str) -> dict[str, Any]:
        source = values(truth, **{name: models[name] for name in names})
        found = row(run(source, metrics=("rmse",), tests=("permutation",)), "permutation")
        return {"p": found.p_value, "statistic": found.statistic, **found.details}

    # With a third model more swaps are drawn, of which the first ones are the same.
    alone, beside = of("a", "b"), of("a", "b", "c")
    assert alone["discordant"] == beside["discordant"]
    assert alone["statistic"] == pytest.approx(beside["statistic"], rel=1e-12)
    assert alone["p"] == pytest.approx(beside["p"], abs=0.02)


@pytest.mark.parametrize("kind", ["labels", "values"])
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
    else:
        a, b = (truth + s * random.normal(size=25) for s in (1, 1.5))
        source, metric = values(truth + 0.5, a=a + 0.5, b=b + 0.5), "mae"
        value = lambda t, p, w: float(np.average(np.abs(t - p), weights=w))  # noqa: E731
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


@pytest.mark.slow
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


def relative_error(t: np.ndarray, p: np.ndarray, w: np.ndarray) -> float:
    """Return the absolute error over that of the mean truth."""
    return float((w * np.abs(t - p)).sum() / (w * np.abs(t - np.average(t, weights=w))).sum())


def median_error(t: np.ndarray, p: np.ndarray, w: np.ndarray) -> float:
    """Return the median of the absolute errors."""
    return float(np.median(np.abs(t - p)))


VALUES: dict[str, Value] = {"medae": median_error, "rae": relative_error}


@pytest.mark.parametrize("metric", every(2, sorted(VALUES)))
def test_values_of_all_rows(metric: str) -> None:
    """Predictions themselves change sides; RAE has influence values, so that each swap is studentised."""
    random = np.random.default_rng(4)
    truth = random.normal(size=10)
    a, b = truth + random.normal(size=10), truth + 2 * random.normal(size=10)
    found = row(run(values(truth, a=a, b=b), metrics=(metric,), tests=("permutation",)), "permutation")
    expected = enumerated(truth, a, b, VALUES[metric], np.arange(10), mean=metric != "rae")
    assert found.p_value == pytest.approx(expected, abs=1e-12)
    assert ("exchangeable" in str(found.caution)) == (metric != "rae")


def test_whole_clusters_of_rows_change_sides() -> None:
    """Under --cluster a cluster's rows change sides together."""
    random = np.random.default_rng(8)
    unit = np.repeat(np.arange(9), [1, 2, 3, 4, 5, 1, 2, 3, 4])
    truth = random.normal(size=25)
    a, b = truth + random.normal(size=25), truth + 1.5 * random.normal(size=25)
    source = values(truth, a=a, b=b)
    for model in source.values():
        model["site"] = [f"s{u}" for u in unit]
    found = row(run(source, metrics=("medae",), cluster="site", tests=("permutation",)), "permutation")
    expected = enumerated(truth, a, b, VALUES["medae"], unit, mean=True)
    assert found.p_value == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize("metric", quick(["rmse", "r2", "r2_correlation"], ["rmse"]))
def test_drawn_swaps_find_the_p_of_single_units(metric: str) -> None:
    """The p-value is that of the definition under swaps drawn apart, to five Monte Carlo errors."""
    random = np.random.default_rng(11)
    n = 60
    truth = random.normal(size=n)
    a, b = truth + random.normal(size=n), truth + 1.25 * random.normal(size=n)
    results = run(values(truth, a=a, b=b), metrics=(metric,), resamples=20_000, tests=("permutation",))
    found = row(results, "permutation")

    def influence(p: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        if metric == "rmse":
            value = np.sqrt(((p - truth) ** 2).mean(axis=-1, keepdims=True))
            return value, ((p - truth) ** 2 - value**2) / (2 * value)
        y, f = truth - truth.mean(), p - p.mean(axis=-1, keepdims=True)
        if metric == "r2":
            value = 1 - ((p - truth) ** 2).sum(axis=-1, keepdims=True) / (y * y).sum()
            return value, -((p - truth) ** 2 - (1 - value) * y * y) / (y * y).mean()
        r = (y * f).sum(axis=-1, keepdims=True) / np.sqrt((y * y).sum() * (f * f).sum(axis=-1, keepdims=True))
        u, v = y / y.std(), f / f.std(axis=-1, keepdims=True)
        return r * r, 2 * r * (u * v - r * (u * u + v * v) / 2)

    def statistic(first: np.ndarray, second: np.ndarray) -> np.ndarray:
        (one, by_one), (other, by_other) = influence(first), influence(second)
        squares = ((by_one - by_other) ** 2).sum(axis=-1)
        return np.abs(one - other)[..., 0] / np.sqrt(squares / (n * (n - 1)))

    swaps = 20_000
    bits = random.random((swaps, n)) < 0.5
    p = float(np.mean(statistic(np.where(bits, b, a), np.where(bits, a, b)) >= statistic(a, b)))
    assert 0.02 < p < 0.9
    assert found.p_value == pytest.approx(p, abs=5 * np.sqrt(2 * p * (1 - p) / swaps))


def test_outcomes_are_those_of_fair_coins() -> None:
    """Of 3, 1 and 40 units: enumerated while 8 are few; drawn numbers have means c / 2 and variances c / 4."""
    every, probabilities = outcomes(np.array([3, 1]), 10, 0)
    assert probabilities is not None
    assert sorted(zip(*every.T, probabilities, strict=True)) == [
        (k, j, p / 16) for k, p in enumerate([1, 3, 3, 1]) for j in (0, 1)
    ]
    sizes = np.array([3, 1, 40, 900])
    drawn, none = outcomes(sizes, 40_000, 0)
    assert none is None
    assert np.abs(drawn.mean(axis=0) - sizes / 2).max() < 5 * np.sqrt(900 / 4 / 40_000)
    assert drawn.var(axis=0) == pytest.approx(sizes / 4, rel=5 * np.sqrt(2 / 40_000))


def test_rank_metrics_are_refused_with_the_test_that_serves() -> None:
    """Raw scores of two models have no common scale."""
    random = np.random.default_rng(7)
    truth = np.tile([0, 1, 0], 10)
    source = scores(truth, a=truth + random.normal(size=30), b=truth + random.normal(size=30))
    for metrics in (("roc_auc",), ("average_precision",), ("eer",), ()):
        with pytest.raises(evalreport.errors.UsageError, match="delong"):
            run(source, metrics=metrics, tests=("permutation",))


def test_more_than_10000_units_are_not_swapped() -> None:
    """The row says so and has no p-value; the recommended test has one."""
    random = np.random.default_rng(7)
    truth = random.integers(0, 2, 10_001)
    a, b = (np.where(random.random(10_001) < share, 1 - truth, truth) for share in (0.2, 0.21))
    results = run(labels(truth, a=a, b=b), metrics=("mcc",), tests=("permutation",), resamples=50)
    assert row(results, "permutation").p_value is None
    assert "10000" in str(row(results, "permutation").reason)
    assert row(results, "interval").p_value is not None


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
