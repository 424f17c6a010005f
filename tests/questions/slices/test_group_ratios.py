"""Limits of the ratio of two groups' shares."""

from __future__ import annotations

import numpy as np
import pytest

from evalreport.intervals.proportions import wilson_limits
from evalreport.questions.slices.group_ratios import Limited, ratio_limits


def share(successes: int, trials: int) -> Limited:
    """Return a share with Wilson's limits."""
    return successes / trials, *wilson_limits(successes, trials, 0.95)


def test_a_group_against_one_of_its_own_size_and_share_has_limits_that_mirror() -> None:
    """For equal shares the lower limit is one over the upper one."""
    found = ratio_limits(share(60, 200), share(60, 200))
    assert found is not None
    low, high = found
    assert high is not None
    assert low == pytest.approx(1 / high, rel=1e-9)


def test_limits_exclude_just_what_the_difference_excludes() -> None:
    """At each limit k the interval of x - k y ends at 0: the larger of both distances, squared and added."""
    x, y = share(48, 200), share(68, 200)
    found = ratio_limits(x, y)
    assert found is not None
    low, high = found
    assert high is not None
    assert x[0] - low * y[0] == pytest.approx(np.hypot(x[0] - x[1], low * (y[2] - y[0])), rel=1e-9)
    assert high * y[0] - x[0] == pytest.approx(np.hypot(x[2] - x[0], high * (y[0] - y[1])), rel=1e-9)


def test_no_success_in_the_reference_leaves_no_ratio() -> None:
    """A division by 0, and no limits of an unknown group."""
    assert ratio_limits(share(5, 50), share(0, 50)) is None
    assert ratio_limits(None, share(5, 50)) is None


def test_a_reference_that_may_be_0_has_no_upper_limit() -> None:
    """One of 4: Student's limits of a mean would reach 0, and so do these."""
    found = ratio_limits((0.5, 0.3, 0.7), (0.25, -0.1, 0.6))
    assert found is not None
    assert found[1] is None


def test_the_ratio_covers_the_truth_as_promised() -> None:
    """Equal shares of 0.2 in groups of 60 and 200: 1 lies within the limits in at least 93 of 100 data sets."""
    random = np.random.default_rng(11)
    held = 0
    for _ in range(1000):
        found = ratio_limits(
            share(int(random.binomial(60, 0.2)), 60), share(int(random.binomial(200, 0.2)), 200)
        )
        assert found is not None
        held += found[0] <= 1 and (found[1] is None or found[1] >= 1)
    assert held >= 930
