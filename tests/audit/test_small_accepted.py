"""Alarms after few accepted examples: how much these can say decides, not the spread that they show."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import stats

from evalreport.audit.evidence import drop_evidence
from evalreport.audit.run_alarm import fall_midp
from tests.samples.audits import audited, right, share
from tests.samples.nights import answer


def after(history, accepted, *later, **given):
    """Accept a run of (right, all), audit later ones on new examples; return the last answer."""
    for number, (correct, n) in enumerate((accepted, *later)):
        found, _, _ = audited(history, right(share(correct, n), first=10_000 * number), **given)
    return answer(found, "worse")


@pytest.mark.parametrize(
    ("then", "now"),
    [((12, 12), (1600, 2000)), ((29, 30), (1600, 2000)), ((8, 8), (500, 1000)), ((5, 9), (1, 40))],
)
def test_one_class_is_fishers_mid_p(then, now):
    """By scipy's hypergeometric distribution: P(X > x) + P(X = x) / 2."""
    law = stats.hypergeom(then[1] + now[1], then[0] + now[0], then[1])
    expected = law.sf(then[0]) + law.pmf(then[0]) / 2
    found = fall_midp(np.array([then], dtype=float), np.array([now], dtype=float))
    assert found == pytest.approx(expected, rel=1e-9)


def test_classes_are_compared_within_themselves():
    """Two classes by hand: all pairs of hypergeometric counts, of scipy."""
    then, now = np.array([[5.0, 6.0], [3.0, 4.0]]), np.array([[40.0, 60.0], [20.0, 40.0]])
    laws = [stats.hypergeom(n + m, x + y, n) for (x, n), (y, m) in zip(then, now, strict=True)]
    chance = {(j, k): laws[0].pmf(j) * laws[1].pmf(k) for j in range(7) for k in range(5)}
    expected = sum(p * ((j + k > 8) + (j + k == 8) / 2) for (j, k), p in chance.items())
    assert fall_midp(then, now) == pytest.approx(expected, rel=1e-9)


def test_twelve_of_twelve_may_have_been_luck(history):
    """Then 1,600 of 2,000 right: Fisher's one-sided p is 0.069, the alarm's 0.068; no alarm from 0.0063."""
    row = after(history, (12, 12), (1600, 2000))
    assert not row.alarm
    low = stats.binomtest(12, 12).proportion_ci(method="wilson").low
    now = np.ptp(stats.binomtest(1600, 2000).proportion_ci(method="wilson")) / 2
    error = math.hypot(1 - low, now) / stats.norm.isf(0.025)
    assert row.p_value == pytest.approx(stats.t.sf(0.2 / error, 11), rel=1e-9)


def test_twenty_nine_of_thirty_are_no_alarm(history):
    """Fisher's one-sided p is 0.011, today's level 0.0063: no alarm; after 290 of 300 the same fall is one."""
    assert not after(history, (29, 30), (1600, 2000)).alarm
    assert after(history, (290, 300), (1600, 2000), series="larger").alarm


@pytest.mark.slow
def test_a_small_perfect_run_shows_no_lasting_change_either(history):
    """8 of 8, then runs at 80 %: with no error of the accepted run thirty of them had evidence 98, an alarm from 40."""
    row = after(history, (8, 8), *[(160, 200)] * 4)
    below = (1 - stats.binomtest(8, 8).proportion_ci(method="wilson").low) / stats.norm.isf(0.025)

    def evidence(error, runs):
        values, errors = [1.0, *[0.8] * runs], [error, *[math.sqrt(0.16 / 200)] * runs]
        log_e, _ = drop_evidence(np.array(values[:1]), np.array(values[1:]), np.array(errors))
        return math.exp(log_e)

    assert row.details["evidence"] == pytest.approx(evidence(below, 4), rel=1e-9)
    assert evidence(below, 30) < 2 < 40 < evidence(0.0, 30)


def test_below_five_accepted_examples_nothing_is_an_alarm(history):
    """4 of 4, then 0 of 500: no alarm, and the reason is said; of 5 accepted ones there is a p-value."""
    row = after(history, (4, 4), (0, 500))
    assert (row.alarm, row.p_value) == (False, None)
    assert "4 new examples are too few for a value of their own; it takes 5" in row.text
    assert after(history, (5, 5), (0, 500), series="five").p_value is not None


def test_an_error_rate_counts_its_errors(history):
    """0 of 12 wrong, then 400 of 2,000: as the accuracy."""
    row = after(history, (12, 12), (1600, 2000), metrics=("error_rate",))
    assert not row.alarm
    assert row.p_value == pytest.approx(0.068, abs=0.001)


def test_a_fall_from_few_is_still_found(history):
    """30 of 30, then 40 of 100: the greater of both p-values is far below the level."""
    row = after(history, (30, 30), (40, 100))
    assert row.alarm


def test_the_sentence_says_that_nothing_was_compared(history):
    """4 accepted examples: no word of an alarm that could not have been raised."""
    for number, (correct, n) in enumerate(((4, 4), (100, 500))):
        found, _, _ = audited(history, right(share(correct, n), first=10_000 * number))
    headline = found.results.headline
    assert headline.tone == "undecided"
    assert str(headline.text).startswith(
        "forest is not compared with the accepted runs: no accepted run has a value: 4 new"
    )
    assert "(accuracy 0.20, 1.00 when accepted)" in str(headline.text)
