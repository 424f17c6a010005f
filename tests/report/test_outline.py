"""The outline of a report of fixed results, as a reviewer reads it; `UPDATE=1 pytest` writes it anew."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

from evalreport.options import OutputOptions
from evalreport.report import render
from evalreport.report.sections import describe, figures_of
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


def test_what_f1_is_made_of_is_drawn_in_full_detail_alone(simulate: Callable[..., Results]) -> None:
    """The two charts that explain F1 are figures of the glossary with ``--detail full``, and of no other section."""
    view = view_of(simulate())
    names = [
        {figure.name for section in describe(view, full=full) for figure in figures_of(section.content)}
        for full in (False, True)
    ]
    assert names[1] - names[0] == {"count-sets", "f1-at-recall"}
