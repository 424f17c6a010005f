"""Values by slice: a dot and its interval for each slice of a column, the value over all examples as a line."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from evalreport.numbers import decimals_of, interval, number
from evalreport.plots.curves import is_metric, name_of, own_id, ranked, values_of
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
        for i, part in enumerate(_draw_row(axes, row, place, index)):
            part.set_gid(f"{key}--slice-{place}-{i}")
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


def values(
    results: Results,
    ax: Any | None = None,
    *,
    metric: str | None = None,
    names: Mapping[str, str] | None = None,
) -> Any:
    """Draw every model's value with its recommended interval, the model that ranks first on top.

    Intervals that overlap are no test: for which of two models is better, draw `forest`.

    Parameters
    ----------
    ax
        Matplotlib axes; new ones if None.
    metric
        As the command line spells it (``f1_macro``, ``recall[class=3]``); the primary metric if None.
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
    >>> plots.values(results, metric="f1").get_xlabel()
    'F1'
    """
    axes = axes_or_new(ax)
    wanted = metric if metric is not None else results.primary_metric
    found = values_of(results, wanted)
    decimals = decimals_of(record.standard_error for record in found.values())
    models = [model for model in ranked(results) if model in found]
    for place, model in enumerate(models):
        record, index = found[model], results.models.index(model)
        mark, parts = mark_of(index), []
        first = record.intervals[0] if record.intervals else None
        low, high = (None, None) if first is None else (first.low, first.high)
        if low is not None and high is not None:
            parts += axes.plot(
                [low, high], [place] * 2, color=mark.colour, linewidth=2.0, solid_capstyle="butt"
            )
        text = say("chart.no_value")
        if record.value is not None:
            parts += axes.plot(
                [record.value],
                [place],
                marker=mark.marker,
                color=mark.colour,
                markersize=6.5,
                linestyle="none",
            )
            text = f"{number(record.value, decimals)} {interval(low, high, decimals)}"
        side = {
            "va": "center",
            "clip_on": False,
            "parse_math": False,
            "transform": axes.get_yaxis_transform(),
        }
        parts.append(axes.text(-0.02, place, name_of(names, model), ha="right", color=INK, **side))
        parts.append(axes.text(1.02, place, text, ha="left", color=MUTED, **side))
        for number_of_part, part in enumerate(parts):
            part.set_gid(own_id(axes, index, f"value-{number_of_part}"))
    axes.set_yticks([])
    axes.set_ylim(max(len(models), 1) - 0.4, -0.6)
    axes.spines["left"].set_visible(False)
    axes.grid(visible=False, axis="y")
    axes.set_xlabel(words(wanted), parse_math=False)
    return axes


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
