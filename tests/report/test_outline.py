"""The outline of a report of fixed results, as a reviewer reads it; `UPDATE=1 pytest` writes it anew."""

from __future__ import annotations

import os
import re
from collections.abc import Callable
from pathlib import Path

from evalreport.options import OutputOptions
from evalreport.report import render
from evalreport.report.sections import describe, figures_of
from evalreport.report.stylesheets import light_tokens
from evalreport.report.templates import template_folder
from evalreport.report.view import view_of
from evalreport.schema.results import Results
from scripts.golden_reports import outline

GOLDEN = Path(__file__).parent / "outline.txt"


def test_the_outline_is_as_approved(simulate: Callable[..., Results], tmp_path: Path) -> None:
    """What the report of fixed results says is what a reviewer approved."""
    render(simulate(), tmp_path, options=OutputOptions(formats=("html",)))
    found = outline((tmp_path / "report.html").read_text())
    if os.environ.get("UPDATE"):
        GOLDEN.write_text(found)
    assert found == GOLDEN.read_text(), "read the difference; if it is meant: UPDATE=1 pytest tests/report"


def test_chart_colours_are_tokens_of_the_style_sheet() -> None:
    """Charts and page share one set of colours: the shipped style's are the style sheet's light values."""
    from evalreport.plots.style import TOKENS

    tokens = light_tokens((template_folder() / "report.css").read_text())
    assert {name: tokens[name] for name in TOKENS.values()} == {name: c for c, name in TOKENS.items()}


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


def test_what_f1_is_made_of_is_drawn_in_full_detail_alone(simulate: Callable[..., Results]) -> None:
    """The two charts that explain F1 are figures of the glossary with ``--detail full``, and of no other section."""
    view = view_of(simulate())
    names = [
        {figure.name for section in describe(view, full=full) for figure in figures_of(section.content)}
        for full in (False, True)
    ]
    assert names[1] - names[0] == {"count-sets", "f1-at-recall"}
