"""Levels of several looks, and sample sizes with looks."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import pytest
from scipy import stats

import evalreport as er
from evalreport.comparisons.spending import error_of_second_look, look_levels, spent_at, with_looks
from evalreport.errors import UsageError
from tests.reference.third_round import each


def shares_of(n: list[int], looks: int, n_max: int | None) -> list[float]:
    """Return the shares of the information: by the number of looks, or of the largest n where that is known."""
    return [k / looks if n_max is None else size / n_max for k, size in enumerate(n, 1)]


@each("look_levels")
def test_levels_agree_with_rpact(case: Mapping[str, Any]) -> None:
    """Levels of the Lan-DeMets boundary are those of R's rpact."""
    given = case["input"]
    found = look_levels(given["n"], shares_of(given["n"], given["looks"], given["n_max"]), 0.05)
    expected = np.atleast_1d(case["expected"]["levels"])
    np.testing.assert_allclose(found, expected, rtol=0, atol=case["tolerance"])


def test_the_levels_of_equal_steps_are_the_published_ones() -> None:
    """O'Brien-Fleming-type levels at equal steps, rounded as tables have them."""
    table = {2: [0.0031, 0.0490], 3: [0.0002, 0.0120, 0.0463], 5: [0.0, 0.0008, 0.0074, 0.0220, 0.0423]}
    for looks, levels in table.items():
        n = [100 * k for k in range(1, looks + 1)]
        assert [round(a, 4) for a in look_levels(n, shares_of(n, looks, None), 0.05)] == levels


def test_all_of_the_error_is_spent_at_the_end_and_little_before() -> None:
    """Spending grows from 0 to alpha; a single look has the full level."""
    spent = [spent_at(u, 0.05) for u in (0.1, 0.3, 0.5, 0.9, 1.0)]
    assert spent == sorted(spent)
    assert spent[-1] == 0.05
    assert look_levels([40], [1.0], 0.05) == pytest.approx([0.05], abs=1e-12)


@pytest.mark.parametrize("n", [[100, 200, 300], [100, 200, 400], [100_000, 100_001, 100_002], [1, 2, 10**9]])
def test_levels_do_not_depend_on_the_unit_of_n_and_stay_below_alpha(n: list[int]) -> None:
    """Only the ratios of the numbers of examples count."""
    shares = shares_of(n, 3, None)
    found = look_levels(n, shares, 0.05)
    assert all(0 < level <= 0.05 + 1e-12 for level in found)
    np.testing.assert_allclose(look_levels([7 * size for size in n], shares, 0.05), found, rtol=1e-9)


def test_looks_at_a_tiny_share_have_levels_that_are_not_zero() -> None:
    """Where less than any double would be spent, the level is the smallest there is, and the last look has all."""
    n = [2, 4, 8, 16, 31, 62, 125, 250, 500, 1000]
    found = look_levels(n, shares_of(n, 10, 1000), 0.05)
    assert found[:3] == [1e-12] * 3
    assert found == sorted(found)
    assert 0.04 < found[-1] < 0.05


def test_a_second_look_at_the_full_level_makes_eight_to_ten_per_cent() -> None:
    """Twice as many examples: 8.3 %, the classical figure (Armitage, McPherson and Rowe 1969, table 2)."""
    assert round(error_of_second_look(1000, 2000, 0.05), 3) == 0.083
    assert 0.095 < error_of_second_look(1000, 20_000, 0.05) < 0.0976


def test_planned_power_and_mean_number_hold_in_a_simulation() -> None:
    """40,000 random walks with five looks reach the planned power, and stop on average where the plan says."""
    looks, n = 5, np.arange(1, 6)
    plan = with_looks(looks, 0.05, 0.9)
    levels = look_levels(n.tolist(), (n / looks).tolist(), 0.05)
    single = stats.norm.isf(0.025) + stats.norm.isf(0.1)
    drift = single * np.sqrt(plan.inflation / looks)
    steps = np.random.default_rng(7).standard_normal((40_000, looks)) + drift
    decided = np.abs(steps.cumsum(axis=1)) / np.sqrt(n) >= stats.norm.isf(np.array(levels) / 2)
    stopped = np.where(decided.any(axis=1), decided.argmax(axis=1) + 1, looks)
    assert abs(decided.any(axis=1).mean() - 0.9) < 4 * np.sqrt(0.09 / 40_000)
    assert abs(stopped.mean() / looks * plan.inflation - plan.mean) < 0.005, "four errors of the mean"


def test_a_plan_with_looks_holds_both_powers_and_the_expected_number() -> None:
    """``plan --looks`` gives the largest and the expected number of examples for power 0.8 and 0.9."""
    (found,) = er.plan(difference=0.03, discordance=0.1, looks=5)
    (single, _) = er.plan(difference=0.03, discordance=0.1)
    at_80, at_90 = (row.answer for row in found.rows)
    assert single.rows[0].answer == 870
    assert at_80 is not None
    assert at_90 is not None
    assert 870 < at_80 < 900 < at_90
    assert "on average 717" in str(found)


@pytest.mark.parametrize(
    "asked", [{"looks": 5}, {"looks": 1, "difference": 0.1}, {"looks": 101, "difference": 0.1}]
)
def test_a_plan_with_looks_needs_a_difference_and_two_looks(asked: dict[str, Any]) -> None:
    """Without a difference there is nothing to look for."""
    with pytest.raises(UsageError, match="--looks"):
        er.plan(**asked)
