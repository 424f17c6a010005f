"""Every registered metric inherits the same invariances; what is about values draws one model, which is quicker."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from evalreport.loading.load import load
from evalreport.metrics.metric import Training
from evalreport.metrics.registry import METRICS
from tests.samples.cases import quick
from tests.samples.prediction_files import arrays_of

from .soundness import assert_intervals_keep_to_the_range, assert_sound
from .strategies import TASKS, WITH_GROUPS, Source, evaluate, key, options, same, values

FEW = ("binary", "regression")
"""Tasks of the quick tests, where each drawn data set costs two runs of every metric."""

FEW_EXAMPLES = settings(
    max_examples=3, deadline=None, derandomize=True, suppress_health_check=[HealthCheck.too_slow]
)


def test_every_registered_metric_is_reached() -> None:
    """The invariances below see every metric of the tasks that they draw."""
    random = np.random.default_rng(0)
    truth = random.integers(0, 2, 40)
    binary = {"m": {"y_true": [str(t) for t in truth], "p_1": random.random(40).tolist()}}
    several = {"m": {"y_true": [f"c{t}" for t in random.integers(0, 3, 40)],
                     "y_pred": [f"c{t}" for t in random.integers(0, 3, 40)]}}  # fmt: skip
    regression = {"m": {"y_true": random.normal(size=40).tolist(), "y_pred": random.normal(size=40).tolist()}}
    for task, source in (("binary", binary), ("multiclass", several), ("regression", regression)):
        seen = {record.metric for record in evaluate(source, task).metrics}
        wanted = {
            name
            for name, m in METRICS.items()
            if task in m.tasks
            and not isinstance(m.computation, Training)
            and not m.lacks_parameter
            # Named on purpose, or of classes in an order: test_named_and_other_tasks.py has the same invariances.
            and not m.only_named
            and not m.ordered
        }
        if task == "multiclass":
            wanted = {name for name in wanted if METRICS[name].needs == "labels"}
        assert seen >= wanted, wanted - seen


@pytest.mark.parametrize("task", TASKS)
@FEW_EXAMPLES
@given(data=st.data())
def test_order_of_rows_changes_nothing(task: str, data: st.DataObject) -> None:
    """Rows are joined on id: another order, another one for each model, gives the same table, which all else is of.

    In test_layouts.py it does so in every layout.
    """
    source = data.draw(TASKS[task](least=2))
    turned = {model: permuted(columns, data) for model, columns in source.items()}
    one, other = (dict(arrays_of(load(rows, options=options(task)))) for rows in (source, turned))
    assert one == other


def permuted(columns: dict[str, Any], data: st.DataObject) -> dict[str, Any]:
    """Return the same rows in another order."""
    order = data.draw(st.permutations(range(len(columns["id"]))))
    return {name: [column[i] for i in order] for name, column in columns.items()}


@FEW_EXAMPLES
@given(data=st.data())
def test_names_of_classes_change_nothing(data: st.DataObject) -> None:
    """Other names of the classes, in another order, leave every value of several classes as it is."""
    source = data.draw(TASKS["multiclass"](models=1, least=2))
    names = data.draw(st.permutations(["ant", "bee", "cat", "dog"]))
    other = dict(zip(["ant", "bee", "cat", "dog"], names, strict=True))
    renamed = {
        model: columns | {name: [other[label] for label in columns[name]] for name in ("y_true", "y_pred")}
        for model, columns in source.items()
    }
    before, after = values(evaluate(source, "multiclass")), values(evaluate(renamed, "multiclass"))
    for (model, metric, average, label), value in before.items():
        assert same(value, after[model, metric, average, other[label] if label else None]), metric


@FEW_EXAMPLES
@given(data=st.data())
def test_scores_may_be_stretched(data: st.DataObject) -> None:
    """An increasing map of the scores leaves every ranking metric and its intervals as they are."""
    source = data.draw(TASKS["binary"](models=1, least=2))
    raw = {m: {"id": c["id"], "y_true": c["y_true"], "score": c["p_1"]} for m, c in source.items()}
    bent = {m: c | {"score": [5 + 3 * s**3 for s in c["score"]]} for m, c in raw.items()}
    before, after = evaluate(raw, "binary"), evaluate(bent, "binary")
    ranking = {name for name, metric in METRICS.items() if metric.needs == "scores"}
    kept = [r for r in before.metrics if r.metric in ranking]
    assert kept
    assert kept == [r for r in after.metrics if r.metric in ranking]


@pytest.mark.parametrize("task", quick(TASKS, FEW))
@FEW_EXAMPLES
@given(data=st.data(), times=st.integers(2, 3))
def test_repeated_test_set(task: str, data: st.DataObject, times: int) -> None:
    """A metric that is not extensive is a function of the distribution: the test set several times has its values."""
    source = data.draw(TASKS[task](models=1, least=2, most=12))
    repeated = {m: repeat(columns, times) for m, columns in source.items()}
    one, other = values(evaluate(source, task)), values(evaluate(repeated, task))
    assert one.keys() == other.keys()
    for name, value in one.items():
        assert METRICS[name[1]].scale.extensive or same(value, other[name]), name


def repeat(columns: dict[str, Any], times: int) -> dict[str, Any]:
    """Return all rows several times, under ids of their own."""
    rows = {name: list(column) * times for name, column in columns.items()}
    return rows | {"id": [f"{place:05d}" for place in range(len(rows["id"]))]}


@pytest.mark.parametrize("task", quick(TASKS, FEW))
@FEW_EXAMPLES
@given(data=st.data())
def test_weights_are_repetitions(task: str, data: st.DataObject) -> None:
    """An example of weight 3 counts as three equal examples, for the value of every metric."""
    source = data.draw(TASKS[task](models=1, least=2, most=12))
    n = len(source["m0"]["id"])
    weights = data.draw(st.lists(st.integers(1, 3), min_size=n, max_size=n))
    weighted = {m: columns | {"times": weights} for m, columns in source.items()}
    repeated = {m: copied(columns, weights) for m, columns in source.items()}
    one, other = values(evaluate(weighted, task, weight="times")), values(evaluate(repeated, task))
    assert one.keys() == other.keys()
    for name, value in one.items():
        assert name[1] in OF_EXAMPLES or same(value, other[name]), name


OF_EXAMPLES = {"calibration_error", "precision_at_10", "recall_at_10", "f1_at_10"}
"""Metrics that depend on how many examples there are: what chance adds, and the first ten, are no matter of weight."""


@pytest.mark.parametrize("seed", quick(range(8), [0]))
@pytest.mark.parametrize("classes", [2, 3])
def test_what_is_undefined_does_not_hang_on_weights(seed: int, classes: int) -> None:
    """Sums of weights that cancel leave rounding behind, of which 0/0 had a value, or a run ended as a defect."""
    random = np.random.default_rng(seed)
    columns = {
        "y_true": [str(k) for k in random.integers(0, classes, 30)],
        "y_pred": [str(classes - 1)] * 30,
        "w": (random.random(30) + 0.1).tolist(),
    }
    task = "binary" if classes == 2 else "multiclass"
    plain, weighted = (evaluate({"m": columns}, task, **given) for given in ({}, {"weight": "w"}))
    undefined = {key(r): r.reason for r in plain.metrics}
    assert any(undefined.values())
    assert undefined == {key(r): r.reason for r in weighted.metrics}
    ranges = {r.metric: METRICS[r.metric].scale.range for r in weighted.metrics}
    outside = [r for r in weighted.metrics if r.value is not None and not within(r.value, ranges[r.metric])]
    assert not outside


def within(value: float, limits: tuple[float, float]) -> bool:
    """Tell whether a value lies in its range."""
    return limits[0] <= value <= limits[1]


def copied(columns: dict[str, Any], weights: list[int]) -> dict[str, Any]:
    """Return each row as often as its weight says, under ids of its own."""
    rows = [i for i, times in enumerate(weights) for _ in range(times)]
    return {name: [column[i] for i in rows] for name, column in columns.items()} | {
        "id": [f"{place:05d}" for place in range(len(rows))]
    }


@pytest.mark.parametrize("task", quick(TASKS, FEW))
@FEW_EXAMPLES
@given(data=st.data(), times=st.integers(2, 3))
def test_copies_in_one_cluster_are_no_new_evidence(task: str, data: st.DataObject, times: int) -> None:
    """Copies of the test set, each example's in one cluster, leave values and standard errors as they are."""
    source = data.draw(TASKS[task](models=1, least=3, most=12))
    single = {m: columns | {"origin": columns["id"]} for m, columns in source.items()}
    copies = {m: repeat(columns, times) for m, columns in single.items()}
    one, other = (evaluate(s, task, cluster="origin") for s in (single, copies))
    errors = {key(record): record.standard_error for record in other.metrics}
    assert values(one).keys() == values(other).keys()
    for record in one.metrics:
        assert METRICS[record.metric].scale.extensive or same(record.value, values(other)[key(record)]), (
            record
        )
        assert same(record.standard_error, errors[key(record)]), record


def test_weighted_examples_have_no_binomial_intervals_or_tests() -> None:
    """Under weights binomial intervals and McNemar's tests are refused, with a reason; Wilson's has an effective n."""
    n = 40
    rows = {"id": [f"{i:02d}" for i in range(n)], "y_true": [str(i % 2) for i in range(n)],
            "times": [1.5 + i % 3 for i in range(n)]}  # fmt: skip
    source = {m: rows | {"y_pred": [str((i // k) % 2) for i in range(n)]} for m, k in (("m0", 2), ("m1", 3))}
    results = evaluate(source, "binary", weight="times", intervals=("all",), tests=("all",))
    binomial = {"agresti_coull", "clopper_pearson", "jeffreys", "plus_four"}
    for record in results.metrics:
        for one in record.intervals:
            if one.method in binomial and record.value is not None and 0 < record.value < 1:
                assert one.low is None, (record.metric, one)
                assert one.reason, (record.metric, one)
    for row in results.comparisons:
        if (row.test or "").startswith("mcnemar"):
            assert row.p_value is None
            assert row.reason


@pytest.mark.slow
@pytest.mark.parametrize("task", WITH_GROUPS)
@FEW_EXAMPLES
@given(data=st.data())
def test_swapped_models(task: str, data: st.DataObject) -> None:
    """Swapping two models flips the sign of every difference and its limits and keeps every p value.

    The results themselves are sound: none is NaN, what is missing has a reason, and every interval keeps to its range.
    """
    source: Source = data.draw(WITH_GROUPS[task](least=3))
    swapped = {"m0": source["m1"], "m1": source["m0"]}
    one = evaluate(source, task, tests=("all",), intervals=("all",))
    assert_sound(one)
    assert_intervals_keep_to_the_range(one, task)
    other = evaluate(swapped, task, tests=("all",), intervals=("all",))
    mirror = {about(row): row for row in other.comparisons if row.b is not None}
    for row in one.comparisons:
        if row.b is None:
            continue
        image = mirror[about(row)]
        assert same(row.p_value, image.p_value), row
        assert same(row.difference, negated(image.difference)), row
        if row.interval_method is None or not row.interval_method.startswith("bootstrap"):
            # Quantiles of finitely many replicates are not exactly symmetric; their limits agree elsewhere.
            assert same(row.low, negated(image.high)), row


def about(row: Any) -> tuple[Any, ...]:
    """Return what a comparison is about, without its models."""
    return row.test, row.metric, row.average, row.label, row.interval_method


def negated(value: float | None) -> float | None:
    """Return -value, None for None."""
    return None if value is None else -value


@pytest.mark.slow
@pytest.mark.parametrize("task", WITH_GROUPS)
@FEW_EXAMPLES
@given(data=st.data())
def test_a_model_against_itself(task: str, data: st.DataObject) -> None:
    """A model against itself has difference 0 and p = 1 in every test, on any data."""
    source = data.draw(WITH_GROUPS[task](models=1))
    results = evaluate({"m0": source["m0"], "m1": source["m0"]}, task, tests=("all",), intervals=("all",))
    for row in results.comparisons:
        if row.b is not None:
            assert row.p_value in (1.0, None), row
            assert row.difference in (0.0, None), row
            assert row.p_value is not None or row.reason, row


@pytest.mark.parametrize("task", quick(WITH_GROUPS, ["binary", "regression", "clustering"]))
@FEW_EXAMPLES
@given(data=st.data())
def test_another_metric_changes_no_figure(task: str, data: st.DataObject) -> None:
    """Asked for alone or among all, a metric has the same value and the same intervals."""
    source = data.draw(WITH_GROUPS[task](models=1, least=2))
    everything = evaluate(source, task)
    chosen = data.draw(st.sampled_from(sorted({r.metric for r in everything.metrics})))
    alone = {key(r): r for r in evaluate(source, task, metrics=(chosen,)).metrics}
    together = {key(r): r for r in everything.metrics}
    for name in alone.keys() & together.keys():
        assert alone[name] == together[name]
