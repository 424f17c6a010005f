"""A figure as SVG: the same bytes twice, real text, a title, no style attribute, a model's parts by class."""

from __future__ import annotations

import io
import re
import xml.etree.ElementTree as ET
from collections.abc import Iterator, Mapping
from itertools import pairwise
from typing import TYPE_CHECKING

from evalreport.plots.style import TOKENS

if TYPE_CHECKING:
    from matplotlib.figure import Figure

SVG = "http://www.w3.org/2000/svg"
HREF = "{http://www.w3.org/1999/xlink}href"
DEFAULTS = {
    "stroke-linejoin": "round",
    "stroke-linecap": "butt",
    "font-size": "9px",
    "font-family": "'Inter', 'DejaVu Sans'",
}
"""Stands at the root once, and nowhere where it is the same."""

EMPTY = {"stroke-dasharray": {"", "none"}, "stroke-dashoffset": {"0"}, "opacity": {"1"}}
NUMBER = re.compile(r"-?\d+\.?\d*(?:e-?\d+)?")
STEPS = re.compile(r"[A-Za-z]|-?\d+\.?\d*(?:e-?\d+)?")
OWN = re.compile(r"m\d+(?:_m\d+)*--")
REACH = 10
"""Tenths of a point that a line may reach over the edge of its axes before it is cut there."""

Box = tuple[float, float, float, float]


def compact(root: ET.Element, name: str) -> None:
    """Shorten a drawing in place, without a change that can be seen.

    Only what a page refers to keeps an id: parts of a model (by their class too), marks, and edges that cut.

    Parameters
    ----------
    name
        Begins every id in the document.
    """
    boxes = _boxes(root)
    for element in list(root.iter()):
        for key, value in DEFAULTS.items():
            if element.get(key) == value:
                del element.attrib[key]
        for key, values in EMPTY.items():
            if element.get(key) in values:
                del element.attrib[key]
        _shorten_numbers(element)
    _in_place(root)
    for element in root.iter():
        _uncut(element, boxes)
    for element in root.iter():
        if element.tag in (f"{{{SVG}}}g", f"{{{SVG}}}svg"):
            _hoist(element)
    _rename(root, name)
    for _ in range(2):
        _flatten(root)
    _join_rules(root)
    for key, value in DEFAULTS.items():
        root.set(key, value)


def _tag(element: ET.Element) -> str:
    return element.tag.rsplit("}", 1)[-1]


def _boxes(root: ET.Element) -> dict[str, Box]:
    """Give the edges that cut, in tenths, by their id."""
    found = {}
    for clip in root.iter(f"{{{SVG}}}clipPath"):
        for rect in clip.iter(f"{{{SVG}}}rect"):
            x, y, width, height = (10 * float(rect.get(key, 0)) for key in ("x", "y", "width", "height"))
            found[clip.get("id", "")] = (x, y, x + width, y + height)
    return found


def _shorten_numbers(element: ET.Element) -> None:
    tag = _tag(element)
    for key in ("x", "y", "width", "height"):
        if key in element.attrib and tag in ("text", "use", "rect"):
            element.set(key, _short(float(element.attrib[key]), 1))
    turned = element.get("transform")
    if turned is not None:
        if re.match(r"rotate\(-?0 ", turned):
            del element.attrib["transform"]
        else:
            element.set("transform", NUMBER.sub(lambda match: _short(float(match[0]), 1), turned))


def _short(value: float, decimals: int) -> str:
    text = f"{value:.{decimals}f}"
    if "." in text:
        text = text.rstrip("0").rstrip(".")
    return "0" if text in ("-0", "") else text


def _in_place(root: ET.Element) -> None:
    """Write a path where it is used, if that is once; matplotlib defines each band and each mark apart."""
    uses: dict[str, list[ET.Element]] = {}
    for element in root.iter(f"{{{SVG}}}use"):
        uses.setdefault(element.get(HREF, "")[1:], []).append(element)
    defined = {path for defs in root.iter(f"{{{SVG}}}defs") for path in defs}
    for path in root.iter(f"{{{SVG}}}path"):
        if path not in defined:
            path.set("d", _path(path.get("d", "")))
    for parent in list(root.iter()):
        for defs in [child for child in parent if _tag(child) == "defs"]:
            for path in [child for child in defs if _tag(child) == "path"]:
                _place(defs, path, uses.get(path.get("id", ""), []))
            if not len(defs):
                parent.remove(defs)


def _place(defs: ET.Element, path: ET.Element, used: list[ET.Element]) -> None:
    if len(used) != 1:
        path.set("d", _path(path.get("d", ""), decimals=2))
        if not used:
            defs.remove(path)
        return
    use = used[0]
    d = _path(path.get("d", ""), float(use.get("x", 0)), float(use.get("y", 0)))
    # What the path says itself holds before what its use says.
    given = {k: v for k, v in use.attrib.items() if k not in ("x", "y", HREF)}
    own = {k: v for k, v in path.attrib.items() if k != "id"}
    use.tag = f"{{{SVG}}}path"
    use.attrib.clear()
    use.attrib.update(given | own | {"d": d})
    defs.remove(path)


def _path(d: str, dx: float = 0.0, dy: float = 0.0, *, decimals: int = 1) -> str:
    """Write a path moved by (dx, dy): straight lines relative to each other, curves as they are but rounded."""
    if decimals != 1 or re.search("[CcQqAa]", d):
        places = iter([dx, dy] * (len(d) // 2))
        shifted = NUMBER.sub(lambda match: _short(float(match[0]) + next(places), max(decimals, 2)), d)
        return re.sub(r"\s*([A-Za-z])\s*", r"\1", shifted).strip()
    return "".join(_run(points, closed) for points, closed in _runs(d, dx, dy))


def _runs(d: str, dx: float, dy: float) -> Iterator[tuple[list[tuple[int, int]], bool]]:
    """Give each stretch of straight lines in tenths of a point, and whether it is closed."""
    points: list[tuple[int, int]] = []
    numbers: list[float] = []
    for step in STEPS.findall(d):
        if step in "Mm":
            if points:
                yield points, False
            points = []
        elif step in "zZ":
            yield points, True
            points = []
        elif not step.isalpha():
            numbers.append(float(step))
            if len(numbers) == 2:
                points.append((round(10 * (numbers[0] + dx)), round(10 * (numbers[1] + dy))))
                numbers = []
    if points:
        yield points, False


def _run(points: list[tuple[int, int]], closed: bool) -> str:
    steps: list[tuple[int, int]] = []
    for (x0, y0), (x1, y1) in pairwise(points):
        step = (x1 - x0, y1 - y0)
        if step == (0, 0):
            continue
        if steps and _goes_on(steps[-1], step):
            steps[-1] = (steps[-1][0] + step[0], steps[-1][1] + step[1])
        else:
            steps.append(step)
    x, y = points[0]
    text, letter = f"M{_tenths(x)} {_tenths(y)}", "M"
    for right, down in steps or [(0, 0)]:
        now, numbers = ("h", [right]) if down == 0 else ("v", [down]) if right == 0 else ("l", [right, down])
        for place, number in enumerate(numbers):
            written = _tenths(number)
            first = now if place == 0 and now != letter else "" if written[0] == "-" else " "
            text += first + written
        letter = now
    return text + ("z" if closed else "")


def _goes_on(last: tuple[int, int], step: tuple[int, int]) -> bool:
    """Say whether a step goes on along its axis in the direction of the last one."""
    return (last[0] == step[0] == 0 and last[1] * step[1] > 0) or (
        last[1] == step[1] == 0 and last[0] * step[0] > 0
    )


def _tenths(value: int) -> str:
    whole, part = divmod(abs(value), 10)
    sign = "-" if value < 0 else ""
    return f"{sign}{whole}.{part}" if part else f"{sign}{whole}"


def _uncut(element: ET.Element, boxes: dict[str, Box]) -> None:
    """Leave out the edge that cuts where nothing reaches over it."""
    cut = re.fullmatch(r"url\(#(.+)\)", element.get("clip-path", ""))
    if cut is None or cut[1] not in boxes:
        return
    drawn = [element] if _tag(element) in ("path", "use") else list(element)
    left, top, right, bottom = boxes[cut[1]]
    for part in drawn:
        for x, y in _places(part):
            if not (left - REACH <= x <= right + REACH and top - REACH <= y <= bottom + REACH):
                return
    del element.attrib["clip-path"]


def _places(part: ET.Element) -> Iterator[tuple[float, float]]:
    """Give points of a path or a mark in tenths; one far outside where it cannot be told."""
    if _tag(part) == "use":
        yield 10 * float(part.get("x", 0)), 10 * float(part.get("y", 0))
        return
    x = y = 0.0
    for letter, given in re.findall(r"([A-Za-z])([^A-Za-z]*)", part.get("d", "")):
        numbers = [10 * float(n) for n in NUMBER.findall(given)]
        if letter in "Zz":
            continue
        if letter in "hv":
            x, y = (x + sum(numbers), y) if letter == "h" else (x, y + sum(numbers))
            yield x, y
        elif letter in "ML" or letter == "l":
            for right, down in zip(numbers[::2], numbers[1::2], strict=False):
                x, y = (x + right, y + down) if letter == "l" else (right, down)
                yield x, y
        else:
            yield 1e9, 1e9


def _hoist(group: ET.Element) -> None:
    """Say once for a group of marks what each of them says."""
    children = list(group)
    if len(children) < 2 or any(_tag(child) != "use" for child in children):
        return
    shared = {k: v for k, v in children[0].attrib.items() if k not in ("x", "y", "id", HREF)}
    for key, value in shared.items():
        if key not in group.attrib and all(child.get(key) == value for child in children):
            group.set(key, value)
            for child in children:
                del child.attrib[key]


def _rename(root: ET.Element, name: str) -> None:
    """Keep the ids that something refers to, short ones, and give a model's parts their class."""
    needed = {element.get(HREF, "")[1:] for element in root.iter() if HREF in element.attrib}
    for element in root.iter():
        needed |= set(re.findall(r"url\(#([^)]+)\)", " ".join(element.attrib.values())))
    short: dict[str, str] = {}
    for element in root.iter():
        own = element.get("id")
        if own is None:
            continue
        part = OWN.match(own)
        if part:
            element.set("class", " ".join(["series", *part[0][:-2].split("_")]))
            element.set("id", f"{name}-{own}")
        elif own in needed:
            short[own] = f"{name}-{len(short)}"
            element.set("id", short[own])
        else:
            del element.attrib["id"]
    for element in root.iter():
        if HREF in element.attrib:
            element.set(HREF, f"#{short[element.attrib[HREF][1:]]}")
        for key, value in element.attrib.items():
            if "url(#" in value:
                element.set(key, re.sub(r"url\(#([^)]+)\)", lambda m: f"url(#{short[m[1]]})", value))
    for parent in root.iter():
        for child in [c for c in parent if _tag(c) == "clipPath" and "id" not in c.attrib]:
            parent.remove(child)


def _flatten(parent: ET.Element) -> None:
    """Take the contents of groups that say nothing out of them, and give a single part its group's attributes."""
    children: list[ET.Element] = []
    for child in list(parent):
        _flatten(child)
        if _tag(child) not in ("g", "defs"):
            children.append(child)
        elif not child.attrib:
            if _tag(child) == "g":
                children += list(child)
            elif len(child):
                children.append(child)
        elif len(child) == 1 and not set(child.attrib) & set(child[0].attrib):
            child[0].attrib.update(child.attrib)
            children.append(child[0])
        elif len(child):
            children.append(child)
    parent[:] = children


def _join_rules(root: ET.Element) -> None:
    """Draw lines that differ in nothing but their place as one path: those of the grid, of a strip of counts.

    Only neighbours in the drawing order are joined, texts between them left where they are: nothing is drawn over
    another thing that was below it before.
    """
    for parent in root.iter():
        last: tuple[tuple[tuple[str, str], ...], ET.Element] | None = None
        kept = []
        for child in list(parent):
            kind = tuple(sorted((k, v) for k, v in child.attrib.items() if k != "d"))
            if (
                _tag(child) != "path"
                or "id" in child.attrib
                or child.get("fill-opacity")
                or child.get("opacity")
            ):
                last = last if _tag(child) == "text" and "id" not in child.attrib else None
            elif last is not None and last[0] == kind:
                last[1].set("d", last[1].get("d", "") + child.get("d", ""))
                continue
            else:
                last = (kind, child)
            kept.append(child)
        parent[:] = kept


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
