"""Strip of fold differences: every fold a point, a row a pair, the mean as a line across its row."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any

from evalreport.plots.curves import name_of
from evalreport.plots.primary import is_metric, primary_words, ranked
from evalreport.plots.style import INK, MUTED, axes_or_new, mark_of
from evalreport.results import Results
from evalreport.texts import say

MOST_PAIRS = 15


@dataclass(frozen=True, slots=True)
class Strip:
    """One row: its label, the differences on the single fits, its model's place in canonical order, its key."""

    label: str
    differences: tuple[float, ...]
    index: int
    key: str


def strip(
    source: Results | Sequence[Strip],
    ax: Any | None = None,
    *,
    axis_label: str = "",
    names: Mapping[str, str] | None = None,
) -> Any:
    """Draw the differences on single fits from top to bottom.

    Parameters
    ----------
    source
        Results, of which the differences on the primary metric are drawn; or rows, in the units of ``axis_label``.
    ax
        Matplotlib axes; new ones if None.
    names
        What is said for a model; its name if None.

    Returns
    -------
    matplotlib.axes.Axes
        The axes that were drawn on.
    """
    if isinstance(source, Results):
        rows: Sequence[Strip] = strips(source, names)
        axis_label = axis_label or say("chart.difference", metric=primary_words(source))
    else:
        rows = source
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
    axes.set_ylim(max(len(rows), 1) - 0.45, -0.55)
    axes.spines["left"].set_visible(False)
    axes.grid(visible=False, axis="y")
    axes.set_xlabel(axis_label, parse_math=False)
    return axes


def strips(results: Results, names: Mapping[str, str] | None = None) -> list[Strip]:
    """Give the differences on single fits, of every pair or (of many) of those with the model that ranks first."""
    folds: dict[str, list[float | None]] = {}
    for record in results.folds:
        if is_metric(record, results.primary_metric):
            folds.setdefault(record.model, []).append(record.value)
    models = [model for model in ranked(results) if None not in folds.get(model, [None])]
    pairs = list(combinations(models, 2))
    if results.baseline in models:
        pairs = [(model, results.baseline) for model in models if model != results.baseline]
    elif len(pairs) > MOST_PAIRS:
        pairs = [(models[0], model) for model in models[1 : MOST_PAIRS + 1]]
    rows = []
    for a, b in pairs:
        if len(folds[a]) == len(folds[b]) > 1:
            both = zip(folds[a], folds[b], strict=True)
            differences = tuple(x - y for x, y in both if x is not None and y is not None)
            i, j = results.models.index(a), results.models.index(b)
            label = f"{name_of(names, a)} \u2212 {name_of(names, b)}"
            rows.append(Strip(label, differences, i, f"m{i}_m{j}"))
    return rows
