"""The page on reliability: what the committed record says, and tests that are there."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

import pytest

pytest.importorskip("pwd", reason="the campaign knows POSIX's users and limits alone")

from research.campaign.__main__ import PARTS
from research.campaign.page import KNOWN, PAGE, filled
from research.campaign.records import Part, read

ROOT = Path(__file__).resolve().parents[2]
DOCS = ROOT / "docs"


@pytest.fixture(scope="module")
def parts() -> dict[str, Part]:
    """The committed record."""
    return read(DOCS / "reliability.json")


def test_page_and_record_belong_together(parts):
    """The counts of the committed page are those of the committed record, and no part is left out."""
    page = PAGE.read_text(encoding="utf-8")
    assert page == filled(page, parts)
    assert set(re.findall(r"<!-- campaign (\S+) -->", page)) == {"all", *PARTS}


def test_every_part_was_run_and_kept_its_promises(parts):
    """No part is missing, none was recorded without tries, and none has a finding that the page does not explain."""
    assert set(parts) == set(PARTS)
    assert all(part.tries > 0 for part in parts.values())
    assert {finding for part in parts.values() for finding in part.findings} <= set(KNOWN)


def test_a_finding_stands_on_the_page(parts):
    """Nothing that is recorded as broken could be overlooked."""
    fuzz = parts["fuzz"]
    whole = {name: replace(part, findings=[]) for name, part in parts.items()}
    broken = {**whole, "fuzz": Part("fuzz", 1, 1, fuzz.rows, ["defect: KeyError in loading.py:load"])}
    page = filled(PAGE.read_text(encoding="utf-8"), broken)
    assert "**Finding:** defect: KeyError in loading.py:load" in page
    assert "with 1 finding left" in page


def test_what_was_found_has_its_test():
    """Each test that the page names is there."""
    there = {
        name
        for path in (ROOT / "tests").rglob("test_*.py")
        for name in re.findall(r"^def (test_\w+)", path.read_text(encoding="utf-8"), flags=re.MULTILINE)
    }
    _, _, mended = PAGE.read_text(encoding="utf-8").partition("## Found and mended")
    named = set(re.findall(r"`(test_\w+)`", mended))
    assert named
    assert named <= there
