"""Several attempts at a question: questions are the units, pass@k and pass^k, and how much of the variance is whose."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest
from scipy import stats

import evalreport as er
from evalreport.errors import InputError, UsageError
from evalreport.loading.load import load
from evalreport.metrics.probabilities import pass_at_k, pass_hat_k
from evalreport.options import Options
from evalreport.questions.attempts.variance import components
from evalreport.schema.metrics import MetricRecord
from evalreport.schema.results import Results, to_json
from tests.reference.second_round import agrees, each
from tests.samples.pairs import Source, row, run

METRICS = {"at": "pass@{k}", "hat": "pass^{k}"}


def attempted(counts: Any, passed: Any, **columns: Any) -> dict[str, list[Any]]:
    """Return one model's rows: question i has ``counts[i]`` attempts, of which ``passed[i]`` passed."""
    pairs = [(i, j) for i, n in enumerate(counts) for j in range(n)]
    rows = {
        "id": [f"q{i:03d}" for i, _ in pairs],
        "attempt": [j + 1 for _, j in pairs],
        "outcome": [int(j < passed[i]) for i, j in pairs],
    }
    return rows | {name: [values[i] for i, _ in pairs] for name, values in columns.items()}


def value_of(results: Results, metric: str, model: str = "a") -> MetricRecord:
    """Return a model's record of a metric over all questions."""
    (found,) = (m for m in results.metrics if (m.model, m.metric, m.slice) == (model, metric, None))
    return found


def drawn(n: int, attempts: int, seed: int, *, sd: float = 1.5, again: int = 0) -> np.ndarray:
    """Return outcomes (n, attempts) whose chance varies from question to question; ``again``: drawn anew from these."""
    chance = 1 / (1 + np.exp(-np.random.default_rng(seed).normal(0, sd, n)))
    return (np.random.default_rng([seed, again]).random((n, attempts)) < chance[:, None]).astype(int)


def of_matrix(outcomes: np.ndarray) -> dict[str, list[Any]]:
    """Return one model's rows from a matrix of questions and attempts."""
    n, m = outcomes.shape
    return {
        "id": [f"q{i:03d}" for i in range(n) for _ in range(m)],
        "attempt": [j + 1 for _ in range(n) for j in range(m)],
        "outcome": outcomes.ravel().tolist(),
    }


@each("passk")
def test_pass_rates_are_the_reference_s(record: dict[str, Any]) -> None:
    """Values by question, mean, t limits (CR2 with groups) and paired differences, cut to the range (R 4.2.2).

    The value's t stands beside Wilson's limits on effective trials, which lead.
    """
    given, expected = record["inputs"], record["value"]
    group = given.get("group")
    of_groups = {} if group is None else {"group": [f"g{g}" for g in group]}
    passed = {"a": given["c_a"], "b": given["c_b"]} if "c_a" in given else {"a": given["c"]}
    source = {name: attempted(given["n"], c, **of_groups) for name, c in passed.items()}
    cluster = None if group is None else "group"
    for kind, spelled in METRICS.items():
        metric, wanted = spelled.format(k=given["k"]), expected[kind]
        results = run(
            source, metrics=(metric,), cluster=cluster, intervals=("t",) if group is None else (), resamples=1
        )
        if "b" in source:
            found = row(results, "paired_t")
            value, low, high, edges = found.difference, found.low, found.high, (-1, 1)
            assert found.df == wanted["df"]
            assert agrees(abs(found.difference / found.statistic), wanted["se"])
        else:
            one = value_of(results, metric)
            assert one.intervals[0].method == ("trials_wilson" if group is None else "cr2_t")
            beside = one.intervals[1 if group is None else 0]
            value, low, high, edges = one.value, beside.low, beside.high, (0, 1)
            assert beside.method == ("t" if group is None else "cr2_t")
            assert one.n == len(given["n"])
        assert agrees(value, wanted["estimate"])
        assert agrees(low, np.clip(wanted["low"], *edges))
        assert agrees(high, np.clip(wanted["high"], *edges))


def wilson_by_trials(values: np.ndarray) -> tuple[float, float]:
    """Return Wilson's limits on v (1 - v) / V trials, with t by the kurtosis of the values, solved as a quadratic."""
    n, v = len(values), values.mean()
    variance = values.var(ddof=1) / n
    kurtosis = ((values - v) ** 4).mean() / values.var() ** 2
    trials = v * (1 - v) / variance
    if n * min(v, 1 - v) < 1:
        trials = min(trials, n)
    t = stats.t.ppf(0.975, min(n - 1, 2 * n / (kurtosis - 1)))
    low, high = np.sort(np.roots([1 + t * t / trials, -(2 * v + t * t / trials), v * v]).real)
    return float(low), float(high)


@pytest.mark.parametrize("passed", [[5, 4, 0, 1, 3, 5, 2, 5, 4, 0], [5, 5, 5, 5, 5, 5, 5, 5, 2, 5]])
def test_pass_rates_have_wilsons_limits_on_effective_trials(passed: list[int]) -> None:
    """The roots of (v - p)^2 = t^2 p (1 - p) / trials; no more trials than questions beside an end."""
    results = run({"a": attempted([5] * 10, passed)}, metrics=("pass@2",), resamples=1)
    values = pass_at_k(np.full(10, 5.0), np.array(passed, float), 2)
    leading = value_of(results, "pass@2").intervals[0]
    assert leading.method == "trials_wilson"
    assert (leading.low, leading.high) == pytest.approx(wilson_by_trials(values), rel=1e-9)


def test_a_pass_rate_of_one_has_as_many_trials_as_questions() -> None:
    """All attempts passed: n / (n + t^2), t with n - 1 degrees of freedom."""
    leading = value_of(
        run({"a": attempted([5] * 10, [5] * 10)}, metrics=("pass@2",), resamples=1), "pass@2"
    ).intervals[0]
    assert leading.low == pytest.approx(10 / (10 + stats.t.ppf(0.975, 9) ** 2), rel=1e-9)
    assert leading.high == 1.0


@each("passk")
def test_pass_rates_of_each_question_are_the_reference_s(record: dict[str, Any]) -> None:
    """The unbiased estimates of single questions (R 4.2.2, lchoose and a product form)."""
    given, expected = record["inputs"], record["value"]
    for name, function in (("pass_at_k", pass_at_k), ("pass_hat_k", pass_hat_k)):
        if name in expected:
            found = function(np.array(given["n"], float), np.array(given["c"], float), given["k"])
            np.testing.assert_allclose(found, expected[name], rtol=0, atol=1e-8)


UNLIKE: Source = {
    "a": attempted([1, 2, 4, 3], [1, 1, 1, 0], topic=["x", "x", "y", "y"]),
    "b": attempted([2, 2, 1, 5], [1, 2, 0, 5], topic=["x", "x", "y", "y"]),
}


def test_questions_count_once_whatever_their_attempts() -> None:
    """The mean of the questions' means, by hand; unlike numbers are said, and bound the k of pass@k."""
    results = run(UNLIKE)
    assert results.n == 4
    assert value_of(results, "mean_outcome").value == pytest.approx((1 + 1 / 2 + 1 / 4 + 0) / 4, abs=1e-15)
    assert value_of(results, "mean_outcome", "b").value == pytest.approx((1 / 2 + 1 + 0 + 1) / 4, abs=1e-15)
    (said,) = (w for w in results.warnings if w.code == "unlike_attempts")
    assert (said.text.params["least"], said.text.params["most"]) == (1, 5)
    spelled = {m.metric for m in results.metrics if m.metric.startswith("pass")}
    assert spelled == {"pass@1", "pass^1"}


def test_pass_rate_needs_k_attempts_of_every_question() -> None:
    """With fewer than k attempts of some question the value is null with the reason; with one outcome not 0/1, too."""
    results = run(UNLIKE, metrics=("mean_outcome", "pass@2", "pass^2"))
    for metric in ("pass@2", "pass^2"):
        assert value_of(results, metric).value is None
        assert str(value_of(results, metric).reason) == "some question has fewer than 2 attempts"
    graded = {"a": {**UNLIKE["a"], "outcome": [0.5, *UNLIKE["a"]["outcome"][1:]]}}
    reason = value_of(run(graded, metrics=("mean_outcome", "pass@1")), "pass@1").reason
    assert str(reason) == "the outcomes are not all 0 or 1"


def test_t_over_questions_leads() -> None:
    """Interval and test of a mean over attempts are Student's over the questions' means (scipy)."""
    a, b = drawn(30, 4, 1), drawn(30, 4, 2)
    results = run({"a": of_matrix(a), "b": of_matrix(b)})
    first = value_of(results, "mean_outcome").intervals[0]
    means = a.mean(axis=1)
    low, high = stats.t.interval(0.95, 29, means.mean(), stats.sem(means))
    assert (first.method, first.low, first.high) == (
        "t",
        pytest.approx(low, abs=1e-12),
        pytest.approx(high, abs=1e-12),
    )
    found = row(results, "paired_t")
    expected = stats.ttest_rel(means, b.mean(axis=1))
    assert found.recommended
    assert found.p_value == pytest.approx(expected.pvalue, abs=1e-12)


@pytest.mark.slow
def test_order_and_names_of_attempts_change_nothing() -> None:
    """Rows in another order, attempts under other names, another model with more attempts: the same figures."""
    source = {"a": of_matrix(drawn(20, 3, 3)), "b": of_matrix(drawn(20, 3, 4))}
    graded = {
        m: {**c, "outcome": [o + 0.1 * (i % 7) for i, o in enumerate(c["outcome"])]}
        for m, c in source.items()
    }
    random = np.random.default_rng(0)
    for rows in (source, graded):
        turned = {}
        for model, columns in rows.items():
            order = random.permutation(60)
            turned[model] = {name: [values[i] for i in order] for name, values in columns.items()}
            turned[model]["attempt"] = [f"run {10 - a}" for a in turned[model]["attempt"]]
        assert run(rows).metrics == run(turned).metrics
        assert run(rows).comparisons == run(turned).comparisons


def test_attempts_are_not_examples() -> None:
    """Taken for independent examples, attempts give intervals that miss; by questions they hold (400 simulated sets).

    40 questions, 10 attempts each; the truth is the mean chance over all questions, 0.5 by symmetry. 0.95 -+ 3 standard
    errors of 400 draws is 0.917 to 0.983.
    """
    held = naive = 0
    for seed in range(400):
        outcomes = drawn(40, 10, 1000 + seed)
        means = outcomes.mean(axis=1)
        low, high = stats.t.interval(0.95, 39, means.mean(), stats.sem(means))
        held += low <= 0.5 <= high
        p, n = outcomes.mean(), outcomes.size
        naive += abs(p - 0.5) <= 1.96 * np.sqrt(p * (1 - p) / n)
        if seed == 0:  # the program's interval is that of the questions
            first = value_of(run({"a": of_matrix(outcomes)}, resamples=1), "mean_outcome").intervals[0]
            assert (first.low, first.high) == (pytest.approx(low, abs=1e-12), pytest.approx(high, abs=1e-12))
    assert 0.917 <= held / 400 <= 0.983
    assert naive / 400 < 0.8


@pytest.mark.slow
def test_few_passes_are_said() -> None:
    """pass^2 near 0 over few questions: its t interval is short, and the run says so; loudly of the primary metric.

    30 questions, 10 attempts, chances Beta(0.06, 1.44), so that E[p^2] = 0.06 * 1.06 / (1.5 * 2.5).
    """
    random = np.random.default_rng(20)
    truth, held = 0.06 * 1.06 / (1.5 * 2.5), 0
    for _ in range(400):
        passed = random.binomial(10, random.beta(0.06, 1.44, 30))
        values = passed * (passed - 1) / 90
        low, high = stats.t.interval(0.95, 29, values.mean(), stats.sem(values) or 1)
        held += low <= truth <= high
    assert held / 400 < 0.9
    few = {"a": attempted([4] * 60, [4] * 6 + [2] * 48 + [0] * 6), "b": attempted([4] * 60, [3] * 60)}

    def level(*metrics: str) -> list[tuple[str, tuple[str, ...]]]:
        return [(w.level, w.about) for w in run(few, metrics=metrics).warnings if w.code == "few_passes"]

    assert level("pass^4") == [("caution", ("a",))]  # 6 of 60
    assert level("mean_outcome", "pass^4") == [("info", ("a",))]
    assert level("mean_outcome") == []


def test_rates_at_an_end_have_a_width() -> None:
    """All pass at every attempt: Wilson's interval of the questions, not one of zero width."""
    first = value_of(run({"a": attempted([3] * 20, [3] * 20)}), "pass^3").intervals[0]
    assert first.high == 1
    assert 0.8 < first.low < 0.9


def test_clusters_are_groups_of_questions() -> None:
    """With --cluster the questions' means are analysed by groups, as one row a question would be."""
    topics = [f"t{i // 5}" for i in range(30)]
    a, b = drawn(30, 4, 5), drawn(30, 4, 6)
    many = {
        m: {**of_matrix(x), "topic": [t for t in topics for _ in range(4)]} for m, x in (("a", a), ("b", b))
    }
    one = {
        m: {"id": [f"q{i:03d}" for i in range(30)], "outcome": x.mean(axis=1).tolist(), "topic": topics}
        for m, x in (("a", a), ("b", b))
    }
    options = {"cluster": "topic", "metrics": ("mean_outcome",)}
    found, expected = (row(run(source, **options), "cluster_t") for source in (many, one))
    assert (found.difference, found.p_value, found.df) == pytest.approx(
        (expected.difference, expected.p_value, expected.df), abs=1e-12
    )


def test_gates_ask_for_any_k() -> None:
    """A gate on pass@k or pass^k, of one model and of a difference, without naming the metric."""
    source = {"a": attempted([4] * 30, [4] * 15 + [3] * 15), "b": attempted([4] * 30, [1] * 30)}
    results = er.evaluate(source, gates=("a.pass@2 >= 0.8", "a.pass^3 - b.pass^3 > 0", "a.pass@5 > 0"))
    assert [gate.outcome for gate in results.gates] == ["pass", "pass", "undecided"]
    assert "fewer than 5 attempts" in str(results.gates[2].text)


def test_test_sets_of_their_own() -> None:
    """Models that answered other questions: the fewest attempts are those of the questions that each has."""
    second = attempted([2] * 30, [1] * 30)
    source = {"a": attempted([3] * 20, [2] * 20), "b": {**second, "id": [f"other {q}" for q in second["id"]]}}
    results = run(source, join="independent")
    assert {m.metric for m in results.metrics} == {"mean_outcome", "pass@1", "pass@2", "pass^1", "pass^2"}
    assert [(r.n_questions, r.attempts) for r in results.attempt_variance] == [(20, 3), (30, 2)]


def test_bare_name_stands_for_one_and_the_fewest_attempts() -> None:
    """pass_at_k is pass@1 and pass@n with the smallest n."""
    results = run({"a": attempted([4, 5, 6], [1, 2, 3])}, metrics=("pass_at_k",))
    assert [m.metric for m in results.metrics] == ["pass@1", "pass@4"]
    assert results.primary_metric == "pass@1"
    with pytest.raises(UsageError, match="pass_at_k"):
        run({"a": attempted([4, 5, 6], [1, 2, 3])}, metrics=("pass@0",))


# --- labels, probabilities, numbers -----------------------------------------------------------------------------------


def labelled(right: np.ndarray) -> dict[str, list[Any]]:
    """Return one model's labels: the truth is the question's parity, and right says where it is predicted."""
    rows = of_matrix(right)
    truth = [int(i[1:]) % 2 for i in rows["id"]]
    answers = [t if r else 1 - t for t, r in zip(truth, rows.pop("outcome"), strict=True)]
    return {**rows, "y_true": [f"c{t}" for t in truth], "y_pred": [f"c{a}" for a in answers]}


def test_labels_are_analysed_by_questions() -> None:
    """Accuracy over several answers: the mean over questions, with the t interval of the questions' means."""
    right = drawn(30, 4, 7)
    results = run({"a": labelled(right)})
    found = value_of(results, "accuracy")
    means = right.mean(axis=1)
    low, high = stats.t.interval(0.95, 29, means.mean(), stats.sem(means))
    assert (found.value, found.n, found.intervals[0].method) == (pytest.approx(means.mean()), 30, "cr2_t")
    assert (found.intervals[0].low, found.intervals[0].high) == (pytest.approx(low), pytest.approx(high))
    (parts,) = results.attempt_variance
    of_outcomes = run({"a": of_matrix(right)}).attempt_variance[0]
    assert (parts.metric, parts.between, parts.within) == (
        "accuracy", pytest.approx(of_outcomes.between), pytest.approx(of_outcomes.within),
    )  # fmt: skip


def test_what_labels_cannot_say_is_refused() -> None:
    """Unlike numbers of answers, and several answers in folds, with what to write instead."""
    rows = labelled(drawn(6, 2, 8))
    with pytest.raises(InputError, match="answers the question 'q005' once, another is answered twice"):
        run({"a": {name: values[:-1] for name, values in rows.items()}})
    for column in ("fold", "train_size"):
        with pytest.raises(InputError, match=f"several values of {column}"):
            run({"a": {**rows, column: [1 + i // 6 for i in range(12)]}})


# --- variance components ----------------------------------------------------------------------------------------------


def test_components_are_those_of_the_analysis_of_variance() -> None:
    """Equal numbers: F = 1 + n between / within (scipy's one-way F); unequal: Searle et al. (1992), section 3.6."""
    outcomes = drawn(25, 6, 9)
    mean, spread = outcomes.mean(axis=1), ((outcomes - outcomes.mean(axis=1, keepdims=True)) ** 2).sum(axis=1)
    found = components(np.full(25, 6.0), mean, spread)
    f = stats.f_oneway(*outcomes).statistic
    assert 1 + 6 * found.between / found.within == pytest.approx(f, rel=1e-12)
    # By hand: groups (0, 1), (4), (2, 2, 5) with the mean 14/6.
    count, mean, spread = np.array([2.0, 1, 3]), np.array([0.5, 4, 3]), np.array([0.5, 0, 6])
    msw, msb = 6.5 / 3, (2 * (0.5 - 14 / 6) ** 2 + (4 - 14 / 6) ** 2 + 3 * (3 - 14 / 6) ** 2) / 2
    found = components(count, mean, spread)
    assert found.within == pytest.approx(msw)
    assert found.between == pytest.approx((msb - msw) / ((6 - 14 / 6) / 2))


def test_more_attempts_or_more_questions() -> None:
    """The error now is the interval's; twice the questions divides it by sqrt 2, twice the attempts its part within."""
    outcomes = drawn(40, 3, 10)
    (found,) = run({"a": of_matrix(outcomes)}).attempt_variance
    assert (found.n_questions, found.attempts) == (40, 3)
    assert found.se_now == pytest.approx(stats.sem(outcomes.mean(axis=1)))
    assert found.se_more_questions == pytest.approx(found.se_now / np.sqrt(2))
    assert found.se_more_attempts == pytest.approx(np.sqrt((found.between + found.within / 6) / 40))
    assert found.share_within == pytest.approx(found.within / (found.between + found.within))
    # A model of one attempt tells nothing of what varies within; without attempts there is nothing to say.
    once = {"a": of_matrix(outcomes), "b": of_matrix(outcomes[:, :1])}
    _, second, pair = run(once).attempt_variance
    assert (second.within, second.se_more_attempts) == (None, None)
    assert (pair.within, pair.se_more_attempts) == (None, None)
    assert run({"b": of_matrix(outcomes[:, :1])}).attempt_variance == []


def test_of_a_difference_what_is_hard_for_both_cancels() -> None:
    """Two models with the same chances: nothing lies between questions, so attempts help as much as questions do.

    The components of a difference by question are those of its one-way layout: var(d) = between + within / attempts,
    with within the sum of both models'; the error now is the paired t test's.
    """
    a, b = drawn(200, 4, 12, sd=3), drawn(200, 4, 12, sd=3, again=1)
    results = run({"a": of_matrix(a), "b": of_matrix(b)})
    first, second, pair = results.attempt_variance
    assert (pair.model, pair.b) == ("a", "b")
    d = a.mean(axis=1) - b.mean(axis=1)
    assert pair.se_now == pytest.approx(stats.sem(d))
    assert pair.within == pytest.approx(first.within + second.within)
    assert pair.between == pytest.approx(max(0, d.var(ddof=1) - pair.within / 4))
    assert min(first.share_within, 1 - first.share_within) > 0.1
    assert pair.share_within > 0.9
    assert pair.se_more_attempts < 0.78 * pair.se_now
    assert first.se_more_attempts > 0.9 * first.se_now


def test_components_are_unbiased() -> None:
    """Over 300 simulated sets their means are the true ones, within 4 standard errors of the simulation."""
    random = np.random.default_rng(11)
    counts = random.integers(1, 6, 30).astype(float)
    found = []
    for _ in range(300):
        rows = [2.0 * random.normal() + random.normal(size=int(n)) for n in counts]
        mean, spread = (
            np.array([r.mean() for r in rows]),
            np.array([((r - r.mean()) ** 2).sum() for r in rows]),
        )
        parts = components(counts, mean, spread)
        found.append((parts.between, parts.within))
    for values, truth in zip(np.array(found).T, (4.0, 1.0), strict=True):
        assert abs(values.mean() - truth) < 4 * stats.sem(values)


def test_of_a_suite_they_are_those_of_its_mean() -> None:
    """The error now is the suite's own, the components those within the tasks: the attempts' part by hand."""
    sizes = {"easy": 30, "hard": 90}
    models: dict[str, dict[str, list[Any]]] = {}
    for name in "ab":
        parts = {t: drawn(n, 4, n, again=ord(name), sd=1 + (t == "hard")) for t, n in sizes.items()}
        rows = {t: of_matrix(outcomes) for t, outcomes in parts.items()}
        models[name] = {c: [v for t in sizes for v in rows[t][c]] for c in rows["easy"]}
        models[name]["task"] = [t for t, n in sizes.items() for _ in range(4 * n)]
    results = run(models)
    (found,) = (r for r in results.attempt_variance if (r.model, r.b) == ("b", None))
    assert found.se_now == pytest.approx(value_of(results, "mean_outcome", "b").standard_error, rel=1e-12)
    within = sum(o.var(axis=1, ddof=1).sum() for o in parts.values()) / 120
    of_attempts = within / 4 * sum(1 / n for n in sizes.values()) / 4
    assert found.within == pytest.approx(within)
    assert found.se_more_attempts == pytest.approx(np.sqrt(found.se_now**2 - of_attempts / 2))
    msb = 4 * sum(((o.mean(axis=1) - o.mean()) ** 2).sum() for o in parts.values()) / 118
    assert found.between == pytest.approx(max(0.0, (msb - within) / 4), abs=1e-12)
    (pair,) = (r for r in results.attempt_variance if r.b is not None)
    (tested,) = (
        c for c in results.comparisons if (c.metric, c.test, c.slice) == ("mean_outcome", "suite_t", None)
    )
    assert tested.statistic is not None
    assert tested.difference is not None
    assert pair.se_now == pytest.approx(abs(tested.difference / tested.statistic), rel=1e-9)


def test_report_says_what_would_narrow_the_intervals() -> None:
    """The section's heading is its finding: questions that differ much call for more of them."""
    from evalreport.questions.attempts import variance_section
    from evalreport.report.view import view_of

    hard = run({"a": attempted([10] * 40, [10] * 20 + [1] * 20)})
    noisy = run({"a": attempted([2] * 40, [1] * 40)})
    assert variance_section.describe(view_of(hard)).heading.startswith("More questions would narrow")
    assert (
        "about as much" in variance_section.describe(view_of(noisy)).heading
        or noisy.attempt_variance[0].se_now == 0
    )
    assert variance_section.describe(view_of(run({"a": of_matrix(drawn(20, 1, 1))}))) is None
    assert "questions like these" in variance_section.scope(view_of(hard))


def test_plan_answers_both_questions() -> None:
    """With the components, a plan says how many questions at how many attempts: sd^2 = between + within / attempts."""
    (answer,) = er.plan(half_width=0.05, between=0.1, within=0.12, attempts=(1, 4))
    single = er.plan(half_width=0.05, measure="mean", sd=np.sqrt(0.1 + 0.12))[0].rows[0].answer
    fourfold = er.plan(half_width=0.05, measure="mean", sd=np.sqrt(0.1 + 0.03))[0].rows[0].answer
    assert ([r.answer for r in answer.rows], answer.unit) == ([single, fourfold], "questions")
    for wrong in ({"between": 0.1}, {"attempts": 3}, {"between": 0.1, "within": 0.1, "sd": 0.3}):
        with pytest.raises(UsageError, match="--between"):
            er.plan(half_width=0.05, **wrong)


def test_history_keeps_the_attempts() -> None:
    """What an audit keeps of a run gives pass@k again."""
    from evalreport.history.kept_predictions import packed, unpacked

    predictions = load(UNLIKE)
    again = unpacked(packed(predictions, Options()))
    for one, other in zip(predictions.models, again.models, strict=True):
        np.testing.assert_array_equal(np.stack(one.passes), np.stack(other.passes))
        np.testing.assert_array_equal(one.attempts.spread, other.attempts.spread)


def test_components_stand_in_results_json_as_a_flat_list() -> None:
    """Each record of attempt_variance is a row of plain values."""
    content = json.loads(to_json(run(UNLIKE)))["attempt_variance"]
    assert [(r["model"], r["b"]) for r in content] == [("a", None), ("b", None), ("a", "b")]
    assert all(not isinstance(value, (dict, list)) for r in content for value in r.values())
