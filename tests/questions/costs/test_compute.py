"""Costs from rows to records and gates."""

from __future__ import annotations

import numpy as np
import pytest

import evalreport
from evalreport.errors import InputError, InputErrors, UsageError
from evalreport.questions.costs.warnings import one_in
from tests.questions.attempts.test_compute import run
from tests.samples.cases import every


def rows(costs, outcomes=None, **columns):
    """Return the rows of one model, a question each."""
    n = len(costs)
    made = {"id": [f"q{i:04}" for i in range(n)], "cost": list(costs)}
    return made | {"outcome": [1] * n if outcomes is None else list(outcomes)} | columns


def costs_of(results, model, column="cost"):
    """Return a model's record over all examples."""
    return next(r for r in results.costs if (r.model, r.column, r.slice) == (model, column, None))


def test_figures_of_a_small_example():
    """By hand: costs 1, 2, 3, 6, two successes: mean 3, median 2.5, sum 12, 6 a success."""
    results = run(rows([1, 2, 3, 6], [1, 0, 1, 0]), rows([2, 4, 6, 12], [1, 1, 1, 1]))
    new = costs_of(results, "new")
    assert (new.mean, new.median, new.sum, new.per_success, new.n) == (3, 2.5, 12, 6, 4)
    assert new.low < 3 < new.high
    assert new.p95_high is None
    assert new.largest_share == 0.5
    assert "one_large_cost" in [w.code for w in results.warnings]
    (ratio,) = results.cost_ratios
    assert ratio.ratio == 0.5
    assert ratio.alike
    assert ratio.low is None
    assert ratio.per_success_ratio == pytest.approx(6 / 6)


def test_undominated_models():
    """The dear model is better, so both stand; a third that is as good as the cheap one and dearer does not."""
    outcome = [1, 1, 0, 0] * 10
    models = {
        "cheap": rows([1, 2] * 20, outcome),
        "dear": rows([5, 6] * 20, [1, 1, 1, 0] * 10),
        "third": rows([2, 3] * 20, outcome),
    }
    results = evalreport.evaluate(models, resamples=50)
    assert {r.model: r.undominated for r in results.costs} == {"cheap": True, "dear": True, "third": False}


@pytest.mark.parametrize("seed", range(4))
def test_the_same_costs_in_another_order_dominate_nobody(seed):
    """Their means are one number, though sums in another order differ in the last digit."""
    rng = np.random.default_rng(seed)
    costs, outcome = np.round(rng.gamma(2, 0.3, 53), 2), [1, 0] * 26 + [1]
    models = {"a": rows(costs, outcome), "b": rows(rng.permutation(costs), outcome)}
    results = evalreport.evaluate(models, resamples=50)
    assert [r.undominated for r in results.costs] == [True, True]


def test_a_sum_that_is_at_its_bar_but_for_rounding_is_there():
    """By hand: three answers at 0.1 cost 0.3, which floating point adds up to 0.30000000000000004."""
    bars = {"<= 0.3": "pass", ">= 0.3": "pass", "< 0.3": "fail", "> 0.3": "fail", "<= 0.2999999999": "fail"}
    results = run(rows([0.1] * 3), rows([0.2] * 3), gates=[f"new.cost_sum {bar}" for bar in bars])
    assert [g.outcome for g in results.gates] == list(bars.values())
    means = run(rows([0.1] * 30), rows([0.3] * 30), gates=["new.cost_mean >= 0.1", "old.cost_sum <= 9"])
    assert [g.outcome for g in means.gates] == ["pass", "pass"]


def test_costs_stand_beside_labels_and_other_columns_are_named_with_their_unit():
    """A success is a right answer."""
    model = {
        "id": list("abcd"), "y_true": [1, 0, 1, 0], "y_pred": [1, 0, 0, 0],
        "steps": [1, 2, 3, 6], "Latency": [1, 1, 1, 2],
    }  # fmt: skip
    results = evalreport.evaluate({"m": model}, costs=["steps:calls"], resamples=50)
    assert [(r.column, r.unit, r.per_success) for r in results.costs] == [
        ("latency", None, 5 / 3),
        ("steps", "calls", 4.0),
    ]


def test_attempts_are_averaged_within_questions_and_quantiles_are_of_answers():
    """By hand: question means 2 and 6, answers 1, 3, 4, 8."""
    model = {
        "id": ["a", "a", "b", "b"],
        "attempt": [1, 2, 1, 2],
        "outcome": [1, 0, 1, 1],
        "cost": [1, 3, 4, 8],
    }
    record = costs_of(evalreport.evaluate({"m": model}, resamples=50), "m")
    assert (record.n, record.answers, record.mean, record.median, record.per_success) == (
        2,
        4,
        4,
        3.5,
        16 / 3,
    )


def test_a_suite_is_the_mean_of_its_tasks():
    """Three questions at 1 and one at 5 is 3; over all examples 2."""
    model = {
        "id": list("abcdef"),
        "task": ["x"] * 4 + ["y"] * 2,
        "outcome": [1, 0] * 3,
        "cost": [1, 1, 2, 0, 5, 5],
    }
    assert costs_of(evalreport.evaluate({"m": model}, resamples=50), "m").mean == 3
    over_all = evalreport.evaluate({"m": model}, average="examples", resamples=50)
    assert costs_of(over_all, "m").mean == pytest.approx(14 / 6)


def test_weights_clusters_and_slices():
    """Weighted mean by hand; slices have records of their own."""
    model = rows(
        [1, 2, 3, 6], [1, 0, 1, 1], weight=[3, 1, 1, 1], lang=["de", "de", "en", "en"], g=list("aabb")
    )
    assert costs_of(
        evalreport.evaluate({"m": model}, weight="weight", resamples=50), "m"
    ).mean == pytest.approx(14 / 6)
    results = evalreport.evaluate({"m": model}, slices=["lang"], cluster="g", resamples=50)
    found = {r.slice and r.slice.value: r.mean for r in results.costs}
    assert found == {None: 3, "de": 1.5, "en": 4.5}
    gates = [
        "cost_mean[lang=de] <= 1e12",
        "cost_sum <= 12",
        "cost_p95 <= 100",
        "cost_p95 >= 100",
        "cost_mean > 50",
    ]
    decided = evalreport.evaluate({"m": model}, gates=gates, resamples=50).gates
    # Two questions have limits; the 95th percentile has no upper one, and none on either side of four.
    assert [g.outcome for g in decided] == ["pass", "pass", "undecided", "undecided", "fail"]


def test_ratios_within_slices_are_those_of_their_rows_alone():
    """Means and limits of a slice are those of a run on its rows; the other gates are decided by them."""
    rng = np.random.default_rng(6)
    lang, size = ["de", "en"] * 20, rng.lognormal(size=40)
    new, old = (rows(f * size * rng.lognormal(0, 0.2, 40), [1, 1, 0, 1] * 10, lang=lang) for f in (0.4, 1.0))
    gates = [
        "new.cost_mean[lang=de] <= 0.6 * old.cost_mean[lang=de]",
        "old.cost_mean[lang=de] / new.cost_mean[lang=de] >= 10",
        "new.cost_per_success[lang=en] <= old.cost_per_success[lang=en]",
        "new.cost_sum[lang=en] <= 0.01 * old.cost_sum[lang=en]",
    ]
    results = run(new, old, slices=["lang"], gates=gates)
    assert [g.outcome for g in results.gates] == ["pass", "fail", "pass", "fail"]
    within = next(r for r in results.cost_ratios if r.slice is not None and r.slice.value == "de")
    alone = run(*({k: v[::2] for k, v in one.items()} for one in (new, old))).cost_ratios[0]
    assert [within.ratio, within.low, within.high] == pytest.approx([alone.ratio, alone.low, alone.high])
    assert results.gates[0].value == within.ratio
    assert [r.slice for r in results.cost_ratios].count(None) == 1


def test_independent_sets_have_a_ratio_of_two_strata():
    """The limits hold both variances, and the swapped ratio has the inverted ones."""
    rng = np.random.default_rng(2)
    first, second = rows(rng.lognormal(size=30)), rows(rng.lognormal(size=40))
    second["id"] = [f"other{i}" for i in range(40)]
    there = run(first, second, join="independent").cost_ratios[0]
    back = run(second, first, join="independent").cost_ratios[0]
    assert (there.low, there.high) == pytest.approx((1 / back.high, 1 / back.low))


def test_a_price_list_decides_a_gate_by_its_value():
    """All costs alike: no limits, and no interval is needed."""
    results = run(rows([2.0] * 5, [1, 0, 1, 0, 1]), rows([4.0] * 5, [1, 0, 1, 0, 1]), gates=[
        "new.cost_mean <= 2", "new.cost_mean <= 0.4 * old.cost_mean", "new.cost_mean <= old.cost_mean",
    ])  # fmt: skip
    assert [g.outcome for g in results.gates] == ["pass", "fail", "pass"]
    assert costs_of(results, "new").low is None


def test_a_price_list_without_a_failure_decides_costs_per_success_too():
    """Every answer a success at one price: METHODS 6R, edges; with a failure the cost per success varies."""
    gates = ["new.cost_per_success <= 2", "new.cost_per_success <= 0.4 * old.cost_per_success"]
    results = run(rows([2.0] * 5), rows([4.0] * 5), gates=gates)
    assert [(g.outcome, g.value) for g in results.gates] == [("pass", 2), ("fail", 0.5)]
    failed = run(rows([2.0] * 5, [1, 0, 1, 1, 1]), rows([4.0] * 5), gates=["new.cost_per_success <= 2.5"])
    assert failed.gates[0].outcome == "undecided"


def test_a_gate_says_why_its_own_figure_has_no_limit():
    """Three answers are too few for the median and the 95th percentile; outcomes of 0.5 are no successes."""
    gates = ["cost_median <= 9", "cost_p95 <= 9", "cost_per_success <= 9"]
    results = evalreport.evaluate({"m": rows([1, 2, 3], [0, 0.5, 1])}, gates=gates, resamples=50)
    texts = [str(gate.text) for gate in results.gates]
    assert "takes 6" in texts[0]
    assert "takes 72" in texts[1]
    assert "need outcomes of 0 and 1" in texts[2]
    assert all(text.count("takes") == (place < 2) for place, text in enumerate(texts))


@pytest.mark.parametrize(
    "gate",
    every(
        3,
        [
            "new.cost_p95 <= old.cost_p95",
            "new.cost_mean - old.cost_mean <= 1",
            "new.latency_mean <= 1",
            "new.cost_mean <= 2 * old.cost_sum",
            "new.cost_mean[lang=de] <= 1.1 * new.cost_mean[lang=en]",
            "new.cost_mean[lang=de] <= 1.1 * old.cost_mean[lang=en]",
            "new.cost_mean[lang=fr] <= 1.1 * old.cost_mean[lang=fr]",
        ],
    ),
)
def test_gates_on_costs_that_cannot_be_decided_are_refused(gate):
    """CONTRACT: exit 2."""
    with pytest.raises(UsageError):
        run(*(rows(c, lang=["de", "en", "en"]) for c in ([1, 2, 3], [2, 2, 3])), gates=[gate])


def test_costs_that_are_none_are_refused():
    """Negative, infinite and text cells, with the line; a column without a number is metadata."""
    for wrong in ("-1", "inf", "dear"):
        with pytest.raises((InputError, InputErrors), match="no cost"):
            run(rows(["1", wrong, "3"]), rows([1, 2, 3]))
    assert run(rows(["low", "high"]), rows(["low", "low"])).costs == []
    with pytest.raises(UsageError, match="holds no number"):
        run(rows(["low", "high"]), rows(["low", "low"]), costs=["cost"])


def test_empty_costs_follow_missing():
    """Refused; the example left out; left out of that column's figures only."""
    gap, whole = rows([1, None, 3], [1, 1, 0]), rows([1, 2, 3], [1, 1, 1])
    with pytest.raises((InputError, InputErrors), match="gives this cost"):
        run(gap, whole)
    dropped = run(gap, whole, missing="drop")
    assert dropped.n == 2
    wrong = run(gap, whole, missing="wrong")
    assert (wrong.n, costs_of(wrong, "new").n, costs_of(wrong, "old").mean) == (3, 2, 2)
    assert "cost_left_out" in [w.code for w in wrong.warnings]
    not_given = run({k: v for k, v in gap.items() if k != "cost"}, whole)
    assert [r.model for r in not_given.costs] == ["old"]


def test_no_success_and_no_cost():
    """Null with the reason: METHODS 6R, edges."""
    record = costs_of(evalreport.evaluate({"m": rows([1, 2, 3], [0, 0, 0])}, resamples=50), "m")
    assert (record.per_success, record.sum) == (None, 6)
    assert "no success" in record.reason
    free = costs_of(evalreport.evaluate({"m": rows([0, 0, 0], [1, 0, 0])}, resamples=50), "m")
    assert (free.mean, free.low) == (0, None)
    assert "all costs are 0" in free.reason


def test_the_sentence_on_rare_costs():
    """METHODS 6R: 30, 50 and 100 answers."""
    assert [one_in(n) for n in (30, 50, 100)] == [11, 17, 34]
    few = evalreport.evaluate({"m": rows(range(1, 31), [0, 1] * 15)}, resamples=50)
    (said,) = (w for w in few.warnings if w.code == "rare_costs")
    assert "fewer than 1 answer in 11" in said.text
