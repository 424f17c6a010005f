"""Values by slice: a dot and its interval for each slice of a column, the value over all examples as a line."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from evalreport.numbers import decimals_of, interval, number
from evalreport.plots.curves import is_metric, name_of, own_id, ranked, values_of, with_limits, write_title
from evalreport.plots.pairs import lay_rows, name_parts, write_beside
from evalreport.plots.style import DASHED, FAINT, INK, MUTED, NEW_AXES, PAPER, chart, mark_of
from evalreport.registry import words
from evalreport.results import Results
from evalreport.texts import say

if TYPE_CHECKING:
    from matplotlib.artist import Artist
    from matplotlib.axes import Axes
    from numpy.typing import NDArray


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


@chart
def slice_values(
    rows: Sequence[SliceValue],
    ax: Axes = NEW_AXES,
    *,
    index: int = 0,
    key: str = "m0",
    whole: tuple[float | None, float | None, float | None] = (None, None, None),
    title: str = "",
    axis_label: str = "",
    limits: tuple[float, float] | None = None,
    labelled: bool = True,
) -> None:
    """Draw one model's values by slice from top to bottom.

    Parameters
    ----------
    whole
        Value, low and high over all examples: a line and a shaded band.
    limits
        Of the horizontal axis, so that several models can be compared.
    labelled
        Whether the slices' names stand on the left.
    """
    value, low, high = whole
    if low is not None and high is not None:
        ax.axvspan(low, high, color=FAINT, linewidth=0, zorder=0)
    if value is not None:
        ax.axvline(value, color=MUTED, linewidth=0.9, linestyle=DASHED, zorder=1)
    for place, row in enumerate(rows):
        name_parts(_draw_row(ax, row, place, index), f"{key}--slice-{place}")
    if limits is not None:
        ax.set_xlim(*limits)
    ax.set_ylim(max(len(rows), 1) - 0.4, -0.6)
    ax.set_yticks(
        range(len(rows)), [row.label for row in rows] if labelled else [""] * len(rows), parse_math=False
    )
    ax.tick_params(axis="y", labelcolor=INK)
    ax.spines["left"].set_visible(False)
    ax.grid(visible=False, axis="y")
    ax.set_title(title, fontsize=9, loc="left", parse_math=False)
    ax.set_xlabel(axis_label, parse_math=False)


def _draw_row(axes: Axes, row: SliceValue, place: int, index: int) -> list[Artist]:
    if row.value is None:
        return [axes.text(0.01, place, say("chart.no_value"), color=MUTED, va="center", fontsize=7, parse_math=False,
                          transform=axes.get_yaxis_transform())]  # fmt: skip
    mark = mark_of(index)
    colour = mark.colour if row.judged else MUTED
    width = 2.0 if row.word else 1.2 if row.judged else 0.8
    parts: list[Artist] = []
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


@chart
def by_slice(
    results: Results,
    model: str,
    ax: Axes = NEW_AXES,
    *,
    column: str | None = None,
    metric: str | None = None,
    names: Mapping[str, str] | None = None,
) -> None:
    """Draw one model's values within the slices of a column, and over all examples as a line with its band.

    Parameters
    ----------
    column
        One that was sliced by; the first if None.
    metric
        As the command line spells it; the primary metric if None.
    names
        What is said for a slice's value; the value if None.
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
        word = "flagged" if record.slice.value in flagged else ""
        rows.append(SliceValue(name_of(names, record.slice.value), *with_limits(record), word))
    index = results.models.index(model)
    slice_values(
        rows, ax, index=index, key=f"m{index}", title=name_of(None, model), axis_label=words(wanted),
        whole=with_limits(values_of(results, wanted).get(model)),
    )  # fmt: skip


@chart
def values(
    results: Results,
    ax: Axes = NEW_AXES,
    *,
    metric: str | None = None,
    names: Mapping[str, str] | None = None,
) -> None:
    """Draw every model's value with its recommended interval, the model that ranks first on top.

    Intervals that overlap are no test: for which of two models is better, draw `forest`.

    Parameters
    ----------
    metric
        As the command line spells it (``f1_macro``, ``recall[class=3]``); the primary metric if None.

    Examples
    --------
    >>> import evalreport as er
    >>> from evalreport import plots
    >>> labels = {"forest": {"y_pred": [1, 0, 1, 1]}, "logreg": {"y_pred": [0, 0, 1, 0]}}
    >>> results = er.evaluate(labels, truth=[1, 0, 1, 0], resamples=100)
    >>> plots.values(results, metric="f1").get_xlabel()
    'F1'
    """
    wanted = metric if metric is not None else results.primary_metric
    found = values_of(results, wanted)
    decimals = decimals_of(record.standard_error for record in found.values())
    models = [model for model in ranked(results) if model in found]
    for place, model in enumerate(models):
        record, index = found[model], results.models.index(model)
        mark = mark_of(index)
        parts: list[Artist] = []
        value, low, high = with_limits(record)
        if low is not None and high is not None:
            parts += ax.plot(
                [low, high], [place] * 2, color=mark.colour, linewidth=2.0, solid_capstyle="butt"
            )
        text = say("chart.no_value")
        if value is not None:
            parts += ax.plot(
                [value], [place], marker=mark.marker, color=mark.colour, markersize=6.5, linestyle="none"
            )
            text = f"{number(value, decimals)} {interval(low, high, decimals)}"
        parts += [write_beside(ax, place, name_of(names, model)), write_beside(ax, place, text, right=True)]
        for number_of_part, part in enumerate(parts):
            part.set_gid(own_id(ax, index, f"value-{number_of_part}"))
    lay_rows(ax, len(models), words(wanted))


MOST_WRITTEN = 12
PALEST, DEPTH, STEPS = 0.04, 0.56, 12
CODES = (1, 2, 2, 2, 79)  # move, three lines, close
# Characters that fit beside each other under a matrix.
MOST_BESIDE = 24


@chart
def confusion(
    results: Results,
    model: str,
    ax: Axes = NEW_AXES,
    *,
    name: str | None = None,
    labels: Sequence[str] | None = None,
) -> None:
    """Draw one model's confusion matrix; the counts are written where they fit.

    Parameters
    ----------
    labels
        What stands at the rows and columns, in the order of the classes; the classes themselves if None.
    """
    counts, outside = _counts(results, model)
    totals = counts.sum(axis=1, keepdims=True)
    shares = np.divide(counts, totals, out=np.zeros_like(counts), where=totals > 0)
    size, width = counts.shape
    colour = mark_of(results.models.index(model)).colour
    if size <= MOST_WRITTEN:
        _write_cells(ax, counts, shares, colour)
    else:
        _shade_cells(ax, shares, colour)
    ax.set(
        xlim=(-0.5, max(width, 1) - 0.5), ylim=(max(size, 1) - 0.5, -0.5), xlabel="Predicted", ylabel="True",
        aspect="equal",
    )  # fmt: skip
    write_title(ax, name, model)
    if size <= MOST_WRITTEN:
        shown = [name_of(None, label) for label in results.classes] if labels is None else labels
        ax.set_xticks(range(width), [*shown, *outside], parse_math=False)
        ax.set_yticks(range(size), shown, parse_math=False)
        if size * max(map(len, shown), default=0) > MOST_BESIDE:
            for text in ax.get_xticklabels():
                text.set(rotation=45, ha="right", rotation_mode="anchor")
    ax.grid(visible=False)
    ax.set_facecolor(PAPER)


def _write_cells(axes: Axes, counts: NDArray[np.float64], shares: NDArray[np.float64], colour: str) -> None:
    for i, j in np.ndindex(counts.shape):
        cell = axes.fill_between([j - 0.5, j + 0.5], i - 0.5, i + 0.5, color=colour, linewidth=0)
        cell.set_alpha(round(float(PALEST + DEPTH * shares[i, j]), 3))
        axes.text(j, i, f"{counts[i, j]:,.0f}", ha="center", va="center", color=INK, clip_on=True)


def _shade_cells(axes: Axes, shares: NDArray[np.float64], colour: str) -> None:
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


def _counts(results: Results, model: str) -> tuple[NDArray[np.float64], list[str]]:
    """Count the cells, (classes, answers), and name the answers outside all classes, which stand behind them."""
    cells = [cell for cell in results.confusion if cell.model == model]
    outside = sorted({cell.predicted for cell in cells} - set(results.classes))
    place = {label: i for i, label in enumerate((*results.classes, *outside))}
    counts = np.zeros((len(results.classes), len(place)))
    for cell in cells:
        counts[place[cell.true], place[cell.predicted]] += cell.count
    return counts, outside
