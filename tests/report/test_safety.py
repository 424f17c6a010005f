"""Everything from a file is hostile: names, labels, texts."""

from __future__ import annotations

import dataclasses
import re
import xml.etree.ElementTree as ET
from collections.abc import Callable
from html.parser import HTMLParser
from pathlib import Path

import pytest

from evalreport.options import OutputOptions
from evalreport.report import render
from evalreport.report.notebook import leaderboard_html
from evalreport.report.terminal import oneliner, summary
from evalreport.schema.results import Results
from evalreport.schema.warnings import WarningRecord

HOSTILE = {
    "<script>alert(1)": 1.9,
    '"><img src=x onerror=alert(2)>': 1.8,
    "{{ 7 * 7 }} {% include 'x' %} $x^2$": 1.4,
    "|*c* @you [x](d)": 1.0,
    "txt\u202eexe\u0000\n" + "x" * 10_000: 0.6,
}


class Tags(HTMLParser):
    """Every attribute of a page, as a browser reads it."""

    def __init__(self) -> None:
        super().__init__()
        self.attributes: list[tuple[str, str]] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.attributes += [(name, value or "") for name, value in attrs]


@pytest.fixture(scope="module")
def hostile(simulate: Callable[..., Results]) -> Results:
    """Give results whose models, classes and warnings are hostile."""
    found = simulate(HOSTILE)
    bad = "</style><script>alert(4)</script>"
    cells = tuple(
        dataclasses.replace(
            c, true=bad if c.true == "Yes" else "No", predicted=bad if c.predicted == "Yes" else "No"
        )
        for c in found.confusion
    )
    return dataclasses.replace(
        found, classes=("No", bad), positive=bad, confusion=cells,
        warnings=(WarningRecord(code="x<b>", text="<b>bold</b>" + bad),),
    )  # fmt: skip


@pytest.fixture(scope="module")
def folder(hostile: Results, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Give a folder with the report of hostile results."""
    target = tmp_path_factory.mktemp("hostile") / "out"
    render(
        hostile, target, options=OutputOptions(formats=("html", "md"), title="<i>title</i>", figures="svg")
    )
    return target


def test_html_holds_no_mark_up_from_files(folder: Path) -> None:
    """No element, attribute or script of a hostile name reaches the page."""
    page = (folder / "report.html").read_text()
    without_scripts = re.sub(r"<script>.*?</script>", "", page, count=0, flags=re.S)
    assert "<img" not in page
    assert "alert(" not in "".join(re.findall(r"<script>(.*?)</script>", page, flags=re.S))
    assert "<script" not in without_scripts
    assert "<b>bold" not in page
    assert "<i>title" not in page
    assert "49 " not in re.findall(r"<h1[^>]*>.*?</h1>", page)[0]
    assert "{{ 7 * 7 }}" in page


def test_page_has_a_policy_without_exceptions_and_nothing_that_needs_one(folder: Path) -> None:
    """The policy allows no inline style or handler, and the page (SVG included) has none and no address."""
    page = (folder / "report.html").read_text()
    policy = re.findall(r'Content-Security-Policy" content="([^"]*)"', page)[0].replace("&#39;", "'")
    assert policy.startswith("default-src 'none'")
    assert "unsafe" not in policy
    tags = Tags()
    tags.feed(page)
    names = {name for name, _ in tags.attributes}
    assert "style" not in names
    assert not [name for name in names if name.startswith("on")]
    addresses = [v for name, v in tags.attributes if name in {"src", "href", "xlink:href", "action", "data"}]
    assert not [address for address in addresses if not address.startswith("#")]
    outside = [url for url in re.findall(r"https?://[^\"'\s<>)]+", page) if "w3.org" not in url]
    assert outside == []  # the remaining ones are names of XML namespaces


def test_policy_names_the_digests_of_the_page(folder: Path) -> None:
    """The hashes in the policy are those of the style and the script as they stand in the page."""
    import base64
    import hashlib

    page = (folder / "report.html").read_text()
    for tag in ("style", "script"):
        text = re.findall(f"<{tag}>(.*?)</{tag}>", page, flags=re.S)[0]
        digest = base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
        assert f"{tag}-src &#39;sha256-{digest}&#39;".replace("+", "&#43;") in page.replace("+", "&#43;")


def test_svg_is_well_formed_and_has_no_mark_up_from_files(folder: Path) -> None:
    """Every figure parses as XML and holds only SVG's own elements."""
    drawings = sorted((folder / "figures").glob("*.svg"))
    assert [d.stem for d in drawings] == ["pr", "roc"]
    for drawing in drawings:
        root = ET.fromstring(drawing.read_text())  # noqa: S314
        tags = {element.tag.split("}")[1] for element in root.iter()}
        assert tags <= {
            "svg",
            "title",
            "desc",
            "defs",
            "g",
            "path",
            "use",
            "text",
            "clipPath",
            "rect",
            "tspan",
            "pattern",
        }
        assert not [
            e for e in root.iter() if "style" in e.attrib or any(k.startswith("on") for k in e.attrib)
        ]


def test_markdown_is_escaped(folder: Path) -> None:
    """A hostile name neither ends its table cell nor becomes mark-up, a mention or a link."""
    text = (folder / "summary.md").read_text()
    assert "<script" not in text
    assert "<img" not in text
    assert "<b>" not in text
    rows = [line for line in text.splitlines() if line.startswith("| ")]
    unescaped = [len(re.findall(r"(?<!\\)\|", row)) for row in rows]
    assert set(unescaped) == {7}
    assert "\\@\u200dyou" in text
    assert "\\[x\\](" in text


def test_long_and_invisible_names_are_cut_and_shown(folder: Path) -> None:
    """A name of 10,000 characters is cut in the middle, and characters without shape become code points."""
    page = (folder / "report.html").read_text()
    assert "x" * 200 not in page
    assert "txtU+202EexeU+0000" in page
    assert "\u202e" not in page
    assert "\x00" not in page
    assert "U+000A" in page


def test_terminal_and_notebook_are_escaped(hostile: Results) -> None:
    """The terminal reads no mark-up in names, and the notebook's table is escaped."""
    from rich.console import Console

    console = Console(width=200, record=True, file=open("/dev/null", "w"))  # noqa: SIM115, PTH123
    with console.file:
        console.print(summary(hostile))
        text = console.export_text()
    assert "<script>alert(1)" in text
    assert "\x00" not in oneliner(hostile)
    assert "\n" not in oneliner(hostile)
    assert "<script" not in leaderboard_html(hostile)
