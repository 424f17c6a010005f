"""The study of looks: its schedules and p-values, on few data sets."""

from __future__ import annotations

import csv
from pathlib import Path

import pytest

from evalreport.looks.levels import Declared, next_level
from research.studies.looks import (
    LIMIT,
    LOOKS,
    POINT,
    PUSHES,
    STEPS,
    TESTS,
    checked,
    errors,
    levels,
    pushes,
    sizes,
)

DOCS = Path(__file__).resolve().parents[2] / "docs"


def test_schedules_grow_to_all_examples() -> None:
    """Each has as many looks as it says, the last with all examples."""
    for looks in LOOKS:
        for steps in STEPS:
            n = sizes(looks, steps)
            assert len(n) == looks
            assert n == sorted(set(n))
            assert n[-1] == 1000


@pytest.mark.slow
def test_a_run_with_a_file_decides_as_the_study_counts() -> None:
    """One series of each test through the public interface: levels, p-values and verdicts."""
    assert checked(11, series=1) == 3 * len(TESTS)


@pytest.mark.slow
def test_few_data_sets_are_decided_where_both_models_are_equal() -> None:
    """Of 100 data sets no schedule decides more than 16, which has a chance of 1e-5 at 5 %."""
    rows = errors(100, 3)
    assert len(rows) == 25 * len(TESTS)
    assert max(int(str(row["decided"])) for row in rows) <= 16
    assert int(str(pushes(100, 3)["decided"])) <= 16


def test_the_measured_rates_are_within_their_limits() -> None:
    """As committed: at most 6 %, or a point above a single look; pushes at most 5 %; power as the levels promise."""
    with (DOCS / "looks.csv").open(encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    single = {r["test"]: float(r["rate"]) for r in rows if r["what"] == "error" and r["looks"] == "1"}
    for row in rows:
        if row["what"] == "error":
            assert float(row["upper"]) <= max(LIMIT, single[row["test"]] + POINT), row
        elif row["what"] == "pushes":
            assert float(row["upper"]) <= 0.05
            assert int(row["looks"]) == PUSHES
    power = {(r["looks"], r["steps"], r["share"]): float(r["rate"]) for r in rows if r["what"] == "power"}
    one = power["1", "equal", "k/L"]
    assert min(p for (_, _, share), p in power.items() if share == "n/n_max") > one - 0.02
    assert min(p for (_, steps, _), p in power.items() if steps != "doubling") > one - 0.02


def test_the_levels_are_those_of_the_package() -> None:
    """Five equal steps, and shares of the largest number of examples."""
    assert [round(level, 4) for level in levels(sizes(5, "equal"), None)] == [
        0.0,
        0.0008,
        0.0074,
        0.022,
        0.0423,
    ]
    assert levels([500, 1000], 1000) == levels([500, 1000], None)
    for n_max in (None, 1000):
        declared, taken = Declared(looks=5, n_max=n_max, pushes=False, alpha=0.05), []
        for size in sizes(5, "late"):
            taken.append(next_level(taken, size, declared, added=True))
        assert levels(sizes(5, "late"), n_max) == [look.level for look in taken]
