"""The chart of coverage against level, and of the width that goes with it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from evalreport import numbers
from evalreport.plots.curves import draw_diagonal
from evalreport.plots.style import NEW_AXES, Names, chart, mark_of
from evalreport.questions.coverage.records import CoverageRecord
from evalreport.schema.lookups import place_of_model
from evalreport.schema.results import Results
from evalreport.texts import say

if TYPE_CHECKING:
    from matplotlib.axes import Axes

FEW_LEVELS = 4


def overall(results: Results, model: str) -> list[CoverageRecord]:
    """Return a model's records of all rows, by level."""
    own = [r for r in results.coverages if r.model == model and r.by == "all" and r.coverage is not None]
    return sorted(own, key=lambda r: r.level)


@chart
def coverage_by_level(results: Results, ax: Axes = NEW_AXES, *, names: Names = None) -> None:
    """Draw the share of true values that lie in their intervals against the level, with its interval.

    On the diagonal intervals hold as often as they say; below it they are too narrow.
    """
    draw_diagonal(ax)
    _draw(results, ax, names or {}, width=False)
    _lay_levels(results, ax)
    ax.set_ylabel(say("coverage.share"))


@chart
def width_by_level(results: Results, ax: Axes = NEW_AXES, *, names: Names = None) -> None:
    """Draw the mean width of the intervals against the level, with its interval."""
    _draw(results, ax, names or {}, width=True)
    ax.set_ylim(bottom=0)
    _lay_levels(results, ax)
    ax.set_ylabel(say("coverage.width"))


def _lay_levels(results: Results, ax: Axes) -> None:
    """Give both charts one axis of levels; where these are few, each has its tick."""
    levels = sorted({record.level for record in results.coverages})
    ax.set_xlim(max(min(levels, default=0.0) - 0.1, 0.0), 1.0)
    if len(levels) <= FEW_LEVELS:
        ax.set_xticks(levels, [numbers.percent(level) for level in levels])
    ax.set_xlabel(say("coverage.level"))


def _draw(results: Results, ax: Axes, names: Mapping[str, str], *, width: bool) -> None:
    models = [m for m in results.models if overall(results, m)]
    for place, model in enumerate(models):
        mark = mark_of(place_of_model(results, model))
        shift = 0.004 * (place - (len(models) - 1) / 2)
        records = overall(results, model)
        x = [record.level + shift for record in records]
        y = [(record.width if width else record.coverage) or 0.0 for record in records]
        ax.plot(
            x, y, color=mark.colour, marker=mark.marker, markersize=5, linewidth=1.2, gid=f"series-{place}",
            label=names.get(model, model),
        )  # fmt: skip
        for at, record in zip(x, records, strict=True):
            low, high = (record.width_low, record.width_high) if width else (record.low, record.high)
            if low is not None and high is not None:
                ax.plot([at, at], [low, high], color=mark.colour, linewidth=1.2)
    if len(models) > 1:
        ax.legend(loc="best", fontsize=8, frameon=False)
