"""A figure as SVG: the same bytes twice, real text, a title, no style attribute, a model's parts by class."""

from __future__ import annotations

import io
import re
import xml.etree.ElementTree as ET
from collections.abc import Mapping
from typing import TYPE_CHECKING

from evalreport.plots.style import TOKENS

if TYPE_CHECKING:
    from matplotlib.figure import Figure

SVG, XLINK = "http://www.w3.org/2000/svg", "http://www.w3.org/1999/xlink"
HREF = f"{{{XLINK}}}href"
NUMBER, LONG = re.compile(r"-?\d+\.\d{2,}"), 400
FONT = re.compile(r"(?P<words>.*?)(?P<size>[\d.]+)px\s+(?P<family>.+)")
OWN = re.compile(r"m\d+(?:_m\d+)*--")
"""Begins the id of a model's part, or of a pair's."""
PRESENTATION = re.compile(
    "fill|stroke|stroke-(width|dasharray|dashoffset|linecap|linejoin|opacity|miterlimit)|fill-opacity|opacity|"
    "text-anchor|clip-path|(clip|fill)-rule|font-(size|family|weight|style)"
)
"""What a content security policy without 'unsafe-inline' forbids as a style is allowed as an attribute."""
NOTHING = {"stroke-dasharray": "none", "stroke-dashoffset": "0", "opacity": "1"}


def to_svg(figure: Figure, *, name: str, title: str, description: str) -> str:
    """Write a matplotlib figure as an SVG document.

    Parameters
    ----------
    name
        Begins every id in the document, so that several stand in one page.
    title, description
        What the figure shows, for whoever cannot see it.
    """
    import matplotlib as mpl

    buffer = io.BytesIO()
    nothing = {"Date": None, "Creator": None, "Format": None, "Type": None}
    with mpl.rc_context({"svg.hashsalt": name, "svg.fonttype": "none"}):
        figure.savefig(buffer, format="svg", metadata=nothing)
    root = ET.fromstring(buffer.getvalue())  # noqa: S314  matplotlib's own output, from a line above
    for parent in list(root.iter()):
        for child in [c for c in parent if c.tag in {f"{{{SVG}}}metadata", f"{{{SVG}}}style"}]:
            parent.remove(child)
    used = set(re.findall(r'(?:url\(|href=")#([^)"]+)', buffer.getvalue().decode()))
    for element in root.iter():
        _clean(element, name, used)
    for place, (tag, text) in enumerate((("title", title), ("desc", description))):
        child = ET.Element(f"{{{SVG}}}{tag}", {"id": f"{name}-{tag}"})
        child.text = text
        root.insert(place, child)
    root.set("role", "img")
    root.set("aria-labelledby", f"{name}-title {name}-desc")
    ET.register_namespace("", SVG)
    ET.register_namespace("xlink", XLINK)
    return ET.tostring(root, encoding="unicode") + "\n"


def _clean(element: ET.Element, name: str, used: set[str]) -> None:
    """Turn styles into attributes, round numbers, keep the ids that are needed and begin them with the name."""
    if not (element.text or "").strip():
        element.text = None
    element.tail = None
    declarations = [d.split(":", 1) for d in element.attrib.pop("style", "").split(";") if ":" in d]
    for key, value in ((k.strip(), v.strip()) for k, v in declarations):
        font = FONT.fullmatch(value) if key == "font" else None
        if font is not None:
            weight = re.search(r"\b\d00\b|\bbold\b", font["words"])
            element.attrib |= {"font-weight": weight[0]} if weight else {}
            element.attrib |= {"font-size": font["size"], "font-family": font["family"].replace("'", "")}
        elif PRESENTATION.fullmatch(key) and NOTHING.get(key) != value:
            element.set(key, value)
    own = element.attrib.pop("id", "")
    if OWN.match(own):
        element.set("class", " ".join(["series", *own.partition("--")[0].split("_")]))
    if OWN.match(own) or own in used:
        element.set("id", f"{name}-{own}")
    # A marker's outline is drawn anywhere; a tenth of a point is enough for a long line.
    decimals = 1 if len(element.get("d", "")) > LONG else 2
    for key, value in element.attrib.items():
        if key == HREF:
            element.set(key, f"#{name}-{value[1:]}")
        elif "url(#" in value:
            element.set(key, value.replace("url(#", f"url(#{name}-"))
        elif key in ("d", "x", "y", "transform"):
            element.set(key, NUMBER.sub(lambda match: f"{float(match[0]):.{decimals}f}", value).strip())


def inline(svg: str, values: Mapping[str, str] | None = None) -> str:
    """Make a document into a part of a page, scaled by its box.

    Parameters
    ----------
    values
        The colour of each token; without it each becomes a CSS variable, which follows the theme.
    """

    def paint(match: re.Match[str]) -> str:
        token = TOKENS.get(match[1].lower())
        if token is None:
            return match[0]
        return f'"var(--{token})"' if values is None else f'"{values[token]}"'

    body = re.sub(r'"(#[0-9a-fA-F]{6})"', paint, svg)
    head, rest = body.split(">", 1)
    return re.sub(r'\s(width|height)="[^"]*"', "", head) + ">" + rest.rstrip("\n")
