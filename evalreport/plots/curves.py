"""ROC and precision-recall curves of several models on one pair of axes."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from evalreport.numbers import digits_apart, to_digits
from evalreport.plots.style import BEHIND, DASHED, INK, MUTED, NEW_AXES, PAPER, chart, mark_of
from evalreport.records import ComparisonRecord, FoldRecord, MetricRecord
from evalreport.registry import words
from evalreport.results import CurveRecord, Results
from evalreport.texts import say

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.axis import Axis
    from matplotlib.typing import DrawStyleType, LegendLocType
    from numpy.typing import NDArray


@dataclass(frozen=True, slots=True)
class Paired:
    """What is settled of a pair: a - b with its one interval, the adjusted p-value, the verdict seen from b."""

    difference: float
    low: float | None
    high: float | None
    p: float | None
    verdict: str | None


def ranked(results: Results) -> list[str]:
    """Give the models, the first in rank first; those without a rank follow by name."""
    rank = {record.model: record.rank for record in results.ranking}
    return sorted(results.models, key=lambda model: (rank.get(model, len(rank) + 1), model))


def primary_words(results: Results) -> str:
    """Give the primary metric's name as words."""
    return words(results.primary_metric)


def spelled(record: MetricRecord | ComparisonRecord | FoldRecord) -> str:
    """Give a record's metric as the command line spells it."""
    text = record.metric + (f"_{record.average}" if record.average else "")
    return text + (f"[class={record.label}]" if record.label is not None else "")


def is_metric(record: MetricRecord | ComparisonRecord | FoldRecord, metric: str) -> bool:
    """Say whether a record is about a metric; a bare name means the overall or averaged value."""
    return spelled(record) == metric or (record.label is None and record.metric == metric)


def with_limits(record: MetricRecord | None) -> tuple[float | None, float | None, float | None]:
    """Give a value with the lower and the upper limit of its first interval; None for what there is not."""
    if record is None:
        return None, None, None
    first = record.intervals[0] if record.intervals else None
    return record.value, None if first is None else first.low, None if first is None else first.high


def values_of(results: Results, metric: str) -> dict[str, MetricRecord]:
    """Give every model's value of a metric on all examples."""
    found: dict[str, MetricRecord] = {}
    for record in results.metrics:
        if record.slice is None and is_metric(record, metric):
            found.setdefault(record.model, record)
    return found


def paired_on_primary(results: Results, a: str, b: str) -> Paired | None:
    """Give what the recommended test and the verdict say of a - b; None where they were not compared."""
    tests = (
        r
        for r in results.comparisons
        if r.recommended and r.slice is None and is_metric(r, results.primary_metric) and {r.a, r.b} == {a, b}
    )
    record = next(tests, None)
    if record is None or record.difference is None:
        return None
    turned = record.a == b
    verdict = next((v for v in results.verdicts if set(v.about) == {a, b}), None)
    low, high = _turned(record.low, record.high, turned)
    word = None
    if verdict is not None:
        around = verdict.about[0] == b
        low, high = _turned(verdict.low, verdict.high, around)
        other = {"better": "worse", "worse": "better", "non-inferior": "undecided"}
        word = other.get(verdict.verdict, verdict.verdict) if around else verdict.verdict
    p = record.p_adjusted if record.p_adjusted is not None else record.p_value
    difference = 0.0 - record.difference if turned else record.difference
    return Paired(difference, low, high, p, word)


def _turned(low: float | None, high: float | None, turned: bool) -> tuple[float | None, float | None]:
    if not turned:
        return low, high
    return None if high is None else 0.0 - high, None if low is None else 0.0 - low


MOST_TOLD, FIRST = 6, 4
"""Of more models than the one number, so many as the other are drawn in colour: lines of twelve tell nothing."""

ROC_AREAS = ("roc_auc", "roc_auc_ovr")
"""The area under a binary curve, and under that of one class against the rest."""

MOST_BANDS = 6
LONGEST_NAME = 40
OTHERS = "\u2060others"
"""Stands for what is drawn in grey; a model's name cannot begin with a word joiner here."""

SHARES = (0.15, 0.35, 0.5, 0.65, 0.8)
"""How far along the curve thresholds are written."""

APART = 0.16
"""Two thresholds are written at least so far apart."""


@chart
def roc(
    results: Results,
    ax: Axes = NEW_AXES,
    *,
    label: str | None = None,
    names: Mapping[str, str] | None = None,
    legend: bool = True,
    highlight: Collection[str] | None = None,
    annotated: str | None = None,
) -> None:
    """Draw the true against the false positive rate of every model, with pointwise bands.

    A marker shows where the model's own decisions lie; a model without scores is that point alone. Of more than
    six models the first four in rank (and the baseline) are drawn in colour and the others in grey, and only the
    first two have bands.

    Parameters
    ----------
    label
        The class, where there are several (one against the rest); None for a binary task.
    names
        What is said for a model; its name and its AUC if None.
    annotated
        The model whose thresholds stand beside its curve, and whose line of equal accuracy is drawn where it
        touches; none if None.

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
    banded = _banded(results)
    for model in shown_models(results, names or _with_areas(results, label), highlight):
        curve = curve_of(results, model.model, "roc", label)
        draw_curve(ax, curve, model, band=model.model in banded)
        if model.model == annotated and curve is not None:
            _draw_thresholds(ax, curve, model.index)
            _draw_equal_accuracy(ax, results, model)
        rates = _rates(results, model.model, label)
        if rates is not None:
            _draw_point(ax, rates[1], rates[0], model)
    _unit_square(ax, say("chart.false_positive_rate"), say("chart.true_positive_rate"))
    with_legend(ax, legend, "lower right")


@chart
def precision_recall(
    results: Results,
    ax: Axes = NEW_AXES,
    *,
    label: str | None = None,
    names: Mapping[str, str] | None = None,
    legend: bool = True,
    highlight: Collection[str] | None = None,
) -> None:
    """Draw precision against recall of every model, with the share of positives as the dashed line."""
    prevalence = prevalence_of(results, label)
    if prevalence is not None:
        ax.axhline(prevalence, color=MUTED, linewidth=0.8, linestyle=DASHED)
    for model in shown_models(results, names, highlight):
        draw_curve(ax, curve_of(results, model.model, "pr", label), model)
        rates = _rates(results, model.model, label)
        if rates is not None and rates[2] is not None:
            _draw_point(ax, rates[0], rates[2], model)
    _unit_square(ax, say("chart.recall"), say("chart.precision"))
    with_legend(ax, legend, "best")


def _with_areas(results: Results, label: str | None) -> dict[str, str]:
    """Give each model's name with the area under its ROC curve, where it has one."""
    names = {model: name_of(None, model) for model in results.models}
    for record in results.metrics:
        whole = record.slice is None and record.average is None and record.label == label
        if whole and record.metric in ROC_AREAS and record.value is not None:
            names[record.model] = say("chart.with_area", model=names[record.model], area=record.value)
    return names


def prevalence_of(results: Results, label: str | None = None) -> float | None:
    """Give the share of the positive (or named) class in the truth; None where no count tells it."""
    positive = label if label is not None else results.positive
    first = next(iter(results.confusion), None)
    if label is None and results.operating_points:
        point = results.operating_points[0]
        return (point.tp + point.fn) / (point.tp + point.fp + point.fn + point.tn)
    if positive is None or first is None:
        return None
    cells = [c for c in results.confusion if c.model == first.model]
    total = sum(c.count for c in cells)
    return sum(c.count for c in cells if c.true == positive) / total if total else None


def curve_of(results: Results, model: str, kind: str, label: str | None) -> CurveRecord | None:
    """Give a model's curve of that name, or None."""
    found = (c for c in results.curves if c.model == model and c.curve == kind and c.label == label)
    return next(found, None)


def limits_of(curve: CurveRecord) -> tuple[NDArray[np.float64], NDArray[np.float64]] | None:
    """Give the lower and upper limits of a curve, nan where a point has none; None where no point has any."""
    if curve.low is None or curve.high is None:
        return None
    return np.array(curve.low, dtype=float), np.array(curve.high, dtype=float)


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


def name_of(names: Mapping[str, str] | None, model: str) -> str:
    """Give what a chart says for a model: what is wanted, else its name, cut where it is long."""
    if names is not None:
        return names[model]
    plain = "".join(character if character.isprintable() else "\u00b7" for character in model)
    return plain if len(plain) <= LONGEST_NAME else f"{plain[: LONGEST_NAME - 9]}\u2026{plain[-8:]}"


def write_title(axes: Axes, name: str | None, model: str) -> None:
    """Write what is wanted above the axes of one model, else its name."""
    axes.set_title(name if name is not None else name_of(None, model), fontsize=9, parse_math=False)


def in_colour(results: Results, highlight: Collection[str] | None = None) -> frozenset[str]:
    """Give the models that are drawn in colour: the wanted ones, else all of few and the first of many."""
    if highlight is not None:
        return frozenset(highlight)
    if len(results.models) <= MOST_TOLD:
        return frozenset(results.models)
    ranked = [r.model for r in sorted(results.ranking, key=lambda r: (r.rank, r.model))] or results.models
    first = [*ranked[:FIRST], *([] if results.baseline is None else [results.baseline])]
    return frozenset(first)


@dataclass(frozen=True, slots=True)
class ShownModel:
    """One of several models on the same axes: its place in canonical order, what it is called there.

    One that is not ``told`` from the others is drawn in grey.
    """

    model: str
    index: int
    name: str
    told: bool


def shown_models(
    results: Results, names: Mapping[str, str] | None, highlight: Collection[str] | None
) -> list[ShownModel]:
    """Give the models of the results as a chart of all of them shows each."""
    told = in_colour(results, highlight)
    return [
        ShownModel(model, i, name_of(names, model), model in told) for i, model in enumerate(results.models)
    ]


def _banded(results: Results) -> frozenset[str]:
    """Give the models whose bands are drawn."""
    if len(results.models) <= MOST_BANDS:
        return frozenset(results.models)
    drawn = {curve.model for curve in results.curves if curve.band}
    ranked = sorted((r.rank, r.model) for r in results.ranking if r.model in drawn)
    return frozenset(model for _, model in ranked[:2])


def draw_curve(
    axes: Axes,
    curve: CurveRecord | None,
    model: ShownModel,
    *,
    band: bool = True,
    shape: DrawStyleType = "default",
) -> None:
    """Draw a curve in its model's colour and dash, its band beneath where it has one and ``band`` allows it.

    A model that is not told from the others is a thin grey line below them.
    """
    if curve is None:
        return
    mark = mark_of(model.index)
    limits = limits_of(curve)
    if model.told and band and limits is not None:
        area = axes.fill_between(curve.x, *limits, color=mark.colour, alpha=0.12, linewidth=0)
        area.set_gid(own_id(axes, model.index, "band"))
    look: dict[str, Any] = {
        "color": mark.colour,
        "linestyle": mark.dash,
        "linewidth": 1.5,
        "label": model.name,
    }
    if not model.told:
        look = {"color": MUTED, "linewidth": 0.7, "alpha": 0.45, "zorder": 1.5, "label": OTHERS}
    line = axes.plot(curve.x, curve.y, drawstyle=shape, **look)[0]
    line.set_gid(own_id(axes, model.index, "line"))


def own_id(axes: Axes, index: int, part: str) -> str:
    """Give a drawn part's id, by which a page hides the model: once in a figure, whichever its axes."""
    place = axes.figure.axes.index(axes)
    return f"m{index}--{part}" + (f"-{place}" if place else "")


def _draw_thresholds(axes: Axes, curve: CurveRecord, index: int) -> None:
    """Write a few thresholds beside a curve, evenly along its way."""
    way = [0.0]
    for i in range(1, len(curve.x)):
        way.append(way[-1] + abs(curve.x[i] - curve.x[i - 1]) + abs(curve.y[i] - curve.y[i - 1]))
    places = {min(range(len(way)), key=lambda i: abs(way[i] - share * way[-1])) for share in SHARES}
    written, digits = -1.0, digits_apart(at for at in curve.threshold or () if at is not None)
    for number, i in enumerate(sorted(places)):
        at = None if curve.threshold is None else curve.threshold[i]
        if at is None or way[i] - written < APART:
            continue
        written = way[i]
        dot = axes.plot([curve.x[i]], [curve.y[i]], marker=".", color=mark_of(index).colour, markersize=5)[0]
        text = axes.annotate(
            to_digits(at, digits), (curve.x[i], curve.y[i]), xytext=(3, -3), textcoords="offset points", ha="left",
            va="top", fontsize=7, color=MUTED, parse_math=False, bbox=BEHIND,
        )  # fmt: skip
        dot.set_gid(own_id(axes, index, f"threshold-{number}"))
        text.set_gid(own_id(axes, index, f"threshold-text-{number}"))


def _draw_equal_accuracy(axes: Axes, results: Results, model: ShownModel) -> None:
    """Draw the line of equal accuracy that touches a model's curve, inside the square.

    Accuracy is the first of the metrics whose best threshold is looked for, and such a line is straight.
    """
    best = (p for p in results.operating_points if (p.model, p.criterion) == (model.model, "best"))
    for point in list(best)[:1]:
        slope, offset = point.details.get("slope"), point.details.get("offset")
        if slope is None or offset is None:
            continue
        ends = [x for x in (0.0, -offset / slope, (1 - offset) / slope, 1.0) if 0 <= x <= 1]
        ends = [x for x in ends if -1e-9 <= offset + slope * x <= 1 + 1e-9]
        if len(ends) >= 2:
            xs = [min(ends), max(ends)]
            line = axes.plot(
                xs, [offset + slope * x for x in xs], color=mark_of(model.index).colour, linewidth=0.8,
                linestyle=(0.0, (1.0, 1.5)),
            )[0]  # fmt: skip
            line.set_gid(own_id(axes, model.index, "equal-accuracy"))


def _draw_point(axes: Axes, x: float, y: float, model: ShownModel) -> None:
    mark, told = mark_of(model.index), model.told
    known = {line.get_gid() for line in axes.get_lines()}
    label = None if own_id(axes, model.index, "line") in known else model.name if told else OTHERS
    size, colour = (7.0, mark.colour) if told else (4.0, MUTED)
    point = axes.plot(
        [x], [y], marker=mark.marker, color=colour, markersize=size, linestyle="none", label=label,
        markeredgecolor=PAPER, markeredgewidth=0.8, zorder=5 if told else 1.6, alpha=1.0 if told else 0.6,
    )[0]  # fmt: skip
    point.set_gid(own_id(axes, model.index, "point"))


def _unit_square(axes: Axes, x_label: str, y_label: str) -> None:
    axes.set(xlim=(-0.01, 1.01), ylim=(-0.01, 1.01), xlabel=x_label, ylabel=y_label)
    for axis in (axes.xaxis, axes.yaxis):
        mark_fifths(axis)


def with_legend(axes: Axes, wanted: bool, place: LegendLocType) -> None:
    """Put a legend of the models on the axes, if it is wanted; those that are not told apart share one line of it."""
    # Matplotlib takes a label that begins with "_" for none at all, but a model may be called so.
    named = [line for line in axes.get_lines() if not re.fullmatch(r"_child\d+", str(line.get_label()))]
    others = [line for line in named if line.get_label() == OTHERS]
    entries = [(line, str(line.get_label())) for line in named if line.get_label() != OTHERS]
    if others:
        entries.append((others[0], say("chart.others" if entries else "chart.models", n=len(others))))
    if not wanted or not entries:
        return
    legend = axes.legend(
        [handle for handle, _ in entries], ["-"] * len(entries), loc=place, handlelength=2.8, labelspacing=0.35,
        frameon=True, framealpha=0.85, facecolor=PAPER, edgecolor="none",
    )  # fmt: skip
    for number, ((handle, label), drawn, text) in enumerate(
        zip(entries, legend.legend_handles, legend.get_texts(), strict=True)
    ):
        text.set(text=label, parse_math=False, color=INK)
        owner = re.match(r"m(\d+)--", getattr(handle, "get_gid", lambda: None)() or "")
        if owner and drawn is not None and handle not in others:
            drawn.set_gid(own_id(axes, int(owner[1]), f"legend-{number}"))
            text.set_gid(own_id(axes, int(owner[1]), f"legend-text-{number}"))


def draw_diagonal(axes: Axes, ends: Sequence[float] = (0.0, 1.0), *, zorder: float = 2.0) -> None:
    """Draw the dashed line on which both axes agree, from the least to the largest of some values."""
    both = [min(ends), max(ends)]
    axes.plot(both, both, color=MUTED, linewidth=0.8, linestyle=DASHED, zorder=zorder)


def mark_fifths(axis: Axis) -> None:
    """Give an axis of shares its ticks."""
    axis.set_ticks([0.0, 0.2, 0.4, 0.6, 0.8, 1.0], ["0", "0.2", "0.4", "0.6", "0.8", "1"])
