"""How charts look: a colour, a marker and a dash for each model, the shipped font, the tokens of the page.

As SVG: the same bytes twice, real text, a title, no style attribute, a model's parts by class.
"""

from __future__ import annotations

import functools
import inspect
import io
import math
import re
import sys
import xml.etree.ElementTree as ET
from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, ParamSpec, cast

from evalreport.numbers import Digits, to_digits

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.axis import Axis
    from matplotlib.figure import Figure

LONG_TICKS, UNIT_TICKS = 1e4, 1e7
"""From the first on the numbers of an axis have commas, from the second on a unit."""

FONT_FOLDER = Path(__file__).parent / "fonts"


@dataclass(frozen=True, slots=True)
class Mark:
    """How one model is drawn: colour, marker and dash, since colour alone is not enough."""

    colour: str
    marker: str
    dash: tuple[float, tuple[float, ...]]
    symbol: str


Names = Mapping[str, str] | None
"""Names to write, by the models' own; None: their own."""
Ids = Collection[str] | None
"""Models, by their ids, that are drawn in colour; None: those that the chart chooses."""
Look = Any
"""A keyword of matplotlib, which types each by itself: how a part is drawn."""
SOLID = (0.0, ())
DASHED, DOTTED = (0.0, (3.0, 2.0)), (0.0, (1.0, 1.5))

P = ParamSpec("P")
PARAMETERS, EXAMPLES = "\n\nParameters\n----------\n", "\n\nExamples\n--------\n"
RETURNS = "\n\nReturns\n-------\nmatplotlib.axes.Axes\n    The axes that were drawn on."
# By rank. Five of Okabe and Ito's colours, darkened to a contrast of at least 4.5 : 1 on white, then others chosen to
# stay apart from them and each other however a reader sees colours (tests/plots simulates it). Grey is no model's.
MARKS = (
    Mark("#0072b2", "s", SOLID, "■"),
    Mark("#a85b00", "o", (0.0, (5.0, 1.6)), "●"),
    Mark("#007a5a", "D", (0.0, (5.0, 1.6, 1.2, 1.6)), "◆"),
    Mark("#a8437f", "^", (0.0, (2.4, 1.2)), "▲"),
    Mark("#7a20d8", "v", (0.0, (1.2, 1.2)), "▼"),
    Mark("#701000", ">", (0.0, (3.0, 1.2, 1.2, 1.2, 1.2, 1.2)), "▶"),
    Mark("#00263d", "*", (0.0, (9.0, 1.6, 1.2, 1.6)), "★"),
)
GREY = "#8b939c"
"""Clearly behind on the metric that is shown."""

# The page's tokens that charts use, with the values of the light theme; a page replaces them by its own.
INK, MUTED, GRID, FAINT, PAPER = "#191c20", "#5a6169", "#dfe3e8", "#eceff2", "#ffffff"
BIAS, VARIANCE, NOISE = "#59697c", "#9aa9ba", "#d5dce4"
"""The parts of an expected loss: neutral fills of their own, never a model's colour."""
TOKENS: dict[str, str] = {
    INK: "ink",
    MUTED: "muted",
    GRID: "line",
    FAINT: "faint",
    PAPER: "paper",
    GREY: "grey",
    BIAS: "part-1",
    VARIANCE: "part-2",
    NOISE: "part-3",
    **{mark.colour: f"m{i}" for i, mark in enumerate(MARKS)},
}

BEHIND: Any = {"facecolor": PAPER, "alpha": 0.7, "linewidth": 0, "pad": 0.6}
"""The background of a text among lines."""

# Typed as Any: matplotlib lists every key as a literal.
SETTINGS: Any = {
    "font.family": ["Inter", "DejaVu Sans"],
    "font.size": 9.0,
    "text.parse_math": False,  # a model may be called "$x$"
    "axes.unicode_minus": True,
    "axes.edgecolor": MUTED,
    "axes.labelcolor": INK,
    "axes.linewidth": 0.6,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "axes.axisbelow": True,
    "axes.facecolor": "none",
    "grid.color": GRID,
    "grid.linewidth": 0.6,
    "xtick.color": MUTED,
    "ytick.color": MUTED,
    "xtick.major.size": 0.0,
    "ytick.major.size": 0.0,
    "text.color": INK,
    "figure.facecolor": PAPER,
    "legend.frameon": False,
    "svg.fonttype": "none",
    "path.simplify": True,
    "path.simplify_threshold": 0.2,
}


def mark_of(index: int) -> Mark:
    """Return the mark of the model at that place of the ranking, from 0.

    After seven models the colours come again with other markers and dashes; after 49 all repeat.
    """
    first = MARKS[index % len(MARKS)]
    other = MARKS[(index + index // len(MARKS)) % len(MARKS)]
    return replace(first, marker=other.marker, dash=other.dash, symbol=other.symbol)


@contextmanager
def report_style() -> Iterator[None]:
    """Draw with the report's font and settings, and leave matplotlib as it was."""
    import warnings

    import matplotlib as mpl
    from matplotlib import font_manager

    known = {entry.name for entry in font_manager.fontManager.ttflist}
    if "Inter SemiBold" not in known or "Inter" not in known:
        for weight in ("Regular", "SemiBold"):
            font_manager.fontManager.addfont(FONT_FOLDER / f"Inter-{weight}.ttf")
    with mpl.rc_context(SETTINGS), warnings.catch_warnings():
        # Real text is written into the SVG: a glyph that matplotlib cannot measure is drawn by another font.
        warnings.filterwarnings("ignore", message="Glyph .* missing from font")
        yield


NEW_AXES = cast("Axes", None)
"""The default of every chart's ``ax``: its decorator puts new axes in its place."""


def chart(draw: Callable[P, None]) -> Callable[P, Axes]:
    """Make a function that draws on ``ax`` a chart: new axes where none are given, and the axes come back.

    New axes are those of a pyplot figure, as people expect in a notebook. What the package says of the parameters
    that charts share is added to the chart's own documentation.
    """
    signature = inspect.signature(draw)

    @functools.wraps(draw)
    def drawn(*args: P.args, **kwargs: P.kwargs) -> Axes:
        call = signature.bind(*args, **kwargs)
        axes: Axes | None = call.arguments.get("ax")
        if axes is None:
            from matplotlib import pyplot as plt

            axes = call.arguments["ax"] = plt.subplots(layout="constrained")[1]  # with room for legends
        draw(*call.args, **call.kwargs)
        for axis in (axes.xaxis, axes.yaxis):
            _write_large_and_small(axis)
        return axes

    if draw.__doc__ is not None:
        drawn.__doc__ = _documented(inspect.cleandoc(draw.__doc__), list(signature.parameters))
    return drawn


def _write_large_and_small(axis: Axis) -> None:
    """Write the ticks of a linear axis of long or tiny numbers in a unit that its label names, others with commas."""
    from matplotlib.ticker import FuncFormatter, ScalarFormatter

    size = float(max(map(abs, axis.get_view_interval())))
    if not isinstance(axis.get_major_formatter(), ScalarFormatter) or not (
        size >= LONG_TICKS or 0 < size < 1e-3
    ):
        return
    power = 0 if LONG_TICKS <= size < UNIT_TICKS else 3 * math.floor(math.log10(size) / 3)
    digits = Digits(0, power)
    axis.set_major_formatter(FuncFormatter(lambda tick, _: to_digits(tick / 10.0**power, 4)))
    axis.set_label_text(digits.headed(axis.get_label_text()))


def _documented(text: str, parameters: list[str]) -> str:
    """Complete a chart's documentation by the parameters that it shares with others, and by what it returns."""
    shared = sys.modules[__package__].__doc__ or ""
    text, _, examples = text.partition(EXAMPLES)
    text, _, own = text.partition(PARAMETERS)
    entries: dict[str, str] = {}
    for entry in re.split(r"\n(?=\S)", f"{shared.partition(PARAMETERS)[2].strip()}\n{own.strip()}".strip()):
        entries |= dict.fromkeys(entry.partition("\n")[0].split(", "), entry)
    shown = dict.fromkeys(entries[name] for name in parameters if name in entries)
    return text + PARAMETERS + "\n".join(shown) + RETURNS + (EXAMPLES + examples if examples else "")


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
        Begins every id in the document, so that one page can hold several.
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
