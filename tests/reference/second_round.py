"""The reference values of the second round's methods: reading them, and the comparison that they ask for."""

from __future__ import annotations

import functools
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

PATH = Path(__file__).resolve().parent.parent / "data" / "reference" / "second_round.json"


@functools.cache
def records_of(method: str) -> tuple[Mapping[str, Any], ...]:
    """Return the records of one method: ``id``, ``inputs``, ``value``, ``source``, ``check``."""
    values = json.loads(PATH.read_text(encoding="utf-8"))["values"]
    return tuple(record for record in values if record["method"] == method)


def each(method: str) -> pytest.MarkDecorator:
    """Run a test once for every record of a method, under the record's id."""
    return pytest.mark.parametrize("record", records_of(method), ids=lambda record: record["id"])


def agrees(value: float, expected: float, tolerance: float = 1e-8) -> bool:
    """Say whether a value is the reference's, relative to max(1, |expected|)."""
    return abs(value - expected) <= tolerance * max(1.0, abs(expected))
