"""Metrics that only a name, an order or another task brings inherit the invariances of test_invariances.py."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np
import pytest

import evalreport as er
from evalreport.metrics.registry import METRICS
from evalreport.schema.results import Results
from tests.samples.cases import every

from .strategies import same

N = 40
Table = dict[str, list[Any]]
Source = dict[str, Table]
RISK = ("aurc", "e_aurc", "accuracy[at_coverage=0.8]")
GRADES = ("quadratic_kappa", "linear_kappa", "mean_class_distance", "within_one_class")
AT_RATES = (
    "recall[at_fpr=0.1]", "precision[at_rate=0.2]", "recall[at_rate=0.2]", "specificity[at_recall=0.8]",
    "precision[at_recall=0.8]", "net_benefit[at=0.2]",
)  # fmt: skip
ORDER = ("low", "mid", "high", "top")


def two(make: Callable[[np.random.Generator, float], Table], seed: int) -> Source:
    """Return a better and a worse model on the same rows."""
    rows = {"id": [f"e{k:02d}" for k in range(N)]}
    return {name: rows | make(np.random.default_rng(seed), noise) for name, noise in (("a", 0.6), ("b", 1.1))}


def grades(random: np.random.Generator, noise: float) -> Table:
    """Classes in an order."""
    true = random.integers(0, 4, N)
    given = np.clip(np.rint(true + noise * random.normal(size=N)), 0, 3).astype(int)
    return {"y_true": [ORDER[k] for k in true], "y_pred": [ORDER[k] for k in given]}


def of_two_classes(random: np.random.Generator, noise: float) -> Table:
    """Probabilities of two classes, some of them tied."""
    true = random.integers(0, 2, N)
    p = np.clip(np.round(0.5 + 0.3 * (2 * true - 1) + 0.3 * noise * random.normal(size=N), 1), 0, 1)
    return {"y_true": [str(k) for k in true], "p_1": p.tolist()}


def of_three_classes(random: np.random.Generator, noise: float) -> Table:
    """Probabilities of three classes, some of them tied."""
    true = random.integers(0, 3, N)
    # No two classes are equally likely: the first of them in order would be the label, and names would matter.
    raw = random.permuted(np.tile([1.0, 2.0, 3.0], (N, 1)), axis=1) + (1.5 / noise) * (
        np.arange(3) == true[:, None]
    )
    p = raw / raw.sum(axis=1, keepdims=True)
    return {"y_true": [f"k{k}" for k in true]} | {f"p_k{k}": p[:, k].tolist() for k in range(3)}


def quantiles(random: np.random.Generator, noise: float) -> Table:
    """Five quantiles of a number."""
    mean = random.normal(10, 3, N)
    true = mean + random.normal(size=N)
    steps = {0.05: -1.6, 0.25: -0.7, 0.5: 0.0, 0.75: 0.7, 0.95: 1.6}
    return {"y_true": true.tolist()} | {f"q_{q}": (mean + noise * z).tolist() for q, z in steps.items()}


def sets(random: np.random.Generator, noise: float) -> Table:
    """Sets of classes."""
    true = random.integers(0, 3, N)
    held = (random.random((N, 3)) < 0.4 * noise) | (np.arange(3) == true[:, None]) & (
        random.random((N, 1)) < 0.9
    )
    return {
        "y_true": [f"k{k}" for k in true],
        "y_set": ["|".join(f"k{k}" for k in range(3) if row[k]) or "{}" for row in held],
    }


def sums(random: np.random.Generator, noise: float) -> Table:
    """Sums by unit."""
    size = random.integers(1, 9, N)
    tp = random.binomial(size, 1 - 0.3 * noise)
    return {"tp": tp.tolist(), "fn": (size - tp).tolist(), "fp": random.poisson(noise, N).tolist()}


def errors(random: np.random.Generator, noise: float) -> Table:
    """Errors in a total by unit."""
    total = random.integers(5, 30, N)
    return {"total": total.tolist(), "errors": random.poisson(0.2 * noise * total).tolist()}


SITUATIONS: dict[str, tuple[Source, dict[str, Any]]] = {
    "grades": (two(grades, 1), {"metrics": GRADES, "class_order": ",".join(ORDER)}),
    "two classes": (two(of_two_classes, 2), {"metrics": (*RISK, *AT_RATES), "positive": "1"}),
    "three classes": (two(of_three_classes, 3), {"metrics": RISK}),
    "quantiles": (two(quantiles, 4), {}),
    "sets": (two(sets, 5), {"metrics": ("coverage", "set_size")}),
    "sums": (two(sums, 6), {}),
    "errors": (two(errors, 7), {}),
}
AREAS = {"aurc", "e_aurc"}
"""Means over the k surest for k = 1 to n: of every row twice there are twice as many k, and other means."""
OF_ROWS = {*AREAS, "accuracy[at_coverage=0.8]"}
"""Their k counts rows, also of rows that weigh more: weights have no size of their own."""
NOT_HERE = {"pass_at_k", "pass_hat_k"}
"""They need several answers to a question: tests/questions/attempts."""


def run(source: Source, options: dict[str, Any], **more: Any) -> Results:
    """Evaluate."""
    return er.evaluate(source, resamples=20, **options, **more)


@cache
def run_of(name: str) -> Results:
    """Return the run of a situation, made once for all tests."""
    source, options = SITUATIONS[name]
    return run(source, options)


def values(results: Results) -> dict[tuple[Any, ...], float | None]:
    """Return the values of whole runs, by model, metric, average and label."""
    return {(m.model, m.metric, m.average, m.label): m.value for m in results.metrics if m.slice is None}


def repeated(source: Source, times: list[int]) -> Source:
    """Return each row as often as said, under ids of its own."""
    rows = [k for k, n in enumerate(times) for _ in range(n)]
    return {
        model: {name: [column[k] for k in rows] for name, column in table.items()}
        | {"id": [f"r{place:03d}" for place in range(len(rows))]}
        for model, table in source.items()
    }


def assert_same(one: Results, other: Results, leave: frozenset[str] | set[str] = frozenset()) -> None:
    """Same values of the same metrics, but for some."""
    before, after = values(one), values(other)
    assert before.keys() == after.keys()
    for key, value in before.items():
        assert key[1] in leave or same(value, after[key]), key


def test_no_metric_is_left_out() -> None:
    """Every metric that test_invariances.py leaves out is here, or in NOT_HERE with its reason."""
    here = {m.metric.partition("[")[0] for name in SITUATIONS for m in run_of(name).metrics}
    wanted = {
        name if m.parameter is None else m.parameter.begins
        for name, m in METRICS.items()
        if m.only_named or m.ordered or m.lacks_parameter or {"sums", "intervals", "sets"} & set(m.tasks)
    }
    assert wanted - here <= NOT_HERE


@pytest.mark.parametrize("name", every(2, SITUATIONS))
def test_the_order_of_rows_changes_nothing(name: str) -> None:
    """Other orders of rows for each model: the same records."""
    source, options = SITUATIONS[name]
    turned = {}
    for place, (model, table) in enumerate(source.items()):
        order = np.random.default_rng(place).permutation(N)
        turned[model] = {column: [cells[k] for k in order] for column, cells in table.items()}
    one, other = run_of(name), run(turned, options)
    assert one.metrics == other.metrics
    assert one.comparisons == other.comparisons


@pytest.mark.parametrize("name", ["grades", "three classes", "sets"])
def test_names_of_classes_change_nothing(name: str) -> None:
    """Other names, in another alphabetical order; classes in an order keep it."""
    source, options = SITUATIONS[name]
    names = dict(zip((*ORDER, "k0", "k1", "k2"), "zyxwtsr", strict=True))

    def renamed(column: str, cells: list[Any]) -> tuple[str, list[Any]]:
        column = f"p_{names[column[2:]]}" if column.startswith("p_") else column
        if column not in ("y_true", "y_pred", "y_set"):
            return column, cells
        return column, ["|".join(names.get(part, part) for part in cell.split("|")) for cell in cells]

    other = {model: dict(renamed(*item) for item in table.items()) for model, table in source.items()}
    order = {"class_order": ",".join(names[k] for k in ORDER)} if name == "grades" else {}
    before, after = values(run(source, options)), values(run(other, options | order))
    for (model, metric, average, label), value in before.items():
        assert same(value, after[model, metric, average, names.get(str(label), label)]), metric


@pytest.mark.parametrize("name", every(2, SITUATIONS))
def test_the_test_set_twice_has_the_same_values(name: str) -> None:
    """Metrics are functions of the distribution, but for areas over the number of rows."""
    source, options = SITUATIONS[name]
    assert_same(run_of(name), run(repeated(source, [2] * N), options), AREAS)


@pytest.mark.parametrize("name", every(2, SITUATIONS))
def test_weights_are_repetitions(name: str) -> None:
    """A row of weight 3 counts as three rows."""
    source, options = SITUATIONS[name]
    times = [1 + k % 3 for k in range(N)]
    weighted = {model: table | {"times": times} for model, table in source.items()}
    assert_same(run(weighted, options, weight="times"), run(repeated(source, times), options), OF_ROWS)


@pytest.mark.parametrize("name", every(2, SITUATIONS))
def test_swapped_models_turn_every_difference_round(name: str) -> None:
    """The sign of each difference and of its limits; p-values stay."""
    source, options = SITUATIONS[name]
    one, other = run_of(name), run({"a": source["b"], "b": source["a"]}, options)
    mirror = {(r.test, r.metric, r.average, r.label): r for r in other.comparisons if r.b is not None}
    compared = [r for r in one.comparisons if r.b is not None]
    assert compared
    for row in compared:
        image = mirror[row.test, row.metric, row.average, row.label]
        assert same(row.p_value, image.p_value), row
        assert same(row.difference, None if image.difference is None else -image.difference), row
        if not str(row.interval_method).startswith("bootstrap"):
            assert same(row.low, None if image.high is None else -image.high), row


@pytest.mark.parametrize("name", SITUATIONS)
def test_a_model_against_itself_has_no_difference(name: str) -> None:
    """Difference 0 and p = 1, or a reason."""
    source, options = SITUATIONS[name]
    for row in run({"a": source["a"], "b": source["a"]}, options).comparisons:
        if row.b is not None:
            assert row.difference in (0.0, None), row
            assert row.p_value in (1.0, None), row
            assert row.p_value is not None or row.reason, row
