"""The HTML report, one file that works offline under a content security policy without exceptions, and the PDF."""

from __future__ import annotations

import base64
import contextlib
import dataclasses
import hashlib
import io
import logging
import re
import warnings
from collections.abc import Callable, Mapping
from datetime import datetime
from functools import lru_cache
from pathlib import Path
from typing import Any

import jinja2
from jinja2.loaders import split_template_path
from jinja2.sandbox import ImmutableSandboxedEnvironment
from markupsafe import Markup

from evalreport.errors import OutputError
from evalreport.plots.style import FONT_FOLDER, MARKS, TOKENS, inline
from evalreport.report.brand import (
    TOKEN,
    Brand,
    TemplateError,
    brand_of,
    check_templates,
    file_of,
    running_foot,
    with_colours,
)
from evalreport.report.naming import visible, without_missing_glyphs
from evalreport.report.sections import Described
from evalreport.report.view import View
from evalreport.texts import Message, group_of, in_words, say

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
    brand = brand_of(templates)
    css = with_colours(source(env, "report.css"), brand)
    style = css + source(env, "brand.css") + hiding_rules([m.key for m in view.models]) + font_faces("woff2")
    script = source(env, "report.js")
    return _page(env, brand, view, sections, figures, title=title, time=time, medium="html",
                 style=style, script=script, policy=policy_of(style, script))  # fmt: skip


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
    return _page(env, brand, view, sections, figures, title=title, time=time,
                 medium="brief" if brief else "full", style=style,
                 colours=light_tokens(css))  # fmt: skip


def _page(
    env: Sandbox,
    brand: Brand,
    view: View,
    sections: tuple[Described, ...],
    figures: Mapping[str, str],
    *,
    title: str | None,
    time: datetime,
    medium: str,
    style: str,
    script: str = "",
    policy: str = "",
    colours: Mapping[str, str] | None = None,
) -> str:
    def paint(token: str) -> str:
        return f"var(--{token})" if colours is None else colours[token]

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
        "own_id": unique_ids(),
        # A data URI of our own making: as a text it would be cut like any endless word.
        "brand": dataclasses.replace(brand, logo=Markup(brand.logo)),  # noqa: S704
        "words": group_of("page"),
        "version": view.results.environment.get("evalreport", ""),
    }
    context["part"] = _parts(env, context, sections)
    return rendered(env, "base.html.j2", context)


def _parts(env: Sandbox, context: dict[str, Any], sections: tuple[Described, ...]) -> Callable[[str], Markup]:
    """Give the function by which the page asks for a section; one that has nothing to say is empty."""
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


def policy_of(style: str, script: str) -> str:
    """Return the policy under which a browser applies this style and runs this script, and fetches nothing."""
    digests = (base64.b64encode(hashlib.sha256(text.encode()).digest()).decode() for text in (style, script))
    sources = "style-src 'sha256-{}'; script-src 'sha256-{}'".format(*digests)
    return (
        f"default-src 'none'; {sources}; img-src data:; font-src data:; base-uri 'none'; form-action 'none'"
    )


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
    laid_out = document.render(pdf_variant="pdf/a-3a", pdf_tags=True)
    laid_out.metadata.attachments = [data]
    laid_out.metadata.created = laid_out.metadata.modified = when.strftime("%Y-%m-%dT%H:%M:%SZ")
    laid_out.metadata.generate_rdf_metadata = _with_accessibility(laid_out.metadata.generate_rdf_metadata)
    identifier = hashlib.sha256(page.encode() + attachment).hexdigest()[:32].encode()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ResourceWarning)  # it leaves its colour profile open
        result: bytes = laid_out.write_pdf(pdf_variant="pdf/a-3a", pdf_tags=True, pdf_identifier=identifier)
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


SECTION_BLOCKS = "{# section_blocks #}"
"""The mark in ``base.html.j2`` at which every section of the report has its block."""


class Sandbox(ImmutableSandboxedEnvironment):
    """An environment in which no list or mapping can be changed, and records are data: none of their methods is there.

    What a record can do besides (draw itself, turn into a data frame that writes files) is for Python.
    """

    def is_safe_attribute(self, obj: Any, attr: str, value: Any) -> bool:
        """Whether a template may read an attribute."""
        if dataclasses.is_dataclass(obj):
            first = value[0] if isinstance(value, tuple) and value else value
            if callable(first):
                return False
            if not isinstance(obj, type):
                # Asked some thousand times a page: Jinja would go through every kind of function and collection.
                return not attr.startswith("_")
        return super().is_safe_attribute(obj, attr, value)

    def preprocess(self, source: str, name: str | None = None, filename: str | None = None) -> str:
        """Put the blocks of all sections at their mark, on one line: each has one without a line in the template."""
        if SECTION_BLOCKS in source:
            from evalreport.report.sections import SECTIONS  # which draw: not for who only copies templates

            block = '{%% block section_%s %%}{{ part("%s") }}{%% endblock %%}'
            blocks = "".join(block % (section.name, section.name) for section in SECTIONS)
            # Here they are only defined; the page calls them by name.
            source = source.replace(SECTION_BLOCKS, f"{{% if false %}}{blocks}{{% endif %}}")
        return super().preprocess(source, name, filename)


class OwnFolder(jinja2.FileSystemLoader):
    """The user's folder of templates; a link that leads out of it is refused."""

    def __init__(self, folder: Path) -> None:
        super().__init__(folder)
        self.folder = folder

    def get_source(self, environment: jinja2.Environment, template: str) -> Any:
        """Give a template's text, its path, and how to see that it changed.

        Raises
        ------
        TemplateError
            It lies outside of the folder.
        """
        file_of(self.folder, "/".join(split_template_path(template)))
        return super().get_source(environment, template)


@lru_cache(maxsize=1)
def template_folder() -> Path:
    """Find the built-in templates: inside the installed package, or at the top of the checkout.

    Raises
    ------
    FileNotFoundError
        When they are in neither place: the installation is broken.
    """
    package = Path(__file__).resolve().parent.parent
    for folder in (package / "templates", package.parent / "templates"):
        if (folder / "base.html.j2").is_file():
            return folder
    raise FileNotFoundError(f"the built-in templates are missing beside {package}: install evalreport again")


def environment(user_folder: Path | None, finalize: Callable[[Any], Any] | None = None) -> Sandbox:
    """Make the environment that every template is rendered in.

    Parameters
    ----------
    user_folder
        Its templates take precedence over the built-in ones, which can still be named as ``evalreport/...``.
    finalize
        What every printed expression passes through; without it, text is made visible and HTML is escaped.

    Raises
    ------
    UsageError
        When the user's folder does not exist.
    """
    built_in = jinja2.FileSystemLoader(template_folder())
    loaders: list[jinja2.BaseLoader] = [built_in, jinja2.PrefixLoader({"evalreport": built_in})]
    if user_folder is not None:
        check_templates(user_folder)
        loaders.insert(0, OwnFolder(user_folder))
    made = Sandbox(
        loader=jinja2.ChoiceLoader(loaders),
        autoescape=finalize is None,
        finalize=finalize or _visible,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    made.globals["say"] = say
    made.filters |= {"held": held, "unbroken": unbroken}
    return made


def _visible(value: Any) -> Any:
    """Make plain text visible; mark-up of our own (it has ``__html__``) is left as it is."""
    return visible(value) if isinstance(value, (str, Message)) and not hasattr(value, "__html__") else value


def rendered(env: Sandbox, template: str, context: dict[str, Any]) -> str:
    """Render one template; any mistake in a user's template becomes a message with file and line.

    Raises
    ------
    TemplateError
        When the template cannot be rendered, whatever it did: it is not ours.
    """
    try:
        return env.get_template(template).render(context)
    except jinja2.TemplateSyntaxError as error:
        place = f"template {error.filename or error.name}, line {error.lineno}"
        raise TemplateError(f"{place}: {error.message}") from error
    except jinja2.TemplateNotFound as error:
        raise TemplateError(f"{_place(error, template)}: there is no template {error.name!r}") from error
    except (TemplateError, MemoryError):
        raise  # from a section inside: its place is known; and of memory there is a limit
    except Exception as error:  # a template may divide by zero, or recurse without end
        raise TemplateError(f"{_place(error, template)}: {type(error).__name__}: {error}") from error


def _place(error: Exception, template: str) -> str:
    """Name the file and the line of the innermost template in which the error was raised."""
    place = f"template {template}"
    trace = error.__traceback__
    while trace is not None:
        # The engine gives a template's frames the template's own file and line.
        if ".j2" in trace.tb_frame.f_code.co_filename:
            place = f"template {trace.tb_frame.f_code.co_filename}, line {trace.tb_lineno}"
        trace = trace.tb_next
    return place


def source(env: Sandbox, name: str) -> str:
    """Give a file of the search path as it stands (style sheets, the script).

    Raises
    ------
    TemplateError
        When the user's file is not UTF-8.
    """
    assert env.loader is not None
    try:
        return env.loader.get_source(env, name)[0]
    except UnicodeDecodeError as error:
        raise TemplateError(f"template {name} is not UTF-8: {error}") from error


def font_faces(kind: str) -> str:
    """Give the shipped fonts as CSS, embedded; ``kind`` is ``woff2`` for browsers or ``ttf`` for the PDF."""
    faces = []
    for family, file, weight in (("Inter", "Regular", 400), ("Inter", "SemiBold", 600)):
        data = base64.b64encode((FONT_FOLDER / f"Inter-{file}.{kind}").read_bytes()).decode()
        faces.append(
            f"@font-face{{font-family:{family};font-weight:{weight};font-display:swap;"
            f"src:url(data:font/{kind};base64,{data})}}"
        )
    return "\n".join(faces) + "\n"


def light_tokens(css: str) -> dict[str, str]:
    """Give the light theme's colours by token; for charts, those of the shipped style where the CSS has none."""
    shipped = {token: colour for colour, token in TOKENS.items()}
    return shipped | {name: light.strip() for name, light, _ in TOKEN.findall(css)}


def for_paper(css: str) -> str:
    """Replace every ``light-dark()`` and ``var()`` by the light theme's value."""
    tokens = light_tokens(css)
    css = re.sub(r"light-dark\(([^,()]+),([^,()]+)\)", lambda match: match[1].strip(), css)
    return re.sub(r"var\(--([\w-]+)\)", lambda match: tokens.get(match[1], match[0]), css)


def hiding_rules(keys: list[str]) -> str:
    """Give the rules by which the legend hides a model everywhere at once."""
    return "".join(f".hide-{key} .{key}{{display:none}}" for key in keys) + "\n"


def breakable(name: str) -> Markup:
    """Allow a name to break after its joints, as in ``random_`` ``forest``."""
    return Markup("<wbr>").join(
        Markup.escape(part) for part in re.split(r"(?<=[_\-./ ])(?=\w)", visible(name))
    )


LONGEST_UNBROKEN = 20
_HELD = re.compile(r"(?<=\d) (?=%)|(?<=\b[np]) (?=[=<>] )|(?<=[=<>≤≥]) (?=[\d−])| (?=±)| (?=\S{1,6}$)")


def held(text: object) -> str:
    """Keep on one line what is read as one: a number and its sign, ``n = 37``, and the last two words of a heading.

    Examples
    --------
    >>> held("fell from 94.6 % (n = 37) to 18.4 %").replace("\u00a0", "_")
    'fell from 94.6_% (n_=_37) to 18.4_%'
    """
    return _HELD.sub("\u00a0", str(text))


def unbroken(text: object) -> Markup:
    """Keep words such as ``mid-p`` and ``--test`` in one line: a browser would break them after the hyphen.

    For our own texts: in one from a file it would let a name decide how many elements the page has.

    Examples
    --------
    >>> str(unbroken("by the mid-p test"))
    'by the <span class="unbroken">mid-p</span> test'
    """

    def one(word: str) -> Markup:
        within = Markup.escape(word)
        short = "-" in word and len(word) <= LONGEST_UNBROKEN
        return Markup('<span class="unbroken">{}</span>').format(within) if short else within

    return Markup("").join(one(part) for part in re.split(r"(\s+)", visible(str(text))))


def colour_class(index: int) -> str:
    """Give the class that colours a model's symbol."""
    return f"c{index % len(MARKS)}"


def colour_name(index: int) -> str:
    """Give the token of a model's colour."""
    return f"m{index % len(MARKS)}"
