"""The page on calibration: what it says was measured."""

from __future__ import annotations

import csv
import math
from pathlib import Path

import pytest

TABLE = Path(__file__).resolve().parents[2] / "docs" / "calibration.csv"


def rows(kind: str) -> list[dict[str, str]]:
    """Return the measured cells of one kind."""
    with TABLE.open(encoding="utf-8", newline="") as file:
        return [row for row in csv.DictReader(file) if row["kind"] == kind]


def name(row: dict[str, str]) -> str:
    """Name a cell."""
    return f"{row['quantity']}, {row['cell']}, n = {row['n']}"


@pytest.mark.parametrize("row", rows("false alarm"), ids=name)
def test_false_alarms_keep_their_level(row):
    """At most 6 % for the heading's test and 2.5 % for a spread, within two errors of the simulation."""
    level = 0.06 if row["quantity"] == "score test" else 0.025
    assert float(row["share"]) <= level + 2 * math.sqrt(level * (1 - level) / int(row["sets"]))


@pytest.mark.parametrize("row", rows("power"), ids=name)
def test_odds_that_are_too_high_are_found(row):
    """At least 88 %."""
    assert float(row["share"]) >= 0.88


@pytest.mark.parametrize("row", rows("coverage"), ids=name)
def test_intervals_hold(row):
    """At least 93 % of the data sets."""
    assert float(row["share"]) >= 0.93
