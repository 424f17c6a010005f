"""Critical-difference diagram: average ranks on a line, and bars over the models that are not told apart."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from evalreport.plots.style import INK, MUTED, axes_or_new, mark_of


@dataclass(frozen=True, slots=True)
class Ranked:
    """One model: its average rank (1 the best), its label, its place in canonical order, the key of its parts."""

    label: str
    rank: float
    index: int
    key: str


def critical_differences(
    models: Sequence[Ranked],
    groups: Sequence[Sequence[int]],
    ax: Any | None = None,
    *,
    critical_difference: float | None = None,
) -> Any:
    """Draw average ranks after Demsar (2006): the best on the left, labels on both sides.

    Parameters
    ----------
    models
        In any order.
    groups
        Places in ``models`` of those that a bar joins: the models that are not told apart.
    ax
        Matplotlib axes; new ones if None.
    critical_difference
        Drawn as a measure above the axis where given.

    Returns
    -------
    matplotlib.axes.Axes
        The axes that were drawn on.
    """
    axes = axes_or_new(ax)
    highest = max(len(models), 2)
    axes.set_xlim(1 - 0.05 * (highest - 1), highest + 0.05 * (highest - 1))
    depth = _labels(axes, models) + 0.6 * len(groups)
    for place, group in enumerate(sorted(groups, key=lambda group: min(models[i].rank for i in group))):
        at = -0.45 - 0.6 * place
        low, high = (extreme(models[i].rank for i in group) for extreme in (min, max))
        axes.plot([low, high], [at, at], color=INK, linewidth=2.6, solid_capstyle="butt")
    top = 0.8
    if critical_difference is not None:
        top = 1.9
        _measure(axes, critical_difference, highest)
    axes.plot([1, highest], [0, 0], color=MUTED, linewidth=0.9)
    for tick in range(1, highest + 1):
        axes.plot([tick, tick], [0, 0.14], color=MUTED, linewidth=0.9)
        axes.text(tick, 0.3, str(tick), ha="center", color=MUTED, fontsize=8)
    axes.set_ylim(-depth - 0.6, top)
    axes.set_axis_off()
    return axes


def _labels(axes: Any, models: Sequence[Ranked]) -> float:
    """Lead a line from each rank down and out to its label: the better half left, the others right."""
    order = sorted(range(len(models)), key=lambda i: (models[i].rank, models[i].label))
    left = order[: (len(order) + 1) // 2]
    low, high = axes.get_xlim()
    deepest = 0.0
    for side, members in (("left", left), ("right", order[len(left) :][::-1])):
        for step, i in enumerate(members):
            model, mark = models[i], mark_of(models[i].index)
            at = -1.2 - 0.62 * step - 0.3 * len(models) / 4
            edge, align, toward = (low, "right", -1) if side == "left" else (high, "left", 1)
            parts = axes.plot([model.rank, model.rank, edge], [0, at, at], color=mark.colour, linewidth=1.1)
            parts += axes.plot([model.rank], [0], marker=mark.marker, color=mark.colour, markersize=5.5)
            text = f"{model.label} {model.rank:.2f}"
            parts.append(axes.text(edge + toward * 0.01 * (high - low), at, text, ha=align, va="center",
                                   color=INK, parse_math=False, clip_on=False))  # fmt: skip
            for number, part in enumerate(parts):
                part.set_gid(f"{model.key}--rank-{number}")
            deepest = max(deepest, -at)
    return deepest


def _measure(axes: Any, length: float, highest: int) -> None:
    # A difference longer than the axis is cut there: no two models are told apart by it.
    end = min(1 + length, highest)
    axes.plot([1, end], [1.15, 1.15], color=MUTED, linewidth=1.4, solid_capstyle="butt")
    for x in (1, end):
        axes.plot([x, x], [1.03, 1.27], color=MUTED, linewidth=0.9)
    axes.text((1 + end) / 2, 1.42, f"critical difference {length:.2f}", ha="center", color=MUTED, fontsize=8)
