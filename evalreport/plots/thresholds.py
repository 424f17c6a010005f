"""Charts of scores, thresholds and values: error rates, calibration, gain, lift, rejection, residuals."""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence
from typing import TYPE_CHECKING

from evalreport.numbers import count, number, to_digits
from evalreport.plots.curves import (
    Pen,
    ShownModel,
    curve_of,
    draw_curve,
    draw_diagonal,
    label_lines,
    limits_of,
    mark_fifths,
    name_of,
    prevalence_of,
    shown_models,
    write_title,
)
from evalreport.plots.style import (
    BEHIND,
    DASHED,
    GRID,
    INK,
    MUTED,
    NEW_AXES,
    PAPER,
    Ids,
    Names,
    chart,
    mark_of,
)
from evalreport.questions.thresholds.records import EQUAL_ERRORS
from evalreport.registry import words
from evalreport.schema.lookups import place_of_model
from evalreport.schema.metrics import ResidualRecord
from evalreport.schema.results import Results
from evalreport.texts import say

if TYPE_CHECKING:
    from matplotlib.artist import Artist
    from matplotlib.axes import Axes

DEPTH = 0.2
"""Height of the strip of counts below the diagram."""
MOST_RELIABLE = 2
"""Models whose bars can be read beside each other."""


@chart
def reliability(results: Results, ax: Axes = NEW_AXES, *, names: Names = None, highlight: Ids = None) -> None:
    """Draw the observed frequency against the mean predicted probability in bins, with the counts of the first below.

    Parameters
    ----------
    highlight
        The models that are drawn; of those that are not clearly behind on ROC AUC the first two if None.
    """
    models = reliable(results, names, highlight)
    draw_diagonal(ax)
    for place, model in enumerate(models):
        pen, curve = Pen(ax, model.index), curve_of(results, model.model, "reliability", None)
        assert curve is not None
        x = [at + 0.018 * (place - (len(models) - 1) / 2) for at in curve.x]
        limits = limits_of(curve)
        if limits is not None:
            colour = mark_of(model.index).colour
            ax.vlines(x, *limits, color=colour, linewidth=1.2, alpha=0.75, gid=pen.id("limits"))
        pen.points("line", x, curve.y, markersize=5)
        if not place:
            _draw_counts(ax, curve.x, curve.count or ())
    ax.axhline(0.0, color=MUTED, linewidth=0.6)
    ax.set(xlim=(-0.02, 1.02), ylim=(-DEPTH - 0.02, 1.02))
    for axis in (ax.xaxis, ax.yaxis):
        mark_fifths(axis)
    ax.set_xlabel(say("chart.forecast"))
    ax.set_ylabel(say("chart.came_true"), y=0.6)
    label_lines(ax, models)
    if models:
        ax.text(1.055, 0.09, say("chart.counts_of", model=models[0].name), color=MUTED, fontsize=7.5,
                va="center", clip_on=False, parse_math=False, transform=ax.transAxes)  # fmt: skip


def reliable(results: Results, names: Names = None, highlight: Ids = None) -> list[ShownModel]:
    """Return the models that `reliability` draws."""
    shown = shown_models(results, names, highlight, metric="roc_auc")
    models_shown = [
        m for m in shown if m.highlighted and curve_of(results, m.model, "reliability", None) is not None
    ]
    return models_shown if highlight is not None else models_shown[:MOST_RELIABLE]


def _draw_counts(axes: Axes, x: Sequence[float], counts: Sequence[float]) -> None:
    """Draw a bar for each bin in the strip below, the longest for the fullest bin, with its number."""
    most = max(counts, default=0)
    for forecast, held in zip(x, counts, strict=False):
        left = min(int(forecast * 10), 9) / 10
        axes.fill_between([left + 0.005, left + 0.095], -DEPTH, -DEPTH + 0.85 * DEPTH * held / most, color=GRID,
                          linewidth=0)  # fmt: skip
        axes.text(left + 0.05, -DEPTH + 0.02, count(round(held)), ha="center", va="bottom", fontsize=6.5,
                  color=MUTED)  # fmt: skip


def _draw_curves(
    axes: Axes,
    results: Results,
    kind: str,
    shown: tuple[Mapping[str, str] | None, Collection[str] | None],
    *,
    labels: tuple[str, str],
    y_limits: tuple[float, float | None] | None = None,
) -> None:
    """Draw one kind of curve of every model; a sweep only of those that give probabilities, as steps.

    ``shown``: the models' names, and which are highlighted.
    """
    models, swept = shown_models(results, *shown, metric="roc_auc"), kind.startswith("sweep_")
    for model in models:
        if not swept or curve_of(results, model.model, "reliability", None) is not None:
            curve = curve_of(results, model.model, kind, None)
            draw_curve(axes, curve, model, shape="steps-pre" if swept else "default")
    axes.set(xlim=(-0.01, 1.01), xlabel=labels[0], ylabel=labels[1])
    if y_limits is not None:
        axes.set_ylim(*y_limits)
    label_lines(axes, models)


@chart
def accuracy_rejection(
    results: Results, ax: Axes = NEW_AXES, *, names: Names = None, highlight: Ids = None
) -> None:
    """Draw the accuracy on the answers that are kept when the least certain are rejected first."""
    labels = say("chart.rejected"), say("chart.accuracy_of_rest")
    _draw_curves(ax, results, "accuracy_rejection", (names, highlight), labels=labels)


SKEWED = 0.05
"""Scores from 0 on whose errors are equal below this share of the largest are drawn on a logarithmic axis."""


@chart
def error_rates(results: Results, model: str, ax: Axes = NEW_AXES, *, name: str | None = None) -> None:
    """Draw one model's false acceptance and false rejection rates against the threshold, equal errors marked."""
    pen = Pen(ax, place_of_model(results, model))
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
        pen.line(part, xs, curve.y, linewidth=1.4, linestyle=dash, label=label, drawstyle="steps-pre")
    if point is not None and point.value is not None and at is not None:
        _draw_equal_errors(pen, max(at, 1e-300) if logarithmic else at, point.value)
    ax.set(ylim=(-0.02, 1.02), xlabel=say("chart.threshold"), ylabel=say("chart.error_rate"))
    mark_fifths(ax.yaxis)
    if logarithmic and rates[0] is not None:
        _decades(ax, _positive(rates[0].x))
    write_title(ax, name, model)
    if ax.get_lines():
        ax.legend(loc="best", handlelength=2.8)


def _is_skewed(scores: Sequence[float], at: float | None) -> bool:
    return at is not None and min(scores) >= 0 and 0 < at < SKEWED * max(scores)


def _positive(scores: Sequence[float]) -> list[float]:
    """Put a score of 0, which a logarithmic axis lacks, at half the smallest other one."""
    least = min((s for s in scores if s > 0), default=1.0)
    return [s if s > 0 else least / 2 for s in scores]


def _decades(axes: Axes, scores: Sequence[float]) -> None:
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


def _draw_equal_errors(pen: Pen, at: float, value: float) -> None:
    pen.points("eer", [at], [value], markersize=6.5, markeredgecolor=PAPER, markeredgewidth=0.8, zorder=5)
    pen.axes.annotate(
        f"EER {number(value)}", (at, value), xytext=(9, 0), textcoords="offset points", fontsize=8, color=INK,
        va="center",  # to the right the two curves part
        parse_math=False, bbox=BEHIND, gid=pen.id("eer-text"),
    )  # fmt: skip


@chart
def threshold_sweep(
    results: Results, ax: Axes = NEW_AXES, *, metric: str = "f1", names: Names = None, highlight: Ids = None
) -> None:
    """Draw a metric of every model that gives probabilities against the threshold.

    Parameters
    ----------
    metric
        One that is swept: accuracy, balanced_accuracy, f1 or mcc.
    """
    labels = say("chart.threshold"), words(metric)
    _draw_curves(ax, results, f"sweep_{metric}", (names, highlight), labels=labels)


@chart
def gain(results: Results, ax: Axes = NEW_AXES, *, names: Names = None, highlight: Ids = None) -> None:
    """Draw the share of the positives found against the share of the examples looked at.

    The dashed lines are looking at random and the best that any model could do.
    """
    draw_diagonal(ax)
    prevalence = prevalence_of(results)
    if prevalence:
        ax.plot([0, prevalence, 1], [0, 1, 1], color=MUTED, linewidth=0.8, linestyle=DASHED)
    labels, limits = (say("chart.called"), say("chart.positives_found")), (-0.01, 1.03)
    _draw_curves(ax, results, "gain", (names, highlight), labels=labels, y_limits=limits)


@chart
def lift(results: Results, ax: Axes = NEW_AXES, *, names: Names = None, highlight: Ids = None) -> None:
    """Draw how many times as frequent positives are among the highest scores as among all examples."""
    ax.axhline(1.0, color=MUTED, linewidth=0.8, linestyle=DASHED)
    labels = say("chart.called"), say("chart.lift")
    _draw_curves(ax, results, "lift", (names, highlight), labels=labels, y_limits=(0, None))


@chart
def score_histogram(results: Results, model: str, ax: Axes = NEW_AXES, *, name: str | None = None) -> None:
    """Draw how one model's scores are distributed in the two classes: the positive one above, the other below.

    Bars are shares of their class, so that a rare class can be read beside a frequent one. The less the two overlap,
    the better the model ranks.

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
        ax.stairs(
            shares, record.edges, fill=True, facecolor=mark.colour if record.positive else MUTED, edgecolor=PAPER,
            alpha=0.75 if record.positive else 0.5, linewidth=0.6, hatch=None if record.positive else "////",
            gid=Pen(ax, index).id("positives" if record.positive else "negatives"),
        )  # fmt: skip
        ax.text(
            0.99, 0.96 if record.positive else 0.04, f"{name_of(None, record.true)} (n = {count(record.n)})",
            ha="right", va="top" if record.positive else "bottom", fontsize=8, color=INK, parse_math=False,
            transform=ax.transAxes,
        )  # fmt: skip
        if record.scale == "probability" and record.positive:
            label = say("chart.probability_of", label=name_of(None, record.true))
    ax.axhline(0.0, color=MUTED, linewidth=0.8)
    top = 1.3 * highest or 1.0
    ax.set_ylim(-top, top)
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
        errors = [p - t for p, t in zip(record.predicted, record.true, strict=True)]
        _points(ax, results, model, record.true, record.predicted, errors)
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
        _points(ax, results, model, record.predicted, errors, errors)
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
            part.set_gid(Pen(ax, index).id(number))
    ax.set(xlabel=say("chart.predicted"), ylabel=say("chart.residual"))
    write_title(ax, name, model)


def _record(results: Results, model: str) -> ResidualRecord | None:
    return next((r for r in results.residuals if r.model == model), None)


def _points(
    axes: Axes, results: Results, model: str, x: Sequence[float], y: Sequence[float], errors: Sequence[float]
) -> None:
    """Draw an example a point, those with the largest errors last, so that no other hides them."""
    index = place_of_model(results, model)
    order = sorted(range(len(errors)), key=lambda i: abs(errors[i]))
    x, y = [x[i] for i in order], [y[i] for i in order]
    Pen(axes, index).points("points", x, y, markersize=2.6, markeredgewidth=0, alpha=0.55)
