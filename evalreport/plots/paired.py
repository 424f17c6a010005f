"""Forest plot of paired differences: each with its interval, zero marked, the declared margin shaded."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any

from evalreport.numbers import decimals_of, number
from evalreport.plots.curves import name_of
from evalreport.plots.primary import paired_on_primary, primary_words, ranked
from evalreport.plots.style import FAINT, INK, MUTED, axes_or_new, mark_of
from evalreport.results import Results
from evalreport.texts import say

MOST_PAIRS = 15


@dataclass(frozen=True, slots=True)
class Difference:
    """One row: what is compared, the difference, its interval, its text.

    ``index`` is the place in canonical order of the model whose mark the row bears; ``key`` names the
    drawn parts, so that a page can hide them.
    """

    label: str
    difference: float
    low: float | None
    high: float | None
    text: str
    index: int
    key: str


def forest(
    source: Results | Sequence[Difference],
    ax: Any | None = None,
    *,
    axis_label: str = "",
    margin: float | None = None,
    names: Mapping[str, str] | None = None,
) -> Any:
    """Draw paired differences from top to bottom, the largest first, each with its one interval.

    Parameters
    ----------
    source
        Results, of which the differences on the primary metric are drawn (of very many pairs those with the model
        that ranks first); or differences, in the units of ``axis_label``.
    ax
        Matplotlib axes; new ones if None.
    margin
        Half width of the region of practical equivalence; that of the results if None. Shaded where there is one.
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
    >>> plots.forest(results).get_xlabel()
    'Difference in accuracy'
    """
    if isinstance(source, Results):
        rows: Sequence[Difference] = difference_rows(source, names)
        axis_label = axis_label or say("chart.difference", metric=primary_words(source))
        margin = source.options.get("margin") if margin is None else margin
    else:
        rows = source
    axes = axes_or_new(ax)
    if margin is not None:
        axes.axvspan(-margin, margin, color=FAINT, linewidth=0, zorder=0)
    axes.axvline(0.0, color=MUTED, linewidth=0.9, linestyle=(0, (3, 2)), zorder=1)
    for place, row in enumerate(rows):
        _draw_row(axes, row, place)
    axes.set_yticks([])
    axes.set_ylim(max(len(rows), 1) - 0.4, -0.6)
    axes.spines["left"].set_visible(False)
    axes.grid(visible=False, axis="y")
    axes.set_xlabel(axis_label, parse_math=False)
    return axes


def _draw_row(axes: Any, row: Difference, place: int) -> None:
    mark = mark_of(row.index)
    parts = []
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
    for piece, part in enumerate(parts):
        part.set_gid(f"{row.key}--{place}-{piece}")


def difference_rows(results: Results, names: Mapping[str, str] | None = None) -> list[Difference]:
    """Give the paired differences on the primary metric with their intervals, the largest first."""
    order = ranked(results)
    if results.baseline is not None:
        pairs = [(model, results.baseline) for model in order if model != results.baseline]
    else:
        pairs = list(combinations(order, 2))
        pairs = (
            pairs if len(pairs) <= MOST_PAIRS else [(order[0], model) for model in order[1 : MOST_PAIRS + 1]]
        )
    found = [(a, b, paired) for a, b in pairs if (paired := paired_on_primary(results, a, b)) is not None]
    widths = (
        None if p.low is None or p.high is None else (p.high - p.low) / 4 for _, _, p in found
    )  # about a standard error
    decimals = decimals_of(widths)
    rows = []
    for a, b, paired in found:
        text = number(paired.difference, decimals, signed=True)
        if paired.verdict not in (None, "better", "worse"):
            text += f" {say(f'chart.pair.{paired.verdict}')}"
        label = name_of(names, a) + ("" if results.baseline is not None else f" \u2212 {name_of(names, b)}")
        i, j = results.models.index(a), results.models.index(b)
        key = f"m{i}" if results.baseline is not None else f"m{i}_m{j}"
        rows.append(Difference(label, paired.difference, paired.low, paired.high, text, i, key))
    return sorted(rows, key=lambda row: -abs(row.difference))
