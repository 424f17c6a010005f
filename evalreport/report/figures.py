"""Figures that a section asks for: described first, drawn only when an output needs them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from evalreport.plots.layout import panels
from evalreport.plots.style import report_style
from evalreport.plots.svg import to_svg


@dataclass(frozen=True, slots=True, kw_only=True)
class Figure:
    """A figure: ``draw`` holds one function for each of its axes, laid out in ``columns``.

    ``width`` and ``height`` are in inches; a figure grows where its labels need more. ``outer``: its panels share
    their axes, which are labelled at the left and at the bottom only.
    """

    name: str
    title: str
    description: str
    caption: str
    draw: tuple[Callable[[Any], Any], ...]
    width: float = 4.4
    height: float = 4.0
    columns: int = 1
    outer: bool = False


def drawn(figure: Figure) -> str:
    """Draw a figure and give it as an SVG document."""
    with report_style():
        canvas = panels(
            figure.draw,
            width=figure.width,
            height=figure.height,
            columns=figure.columns,
            outer=figure.outer,
        )
        return to_svg(canvas, name=figure.name, title=figure.title, description=figure.description)
