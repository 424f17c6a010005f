"""Reports of fixed inputs are as approved: `make golden` writes them anew, and the difference is to be read."""

from __future__ import annotations

import pytest

from scripts.golden_reports import CASES, FOLDER, difference, made, reduced

MOST_BYTES = 150_000


@pytest.mark.parametrize("name", CASES)
def test_the_report_is_as_approved(name: str) -> None:
    """What the report of fixed inputs says, and its mark-up, is what is stored; nothing is taken silently."""
    changes = [change for file, found in made(name).items() if (change := difference(file, found))]
    assert not changes, "\n".join(["", *changes, "", "If every change is meant: make golden"])


def test_what_is_stored_belongs_to_a_case_and_can_be_read() -> None:
    """No file is left over from a case that is gone, and none is too long to be looked at."""
    assert {path.name for path in FOLDER.iterdir()} == {
        f"{n}.{kind}" for n in CASES for kind in ("html", "txt")
    }
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


def test_another_version_is_no_difference_and_another_drawing_is() -> None:
    """Versions and digests of the policy are masked; a drawing keeps its title and a digest of its lines."""
    page = "<p>numpy 2.4.0</p><meta content=\"&#39;sha256-a+b=&#39;\"><svg><title>T</title><path d='M{} 0'/></svg>"
    assert reduced(page) == reduced(page.replace("2.4.0", "3.0.1").replace("a+b", "c"))
    assert "<title>T</title>" in reduced(page)
    assert reduced(page.format(1)) != reduced(page.format(2))
