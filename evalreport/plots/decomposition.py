"""Bias and variance: stacked bars a model, their course over complexity, and what single replicates predict."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from evalreport.plots.curves import name_of, place_of_model, ranked, write_title
from evalreport.plots.pairs import lay_rows, name_parts, write_beside
from evalreport.plots.style import BIAS, INK, MUTED, NEW_AXES, NOISE, PAPER, VARIANCE, chart, mark_of
from evalreport.registry import words
from evalreport.results import DecompositionRecord, Results
from evalreport.texts import say

if TYPE_CHECKING:
    from matplotlib.artist import Artist
    from matplotlib.axes import Axes

FEW_BETWEEN = 10.0
"""From this ratio of the largest to the smallest value on, an axis is logarithmic."""


@dataclass(frozen=True, slots=True)
class Bar:
    """One model's parts of its expected loss, with the limits of the whole; ``noise`` is 0 where it is not apart."""

    label: str
    bias: float
    variance: float
    noise: float
    total: float
    low: float | None
    high: float | None
    key: str


@dataclass(frozen=True, slots=True)
class Course:
    """One model's parts along complexity or training size, in rising order of x."""

    x: tuple[float, ...]
    bias: tuple[float, ...]
    variance: tuple[float, ...]
    total: tuple[float, ...]


@chart
def stacked_parts(
    bars: Sequence[Bar],
    ax: Axes = NEW_AXES,
    *,
    axis_label: str = "",
    names: tuple[str, str] = ("bias²", "variance"),
) -> None:
    """Draw the expected loss of each model as a bar of bias and variance, from top to bottom.

    A part below 0 is drawn to the left of 0: an unbiased estimate of bias^2 may fall there, and a net variance that
    helps (0-1 loss).

    Parameters
    ----------
    names
        What the two parts are called in the legend.
    """
    for place, bar in enumerate(bars):
        parts: list[Artist] = []
        for value, start, colour, hatch in (
            (bar.noise, 0.0, NOISE, "...."),
            (bar.bias, bar.noise if bar.bias >= 0 else 0.0, BIAS, ""),
            (bar.variance, bar.noise + max(bar.bias, 0.0) if bar.variance >= 0 else 0.0, VARIANCE, "////"),
        ):
            if value:
                parts += ax.barh(
                    [place], [value], left=[start], height=0.56, color=colour, hatch=hatch, edgecolor=PAPER,
                    linewidth=0.6,
                ).patches  # fmt: skip
        if bar.low is not None and bar.high is not None:
            below = place + 0.37  # beside the bar: on its colours a line is hard to see
            parts += ax.plot([bar.low, bar.high], [below, below], color=INK, linewidth=1.4, zorder=4)
        parts += ax.plot([bar.total], [place], marker="|", markersize=11, color=INK, zorder=5)
        parts.append(write_beside(ax, place, bar.label))
        name_parts(parts, f"{bar.key}--parts-{place}")
    lay_rows(ax, len(bars), axis_label, room=0.0)
    _legend(ax, names, any(bar.noise for bar in bars))


def _legend(axes: Axes, names: tuple[str, str], noise: bool) -> None:
    from matplotlib.patches import Patch

    handles = [
        Patch(facecolor=BIAS, edgecolor=PAPER, label=names[0]),
        Patch(facecolor=VARIANCE, edgecolor=PAPER, hatch="////", label=names[1]),
    ]
    if noise:
        handles.insert(0, Patch(facecolor=NOISE, edgecolor=PAPER, hatch="....", label=say("chart.noise")))
    axes.legend(handles=handles, loc="lower left", bbox_to_anchor=(0, 1.0), ncols=3, borderaxespad=0.2)


@chart
def course(
    parts: Course,
    ax: Axes = NEW_AXES,
    *,
    axis_label: str = "",
    names: tuple[str, str, str] = ("bias²", "variance", "expected loss"),
    legend: bool = True,
    title: str = "",
) -> None:
    """Draw bias, variance and expected loss of one model against its complexity: the classic curve."""
    for values, colour, mark, dash, name in (
        (parts.total, INK, "o", "solid", names[2]),
        (parts.bias, BIAS, "s", (0, (4, 1.6)), names[0]),
        (parts.variance, VARIANCE, "^", (0, (1.2, 1.2)), names[1]),
    ):
        ax.plot(
            parts.x,
            values,
            color=colour,
            marker=mark,
            linestyle=dash,
            linewidth=1.5,
            markersize=4,
            label=name,
        )
    logarithmic(ax, parts.x)
    ax.set_ylim(bottom=min(0.0, *parts.bias, *parts.variance))
    ax.set_xlabel(axis_label, parse_math=False)
    ax.set_title(title, fontsize=9, parse_math=False)
    if legend:
        ax.legend(loc="best", handlelength=2.6)


def logarithmic(axes: Axes, x: Sequence[float]) -> None:
    """Give the axis a logarithmic scale where its values span more than one power of ten, with plain numbers.

    Values that stand close to the one before have no number of their own.
    """
    values = sorted(set(x))
    if len(values) > 2 and values[0] > 0 and values[-1] / values[0] > FEW_BETWEEN:
        axes.set_xscale("log")
        closest = (values[-1] / values[0]) ** (1 / 9)
        shown = [values[0]]
        for value in values[1:]:
            if value / shown[-1] >= closest:
                shown.append(value)
        axes.set_xticks(shown, [f"{value:,.6g}" for value in shown])
        axes.minorticks_off()


@dataclass(frozen=True, slots=True)
class Predicted:
    """One model's predictions against one input: of single replicates, their mean, and the true values."""

    replicates: tuple[tuple[tuple[float, ...], tuple[float, ...]], ...]
    mean: tuple[tuple[float, ...], tuple[float, ...]]
    truth: tuple[tuple[float, ...], tuple[float, ...]]
    index: int
    key: str


@chart
def replicate_predictions(
    predicted: Predicted, ax: Axes = NEW_AXES, *, axis_label: str = "x", legend: bool = True, title: str = ""
) -> None:
    """Draw what single replicates predict against a one-dimensional input, with their mean and the truth.

    How far the thin lines spread is the variance; how far the thick one is from the points, the bias and the noise.
    """
    mark = mark_of(predicted.index)
    ax.plot(*predicted.truth, marker="o", linestyle="none", color=MUTED, markersize=2.6, markeredgewidth=0,
              label=say("chart.truth"), zorder=1)  # fmt: skip
    for number, (x, y) in enumerate(predicted.replicates):
        line = ax.plot(x, y, color=mark.colour, linewidth=0.6, alpha=0.35, zorder=2,
                         label=say("chart.replicates") if number == 0 else None)[0]  # fmt: skip
        line.set_gid(f"{predicted.key}--replicate-{number}")
    mean = ax.plot(
        *predicted.mean, color=INK, linewidth=1.8, zorder=3, label=say("chart.mean_of_replicates")
    )[0]
    mean.set_gid(f"{predicted.key}--mean")
    ax.set_xlabel(axis_label, parse_math=False)
    ax.set_title(title, fontsize=9, parse_math=False)
    if legend:
        ax.legend(loc="best", handlelength=1.8)


@chart
def bias_variance(
    results: Results, ax: Axes = NEW_AXES, *, loss: str | None = None, names: Mapping[str, str] | None = None
) -> None:
    """Draw every model's expected loss as a bar of bias and variance, one for each complexity or training size.

    Parameters
    ----------
    loss
        ``squared``, ``brier``, ``0-1`` or ``kohavi_wolpert``; the first of the results if None.
    """
    records = _of(results, loss)
    shown = records[0].loss if records else (loss or "")
    several = len(records) > len({record.model for record in records})
    bars = []
    for r in records:
        label = name_of(names, r.model) + (f", {place_of(r):g}" if several else "")
        key = f"m{place_of_model(results, r.model)}"
        bars.append(Bar(label, *leading_parts(r), r.noise or 0.0, r.expected_loss, r.low, r.high, key))
    terms = (
        (say("chart.bias"), say("chart.net_variance"))
        if shown == "0-1"
        else (say("chart.bias_squared"), say("chart.variance"))
    )
    stacked_parts(bars, ax, axis_label=say("chart.expected_loss_in", metric=words(shown)), names=terms)


@chart
def bias_variance_course(
    results: Results, model: str, ax: Axes = NEW_AXES, *, loss: str | None = None, name: str | None = None
) -> None:
    """Draw bias, variance and expected loss of one model against its complexity or training size.

    Parameters
    ----------
    loss
        As in `bias_variance`.
    """
    own = [r for r in _of(results, loss) if r.model == model and place_of(r) is not None]
    records = sorted(own, key=lambda r: place_of(r) or 0.0)
    if records:
        by_size = records[0].complexity is None
        course(
            course_of(records), ax, axis_label=say("chart.training_size" if by_size else "chart.complexity")
        )
    write_title(ax, name, model)


@chart
def replicates(results: Results, model: str, ax: Axes = NEW_AXES, *, name: str | None = None) -> None:
    """Draw what single replicates of one model predict against a one-dimensional input, their mean and the truth."""
    own = [c for c in results.replicate_predictions if c.model == model]
    lines = {kind: [(c.x, c.y) for c in own if c.curve == kind] for kind in ("replicate", "mean", "truth")}
    if lines["mean"] and lines["truth"]:
        index = place_of_model(results, model)
        drawn = Predicted(tuple(lines["replicate"]), lines["mean"][0], lines["truth"][0], index, f"m{index}")
        replicate_predictions(drawn, ax)
    write_title(ax, name, model)


def leading_parts(record: DecompositionRecord) -> tuple[float, float]:
    """Give the bias and the variance that are drawn: their unbiased estimates, which add up to the loss as well.

    0-1 loss: the bias, and the unbiased less the biased variance. With one prediction an example: what there is.
    """
    if record.variance_unbiased is None:
        return record.bias, record.variance
    if record.variance_biased is not None:
        return record.bias, record.variance_unbiased - record.variance_biased
    return (record.bias if record.bias_unbiased is None else record.bias_unbiased), record.variance_unbiased


def course_of(records: Sequence[DecompositionRecord]) -> Course:
    """Give what is drawn along complexity or training size, from records in rising order of it."""
    bias, variance = zip(*(leading_parts(r) for r in records), strict=True)
    x = tuple(place_of(r) or 0.0 for r in records)
    return Course(x, bias, variance, tuple(r.expected_loss for r in records))


def place_of(record: DecompositionRecord) -> float | None:
    """Give the complexity of a record, else its training size."""
    return record.complexity if record.complexity is not None else record.train_size


def _of(results: Results, loss: str | None) -> list[DecompositionRecord]:
    losses = [record.loss for record in results.decomposition]
    wanted = loss if loss is not None else (losses[0] if losses else "")
    order = {model: i for i, model in enumerate(ranked(results))}
    found = [record for record in results.decomposition if record.loss == wanted]
    return sorted(found, key=lambda record: order[record.model])
