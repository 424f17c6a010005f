"""Error estimates side by side, a row an estimator; bias and variance."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from evalreport.plots.curves import name_of, write_title
from evalreport.plots.pairs import draw_value, lay_rows, name_parts, write_beside
from evalreport.plots.style import (
    BIAS,
    FAINT,
    INK,
    MUTED,
    NEW_AXES,
    NOISE,
    PAPER,
    VARIANCE,
    Names,
    chart,
    mark_of,
)
from evalreport.questions.algorithms.records import (
    DecompositionRecord,
    LearningFitRecord,
    LearningPointRecord,
)
from evalreport.registry import words
from evalreport.schema.lookups import place_of_model, ranked
from evalreport.schema.results import Results
from evalreport.texts import named, say

if TYPE_CHECKING:
    from matplotlib.artist import Artist
    from matplotlib.axes import Axes


@chart
def error_estimates(
    results: Results,
    ax: Axes = NEW_AXES,
    *,
    axis_label: str = "",
    metric: str | None = None,
    names: Names = None,
    labels: Names = None,
    legend: bool = True,
) -> None:
    """Draw the estimates of several models, an estimator a row from top to bottom.

    Parameters
    ----------
    metric
        Which of the results' is drawn; the first if None.
    labels
        The estimators that have a row, each with its label; all by their names if None.
    legend
        Whether there is one of the models.
    """
    valued = [r for r in results.error_estimates if r.value is not None]
    wanted = metric if metric is not None else (valued[0].metric if valued else "")
    dots = {(r.model, r.estimator): (r.value, r.low, r.high) for r in valued if r.metric == wanted}
    labels = {name: words(name) for _, name in dots} if labels is None else labels
    models = [m for m in ranked(results) if any((m, name) in dots for name in labels)]
    step = 0.62 / max(len(models), 1)
    for place, (name, label) in enumerate(labels.items()):
        for beside, model in enumerate(models):
            if (model, name) in dots:
                at, index = place + step * (beside - (len(models) - 1) / 2), place_of_model(results, model)
                parts = draw_value(
                    ax, dots[model, name], at, index, width=1.6, markersize=5.5, markeredgewidth=0
                )
                name_parts(parts, f"m{index}--estimate-{place}")
        write_beside(ax, place, label)
        if place:
            ax.axhline(place - 0.5, color=FAINT, linewidth=0.8, zorder=0)
    lay_rows(ax, len(labels), axis_label or words(wanted), margin=0.0)
    if legend:
        _legend(ax, {place_of_model(results, model): name_of(names, model) for model in models})


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


LEAST_POINTS = 2
Points = tuple[tuple[float, float, float | None, float | None], ...]
"""(x, value, low, high) of each point."""


@dataclass(frozen=True, slots=True)
class LearningCurve:
    """One model's curve: ``test`` and ``train`` hold (x, value, low, high) in rising order of x.

    ``label`` is empty where the axes have but this one.
    ``ahead``: (x, value, low, high) of the fitted law beyond the data, from the last point on; empty without one.
    """

    label: str
    test: Points
    train: Points
    used: float | None
    index: int
    key: str
    ahead: Points = ()


@chart
def learning_curves(
    source: Results | Sequence[LearningCurve],
    ax: Axes = NEW_AXES,
    *,
    x_label: str = "",
    y_label: str = "",
    names: Names = None,
    legend: bool = True,
    title: str = "",
) -> None:
    """Draw errors against training size or complexity: test solid with its intervals, training thin and dotted.

    A curve that is alone has a band.

    A ring marks the point that the models are compared at; the part beyond the data is dashed.

    Parameters
    ----------
    source
        Results with learning curves (the named metric is drawn, else the main loss), or curves.
    """
    if isinstance(source, Results):
        curves: Sequence[LearningCurve] = learning_rows(source, names)
        of_curves = source.learning_curves
        x_label = x_label or (named("learning.axis", of_curves[0].axis) if of_curves else "")
        y_label = y_label or (words(learning_metric(source)) if of_curves else "")
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


def learning_metric(results: Results) -> str:
    """Return the metric to draw: the named one, where there is one beside the main loss."""
    return list(dict.fromkeys(point.metric for point in results.learning_curves))[-1]


def learning_rows(results: Results, names: Names) -> list[LearningCurve]:
    """Return each model's curve; of a family, in which each model is one point, the curve that all of them make."""
    if not results.learning_curves:
        return []
    metric = learning_metric(results)
    points = [p for p in results.learning_curves if p.metric == metric]
    laws = {f.model: f for f in results.learning_fits if f.metric == metric}
    curves = []
    for index, model in enumerate(ranked(results)):
        own = [p for p in points if p.model == model]
        test = points_of(own, "test")
        if len(test) >= LEAST_POINTS:
            used = next((p.x for p in own if p.used and p.part == "test"), None)
            ahead, train = _ahead(laws.get(model), test), points_of(own, "train")
            curves.append(LearningCurve(name_of(names, model), test, train, used, index, f"m{index}", ahead))
    test = points_of(points, "test")
    if curves or len(test) < LEAST_POINTS:
        return curves
    return [LearningCurve(say("learning.all_models"), test, points_of(points, "train"), None, 0, "all")]


def points_of(points: Sequence[LearningPointRecord], part: str) -> Points:
    """Return the points of test or of training rows in rising order of x."""
    return tuple(
        sorted((p.x, p.value, p.low, p.high) for p in points if p.part == part and p.value is not None)
    )


def _ahead(law: LearningFitRecord | None, test: Points) -> Points:
    """Return the fitted law from the last point on, to twice the largest size."""
    if law is None or law.a is None or law.b is None or law.c is None or law.at is None:
        return ()
    start = test[-1][0]
    places = [start * (law.at / start) ** (k / 8) for k in range(8)]
    curve = [(x, law.a + law.b * x**-law.c, None, None) for x in places]
    return (*curve, (law.at, law.a + law.b * law.at**-law.c, law.low, law.high))


@chart
def bias_variance(
    results: Results, ax: Axes = NEW_AXES, *, loss: str | None = None, names: Names = None
) -> None:
    """Draw every model's expected loss as a bar of bias and variance, one for each complexity or training size.

    A part below 0 is drawn to the left of 0: an unbiased estimate of bias^2 may fall there, and a net variance that
    helps (0-1 loss).

    Parameters
    ----------
    loss
        ``squared``, ``brier``, ``0-1`` or ``kohavi_wolpert``; the first of the results if None.
    """
    records = decomposed(results, loss)
    several = len(records) > len({record.model for record in records})
    for place, record in enumerate(records):
        parts: list[Artist] = []
        (bias, variance), noise = leading_parts(record), record.noise or 0.0
        for value, start, colour, hatch in (
            (noise, 0.0, NOISE, "...."),
            (bias, noise if bias >= 0 else 0.0, BIAS, ""),
            (variance, noise + max(bias, 0.0) if variance >= 0 else 0.0, VARIANCE, "////"),
        ):
            if value:
                parts += ax.barh(
                    [place], [value], left=[start], height=0.56, color=colour, hatch=hatch, edgecolor=PAPER,
                    linewidth=0.6,
                ).patches  # fmt: skip
        if record.low is not None and record.high is not None:
            below = place + 0.37  # beside the bar: on its colours a line is hard to see
            parts += ax.plot([record.low, record.high], [below, below], color=INK, linewidth=1.4, zorder=4)
        parts += ax.plot([record.expected_loss], [place], marker="|", markersize=11, color=INK, zorder=5)
        label = name_of(names, record.model) + (f", {place_of(record):g}" if several else "")
        parts.append(write_beside(ax, place, label))
        name_parts(parts, f"m{place_of_model(results, record.model)}--parts-{place}")
    shown = records[0].loss if records else (loss or "")
    lay_rows(
        ax, len(records), say("decomposition.bars_axis", loss=named("decomposition.loss", shown)), margin=0.0
    )
    _legend_below(ax, bar_terms(records), any(record.noise for record in records))


def bar_terms(records: Sequence[DecompositionRecord]) -> tuple[str, str]:
    """Name the two parts that are drawn of an expected loss."""
    bias = "bias_squared" if any(r.noise for r in records) else "bias_and_noise"
    kinds = ("bias", "net_variance") if any(r.loss == "0-1" for r in records) else (bias, "variance")
    first, second = (named("decomposition.part", kind) for kind in kinds)
    return first, second


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
    records: Sequence[DecompositionRecord], ax: Axes = NEW_AXES, *, legend: bool = True, title: str = ""
) -> None:
    """Draw bias, variance and expected loss of one model, in rising order of complexity: the classic curve."""
    x = [place_of(r) or 0.0 for r in records]
    bias, variance = zip(*map(leading_parts, records), strict=True)
    first, second, third = course_terms(records[0].loss)
    for values, colour, mark, dash, name in (
        ([r.expected_loss for r in records], INK, "o", "solid", third),
        (bias, BIAS, "s", (0, (4, 1.6)), first),
        (variance, VARIANCE, "^", (0, (1.2, 1.2)), second),
    ):
        ax.plot(x, values, color=colour, marker=mark, linestyle=dash, linewidth=1.5, markersize=4, label=name)
    logarithmic(ax, x)
    ax.set_ylim(bottom=min(0.0, *bias, *variance))
    by_size = records[0].complexity is None
    ax.set_xlabel(say(f"decomposition.{'training_size' if by_size else 'complexity'}"), parse_math=False)
    ax.set_title(title, fontsize=9, parse_math=False)
    if legend:
        ax.legend(loc="best", handlelength=2.6)


def course_terms(loss: str) -> tuple[str, str, str]:
    """Name the parts of a course, and the expected loss."""
    kinds = ("bias", "net") if loss == "0-1" else ("bias_squared", "variance")
    first, second, third = (named("decomposition.part", kind) for kind in (*kinds, "expected_loss"))
    return first, second, third


def logarithmic(axes: Axes, x: Sequence[float]) -> None:
    """Return the axis a logarithmic scale where its values span more than one power of ten, with plain numbers.

    Values close to the one before have no number of their own.
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


@chart
def replicates(
    results: Results, model: str, ax: Axes = NEW_AXES, *, legend: bool = True, name: str | None = None
) -> None:
    """Draw what single replicates of one model predict against a one-dimensional input, their mean and the truth.

    How far the thin lines spread is the variance; how far the thick one is from the points, the bias and the noise.
    """
    own = [c for c in results.replicate_predictions if c.model == model]
    lines = {kind: [(c.x, c.y) for c in own if c.curve == kind] for kind in ("replicate", "mean", "truth")}
    write_title(ax, name, model)
    if not (lines["mean"] and lines["truth"]):
        return
    index = place_of_model(results, model)
    ax.plot(*lines["truth"][0], marker="o", linestyle="none", color=MUTED, markersize=2.6, markeredgewidth=0,
            label=say("chart.truth"), zorder=1)  # fmt: skip
    for number, (x, y) in enumerate(lines["replicate"]):
        line = ax.plot(x, y, color=mark_of(index).colour, linewidth=0.6, alpha=0.35, zorder=2,
                       label=say("chart.replicates") if number == 0 else None)[0]  # fmt: skip
        line.set_gid(f"m{index}--replicate-{number}")
    label = say("chart.mean_of_replicates")
    mean = ax.plot(*lines["mean"][0], color=INK, linewidth=1.8, zorder=3, label=label)[0]
    mean.set_gid(f"m{index}--mean")
    ax.set_xlabel("x", parse_math=False)
    if legend:
        ax.legend(loc="best", handlelength=1.8)


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
    records = along_axis([r for r in decomposed(results, loss) if r.model == model])
    if records:
        course(records, ax)
    write_title(ax, name, model)


def leading_parts(record: DecompositionRecord) -> tuple[float, float]:
    """Return the bias and the variance that are drawn: their unbiased estimates, which add up to the loss as well.

    0-1 loss: the bias, and the unbiased less the biased variance. With one prediction an example: what there is.
    """
    if record.variance_unbiased is None:
        return record.bias, record.variance
    if record.variance_biased is not None:
        return record.bias, record.variance_unbiased - record.variance_biased
    return (record.bias if record.bias_unbiased is None else record.bias_unbiased), record.variance_unbiased


def along_axis(records: Sequence[DecompositionRecord]) -> list[DecompositionRecord]:
    """Return the records that have a complexity or training size, in rising order of it."""
    return sorted((r for r in records if place_of(r) is not None), key=lambda r: place_of(r) or 0.0)


def place_of(record: DecompositionRecord) -> float | None:
    """Return the complexity of a record, else its training size."""
    return record.complexity if record.complexity is not None else record.train_size


def decomposed(results: Results, loss: str | None) -> list[DecompositionRecord]:
    """Return the records of a loss, by default the first of the results, models in rank order."""
    losses = [record.loss for record in results.decomposition]
    wanted = loss if loss is not None else (losses[0] if losses else "")
    order = {model: i for i, model in enumerate(ranked(results))}
    records = [record for record in results.decomposition if record.loss == wanted]
    return sorted(records, key=lambda record: order[record.model])
