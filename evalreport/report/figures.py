"""Figures that a section asks for: described first, drawn only when an output needs them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from evalreport.plots.pictures import Draw, panels
from evalreport.plots.style import report_style, to_svg

LEAST_WIDE = 5.5
"""Inches: a single panel below is shown at no more than about twice its size."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Figure:
    """A figure: ``draw`` holds one function for each of its axes, laid out in ``columns``.

    ``width`` and ``height`` are in inches; a figure grows where its labels need more. ``outer``: its panels share
    their axes, which are labelled at the left and at the bottom only; ``shared``: all have the limits of the widest.
    """

    name: str
    title: str
    description: str
    caption: str
    draw: tuple[Draw, ...]
    width: float = 4.4
    height: float = 4.0
    columns: int = 1
    outer: bool = False
    shared: bool = False

    @property
    def narrow(self) -> bool:
        """Whether it is one small panel, whose letters would be as large as headings if it filled the page."""
        return len(self.draw) == 1 and self.width < LEAST_WIDE


def grid(
    name: str,
    title: str,
    description: str,
    caption: str,
    draw: Sequence[Draw],
    *,
    shared: bool = False,
) -> Figure:
    """Describe a figure of panels that say the same of one model each: two or three beside each other."""
    columns = {1: 1, 2: 2, 4: 2}.get(len(draw), 3)
    rows = -(-len(draw) // columns)
    return Figure(
        name=name,
        title=title,
        description=description,
        caption=caption,
        draw=tuple(draw),
        width={1: 4.4, 2: 7.4, 3: 9.6}[columns],
        height=(3.4 if columns == 1 else 2.75) * rows,
        columns=columns,
        outer=True,
        shared=shared,
    )


def drawn(figure: Figure) -> str:
    """Draw a figure and give it as an SVG document."""
    with report_style():
        canvas = panels(
            figure.draw,
            width=figure.width,
            height=figure.height,
            columns=figure.columns,
            outer=figure.outer,
            shared=figure.shared,
        )
        return to_svg(canvas, name=figure.name, title=figure.title, description=figure.description)
