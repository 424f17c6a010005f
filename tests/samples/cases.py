"""Which cases of a parametrised test are quick: `make test` runs these, `make test-slow` runs the others."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from itertools import product
from typing import Any

import pytest
from _pytest.mark.structures import ParameterSet


def quick(cases: Iterable[Any], chosen: Collection[Any]) -> list[ParameterSet]:
    """Keep the chosen cases quick and mark the others slow; a tuple gives several parameters.

    Examples
    --------
    ``@pytest.mark.parametrize("layout", quick(LAYOUTS, ["test-set", "clusters"]))``
    """
    listed = list(cases)
    missing = [case for case in chosen if case not in listed]
    assert not missing, f"no cases of this test: {missing}"
    return [_case(case, case in chosen) for case in listed]


def every(step: int, cases: Iterable[Any]) -> list[ParameterSet]:
    """Keep every step-th case quick, beginning with the first, and mark the others slow."""
    return [_case(case, place % step == 0) for place, case in enumerate(cases)]


def crossed(rows: Iterable[Any], columns: Iterable[Any]) -> list[ParameterSet]:
    """Keep the pairs with the first row or the first column quick, and mark the other pairs slow."""
    pairs = list(product(rows, columns))
    row, column = pairs[0]
    return [_case((a, b), a == row or b == column) for a, b in pairs]


def _case(case: Any, is_quick: bool) -> ParameterSet:
    marks = [] if is_quick else [pytest.mark.slow]
    if isinstance(case, ParameterSet):
        return pytest.param(*case.values, marks=[*case.marks, *marks], id=case.id)
    values = case if isinstance(case, tuple) and len(case) > 1 else (case,)
    return pytest.param(*values, marks=marks)
