"""A condition is fulfilled by a whole interval, or by none of it, or undecided."""

from __future__ import annotations

import itertools
from typing import Any

import pytest

from evalreport.gates.deciding import outcome_of

COMPARE: dict[str, Any] = {
    ">": lambda x, bar: x > bar, ">=": lambda x, bar: x >= bar,
    "<": lambda x, bar: x < bar, "<=": lambda x, bar: x <= bar,
}  # fmt: skip


@pytest.mark.parametrize("comparator", COMPARE)
def test_the_outcome_is_that_of_every_value_in_the_interval(comparator: Any) -> None:
    """Intervals on a grid: pass where all of it fulfils the condition, fail where none does, else undecided."""
    places = [0.0, 0.25, 0.5, 0.75, 1.0]
    for low, high in itertools.combinations_with_replacement(places, 2):
        within = [x for x in places if low <= x <= high]
        kept = [COMPARE[comparator](x, 0.5) for x in within]
        expected = "pass" if all(kept) else "fail" if not any(kept) else "undecided"
        assert outcome_of(comparator, 0.5, low=low, high=high) == expected, (low, high)


def test_an_open_interval_is_never_passed_by_its_missing_side() -> None:
    """Without an upper limit a bar from above is undecided at best."""
    assert outcome_of("<=", 2.0, low=1.0, high=float("inf")) == "undecided"
    assert outcome_of("<=", 2.0, low=3.0, high=float("inf")) == "fail"
