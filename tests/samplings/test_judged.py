"""Judges of a suite and of several attempts: PPI++ within each task, and by the questions' means."""

from __future__ import annotations

import json
import math
from typing import Any

import numpy as np
import pytest
from scipy import stats

from evalreport.intervals import leading
from evalreport.metrics.prediction_powered import mean_gold
from evalreport.metrics.sample import estimate_all
from evalreport.predictions.table import Column, ModelOutputs, Predictions
from evalreport.questions.judges.compute import GOLD
from evalreport.samplings import sampling_by
from evalreport.schema.results import Results, to_json
from tests.metrics.test_prediction_powered import joined
from tests.reference.second_round import records_of
from tests.samples.judges import Floats, Source, answers, run

AVERAGES = ("tasks", "examples")


def two_tasks() -> dict[str, tuple[Floats, Floats]]:
    """Return the judge's outcomes and people's of the two reference records with enough of both."""
    inputs = {record["id"]: record["inputs"] for record in records_of("ppi")}
    return {"first": joined(inputs["ppi-weak-judge"]), "second": joined(inputs["ppi-graded"])}


def of_tasks(tasks: dict[str, tuple[Floats, Floats]], **options: Any) -> Results:
    """Run one model on tasks, beside one that the judge and people find always wrong."""
    names = [name for name, (judge, _) in tasks.items() for _ in judge]
    judge, gold = (np.concatenate(columns) for columns in zip(*tasks.values(), strict=True))
    shared = {"task": names, "id": np.arange(len(names))}
    none = {"outcome": np.zeros(len(judge)), "gold": np.where(np.isnan(gold), np.nan, 0.0)}
    return run({"a": {**shared, "outcome": judge, "gold": gold}, "none": {**shared, **none}}, **options)


@pytest.mark.parametrize("average", AVERAGES)
def test_a_suite_adds_up_its_tasks(average: str) -> None:
    """Value, error, df, limits and test of two reference records as tasks are those worked out by hand (METHODS 5i).

    The variance of a task has two parts, lambda^2 var(rest) / N and var(gold - lambda judge) / n with divisors N - 1
    and n - 1, and Satterthwaite's degrees of freedom are of all the parts.
    """
    tasks = two_tasks()
    total = sum(len(judge) for judge, _ in tasks.values())
    value, parts = 0.0, []
    for judge, gold in tasks.values():
        share = 0.5 if average == "tasks" else len(judge) / total
        given, found = ~np.isnan(gold), mean_gold(judge, gold)
        value += share * found.value
        both = (found.weight * judge[~given], gold[given] - found.weight * judge[given])
        parts += [(share**2 * v.var(ddof=1) / len(v), len(v) - 1) for v in both]
    variance = sum(v for v, _ in parts)
    df = variance**2 / sum(v**2 / n for v, n in parts)
    half = stats.t.ppf(0.975, df) * math.sqrt(variance)

    results = of_tasks(tasks, average=average)
    metric = next(m for m in results.metrics if (m.model, m.metric, m.slice) == ("a", "mean_gold", None))
    assert metric.value == pytest.approx(value, rel=1e-12)
    assert metric.standard_error == pytest.approx(math.sqrt(variance), rel=1e-12)
    leading = metric.intervals[0]
    assert leading.method == "ppi"
    assert (leading.low, leading.high) == pytest.approx((value - half, value + half), rel=1e-9)
    row = next(c for c in results.comparisons if (c.metric, c.slice) == ("mean_gold", None))
    assert (row.test, row.recommended) == ("ppi", True)
    assert (row.difference, row.df) == pytest.approx((value, df), rel=1e-9)
    assert row.p_value == pytest.approx(2 * stats.t.sf(value / math.sqrt(variance), df), rel=1e-6)
    by_task = {
        m.slice.value: m.value
        for m in results.metrics
        if m.slice and (m.model, m.metric) == ("a", "mean_gold")
    }
    assert by_task == pytest.approx({name: mean_gold(*columns).value for name, columns in tasks.items()})


@pytest.mark.parametrize("average", AVERAGES)
def test_what_stands_beside_it_is_of_the_same_suite(average: str) -> None:
    """The judge alone and people alone are averaged over the tasks as the estimate is; a weight stands by none."""
    tasks = two_tasks()
    results = of_tasks(tasks, average=average)
    total = sum(len(judge) for judge, _ in tasks.values())
    shares = [0.5 if average == "tasks" else len(judge) / total for judge, _ in tasks.values()]
    judge = sum(s * j.mean() for s, (j, _) in zip(shares, tasks.values(), strict=True))
    record = next(r for r in results.judge_estimates if (r.a, r.b) == ("a", None))
    assert record.judge == pytest.approx(judge)
    if average == "tasks":
        assert record.human == pytest.approx(sum(0.5 * np.nanmean(gold) for _, gold in tasks.values()))
    assert record.lam is None
    assert record.human_method == "suite_t"


def test_clusters_add_up_within_their_tasks() -> None:
    """Under --cluster each task has the factor G / (G - 1) and G - 1 degrees of freedom."""
    tasks = two_tasks()
    names = [name for name, (judge, _) in tasks.items() for _ in judge]
    group = np.concatenate([np.arange(len(judge)) % 12 for judge, _ in tasks.values()])
    judge, gold = (np.concatenate(columns) for columns in zip(*tasks.values(), strict=True))
    columns = {"task": names, "id": np.arange(len(names)), "outcome": judge, "gold": gold,
               "group": [f"{t} {g}" for t, g in zip(names, group, strict=True)]}  # fmt: skip
    metric = next(
        m for m in run({"a": columns}, cluster="group").metrics if m.metric == "mean_gold" and not m.slice
    )
    variance = 0.0
    for said, told in tasks.values():
        sums = np.bincount(np.arange(len(said)) % 12, weights=mean_gold(said, told).derivative)
        variance += 12 / 11 * (sums**2).sum() / 4
    assert metric.standard_error == pytest.approx(math.sqrt(variance), rel=1e-9)


@pytest.mark.parametrize("gold", [0, 1, 9])
def test_few_human_outcomes_of_a_task_are_pooled_with_the_others(gold: int) -> None:
    """A task with at most nine judged answers has no value of its own; the mean has one, and the run says why."""
    tasks = two_tasks()
    judge, told = tasks["second"]
    tasks["second"] = (judge, np.where(np.cumsum(~np.isnan(told)) <= gold, told, np.nan))
    results = of_tasks(tasks)
    metric = next(m for m in results.metrics if (m.model, m.metric, m.slice) == ("a", "mean_gold", None))
    assert metric.value is not None
    warned = next(w for w in results.warnings if w.code == "gold_pooled")
    assert f"People judged {gold} answer" in str(warned.text)
    assert "second" in str(warned.text)
    alone = {
        m.slice.value: m.value
        for m in results.metrics
        if m.slice and (m.model, m.metric) == ("a", "mean_gold")
    }
    assert alone["second"] is None
    assert alone["first"] is not None


def test_the_warning_of_few_goes_by_the_task_with_fewest() -> None:
    """25 judged answers in each of 20 tasks are 500 in all, and a pair's error in each task is known from 25."""
    judge, gold = two_tasks()["first"]
    few = np.where(np.cumsum(~np.isnan(gold)) <= 25, gold, np.nan)
    results = of_tasks({f"task {i:02d}": (judge, few) for i in range(20)})
    (warned,) = [w for w in results.warnings if w.code == "few_gold"]
    record = next(r for r in results.judge_estimates if (r.a, r.b) == ("a", "none"))
    assert (record.n_gold, record.fewest_gold) == (500, 25)
    assert warned.about == ("a", "none")
    assert "People judged 25 answers of both a and none to the same questions in the task" in str(warned.text)


def attempted(source: Source, attempts: int = 3) -> Source:
    """Return each model's answers several times, the judge's and people's outcomes unlike from attempt to attempt."""
    random = np.random.default_rng(3)
    found: Source = {}
    for model, columns in source.items():
        n = len(columns["outcome"])
        gold = np.repeat(columns["gold"], attempts)
        found[model] = {
            "id": np.repeat(np.arange(n), attempts),
            "attempt": np.tile(np.arange(attempts), n),
            "outcome": np.where(
                random.random(n * attempts) < 0.2, 1.0, np.repeat(columns["outcome"], attempts)
            ),
            "gold": np.where(np.isnan(gold), np.nan, np.where(random.random(n * attempts) < 0.2, 0.0, gold)),
        }
    return found


def test_attempts_are_judged_by_question() -> None:
    """The estimate is that of the questions' means of the judge's outcomes and of people's, in [0, 1]."""
    source = attempted(answers(n=300, gold=60))
    results = run(source)
    for model, columns in source.items():
        metric = next(m for m in results.metrics if (m.model, m.metric) == (model, "mean_gold"))
        found = mean_gold(*(columns[name].reshape(-1, 3).mean(axis=1) for name in ("outcome", "gold")))
        assert metric.value == pytest.approx(found.value, rel=1e-12)
        assert metric.standard_error == pytest.approx(math.sqrt((found.derivative**2).sum()), rel=1e-9)
        assert metric.n == 300
        assert all(
            0 <= limit <= 1 for i in metric.intervals for limit in (i.low, i.high) if limit is not None
        )


def composed() -> Source:
    """Return two models' answers to three tasks, one to four attempts each, in groups, some of them judged."""
    random = np.random.default_rng(6)
    found: Source = {
        name: {k: [] for k in ("task", "id", "attempt", "group", "outcome", "gold")} for name in "ab"
    }
    for task, groups in {"x": 8, "y": 14, "z": 11}.items():
        for number in range(groups * 4):
            judged, hard = random.random() < 0.6, random.normal()
            for name, ability in (("a", 0.5), ("b", 0.2)):
                for attempt in range(int(random.integers(1, 5))):
                    right = hard + random.normal() < ability
                    said = right if random.random() < 0.85 else not right
                    row = (task, str(number), attempt, f"{task}{number % groups}", float(said),
                           float(right) if judged else np.nan)  # fmt: skip
                    for column, value in zip(found[name].values(), row, strict=True):
                        column.append(value)
    return found


@pytest.mark.slow
def test_neither_order_nor_threads_change_a_figure() -> None:
    """Suites, attempts of unlike number, clusters and a judge at once: rows in any order, and two threads."""
    source, random = composed(), np.random.default_rng(2)
    order = {name: random.permutation(len(columns["id"])) for name, columns in source.items()}
    turned = {n: {c: [v[i] for i in order[n]] for c, v in source[n].items()} for n in reversed(source)}
    of = [json.loads(to_json(run(s, cluster="group", jobs=j))) for s, j in ((source, 1), (turned, 2))]
    for name in ("metrics", "comparisons", "verdicts", "task_verdicts", "judge_estimates", "judge_agreement",
                 "judge_bias", "gold_sampling", "attempt_variance", "ranking", "warnings"):  # fmt: skip
        assert of[0][name], name
        assert of[0][name] == of[1][name], name


@pytest.mark.slow
def test_the_interval_of_a_suite_holds_what_people_say() -> None:
    """Of 300 suites of three tasks with 40 judged answers each nominal 95 % intervals hold the mean in 91 to 98 %."""
    random, held = np.random.default_rng(11), 0
    task = np.repeat(np.arange(3), 200)
    level, known = np.array([0.4, 0.6, 0.8])[task], np.arange(600) % 200 < 40
    units = sampling_by(600, task=task)
    for _ in range(300):
        right = random.random(600) < level
        judge = (random.random(600) < np.where(right, 0.9, 0.3)).astype(float)
        model = ModelOutputs("a", outcome=judge, gold=np.where(known, right, np.nan))
        predictions = Predictions(
            task="outcome", design="test-set", ids=np.arange(600).astype(str), example=np.arange(600), y_true=None,
            models=(model,), keys={"task": Column(task, ("x", "y", "z"))},
        )  # fmt: skip
        sample = estimate_all(predictions, (GOLD,), units=units, n_resamples=0, seed=0)
        limits = leading(sample.estimates["a", GOLD], 0.95)
        assert limits.low is not None
        assert limits.high is not None
        held += limits.low <= 0.6 <= limits.high
    assert 0.91 <= held / 300 <= 0.98
