"""Figures that a section asks for: described first, drawn only when an output needs them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from evalreport.plots.style import report_style
from evalreport.plots.svg import to_svg


@dataclass(frozen=True, slots=True, kw_only=True)
class Figure:
    """A figure: ``draw`` holds one function for each of its axes, laid out in ``columns``.

    ``width`` and ``height`` are in inches.
    """

    name: str
    title: str
    description: str
    caption: str
    draw: tuple[Callable[[Any], Any], ...]
    width: float = 4.4
    height: float = 4.0
    columns: int = 1


def drawn(figure: Figure) -> str:
    """Draw a figure and give it as an SVG document."""
    with report_style():
        from matplotlib.backends.backend_svg import FigureCanvasSVG
        from matplotlib.figure import Figure as Canvas

        rows = -(-len(figure.draw) // figure.columns)
        canvas = Canvas(figsize=(figure.width, figure.height), layout="constrained")
        FigureCanvasSVG(canvas)
        axes = canvas.subplots(rows, figure.columns, squeeze=False).ravel()
        for draw, ax in zip(figure.draw, axes, strict=False):
            draw(ax)
        for ax in axes[len(figure.draw) :]:
            ax.set_visible(False)
        return to_svg(canvas, name=figure.name, title=figure.title, description=figure.description)
