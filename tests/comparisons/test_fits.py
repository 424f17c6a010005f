"""What single tests of algorithms say on cases whose answer follows by hand."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

import evalreport
from evalreport.comparisons.fits import DRAWS, critical_difference
from evalreport.engine.ranks import signed_rank_distribution
from evalreport.schema.comparisons import ComparisonRecord
from evalreport.schema.results import Results


def of_values(columns: dict[str, list[Any]], values: dict[str, list[float]], **fields: Any) -> Results:
    """Evaluate scores that were computed elsewhere."""
    source = {name: {**columns, "value": column} for name, column in values.items()}
    return evalreport.evaluate(source, options=evalreport.Options(**{"resamples": 100, **fields}))


def datasets(differences: list[float], **fields: Any) -> Results:
    """Evaluate two models whose values on as many data sets differ by these numbers."""
    names = [f"d{k:02d}" for k in range(len(differences))]
    return of_values({"dataset": names}, {"a": differences, "b": [0.0] * len(names)}, **fields)


def row(results: Results, test: str) -> ComparisonRecord:
    """Return the only row of a test."""
    (found,) = (r for r in results.comparisons if r.test == test and r.b is not None)
    return found


def test_bayesian_signed_rank_of_two_equal_differences() -> None:
    """Two equal differences beside the prior's observation at 0: a leads where w0^2 < 1/2, w0 ~ Beta(1/2, 2).

    The averages of two are d, d / 2 (both above 0) and 0, of weight w0^2: P(a better) = P(w0 < sqrt(1/2)).
    """
    # Beta(1/2, 2) has the distribution function (3 sqrt(x) - x sqrt(x)) / 2.
    found = row(datasets([0.1, 0.1], tests=("bayes_signed_rank",)), "bayes_signed_rank")
    x = math.sqrt(0.5)
    expected = (3 * math.sqrt(x) - x * math.sqrt(x)) / 2
    error = math.sqrt(expected * (1 - expected) / DRAWS)
    assert found.details["a_better"] == pytest.approx(expected, abs=4 * error)
    assert found.details["b_better"] == 0
    assert sum(found.details.values()) == pytest.approx(1)
    assert found.p_value is None


def test_margin_turns_small_differences_into_practical_equivalence() -> None:
    """With every difference inside the margin the whole posterior lies within it."""
    found = row(datasets([0.01, -0.01, 0.005, 0.0, 0.002, -0.004], margin=0.02, tests=("bayes_signed_rank",)),
                "bayes_signed_rank")  # fmt: skip
    assert found.details["within_margin"] == 1


@pytest.mark.parametrize(("lower", "winner"), [(False, "a"), (True, "b")])
def test_lower_is_better_turns_verdict_ranks_and_posterior(lower: bool, winner: str) -> None:
    """--lower-is-better turns who is better, never the difference."""
    differences = [0.1, 0.12, 0.2, 0.15, 0.11, 0.13, 0.14, 0.16]
    results = datasets(differences, lower_is_better=lower, tests=("wilcoxon", "bayes_signed_rank"))
    assert row(results, "wilcoxon").difference == pytest.approx(np.mean(differences))
    assert results.verdicts[0].verdict == ("better" if winner == "a" else "worse")
    assert row(results, "bayes_signed_rank").details[f"{winner}_better"] > 0.9


def test_five_data_sets_cannot_settle_anything() -> None:
    """Five differences one way give p = 2 / 2^5; the row says that fewer than six cannot reach 0.05."""
    found = row(datasets([0.1, 0.2, 0.3, 0.4, 0.5]), "wilcoxon")
    assert found.p_value == 2 / 32
    assert "fewer than 6" in (found.caution or "")
    assert found.low is None
    assert "too few" in (found.reason or "")


def test_exact_distribution_of_signed_ranks() -> None:
    """Three ranks: sums 0, 1, 2, 3 (two ways), 4, 5, 6, each of 8 sign patterns equally likely."""
    assert signed_rank_distribution((1, 2, 3)).tolist() == [0.125, 0.125, 0.125, 0.25, 0.125, 0.125, 0.125]


def test_fold_scores_without_examples_have_the_nominal_ratio() -> None:
    """Ten fold values of a model give the corrected t with n_test / n_train = 1/9; the exact one needs examples."""
    x = [0.02, 0.01, 0.03, 0.0, 0.02, 0.01, 0.04, -0.01, 0.02, 0.01]
    results = of_values({"fold": list(range(1, 11))}, {"a": x, "b": [0.0] * 10})
    found = row(results, "corrected_resampled_t")
    spread = np.std(x, ddof=1)
    assert found.recommended
    assert found.statistic == pytest.approx(np.mean(x) / (spread * math.sqrt(1 / 10 + 1 / 9)), rel=1e-12)


def test_equal_differences_on_every_fold_have_no_p_value() -> None:
    """A difference that never varies is refused with its reason instead of p = 0."""
    results = of_values(
        {"fold": list(range(1, 11))}, {"a": [0.5] * 10, "b": [0.25] * 10}, tests=("cv_paired_t",)
    )
    for test in ("corrected_resampled_t", "cv_paired_t"):
        assert row(results, test).p_value is None
        assert "no standard error" in (row(results, test).reason or "")
    assert "the same on every fold" in str(results.verdicts[0].text)


def test_training_sizes_that_are_not_known_are_asked_for() -> None:
    """Repeated hold-out without train_size: the corrected test is refused and names the column."""
    ids = [f"{i:02d}" for i in range(20)]
    random = np.random.default_rng(3)
    keys: dict[str, list[Any]] = {"id": [], "repeat": []}
    for repeat in range(5):
        keys["id"] += sorted(random.permutation(ids)[:8])
        keys["repeat"] += [repeat] * 8
    truth = [str(int(i) % 2) for i in keys["id"]]
    source = {m: {**keys, "y_true": truth, "y_pred": random.permutation(truth).tolist()} for m in "ab"}
    results = evalreport.evaluate(source, options=evalreport.Options(resamples=100, metrics=("accuracy",)))
    found = row(results, "corrected_resampled_t")
    assert found.recommended
    assert found.p_value is None
    assert "train_size" in (found.reason or "")


def test_variance_between_seeds_stands_apart_from_that_of_the_test_set() -> None:
    """Between seeds: the variance of the seeds' values; test set: the squared error of their mean over examples."""
    n, seeds = 40, 3
    right = [[1] * 30 + [0] * 10, [1] * 28 + [0] * 12, [1] * 34 + [0] * 6]
    keys = {"id": [f"{i:02d}" for _ in range(seeds) for i in range(n)],
            "seed": [k for k in range(seeds) for _ in range(n)]}  # fmt: skip
    truth = [str(i % 2) for _ in range(seeds) for i in range(n)]
    said = [t if r else str(1 - int(t)) for t, r in zip(truth, sum(right, []), strict=True)]  # noqa: RUF017
    source = {name: {**keys, "y_true": truth, "y_pred": said} for name in "ab"}
    results = evalreport.evaluate(source, options=evalreport.Options(resamples=100, metrics=("accuracy",)))
    found = {(r.model, r.source): r for r in results.variance}
    values = [np.mean(r) for r in right]
    assert found["a", "seeds"].value == pytest.approx(np.var(values, ddof=1), rel=1e-12)
    assert (found["a", "seeds"].n, found["a", "test set"].n) == (seeds, n)
    per_example = np.mean(right, axis=0)
    expected = per_example.var() / n * n / (n - 1)  # examples are clusters of one row a seed: G / (G - 1)
    assert found["a", "test set"].value == pytest.approx(expected, rel=1e-9)


def test_values_of_repeated_folds_are_averaged_by_data_set() -> None:
    """Three folds a data set are one value: as many blocks as data sets, whatever the number of folds."""
    columns = {"dataset": [f"d{k}" for k in range(7) for _ in range(3)], "fold": [1, 2, 3] * 7}
    random = np.random.default_rng(5)
    values = {name: random.normal(0.8, 0.05, 21).tolist() for name in "abc"}
    results = of_values(columns, values)
    assert results.n == 7
    assert {r.blocks for r in results.omnibus} == {7}
    for record in results.metrics:
        assert record.value == pytest.approx(np.mean(values[record.model]), rel=1e-12)


def test_critical_difference_of_the_paper() -> None:
    """Demsar (2006), section 3.2.2: 4 algorithms on 14 data sets, q = 2.569 at 0.05, CD = 1.25."""
    assert critical_difference(4, 14, 0.05) == pytest.approx(2.569 * math.sqrt(4 * 5 / (6 * 14)), abs=5e-4)


def test_independent_sets_have_variances_that_add() -> None:
    """The normal interval of two test sets is the lectures': d -+ z sqrt(p1 (1 - p1) / n1 + p2 (1 - p2) / n2)."""
    source = {}
    for name, right, n in (("a", 80, 100), ("b", 120, 200)):
        truth = [str(i % 2) for i in range(n)]
        said = [t if i < right else str(1 - int(t)) for i, t in enumerate(truth)]
        source[name] = {"id": [f"{name}{i}" for i in range(n)], "y_true": truth, "y_pred": said}
    options = evalreport.Options(
        join="independent", resamples=100, metrics=("accuracy",), intervals=("normal",), positive="1"
    )
    results = evalreport.evaluate(source, options=options)
    leading, found = (r for r in results.comparisons if r.test == "two_proportions_z")
    assert (leading.recommended, leading.interval_method) == (True, "newcombe_independent")
    assert (found.recommended, found.interval_method) == (False, "normal")
    half = 1.959963984540054 * math.sqrt(0.8 * 0.2 / 100 + 0.6 * 0.4 / 200)
    assert (found.low, found.high) == (pytest.approx(0.2 - half), pytest.approx(0.2 + half))
    assert [m.n for m in results.metrics] == [100, 200]


def test_the_effect_of_the_sign_test_is_the_share_above_one_half() -> None:
    """Six of seven differences other than 0 are positive: g = 6/7 - 1/2, p = 2 (1 + 7) / 2^7 (by hand)."""
    found = row(datasets([0.1, 0.2, 0.3, 0.4, 0.5, 0.6, -0.1, 0.0], tests=("sign",)), "sign")
    assert (found.statistic, found.effect) == (6, "cohen_g")
    assert found.effect_size == pytest.approx(6 / 7 - 1 / 2)
    assert found.p_value == pytest.approx(16 / 128)


def test_a_model_without_a_value_is_ranked_with_no_other() -> None:
    """Precision of a model that never says positive is 0/0: its pairs have no Nemenyi test, those of the others do."""
    rng = np.random.default_rng(1)
    truth, fold = np.arange(60) % 2, np.arange(60) % 5
    models = {
        m: {"y_true": truth, "y_pred": np.where(rng.random(60) < 0.7, truth, 1 - truth), "fold": fold}
        for m in "abc"
    }
    models["d"] = {"y_true": truth, "y_pred": np.zeros(60, dtype=int), "fold": fold}
    results = evalreport.evaluate(
        models, positive="1", metrics=("npv", "precision"), tests=("nemenyi",), resamples=20
    )
    tested = [r for r in results.comparisons if r.test == "nemenyi" and r.metric == "precision"]
    assert {(r.a, r.b) for r in tested if r.p_value is not None} == {("a", "b"), ("a", "c"), ("b", "c")}
