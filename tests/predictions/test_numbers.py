"""Levels, limits and quantiles are found by their names, whatever the rounding of these."""

from __future__ import annotations

import numpy as np
import pytest

from evalreport.predictions.numbers import (
    high_of,
    levels,
    limits_at,
    low_of,
    places,
    quantile_at,
    quantile_of,
    quantiles,
)


def test_names_of_a_level_are_read_back() -> None:
    """``0.1 + 0.2`` is the level 0.3."""
    level = 0.1 + 0.2
    assert (low_of(level), high_of(level), quantile_of(level)) == ("low@0.3", "high@0.3", "q@0.3")
    assert levels([low_of(level), high_of(level)]) == (0.3,)


def test_limits_of_named_levels_come_before_pairs_of_quantiles() -> None:
    """A model that names both is read by its limits."""
    numbers = {"low@0.9": np.array([1.0]), "high@0.9": np.array([2.0]), "q@0.1": np.array([0.0])}
    assert levels(numbers) == (0.9,)
    limits = limits_at(numbers, 0.9)
    assert limits is not None
    assert [float(part[0]) for part in limits] == [1.0, 2.0]
    assert limits_at(numbers, 0.8) is None


def test_pairs_of_quantiles_are_limits() -> None:
    """0.05 and 0.95 are those of 90 %; a quantile without its partner is none."""
    numbers = {quantile_of(q): np.array([q]) for q in (0.05, 0.25, 0.5, 0.95)}
    assert quantiles(numbers) == (0.05, 0.25, 0.5, 0.95)
    assert levels(numbers) == (0.9,)
    limits = limits_at(numbers, 0.9)
    assert limits is not None
    assert [float(part[0]) for part in limits] == [0.05, 0.95]


def test_a_quantile_that_is_not_given_is_none() -> None:
    """And one that differs by rounding is the same."""
    numbers = {"q@0.3": np.array([7.0])}
    assert quantile_at(numbers, 0.4) is None
    near = quantile_at(numbers, 0.1 + 0.2)
    assert near is not None
    assert near[0] == 7.0


@pytest.mark.parametrize("name, place", [("low@0.8", 0.1), ("high@0.8", 0.9), ("q@0.5", 0.5)])
def test_the_place_of_a_limit_is_its_quantile(name: str, place: float) -> None:
    """The middle of what is left out lies on each side."""
    assert places([name, "tp@0"]) == {name: pytest.approx(place)}
