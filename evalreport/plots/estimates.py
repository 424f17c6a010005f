"""Error estimates side by side: a row an estimator, a mark a model, with its interval."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from evalreport.plots.curves import name_of, place_of_model, ranked
from evalreport.plots.decomposition import logarithmic
from evalreport.plots.pairs import lay_rows, name_parts, write_beside
from evalreport.plots.style import FAINT, INK, NEW_AXES, PAPER, chart, mark_of
from evalreport.registry import words
from evalreport.results import Results
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
