"""Map of pairwise p-values: how strongly the data speak against a pair being alike, with the verdict in words."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from evalreport.numbers import p_value
from evalreport.plots.curves import name_of
from evalreport.plots.primary import paired_on_primary, ranked
from evalreport.plots.style import FAINT, INK, MUTED, axes_or_new, mark_of
from evalreport.results import Results
from evalreport.texts import named, say

STRONGEST = 4.0
"""From p = 10^-4 on a cell is as dark as it gets."""

MOST_WRITTEN = 14


def p_values(results: Results, ax: Any | None = None, *, names: Mapping[str, str] | None = None) -> Any:
    """Draw the adjusted p-value of every pair on the primary metric: the darker, the smaller; the word is the verdict.

    The word is about the row's model seen from the column's; "n.d.": not distinguishable. Models stand in rank order.

    Parameters
    ----------
    ax
        Matplotlib axes; new ones if None.
    names
        What is said for a model; its name if None.

    Returns
    -------
    matplotlib.axes.Axes
        The axes that were drawn on.

    Examples
    --------
    >>> import evalreport as er
    >>> from evalreport import plots
    >>> labels = {"forest": {"y_pred": [1, 0, 1, 1]}, "logreg": {"y_pred": [0, 0, 1, 0]}}
    >>> results = er.evaluate(labels, truth=[1, 0, 1, 0], resamples=100)
    >>> [text.get_text().split() for text in plots.p_values(results).texts]
    [['n.d.', '1']]
    """
    axes = axes_or_new(ax)
    models = ranked(results)
    last = len(models) - 1
    for i, row in enumerate(models[1:]):
        for j, column in enumerate(models[: i + 1]):
            paired = paired_on_primary(results, row, column)
            key = "_".join(f"m{results.models.index(model)}" for model in (row, column))
            _cell(axes, i, j, key, paired, written=len(models) <= MOST_WRITTEN)
    axes.set(xlim=(-0.5, max(last, 1) - 0.5), ylim=(max(last, 1) - 0.5, -0.5))
    shown = [name_of(names, model) for model in models]
    axes.set_yticks(range(last), shown[1:], parse_math=False)
    axes.set_xticks(range(last), shown[:last], parse_math=False)
    for text in axes.get_xticklabels():
        text.set(rotation=35, ha="right", rotation_mode="anchor")
    axes.tick_params(axis="both", labelcolor=INK)
    axes.grid(visible=False)
    for side in ("left", "bottom"):
        axes.spines[side].set_visible(False)
    return axes


def _cell(axes: Any, i: int, j: int, key: str, paired: Any, *, written: bool) -> None:
    p = None if paired is None else paired.p
    colour, alpha, text = FAINT, 1.0, say("chart.no_test")
    if p is not None:
        strength = min(-math.log10(max(p, 1e-300)), STRONGEST) / STRONGEST
        colour, alpha = mark_of(0).colour, round(0.04 + 0.46 * strength, 3)
        word = named("chart.pair", paired.verdict or "", "")
        text = f"{word}\n{p_value(p)}" if word else p_value(p)
    cell = axes.fill_between([j - 0.48, j + 0.48], i - 0.48, i + 0.48, color=colour, alpha=alpha, linewidth=0)
    cell.set_gid(f"{key}--p")
    if written:
        label = axes.text(j, i, text, ha="center", va="center", fontsize=7.5, color=INK if p is not None else MUTED,
                          linespacing=1.3, clip_on=True, parse_math=False)  # fmt: skip
        label.set_gid(f"{key}--p-text")
