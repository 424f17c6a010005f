"""Where models differ: what the section shows is what the results hold, whatever the files said."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import pytest

from evalreport.options import OutputOptions
from evalreport.report import render
from evalreport.schema.results import Results
from tests.samples.differences import TWO, with_differences


def page(results: Results, folder: Path) -> str:
    """Return the HTML of a report."""
    render(results, folder, options=OutputOptions(formats=("html",)))
    return (folder / "report.html").read_text(encoding="utf-8")


@pytest.mark.usefixtures("undrawn")
def test_sizes_and_agreement_stand_as_the_results_hold_them(
    simulate: Callable[..., Results], tmp_path: Path
) -> None:
    """Odds 2.50 with an open limit, 12.3 misses fewer, the four counts, and the baseline beside its metric."""
    text = re.sub(r"<[^>]*>", " ", page(with_differences(simulate(TWO)), tmp_path))
    text = " ".join(text.split())
    assert "2.50 [1.20, ∞]" in text
    assert "+12.3 [+4.0, +20.0]" in text  # misses that the first model avoids
    assert "Positive sizes favour the model named first" in text
    assert "900 75.0 % 25 2.1 % 10 0.8 % 265 22.1 %" in text
    assert re.search(r"majority class Decisions .*? Accuracy [^A-Z]*Wilson [^A-Z]* 0\.65", text)


@pytest.mark.usefixtures("undrawn")
def test_hostile_ids_and_answers_are_escaped(simulate: Callable[..., Results], tmp_path: Path) -> None:
    """An id that is a script is shown as text, a direction mark by its code point; a wrong answer says so."""
    html = page(with_differences(simulate(TWO)), tmp_path)
    assert "<script>alert('x')" not in html
    assert "&lt;script&gt;alert(" in html
    assert "\u202e" not in html
    assert "49" not in re.findall(r"alert[^<]*", html)
    assert re.search(r'class="number m\d wrong"[^>]*>No', html)
