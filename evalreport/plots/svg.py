"""A figure as SVG: the same bytes twice, real text, a title, no style attribute, a model's parts by class."""

from __future__ import annotations

import io
import re
import xml.etree.ElementTree as ET
from collections.abc import Mapping
from typing import Any

from evalreport.plots.compact import compact
from evalreport.plots.style import TOKENS

SVG = "http://www.w3.org/2000/svg"
XLINK = "http://www.w3.org/1999/xlink"
# What a content security policy without 'unsafe-inline' forbids as a style is allowed as an attribute.
PRESENTATION = frozenset(
    [
        "fill",
        "stroke",
        "stroke-width",
        "stroke-dasharray",
        "stroke-dashoffset",
        "stroke-linecap",
        "stroke-linejoin",
        "stroke-opacity",
        "fill-opacity",
        "opacity",
        "font-size",
        "font-family",
        "font-weight",
        "font-style",
        "text-anchor",
        "clip-path",
        "clip-rule",
        "fill-rule",
        "stroke-miterlimit",
    ]
)


def to_svg(figure: Any, *, name: str, title: str, description: str) -> str:
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
    _clean(root, name)
    _describe(root, name, title, description)
    ET.register_namespace("", SVG)
    ET.register_namespace("xlink", XLINK)
    return ET.tostring(root, encoding="unicode") + "\n"


def _clean(root: ET.Element, name: str) -> None:
    for parent in list(root.iter()):
        for child in list(parent):
            if child.tag in {f"{{{SVG}}}metadata", f"{{{SVG}}}style"}:
                parent.remove(child)
    for element in root.iter():
        _spread_style(element)
        if not (element.text or "").strip():
            element.text = None
        element.tail = None
    compact(root, name)


def _spread_style(element: ET.Element) -> None:
    """Turn a style attribute into presentation attributes; drop what has none."""
    declarations = [d.split(":", 1) for d in element.attrib.pop("style", "").split(";") if ":" in d]
    for key, value in ((k.strip(), v.strip()) for k, v in declarations):
        if key == "font":
            _spread_font(element, value)
        elif key in PRESENTATION:
            element.set(key, value)


def _spread_font(element: ET.Element, value: str) -> None:
    match = re.fullmatch(r"(?P<words>.*?)(?P<size>[\d.]+)px\s+(?P<family>.+)", value)
    if match is None:
        return
    weight = re.search(r"\b\d00\b|\bbold\b", match["words"])
    if weight:
        element.set("font-weight", weight[0])
    element.set("font-size", match["size"])
    element.set("font-family", match["family"].replace("'", ""))


def _describe(root: ET.Element, name: str, title: str, description: str) -> None:
    for place, (tag, text) in enumerate((("title", title), ("desc", description))):
        child = ET.Element(f"{{{SVG}}}{tag}", {"id": f"{name}-{tag}"})
        child.text = text
        root.insert(place, child)
    root.set("role", "img")
    root.set("aria-labelledby", f"{name}-title {name}-desc")


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
