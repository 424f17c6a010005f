"""ROC and precision-recall curves of several models on one pair of axes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from evalreport.headline import all_inverted
from evalreport.headline.facts import Facts
from evalreport.numbers import digits_apart, to_digits
from evalreport.plots.style import (
    BEHIND,
    DASHED,
    DOTTED,
    GREY,
    MUTED,
    NEW_AXES,
    PAPER,
    Ids,
    Look,
    Names,
    chart,
    mark_of,
)
from evalreport.questions.thresholds.records import CurveRecord
from evalreport.schema.lookups import is_metric, outcomes_of, ranked, shown_behind, true_counts
from evalreport.schema.metrics import ROC_AREAS
from evalreport.schema.results import Results
from evalreport.texts import say

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.axis import Axis
    from matplotlib.lines import Line2D
    from matplotlib.typing import DrawStyleType
    from numpy.typing import ArrayLike, NDArray


MOST_TOLD, FIRST = 6, 4
"""Of more than ``MOST_TOLD`` models that are not clearly behind only the ``FIRST`` are drawn in colour."""
LONGEST_NAME = 40

SHARES = (0.15, 0.35, 0.5, 0.65, 0.8)
"""How far along the curve thresholds are written."""

APART = 0.16
"""Two thresholds are written at least so far apart."""

LINE = 0.065
"""The height of a name beside the axes, as a share of theirs."""


def compared_on(results: Results, metric: str | None) -> str:
    """Return the metric that decides which models are highlighted: the given one if pairs were compared on it."""
    compared = metric is not None and any(
        r.recommended and r.slice is None and r.low is not None and is_metric(r, metric)
        for r in results.comparisons
    )
    return metric if compared and metric is not None else results.shown_metric


def contenders(results: Results, metric: str | None = None) -> list[str]:
    """Return the models that are not clearly behind the best one on a metric, the best first.

    All of them where every model is inverted. On the primary metric the verdicts say so; on another one the test of
    the difference from the best model, at a level that holds over all pairs.

    Parameters
    ----------
    metric
        As the command line spells it, larger is better; the primary metric if None, or where no pair
        was compared on it.
    """
    order, metric = ranked(results), compared_on(results, metric)
    if all_inverted(results):
        return order
    facts, behind = Facts(results), shown_behind(results)
    quantity = facts.called(metric)
    if metric != results.shown_metric:
        known = {m: v.value for m in order if (v := facts.value(m, quantity)) is not None}
        order, behind = sorted(known, key=lambda m: -known[m]), set()
    pairs = {m: facts.pair(order[0], m, quantity) for m in order[1:]}
    behind |= {m for m, pair in pairs.items() if pair is not None and pair.decided and pair.ahead}
    return [m for m in order if m not in behind]


@chart
def roc(
    results: Results,
    ax: Axes = NEW_AXES,
    *,
    label: str | None = None,
    names: Names = None,
    highlight: Ids = None,
    annotated: str | None = None,
    upto: float = 1.0,
) -> None:
    """Draw the true against the false positive rate of every model.

    Models that are not clearly behind on ROC AUC are drawn in colour, the others in grey. A marker shows where a
    model's own decisions lie; a model without scores is that point alone. A curve that is alone has its band.

    Parameters
    ----------
    label
        The class, where there are several (one against the rest); None for a binary task.
    names
        Names of models to write; the model's own with its AUC if None.
    annotated
        The model whose thresholds are written beside its curve, with its line of equal accuracy; none if None.
    upto
        The false positive rate at which the axis ends.

    Examples
    --------
    >>> import evalreport as er
    >>> from evalreport import plots
    >>> scores = {"forest": {"p_1": [0.9, 0.2, 0.7, 0.4]}, "logreg": {"p_1": [0.6, 0.5, 0.7, 0.1]}}
    >>> results = er.evaluate(scores, truth=[1, 0, 1, 0], resamples=100)
    >>> plots.roc(results).get_xlabel()
    'False positive rate'
    """
    draw_diagonal(ax)
    models = shown_models(results, names or _with_areas(results, label), highlight, metric="roc_auc")
    for model in models:
        curve = curve_of(results, model.model, "roc", label)
        draw_curve(ax, curve, model, band=len(models) == 1)
        if model.model == annotated and curve is not None:
            _draw_thresholds(ax, curve, model.index)
            _draw_equal_accuracy(ax, results, model)
        rates = _rates(results, model.model, label)
        if rates is not None and rates[1] <= upto:
            _draw_point(ax, rates[1], rates[0], model)
    _unit_square(ax, say("chart.false_positive_rate"), say("chart.true_positive_rate"))
    if upto < 1:
        ax.set_xlim(-0.01 * upto, upto)
        ax.set_xticks([upto * i / 4 for i in range(5)], [f"{upto * i / 4:g}" for i in range(5)])
    label_lines(ax, models)


@chart
def precision_recall(
    results: Results,
    ax: Axes = NEW_AXES,
    *,
    label: str | None = None,
    names: Names = None,
    highlight: Ids = None,
) -> None:
    """Draw precision against recall of every model, with the share of positives as the dashed line.

    Models that are not clearly behind on average precision are drawn in colour, the others in grey.
    """
    prevalence = prevalence_of(results, label)
    if prevalence is not None:
        ax.axhline(prevalence, color=MUTED, linewidth=0.8, linestyle=DASHED)
    models = shown_models(results, names, highlight, metric="average_precision")
    for model in models:
        draw_curve(ax, _from_first_found(curve_of(results, model.model, "pr", label)), model, band=False)
        rates = _rates(results, model.model, label)
        if rates is not None and rates[2] is not None:
            _draw_point(ax, rates[0], rates[2], model)
    _unit_square(ax, say("chart.recall"), say("chart.precision"))
    label_lines(ax, models, in_order=True)


def _from_first_found(curve: CurveRecord | None) -> CurveRecord | None:
    """Leave out the points before the first positive is found: where recall is 0 no precision is of use."""
    if curve is None:
        return None
    first = next((place for place, recall in enumerate(curve.x) if recall > 0), 0)
    return replace(curve, x=curve.x[first:], y=curve.y[first:])


def _with_areas(results: Results, label: str | None) -> dict[str, str]:
    """Return each model's name with the area under its ROC curve, where it has one."""
    names = {model: name_of(None, model) for model in results.models}
    for record in results.metrics:
        whole = record.slice is None and record.average is None and record.label == label
        if whole and record.metric in ROC_AREAS and record.value is not None:
            names[record.model] = say("chart.with_area", model=names[record.model], area=record.value)
    return names


def prevalence_of(results: Results, label: str | None = None) -> float | None:
    """Return the share of the positive (or named) class in the truth; None where no count tells it."""
    if label is None and results.operating_points:
        point = results.operating_points[0]
        return (point.tp + point.fn) / (point.tp + point.fp + point.fn + point.tn)
    positive, counts = label if label is not None else results.positive, true_counts(results)
    total = sum(counts.values())
    return counts.get(positive, 0.0) / total if positive is not None and total else None


def curve_of(results: Results, model: str, kind: str, label: str | None) -> CurveRecord | None:
    """Return a model's curve of that name, or None."""
    curves = (c for c in results.curves if c.model == model and c.curve == kind and c.label == label)
    return next(curves, None)


def limits_of(curve: CurveRecord) -> tuple[NDArray[np.float64], NDArray[np.float64]] | None:
    """Return the lower and upper limits of a curve, nan where a point has none; None where no point has any."""
    if curve.low is None or curve.high is None:
        return None
    return np.array(curve.low, dtype=float), np.array(curve.high, dtype=float)


def _rates(results: Results, model: str, label: str | None) -> tuple[float, float, float | None] | None:
    """Return TPR, FPR and precision of the model's own decisions."""
    tp, fp, fn, tn = outcomes_of(results, model, label if label is not None else results.positive)
    if not tp + fn or not fp + tn:
        return None
    return tp / (tp + fn), fp / (fp + tn), tp / (tp + fp) if tp + fp else None


def name_of(names: Names, model: str) -> str:
    """Return the text for a model in a chart: the given one, else its name, cut where it is long."""
    if names is not None:
        return names[model]
    plain = "".join(character if character.isprintable() else "\u00b7" for character in model)
    return plain if len(plain) <= LONGEST_NAME else f"{plain[: LONGEST_NAME - 9]}\u2026{plain[-8:]}"


def write_title(axes: Axes, name: str | None, model: str) -> None:
    """Write the given title above the axes of one model, else its name."""
    axes.set_title(name if name is not None else name_of(None, model), fontsize=9, parse_math=False)


@dataclass(frozen=True, slots=True)
class ShownModel:
    """One of several models on the same axes: its index in the ranking, its text.

    One that is not ``highlighted`` is drawn in grey.
    """

    model: str
    index: int
    name: str
    highlighted: bool


def shown_models(
    results: Results, names: Names, highlight: Ids, *, metric: str | None = None
) -> list[ShownModel]:
    """Return the models of the results, the first in rank first, as a chart of all of them shows each.

    In colour: the wanted ones, else those that are not clearly behind on the metric, and the baseline. Where more than
    six are not, the first four of them.
    """
    if highlight is None:
        first = contenders(results, metric)
        wanted = {*(first if len(first) <= MOST_TOLD else first[:FIRST]), results.baseline}
    else:
        wanted = {*highlight}
    return [
        ShownModel(model, i, name_of(names, model), model in wanted)
        for i, model in enumerate(ranked(results))
    ]


def draw_curve(
    axes: Axes,
    curve: CurveRecord | None,
    model: ShownModel,
    *,
    band: bool = False,
    shape: DrawStyleType = "default",
) -> None:
    """Draw a curve in its model's colour and dash, its band beneath where it has one and ``band`` allows it.

    A model that is not highlighted is a thin grey line below them.
    """
    if curve is None:
        return
    pen, limits = Pen(axes, model.index), limits_of(curve)
    if band and limits is not None:
        pen.band("band", curve.x, *limits, alpha=0.12)
    grey = {"color": GREY, "linestyle": "solid", "linewidth": 0.8, "zorder": 1.5}
    pen.line("line", curve.x, curve.y, drawstyle=shape, **{"linewidth": 1.7} if model.highlighted else grey)


@dataclass(frozen=True, slots=True)
class Pen:
    """Draws the parts of one model on axes: in its colour, each with an id by which a page hides the model."""

    axes: Axes
    index: int

    def id(self, part: str) -> str:
        """Return a part's id, which is its own in a figure, whichever its axes."""
        place = self.axes.figure.axes.index(self.axes)
        return f"m{self.index}--{part}" + (f"-{place}" if place else "")

    def line(self, part: str, x: ArrayLike, y: ArrayLike, **look: Look) -> None:
        """Draw a line in the dash of the model."""
        mark = mark_of(self.index)
        own: dict[str, Look] = {"color": mark.colour, "linestyle": mark.dash, "gid": self.id(part)}
        self.axes.plot(x, y, **own | look)

    def points(self, part: str, x: ArrayLike, y: ArrayLike, **look: Look) -> None:
        """Draw the markers of the model."""
        mark = mark_of(self.index)
        own: dict[str, Look] = {
            "color": mark.colour,
            "marker": mark.marker,
            "linestyle": "none",
            "gid": self.id(part),
        }
        self.axes.plot(x, y, **own | look)

    def band(self, part: str, x: ArrayLike, low: ArrayLike, high: ArrayLike, **look: Look) -> None:
        """Fill the space between two limits."""
        own: dict[str, Look] = {"color": mark_of(self.index).colour, "linewidth": 0, "gid": self.id(part)}
        self.axes.fill_between(x, low, high, **own | look)


def label_lines(axes: Axes, models: Sequence[ShownModel], *, in_order: bool = False) -> None:
    """Name the models in colour beside the ends of their lines, each by its marker too, and count the others.

    ``in_order``: from the top, in the order of the ranking, where all lines end near each other.
    """
    lines = {line.get_gid(): line for line in axes.get_lines()}
    drawn = [(m, _end_of(axes, lines, m.index)) for m in models]
    ends = sorted(
        ((-1.0 if in_order else -y, m.index, m) for m, y in drawn if y is not None and m.highlighted),
        key=lambda end: end[:2],
    )
    others = sum(y is not None and not m.highlighted for m, y in drawn)
    rows = len(ends) + bool(others)
    at = 1.0
    for place, (y, index, model) in enumerate(ends):
        # Below the one before, but high enough for all that follow.
        at = max(min(at, -y), (rows - place - 1) * LINE)
        pen = Pen(axes, index)
        pen.points("name-symbol", [1.03], [at], markersize=4.5, clip_on=False, transform=axes.transAxes)
        _beside(axes, at, model.name, mark_of(index).colour, gid=pen.id("name"))
        at -= LINE
    if others:
        low = at if ends else 0.5
        _beside(axes, low, say("chart.others" if ends else "chart.models", n=others), MUTED)


def _beside(axes: Axes, at: float, text: str, colour: str, **look: Look) -> None:
    axes.text(1.055, at, text, color=colour, fontsize=8.5, va="center", clip_on=False, parse_math=False,
              transform=axes.transAxes, **look)  # fmt: skip


def _end_of(axes: Axes, lines: Mapping[str | None, Line2D], index: int) -> float | None:
    """Return how high a model's line ends, as a share of the axes' height; None where it has none."""
    pen = Pen(axes, index)
    line = lines.get(pen.id("line")) or lines.get(pen.id("point"))
    if line is None:
        return None
    x, y = (np.asarray(values, dtype=float) for values in line.get_data())
    inside = np.flatnonzero((x <= axes.get_xlim()[1]) & np.isfinite(y))
    low, high = axes.get_ylim()
    end = y[inside[np.argmax(x[inside])]] if len(inside) else high
    return min(max(float((end - low) / (high - low or 1.0)), 0.0), 1.0)


def _draw_thresholds(axes: Axes, curve: CurveRecord, index: int) -> None:
    """Write a few thresholds beside a curve, evenly along its way."""
    way = [0.0]
    for i in range(1, len(curve.x)):
        way.append(way[-1] + abs(curve.x[i] - curve.x[i - 1]) + abs(curve.y[i] - curve.y[i - 1]))
    places = {min(range(len(way)), key=lambda i: abs(way[i] - share * way[-1])) for share in SHARES}
    pen, written, digits = (
        Pen(axes, index),
        -1.0,
        digits_apart(at for at in curve.threshold or () if at is not None),
    )
    for number, i in enumerate(sorted(places)):
        at = None if curve.threshold is None else curve.threshold[i]
        if at is None or way[i] - written < APART:
            continue
        written = way[i]
        pen.points(f"threshold-{number}", [curve.x[i]], [curve.y[i]], marker=".", markersize=5)
        axes.annotate(
            to_digits(at, digits), (curve.x[i], curve.y[i]), xytext=(3, -3), textcoords="offset points", ha="left",
            va="top", fontsize=7, color=MUTED, parse_math=False, bbox=BEHIND, gid=pen.id(f"threshold-text-{number}"),
        )  # fmt: skip


def _draw_equal_accuracy(axes: Axes, results: Results, model: ShownModel) -> None:
    """Draw the line of equal accuracy that touches a model's curve, inside the square.

    Accuracy is the first of the metrics whose best threshold is looked for, and such a line is straight.
    """
    ends = _equal_accuracy(results, model.model)
    if len(ends) >= 2:
        x, y = zip(*ends, strict=True)
        Pen(axes, model.index).line("equal-accuracy", x, y, linewidth=0.8, linestyle=DOTTED)


def has_equal_accuracy(results: Results, model: str) -> bool:
    """Return whether the model's curve alone has a line of equal accuracy."""
    return len(_equal_accuracy(results, model)) >= 2


def _equal_accuracy(results: Results, model: str) -> list[tuple[float, float]]:
    """Return the ends of the line inside the unit square; fewer than two where there is none."""
    best = next((p for p in results.operating_points if (p.model, p.criterion) == (model, "best")), None)
    slope, offset = (None if best is None else best.details.get(name) for name in ("slope", "offset"))
    if slope is None or offset is None:
        return []
    xs = [x for x in (0.0, -offset / slope, (1 - offset) / slope, 1.0) if 0 <= x <= 1]
    xs = [x for x in xs if -1e-9 <= offset + slope * x <= 1 + 1e-9]
    return [(x, offset + slope * x) for x in sorted({min(xs), max(xs)})] if xs else []


def _draw_point(axes: Axes, x: float, y: float, model: ShownModel) -> None:
    grey = {"color": GREY, "markersize": 4.0, "zorder": 1.6}
    look = {"markersize": 7.0, "zorder": 5} if model.highlighted else grey
    Pen(axes, model.index).points("point", [x], [y], markeredgecolor=PAPER, markeredgewidth=0.8, **look)


def _unit_square(axes: Axes, x_label: str, y_label: str) -> None:
    axes.set(xlim=(-0.01, 1.01), ylim=(-0.01, 1.01), xlabel=x_label, ylabel=y_label)
    for axis in (axes.xaxis, axes.yaxis):
        mark_fifths(axis)


def draw_diagonal(axes: Axes, ends: Sequence[float] = (0.0, 1.0), *, zorder: float = 2.0) -> None:
    """Draw the dashed line on which both axes agree, from the least to the largest of some values."""
    both = [min(ends), max(ends)]
    axes.plot(both, both, color=MUTED, linewidth=0.8, linestyle=DASHED, zorder=zorder)


def mark_fifths(axis: Axis) -> None:
    """Return an axis of shares its ticks."""
    axis.set_ticks([0.0, 0.2, 0.4, 0.6, 0.8, 1.0], ["0", "0.2", "0.4", "0.6", "0.8", "1"])
