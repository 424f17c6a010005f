"""The interval for exactly these questions."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from evalreport.intervals.records import limits_for_these_questions


def test_one_question_has_students_interval() -> None:
    """Of its attempts, which are a plain sample."""
    outcomes = np.array([1.0, 0.0, 1.0, 1.0, 0.0])
    found = limits_for_these_questions(
        outcomes.mean(),
        np.array([5.0]),
        np.array([((outcomes - outcomes.mean()) ** 2).sum()]),
        np.ones(1),
        0.95,
    )
    wanted = stats.t.interval(0.95, 4, outcomes.mean(), stats.sem(outcomes))
    assert found == pytest.approx(wanted)


def test_questions_that_differ_do_not_widen_it() -> None:
    """Only attempts at the same question vary: questions all passed or all failed have no interval."""
    count, share = np.array([4.0, 4.0]), np.array([0.5, 0.5])
    assert limits_for_these_questions(0.5, count, np.zeros(2), share, 0.95) is None


def test_single_attempts_have_none() -> None:
    """Nothing tells how they vary."""
    assert (
        limits_for_these_questions(0.5, np.array([1.0, 3.0]), np.ones(2), np.array([0.5, 0.5]), 0.95) is None
    )


def test_it_holds_the_mean_of_the_chances_as_promised() -> None:
    """30 questions of 5 attempts, whose chances stay the same: at least 93 of 100 intervals hold their mean."""
    random = np.random.default_rng(4)
    chances, k = random.uniform(0.1, 0.9, 30), 5
    held = 0
    for _ in range(1000):
        passes = random.binomial(k, chances)
        spread = passes * (1 - passes / k)
        found = limits_for_these_questions(
            float(passes.mean() / k), np.full(30, float(k)), spread, np.full(30, 1 / 30), 0.95
        )
        held += found is not None and found[0] <= chances.mean() <= found[1]
    assert held >= 930
