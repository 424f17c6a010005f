"""No headline contradicts the records of its run: random results, and the order of the rules."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, assume, example, given, settings
from hypothesis import strategies as st

import evalreport as er
from evalreport.headline.rules import CLAUSES, LEADS
from evalreport.schema.lookups import verdict_between
from evalreport.schema.results import Results

NAMES = ("ash", "birch", "cedar", "doum")
TURNED = dict(zip(NAMES, ("zelkova", "yew", "willow", "vine"), strict=True))
RUNS = st.fixed_dictionaries(
    {
        "seed": st.integers(0, 10_000),
        "skills": st.lists(st.sampled_from([0.5, 0.6, 0.75, 0.9]), min_size=1, max_size=4),
        "n": st.sampled_from([30, 150]),
        "margin": st.sampled_from([None, 0.1]),
        "with_baseline": st.booleans(),
        "bars": st.lists(st.sampled_from([0.3, 0.55, 0.7, 0.95]), max_size=2),
    }
)
FEW = settings(max_examples=12, deadline=None, suppress_health_check=[HealthCheck.too_slow])


def evaluated(run: dict[str, Any], names: dict[str, str] | None = None) -> Results:
    """Evaluate random right and wrong answers of up to four models."""
    rng = np.random.default_rng(run["seed"])
    spelled = dict(zip(NAMES, NAMES, strict=True)) if names is None else names
    models = {
        spelled[name]: {"y_pred": np.where(rng.random(run["n"]) < skill, truth_of(run), 1 - truth_of(run))}
        for name, skill in zip(NAMES, run["skills"], strict=False)
    }
    first = spelled[NAMES[0]]
    return er.evaluate(
        models,
        truth=truth_of(run),
        positive="1",
        metrics=("accuracy",),
        margin=run["margin"],
        baseline=first if run["with_baseline"] and len(models) > 1 else None,
        gates=[f"{first}.accuracy >= {bar}" for bar in run["bars"]],
        resamples=20,
    )


def truth_of(run: dict[str, Any]) -> np.ndarray[Any, Any]:
    """Give as many examples of either class."""
    return np.arange(run["n"]) % 2


AHEAD_AND_BEHIND = {
    "seed": 0,
    "skills": [0.75, 0.9, 0.5, 0.9],
    "n": 150,
    "margin": None,
    "with_baseline": True,
    "bars": [],
}


@given(run=RUNS)
@example(run=AHEAD_AND_BEHIND)
@FEW
def test_no_headline_contradicts_its_records(run: dict[str, Any]) -> None:
    """Ahead is decided, good passed every gate, limits hold their size, the worst gate is the one named."""
    results = evaluated(run)
    head = results.headline
    assert head is not None
    text = str(head.text)
    ahead = re.search(r"(\w+) is ahead of (?:the baseline )?(ash|birch|cedar|doum) on", text)
    if ahead is not None:
        found = verdict_between(results.verdicts, ahead[1], ahead[2])
        assert found is not None
        assert found.verdict == "better"
    may_be_best = {r.model for r in results.rank_sets if r.may_be_best}
    contenders = re.search(r"([\w, ]+) is best on accuracy \(", text)
    assert contenders is None or set(re.findall(r"ash|birch|cedar|doum", contenders[1])) == may_be_best
    for other, whom in re.findall(r"(\w+) is behind (ash|birch|cedar|doum), by", text):
        row = verdict_between(results.verdicts, whom, other)
        assert row is not None
        assert row.verdict == "better"
    outcomes = {gate.outcome for gate in results.gates}
    assert (head.tone == "good") == (outcomes == {"pass"})
    assert (head.tone == "bad") == ("fail" in outcomes)
    for name in head.params:
        if f"{name}_low" in head.params:
            assert head.params[f"{name}_low"] <= head.params[name] <= head.params[f"{name}_high"]
    worst = {"fail": "gate_failed", "undecided": "gate_undecided"}
    leading = next((code for outcome, code in worst.items() if outcome in outcomes), None)
    assert leading is None or head.code == leading
    if leading is not None:
        bars = [g.gate for g in results.gates if worst.get(g.outcome) == leading]
        assert any(bar.rpartition(" ")[2] in text for bar in bars)
        if leading == "gate_failed":
            assert max(bar.rpartition(" ")[2] for bar in bars) in text
    assert not re.search(r"\b(close|equal|unchanged|no difference)\b", text)


@pytest.mark.slow
@given(run=RUNS)
@FEW
def test_other_names_change_nothing_but_names(run: dict[str, Any]) -> None:
    """Neither the order of the alphabet nor a name decides who comes first."""
    results = evaluated(run)
    values = [r.value for r in results.metrics if r.slice is None]
    assume(len(set(values)) == len(values))
    other = evaluated(run, TURNED)
    assert results.headline is not None
    assert other.headline is not None
    said = str(results.headline.text)
    for name, turned in TURNED.items():
        said = re.sub(rf"\b{name}\b", turned, said)
    assert _without_order(said) == _without_order(str(other.headline.text))
    assert (results.headline.code, results.headline.tone) == (other.headline.code, other.headline.tone)


def _without_order(text: str) -> list[str]:
    """Return the words in any order: models whose differences are alike may stand in either."""
    return sorted(re.findall(r"[\w.−]+", text))


def test_the_rules_stand_in_the_order_of_the_table() -> None:
    """A failed gate comes before an alarm, an alarm before an undecided gate; what is left out is the first clause."""
    names = [rule.__name__ for rule in LEADS]
    assert names[:4] == ["blocked", "gate_failed", "alarm", "gate_undecided"]
    assert names[-1] == "fallback"
    assert CLAUSES[0].__name__ == "left_out"
    assert all(rule.__doc__ for rule in (*LEADS, *CLAUSES))


def judged_by_gate(right: int, n: int, gate: str) -> er.Results:
    """Return the results of one model that has so many of n examples right, under one gate."""
    truth = np.arange(n) % 2
    answers = np.where(np.arange(n) < right, truth, 1 - truth)
    return er.evaluate(
        {"ash": {"y_pred": answers}},
        truth=truth,
        positive="1",
        metrics=("accuracy",),
        gates=[gate],
        resamples=20,
    )


def test_a_failed_gate_is_named_with_its_value_and_its_limit() -> None:
    """40 of 100 right where 0.9 is needed: the sentence gives the value, its interval and the bar."""
    results = judged_by_gate(40, 100, "ash.accuracy >= 0.9")
    assert results.headline is not None
    assert results.headline.tone == "bad"
    assert re.match(
        r"A gate fails: ash’s accuracy is 0\.40\d* \[.*\], needs ≥ 0\.9", str(results.headline.text)
    )


def test_a_limit_that_misses_its_bar_is_told_with_digits_that_show_it() -> None:
    """48 of 75 right are at most 0.748 (Clopper-Pearson, scipy.stats.binomtest): not the 0.75 that is needed."""
    results = judged_by_gate(48, 75, "ash.accuracy >= 0.75")
    assert results.headline is not None
    assert str(results.headline.text).startswith(
        "A gate fails: ash’s accuracy is 0.640 [0.521, 0.748], needs ≥ 0.75"
    )


def test_all_models_of_which_another_metric_is_true_are_named() -> None:
    """A constant of one half loses ln 2; constants of 0 and of 1 lose alike on balanced classes."""
    models = {name: {"p_1": np.full(100, p)} for name, p in (("half", 0.5), ("no", 0.0), ("yes", 1.0))}
    results = er.evaluate(models, truth=np.arange(100) % 2, positive="1", resamples=20)
    assert results.headline is not None
    assert "half is lower on log loss: 0.7 against 17.3 for no and yes, by" in str(results.headline.text)


def test_a_class_that_only_the_model_behind_never_finds_is_named() -> None:
    """The loser calls every 'z' an 'x': what its lower accuracy comes from."""
    truth = ["x", "y", "z"] * 80
    models = {
        "good": {"y_pred": [t if i % 9 else "x" for i, t in enumerate(truth)]},
        "poor": {"y_pred": [t if t != "z" and i % 9 else "x" for i, t in enumerate(truth)]},
    }
    first = er.evaluate(models, truth=truth, resamples=20).headline
    assert first is not None
    assert str(first.text).endswith("; poor never finds “z” (80 examples).")


def test_of_two_that_rank_alike_the_level_of_the_one_that_is_off_is_the_clause() -> None:
    """Both rank equally well; b halves the odds, so that it predicts too few: log loss is the metric that shows it."""
    rng = np.random.default_rng(2)
    logit = rng.normal(-1, 1.5, 2500)
    truth = (rng.random(2500) < 1 / (1 + np.exp(-logit))).astype(int)
    p = {"a": 1 / (1 + np.exp(-logit + rng.normal(0, 0.02, 2500))), "b": 1 / (1 + 3 * np.exp(-logit))}
    results = er.evaluate({m: {"p_1": v} for m, v in p.items()}, truth=truth, resamples=20)
    assert results.headline is not None
    share, predicted = 100 * truth.mean(), 100 * p["b"].mean()
    ending = f"; b’s probabilities are too low: {predicted:.1f} % predicted, {share:.1f} % observed."
    assert str(results.headline.text).endswith(ending)


def said(results: Results) -> str:
    """Return the first sentence."""
    assert results.headline is not None
    return str(results.headline.text)


def test_of_equal_models_that_beat_no_rule_none_is_the_best() -> None:
    """Two models of 22 right answers of 40, on other examples, beside a rule that has 20."""
    truth = np.arange(40) % 2
    models = {name: {"y_pred": np.where(np.arange(40) // 2 % 20 < 11, truth, 1 - truth)} for name in ("ash",)}
    models["birch"] = {"y_pred": np.where(np.arange(40) // 2 % 20 >= 9, truth, 1 - truth)}
    results = er.evaluate(models, truth=truth, positive="1", metrics=["accuracy"], resamples=20)
    assert said(results) == (
        "No model is shown to beat always predicting “0” on accuracy (0.50): the best are ash and birch, 0.55 each."
    )


def test_why_the_only_model_has_no_interval_is_said_first() -> None:
    """Twelve examples in order of time."""
    model = {"outcome": [3, 4, 5] * 4, "time": [*range(12)]}
    results = er.evaluate({"ash": model}, order="time", resamples=20)
    assert said(results).startswith(
        "ash’s outcome is 4.00, without an interval (fewer than 20 examples in order of time"
    )


def test_what_a_gate_has_said_is_not_said_again() -> None:
    """A gate's value of the only model, where no rule stands beside it."""
    model = {"outcome": [3, 4, 5, 4] * 10}
    results = er.evaluate({"ash": model}, gates=["ash.mean_outcome >= 4.5"], resamples=20)
    assert said(results) == "A gate fails: ash’s outcome is 4.00 [3.77, 4.23], needs ≥ 4.5."


def test_a_small_value_beside_a_wide_difference_does_not_look_like_0() -> None:
    """Two examples: the interval of the difference is over a hundred wide, the losses are 0.3 and 0.2."""
    models = {"ash": {"p_1": [0.9, 0.6]}, "birch": {"p_1": [0.95, 0.7]}}
    results = er.evaluate(models, truth=[1, 1], positive="1", metrics=["log_loss"], resamples=20)
    assert re.search(r"0\.2\d* against 0\.3", said(results)), said(results)


def test_that_the_model_behind_gives_one_score_to_all_is_said() -> None:
    """Half for everybody is an area of 0.5 and no ranking at all."""
    rng = np.random.default_rng(4)
    truth = np.repeat([0, 1], 150)
    models = {"real": {"score": 1.5 * truth + rng.normal(size=300)}, "flat": {"score": np.full(300, 0.5)}}
    first = said(er.evaluate(models, truth=truth, resamples=20))
    assert first.startswith("real is ahead of flat on ROC AUC: ")
    assert first.endswith("; flat gives all 300 examples the same score, which ranks nothing.")


def test_where_no_gate_is_decided_all_are_undecided() -> None:
    """80 and 81 of 100 right, bars beside them."""
    truth = np.arange(100) % 2
    right = {"a": np.arange(100) < 81, "b": np.arange(100) >= 20}
    models = {m: {"y_pred": np.where(r, truth, 1 - truth)} for m, r in right.items()}
    gates = ["a.accuracy >= 0.8", "b.accuracy >= 0.8", "a.accuracy - b.accuracy >= 0"]
    assert said(er.evaluate(models, truth=truth, gates=gates, resamples=20)).startswith(
        "All three gates are undecided: "
    )


def with_errors(wrong: dict[str, range | tuple[int, ...]]) -> Results:
    """Evaluate models that are wrong on these of 300 examples of two classes, half of either."""
    truth = np.arange(300) % 2
    models = {}
    for name, rows in wrong.items():
        answers = truth.copy()
        answers[list(rows)] = 1 - answers[list(rows)]
        models[name] = {"y_pred": answers}
    return er.evaluate(models, truth=truth, positive="1", metrics=("accuracy",), resamples=20)


def test_a_model_that_is_behind_another_than_the_first_is_not_said_to_be_best() -> None:
    """62 errors hold b's 46, so 16 of 16 go one way; a's 44 lie elsewhere, so that a against c is open."""
    elsewhere = range(200, 244)
    results = with_errors({"a": elsewhere, "b": range(46), "c": range(62)})
    assert {r.model for r in results.rank_sets if r.may_be_best} == {"a", "b"}
    assert results.verdict.startswith(
        "a or b is best on accuracy (0.853, 0.847); 300 examples do not show which. "
    )
    assert " c is behind b, by 0.053 [" in results.verdict
    several = with_errors({"a": elsewhere, "b": range(46), "c": range(62), "d": range(64)})
    assert several.verdict.endswith(" Each of the other two is behind another model.")
    far = with_errors({"a": elsewhere, "b": range(46), "c": range(62), "d": range(150)})
    assert "Each of the other two is behind another model, one of them behind a, by 0.35 [" in far.verdict


def test_why_no_model_has_a_value_is_said_where_it_is_one_reason() -> None:
    """It said that no model has a value of ROC AUC, and no more."""
    models = {name: {"p_1": np.linspace(low, 1, 30)} for name, low in (("ash", 0), ("oak", 0.5))}
    one_class = er.evaluate(models, truth=["0"] * 30, positive="1", metrics=["roc_auc"], resamples=20)
    assert said(one_class) == "No verdict: no model has a value of ROC AUC (the truth holds one class only)."
    # Of two reasons neither is said: one model has a single class before it, the other gives labels only.
    two = {"ash": models["ash"], "oak": {"y_pred": ["0", "1"] * 15}}
    results = er.evaluate(two, truth=["0"] * 30, positive="1", metrics=["roc_auc"], resamples=20)
    assert said(results) == "No verdict: no model has a value of ROC AUC."


@pytest.mark.parametrize(("t", "said"), [(2.2, False), (2.5, True)])
def test_a_bias_is_a_clause_where_it_is_shown_over_all_models(t: float, said: bool) -> None:
    """Of two unbiased models with 12 to 60 examples one was said to predict too high or too low in 7 to 10 %."""
    n, truth = 30, np.random.default_rng(3).normal(size=30)
    errors = np.random.default_rng(4).permuted(np.tile(np.linspace(-1, 1, n), (2, 1)), axis=1)
    errors[0] += t * errors[0].std(ddof=1) / n**0.5
    results = er.evaluate(
        {name: {"y_true": truth, "y_pred": truth + e} for name, e in zip("ab", errors, strict=True)},
        resamples=20,
    )
    low = next(m.intervals[0].low for m in results.metrics if (m.model, m.metric) == ("a", "bias_error"))
    assert low is not None
    assert low > 0
    assert ("too high" in str(results.headline.text)) is said
