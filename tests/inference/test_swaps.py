"""The permutation test, against the plain enumeration of every way to swap the two models' rows."""

from __future__ import annotations

from collections.abc import Callable
from itertools import product

import numpy as np
import pytest
from scipy.stats import rankdata
from sklearn import metrics as sk

from .sources import Source, labels, row, run, scores, values

Value = Callable[[np.ndarray, np.ndarray], float]


def enumerated(truth: np.ndarray, a: np.ndarray, b: np.ndarray, value: Value, unit: np.ndarray) -> float:
    """Return the share of all 2^units swaps whose difference is as large as the observed one."""
    observed = abs(value(truth, a) - value(truth, b))
    extreme = 0
    for bits in product([False, True], repeat=int(unit.max()) + 1):
        swap = np.array(bits)[unit]
        first, second = np.where(swap, b, a), np.where(swap, a, b)
        extreme += abs(value(truth, first) - value(truth, second)) >= observed - 1e-12
    return float(extreme / 2 ** (unit.max() + 1))


LABELS: dict[str, Value] = {
    "accuracy": lambda t, p: float(np.mean(t == p)),
    "f1": lambda t, p: sk.f1_score(t, p, zero_division=0),
    "mcc": lambda t, p: sk.matthews_corrcoef(t, p),
    "precision": lambda t, p: sk.precision_score(t, p, zero_division=0),
    "balanced_accuracy": lambda t, p: sk.balanced_accuracy_score(t, p),
}


@pytest.mark.parametrize("metric", sorted(LABELS))
@pytest.mark.parametrize("seed", [0, 1])
def test_two_classes(metric: str, seed: int) -> None:
    """Binary label metrics on 9 examples: p is the enumerated one (512 swaps), to rounding."""
    random = np.random.default_rng(seed)
    truth = np.tile([0, 1, 1], 3)
    a, b = (np.where(random.random(9) < 0.35, 1 - truth, truth) for _ in range(2))
    found = row(run(labels(truth, a=a, b=b), metrics=(metric,), tests=("permutation",)), "permutation")
    expected = enumerated(truth, a, b, LABELS[metric], np.arange(9))
    assert found.p_value == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize("average", ["macro", "weighted"])
def test_several_classes(average: str) -> None:
    """Averaged F1 over three classes on 9 examples."""
    random = np.random.default_rng(5)
    truth = np.tile([0, 1, 2], 3)
    a, b = (np.where(random.random(9) < 0.4, random.integers(0, 3, 9), truth) for _ in range(2))
    found = row(run(labels(truth, a=a, b=b), metrics=(f"f1_{average}",)), "permutation")

    def value(t: np.ndarray, p: np.ndarray) -> float:
        return float(sk.f1_score(t, p, average=average, labels=[0, 1, 2], zero_division=0))

    expected = enumerated(truth, a, b, value, np.arange(9))
    assert found.p_value == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize("metric", ["mae", "rmse", "r2"])
def test_errors_of_values(metric: str) -> None:
    """Means of losses and functions of them: whole predictions change sides."""
    random = np.random.default_rng(6)
    truth = random.normal(size=10)
    a, b = truth + random.normal(size=10), truth + 2 * random.normal(size=10)
    value: dict[str, Value] = {
        "mae": lambda t, p: sk.mean_absolute_error(t, p),
        "rmse": lambda t, p: sk.root_mean_squared_error(t, p),
        "r2": lambda t, p: sk.r2_score(t, p),
    }
    found = row(run(values(truth, a=a, b=b), metrics=(metric,), tests=("permutation",)), "permutation")
    assert found.p_value == pytest.approx(enumerated(truth, a, b, value[metric], np.arange(10)), abs=1e-12)


@pytest.mark.parametrize("metric", ["roc_auc", "average_precision"])
def test_ranks_change_sides_not_scores(metric: str) -> None:
    """Rank metrics: the mid-ranks within each model are swapped, ties included.

    The enumeration swaps scipy's mid-ranks and takes scikit-learn's metric of them.
    """
    random = np.random.default_rng(7)
    truth = np.tile([0, 1, 0], 3)
    a = np.round(truth + random.normal(size=9), 0)
    b = 100 * np.round(truth + 2 * random.normal(size=9), 1)
    value: Value = sk.roc_auc_score if metric == "roc_auc" else sk.average_precision_score
    found = row(run(scores(truth, a=a, b=b), metrics=(metric,), tests=("permutation",)), "permutation")
    expected = enumerated(truth, rankdata(a), rankdata(b), value, np.arange(9))
    assert found.p_value == pytest.approx(expected, abs=1e-12)


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
        source, metric, value = values(truth + 0.5, a=a + 0.5, b=b + 0.5), "mae", sk.mean_absolute_error
    else:
        a, b = (rankdata(truth + s * random.normal(size=25)) for s in (1, 2))
        source, metric, value = scores(truth, a=a, b=b), "roc_auc", sk.roc_auc_score
    for model in source.values():
        model["site"] = [f"s{u}" for u in unit]
    found = row(run(source, metrics=(metric,), cluster="site"), "permutation")
    assert found.recommended
    assert found.p_value == pytest.approx(enumerated(truth, a, b, value, unit), abs=1e-12)


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
