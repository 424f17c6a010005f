"""Error estimates side by side, a row an estimator; bias and variance."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from evalreport.plots.curves import name_of, place_of_model, ranked, write_title
from evalreport.plots.pairs import lay_rows, name_parts, write_beside
from evalreport.plots.style import BIAS, FAINT, INK, MUTED, NEW_AXES, NOISE, PAPER, VARIANCE, chart, mark_of
from evalreport.registry import words
from evalreport.results import DecompositionRecord, Results
from evalreport.texts import say

if TYPE_CHECKING:
    from matplotlib.artist import Artist
    from matplotlib.axes import Axes


@dataclass(frozen=True, slots=True)
class Dot:
    """One model's estimate; limits are None where there is no honest interval."""

    value: float
    low: float | None
    high: float | None
    index: int
    key: str


@dataclass(frozen=True, slots=True)
class EstimatorRow:
    """One estimator: its label, and the estimates of the models that have one."""

    label: str
    dots: tuple[Dot, ...]


@chart
def estimates(
    source: Results | Sequence[EstimatorRow],
    ax: Axes = NEW_AXES,
    *,
    axis_label: str = "",
    metric: str | None = None,
    names: Mapping[str, str] | None = None,
    legend: bool | None = None,
) -> None:
    """Draw the estimates of several models, an estimator a row from top to bottom.

    Parameters
    ----------
    source
        Results with error estimates; or rows, in the units of ``axis_label``.
    metric
        Which of the results' is drawn; the first if None.
    legend
        Whether there is one of the models; with results if None.
    """
    shown: dict[int, str] = {}
    if isinstance(source, Results):
        known = [r.metric for r in source.error_estimates if r.value is not None]
        wanted = metric if metric is not None else (known[0] if known else "")
        rows: Sequence[EstimatorRow] = estimator_rows(source, wanted)
        axis_label = axis_label or words(wanted)
        shown = (
            {i: name_of(names, model) for i, model in enumerate(ranked(source))}
            if legend is not False
            else {}
        )
    else:
        rows = source
    indices = sorted({dot.index for row in rows for dot in row.dots})
    step = 0.62 / max(len(indices), 1)
    for place, row in enumerate(rows):
        for dot in row.dots:
            at = place + step * (indices.index(dot.index) - (len(indices) - 1) / 2)
            mark = mark_of(dot.index)
            parts = []
            if dot.low is not None and dot.high is not None:
                limits = [dot.low, dot.high]
                parts += ax.plot(limits, [at, at], color=mark.colour, linewidth=1.6, solid_capstyle="butt")
            parts += ax.plot(
                [dot.value], [at], marker=mark.marker, color=mark.colour, markersize=5.5, linestyle="none",
                markeredgewidth=0,
            )  # fmt: skip
            name_parts(parts, f"{dot.key}--estimate-{place}")
        write_beside(ax, place, row.label)
    lay_rows(ax, len(rows), axis_label, room=0.0)
    for place in range(1, len(rows)):
        ax.axhline(place - 0.5, color=FAINT, linewidth=0.8, zorder=0)
    _legend(ax, {index: name for index, name in shown.items() if index in indices})


def _legend(axes: Axes, names: Mapping[int, str]) -> None:
    """Name the models above the axes."""
    from matplotlib.lines import Line2D

    if not names:
        return
    handles = [
        Line2D([], [], marker=mark_of(i).marker, color=mark_of(i).colour, linestyle="none") for i in names
    ]
    legend = axes.legend(handles, ["-"] * len(handles), loc="lower left", bbox_to_anchor=(0, 1.0), ncols=3)
    for text, name in zip(legend.get_texts(), names.values(), strict=True):
        text.set(text=name, parse_math=False, color=INK)


def estimator_rows(results: Results, metric: str) -> list[EstimatorRow]:
    """Give the estimates of one metric, an estimator a row, in the results' order."""
    records = [r for r in results.error_estimates if r.metric == metric and r.value is not None]
    rows = []
    for name in dict.fromkeys(record.estimator for record in records):
        dots = []
        for record in records:
            if record.estimator == name and record.value is not None:
                i = place_of_model(results, record.model)
                dots.append(Dot(record.value, record.low, record.high, i, f"m{i}"))
        rows.append(EstimatorRow(words(name), tuple(dots)))
    return rows


AXES = {"train_size": "chart.training_examples", "complexity": "chart.complexity"}
LEAST_POINTS = 2


@dataclass(frozen=True, slots=True)
class LearningCurve:
    """One model's curve: ``test`` and ``train`` hold (x, value, low, high) in rising order of x.

    ``label`` is empty where the axes have but this one.
    ``ahead``: (x, value, low, high) of the fitted law beyond the data, from the last point on; empty without one.
    """

    label: str
    test: tuple[tuple[float, float, float | None, float | None], ...]
    train: tuple[tuple[float, float, float | None, float | None], ...]
    used: float | None
    index: int
    key: str
    ahead: tuple[tuple[float, float, float | None, float | None], ...] = ()


@chart
def learning(
    source: Results | Sequence[LearningCurve],
    ax: Axes = NEW_AXES,
    *,
    x_label: str = "",
    y_label: str = "",
    names: Mapping[str, str] | None = None,
    legend: bool = True,
    title: str = "",
) -> None:
    """Draw errors against training size or complexity: test solid with its intervals, training thin and dotted.

    A curve that is alone has a band.

    A ring marks the point that the models are compared at; what lies beyond the data is dashed.

    Parameters
    ----------
    source
        Results with learning curves, of which the metric that was asked for (else the main loss) is drawn; or curves.
    """
    if isinstance(source, Results):
        curves: Sequence[LearningCurve] = learning_rows(source, names)
        of_curves = source.learning_curves
        x_label = x_label or (say(AXES[of_curves[0].axis]) if of_curves else "")
        y_label = y_label or (words(of_curves[-1].metric) if of_curves else "")
        legend = legend and bool(curves)
    else:
        curves = source
    for curve in curves:
        _draw(ax, curve, both=any(c.train for c in curves), alone=len(curves) == 1)
    if curves:
        logarithmic(ax, [x for curve in curves for x, *_ in (*curve.test, *curve.ahead[-1:])])
    ax.set_ylim(bottom=0.0)
    ax.set_xlabel(x_label, parse_math=False)
    ax.set_ylabel(y_label, parse_math=False)
    ax.set_title(title, fontsize=9, parse_math=False)
    if legend:
        found = ax.legend(loc="best", handlelength=2.6, frameon=True, framealpha=0.85, facecolor=PAPER,
                            edgecolor="none")  # fmt: skip
        for text in found.get_texts():
            text.set(parse_math=False)


def _named(label: str, part: str, both: bool) -> str:
    """Name a line: by the model, the part where there are two, or both."""
    return ", ".join([text for text in (label, part if both or not label else "") if text])


def _draw(axes: Axes, curve: LearningCurve, *, both: bool, alone: bool) -> None:
    mark = mark_of(curve.index)
    parts: list[Artist] = []
    banded = [(x, low, high) for x, _, low, high in curve.test if low is not None and high is not None]
    if banded and alone:
        along, bottom, top = zip(*banded, strict=True)
        parts.append(axes.fill_between(along, bottom, top, color=mark.colour, alpha=0.13, linewidth=0))
    elif banded:
        parts.append(axes.vlines(*zip(*banded, strict=True), color=mark.colour, linewidth=1.0, alpha=0.6))
    parts += axes.plot(
        [p[0] for p in curve.test], [p[1] for p in curve.test], color=mark.colour, marker=mark.marker,
        linestyle="solid", linewidth=1.5, markersize=4, label=_named(curve.label, say("chart.test"), both),
    )  # fmt: skip
    if curve.train:
        parts += axes.plot(
            [p[0] for p in curve.train], [p[1] for p in curve.train], color=mark.colour, marker=mark.marker,
            markerfacecolor=PAPER, linestyle=(0, (1.2, 1.4)), linewidth=1.1, markersize=3.6,
            label=_named(curve.label, say("chart.training"), both),
        )  # fmt: skip
    for x, value, *_ in curve.test:
        if curve.used is not None and x == curve.used and len(curve.test) > 1:
            parts += axes.plot(
                [x], [value], marker="o", markersize=10, markerfacecolor="none", markeredgecolor=mark.colour,
                linestyle="none",
            )  # fmt: skip
    if curve.ahead:
        parts += axes.plot(
            [p[0] for p in curve.ahead], [p[1] for p in curve.ahead], color=mark.colour, linestyle=(0, (4, 3)),
            linewidth=1.1,
        )  # fmt: skip
        x, _, low, high = curve.ahead[-1]
        if low is not None and high is not None:
            parts += axes.plot([x, x], [low, high], color=mark.colour, linewidth=1.1)
    name_parts(parts, f"{curve.key}--learning")


def learning_rows(results: Results, names: Mapping[str, str] | None = None) -> list[LearningCurve]:
    """Give each model's curve in the metric that stands last in the results: what was asked for, if anything was."""
    if not results.learning_curves:
        return []
    metric = results.learning_curves[-1].metric
    found = []
    for model in ranked(results):
        own = [p for p in results.learning_curves if (p.model, p.metric) == (model, metric)]
        test, train = (
            tuple(
                sorted((p.x, p.value, p.low, p.high) for p in own if p.part == part and p.value is not None)
            )
            for part in ("test", "train")
        )
        if len(test) >= LEAST_POINTS:
            used = next((p.x for p in own if p.used and p.part == "test"), None)
            index = place_of_model(results, model)
            found.append(LearningCurve(name_of(names, model), test, train, used, index, f"m{index}"))
    return found


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
    _legend_below(ax, names, any(bar.noise for bar in bars))


def _legend_below(axes: Axes, names: tuple[str, str], noise: bool) -> None:
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
    if len(values) > 2 and values[0] > 0 and values[-1] / values[0] > 10:
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
