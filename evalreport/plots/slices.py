"""Values of models, and of one model by slice; confusion matrices."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from evalreport.numbers import decimals_of, interval, number
from evalreport.plots.curves import (
    is_metric,
    name_of,
    own_id,
    place_of_model,
    ranked,
    values_of,
    with_limits,
    write_title,
)
from evalreport.plots.pairs import lay_rows, name_parts, write_beside
from evalreport.plots.style import DASHED, FAINT, INK, MUTED, NEW_AXES, PAPER, chart, mark_of
from evalreport.records import MetricRecord
from evalreport.registry import words
from evalreport.results import Results
from evalreport.texts import say

if TYPE_CHECKING:
    from matplotlib.artist import Artist
    from matplotlib.axes import Axes
    from numpy.typing import NDArray


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
        r.slice.value
        for r in results.disparities
        if (r.model, r.slice.column, r.reference) == (model, chosen, "rest") and r.flagged
    }
    rows = [(r.slice.value, r) for r in own if r.slice is not None and r.slice.column == chosen]
    index = place_of_model(results, model)
    whole, low, high = with_limits(values_of(results, wanted).get(model))
    if low is not None and high is not None:
        ax.axvspan(low, high, color=FAINT, linewidth=0, zorder=0)
    if whole is not None:
        ax.axvline(whole, color=MUTED, linewidth=0.9, linestyle=DASHED, zorder=1)
    for place, (value, record) in enumerate(rows):
        parts = _draw_row(ax, record, place, index)
        parts.append(write_beside(ax, place, name_of(names, value)))
        if value in flagged:
            parts.append(write_beside(ax, place, say("chart.flagged"), right=True))
        name_parts(parts, f"m{index}--slice-{place}")
    lay_rows(ax, len(rows), words(wanted))
    write_title(ax, None, model)


def _draw_row(axes: Axes, record: MetricRecord, place: int, index: int) -> list[Artist]:
    """Draw a value with its first interval."""
    value, low, high = with_limits(record)
    mark = mark_of(index)
    parts: list[Artist] = []
    if low is not None and high is not None:
        parts += axes.plot([low, high], [place] * 2, color=mark.colour, linewidth=2.0, solid_capstyle="butt")
    if value is not None:
        parts += axes.plot(
            [value], [place], marker=mark.marker, color=mark.colour, markersize=6.5, linestyle="none"
        )
    return parts


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
        record, index = found[model], place_of_model(results, model)
        value, low, high = with_limits(record)
        text = say("chart.no_value")
        if value is not None:
            text = f"{number(value, decimals)} {interval(low, high, decimals)}"
        parts = _draw_row(ax, record, place, index)
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
    colour = mark_of(place_of_model(results, model)).colour
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
