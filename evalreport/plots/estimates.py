"""Error estimates side by side: a row an estimator, a mark a model, with its interval."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from evalreport.plots.style import FAINT, INK, axes_or_new, mark_of


@dataclass(frozen=True, slots=True)
class Dot:
    """One model's estimate; limits are None where there is no honest interval."""

    value: float
    low: float | None
    high: float | None
    index: int
    key: str


@dataclass(frozen=True, slots=True)
class EstimatorRow:
    """One estimator: its label, and the estimates of the models that have one."""

    label: str
    dots: tuple[Dot, ...]


def estimates(rows: Sequence[EstimatorRow], ax: Any | None = None, *, axis_label: str = "") -> Any:
    """Draw the estimates of several models, an estimator a row from top to bottom.

    Parameters
    ----------
    rows
        In the units of ``axis_label``.
    ax
        Matplotlib axes; new ones if None.

    Returns
    -------
    matplotlib.axes.Axes
        The axes that were drawn on.
    """
    axes = axes_or_new(ax)
    indices = sorted({dot.index for row in rows for dot in row.dots})
    step = 0.62 / max(len(indices), 1)
    for place, row in enumerate(rows):
        for dot in row.dots:
            at = place + step * (indices.index(dot.index) - (len(indices) - 1) / 2)
            mark = mark_of(dot.index)
            parts = []
            if dot.low is not None and dot.high is not None:
                limits = [dot.low, dot.high]
                parts += axes.plot(limits, [at, at], color=mark.colour, linewidth=1.6, solid_capstyle="butt")
            parts += axes.plot(
                [dot.value], [at], marker=mark.marker, color=mark.colour, markersize=5.5, linestyle="none",
                markeredgewidth=0,
            )  # fmt: skip
            for number, part in enumerate(parts):
                part.set_gid(f"{dot.key}--estimate-{place}-{number}")
        axes.text(-0.02, place, row.label, ha="right", va="center", color=INK, clip_on=False,
                  parse_math=False, transform=axes.get_yaxis_transform())  # fmt: skip
    axes.set_yticks([])
    axes.set_ylim(len(rows) - 0.5, -0.5)
    for place in range(1, len(rows)):
        axes.axhline(place - 0.5, color=FAINT, linewidth=0.8, zorder=0)
    axes.spines["left"].set_visible(False)
    axes.grid(visible=False, axis="y")
    axes.set_xlabel(axis_label, parse_math=False)
    return axes
