"""The page: what it holds, and that every link leads somewhere."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

from evalreport.options import OutputOptions
from evalreport.report import render
from evalreport.schema.results import Results


def test_sections_without_content_are_left_out(simulate: Callable[..., Results], tmp_path: Path) -> None:
    """A report of one model without scores and decisions has neither pairs nor curves nor matrices."""
    import dataclasses

    one = dataclasses.replace(simulate({"only": 1.0}), curves=(), confusion=())
    render(one, tmp_path, options=OutputOptions(formats=("html",)))
    page = (tmp_path / "report.html").read_text()
    assert 'id="pairs"' not in page
    assert 'id="curves"' not in page
    assert 'id="confusion"' not in page


def test_every_id_is_unique_and_every_anchor_leads_somewhere(
    simulate: Callable[..., Results], tmp_path: Path
) -> None:
    """Ids of three drawings in one page do not collide, and links inside the page find their target."""
    render(simulate(), tmp_path, options=OutputOptions(formats=("html",)))
    page = (tmp_path / "report.html").read_text()
    ids = re.findall(r'\sid="([^"]+)"', page)
    assert len(ids) == len(set(ids))
    assert set(re.findall(r'href="#([^"]+)"', page)) <= set(ids)
    assert set(re.findall(r"url\(#([^)]+)\)", page)) <= set(ids)
    assert len(page) < 1_000_000
