"""Forest plot of paired differences: each with its interval, zero marked, the declared margin shaded."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from evalreport.plots.style import FAINT, INK, MUTED, axes_or_new, mark_of


@dataclass(frozen=True, slots=True)
class Difference:
    """One row: what is compared, the difference, its interval, its simultaneous limits, its text.

    ``index`` is the place in canonical order of the model whose mark the row bears; ``key`` names the
    drawn parts, so that a page can hide them.
    """

    label: str
    difference: float
    low: float | None
    high: float | None
    simultaneous_low: float | None
    simultaneous_high: float | None
    text: str
    index: int
    key: str


def forest(
    rows: Sequence[Difference], ax: Any | None = None, *, axis_label: str = "", margin: float | None = None
) -> Any:
    """Draw paired differences from top to bottom.

    Parameters
    ----------
    rows
        The differences, in the units of ``axis_label``.
    ax
        Matplotlib axes; new ones if None.
    margin
        Half width of the region of practical equivalence; shaded where given.

    Returns
    -------
    matplotlib.axes.Axes
        The axes that were drawn on.
    """
    axes = axes_or_new(ax)
    if margin is not None:
        axes.axvspan(-margin, margin, color=FAINT, linewidth=0, zorder=0)
    axes.axvline(0.0, color=MUTED, linewidth=0.9, linestyle=(0, (3, 2)), zorder=1)
    for place, row in enumerate(rows):
        _draw_row(axes, row, place)
    axes.set_yticks([])
    axes.set_ylim(len(rows) - 0.4, -0.6)
    axes.spines["left"].set_visible(False)
    axes.grid(visible=False, axis="y")
    axes.set_xlabel(axis_label, parse_math=False)
    return axes


def _draw_row(axes: Any, row: Difference, place: int) -> None:
    mark = mark_of(row.index)
    parts = []
    if row.simultaneous_low is not None and row.simultaneous_high is not None:
        limits = [row.simultaneous_low, row.simultaneous_high]
        parts += axes.plot(limits, [place] * 2, color=mark.colour, linewidth=0.9, solid_capstyle="butt")
    if row.low is not None and row.high is not None:
        parts += axes.plot(
            [row.low, row.high], [place] * 2, color=mark.colour, linewidth=2.6, solid_capstyle="butt"
        )
    parts += axes.plot(
        [row.difference], [place], marker=mark.marker, color=mark.colour, markersize=6.5, linestyle="none"
    )
    left, right = axes.get_yaxis_transform(), axes.get_yaxis_transform()
    common = {"va": "center", "clip_on": False, "parse_math": False}
    parts.append(axes.text(-0.02, place, row.label, ha="right", color=INK, transform=left, **common))
    parts.append(axes.text(1.02, place, row.text, ha="left", color=MUTED, transform=right, **common))
    for number, part in enumerate(parts):
        part.set_gid(f"{row.key}--{place}-{number}")
