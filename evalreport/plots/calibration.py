"""Whether probabilities can be trusted: reliability with counts, and accuracy where doubtful answers are withheld."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any

from evalreport.plots.curves import curve_of, draw_curve, in_colour, name_of, own_id, with_legend
from evalreport.plots.style import FAINT, MUTED, axes_or_new, mark_of
from evalreport.results import Results
from evalreport.texts import say

DEPTH = 0.24
"""Height of the strip of counts below the diagram."""


def reliability(results: Results, model: str, ax: Any | None = None, *, name: str | None = None) -> Any:
    """Draw the share that came true against the mean forecast, each bin with its interval, the counts below.

    Parameters
    ----------
    model
        The model's name in the results.
    ax
        Matplotlib axes; new ones if None.
    name
        What stands above; the model's name if None.

    Returns
    -------
    matplotlib.axes.Axes
        The axes that were drawn on.
    """
    axes = axes_or_new(ax)
    index = results.models.index(model)
    mark, curve = mark_of(index), curve_of(results, model, "reliability", None)
    axes.plot([0, 1], [0, 1], color=MUTED, linewidth=0.8, linestyle=(0, (3, 2)))
    if curve is not None:
        if curve.low is not None and curve.high is not None:
            limits = axes.vlines(curve.x, curve.low, curve.high, color=mark.colour, linewidth=1.4)
            limits.set_gid(own_id(axes, index, "limits"))
        line = axes.plot(
            curve.x, curve.y, color=mark.colour, linewidth=1.3, marker=mark.marker, markersize=4.5,
            linestyle=mark.dash,
        )[0]  # fmt: skip
        line.set_gid(own_id(axes, index, "line"))
        _draw_counts(axes, curve.x, curve.count or ())
    axes.axhline(0.0, color=MUTED, linewidth=0.6)
    axes.set(xlim=(-0.02, 1.02), ylim=(-DEPTH - 0.03, 1.02))
    ticks = [0.0, 0.2, 0.4, 0.6, 0.8, 1.0]
    axes.set_xticks(ticks, ["0", "0.2", "0.4", "0.6", "0.8", "1"])
    axes.set_yticks(ticks, ["0", "0.2", "0.4", "0.6", "0.8", "1"])
    axes.set_xlabel(say("chart.forecast"))
    axes.set_ylabel(say("chart.came_true"), y=0.6)
    axes.set_title(name if name is not None else model, fontsize=9, parse_math=False)
    return axes


def _draw_counts(axes: Any, x: Any, counts: Any) -> None:
    """Draw a bar for each bin in the strip below, the longest for the fullest bin."""
    most = max(counts, default=0)
    edges, tops = [], []
    for forecast, count in zip(x, counts, strict=False):
        left = min(int(forecast * 10), 9) / 10
        top = -DEPTH + 0.9 * DEPTH * count / most
        # One outline for all bars, down to the bottom between them: an area apiece costs more than the rest.
        edges += [left + 0.01, left + 0.01, left + 0.09, left + 0.09]
        tops += [-DEPTH, top, top, -DEPTH]
    axes.fill_between(edges, -DEPTH, tops, color=MUTED, alpha=0.45, linewidth=0)
    axes.axhspan(-DEPTH - 0.03, -DEPTH, color=FAINT, linewidth=0)


def accuracy_rejection(
    results: Results,
    ax: Any | None = None,
    *,
    names: Mapping[str, str] | None = None,
    legend: bool = True,
    highlight: Collection[str] | None = None,
) -> Any:
    """Draw the accuracy on what is kept when the least certain answers are rejected first.

    Parameters
    ----------
    ax
        Matplotlib axes; new ones if None.
    names
        What the legend says for a model; the model's name if None.
    legend
        Whether there is one.
    highlight
        The models that are drawn in colour; of more than six the first four in rank if None.

    Returns
    -------
    matplotlib.axes.Axes
        The axes that were drawn on.
    """
    axes = axes_or_new(ax)
    told = in_colour(results, highlight)
    for index, model in enumerate(results.models):
        curve = curve_of(results, model, "accuracy_rejection", None)
        draw_curve(axes, curve, index, name_of(names, model), told=model in told)
    axes.set(xlim=(-0.01, 1.01), xlabel=say("chart.rejected"), ylabel=say("chart.accuracy_of_rest"))
    return with_legend(axes, legend, "lower right")
