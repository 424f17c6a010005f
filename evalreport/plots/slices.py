"""Values by slice: a dot and its interval for each slice of a column, the value over all examples as a line."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from evalreport.plots.curves import name_of
from evalreport.plots.primary import is_metric, values_of
from evalreport.plots.style import FAINT, INK, MUTED, PAPER, axes_or_new, mark_of
from evalreport.registry import words
from evalreport.results import Results
from evalreport.texts import say


@dataclass(frozen=True, slots=True)
class SliceValue:
    """One slice of one model.

    Attributes
    ----------
    label
        The slice's name as it is to be shown.
    value, low, high
        The value and its interval; None where there is none.
    word
        What stands beside a flagged slice (``worse``, ``better``); empty: not flagged.
    judged
        False for a slice that is too small: drawn hollow.
    """

    label: str
    value: float | None
    low: float | None
    high: float | None
    word: str = ""
    judged: bool = True


def slice_values(
    rows: Sequence[SliceValue],
    ax: Any | None = None,
    *,
    index: int = 0,
    key: str = "m0",
    whole: tuple[float | None, float | None, float | None] = (None, None, None),
    title: str = "",
    axis_label: str = "",
    limits: tuple[float, float] | None = None,
    labelled: bool = True,
) -> Any:
    """Draw one model's values by slice from top to bottom.

    Parameters
    ----------
    ax
        Matplotlib axes; new ones if None.
    index, key
        The model's place in canonical order, and what names the drawn parts so that a page can hide them.
    whole
        Value, low and high over all examples: a line and a shaded band.
    limits
        Of the horizontal axis, so that several models can be compared.
    labelled
        Whether the slices' names stand on the left.

    Returns
    -------
    matplotlib.axes.Axes
        The axes that were drawn on.
    """
    axes = axes_or_new(ax)
    value, low, high = whole
    if low is not None and high is not None:
        axes.axvspan(low, high, color=FAINT, linewidth=0, zorder=0)
    if value is not None:
        axes.axvline(value, color=MUTED, linewidth=0.9, linestyle=(0, (3, 2)), zorder=1)
    for place, row in enumerate(rows):
        for number, part in enumerate(_draw_row(axes, row, place, index)):
            part.set_gid(f"{key}--slice-{place}-{number}")
    if limits is not None:
        axes.set_xlim(*limits)
    axes.set_ylim(max(len(rows), 1) - 0.4, -0.6)
    axes.set_yticks(
        range(len(rows)), [row.label for row in rows] if labelled else [""] * len(rows), parse_math=False
    )
    axes.tick_params(axis="y", labelcolor=INK)
    axes.spines["left"].set_visible(False)
    axes.grid(visible=False, axis="y")
    axes.set_title(title, fontsize=9, loc="left", parse_math=False)
    axes.set_xlabel(axis_label, parse_math=False)
    return axes


def _draw_row(axes: Any, row: SliceValue, place: int, index: int) -> list[Any]:
    if row.value is None:
        return [axes.text(0.01, place, say("chart.no_value"), color=MUTED, va="center", fontsize=7, parse_math=False,
                          transform=axes.get_yaxis_transform())]  # fmt: skip
    mark = mark_of(index)
    colour = mark.colour if row.judged else MUTED
    width = 2.0 if row.word else 1.2 if row.judged else 0.8
    parts: list[Any] = []
    if row.low is not None and row.high is not None:
        parts += axes.plot(
            [row.low, row.high], [place] * 2, color=colour, linewidth=width, solid_capstyle="butt"
        )
    parts += axes.plot(
        [row.value], [place], marker=mark.marker, markersize=6.2 if row.word else 4.6, linestyle="none",
        markerfacecolor=mark.colour if row.judged else PAPER, markeredgecolor=colour, markeredgewidth=0.9,
    )  # fmt: skip
    if row.word:
        parts.append(
            axes.annotate(row.word, (1.0, place), xycoords=axes.get_yaxis_transform(), xytext=(2, 0),
                          textcoords="offset points", va="center", fontsize=7.5, color=INK, annotation_clip=False,
                          parse_math=False)
        )  # fmt: skip
    return parts


def by_slice(
    results: Results,
    model: str,
    ax: Any | None = None,
    *,
    column: str | None = None,
    metric: str | None = None,
    names: Mapping[str, str] | None = None,
) -> Any:
    """Draw one model's values within the slices of a column, and over all examples as a line with its band.

    Parameters
    ----------
    model
        The model's name in the results.
    ax
        Matplotlib axes; new ones if None.
    column
        One that was sliced by; the first if None.
    metric
        As the command line spells it; the primary metric if None.
    names
        What is said for a slice's value; the value if None.

    Returns
    -------
    matplotlib.axes.Axes
        The axes that were drawn on.
    """
    wanted = metric if metric is not None else results.primary_metric
    own = [r for r in results.metrics if r.model == model and r.slice is not None and is_metric(r, wanted)]
    columns = [record.slice.column for record in own if record.slice is not None]
    chosen = column if column is not None else (columns[0] if columns else "")
    flagged = {
        r.slice.value: r
        for r in results.disparities
        if (r.model, r.slice.column, r.reference) == (model, chosen, "rest") and r.flagged
    }
    rows = []
    for record in own:
        if record.slice is None or record.slice.column != chosen:
            continue
        first = record.intervals[0] if record.intervals else None
        low, high = (None, None) if first is None else (first.low, first.high)
        value = record.slice.value
        word = "flagged" if value in flagged else ""
        rows.append(SliceValue(name_of(names, value), record.value, low, high, word))
    whole = values_of(results, wanted).get(model)
    first = whole.intervals[0] if whole is not None and whole.intervals else None
    index = results.models.index(model)
    return slice_values(
        rows, ax, index=index, key=f"m{index}", title=name_of(None, model), axis_label=words(wanted),
        whole=(None if whole is None else whole.value, None if first is None else first.low,
               None if first is None else first.high),
    )  # fmt: skip
