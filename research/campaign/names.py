"""Hostile names of models, classes, slices, columns, files, series and titles, through every output.

markup
    a page or a Markdown text has an element, an attribute, an address or a mark that plain names do not bring. This
    must never be.
acts
    the page, opened in a browser and used, says something in the console, asks for something or opens a dialog. Never.
control
    a control character, an override of direction or a workflow command reaches the terminal. Never.
changed
    results.json does not hold the names as they were given. Never.
failed
    a command ended as a defect, or without a word. Never.
refused, shown
    how it ended otherwise: some names are bad input.
"""

from __future__ import annotations

import contextlib
import csv
import io
import json
import random
import re
import tempfile
import unicodedata
import xml.etree.ElementTree as ET
from functools import partial
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

from markdown_it import MarkdownIt

from evalreport.texts.visible import SHAPELESS
from research.campaign.browser import chromium, opened, use_everything
from research.campaign.processes import evalreport, from_child
from research.campaign.records import MEMORY, Part, Row, faults_of, measured
from research.campaign.scenes import QUICK, warm_up, write_models, write_plan

# One of each kind; some were attacks on real tools.
NASTY = (
    "<script>alert(1)</script>",
    '"><img src=x onerror=alert(1)>',
    "</style></title><svg onload=alert(1)>",
    "' onmouseover='alert(1)",
    "<!-- --> ]]> <![CDATA[",
    "&lt;b&gt; &#0; &amp",
    "javascript:alert(1)",
    "https://example.org www.example.org ftp://example.org",
    "{{ 7 * 7 }} {% for %} {# #} ${7*7} #{7*7}",
    "=HYPERLINK(\"http://example.org\",\"x\")",
    "+1+1", "-2+3", "@SUM(1)", "\t=1", "\uff1d1+1",
    "| a | b |\n|---|---|", "# h\n\n- [ ] x", "```\ncode", "~~~", "![x](data:x)", "[x]: y", "***", "\\", "`",
    "<details open>", "@everyone", "$x^2$", "\\mathdefault{x}", "$\\frac{1}{", "_x_ __y__",
    "\u202eexe.txt", "\u2066a\u2069", "\u200b", "\ufeff", "\u2028", "\x00\x01\x1b[31mred\x7f",
    "\x9b31mred\x85", "\u061c\u200f1", "\ud800", "\U0010ffff",
    "a\u0301\u0301\u0301", "ﷺ", "\U0001f680", "مرحبا", "", " ", "\n",
)  # fmt: skip
FAULTS = ("markup", "acts", "control", "changed", "failed")
TRIES = 60
PLAIN = {
    "models": ["alpha", "beta", "gamma"],
    "classes": ["No", "Yes"],
    "column": "region",
    "values": ["north", "south"],
    "title": "title",
    "series": "nightly",
    "file": "all",
}


ISOLATION: tuple[tuple[str, list[tuple[str, str]]], ...] = (
    ("bdi", []),
    ("tspan", [("unicode-bidi", "isolate")]),
)
"""What keeps a name from right to left to itself; no text of a file gives it an attribute."""


class Structure(HTMLParser):
    """Elements with the names of their attributes, in order; places where a long name may break do not count."""

    def __init__(self) -> None:
        super().__init__()
        self.elements: list[tuple[str, tuple[str, ...]]] = []
        self.addresses: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Note an element."""
        if tag != "wbr" and (tag, attrs) not in ISOLATION:
            self.elements.append((tag, tuple(sorted(name for name, _ in attrs))))
        self.addresses += [v or "" for name, v in attrs if name in {"href", "src", "xlink:href", "action"}]


def structure(page: str) -> Structure:
    """Read a page as a browser does."""
    parser = Structure()
    parser.feed(page)
    return parser


def tokens(text: str) -> list[str]:
    """Give the kinds of a Markdown text's blocks and marks in order, plain text and line breaks left out."""
    kinds = []
    for block in MarkdownIt("commonmark").enable("table").parse(text):
        # The lines to be copied stand as code, or as a paragraph where they hold a "<": the same text either way.
        as_text = ["paragraph_open", "inline", "paragraph_close"]
        kinds += as_text if block.type == "code_block" else [block.type]
        kinds += [mark.type for mark in block.children or () if mark.type not in {"text", "text_special"}]
    return kinds


def part(*, seed: int = 0, tries: int = TRIES, folder: Path = MEMORY) -> Part:
    """Make reports, histories, sites and comparisons of hostile names, look at all texts, then open all pages."""
    made = Part("names", seed, tries)
    rng = random.Random(seed)  # noqa: S311 - of names, not of secrets
    with measured(made), tempfile.TemporaryDirectory(prefix="names-", dir=folder) as place:
        work = Path(place)
        warm_up(work, write_models(work / "models", 0), write_plan(work, 0))
        plain = _made(PLAIN, work / "plain")
        assert plain["codes"] == [0] * len(plain["codes"]), plain
        made.rows.append(texts := Row("names through every command"))
        for number in range(tries):
            names = _drawn(rng)
            texts.tries += 1
            texts.counts.update(_judged(names, _made(names, work / f"try-{number}"), plain))
        made.rows.append(pages := Row("pages opened in Chromium"))
        with contextlib.suppress(FileNotFoundError), chromium() as browser:
            made.versions["chromium"] = browser.version
            for page in sorted(work.glob("try-*/*/*.html")):
                pages.tries += 1
                pages.counts[_opened(browser, page)] += 1
    made.findings += faults_of(made, FAULTS)
    return made


def _drawn(rng: random.Random) -> dict[str, Any]:
    """Draw the names of one try: one nasty text each, or several on end."""

    def text() -> str:
        return (
            "".join(rng.choices(NASTY[:-3], k=rng.choice((1, 1, 2))))
            .replace("\ud800", "?")
            .replace("\x00", "")
        )

    def several(count: int) -> list[str]:
        # Names of one letter more stay different where their nasty parts are not.
        return [text() + letter for letter in "abc"[:count]]

    # A backslash parts folders elsewhere: a path that holds one is not followed by `verify`.
    file = re.sub(r"[/\\\x00]", "?", text())
    return {
        "models": several(3), "classes": several(2), "column": text() + "c", "values": several(2),
        "title": text(), "series": text() if rng.random() < 0.3 else "nightly", "file": file[:60].lstrip(".") or "all",
    }  # fmt: skip


def _made(names: dict[str, Any], base: Path) -> dict[str, Any]:
    """Put the names into predictions and through every command; return exit codes and what was printed."""
    base.mkdir()
    stream = io.StringIO(newline="")
    table = csv.writer(stream)
    table.writerow(["id", "model", "y_true", "y_pred", names["column"]])
    first, second = names["classes"]
    for m, model in enumerate(names["models"]):
        for i in range(40):
            said = second if (i * (m + 2)) % 5 else first
            table.writerow([f"e{i}", model, first if i % 3 else second, said, names["values"][i % 2]])
    models = base / f"{names['file']}.csv"
    models.write_text(stream.getvalue(), encoding="utf-8", errors="replace", newline="")
    history = ("--history", f"sqlite:///{base / 'audits.db'}")
    series = f"--series={names['series']}"
    options = (
        f"--slice={names['column']}",
        f"--title={names['title']}",
        "--junit",
        base / "out" / "gates.xml",
    )
    quick = tuple(word for word in QUICK if word != "-q")
    commands: list[tuple[object, ...]] = [
        ("audit", models, "-o", base / "out", *history, series, *quick, *options, "--gate", "n >= 5"),
        ("check", models),
        ("history", "list", *history),
        ("history", "show", "1", *history),
        ("history", "site", base / "site", *history),
        ("compare-runs", base / "out", base / "out"),
        ("compare-runs", base / "out", base / "out", "-f", "md", "-o", base / "changes.md"),
        ("verify", base / "out", "--inputs", base),
    ]
    codes, printed = [], ""
    for command in commands:
        code, said = from_child(partial(_captured, command))
        codes.append(code)
        printed += said
        if code == 2 and command[0] == "audit":
            break  # these names are bad input: there is nothing to go on with
    return {"codes": codes, "printed": printed, "base": base}


def _captured(words: tuple[object, ...]) -> tuple[int, str]:
    out = io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(out):
        code = evalreport(*words)
    return code, out.getvalue()


def _judged(names: dict[str, Any], made: dict[str, Any], plain: dict[str, Any]) -> set[str]:
    found = set()
    codes, printed, base = made["codes"], made["printed"], made["base"]
    if not set(codes) <= {0, 1, 2, 3} or "Traceback" in printed:
        found.add("failed")
    shapeless = {c for c in printed if unicodedata.category(c) in SHAPELESS} - set("\n\t\u200c\u200d")
    if shapeless or re.search(r"^::", printed, flags=re.MULTILINE):
        found.add("control")
    if codes[0] == 2:
        return found or {"refused"}
    if any(codes[1:]):
        found.add("failed")
    for page in ("out/report.html", "site/index.html"):
        found |= {"markup"} - ({"markup"} if _within(base / page, plain["base"] / page) else set())
    for text in ("out/summary.md", "changes.md"):
        own, usual = (tokens((b / text).read_text("utf-8")) for b in (base, plain["base"]))
        if not set(own) <= set(usual):
            found.add("markup")
    ET.parse(base / "out" / "gates.xml")  # noqa: S314 - our own
    results = json.loads((base / "out" / "results.json").read_text("utf-8"))
    if {name.strip() for name in results["models"]} != {name.strip() for name in names["models"]}:
        found.add("changed")
    return found or {"shown"}


def _within(page: Path, plain: Path) -> bool:
    """Say whether a page holds no element, attribute, script or address that the page of plain names does not."""
    own, usual = (structure(path.read_text("utf-8")) for path in (page, plain))
    scripts = [[tag for tag, _ in found.elements].count("script") for found in (own, usual)]
    addresses = all(address.startswith("#") or address in usual.addresses for address in own.addresses)
    return set(own.elements) <= set(usual.elements) and scripts[0] == scripts[1] and addresses


def _opened(browser: Any, page: Path) -> str:
    context = browser.new_context()
    try:
        seen = opened(context, page)
        use_everything(seen.page)
        asked = [url for url in seen.requests if not url.startswith("data:")]
        return "silent" if not seen.console and asked == [page.as_uri()] else "acts"
    finally:
        context.close()
