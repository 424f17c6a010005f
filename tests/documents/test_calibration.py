"""The page on calibration: what it says was measured."""

from __future__ import annotations

import csv
import math
from pathlib import Path

import pytest
from scipy import stats

TABLE = Path(__file__).resolve().parents[2] / "docs" / "calibration.csv"


def rows(kind: str) -> list[dict[str, str]]:
    """Return the measured cells of one kind."""
    with TABLE.open(encoding="utf-8", newline="") as file:
        return [row for row in csv.DictReader(file) if row["kind"] == kind]


def name(row: dict[str, str]) -> str:
    """Name a cell."""
    return f"{row['quantity']}, {row['cell']}, n = {row['n']}"


PROMISED = {"score test": 0.06, "score test by class": 0.07, "score test of the largest": 0.07}
"""Largest rate of false alarms: of the heading's test, and of several classes."""


@pytest.mark.parametrize("row", rows("false alarm"), ids=name)
def test_false_alarms_keep_their_level(row):
    """The confidence limit keeps to what is promised; of a spread 2.5 %, within two errors of the simulation."""
    if row["quantity"] in PROMISED:
        assert float(row["limit"]) <= PROMISED[row["quantity"]]
    else:
        assert float(row["share"]) <= 0.025 + 2 * math.sqrt(0.025 * 0.975 / int(row["sets"]))


def test_limits_are_those_of_the_counts():
    """Clopper and Pearson's one-sided 95 % limit: above a false alarm, below a power or a coverage."""
    for kind, alternative in (("false alarm", "less"), ("power", "greater"), ("coverage", "greater")):
        for row in rows(kind):
            count, sets = round(float(row["share"]) * int(row["sets"])), int(row["sets"])
            exact = stats.binomtest(count, sets, alternative=alternative).proportion_ci(0.95, "exact")
            assert float(row["limit"]) == pytest.approx(
                exact.high if kind == "false alarm" else exact.low, abs=1e-4
            )


@pytest.mark.parametrize("row", rows("power"), ids=name)
def test_odds_that_are_too_high_are_found(row):
    """At least 88 % where log odds vary by 0.5, by the confidence limit; at least 86 % where they vary by 1."""
    least = 0.88 if row["cell"].endswith("sd of log odds 0.5") else 0.86
    assert float(row["limit"]) >= least


@pytest.mark.parametrize("row", rows("coverage"), ids=name)
def test_intervals_hold(row):
    """At least 93 % of the data sets."""
    assert float(row["share"]) >= 0.93
