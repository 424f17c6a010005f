"""Figures as sections describe them; and what F1 is: its fall with precision, and the sets that it counts."""

from __future__ import annotations

import io
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from evalreport.plots.style import INK, MUTED, NEW_AXES, SOLID, chart, mark_of, report_style, to_svg
from evalreport.schema.lookups import outcomes_of
from evalreport.schema.results import Results
from evalreport.texts import say

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.backend_bases import RendererBase
    from matplotlib.figure import Figure as Canvas


LEAST, LARGEST = 1e-290, 1e300
"""Axes that end beyond are not drawn: the distance of two such numbers may be more, or less, than a double holds."""

PAD = 3.0
"""Points between labels, and between them and the edge."""

LEAST_WIDTH, LEAST_HEIGHT = 60.0, 44.0
"""A panel is never smaller, in points: the figure grows instead, however long its labels are."""


Draw = Callable[["Axes"], object]
"""Draws on the axes that it is given."""


LEAST_WIDE = 5.5
"""Inches: a single panel below is shown at no more than about twice its size."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Figure:
    """A figure: ``draw`` holds one function for each of its axes, laid out in ``columns``.

    ``width`` and ``height`` are in inches; a figure grows where its labels need more. ``shared``: its panels share
    their axes, with the limits of the widest, which are labelled at the left and at the bottom only.
    """

    name: str
    title: str
    description: str
    caption: str
    draw: tuple[Draw, ...]
    width: float = 4.4
    height: float = 4.0
    columns: int = 1
    shared: bool = False

    def in_columns(self, *, height: float) -> Figure:
        """Lay its panels, which share their axes, out in up to three columns; ``height`` is that of a row."""
        columns = min(len(self.draw), 3)
        return replace(
            self,
            width=4.6 if columns == 1 else 3.1 * columns,
            height=height * -(-len(self.draw) // columns),
            columns=columns,
            shared=True,
        )

    @property
    def narrow(self) -> bool:
        """Whether it is one small panel, whose letters would be as large as headings if it filled the page."""
        return len(self.draw) == 1 and self.width < LEAST_WIDE


def panels(figure: Figure) -> Canvas:
    """Draw the panels of a figure side by side, row by row, without pyplot."""
    from matplotlib.backends.backend_svg import FigureCanvasSVG
    from matplotlib.figure import Figure as Canvas

    columns = figure.columns
    rows = -(-len(figure.draw) // columns)
    canvas = Canvas(figsize=(figure.width, figure.height), dpi=72)  # so that a pixel is a point
    FigureCanvasSVG(canvas)
    axes = [
        canvas.add_axes((place % columns / columns, 1 - (place // columns + 1) / rows, 1 / columns, 1 / rows))
        for place in range(len(figure.draw))
    ]
    for function, ax in zip(figure.draw, axes, strict=True):
        _drawn(function, ax)
    if figure.shared:
        _share(axes, columns)
    arrange(canvas, axes, columns)
    return canvas


def _drawn(function: Draw, ax: Axes) -> None:
    """Draw a panel, or say in it that its numbers are too far apart, or too near each other, for any axis."""
    with np.errstate(over="ignore", invalid="ignore"):
        try:
            function(ax)
            spans = [abs(high) + abs(low) for low, high in (ax.get_xlim(), ax.get_ylim())]
        except np.linalg.LinAlgError:  # a scale that cannot be turned round
            spans = [0.0]
        if all(LEAST < span < LARGEST for span in spans):
            return
        ax.clear()
        ax.set_axis_off()
        ax.text(0.5, 0.5, say("chart.out_of_reach"), ha="center", va="center", transform=ax.transAxes)


def _share(axes: Sequence[Axes], columns: int) -> None:
    """Give panels whose axes are alike the limits of the widest, and labels at the left and at the bottom only."""
    same_x = len({(ax.get_xlabel(), ax.get_xscale()) for ax in axes}) == 1
    same_y = len({(ax.get_ylabel(), ax.get_yscale()) for ax in axes}) == 1
    left, right = zip(*(ax.get_xlim() for ax in axes), strict=True)
    low, high = zip(*(ax.get_ylim() for ax in axes), strict=True)
    for place, ax in enumerate(axes):
        if same_x:
            ax.set_xlim(min(left), max(right))
        if same_y:
            ax.set_ylim(min(low), max(high))
        if same_x and place + columns < len(axes):
            ax.set_xlabel("")
            ax.tick_params(axis="x", labelbottom=False)
        if same_y and place % columns:
            ax.set_ylabel("")
            ax.tick_params(axis="y", labelleft=False)


def arrange(figure: Canvas, axes: Sequence[Axes], columns: int) -> None:
    """Place axes in a grid with space for every label; rows share their heights, columns their widths.

    Each label is measured once. A figure too small for its labels grows.
    """
    from matplotlib.backends import backend_svg

    width, height = (72 * length for length in figure.get_size_inches())
    untyped: Any = backend_svg
    renderer = untyped.RendererSVG(width, height, io.StringIO())
    sides = [_room(ax, renderer) for ax in axes]
    rows = -(-len(axes) // columns)
    # A column without panels is as wide as its neighbour: so panels have one size in figures that are rows of one.
    filled = [sides[column::columns] or sides[-1:] for column in range(columns)]
    left, right = ([max(s[i] for s in panel) + PAD for panel in filled] for i in (0, 2))
    bottom, top = (
        [max(s[i] for s in sides[r * columns : (r + 1) * columns]) + PAD for r in range(rows)] for i in (1, 3)
    )
    inner_width = max((width - sum(left) - sum(right)) / columns, LEAST_WIDTH)
    inner_height = max((height - sum(top) - sum(bottom)) / rows, LEAST_HEIGHT)
    width = sum(left) + sum(right) + columns * inner_width
    height = sum(top) + sum(bottom) + rows * inner_height
    figure.set_size_inches(width / 72, height / 72)
    for place, ax in enumerate(axes):
        row, column = divmod(place, columns)
        x = sum(left[: column + 1]) + sum(right[:column]) + column * inner_width
        y = height - sum(top[: row + 1]) - sum(bottom[:row]) - (row + 1) * inner_height
        ax.set_position((x / width, y / height, inner_width / width, inner_height / height))


def _room(ax: Axes, renderer: RendererBase) -> tuple[float, float, float, float]:
    """Measure how far labels reach over the left, bottom, right and upper edge of axes, in points."""
    from matplotlib.text import Text

    ax.apply_aspect()
    edge, boxes = ax.bbox, []
    if ax.axison:
        boxes += [axis.get_tightbbox(renderer, for_layout_only=True) for axis in (ax.xaxis, ax.yaxis)]
    texts = [part for part in ax.get_children() if isinstance(part, Text)]
    # A text that is cut at the edge has a clip box; titles claim to be cut but have none.
    free = [text for text in texts if text.get_clip_box() is None or not text.get_clip_on()]
    boxes += [text.get_window_extent(renderer) for text in free if text.get_text()]
    legend = ax.get_legend()
    if legend is not None:
        boxes.append(legend.get_window_extent(renderer))
    taken_boxes = [box for box in boxes if box is not None and box.width > 0]
    over = [(edge.x0 - b.x0, edge.y0 - b.y0, b.x1 - edge.x1, b.y1 - edge.y1) for b in taken_boxes]
    left, bottom, right, top = (max([0.0, *(sides[i] for sides in over)]) for i in range(4))
    return left, bottom, right, top


@chart
def f1_at_recall(ax: Axes = NEW_AXES, *, recalls: Sequence[float] = (0.9, 0.6, 0.3)) -> None:
    """Draw F1 against precision at fixed recalls: the smaller of the two pulls it down.

    F1 = 2 P R / (P + R); the dotted diagonal is the arithmetic mean's rival, F1 = P, which holds where P = R.

    Parameters
    ----------
    recalls
        In (0, 1], one curve each.

    Examples
    --------
    >>> from evalreport import plots
    >>> plots.f1_at_recall(recalls=[0.5]).get_ylabel()
    'F1'
    """
    precisions = [i / 50 for i in range(51)]
    ax.plot([0, 1], [0, 1], color=MUTED, linewidth=0.8, linestyle=(0, (1, 2)))
    for place, recall in enumerate(recalls):
        mark = mark_of(place)
        f1 = [2 * p * recall / (p + recall) for p in precisions]
        dash = SOLID if place == 0 else mark.dash
        ax.plot(precisions, f1, color=mark.colour, linestyle=dash, linewidth=1.6, markevery=10, marker=mark.marker,
                  markersize=4)  # fmt: skip
        ax.annotate(
            say("chart.at_recall", recall=recall), (1, f1[-1]), xytext=(5, 0), textcoords="offset points",
            va="center", fontsize=8, color=INK, annotation_clip=False,
        )  # fmt: skip
    ax.set(xlim=(0, 1), ylim=(0, 1.02), xlabel=say("chart.precision"), ylabel="F1")


@chart
def count_sets(
    results: Results, model: str, ax: Axes = NEW_AXES, *, label: str | None = None, name: str | None = None
) -> None:
    """Draw the truly positive and the predicted positive examples of one model as two sets, true to area.

    Where they overlap are the true positives; F1 is twice the overlap over the sum of both sets.

    Parameters
    ----------
    label
        The class that is positive; that of a binary task if None.
    name
        The title above the axes; none if None.
    """
    from matplotlib.patches import Circle

    tp, fp, fn, tn = outcomes_of(results, model, label if label is not None else results.positive)
    whole = max(tp + fn, tp + fp, 1.0)
    radii = [math.sqrt((tp + other) / whole) for other in (fn, fp)]
    apart = _distance(radii[0], radii[1], math.pi * tp / whole)
    colours = (mark_of(0).colour, mark_of(1).colour)
    for x, radius, colour, hatch in zip((0.0, apart), radii, colours, ("", "////"), strict=True):
        ax.add_patch(Circle((x, 0), radius, facecolor=colour, alpha=0.22, linewidth=0, hatch=hatch))
        ax.add_patch(Circle((x, 0), radius, fill=False, edgecolor=colour, linewidth=1.4))
    left, right = min(-radii[0], apart - radii[1]), max(radii[0], apart + radii[1])
    middle = (max(-radii[0], apart - radii[1]) + min(radii[0], apart + radii[1])) / 2
    tall = max(radii) or 1.0
    rows = (
        (middle, 0.0, say("chart.tp", n=tp), "center"),
        (left - 0.08, 0.5 * tall, say("chart.fn", n=fn), "right"),
        (right + 0.08, 0.5 * tall, say("chart.fp", n=fp), "left"),
        (right + 0.08, -0.7 * tall, say("chart.tn", n=tn), "left"),
    )
    for x, y, text, side in rows:
        ax.text(x, y, text, ha=side, va="center", color=INK, fontsize=9, linespacing=1.3, parse_math=False)
    ax.set(xlim=(left - 0.04, right + 0.04), ylim=(-1.05 * tall, 1.05 * tall), aspect="equal")
    ax.set_axis_off()
    if name is not None:
        ax.set_title(name, fontsize=9, parse_math=False)


def _distance(first: float, second: float, overlap: float) -> float:
    """Find how far apart the centres of two circles are whose overlap has that area, by halving."""
    low, high = abs(first - second), first + second
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (middle, high) if _lens(first, second, middle) > overlap else (low, middle)
    return (low + high) / 2


def _lens(a: float, b: float, d: float) -> float:
    """Return the area that two circles of radius a and b share, their centres d apart."""
    if d >= a + b:
        return 0.0
    if d <= abs(a - b) or not d:
        return math.pi * min(a, b) ** 2
    x = (d * d + a * a - b * b) / (2 * d)
    height = math.sqrt(max(a * a - x * x, 0.0))
    angles = a * a * math.acos(max(-1.0, min(1.0, x / a))) + b * b * math.acos(
        max(-1.0, min(1.0, (d - x) / b))
    )
    return angles - d * height


def drawn(figure: Figure) -> str:
    """Draw a figure and give it as an SVG document."""
    with report_style():
        return to_svg(panels(figure), name=figure.name, title=figure.title, description=figure.description)


DOTS_PER_INCH = 200


def painted(figure: Figure) -> bytes:
    """Draw a figure and give it as a PNG file, on white."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg

    buffer = io.BytesIO()
    with report_style():
        canvas = panels(figure)
        FigureCanvasAgg(canvas)
        told = {"Software": None, "Title": figure.title, "Description": figure.description}
        canvas.savefig(buffer, format="png", dpi=DOTS_PER_INCH, facecolor="white", metadata=told)
    return buffer.getvalue()
