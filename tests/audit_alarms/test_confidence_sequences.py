"""Betting confidence sequences: exact against enumeration and brute force, and honest in simulation."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from scipy import stats

from evalreport.audit.confidence_sequences import (
    BETS,
    BOLD_BETS,
    Evidence,
    condense,
    highest_mean,
    level_reached,
    log_wealth,
    mean_limits,
    share_of_look,
    together,
)


def counts(wrong: int, n: int) -> Evidence:
    """Return n losses of which so many are 1."""
    return condense(np.repeat([1.0, 0.0], [wrong, n - wrong]))


def brute_wealth(looks: list[tuple[int, list[float]]], mean: float) -> float:
    """Play every bet of every start, example by example; keep the shares that did not begin."""
    total = 1 - sum(share_of_look(look) for look, _ in looks)
    for start in range(len(looks)):
        for bet in BETS:
            stake = share_of_look(looks[start][0]) / len(BETS)
            for _, losses in looks[start:]:
                for loss in losses:
                    stake *= 1 + bet / mean * (loss - mean)
            total += stake
    return total


def test_the_wealth_is_that_of_every_bet_played_one_by_one():
    """Three looks of 0/1 and one of multiples of 1/50: a plain loop over starts, bets and examples gives the same."""
    looks = [(1, [0.0, 1.0, 0.0]), (2, [1.0, 1.0]), (4, [0.0, 0.5, 0.02, 1.0])]
    condensed = [(look, condense(np.array(losses))) for look, losses in looks]
    for mean in (0.05, 0.3, 0.9):
        assert math.exp(log_wealth(condensed, mean)) == pytest.approx(brute_wealth(looks, mean), rel=1e-10)


@pytest.mark.parametrize("mean", [0.1, 0.5])
def test_the_bets_are_fair_if_the_mean_is_true_and_losing_if_it_is_lower(mean):
    """The expected wealth over all 2^6 outcomes of three looks of two examples is 1 at the mean, and less below it."""

    def expected(chance: float) -> float:
        total = 0.0
        for outcome in itertools.product((0.0, 1.0), repeat=6):
            looks = [(k + 1, condense(np.array(outcome[2 * k : 2 * k + 2]))) for k in range(3)]
            wrong = sum(outcome)
            total += chance**wrong * (1 - chance) ** (6 - wrong) * math.exp(log_wealth(looks, mean))
        return total

    assert expected(mean) == pytest.approx(1, rel=1e-10)
    assert expected(0.7 * mean) < 1
    assert expected(1.3 * mean) > 1


def test_the_shares_of_all_looks_add_up_to_the_whole():
    """Half telescopes to 1/2 - 1/(2(k + 1)), half is 1/4 + 1/8 + ... by years: ten years leave what both leave."""
    looks = 3650
    left = 0.5 / (looks + 1) + 0.5 * 2.0**-10
    assert sum(share_of_look(look) for look in range(1, looks + 1)) == pytest.approx(1 - left, rel=1e-9)


def test_condensed_losses_keep_their_mean_and_let_no_bet_win_more():
    """1,000 losses of a beta distribution against their 51 levels, for every bet at three means and both directions."""
    losses = np.random.default_rng(5).beta(0.5, 3, 1000)
    found = condense(losses)
    assert (found.n, found.mean) == (pytest.approx(1000), pytest.approx(losses.mean()))
    for mean in (0.05, 0.14, 0.4):
        exact = np.log1p(np.outer(BETS, losses - mean) / mean).sum(axis=1)
        condensed = np.log1p(np.outer(BETS, found.levels - mean) / mean) @ found.weights
        assert (condensed <= exact + 1e-9).all()
        assert (condensed > exact - 0.02 * np.abs(exact) - 1).all()


def test_limits_of_a_mean_are_those_that_a_search_over_a_grid_finds():
    """30 of 200: on 4,000 means, the first and last that neither direction refutes; equal to the grid's step."""
    grid = np.linspace(1 / 4000, 1, 4000, endpoint=False)

    def refuted(wrong: int, mean: float) -> bool:
        logs = [wrong * math.log(1 - b + b / mean) + (200 - wrong) * math.log(1 - b) for b in BOLD_BETS]
        most = max(logs)
        return most + math.log(sum(math.exp(x - most) for x in logs) / len(BOLD_BETS)) >= math.log(2 / 0.05)

    held = [m for m in grid if not refuted(30, m) and not refuted(170, 1 - m)]
    assert mean_limits(counts(30, 200), 0.05) == pytest.approx((held[0], held[-1]), abs=1 / 4000)


def test_limits_hold_at_every_look_of_nearly_all_series():
    """300 series, 40 looks of 25 losses (uniform on [0, 0.4]): the mean leaves the limits once in at most 5 % of them.

    Two standard errors of a rate of 5 % are 2.5 points.
    """
    generator, missed = np.random.default_rng(11), 0
    for _ in range(300):
        parts = [condense(generator.uniform(0, 0.4, 25)) for _ in range(40)]
        out = (mean_limits(together(parts[: k + 1]), 0.05) for k in range(0, 40, 3))
        missed += any(not low <= 0.2 <= high for low, high in out)
    assert missed / 300 <= 0.05 + 0.025


def test_the_level_reached_never_lies_above_the_highest_mean_in_nearly_all_series():
    """400 series whose mean wanders below 0.2 and touches it: the wealth against 0.2 stays below 20 in 95 % of them."""
    generator, missed = np.random.default_rng(12), 0
    means = 0.2 - 0.1 * np.abs(np.sin(np.arange(40)))
    for _ in range(400):
        looks = [(k + 1, counts(int(generator.binomial(50, mean)), 50)) for k, mean in enumerate(means)]
        missed += any(log_wealth(looks[: k + 1], 0.2) >= math.log(20) for k in range(40))
    assert missed / 400 <= 0.05 + 0.022


def test_a_drop_after_many_good_looks_is_seen_sooner_than_by_a_mean_over_everything():
    """60 looks with 10 % wrong, then 25 %: four such looks lift the level, and not yet the mean."""
    looks = [(k + 1, counts(10, 100)) for k in range(60)] + [(k + 61, counts(25, 100)) for k in range(4)]
    assert level_reached(looks, 0.05) > 0.12
    assert mean_limits(together([e for _, e in looks]), 0.05)[0] < 0.11


@pytest.mark.parametrize(("wrong", "n"), [(0, 50), (12, 400), (400, 400)])
def test_the_upper_limit_of_zeros_and_ones_is_clopper_and_pearsons(wrong, n):
    """scipy.stats.binomtest's exact limit at twice the error, two-sided."""
    by_scipy = stats.binomtest(wrong, n).proportion_ci(0.92, method="exact").high
    assert highest_mean(counts(wrong, n), 0.04) == pytest.approx(by_scipy, rel=1e-9)


def test_the_upper_limit_of_other_losses_holds():
    """1,000 samples of 60 losses from Beta(1, 9), mean 0.1: the limit lies below it in at most 4 % of them.

    And it is of use: Hoeffding's limit would be sqrt(ln(25) / 120) = 0.16 above the mean.
    """
    generator = np.random.default_rng(13)
    limits = [highest_mean(condense(generator.beta(1, 9, 60)), 0.04) for _ in range(1000)]
    assert np.mean(np.array(limits) < 0.1) <= 0.04
    assert np.median(limits) < 0.1 + 0.16


def test_nothing_known_refutes_nothing():
    """No look, or no loss: the level is 0, the limits are 0 and 1, the wealth is the stake."""
    assert (level_reached([], 0.05), log_wealth([], 0.3)) == (0.0, 0.0)
    assert mean_limits(Evidence(np.empty(0), np.empty(0)), 0.05) == (0.0, 1.0)
