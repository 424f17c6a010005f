"""What people would have said on average (mean_gold): against ppi-python, closed forms and simulated truths."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np
import pytest
from scipy import stats
from statsmodels.stats.proportion import proportion_confint

import evalreport
from evalreport.errors import UsageError
from evalreport.metrics.prediction_powered import mean_gold, with_made_up
from tests.reference.second_round import agrees, each
from tests.samples.judges import ABILITY, Floats, answers, favoured, of_pair, run

Z = float(stats.norm.ppf(0.975))


def rectified_error(judge: Floats, gold: Floats, weight: float) -> float:
    """Return the error with variances of divisor n - 1 of the judged rows' residuals and of the judge's other rows."""
    given = ~np.isnan(gold)
    residual, rest = gold[given] - weight * judge[given], judge[~given]
    return math.sqrt(residual.var(ddof=1) / len(residual) + weight**2 * rest.var(ddof=1) / len(rest))


def with_half_rows(judge: Floats, gold: Floats) -> tuple[float, float, int]:
    """Return PPI++'s estimate and error where 11, 00, 10 and 01 (people, judge) count half a row each, and n - 1.

    Every row is written twice and the four made-up ones once, so that all weights are whole. The weight of the judge is
    that of the data, in estimate and limits alike (METHODS 5g); variances have n - 1 (METHODS 7D).
    """
    given = ~np.isnan(gold)
    rest = judge[~given]
    shared, spread = np.cov(gold[given], judge[given], ddof=0)[0, 1], judge.var(ddof=1)
    weight = min(max(shared / ((1 + given.sum() / len(rest)) * spread), 0), 1) if spread else 0.0
    people = np.append(np.repeat(gold[given], 2), [1, 0, 1, 0])
    said = np.append(np.repeat(judge[given], 2), [1, 0, 0, 1])
    n = len(people) / 2
    value = weight * rest.mean() + (people - weight * said).mean()
    squares = (people - weight * said).var() / (n - 1)
    if len(rest) > 1:
        squares += weight**2 * rest.var(ddof=1) / len(rest)
    return value, math.sqrt(squares), int(given.sum()) - 1


def joined(inputs: Mapping[str, Any]) -> tuple[Floats, Floats]:
    """Return the judge's outcomes and people's of a reference record, those with gold first."""
    judge = np.array([*inputs["judge_on_gold"], *inputs["judge_rest"]], dtype=float)
    gold = np.full(len(judge), np.nan)
    gold[: len(inputs["gold"])] = inputs["gold"]
    return judge, gold


@each("ppi")
def test_the_estimate_is_that_of_ppi_python(record: Mapping[str, Any]) -> None:
    """Weight, value and standard error agree with ppi-python 0.2.3 (a constant judge: with R) to 1e-8."""
    found, expected = mean_gold(*joined(record["inputs"])), record["value"]
    assert agrees(found.weight, expected["lam"])
    assert agrees(found.value, expected["estimate"])
    assert agrees(math.sqrt((found.derivative**2).sum()), expected["se"])


@each("ppi")
def test_a_run_has_its_value_and_limits(record: Mapping[str, Any]) -> None:
    """The metric stands in a run with the reference's value and error; of fewer than ten rows it does not.

    Limits of shares: half a made-up judged row of each kind, t(n - 1), cut to [0, 1] (METHODS 7W.2).
    """
    judge, gold = joined(record["inputs"])
    results, expected = run({"a": {"outcome": judge, "gold": gold}}), record["value"]
    metric = next(m for m in results.metrics if m.metric == "mean_gold")
    assert results.primary_metric == "mean_gold"
    if len(record["inputs"]["gold"]) < 10:
        assert metric.value is None
        assert "takes 10" in str(metric.reason)
        return
    interval = metric.intervals[0]
    assert interval.method == "ppi"
    assert metric.value is not None
    assert agrees(metric.value, expected["estimate"])
    assert metric.standard_error is not None
    assert agrees(metric.standard_error, expected["se"])
    assert interval.low is not None
    assert interval.high is not None
    graded = not np.isin(np.append(judge, gold[: len(record["inputs"]["gold"])]), (0, 1)).all()
    value, error, df = with_half_rows(judge, gold)
    if graded:  # marks in between have no made-up rows: t(n - 2), METHODS 7D
        value, error, df = metric.value, rectified_error(judge, gold, mean_gold(judge, gold).weight), df - 1
    low, high = (-math.inf, math.inf) if graded else (0, 1)
    half = stats.t.ppf(0.975, df) * error
    limits = (max(value - half, low), min(value + half, high))
    assert (interval.low, interval.high) == pytest.approx(limits, rel=1e-9)
    (estimate,) = results.judge_estimates
    assert estimate.lam is not None
    assert estimate.human is not None
    assert agrees(estimate.lam, expected["lam"])
    assert agrees(estimate.human, expected["classical"])


def test_a_difference_is_estimated_from_the_differences() -> None:
    """Difference, weight, p-value and limits of a pair are those of its rows' differences, with a weight of its own.

    Student's t with n - 2 degrees of freedom and variances with n - 1 (METHODS 7D).
    """
    source, results = answers(), favoured()
    row = next(c for c in results.comparisons if c.metric == "mean_gold" and (c.a, c.b) == ("liked", "plain"))
    judge, gold = (of_pair(source, "liked", "plain", column) for column in ("outcome", "gold"))
    found = mean_gold(judge, gold)
    error, df = rectified_error(judge, gold, found.weight), np.count_nonzero(~np.isnan(gold)) - 2
    assert (row.test, row.interval_method, row.recommended) == ("ppi", "ppi", True)
    assert row.difference == pytest.approx(found.value, rel=1e-12)
    assert row.p_value == pytest.approx(2 * stats.t.sf(abs(found.value) / error, df), rel=1e-9)
    assert row.df == df
    assert row.high == pytest.approx(found.value + stats.t.ppf(0.975, df) * error, rel=1e-9)
    values = {m.model: m.value for m in results.metrics if m.metric == "mean_gold"}
    assert row.difference != pytest.approx(values["liked"] - values["plain"], abs=1e-6)  # type: ignore[operator]
    pair = next(r for r in results.judge_estimates if (r.a, r.b) == ("liked", "plain"))
    assert pair.lam == pytest.approx(found.weight)
    verdict = next(v for v in results.verdicts if v.about == ("liked", "plain"))
    assert (pair.low, pair.high, pair.level) == (verdict.low, verdict.high, verdict.level)


def test_where_people_judged_all_it_is_their_mean() -> None:
    """Without other rows the judge counts for nothing: Student's interval of gold, and its t test."""
    source = answers(n=80, gold=80)
    results = run(source)
    metric = next(m for m in results.metrics if m.metric == "mean_gold" and m.model == "weak")
    gold = source["weak"]["gold"]
    low, high = stats.t.interval(0.95, 79, gold.mean(), stats.sem(gold))
    assert metric.value == pytest.approx(gold.mean())
    assert (metric.intervals[0].low, metric.intervals[0].high) == pytest.approx((low, high))
    row = next(c for c in results.comparisons if c.metric == "mean_gold" and (c.a, c.b) == ("plain", "weak"))
    tested = stats.ttest_rel(source["plain"]["gold"], gold)
    assert (row.statistic, row.df, row.p_value) == pytest.approx((tested.statistic, 79, tested.pvalue))


def test_limits_of_shares_lie_in_their_range_also_where_the_estimate_does_not() -> None:
    """Estimate and limits beyond 1 are cut, and nothing raises (METHODS 7W.2).

    Of 20 judged answers people accepted 18 and the judge 10 of these, of the 380 others it accepted all: with the
    weight 1 that is 1 + 0.9 - 0.5, 1.4, whose limits both lay above 1.
    """
    judge = np.append(np.arange(20) < 10, np.ones(380)).astype(float)
    gold = np.where(np.arange(400) < 20, np.arange(400) < 18, np.nan)
    assert mean_gold(judge, gold).value == pytest.approx(1.4)
    for graded in (judge, 1 - judge):
        for people in (gold, 1 - gold):
            results = run(
                {"a": {"outcome": graded, "gold": people}, "b": {"outcome": 1 - graded, "gold": people}}
            )
            for metric in (m for m in results.metrics if m.metric == "mean_gold"):
                interval = metric.intervals[0]
                assert metric.value is not None
                assert interval.low is not None
                assert interval.high is not None
                assert 0 <= interval.low <= metric.value <= interval.high <= 1
                assert interval.low < interval.high


@pytest.mark.parametrize("share", [0.3, 0.5, 0.7, 0.8, 0.9, 0.95])
def test_limits_hold_where_the_judge_always_says_the_same(share: float) -> None:
    """A judge that accepts everything counts for nothing in the limits either: 20 judged answers hold 94.7 % or more.

    All 21 outcomes are enumerated. Made-up rows that gave it a weight held 87.6 % at 0.9.
    """
    judge, held = np.ones(120), 0.0
    for right in range(21):
        gold = np.where(np.arange(120) < 20, np.arange(120) < right, np.nan)
        student = with_made_up(judge, gold, mean_gold(judge, gold).weight)
        assert student.centre == pytest.approx((right + 1) / 22)
        held += stats.binom.pmf(right, 20, share) * (
            abs(share - student.centre) <= stats.t.ppf(0.975, student.df) * student.error
        )
    assert held >= 0.947


def test_an_estimate_that_does_not_vary_rests_on_the_judged_rows() -> None:
    """All 40 judged answers right and the judge accepts all 400: Wilson's interval of 40 out of 40, not of 400."""
    gold = np.where(np.arange(400) < 40, 1.0, np.nan)
    metric = run({"a": {"outcome": np.ones(400), "gold": gold}}).metrics[0]
    low, high = proportion_confint(40, 40, method="wilson")
    assert (metric.intervals[0].low, metric.intervals[0].high) == pytest.approx((low, high))


def test_clusters_add_up_what_their_rows_contribute() -> None:
    """Under --cluster the variance is G / (G - 1) times the squared sums over clusters, with t of G - 1."""
    source = answers(n=600, gold=120)
    site = np.arange(600) % 15
    named = {model: {**columns, "site": [f"s{s}" for s in site]} for model, columns in source.items()}
    results = run(named, cluster="site")
    metric = next(m for m in results.metrics if m.metric == "mean_gold" and m.model == "weak")
    found = mean_gold(source["weak"]["outcome"], source["weak"]["gold"])
    sums = np.bincount(site, weights=found.derivative)
    error = math.sqrt(15 / 14 * (sums**2).sum())
    assert metric.standard_error == pytest.approx(error, rel=1e-9)
    assert metric.intervals[0].method == "ppi"
    assert metric.intervals[0].low == pytest.approx(found.value - stats.t.ppf(0.975, 14) * error, rel=1e-9)
    row = next(c for c in results.comparisons if c.metric == "mean_gold")
    assert (row.test, row.df) == ("ppi", 14)


def test_few_human_outcomes_decide_nothing() -> None:
    """Nine judged rows: no value, undecided verdicts with the reason; twenty: a warning of narrow ones of pairs."""
    nine, twenty = run(answers(gold=9)), run(answers(gold=20))
    assert all(m.value is None and m.reason for m in nine.metrics if m.metric == "mean_gold")
    assert [(v.verdict, v.low) for v in nine.verdicts] == [("undecided", None)] * 3
    assert all("people judged 9 of its answers" in str(v.text) for v in nine.verdicts)
    models, pairs = {(model,) for model in ABILITY}, {v.about for v in twenty.verdicts}
    told = ((nine, models, "so it has no estimate"), (twenty, pairs, "intervals of differences"))
    for results, about, words in told:
        warned = [w for w in results.warnings if w.code == "few_gold"]
        assert {w.about for w in warned} == about
        assert all(words in w.text for w in warned)
    assert all(v.low is not None for v in twenty.verdicts)
    assert not [w for w in twenty.warnings if w.code.startswith("short_") and "mean_gold" in w.about]


@pytest.mark.parametrize(("judged", "warned"), [(49, 3), (50, 0)])
def test_below_fifty_judged_answers_a_run_says_how_often_intervals_held(judged: int, warned: int) -> None:
    """METHODS 7D: with the figure; three pairs."""
    few = [w for w in run(answers(gold=judged)).warnings if w.code == "few_gold"]
    assert len(few) == warned
    assert all("covered 89.5 % to 96.2 %" in str(w.text) for w in few)


def test_a_pair_without_common_judged_rows_is_undecided() -> None:
    """People judged other questions of each model: each has its value, but a pair has none."""
    source = answers()
    every = np.arange(len(source["weak"]["gold"]))
    known = np.flatnonzero(~np.isnan(source["weak"]["gold"]))
    for model, own in zip(source, np.array_split(known, 3), strict=True):
        source[model]["gold"] = np.where(np.isin(every, own), source[model]["gold"], np.nan)
    results = run(source)
    assert all(m.value is not None for m in results.metrics if m.metric == "mean_gold")
    assert {v.verdict for v in results.verdicts} == {"undecided"}
    assert all("to the same questions; a comparison takes 10" in str(v.text) for v in results.verdicts)
    warned = {w.about for w in results.warnings if w.code == "few_gold"}
    assert {about for about in warned if len(about) == 2} == {v.about for v in results.verdicts}
    assert all(r.value is None and r.reason for r in results.judge_estimates if r.b is not None)
    assert results.judge_bias[0].p_value is not None  # by Welch, on each model's own rows


def test_on_test_sets_of_their_own_variances_add() -> None:
    """--join independent: the named test has the difference of the two values and its error from both."""
    source = answers(n=600, gold=100)
    results = run({name: source[name] for name in ("plain", "weak")}, join="independent", tests=("ppi",))
    row = next(c for c in results.comparisons if c.metric == "mean_gold" and c.test == "ppi")
    plain, weak = (mean_gold(source[name]["outcome"], source[name]["gold"]) for name in ("plain", "weak"))
    errors = [
        rectified_error(source[name]["outcome"], source[name]["gold"], side.weight)
        for name, side in (("plain", plain), ("weak", weak))
    ]
    error = math.hypot(*errors)
    assert row.statistic == pytest.approx((plain.value - weak.value) / error)


def test_weights_are_refused() -> None:
    """--weight beside gold is refused by name; another metric may be weighted."""
    source = {"a": {**answers()["weak"], "w": np.ones(1200)}}
    with pytest.raises(UsageError, match=r"--weight and the column gold.*--metric mean_outcome"):
        run(source, weight="w")
    assert run(source, weight="w", metrics=["mean_outcome"]).primary_metric == "mean_outcome"


def test_without_gold_there_is_no_such_metric() -> None:
    """An empty column is as none: the primary metric is the judge's mean, and nothing is said of people."""
    source = {name: {**columns, "gold": np.full(1200, np.nan)} for name, columns in answers().items()}
    results = run(source)
    assert results.primary_metric == "mean_outcome"
    assert not any(m.metric == "mean_gold" for m in results.metrics)
    assert (results.judge_estimates, results.judge_agreement, results.gold_sampling) == ([], [], [])


def test_the_interval_holds_what_people_say_and_the_judge_s_does_not() -> None:
    """Of 400 data sets nominal 95 % intervals hold the truth 0.7 in 92 to 98 %, those of a kind judge's mean in none.

    The judge accepts 95 % of right answers and 40 % of wrong ones: its mean is near 0.785.
    """
    random = np.random.default_rng(1)
    held = naive = 0
    for _ in range(400):
        right = (random.random(1000) < 0.7).astype(float)
        judge = (random.random(1000) < np.where(right == 1, 0.95, 0.4)).astype(float)
        found = mean_gold(judge, np.where(np.arange(1000) < 150, right, np.nan))
        held += abs(found.value - 0.7) <= Z * math.sqrt((found.derivative**2).sum())
        naive += abs(judge.mean() - 0.7) <= Z * judge.std() / math.sqrt(1000)
    assert 0.92 <= held / 400 <= 0.98
    assert naive == 0


def test_few_labels_of_a_task_are_pooled_and_it_is_said():
    """Sixty labels over five tasks, eight in one: the weighted residual means by numpy, and a caution."""
    rng = np.random.default_rng(0)
    sizes, n = (60, 80, 60, 60, 40), 300
    task = np.repeat(np.arange(5), sizes)
    people = (rng.random(n) < 0.7).astype(float)
    judge = np.where(rng.random(n) < 0.85, people, 1 - people)
    given = np.zeros(n, dtype=bool)
    for number, labels in enumerate((12, 14, 8, 14, 12)):
        given[rng.choice(np.flatnonzero(task == number), labels, replace=False)] = True
    source = {"id": [f"q{k:03d}" for k in range(n)], "task": [f"t{k}" for k in task], "outcome": judge,
              "gold": np.where(given, people, np.nan)}  # fmt: skip
    results = evalreport.evaluate({"m": source}, resamples=50)
    (row,) = results.judge_estimates
    weights = 1 / (5 * np.array(sizes)[task])
    lam = mean_gold(judge, source["gold"]).weight
    expected = lam * np.average(judge[~given], weights=weights[~given]) + np.average(
        (people - lam * judge)[given], weights=weights[given]
    )
    assert row.value == pytest.approx(expected, rel=1e-12)
    assert row.lam == pytest.approx(lam, rel=1e-12)
    assert (row.n_gold, row.fewest_gold) == (60, 8)
    assert row.low < row.value < row.high
    (said,) = [w for w in results.warnings if w.code == "gold_pooled"]
    assert "8 answers in the task 't2'" in str(said.text) or "8 answers in the task t2" in str(said.text)
