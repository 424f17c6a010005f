"""Suites: values, intervals and tests over fixed tasks, and the families of verdicts."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Literal

import numpy as np
import pytest
from scipy import stats
from sklearn.metrics import f1_score, roc_auc_score

import evalreport
from evalreport.comparisons.adjustment import adjust
from evalreport.intervals import INTERVALS
from evalreport.loading.load import load
from evalreport.metrics.registry import Quantity
from evalreport.metrics.sample import estimate_all
from evalreport.samplings import sampling_of
from evalreport.schema.comparisons import ComparisonRecord
from evalreport.schema.metrics import MetricRecord, Slice
from evalreport.schema.results import to_json
from tests.reference.second_round import agrees, each
from tests.samples.suites import TASKS, outcomes, scores, write

pytestmark = pytest.mark.usefixtures("primary_alone")

AVERAGES: Mapping[str, Literal["tasks", "examples"]] = {"macro": "tasks", "micro": "examples"}


def agree(value: float | None, expected: float) -> bool:
    """Say whether there is a value, and it is the expected one to 1e-8."""
    return value is not None and agrees(value, expected)


def value_of(results: evalreport.Results, model: str, metric: str = "mean_outcome") -> MetricRecord:
    """Return a model's record over all tasks."""
    (found,) = (r for r in results.metrics if (r.model, r.metric, r.slice) == (model, metric, None))
    return found


def row(
    results: evalreport.Results, test: str, pair: tuple[str, str] = ("a", "b"), metric: str = "mean_outcome"
) -> ComparisonRecord:
    """Return a pair's row of one test over all tasks."""
    (found,) = (
        r for r in results.comparisons if (r.test, r.a, r.b, r.metric, r.slice) == (test, *pair, metric, None)
    )
    return found


def by_task(values: Any, tasks: Any) -> list[Any]:
    """Divide values by task."""
    return [np.asarray(values, dtype=float)[np.asarray(tasks) == t] for t in dict.fromkeys(tasks)]


@pytest.mark.parametrize("average", AVERAGES)
@each("suite")
def test_reference_values(record: Mapping[str, Any], average: str) -> None:
    """Value, error, limits and df of R's survey, of one model, and of its difference from one that is never right."""
    inputs, expected = record["inputs"], record["value"][average]
    n = len(inputs["y"])
    shared = {"id": list(range(n)), "task": [f"t{t}" for t in inputs["task"]]}
    models = {"a": {**shared, "outcome": inputs["y"]}, "b": {**shared, "outcome": [0.0] * n}}
    results = evalreport.evaluate(models, average=AVERAGES[average], resamples=20)
    found = value_of(results, "a")
    leading = found.intervals[0]
    assert leading.method == "suite_t"
    assert agree(found.value, expected["estimate"])
    assert agree(found.standard_error, expected["se"])
    assert agree(leading.low, expected["low"])
    assert agree(leading.high, expected["high"])
    paired = row(results, "suite_t")
    assert paired.recommended
    assert paired.interval_method == "suite_t"
    for name, value in (("difference", "estimate"), ("df", "df"), ("low", "low"), ("high", "high")):
        assert agree(getattr(paired, name), expected[value]), name
    t = expected["estimate"] / expected["se"]
    assert agree(paired.p_value, 2 * stats.t.sf(t, expected["df"]))


@pytest.mark.parametrize("average", AVERAGES)
def test_clusters_are_corrected_within_each_task(average: str) -> None:
    """A difference with clusters: CR2 of METHODS' closed form in each task, added up with Satterthwaite's df."""
    models = outcomes()
    # Clusters of unlike size.
    groups = [f"{g}{'' if i % 3 else 'x'}" for i, g in enumerate(models["a"]["group"])]
    for columns in models.values():
        columns["group"] = groups
    results = evalreport.evaluate(models, cluster="group", average=AVERAGES[average], resamples=20)
    found = row(results, "suite_t")
    tasks = models["a"]["task"]
    d = np.subtract(models["a"]["outcome"], models["b"]["outcome"])
    total, variances, dfs = len(d), [], []
    for task in TASKS:
        own = np.array([t == task for t in tasks])
        y, g = d[own], np.array(groups)[own]
        n = np.array([(g == name).sum() for name in np.unique(g)], dtype=float)
        by_group = np.array([y[g == name].mean() for name in np.unique(g)])
        size = n.sum()
        v = (n**2 * (by_group - y.mean()) ** 2 / (1 - n / size)).sum() / size**2
        left = size - n
        spread = (
            size**2 * (n**2 / left**2).sum() - 2 * size * (n**3 / left**2).sum() + (n**2 / left).sum() ** 2
        )
        weight = 1 / len(TASKS) if average == "macro" else size / total
        variances.append(weight**2 * v)
        dfs.append(size**2 / spread)
    variance = sum(variances)
    df = variance**2 / sum(v**2 / f for v, f in zip(variances, dfs, strict=True))
    means = [part.mean() for part in by_task(d, tasks)]
    difference = float(np.mean(means)) if average == "macro" else float(d.mean())
    half = stats.t.ppf(0.975, df) * variance**0.5
    assert agree(found.difference, difference)
    assert agree(found.df, df)
    assert agree(found.low, difference - half)
    assert agree(found.high, difference + half)
    assert value_of(results, "a").n == total


def test_f1_and_auc_are_means_of_the_tasks_values() -> None:
    """F1 and AUC: scikit-learn's value in each task, and the error from the task's own influence values."""
    models = scores()
    results = evalreport.evaluate(models, metrics=["f1", "roc_auc"], positive="1", resamples=20)
    a = models["a"]
    parts = [by_task(a[name], a["benchmark"]) for name in ("y_true", "y_pred", "p_1")]
    f1, variances = [], []
    for true, predicted, _ in zip(*parts, strict=True):
        f1.append(f1_score(true, predicted))
        tp, fp, fn = (true * predicted), ((1 - true) * predicted), (true * (1 - predicted))
        z = (2 * tp - f1[-1] * (2 * tp + fp + fn)) / (2 * tp + fp + fn).mean()
        variances.append(z.var(ddof=1) / len(z))
    found = value_of(results, "a", "f1")
    assert agree(found.value, float(np.mean(f1)))
    assert agree(found.standard_error, sum(variances) ** 0.5 / 3)
    assert found.intervals[0].method == "suite_t"
    auc, variances = [], []
    for true, _, score in zip(*parts, strict=True):
        auc.append(roc_auc_score(true, score))
        wins = (score[true == 1][:, None] > score[true == 0]) + 0.5 * (
            score[true == 1][:, None] == score[true == 0]
        )
        n = len(true)
        positives, negatives = (wins.mean(axis=axis) - auc[-1] for axis in (1, 0))
        z = np.concatenate([positives * n / len(positives), negatives * n / len(negatives)])
        variances.append(z.var(ddof=1) / n)
    found = value_of(results, "a", "roc_auc")
    assert agree(found.value, float(np.mean(auc)))
    assert agree(found.standard_error, sum(variances) ** 0.5 / 3)
    assert found.intervals[0].method == row(results, "suite_t", metric="roc_auc").interval_method == "suite_t"


def test_no_value_where_a_task_has_none() -> None:
    """An AUC over two of three tasks would be another quantity: the third task is named instead."""
    models = scores()
    for columns in models.values():
        columns["y_true"] = [
            1 if task == "z" else y for task, y in zip(columns["benchmark"], columns["y_true"], strict=True)
        ]
    results = evalreport.evaluate(models, metrics=["accuracy", "roc_auc"], positive="1", resamples=20)
    found = value_of(results, "a", "roc_auc")
    assert found.value is None
    assert "'z'" in str(found.reason)


def test_nothing_varies_within_tasks() -> None:
    """All right in one task and all wrong in the other: no interval, with the reason, whatever the tasks differ by."""
    shared = {"id": list(range(20)), "task": ["x"] * 10 + ["y"] * 10}
    models = {
        "a": {**shared, "outcome": [1] * 10 + [0] * 10},
        "b": {**shared, "outcome": [1] * 10 + [1] * 5 + [0] * 5},
    }
    results = evalreport.evaluate(models, resamples=20)
    leading = value_of(results, "a").intervals[0]
    assert (leading.method, leading.low, leading.high) == ("suite_t", None, None)
    assert "no standard error within tasks" in str(leading.reason)
    assert value_of(results, "b").intervals[0].low is not None


@pytest.mark.slow
def test_the_stratified_interval_holds_and_the_pooled_one_is_another() -> None:
    """Over 200 suites the interval holds the mean over these tasks in 95 %; that of the pooled examples in few.

    Tasks of unlike level and size: the mean over all examples is another quantity, and its error counts how the tasks
    differ, which is no error where they are fixed.
    """
    sizes, levels = np.array([20, 60, 160]), np.array([0.9, 0.5, 0.2])
    generator = np.random.default_rng(5)
    tasks = [f"t{t}" for t, n in enumerate(sizes) for _ in range(n)]
    chance = np.repeat(levels, sizes)
    held = pooled = 0
    for _ in range(200):
        y = (generator.random(len(tasks)) < chance).astype(float)
        predictions = load({"a": {"id": list(range(len(y))), "task": tasks, "outcome": y}})
        quantity = Quantity("mean_outcome")
        units = sampling_of(predictions, cluster=None, weight=None)
        estimate = estimate_all(predictions, [quantity], units=units, n_resamples=0, seed=0).estimates[
            "a", quantity
        ]
        limits = INTERVALS["suite_t"].function(estimate, 0.95)
        half = stats.t.ppf(0.975, len(y) - 1) * y.std(ddof=1) / len(y) ** 0.5
        assert limits.low is not None
        assert limits.high is not None
        held += limits.low <= levels.mean() <= limits.high
        pooled += abs(y.mean() - levels.mean()) <= half
    # Three binomial standard errors of 200 suites are 0.046.
    assert abs(held / 200 - 0.95) < 0.046
    assert pooled / 200 < 0.2


def test_replicates_are_drawn_within_tasks(suite: evalreport.Results) -> None:
    """The bootstrap's error is that of fixed tasks; drawn over all examples it would be half as large again."""
    found = value_of(suite, "c")
    bootstrap = next(i for i in found.intervals if i.method == "bootstrap_percentile")
    assert bootstrap.low is not None
    assert bootstrap.high is not None
    half = (bootstrap.high - bootstrap.low) / 2 / 1.96
    assert half == pytest.approx(found.standard_error, rel=0.2)


def test_each_task_has_its_own_rows_and_the_family_is_tasks_times_pairs(suite: evalreport.Results) -> None:
    """Each task's values are the slice's, by its own interval; its verdicts are Holm's over 4 tasks x 3 pairs."""
    models = outcomes()
    for task in TASKS:
        (own,) = (
            r for r in suite.metrics
            if r.slice == Slice(column="task", value=task) and (r.model, r.metric) == ("a", "mean_outcome")
        )  # fmt: skip
        y = [o for o, t in zip(models["a"]["outcome"], models["a"]["task"], strict=True) if t == task]
        assert own.value == pytest.approx(np.mean(y), rel=1e-12)
        assert own.intervals[0].method == "wilson"
    verdicts = suite.task_verdicts
    assert len(verdicts) == 12
    assert {v.test for v in verdicts} == {"mcnemar_midp"}
    adjusted = adjust([v.p_value or 1.0 for v in verdicts], "holm")
    assert [v.p_adjusted for v in verdicts] == pytest.approx(adjusted, rel=1e-12)
    for v in verdicts:
        assert v.p_adjusted is not None
        assert v.low is not None
        assert v.high is not None
        decided = v.p_adjusted <= 0.05
        assert decided == (v.verdict in ("better", "worse"))
        assert decided == (not v.low <= 0 <= v.high or 0 in (v.low, v.high))
        assert v.level == pytest.approx(1 - 0.05 / 12)
    better = {(v.task, v.about) for v in verdicts if v.verdict == "worse"}
    assert ("gsm8k", ("a", "b")) in better
    (gate,) = suite.gates
    assert gate.outcome in ("pass", "undecided")
    assert not suite.disparities, "tasks are not held against each other unasked"


@pytest.mark.slow
def test_neither_rows_nor_files_nor_threads_change_anything(tmp_path: Path) -> None:
    """Rows in another order, two threads and the tasks in files of their own give the same numbers."""
    models = outcomes()
    first = evalreport.evaluate(write(tmp_path / "one", models), resamples=50)
    turned = write(tmp_path / "two", models, np.random.default_rng(0))
    second = evalreport.evaluate(turned, resamples=50, jobs=2)
    parts = tmp_path / "parts"
    parts.mkdir()
    for task in TASKS:
        lines = ["model,task,id,outcome,group"]
        for name, columns in models.items():
            rows = zip(*(columns[c] for c in ("task", "id", "outcome", "group")), strict=True)
            lines += [",".join(map(str, (name, *row))) for row in rows if row[0] == task]
        (parts / f"{task}.csv").write_text("\n".join(lines) + "\n", encoding="utf-8")
    third = evalreport.evaluate(parts, resamples=50)

    def numbers(results: evalreport.Results) -> Any:
        known = json.loads(to_json(results))
        return {
            key: known[key] for key in ("metrics", "comparisons", "verdicts", "task_verdicts", "warnings")
        }

    assert numbers(first) == numbers(second) == numbers(third)


def test_tasks_whose_examples_are_alike_are_warned_of() -> None:
    """A task that one model has all right adds no error to its mean: named where it has a tenth of the weight."""

    def warned(*tasks: str, average: Literal["tasks", "examples"] = "tasks") -> list[tuple[str, ...]]:
        models = outcomes()
        columns = models["a"]
        right = [
            1 if task in tasks else had for task, had in zip(columns["task"], columns["outcome"], strict=True)
        ]
        results = evalreport.evaluate(
            {**models, "a": {**columns, "outcome": right}}, resamples=2, average=average
        )
        return [(*w.about, *w.text.params["tasks"]) for w in results.warnings if w.code == "alike_in_task"]

    assert warned() == []
    assert warned("code") == [("a", "code")]
    assert warned("code", "mmlu", average="examples") == [("a", "code", "mmlu")]


def test_regressions_of_several_models_are_compared_over_tasks() -> None:
    """RMSE and R² of a suite are means of the tasks' values: squared errors of single examples are not compared."""
    rng = np.random.default_rng(0)
    true = rng.normal(size=60)
    models = {
        name: {"y_true": true, "y_pred": true + rng.normal(size=60), "task": [f"t{i % 3}" for i in range(60)]}
        for name in "ab"
    }
    found = evalreport.evaluate(models, metrics=["rmse", "r2"], resamples=100)
    for metric in ("rmse", "r2"):
        tested = row(found, "suite_t", metric=metric)
        assert tested.p_value is not None
        a, b = (value_of(found, name, metric).value for name in "ab")
        assert a is not None
        assert b is not None
        assert tested.difference == pytest.approx(a - b, abs=1e-12)
