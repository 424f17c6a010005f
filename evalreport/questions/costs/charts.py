"""The chart of quality against cost: each model with both intervals, and the steps through the undominated ones."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from evalreport.plots.style import DASHED, GREY, INK, MUTED, NEW_AXES, PAPER, Names, chart, mark_of
from evalreport.questions.costs.records import CostRecord
from evalreport.schema.lookups import place_of_model, values_of, with_limits
from evalreport.schema.results import Results
from evalreport.texts import say

if TYPE_CHECKING:
    from matplotlib.axes import Axes

LOG_FROM = 5.0
"""From so many times the smallest mean on, the axis of costs is logarithmic."""
APART = 0.06
"""Least distance between two labels, as a share of the axis's height."""


def costs_drawn(results: Results, column: str) -> list[CostRecord]:
    """Return the overall records of a column whose model has a value of the primary metric, by their mean."""
    values = values_of(results, results.shown_metric)
    own = [r for r in results.costs if r.column == column and r.slice is None]
    known = [r for r in own if r.model in values and values[r.model].value is not None]
    return sorted(known, key=lambda r: (r.mean, r.model))


def is_logarithmic(records: Sequence[CostRecord]) -> bool:
    """Say whether the largest mean is more than five times the smallest, so that the axis is logarithmic."""
    means = [r.mean for r in records]
    return bool(means) and min(means) > 0 and max(means) > LOG_FROM * min(means)


@chart
def quality_against_cost(
    results: Results,
    ax: Axes = NEW_AXES,
    *,
    column: str | None = None,
    names: Names = None,
    greater_is_better: bool = True,
    axis_label: str = "",
) -> None:
    """Draw each model's primary value over its mean cost, both with their intervals.

    Models that no other is as good and as cheap as have full marks, joined by dashed steps; the others are hollow and
    grey. The axis of costs is logarithmic where means differ by more than five times.

    Parameters
    ----------
    column
        The column of costs; the first one if None.
    greater_is_better
        Whether greater values are better; else the axis of quality is turned, so that better is above.
    """
    column = next((r.column for r in results.costs), "") if column is None else column
    records, values = costs_drawn(results, column), values_of(results, results.shown_metric)
    if is_logarithmic(records):
        ax.set_xscale("log")
    steps = []
    for record in records:
        value, low, high = with_limits(values[record.model])
        assert value is not None
        mark = mark_of(place_of_model(results, record.model))
        full = record.undominated is not False
        colour = mark.colour if full else GREY
        if low is not None and high is not None:
            ax.plot([record.mean] * 2, [low, high], color=colour, linewidth=1.2)
        if record.low is not None and record.high is not None:
            ax.plot([record.low, record.high], [value] * 2, color=colour, linewidth=1.2)
        ax.plot(
            [record.mean], [value], marker=mark.marker, markersize=6, linestyle="none", color=colour,
            markerfacecolor=colour if full else PAPER, markeredgecolor=colour, zorder=3,
        )  # fmt: skip
        if full:
            steps.append((record.mean, value))
    if len(steps) > 1:
        x, y = zip(*steps, strict=True)
        ax.step(x, y, where="post", color=MUTED, linewidth=0.9, linestyle=DASHED, zorder=1)
    if not greater_is_better:
        ax.invert_yaxis()
    ax.margins(0.12, 0.12)
    _write_names(ax, results, records, names or {})
    ax.text(
        0.99, 0.02, say("costs.better_and_cheaper"), transform=ax.transAxes, ha="right", va="bottom",
        fontsize=8, color=MUTED,
    )  # fmt: skip
    _ticks(ax)
    ax.set_xlabel(axis_label)


def _write_names(ax: Axes, results: Results, records: Sequence[CostRecord], names: Mapping[str, str]) -> None:
    """Write each model's name beside its mark, moved up or down where two would meet.

    Above the steps on their left half, where they rise to the right, a name would lie on one: it stands below.
    """
    values = values_of(results, results.shown_metric)
    least, most = sorted(ax.get_ylim())
    height, turned = (most - least) or 1.0, ax.yaxis_inverted()
    left, right = ax.get_xlim()
    middle = (left * right) ** 0.5 if ax.get_xscale() == "log" else (left + right) / 2
    stepped = sum(record.undominated is not False for record in records) > 1
    taken: list[float] = []
    for record in sorted(records, key=lambda r: values[r.model].value or 0.0):
        full, at_left = record.undominated is not False, record.mean < middle
        upwards = (-1.0 if turned else 1.0) * (-1.0 if stepped and full and at_left else 1.0)
        at = ((values[record.model].value or 0.0) - least) / height + 0.035 * upwards
        while any(abs(at - other) < APART for other in taken):
            at += APART / 2 * upwards
        taken.append(at)
        mark = mark_of(place_of_model(results, record.model))
        ax.annotate(
            names.get(record.model, record.model), (record.mean, least + at * height),
            xytext=(5 if at_left else -5, 0), textcoords="offset points", va="center",
            ha="left" if at_left else "right", fontsize=8.5, parse_math=False,
            color=mark.colour if full else INK,
        )  # fmt: skip


def _ticks(ax: Axes) -> None:
    """Write the ticks of a logarithmic axis of costs as plain numbers: 1, 2, 5 and their powers of ten."""
    if ax.get_xscale() != "log":
        return
    from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter

    ax.xaxis.set_major_locator(LogLocator(subs=(1.0, 2.0, 5.0), numticks=8))
    ax.xaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
    ax.xaxis.set_minor_formatter(NullFormatter())
    ax.grid(visible=False, axis="x")
