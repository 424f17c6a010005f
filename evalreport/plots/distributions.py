"""How predictions are distributed: scores by class; predicted against true values, residuals."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from evalreport.numbers import count
from evalreport.plots.curves import draw_diagonal, name_of, own_id, place_of_model, write_title
from evalreport.plots.style import DASHED, INK, MUTED, NEW_AXES, PAPER, chart, mark_of
from evalreport.results import ResidualRecord, Results
from evalreport.texts import say

if TYPE_CHECKING:
    from matplotlib.artist import Artist
    from matplotlib.axes import Axes


@chart
def score_histogram(results: Results, model: str, ax: Axes = NEW_AXES, *, name: str | None = None) -> None:
    """Draw how one model's scores are distributed in the two classes: the positive one above, the other below.

    Bars are shares of their class, so that a rare class can be read beside a frequent one. The further apart the two
    lie, the better the model ranks.

    Examples
    --------
    >>> import evalreport as er
    >>> from evalreport import plots
    >>> scores = {"forest": {"p_1": [0.9, 0.2, 0.7, 0.4]}}
    >>> results = er.evaluate(scores, truth=[1, 0, 1, 0], resamples=100)
    >>> plots.score_histogram(results, "forest").get_xlabel()
    'Probability of 1'
    """
    index = place_of_model(results, model)
    mark = mark_of(index)
    highest, label = 0.0, say("chart.score")
    for record in (r for r in results.score_histograms if r.model == model):
        side = 1 if record.positive else -1
        shares = [side * number / record.n if record.n else 0.0 for number in record.counts]
        highest = max(highest, *map(abs, shares))
        area = ax.stairs(
            shares, record.edges, fill=True, facecolor=mark.colour if record.positive else MUTED, edgecolor=PAPER,
            alpha=0.75 if record.positive else 0.5, linewidth=0.6, hatch=None if record.positive else "////",
        )  # fmt: skip
        area.set_gid(own_id(ax, index, "positives" if record.positive else "negatives"))
        ax.text(
            0.99, 0.96 if record.positive else 0.04, f"{name_of(None, record.true)} (n = {count(record.n)})",
            ha="right", va="top" if record.positive else "bottom", fontsize=8, color=INK, parse_math=False,
            transform=ax.transAxes,
        )  # fmt: skip
        if record.scale == "probability" and record.positive:
            label = say("chart.probability_of", label=name_of(None, record.true))
    ax.axhline(0.0, color=MUTED, linewidth=0.8)
    room = 1.3 * highest or 1.0
    ax.set_ylim(-room, room)
    ax.yaxis.set_major_formatter(lambda share, _: f"{abs(share):.3g}")
    ax.set_xlabel(label, parse_math=False)
    ax.set_ylabel(say("chart.share_of_class"))
    write_title(ax, name, model)


@chart
def predicted_true(results: Results, model: str, ax: Axes = NEW_AXES, *, name: str | None = None) -> None:
    """Draw one model's predicted against the true values; on the dashed diagonal both agree.

    Of many examples some are drawn: evenly along the predictions, and those with the largest errors.

    Examples
    --------
    >>> import evalreport as er
    >>> from evalreport import plots
    >>> values = {"ridge": {"y_pred": [1.5, 2.0, 2.5, 4.5]}}
    >>> results = er.evaluate(values, truth=[1.2, 2.2, 2.9, 4.1], task="regression", resamples=100)
    >>> plots.predicted_true(results, "ridge").get_ylabel()
    'Predicted'
    """
    record = _record(results, model)
    if record is not None:
        _points(ax, results, model, record.true, record.predicted)
        draw_diagonal(ax, [*record.true, *record.predicted], zorder=1)
    ax.set(xlabel=say("chart.true"), ylabel=say("chart.predicted"))
    write_title(ax, name, model)


@chart
def residuals(results: Results, model: str, ax: Axes = NEW_AXES, *, name: str | None = None) -> None:
    """Draw one model's errors (predicted − true) against its predictions, with their mean in bins of equal size.

    A mean that leaves 0 says that the model is wrong there on average; a funnel, that errors grow with the values.
    """
    record = _record(results, model)
    ax.axhline(0.0, color=MUTED, linewidth=0.8, linestyle=DASHED, zorder=1)
    if record is not None:
        errors = [p - t for p, t in zip(record.predicted, record.true, strict=True)]
        _points(ax, results, model, record.predicted, errors)
        index = place_of_model(results, model)
        means = [p - t for p, t in zip(record.bin_predicted, record.bin_true, strict=True)]
        parts: list[Artist] = [*ax.plot(record.bin_predicted, means, color=INK, linewidth=1.4, zorder=4)]
        limits = [
            (p, p - high, p - low)
            for p, low, high in zip(record.bin_predicted, record.bin_low, record.bin_high, strict=True)
            if low is not None and high is not None
        ]
        if limits:
            parts.append(ax.vlines(*zip(*limits, strict=True), color=INK, linewidth=1.1, zorder=4))
        for part, number in zip(parts, ("mean", "limits"), strict=False):
            part.set_gid(own_id(ax, index, number))
    ax.set(xlabel=say("chart.predicted"), ylabel=say("chart.residual"))
    write_title(ax, name, model)


def _record(results: Results, model: str) -> ResidualRecord | None:
    return next((r for r in results.residuals if r.model == model), None)


def _points(axes: Axes, results: Results, model: str, x: Sequence[float], y: Sequence[float]) -> None:
    index = place_of_model(results, model)
    mark = mark_of(index)
    points = axes.plot(
        x, y, marker=mark.marker, color=mark.colour, linestyle="none", markersize=2.6, markeredgewidth=0,
        alpha=0.55,
    )[0]  # fmt: skip
    points.set_gid(own_id(axes, index, "points"))
