"""The HTML report: one file that works offline, under a content security policy without exceptions."""

from __future__ import annotations

import base64
import dataclasses
import hashlib
import re
from collections.abc import Callable, Mapping
from datetime import datetime
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any

from evalreport.plots.style import inline
from evalreport.report.brand import brand_of, running_foot, with_colours
from evalreport.report.page import (
    breakable,
    colour_class,
    colour_name,
    environment,
    font_faces,
    for_paper,
    hiding_rules,
    light_tokens,
    rendered,
    source,
)
from evalreport.report.sections import Described
from evalreport.report.view import View
from evalreport.texts import group_of, in_words, say

if TYPE_CHECKING:
    from markupsafe import Markup

    from evalreport.report.page import Sandbox


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


def html_page(
    view: View,
    sections: tuple[Described, ...],
    figures: Mapping[str, str],
    *,
    title: str | None = None,
    templates: Path | None = None,
    time: datetime,
) -> str:
    """Write the page for browsers.

    Parameters
    ----------
    figures
        SVG documents by name.
    title
        The report's title; one is made from the models if None.
    templates
        The user's folder of templates.
    time
        Of the run: its day stands at the top.
    """
    env = environment(templates)
    css = with_colours(source(env, "report.css"), brand_of(templates))
    style = css + source(env, "brand.css") + hiding_rules([m.key for m in view.models]) + font_faces("woff2")
    script = source(env, "report.js")
    policy = (
        f"default-src 'none'; style-src 'sha256-{_digest(style)}'; script-src 'sha256-{_digest(script)}'; "
        "img-src data:; font-src data:; base-uri 'none'; form-action 'none'"
    )
    page = _page(view, sections, figures, title=title, templates=templates, time=time, medium="html",
                 style=style, script=script, policy=policy)  # fmt: skip
    return with_anchors(page)


def paper_page(
    view: View,
    sections: tuple[Described, ...],
    figures: Mapping[str, str],
    *,
    title: str | None = None,
    templates: Path | None = None,
    brief: bool = True,
    time: datetime,
) -> str:
    """Write the page that becomes the PDF: the same templates, light colours, no script.

    The parameters are those of `html_page`; ``brief`` leaves long tables out.
    """
    env = environment(templates)
    brand = brand_of(templates)
    css = with_colours(source(env, "report.css"), brand)
    style = for_paper(css + source(env, "print.css") + source(env, "brand.css"))
    style += running_foot(brand) + font_faces("ttf")
    return _page(view, sections, figures, title=title, templates=templates, time=time,
                 medium="brief" if brief else "full", style=style, script="", policy="",
                 colours=light_tokens(css))  # fmt: skip


def _page(
    view: View,
    sections: tuple[Described, ...],
    figures: Mapping[str, str],
    *,
    title: str | None,
    templates: Path | None,
    time: datetime,
    medium: str,
    style: str,
    script: str,
    policy: str,
    colours: Mapping[str, str] | None = None,
) -> str:
    from markupsafe import Markup

    def paint(token: str) -> str:
        return f"var(--{token})" if colours is None else colours[token]

    env = environment(templates)
    brand = brand_of(templates)
    context = {
        "title": title or say("report.title", n=len(view.models), number=in_words(len(view.models))),
        "date": day(time),
        "view": view,
        "sections": sections,
        # These are our own mark-up: the shipped or the user's own files, and drawings whose texts were escaped.
        "figures": {name: Markup(inline(svg, colours)) for name, svg in figures.items()},  # noqa: S704
        "style": Markup(style),  # noqa: S704
        "script": Markup(script),  # noqa: S704
        "policy": policy,
        "medium": medium,
        "paper": medium != "html",
        "brief": medium == "brief",
        "paint": paint,
        "colour_class": colour_class,
        "colour_name": colour_name,
        "breakable": breakable,
        # A data URI of our own making: as a text it would be cut like any endless word.
        "brand": dataclasses.replace(brand, logo=Markup(brand.logo)),  # noqa: S704
        "words": group_of("page"),
        "version": view.results.environment.get("evalreport", ""),
    }
    context["part"] = _parts(env, context, sections)
    return rendered(env, "base.html.j2", context)


def _parts(env: Sandbox, context: dict[str, Any], sections: tuple[Described, ...]) -> Callable[[str], Markup]:
    """Give the function by which the page asks for a section; one that has nothing to say is empty."""
    from markupsafe import Markup

    described = {section.name: section for section in sections}

    def part(name: str) -> Markup:
        if name not in described:
            return Markup()
        # Rendered by an environment that escapes.
        return Markup(rendered(env, "section.html.j2", context | {"section": described[name]}))  # noqa: S704

    return part


def day(time: datetime) -> str:
    """Write the day of the run as people do: ``22 November 2026``."""
    return f"{time.day} {say(f'month.{time.month}')} {time.year}"


def _digest(text: str) -> str:
    return base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
