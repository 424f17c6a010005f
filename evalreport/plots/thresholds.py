"""Charts over a threshold: error rates, calibration, gain, lift and rejection."""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence
from typing import Any

from evalreport.numbers import number, to_digits
from evalreport.plots.curves import (
    curve_of,
    draw_curve,
    in_colour,
    name_of,
    own_id,
    prevalence_of,
    with_legend,
)
from evalreport.plots.style import BEHIND, FAINT, INK, MUTED, PAPER, axes_or_new, mark_of
from evalreport.registry import words
from evalreport.results import EQUAL_ERRORS, Results
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


SKEWED = 0.05
"""Scores from 0 on whose errors are equal below this share of the largest are drawn on a logarithmic axis."""


def error_rates(
    results: Results, model: str, ax: Any | None = None, *, name: str | None = None, legend: bool = True
) -> Any:
    """Draw one model's false acceptance and false rejection rates against the threshold, equal errors marked.

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
    own = (p for p in results.operating_points if p.model == model)
    point = next((p for p in own if p.criterion == EQUAL_ERRORS), None)
    rates = [curve_of(results, model, kind, None) for kind in ("far", "frr")]
    at = None if point is None else point.threshold
    logarithmic = rates[0] is not None and _is_skewed(rates[0].x, at)
    for curve, part, label, dash in zip(
        rates, ("far", "frr"), ("False acceptance (FPR)", "False rejection (FNR)"), ("-", (0, (4, 1.6))),
        strict=True,
    ):  # fmt: skip
        if curve is None:
            continue
        xs = _positive(curve.x) if logarithmic else curve.x
        line = axes.plot(
            xs, curve.y, color=mark_of(index).colour, linewidth=1.4, linestyle=dash, label=label,
            drawstyle="steps-pre",
        )[0]  # fmt: skip
        line.set_gid(own_id(axes, index, part))
    if point is not None and point.value is not None and at is not None:
        _draw_equal_errors(axes, max(at, 1e-300) if logarithmic else at, point.value, index)
    axes.set(ylim=(-0.02, 1.02), xlabel=say("chart.threshold"), ylabel=say("chart.error_rate"))
    axes.set_yticks([0.0, 0.2, 0.4, 0.6, 0.8, 1.0], ["0", "0.2", "0.4", "0.6", "0.8", "1"])
    if logarithmic and rates[0] is not None:
        _decades(axes, _positive(rates[0].x))
    axes.set_title(name if name is not None else model, fontsize=9, parse_math=False)
    return with_legend(axes, legend, "best")


def _is_skewed(scores: Sequence[float], at: float | None) -> bool:
    return at is not None and min(scores) >= 0 and 0 < at < SKEWED * max(scores)


def _positive(scores: Sequence[float]) -> list[float]:
    """Put a score of 0, which a logarithmic axis lacks, at half the smallest other one."""
    least = min((s for s in scores if s > 0), default=1.0)
    return [s if s > 0 else least / 2 for s in scores]


def _decades(axes: Any, scores: Sequence[float]) -> None:
    """Write the powers of ten as text: matplotlib's own labels are formulas, which are not parsed here."""
    axes.set_xscale("log")
    low, high = math.floor(math.log10(min(scores))), math.ceil(math.log10(max(scores)))
    step = max(1, -(-(high - low) // 4))
    places = [10.0**power for power in range(low, high + 1, step)]
    axes.set_xticks(places, [_power(power) for power in range(low, high + 1, step)])
    axes.set_xticks([], minor=True)
    axes.set_xlim(min(scores) / 1.2, max(scores) * 1.2)


def _power(power: int) -> str:
    if -3 <= power <= 3:
        return to_digits(10.0**power)
    return "10" + str(power).translate(str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹"))


def _draw_equal_errors(axes: Any, at: float, value: float, index: int) -> None:
    mark = mark_of(index)
    point = axes.plot([at], [value], marker=mark.marker, color=mark.colour, markersize=6.5, linestyle="none",
                      markeredgecolor=PAPER, markeredgewidth=0.8, zorder=5)[0]  # fmt: skip
    point.set_gid(own_id(axes, index, "eer"))
    text = axes.annotate(
        f"EER {number(value)}", (at, value), xytext=(4, 9), textcoords="offset points", fontsize=8, color=INK,
        parse_math=False, bbox=BEHIND,
    )  # fmt: skip
    text.set_gid(own_id(axes, index, "eer-text"))


def sweep(
    results: Results,
    ax: Any | None = None,
    *,
    metric: str = "f1",
    names: Mapping[str, str] | None = None,
    legend: bool = True,
    highlight: Collection[str] | None = None,
) -> Any:
    """Draw a metric of every model that gives probabilities against the threshold.

    Parameters
    ----------
    ax
        Matplotlib axes; new ones if None.
    metric
        One that is swept: accuracy, balanced_accuracy, f1 or mcc.
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
        if curve_of(results, model, "reliability", None) is not None:
            curve = curve_of(results, model, f"sweep_{metric}", None)
            draw_curve(axes, curve, index, name_of(names, model), shape="steps-pre", told=model in told)
    axes.set(xlim=(-0.01, 1.01), xlabel=say("chart.threshold"), ylabel=words(metric))
    return with_legend(axes, legend, "best")


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
