"""The committed coverage table keeps its rule: what does not cover does not lead, or is listed as a known limit."""

from __future__ import annotations

from collections import defaultdict
from pathlib import Path

import pytest

from evalreport.intervals import INTERVALS
from studies import coverage_page, intervals_page
from studies.coverage import SIZES
from studies.designs import every_design
from studies.known_limits import KNOWN_LIMITS
from studies.rows import NOMINAL, Row, read
from studies.tally import LEADING

DOCS = Path(__file__).resolve().parents[2] / "docs"


@pytest.fixture(scope="module")
def rows() -> list[Row]:
    """The committed table."""
    return read(DOCS / "coverage.csv")


def test_every_leading_interval_covers_or_is_a_known_limit(rows: list[Row]) -> None:
    """No leading interval covers less than is asked of it, but for the listed cells, which all do.

    Asked are 95 % less three Monte Carlo standard errors of the cell, less two points where the metric is a function
    of counts (its coverage oscillates by about the chance of one outcome).
    """
    missing = {row.key for row in rows if row.method == LEADING and row.misses}
    assert missing == set(KNOWN_LIMITS)


def test_known_limits_stand_on_the_page_with_their_values(rows: list[Row]) -> None:
    """Each cell that misses is named on the page with its measured coverage and why that interval leads."""
    text = (DOCS / "coverage.md").read_text(encoding="utf-8").partition("## Known limits")[2]
    for row in rows:
        if row.method == LEADING and row.misses:
            lines = [line for line in text.splitlines() if line.startswith(f"| {row.design} | {row.size} |")]
            assert any(f"| {100 * row.coverage:.1f} |" in line for line in lines), row.key
            assert any(KNOWN_LIMITS[row.key] in line for line in lines), row.key


def test_page_is_the_tables(rows: list[Row]) -> None:
    """The page's tables are those of the committed rows: neither can be edited without the other."""
    text = (DOCS / "coverage.md").read_text(encoding="utf-8")
    for table in coverage_page.TABLES:
        assert coverage_page.section(table, coverage_page.rows_in(table, rows)) in text, table.title


def test_every_row_stands_in_a_table(rows: list[Row]) -> None:
    """No measured cell is left out of the page."""
    shown = [row for table in coverage_page.TABLES for row in coverage_page.rows_in(table, rows)]
    assert sorted(map(hash, shown)) == sorted(map(hash, rows))


def test_every_interval_is_measured(rows: list[Row]) -> None:
    """Every registered interval of test sets has rows at the smallest and at the largest size of its designs."""
    sizes = defaultdict(set)
    for row in rows:
        sizes[row.method].add(row.size)
    for name, method in INTERVALS.items():
        if method.kind not in NOT_ON_A_TEST_SET:
            assert SIZES_OF_UNLIKE.get(method.kind, {30, 1000}) <= sizes[name], name


SIZES_OF_UNLIKE = {"clusters": {8, 100}, "weights": {200, 1000}}
"""The smallest and the largest number of clusters, and of weighted examples."""

NOT_ON_A_TEST_SET = {"fits", "blocks", "seeds"}
"""Kinds that need folds or data sets: what their intervals hold depends on the algorithms, not on a formula."""


def test_simulated_cells_are_whole(rows: list[Row]) -> None:
    """Every design is there at every size with the same number of data sets, few of them without a value."""
    sets = {(row.design, row.size): row.sets for row in rows if row.method == LEADING and row.sets}
    assert set(sets) == {(design.name, size) for design in every_design() for size in design.sizes}
    most = max(row.sets for row in rows)
    assert most >= 1000
    for row in rows:
        # Precision is 0/0 where nothing is called positive: at n = 30 and a prevalence of 0.1 in a tenth of the sets.
        assert row.sets == 0 or row.sets >= 0.85 * most, row.key


def test_textbook_interval_is_as_bad_as_published(rows: list[Row]) -> None:
    """At n = 30 and p = 0.95 the normal interval covers 78.2 % and Wilson's 93.9 % (enumeration, three digits)."""
    found = {row.method: row.coverage for row in rows if (row.design, row.size) == ("p = 0.95", SIZES[0])}
    assert found["normal"] == pytest.approx(0.782, abs=5e-4)
    assert found["wilson"] == pytest.approx(0.939, abs=5e-4)


def test_misses_add_up(rows: list[Row]) -> None:
    """Coverage and the misses on both sides add up to one, to the four digits that are kept."""
    for row in rows:
        if row.method != LEADING:
            assert row.coverage + row.below + row.above == pytest.approx(1, abs=2e-4), row.key
        assert 0 <= row.coverage <= 1
        assert row.least < NOMINAL


@pytest.mark.slow
def test_page_of_intervals_is_what_the_code_computes() -> None:
    """docs/intervals.md is, byte for byte, what enumeration gives today: z table, rule of thirty, sample sizes."""
    assert (DOCS / "intervals.md").read_text(encoding="utf-8") == intervals_page.page()


def test_intervals_named_on_the_page_exist() -> None:
    """Every interval that the page of choices names is registered."""
    import re

    for cells in intervals_page.CHOICE:
        for name in re.findall(r"`([a-z_0-9]+)`", " ".join(cells[1:])):
            assert name in INTERVALS, name
