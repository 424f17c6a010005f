"""ROC and precision-recall curves of several models on one pair of axes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from evalreport.curve_records import CurveRecord
from evalreport.plots.style import INK, MUTED, PAPER, axes_or_new, mark_of
from evalreport.results import Results

MOST_IN_LEGEND = 10


def roc(
    results: Results,
    ax: Any | None = None,
    *,
    label: str | None = None,
    names: Mapping[str, str] | None = None,
    legend: bool = True,
) -> Any:
    """Draw the true against the false positive rate of every model.

    A marker shows where the model's own decisions lie; a model without scores is that point alone.

    Parameters
    ----------
    ax
        Matplotlib axes; new ones if None.
    label
        The class, where there are several (one against the rest); None for a binary task.
    names
        What the legend says for a model; the model's name if None.

    Returns
    -------
    matplotlib.axes.Axes
        The axes that were drawn on.
    """
    axes = axes_or_new(ax)
    axes.plot([0, 1], [0, 1], color=MUTED, linewidth=0.8, linestyle=(0, (3, 2)))
    for index, model in enumerate(results.models):
        _draw_curve(axes, _curve(results, model, "roc", label), index, _name(names, model))
        rates = _rates(results, model, label)
        if rates is not None:
            _draw_point(axes, rates[1], rates[0], index, _name(names, model))
    _unit_square(axes, "False positive rate", "True positive rate")
    return _with_legend(axes, legend, "lower right")


def precision_recall(
    results: Results,
    ax: Any | None = None,
    *,
    label: str | None = None,
    names: Mapping[str, str] | None = None,
    legend: bool = True,
) -> Any:
    """Draw precision against recall of every model, with the share of positives as the dashed line.

    The parameters are those of `roc`.

    Returns
    -------
    matplotlib.axes.Axes
        The axes that were drawn on.
    """
    axes = axes_or_new(ax)
    prevalence = prevalence_of(results, label)
    if prevalence is not None:
        axes.axhline(prevalence, color=MUTED, linewidth=0.8, linestyle=(0, (3, 2)))
    for index, model in enumerate(results.models):
        _draw_curve(axes, _curve(results, model, "pr", label), index, _name(names, model))
        rates = _rates(results, model, label)
        if rates is not None and rates[2] is not None:
            _draw_point(axes, rates[0], rates[2], index, _name(names, model))
    _unit_square(axes, "Recall", "Precision")
    return _with_legend(axes, legend, "best")


def prevalence_of(results: Results, label: str | None = None) -> float | None:
    """Give the share of the positive (or named) class in the truth; None where no confusion matrix tells it."""
    positive = label if label is not None else results.positive
    first = next(iter(results.confusion), None)
    if positive is None or first is None:
        return None
    cells = [c for c in results.confusion if c.model == first.model]
    total = sum(c.count for c in cells)
    return sum(c.count for c in cells if c.true == positive) / total if total else None


def _curve(results: Results, model: str, kind: str, label: str | None) -> CurveRecord | None:
    found = (c for c in results.curves if c.model == model and c.curve == kind and c.label == label)
    return next(found, None)


def _rates(results: Results, model: str, label: str | None) -> tuple[float, float, float | None] | None:
    """Give TPR, FPR and precision of the model's own decisions."""
    positive = label if label is not None else results.positive
    cells = [c for c in results.confusion if c.model == model]
    tp = sum(c.count for c in cells if c.true == positive == c.predicted)
    fp = sum(c.count for c in cells if c.true != positive == c.predicted)
    positives = sum(c.count for c in cells if c.true == positive)
    negatives = sum(c.count for c in cells if c.true != positive)
    if not positives or not negatives:
        return None
    return tp / positives, fp / negatives, tp / (tp + fp) if tp + fp else None


def _name(names: Mapping[str, str] | None, model: str) -> str:
    return model if names is None else names[model]


def _draw_curve(axes: Any, curve: CurveRecord | None, index: int, name: str) -> None:
    if curve is None:
        return
    mark = mark_of(index)
    if curve.low is not None and curve.high is not None:
        band = axes.fill_between(curve.x, curve.low, curve.high, color=mark.colour, alpha=0.12, linewidth=0)
        band.set_gid(f"m{index}--band")
    line = axes.plot(curve.x, curve.y, color=mark.colour, linestyle=mark.dash, linewidth=1.5, label=name)[0]
    line.set_gid(f"m{index}--line")


def _draw_point(axes: Any, x: float, y: float, index: int, name: str) -> None:
    mark = mark_of(index)
    known = {line.get_gid() for line in axes.get_lines()}
    label = None if f"m{index}--line" in known else name
    point = axes.plot(
        [x], [y], marker=mark.marker, color=mark.colour, markersize=7.0, linestyle="none", label=label,
        markeredgecolor=PAPER, markeredgewidth=0.8, zorder=5,
    )[0]  # fmt: skip
    point.set_gid(f"m{index}--point")


def _unit_square(axes: Any, x_label: str, y_label: str) -> None:
    axes.set(xlim=(-0.01, 1.01), ylim=(-0.01, 1.01), xlabel=x_label, ylabel=y_label)
    ticks = [0.0, 0.2, 0.4, 0.6, 0.8, 1.0]
    axes.set_xticks(ticks, ["0", "0.2", "0.4", "0.6", "0.8", "1"])
    axes.set_yticks(ticks, ["0", "0.2", "0.4", "0.6", "0.8", "1"])


def _with_legend(axes: Any, wanted: bool, place: str) -> Any:
    handles, labels = axes.get_legend_handles_labels()
    if not wanted or not handles or len(handles) > MOST_IN_LEGEND:
        return axes
    legend = axes.legend(
        handles, labels, loc=place, handlelength=2.8, labelspacing=0.35, frameon=True, framealpha=0.85,
        facecolor=PAPER, edgecolor="none",
    )  # fmt: skip
    for text in legend.get_texts():
        text.set(parse_math=False, color=INK)
    return axes
