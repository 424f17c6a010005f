"""Anchors of a page: every section, part, figure and table can be linked to, and shows its link on hover and focus."""

from __future__ import annotations

import re
from collections.abc import Callable
from html import escape

from evalreport.texts import say

PART = re.compile(
    r'<section id="(?P<section>[\w-]+)"'
    r'|<h2(?P<plain>[^>]*) id="(?P<of>[\w-]+)-title">(?P<title>.*?)</h2>'
    r"|<details(?P<kind>[^>]*)><summary>(?P<summary>.*?)</summary>"
    r"|<h3>(?P<heading>.*?)</h3>"
    r'|<div class="scroll" role="region" aria-label="(?P<table>[^"]*)"'
    r'|<figure[^>]* id="(?P<figure>[\w-]+)">'
    r"|</figcaption>",
    re.DOTALL,
)
LONGEST = 60


def with_anchors(page: str) -> str:
    """Give headings, folded parts, tables and figures an id of their own and a link to it.

    The script at the end of the page is left as it stands: its digest is in the policy.

    Examples
    --------
    >>> with_anchors('<section id="a"><h3>Single classes</h3>')
    '<section id="a"><h3 id="a--single-classes">Single classes <a class="anchor" href="#a--single-classes" ...'
    """
    body, script, rest = page.partition("<script>")
    return PART.sub(_anchoring(), body) + script + rest


def _anchoring() -> Callable[[re.Match[str]], str]:
    taken: set[str] = set()
    section, figure = "report", ""

    def own_id(text: str) -> str:
        """Make an id of a text, which is from a file perhaps: letters, digits and joints only."""
        words = re.sub(r"<[^>]*>|&[#\w]+;", " ", text).lower()
        slug = f"{section}--" + re.sub(r"[^a-z0-9]+", "-", words).strip("-")[:LONGEST]
        candidate, k = slug, 2
        while candidate in taken:
            candidate, k = f"{slug}-{k}", k + 1
        taken.add(candidate)
        return candidate

    def replacement(match: re.Match[str]) -> str:
        """Return what takes the place of one match, and remember the section or figure that it begins."""
        nonlocal section, figure
        if match["section"]:
            section = match["section"]
        elif match["of"]:
            # The link is no part of the heading's name.
            of, title = match["of"], match["title"]
            named = f'<h2{match["plain"]} aria-labelledby="{of}-title"><span id="{of}-title">{title}</span>'
            return f"{named} {_link(of, 'page.link')}</h2>"
        elif match["summary"]:
            own = own_id(match["summary"])
            return f'<details{match["kind"]} id="{own}"><summary>{match["summary"]}</summary>{_link(own, "page.link")}'
        elif match["heading"]:
            own = own_id(re.sub(r"<small>.*?</small>", "", match["heading"], flags=re.DOTALL))
            return f'<h3 id="{own}">{match["heading"]} {_link(own, "page.link")}</h3>'
        elif match["table"] is not None:
            return f'{match[0]} id="{own_id("table " + match["table"])}"'
        elif match["figure"]:
            figure = match["figure"]
        elif figure:
            return f" {_link(figure, 'page.link_figure')}</figcaption>"
        return match[0]

    return replacement


def _link(target: str, word: str) -> str:
    return f'<a class="anchor" href="#{target}" aria-label="{escape(say(word))}">#</a>'
