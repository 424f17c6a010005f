"""Reports of fixed inputs are as approved: `make golden` writes them anew, and the difference is to be read."""

from __future__ import annotations

import re

import pytest

from evalreport.report import writing
from scripts.golden_reports import CASES, FOLDER, approved, difference, masked, outline, page_of

MOST_BYTES = 150_000


@pytest.mark.slow
@pytest.mark.parametrize("name", CASES)
def test_the_report_is_as_approved(name: str) -> None:
    """What the report of fixed inputs says is what is stored; nothing is taken silently."""
    page = page_of(name)
    change = difference(f"{name}.txt", approved(page))
    assert not change, f"\n{change}\n\nIf every change is meant: make golden"
    # A drawing under a name that is not known would never be removed, and stand beside the next report's.
    figures = set(re.findall(r'id="figure-([a-z0-9-]+)"', page))
    assert {figure for figure in figures if not writing.is_ours(f"figures/{figure}.svg")} == set()


def test_what_is_stored_belongs_to_a_case_and_can_be_read() -> None:
    """No file is left over from a case that is gone, and none is too long to be looked at."""
    assert {path.name for path in FOLDER.iterdir()} == {f"{name}.txt" for name in CASES}
    assert [path.name for path in FOLDER.iterdir() if path.stat().st_size > MOST_BYTES] == []


def test_a_difference_is_shown_and_not_written() -> None:
    """A changed line stands in the difference with what it was; the stored file stays."""
    stored = (FOLDER / "single.txt").read_text(encoding="utf-8")
    changed = stored.replace("h2 Reproducibility", "h2 Repeatability", 1)
    shown = difference("single.txt", changed)
    assert "-h2 Reproducibility" in shown
    assert "+h2 Repeatability" in shown
    assert (FOLDER / "single.txt").read_text(encoding="utf-8") == stored
    assert difference("single.txt", stored) == ""


def test_a_long_difference_is_cut_and_counted() -> None:
    """300 new lines are shown as the first 120 of the difference and the number of the others."""
    shown = difference("new.txt", "".join(f"line {i}\n" for i in range(300)))
    assert len(shown.splitlines()) == 121
    assert shown.endswith("... 183 more lines")  # 300 and three lines of head, of which 120 are shown


def test_another_version_is_no_difference() -> None:
    """Versions of libraries are masked."""
    assert masked("numpy 2.4.0, scipy 1.17.0") == masked("numpy 3.0.1, scipy 1.18.0")


def test_an_outline_says_what_is_drawn() -> None:
    """Of a drawing its title and the description of its data; of a bar in a table nothing that its row does not say."""
    drawing = "<svg><title>ROC curves</title><desc>a (0.9)</desc><text>0.5</text></svg>"
    assert outline(f"<p>See</p>{drawing}<p>b</p>").splitlines() == ["p See", "svg ROC curves: a (0.9)", "p b"]
    assert outline("<tr><td>1</td><td><svg><title>0.1 to 0.2</title></svg></td></tr>") == "tr | 1 |\n"
