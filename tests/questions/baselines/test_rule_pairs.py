"""Each model is compared with the rule that needs none as with another model."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import pytest
from scipy import stats

import evalreport as er
from evalreport.questions.baselines.records import AgainstRuleRecord
from evalreport.schema.results import Results


def against(results: Results, metric: str) -> Mapping[str, AgainstRuleRecord]:
    """Return the pairs with the rule on a metric, by model."""
    return {r.model: r for r in results.against_rule if r.metric == metric}


def labels(seed: int, errors: Mapping[str, float], n: int = 200, share: float = 0.2) -> dict[str, dict]:
    """Return models that are wrong in given shares of n examples, of which a share is of class 1."""
    generator = np.random.default_rng(seed)
    truth = generator.random(n) < share
    ids = [f"{i:04d}" for i in range(n)]
    return {
        m: {"id": ids, "y_true": truth.astype(int), "y_pred": (truth ^ (generator.random(n) < e)).astype(int)}
        for m, e in errors.items()
    }


def numbers(seed: int, gain: float, models: str = "ab", n: int = 200) -> dict[str, dict]:
    """Return regressions y = x + noise whose predictions are gain * x + noise of their own."""
    generator = np.random.default_rng(seed)
    x = generator.normal(size=n)
    truth, ids = 0.35 * x + generator.normal(size=n), [f"{i:04d}" for i in range(n)]
    return {
        m: {"id": ids, "y_true": truth, "y_pred": gain * x + 0.02 * generator.normal(size=n)} for m in models
    }


def test_accuracy_is_decided_by_mcnemar_and_holm() -> None:
    """The mid-p of the rows where model and rule differ in being right (binomial, scipy), times two and one."""
    source = labels(3, {"a": 0.13, "b": 0.1})
    results = er.evaluate(source, task="binary", metrics=["accuracy"], resamples=2)
    pairs, plain = against(results, "accuracy"), {}
    for model, rows in source.items():
        only_model = int(((rows["y_pred"] == rows["y_true"]) & (rows["y_true"] == 1)).sum())
        only_rule = int(((rows["y_pred"] != rows["y_true"]) & (rows["y_true"] == 0)).sum())
        n, k = only_model + only_rule, min(only_model, only_rule)
        plain[model] = min(1.0, 2 * stats.binom.cdf(k, n, 0.5) - stats.binom.pmf(k, n, 0.5))
        assert pairs[model].difference == pytest.approx((only_model - only_rule) / 200, abs=1e-15)
        assert pairs[model].p_value == pytest.approx(plain[model], rel=1e-9)
        assert (pairs[model].rule, pairs[model].answer) == ("majority_class", "0")
    small, large = sorted(plain.values())
    adjusted = sorted(pairs[m].p_adjusted or 0.0 for m in plain)
    assert adjusted == pytest.approx([2 * small, max(2 * small, large)], rel=1e-9)


@pytest.mark.slow
def test_the_verdict_its_limits_and_the_caution_agree() -> None:
    """A model is better than the rule just where its limits are above 0; the caution names the others."""
    seen = set()
    for seed in range(25):
        results = er.evaluate(
            labels(seed, {"a": 0.15, "b": 0.12}), task="binary", metrics=["accuracy"], resamples=2
        )
        warned = {w.about[0] for w in results.warnings if w.code == "not_better_than_majority"}
        for model, pair in against(results, "accuracy").items():
            assert pair.low is not None
            assert (pair.verdict == "better") == (
                pair.low >= 0 and pair.difference != 0 and pair.low != pair.high
            )
            assert (model in warned) == (pair.verdict != "better")
            seen.add(pair.verdict)
        better = {p.verdict for p in against(results, "accuracy").values()}
        assert ("is shown to beat" in results.verdict) == ("better" not in better)
    assert seen == {"better", "undecided"}


def test_the_headline_about_the_mean_is_the_verdict_of_the_pair() -> None:
    """With a true R2 near 0.1 the pair decides where the interval of RMSE holds the mean's value."""
    results = er.evaluate(numbers(1, 0.35), task="regression", metrics=["rmse", "r2"], resamples=2)
    pairs = against(results, "rmse")
    assert {p.verdict for p in pairs.values()} == {"better"}
    own = next(r.intervals[0] for r in results.metrics if r.metric == "rmse" and r.model == "a")
    assert own.low is not None
    assert own.high is not None
    assert own.low < pairs["a"].value < own.high
    assert "is shown to beat" not in results.verdict
    alike = er.evaluate(numbers(1, 0.0), task="regression", metrics=["rmse"], resamples=2)
    assert alike.verdict.startswith("No model is shown to beat always predicting the mean on RMSE")


def test_of_the_mean_the_pair_is_a_paired_t_of_squared_errors() -> None:
    """Scipy's paired t test of the squared errors; the difference is that of the RMSEs."""
    source = numbers(5, 0.2, "a")
    pair = against(er.evaluate(source, task="regression", metrics=["rmse"], resamples=2), "rmse")["a"]
    truth, predicted = source["a"]["y_true"], source["a"]["y_pred"]
    squares, constant = (truth - predicted) ** 2, (truth - truth.mean()) ** 2
    assert pair.value == pytest.approx(float(np.sqrt(constant.mean())), rel=1e-12)
    assert pair.difference == pytest.approx(
        float(np.sqrt(squares.mean()) - np.sqrt(constant.mean())), rel=1e-9
    )
    assert pair.p_value == pytest.approx(float(stats.ttest_rel(squares, constant).pvalue), rel=1e-9)


def test_scores_that_rank_the_wrong_way_round_are_behind_chance() -> None:
    """Said only where the pair with the same score for every example is decided."""
    generator = np.random.default_rng(2)
    truth = np.repeat([0, 1], 100)
    rows = {
        "id": [f"{i:03d}" for i in range(200)],
        "y_true": truth,
        "score": generator.normal(size=200) - truth,
    }
    results = er.evaluate({"m": rows}, task="binary", resamples=2)
    assert against(results, "roc_auc")["m"].verdict == "worse"
    assert "ranks the wrong way round" in results.verdict
    weak = rows | {"score": generator.normal(size=200) - 0.2 * truth}
    results = er.evaluate({"m": weak}, task="binary", resamples=2)
    assert "wrong way round" not in results.verdict


@pytest.mark.parametrize("option", [{"cluster": "ward"}, {"weight": "w"}, {"join": "independent"}])
def test_clusters_weights_and_test_sets_of_their_own(option: dict[str, str]) -> None:
    """The rule is drawn as the models are; what leads for their pairs leads here."""
    generator = np.random.default_rng(4)
    source = labels(4, {"a": 0.02, "b": 0.3})
    extra = {"ward": np.arange(200) // 5, "w": generator.random(200) + 0.5}
    results = er.evaluate(
        {m: rows | extra for m, rows in source.items()},
        task="binary",
        metrics=["accuracy"],
        resamples=50,
        **option,
    )
    pairs = against(results, "accuracy")
    assert pairs["a"].verdict == "better"
    assert pairs["b"].verdict != "better"
    assert pairs["a"].test == {"cluster": "cluster_t", "weight": "weighted_t"}.get(
        next(iter(option)), "mcnemar_midp"
    )


def test_a_model_that_gives_the_rules_answers_is_undecided() -> None:
    """Nothing differs: no better, no worse, and the caution names it."""
    source = labels(6, {"a": 0.05})
    source["constant"] = source["a"] | {"y_pred": np.zeros(200, dtype=int)}
    results = er.evaluate(source, task="binary", metrics=["accuracy"], resamples=2)
    assert against(results, "accuracy")["constant"].verdict == "undecided"
    assert [w.about for w in results.warnings if w.code == "not_better_than_majority"] == [("constant",)]


def test_a_model_may_be_called_rule() -> None:
    """The name of the rule's answers is one that no model has."""
    source = labels(7, {"rule": 0.05, "rule'": 0.3})
    results = er.evaluate(source, task="binary", metrics=["accuracy"], resamples=2)
    assert set(against(results, "accuracy")) == {"rule", "rule'"}
