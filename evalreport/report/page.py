"""The page: all sections in one HTML document, for browsers and as the source of the PDF."""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Callable, Mapping
from datetime import datetime
from pathlib import Path
from typing import Literal

from markupsafe import Markup

from evalreport.plots.style import inline
from evalreport.report.brand import brand_of, running_foot, with_colours
from evalreport.report.evidence import Evidence
from evalreport.report.isolation import isolated
from evalreport.report.sections import Described
from evalreport.report.stylesheets import (
    colour_class,
    colour_name,
    font_faces,
    for_paper,
    hiding_rules,
    light_tokens,
    policy_of,
)
from evalreport.report.templates import environment, rendered, source
from evalreport.report.typography import breakable
from evalreport.report.view import View
from evalreport.texts import group_of, in_words, say
from evalreport.texts.visible import visible

LONGEST_ID = 60
"""Characters of an id that are taken from a title."""


def unique_ids() -> Callable[[str, object], str]:
    """Return the function that gives each part of one page an id: its section's name, then its title.

    Examples
    --------
    >>> own_id = unique_ids()
    >>> own_id("slices", "By ward & age"), own_id("slices", "By ward, age")
    ('slices--by-ward-age', 'slices--by-ward-age-2')
    """
    taken: set[str] = set()

    def own_id(section: str, title: object) -> str:
        # A title may come from a file: letters, digits and hyphens only.
        text = title.striptags() if isinstance(title, Markup) else visible(str(title))
        slug = f"{section}--" + re.sub(r"[^a-z0-9]+", "-", text.lower()).strip("-")[:LONGEST_ID]
        candidate, k = slug, 2
        while candidate in taken:
            candidate, k = f"{slug}-{k}", k + 1
        taken.add(candidate)
        return candidate

    return own_id


Medium = Literal["html", "brief", "full"]
"""A page for browsers; or the source of a PDF, brief or in full detail."""


def page(
    view: View,
    sections: tuple[Described, ...],
    figures: Mapping[str, str],
    *,
    medium: Medium = "html",
    title: str | None = None,
    templates: Path | None = None,
    time: datetime,
    evidence: Evidence | None = None,
) -> str:
    """Write the page for browsers, or the one that becomes the PDF: in light colours, without script.

    Parameters
    ----------
    figures
        SVG documents by name.
    title
        The report's title; one is made from the models if None.
    templates
        The user's folder of templates.
    time
        The time of the run; the page shows its day at the top.
    evidence
        The pages to sign, of the PDF; None: none.
    """
    env, brand = environment(templates), brand_of(templates)
    css = with_colours(source(env, "report.css"), brand)
    if medium == "html":
        colours, script = None, source(env, "report.js")
        style = (
            css + source(env, "brand.css") + hiding_rules([m.key for m in view.models]) + font_faces("woff2")
        )
    else:
        colours, script = light_tokens(css), ""
        style = for_paper(css + source(env, "print.css") + source(env, "brand.css"))
        style += running_foot(brand) + font_faces("ttf")
    described = {section.name: section for section in sections}

    def paint(token: str) -> str:
        return f"var(--{token})" if colours is None else colours[token]

    def part(name: str) -> Markup:
        """Render a section, which the environment escapes; nothing where it has no content."""
        if name not in described:
            return Markup()
        return Markup(rendered(env, "section.html.j2", context | {"section": described[name]}))  # noqa: S704

    context: dict[str, object] = {
        "title": title or say("report.title", n=len(view.models), number=in_words(len(view.models))),
        "date": day(time),
        "view": view,
        "sections": sections,
        # These are our own mark-up: the shipped or the user's own files, and drawings whose texts were escaped.
        "figures": {name: Markup(inline(svg, colours)) for name, svg in figures.items()},  # noqa: S704
        "style": Markup(style),  # noqa: S704
        "script": Markup(script),  # noqa: S704
        "policy": policy_of(style, script) if medium == "html" else "",
        "medium": medium,
        "paper": medium != "html",
        "brief": medium == "brief",
        "paint": paint,
        "colour_class": colour_class,
        "colour_name": colour_name,
        "breakable": breakable,
        "evidence": evidence,
        "own_id": unique_ids(),
        # A data URI of our own making: as a text it would be cut like any endless word.
        "brand": dataclasses.replace(brand, logo=Markup(brand.logo)),  # noqa: S704
        "words": group_of("page"),
        "version": view.results.environment.get("evalreport", ""),
    }
    return isolated(rendered(env, "base.html.j2", context | {"part": part}))


def day(time: datetime) -> str:
    """Write the day of the run as people do: ``22 November 2026``."""
    return f"{time.day} {say(f'month.{time.month}')} {time.year}"
