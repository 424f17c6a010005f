"""Confusion matrix as a heat map: rows are true classes, each coloured by its share of the row."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from evalreport.plots.curves import name_of
from evalreport.plots.style import INK, PAPER, axes_or_new, mark_of
from evalreport.results import Results

MOST_WRITTEN = 12
PALEST, DEPTH, STEPS = 0.04, 0.56, 12
CODES = (1, 2, 2, 2, 79)  # move, three lines, close
# Characters that fit beside each other under a matrix.
MOST_BESIDE = 24


def confusion(
    results: Results,
    model: str,
    ax: Any | None = None,
    *,
    name: str | None = None,
    labels: Sequence[str] | None = None,
) -> Any:
    """Draw one model's confusion matrix; the counts are written where they fit.

    Parameters
    ----------
    model
        The model's name in the results.
    ax
        Matplotlib axes; new ones if None.
    name
        What stands above the matrix; the model's name if None.
    labels
        What stands at the rows and columns, in the order of the classes; the classes themselves if None.

    Returns
    -------
    matplotlib.axes.Axes
        The axes that were drawn on.
    """
    axes = axes_or_new(ax)
    counts = _counts(results, model)
    totals = counts.sum(axis=1, keepdims=True)
    shares = np.divide(counts, totals, out=np.zeros_like(counts), where=totals > 0)
    size = len(results.classes)
    colour = mark_of(results.models.index(model)).colour
    if size <= MOST_WRITTEN:
        _write_cells(axes, counts, shares, colour)
    else:
        _shade_cells(axes, shares, colour)
    axes.set(
        xlim=(-0.5, max(size, 1) - 0.5), ylim=(max(size, 1) - 0.5, -0.5), xlabel="Predicted", ylabel="True",
        aspect="equal",
    )  # fmt: skip
    axes.set_title(name if name is not None else name_of(None, model), fontsize=9, parse_math=False)
    if size <= MOST_WRITTEN:
        shown = [name_of(None, label) for label in results.classes] if labels is None else labels
        axes.set_xticks(range(size), shown, parse_math=False)
        axes.set_yticks(range(size), shown, parse_math=False)
        if size * max(map(len, shown), default=0) > MOST_BESIDE:
            for text in axes.get_xticklabels():
                text.set(rotation=45, ha="right", rotation_mode="anchor")
    axes.grid(visible=False)
    axes.set_facecolor(PAPER)
    return axes


def _write_cells(axes: Any, counts: Any, shares: Any, colour: str) -> None:
    for i, j in np.ndindex(counts.shape):
        cell = axes.fill_between([j - 0.5, j + 0.5], i - 0.5, i + 0.5, color=colour, linewidth=0)
        cell.set_alpha(round(float(PALEST + DEPTH * shares[i, j]), 3))
        axes.text(j, i, f"{counts[i, j]:,.0f}", ha="center", va="center", color=INK, clip_on=True)


def _shade_cells(axes: Any, shares: Any, colour: str) -> None:
    """Shade very many cells in a few steps, those of one step as one path."""
    from matplotlib.patches import PathPatch
    from matplotlib.path import Path

    steps = np.ceil(shares * STEPS).astype(int)
    for step in range(1, STEPS + 1):
        corners = [
            Path(
                [(j - 0.5, i - 0.5), (j + 0.5, i - 0.5), (j + 0.5, i + 0.5), (j - 0.5, i + 0.5), (0, 0)],
                CODES,
            )
            for i, j in np.argwhere(steps == step)
        ]
        if corners:
            alpha = round(PALEST + DEPTH * step / STEPS, 3)
            whole = Path.make_compound_path(*corners)
            axes.add_patch(PathPatch(whole, facecolor=colour, linewidth=0, alpha=alpha))


def _counts(results: Results, model: str) -> Any:
    place = {label: i for i, label in enumerate(results.classes)}
    counts = np.zeros((len(place), len(place)))
    for cell in results.confusion:
        if cell.model == model:
            counts[place[cell.true], place[cell.predicted]] += cell.count
    return counts
