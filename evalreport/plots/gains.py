"""What looking at the highest scores first brings: cumulative gain and lift."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any

from evalreport.plots.curves import curve_of, draw_curve, in_colour, name_of, prevalence_of, with_legend
from evalreport.plots.style import MUTED, axes_or_new
from evalreport.results import Results
from evalreport.texts import say

DASHED: Any = (0, (3, 2))


def gain(
    results: Results,
    ax: Any | None = None,
    *,
    names: Mapping[str, str] | None = None,
    legend: bool = True,
    highlight: Collection[str] | None = None,
) -> Any:
    """Draw the share of the positives found against the share of the examples looked at.

    The dashed lines are looking at random and the best that any model could do.

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
    axes.plot([0, 1], [0, 1], color=MUTED, linewidth=0.8, linestyle=DASHED)
    prevalence = prevalence_of(results)
    if prevalence:
        axes.plot([0, prevalence, 1], [0, 1, 1], color=MUTED, linewidth=0.8, linestyle=DASHED)
    told = in_colour(results, highlight)
    for index, model in enumerate(results.models):
        draw_curve(
            axes, curve_of(results, model, "gain", None), index, name_of(names, model), told=model in told
        )
    axes.set(
        xlim=(-0.01, 1.01), ylim=(-0.01, 1.03), xlabel=say("chart.called"), ylabel=say("chart.positives_found"),
    )  # fmt: skip
    return with_legend(axes, legend, "lower right")


def lift(
    results: Results,
    ax: Any | None = None,
    *,
    names: Mapping[str, str] | None = None,
    legend: bool = True,
    highlight: Collection[str] | None = None,
) -> Any:
    """Draw how many times as frequent positives are among the highest scores as among all examples.

    The parameters are those of `gain`.

    Returns
    -------
    matplotlib.axes.Axes
        The axes that were drawn on.
    """
    axes = axes_or_new(ax)
    axes.axhline(1.0, color=MUTED, linewidth=0.8, linestyle=DASHED)
    told = in_colour(results, highlight)
    for index, model in enumerate(results.models):
        draw_curve(
            axes, curve_of(results, model, "lift", None), index, name_of(names, model), told=model in told
        )
    axes.set(xlim=(-0.01, 1.01), xlabel=say("chart.called"), ylabel=say("chart.lift"))
    axes.set_ylim(bottom=0)
    return with_legend(axes, legend, "upper right")
