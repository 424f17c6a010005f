"""Confusion matrix as a heat map: rows are true classes, each coloured by its share of the row."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from evalreport.plots.curves import name_of
from evalreport.plots.style import INK, PAPER, axes_or_new, mark_of
from evalreport.results import Results

MOST_WRITTEN = 12
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
    for i in range(size):
        for j in range(size):
            cell = axes.fill_between([j - 0.5, j + 0.5], i - 0.5, i + 0.5, color=colour, linewidth=0)
            cell.set_alpha(round(float(0.04 + 0.56 * shares[i, j]), 3))
            if size <= MOST_WRITTEN:
                axes.text(j, i, f"{counts[i, j]:,.0f}", ha="center", va="center", color=INK)
    axes.set(
        xlim=(-0.5, size - 0.5), ylim=(size - 0.5, -0.5), xlabel="Predicted", ylabel="True", aspect="equal"
    )
    axes.set_title(name if name is not None else name_of(None, model), fontsize=9, parse_math=False)
    if size <= MOST_WRITTEN:
        shown = results.classes if labels is None else labels
        axes.set_xticks(range(size), shown, parse_math=False)
        axes.set_yticks(range(size), shown, parse_math=False)
        if size * max(map(len, shown)) > MOST_BESIDE:
            for text in axes.get_xticklabels():
                text.set(rotation=45, ha="right", rotation_mode="anchor")
    axes.grid(visible=False)
    axes.set_facecolor(PAPER)
    return axes


def _counts(results: Results, model: str) -> Any:
    place = {label: i for i, label in enumerate(results.classes)}
    counts = np.zeros((len(place), len(place)))
    for cell in results.confusion:
        if cell.model == model:
            counts[place[cell.true], place[cell.predicted]] += cell.count
    return counts
