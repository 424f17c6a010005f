"""Possible ranks and who may be best."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import permutations
from typing import Any

import numpy as np
import pytest

import evalreport as er
from evalreport.questions.ranks.rank_sets import rank_sets
from evalreport.schema.results import Results
from tests.reference.third_round import each


def run(values: Any, **options: Any) -> Results:
    """Compare models on outcomes, a column each."""
    table = {f"m{j}": {"outcome": column} for j, column in enumerate(np.asarray(values).T)}
    return er.evaluate(table, resamples=50, **options)


@each("rank_sets")
def test_rank_sets_agree_with_every_permutation_in_r(case: Mapping[str, Any]) -> None:
    """The ranks that the decided pairs allow."""
    names = [str(j) for j in range(case["input"]["models"])]
    decided = [(str(better), str(worse)) for worse, better in case["input"]["worse_better"]]
    found = rank_sets(names, decided)
    assert [found[n][0] for n in names] == case["expected"]["low"]
    assert [found[n][1] for n in names] == case["expected"]["high"]


@each("may_be_best")
def test_who_may_be_best_agrees_with_r(case: Mapping[str, Any]) -> None:
    """The sharper claim by paired t tests."""
    found = run(case["input"]["values"]).rank_sets
    kept = [int(record.model[1:]) for record in found if record.may_be_best_sharp]
    assert kept == np.atleast_1d(case["expected"]["models"]).tolist()


def test_the_sets_of_a_run_follow_from_its_decided_pairs() -> None:
    """Every order that fits the verdicts lies in the sets, and each end of a set is some such order's."""
    rng = np.random.default_rng(4)
    results = run(rng.random((300, 4)) < [0.9, 0.88, 0.75, 0.6])
    decided = [
        v.about if v.verdict == "better" else v.about[::-1]
        for v in results.verdicts
        if v.verdict in ("better", "worse")
    ]
    orders = [o for o in permutations(results.models) if all(o.index(a) < o.index(b) for a, b in decided)]
    for record in results.rank_sets:
        places = {order.index(record.model) + 1 for order in orders}
        assert (record.low, record.high) == (min(places), max(places))
        assert record.may_be_best == (record.low == 1)


@pytest.mark.parametrize("correction", ["bh", "bonferroni", "none"])
def test_ranks_are_by_holm_whatever_the_correction(correction: str) -> None:
    """Possible ranks hold together, also where pairs are decided by another correction."""
    values = np.random.default_rng(5).random((200, 5)) < [0.8, 0.76, 0.72, 0.68, 0.6]
    assert run(values, correction=correction).rank_sets == run(values).rank_sets


def test_smaller_values_are_better_where_that_was_declared() -> None:
    """The direction of the metric turns the ranks round."""
    values = np.random.default_rng(6).random((200, 3)) < [0.9, 0.6, 0.2]
    plain, turned = (run(values, lower_is_better=b).rank_sets for b in (False, True))
    assert [(r.low, r.high) for r in plain] == [(4 - r.high, 4 - r.low) for r in turned]
    assert [r.may_be_best_sharp for r in turned] == [False, False, True]


def test_no_ranks_of_two_models_or_of_a_baseline_s_pairs_alone() -> None:
    """With fewer than three models, or not every pair compared, there is no set."""
    values = np.random.default_rng(7).random((100, 3)) < [0.9, 0.6, 0.3]
    assert run(values[:, :2]).rank_sets == []
    assert run(values, baseline="m0").rank_sets == []


def test_a_metric_that_is_no_mean_over_rows_has_no_sharper_claim() -> None:
    """F1 has possible ranks, and null for the tests against the others."""
    rng = np.random.default_rng(8)
    truth = rng.integers(0, 2, 200)
    table = {
        f"m{j}": {"y_pred": np.where(rng.random(200) < a, truth, 1 - truth)}
        for j, a in enumerate((0.9, 0.7, 0.6))
    }
    found = er.evaluate(table, truth=truth, metrics="f1", resamples=50).rank_sets
    assert len(found) == 3
    assert {record.may_be_best_sharp for record in found} == {None}


def test_of_a_suite_ranks_are_of_the_mean_over_tasks() -> None:
    """Suites have possible ranks; the sharper claim is about plain rows."""
    rng = np.random.default_rng(9)
    task = np.repeat(["x", "y"], 100)
    table = {
        f"m{j}": {
            "id": [str(i) for i in range(200)],
            "task": task,
            "outcome": (rng.random(200) < a).astype(int),
        }
        for j, a in enumerate((0.9, 0.6, 0.3))
    }
    found = er.evaluate(table, resamples=50).rank_sets
    assert [(r.low, r.high) for r in found] == [(1, 1), (2, 2), (3, 3)]
    assert {r.may_be_best_sharp for r in found} == {None}


@pytest.mark.slow
def test_the_best_of_equal_models_is_kept_with_its_level() -> None:
    """Of four equal models a given one is left out in 5 % of 80 data sets; in 12 or more with chance 0.0006."""
    rng = np.random.default_rng(10)
    out = sum(
        not run(rng.random((150, 4)) < 0.7, tests="paired_t").rank_sets[0].may_be_best_sharp
        for _ in range(80)
    )
    assert out <= 11
