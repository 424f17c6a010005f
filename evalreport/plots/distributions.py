"""How predictions are distributed: scores by class; predicted against true values, residuals."""

from __future__ import annotations

from typing import Any

from evalreport.numbers import count
from evalreport.plots.curves import name_of, own_id
from evalreport.plots.style import INK, MUTED, PAPER, axes_or_new, mark_of
from evalreport.results import ResidualRecord, Results
from evalreport.texts import say


def score_histogram(results: Results, model: str, ax: Any | None = None, *, name: str | None = None) -> Any:
    """Draw how one model's scores are distributed in the two classes: the positive one above, the other below.

    Bars are shares of their class, so that a rare class can be read beside a frequent one. The further apart the two
    lie, the better the model ranks.

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

    Examples
    --------
    >>> import evalreport as er
    >>> from evalreport import plots
    >>> scores = {"forest": {"p_1": [0.9, 0.2, 0.7, 0.4]}}
    >>> results = er.evaluate(scores, truth=[1, 0, 1, 0], resamples=100)
    >>> plots.score_histogram(results, "forest").get_xlabel()
    'Probability of 1'
    """
    axes = axes_or_new(ax)
    index = results.models.index(model)
    mark = mark_of(index)
    highest, label = 0.0, say("chart.score")
    for record in (r for r in results.score_histograms if r.model == model):
        side = 1 if record.positive else -1
        shares = [side * number / record.n if record.n else 0.0 for number in record.counts]
        highest = max(highest, *map(abs, shares))
        area = axes.stairs(
            shares, record.edges, fill=True, facecolor=mark.colour if record.positive else MUTED, edgecolor=PAPER,
            alpha=0.75 if record.positive else 0.5, linewidth=0.6, hatch=None if record.positive else "////",
        )  # fmt: skip
        area.set_gid(own_id(axes, index, "positives" if record.positive else "negatives"))
        axes.text(
            0.99, 0.96 if record.positive else 0.04, f"{name_of(None, record.true)} (n = {count(record.n)})",
            ha="right", va="top" if record.positive else "bottom", fontsize=8, color=INK, parse_math=False,
            transform=axes.transAxes,
        )  # fmt: skip
        if record.scale == "probability" and record.positive:
            label = say("chart.probability_of", label=name_of(None, record.true))
    axes.axhline(0.0, color=MUTED, linewidth=0.8)
    room = 1.3 * highest or 1.0
    axes.set_ylim(-room, room)
    axes.yaxis.set_major_formatter(lambda share, _: f"{abs(share):.3g}")
    axes.set_xlabel(label, parse_math=False)
    axes.set_ylabel(say("chart.share_of_class"))
    axes.set_title(name if name is not None else name_of(None, model), fontsize=9, parse_math=False)
    return axes


DASHED: Any = (0, (3, 2))


def predicted_true(results: Results, model: str, ax: Any | None = None, *, name: str | None = None) -> Any:
    """Draw one model's predicted against the true values; on the dashed diagonal both agree.

    Of many examples some are drawn: evenly along the predictions, and those with the largest errors.

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

    Examples
    --------
    >>> import evalreport as er
    >>> from evalreport import plots
    >>> values = {"ridge": {"y_pred": [1.5, 2.0, 2.5, 4.5]}}
    >>> results = er.evaluate(values, truth=[1.2, 2.2, 2.9, 4.1], task="regression", resamples=100)
    >>> plots.predicted_true(results, "ridge").get_ylabel()
    'Predicted'
    """
    axes = axes_or_new(ax)
    record = _record(results, model)
    if record is not None:
        _points(axes, results, model, record.true, record.predicted)
        ends = [*record.true, *record.predicted]
        low, high = min(ends), max(ends)
        axes.plot([low, high], [low, high], color=MUTED, linewidth=0.8, linestyle=DASHED, zorder=1)
    return _finished(axes, say("chart.true"), say("chart.predicted"), name, model)


def residuals(results: Results, model: str, ax: Any | None = None, *, name: str | None = None) -> Any:
    """Draw one model's errors (predicted − true) against its predictions, with their mean in bins of equal size.

    A mean that leaves 0 says that the model is wrong there on average; a funnel, that errors grow with the values.
    The parameters are those of `predicted_true`.

    Returns
    -------
    matplotlib.axes.Axes
        The axes that were drawn on.
    """
    axes = axes_or_new(ax)
    record = _record(results, model)
    axes.axhline(0.0, color=MUTED, linewidth=0.8, linestyle=DASHED, zorder=1)
    if record is not None:
        errors = [p - t for p, t in zip(record.predicted, record.true, strict=True)]
        _points(axes, results, model, record.predicted, errors)
        index = results.models.index(model)
        means = [p - t for p, t in zip(record.bin_predicted, record.bin_true, strict=True)]
        line = axes.plot(record.bin_predicted, means, color=INK, linewidth=1.4, zorder=4)[0]
        line.set_gid(own_id(axes, index, "mean"))
    return _finished(axes, say("chart.predicted"), say("chart.residual"), name, model)


def value_calibration(results: Results, model: str, ax: Any | None = None, *, name: str | None = None) -> Any:
    """Draw the mean true value against the mean prediction, in bins of equal size, each with its interval.

    On the dashed diagonal predictions are right on average, whatever they are. The parameters are those of
    `predicted_true`.

    Returns
    -------
    matplotlib.axes.Axes
        The axes that were drawn on.
    """
    axes = axes_or_new(ax)
    record = _record(results, model)
    if record is not None:
        index = results.models.index(model)
        mark = mark_of(index)
        ends = (*record.bin_predicted, *record.bin_true)
        low, high = min(ends), max(ends)
        axes.plot([low, high], [low, high], color=MUTED, linewidth=0.8, linestyle=DASHED, zorder=1)
        limits = [
            (x, a, b)
            for x, a, b in zip(record.bin_predicted, record.bin_low, record.bin_high, strict=True)
            if a is not None and b is not None
        ]
        if limits:
            bars = axes.vlines(*zip(*limits, strict=True), color=mark.colour, linewidth=1.4)
            bars.set_gid(own_id(axes, index, "limits"))
        line = axes.plot(
            record.bin_predicted, record.bin_true, color=mark.colour, linewidth=1.2, linestyle=mark.dash,
            marker=mark.marker, markersize=4.5,
        )[0]  # fmt: skip
        line.set_gid(own_id(axes, index, "line"))
    return _finished(axes, say("chart.mean_prediction"), say("chart.mean_true"), name, model)


def _record(results: Results, model: str) -> ResidualRecord | None:
    return next((r for r in results.residuals if r.model == model), None)


def _points(axes: Any, results: Results, model: str, x: Any, y: Any) -> None:
    index = results.models.index(model)
    mark = mark_of(index)
    points = axes.plot(
        x, y, marker=mark.marker, color=mark.colour, linestyle="none", markersize=2.6, markeredgewidth=0,
        alpha=0.55,
    )[0]  # fmt: skip
    points.set_gid(own_id(axes, index, "points"))


def _finished(axes: Any, x_label: str, y_label: str, name: str | None, model: str) -> Any:
    axes.set(xlabel=x_label, ylabel=y_label)
    axes.set_title(name if name is not None else name_of(None, model), fontsize=9, parse_math=False)
    return axes
