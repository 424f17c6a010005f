"""Figures of the studies, in the style of the reports."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any


def write(
    path: Path, draw: Callable[[Any], None], size: tuple[float, float], title: str, description: str
) -> None:
    """Draw on a canvas and write it as SVG, named after the file."""
    from evalreport.plots.style import report_style, to_svg

    with report_style():
        from matplotlib.figure import Figure

        canvas = Figure(figsize=size, layout="constrained")
        draw(canvas)
        text = to_svg(canvas, name=path.stem, title=title, description=description)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")


def percentages(axes: Any, shares: Mapping[int, str], label: str, place: int) -> None:
    """Draw shares in percent as the line of a place, over whole numbers on a scale of logarithms."""
    from evalreport.plots.style import mark_of

    mark = mark_of(place)
    axes.plot(
        list(shares), [100 * float(share) for share in shares.values()], color=mark.colour, marker=mark.marker,
        linestyle=mark.dash, linewidth=1.3, markersize=4, label=label,
    )  # fmt: skip


def over(axes: Any, numbers: Sequence[int], label: str, title: str) -> None:
    """Name the axis of whole numbers, and the panel."""
    axes.set_xscale("log")
    axes.set_xticks(list(numbers), [f"{n:,}" for n in numbers])
    axes.minorticks_off()
    axes.set_xlabel(label)
    axes.set_title(title, fontsize=9)
