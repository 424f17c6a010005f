"""Strip of fold differences: every fold a point, a row a pair, the mean as a line across its row."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from evalreport.plots.style import INK, MUTED, axes_or_new, mark_of


@dataclass(frozen=True, slots=True)
class Strip:
    """One row: its label, the differences on the single fits, its model's place in canonical order, its key."""

    label: str
    differences: tuple[float, ...]
    index: int
    key: str


def strip(rows: Sequence[Strip], ax: Any | None = None, *, axis_label: str = "") -> Any:
    """Draw the differences on single fits from top to bottom.

    Parameters
    ----------
    rows
        The pairs, in the units of ``axis_label``.
    ax
        Matplotlib axes; new ones if None.

    Returns
    -------
    matplotlib.axes.Axes
        The axes that were drawn on.
    """
    axes = axes_or_new(ax)
    axes.axvline(0.0, color=MUTED, linewidth=0.9, linestyle=(0, (3, 2)), zorder=1)
    for place, row in enumerate(rows):
        mark, n = mark_of(row.index), len(row.differences)
        # Points that coincide are told apart by height: one fold after the other across the row.
        heights = [place + 0.44 * ((i + 0.5) / n - 0.5) for i in range(n)]
        parts = axes.plot(row.differences, heights, marker=mark.marker, color=mark.colour, linestyle="none",
                          markersize=4.5 if n <= 20 else 2.6, markeredgewidth=0)  # fmt: skip
        mean = sum(row.differences) / n
        parts += axes.plot([mean, mean], [place - 0.34, place + 0.34], color=INK, linewidth=1.6, zorder=4)
        label = axes.text(-0.02, place, row.label, ha="right", va="center", color=INK, clip_on=False,
                          parse_math=False, transform=axes.get_yaxis_transform())  # fmt: skip
        for number, part in enumerate([*parts, label]):
            part.set_gid(f"{row.key}--strip-{place}-{number}")
    axes.set_yticks([])
    axes.set_ylim(len(rows) - 0.45, -0.55)
    axes.spines["left"].set_visible(False)
    axes.grid(visible=False, axis="y")
    axes.set_xlabel(axis_label, parse_math=False)
    return axes
