"""The HTML report, one file that works offline under a content security policy without exceptions, and the PDF."""

from __future__ import annotations

import base64
import contextlib
import dataclasses
import gc
import hashlib
import io
import logging
import re
import warnings
from collections.abc import Callable, Mapping
from datetime import datetime
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any

from evalreport.errors import OutputError
from evalreport.plots.style import inline
from evalreport.report.brand import brand_of, running_foot, with_colours
from evalreport.report.naming import without_missing_glyphs
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


REMEDY = "on Debian or Ubuntu: apt-get install libpango-1.0-0 libpangoft2-1.0-0 libharfbuzz-subset0"

UA_EXTENSION = b"""<rdf:Description rdf:about="" xmlns:pdfuaid="http://www.aiim.org/pdfua/ns/id/">\
<pdfuaid:part>1</pdfuaid:part></rdf:Description>\
<rdf:Description rdf:about="" xmlns:pdfaExtension="http://www.aiim.org/pdfa/ns/extension/" \
xmlns:pdfaSchema="http://www.aiim.org/pdfa/ns/schema#" xmlns:pdfaProperty="http://www.aiim.org/pdfa/ns/property#">\
<pdfaExtension:schemas><rdf:Bag><rdf:li rdf:parseType="Resource">\
<pdfaSchema:schema>PDF/UA Universal Accessibility Schema</pdfaSchema:schema>\
<pdfaSchema:namespaceURI>http://www.aiim.org/pdfua/ns/id/</pdfaSchema:namespaceURI>\
<pdfaSchema:prefix>pdfuaid</pdfaSchema:prefix>\
<pdfaSchema:property><rdf:Seq><rdf:li rdf:parseType="Resource">\
<pdfaProperty:name>part</pdfaProperty:name><pdfaProperty:valueType>Integer</pdfaProperty:valueType>\
<pdfaProperty:category>internal</pdfaProperty:category>\
<pdfaProperty:description>Indicates, which part of ISO 14289 standard is followed</pdfaProperty:description>\
</rdf:li></rdf:Seq></pdfaSchema:property></rdf:li></rdf:Bag></pdfaExtension:schemas></rdf:Description>"""


def pdf_bytes(page: str, attachment: bytes, *, time: datetime) -> bytes:
    """Turn a page into a PDF with the results attached.

    Parameters
    ----------
    page
        The whole HTML document, its style and fonts inside.
    attachment
        The bytes of results.json.
    time
        Of the run: the document bears its day.

    Raises
    ------
    OutputError
        When a system library is missing that this needs; the message says how to install it.
    """
    weasyprint = _weasyprint()
    when = time.replace(hour=0, minute=0, second=0, microsecond=0)
    fetcher = weasyprint.urls.URLFetcher(allowed_protocols=["data"], allow_redirects=False)
    document = weasyprint.HTML(string=without_missing_glyphs(page), base_url=None, url_fetcher=fetcher)
    data = weasyprint.Attachment(
        string=attachment, name="results.json", description="The results, as numbers", created=when, modified=when,
        relationship="Data", url_fetcher=fetcher,
    )  # fmt: skip
    enabled = gc.isenabled()
    gc.disable()  # a third of the time otherwise goes to looking at boxes that are all alive
    try:
        laid_out = document.render(pdf_variant="pdf/a-3a", pdf_tags=True)
        laid_out.metadata.attachments = [data]
        laid_out.metadata.created = laid_out.metadata.modified = when.strftime("%Y-%m-%dT%H:%M:%SZ")
        laid_out.metadata.generate_rdf_metadata = _with_accessibility(laid_out.metadata.generate_rdf_metadata)
        identifier = hashlib.sha256(page.encode() + attachment).hexdigest()[:32].encode()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ResourceWarning)  # it leaves its colour profile open
            result: bytes = laid_out.write_pdf(
                pdf_variant="pdf/a-3a", pdf_tags=True, pdf_identifier=identifier
            )
    finally:
        if enabled:
            gc.enable()
    return result


def _with_accessibility(generate: Callable[..., bytes]) -> Callable[..., bytes]:
    """Add the PDF/UA part inside the single RDF block: PDF/A forbids a second one."""

    def generate_both(*arguments: Any) -> bytes:
        return generate(*arguments).replace(b"</rdf:RDF>", UA_EXTENSION + b"</rdf:RDF>")

    return generate_both


def _weasyprint() -> Any:
    """Import WeasyPrint quietly: without Pango it prints a banner on stdout and raises OSError."""
    try:
        with contextlib.redirect_stdout(io.StringIO()):
            import weasyprint
            from weasyprint.text.ffi import harfbuzz_subset
    except (OSError, ImportError) as error:
        raise OutputError(f"the PDF needs Pango, which is missing; {REMEDY}") from error
    if harfbuzz_subset is None:
        raise OutputError(f"the PDF needs HarfBuzz's subsetting library, which is missing; {REMEDY}")
    for name in ("weasyprint", "fontTools", "fontTools.subset"):
        logging.getLogger(name).setLevel(logging.ERROR)
    return weasyprint
