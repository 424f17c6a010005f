"""The pages of the studies have the tables that follow from the committed rows."""

from __future__ import annotations

import importlib
from pathlib import Path

import pytest

from research.studies import tables
from research.studies.__main__ import STUDIES
from tests.samples.cases import every

for spec in STUDIES.values():
    importlib.import_module(f"research.studies.{spec.module}")
importlib.import_module("research.studies.mutants")

PAGES = [
    path for path in sorted(tables.DOCS.glob("*.md")) if tables.MARK.search(path.read_text(encoding="utf-8"))
]


@pytest.mark.parametrize("page", every(4, PAGES), ids=lambda path: path.name)
def test_tables_of_a_page_are_those_of_its_rows(page: Path) -> None:
    """Neither can be edited without the other: `make figures` writes the tables."""
    text = page.read_text(encoding="utf-8")
    assert tables.filled(text) == text


@pytest.mark.parametrize("name", STUDIES)
def test_key_of_a_study_tells_the_rows_of_its_table_apart(name: str) -> None:
    """No row stands twice, and each would be replaced when it is measured anew."""
    spec = STUDIES[name]
    rows = tables.read(tables.DOCS / (spec.file or f"{name}.csv"))
    assert len({tuple(row[column] for column in spec.key) for row in rows}) == len(rows)


def test_table_has_a_row_a_name_and_a_column_a_value(tmp_path: Path) -> None:
    """By hand: two tests at two looks, one of them not measured."""
    rows = [
        {"test": "t", "looks": "1", "rate": "0.05", "upper": "0.06"},
        {"test": "t", "looks": "2", "rate": "0.051", "upper": ""},
        {"test": "z", "looks": "1", "rate": "0.04", "upper": "0.05"},
    ]
    tables.write(tmp_path / "x.csv", rows)
    text = tables.table(
        'x.csv rows=test across=looks title="{} looks" value=rate,upper format=percent', tmp_path
    )
    assert text.splitlines() == [
        "| test | 1 looks | 2 looks |",
        "|---|---|---|",
        "| t | 5.0 (6.0) | 5.1 |",
        "| z | 4.0 (5.0) |  |",
    ]
    assert tables.read(tmp_path / "x.csv") == rows
