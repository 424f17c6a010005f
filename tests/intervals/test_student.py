"""The t interval: value plus or minus t errors, and why there is none."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any, cast

import pytest
from scipy import stats

from evalreport.intervals.student import NO_SPREAD, NOT_SMOOTH, around, half_width
from evalreport.samplings import StudentError
from evalreport.texts import Message


def value(*, influence: object = "some", limits_if_same: bool = False) -> Any:
    """A value of 3 whose sampling has words for both reasons."""
    sampling = SimpleNamespace(
        alone=Message("limits.not_smooth"), same=Message("limits.no_spread"), limits_if_same=limits_if_same
    )
    return cast(Any, SimpleNamespace(value=3.0, influence=influence, sampling=sampling))


def test_half_of_the_width_is_t_times_the_error() -> None:
    """By scipy's quantile, with degrees of freedom that are no whole number."""
    assert half_width(StudentError(0.5, 7.3), 0.9) == pytest.approx(0.5 * stats.t.ppf(0.95, 7.3), rel=1e-9)


def test_limits_lie_around_the_value_or_the_centre_of_the_error() -> None:
    """A sampling may shift them."""
    half = half_width(StudentError(0.5, 9), 0.95)
    plain = around(value(), StudentError(0.5, 9), 0.95)
    assert (plain.low, plain.high) == (3 - half, 3 + half)
    moved = around(value(), StudentError(0.5, 9, centre=2.0), 0.95)
    assert (moved.low, moved.high) == (2 - half, 2 + half)


def test_each_reason_for_no_limits_is_said() -> None:
    """No derivative; no error; no spread, unless the sampling allows limits of width 0."""
    assert around(value(influence=None), StudentError(1, 9), 0.95) == NOT_SMOOTH
    assert around(value(), None, 0.95).reason == Message("limits.not_smooth")
    nothing = around(value(), StudentError(0.0, 9), 0.95)
    assert (nothing.low, nothing.reason) == (None, Message("limits.no_spread"))
    same = around(value(limits_if_same=True), StudentError(0.0, 9), 0.95)
    assert (same.low, same.high, same.reason) == (3.0, 3.0, NO_SPREAD)
