"""The reference values of the third and fourth round's methods: reading them, and the comparison that they ask for."""

from __future__ import annotations

import functools
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

FOLDER = Path(__file__).resolve().parent.parent / "data" / "reference"


@functools.cache
def cases_of(*methods: str) -> tuple[Mapping[str, Any], ...]:
    """Return the cases of some methods: ``id``, ``method``, ``input``, ``expected``, ``tolerance``, ``computed_by``."""
    files = (FOLDER / f"{which}_round.json" for which in ("third", "fourth"))
    cases = [case for file in files for case in json.loads(file.read_text(encoding="utf-8"))["cases"]]
    return tuple(case for case in cases if case["method"] in methods)


def each(*methods: str) -> pytest.MarkDecorator:
    """Run a test once for every case of some methods, under the case's id."""
    return pytest.mark.parametrize("case", cases_of(*methods), ids=lambda case: case["id"])


def assert_agrees(found: Mapping[str, float | None], case: Mapping[str, Any]) -> None:
    """Compare what was found with the expected values of the same names, relative to max(1, |expected|)."""
    for name, value in found.items():
        expected = case["expected"][name]
        assert value is not None, name
        assert abs(value - expected) <= case["tolerance"] * max(1.0, abs(expected)), (name, value, expected)
