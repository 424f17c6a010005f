"""What the site has beside its pages: the lists for language models, and links that are followed."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from scripts.site_files import (
    INDEX,
    address,
    broken_links,
    contents,
    finish,
    guide,
    source_of,
    text_of,
    title_and_summary,
    whole_guide,
)

PAGES = [page for pages in contents().values() for page in pages]


def test_every_page_of_the_table_of_contents_is_in_the_guide():
    """Once, under its title; the format is that of llms.txt: a title, a quoted summary, lists of links."""
    lines = guide().splitlines()
    assert lines[0] == "# evalreport"
    assert lines[2].startswith("> Which of these models is better")
    links = [line for line in lines if line.startswith("- ")]
    assert len(links) == len(PAGES)
    for page, line in zip(PAGES, links, strict=True):
        title, _ = title_and_summary(source_of(page))
        assert line.startswith(f"- [{title}]({address(page)})")
        assert not re.search(r"`{3}|\]\([^)]*\.md", line)
    assert [line.removeprefix("## ") for line in lines if line.startswith("## ")] == list(contents())


def test_the_whole_guide_holds_the_text_of_what_a_user_reads():
    """Tutorials, how-to pages, reference and explanations, and no chapter of how it is built."""
    whole = whole_guide()
    for page in ("tutorial/models-to-pdf", "columns", "reference/results", "agents/evalreport"):
        assert text_of(source_of(page)) in whole, page
    assert text_of(INDEX.parent / "design.md") not in whole


def test_the_mark_of_a_skill_is_no_text(tmp_path: Path):
    """What stands between two lines of dashes at the top of a page."""
    page = tmp_path / "page.md"
    page.write_text(
        "---\nname: x\ndescription: y\n---\n\n# Title\n\n1. step\n\nThe [first](a.md) one. More.\n"
    )
    assert text_of(page).startswith("# Title\n")
    assert title_and_summary(page) == ("Title", "The first one.")


def test_links_that_lead_nowhere_are_named(tmp_path: Path):
    """A file that is not there, a part that its page lacks; addresses elsewhere and data are not followed."""
    (tmp_path / "below").mkdir()
    (tmp_path / "below" / "index.html").write_text('<h1 id="there">x</h1><a href="../page.html#also">up</a>')
    (tmp_path / "page.html").write_text(
        '<a name="also" href="below/">a</a><a href="below/index.html#there">b</a><img src="data:x">'
        '<a href="https://example.org/x">c</a><a href="#also">d</a><img src="a%20b.png">'
    )
    pages = list(tmp_path.rglob("*.html"))
    assert list(broken_links(tmp_path, pages)) == ["page.html: a%20b.png"]
    (tmp_path / "a b.png").write_bytes(b"")
    assert list(broken_links(tmp_path, pages)) == []
    (tmp_path / "other.html").write_text('<a href="page.html#none">a</a><script src="none.js"></script>')
    with pytest.raises(ValueError, match=r"nowhere:\nother.html: page.html#none\nother.html: none.js"):
        finish(tmp_path)
    assert (tmp_path / "llms.txt").read_text(encoding="utf-8") == guide()
