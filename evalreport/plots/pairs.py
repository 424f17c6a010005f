"""Models beside each other: values, slices, confusion, differences, average ranks, values of single fits."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import TYPE_CHECKING, Any

import numpy as np

from evalreport.headline.facts import Facts
from evalreport.numbers import decimals_of, interval, number
from evalreport.plots.curves import Pen, label_lines, name_of, shown_models, write_title
from evalreport.plots.style import (
    DASHED,
    DOTTED,
    FAINT,
    GREY,
    INK,
    MUTED,
    NEW_AXES,
    PAPER,
    Ids,
    Names,
    chart,
    mark_of,
)
from evalreport.questions.ranks.records import AverageRankRecord
from evalreport.questions.slices.records import is_special
from evalreport.registry import words
from evalreport.schema.lookups import (
    is_metric,
    place_of_model,
    primary_words,
    quarter,
    ranked,
    values_of,
    with_limits,
)
from evalreport.schema.metrics import MetricRecord
from evalreport.schema.results import Results
from evalreport.texts import say

if TYPE_CHECKING:
    from matplotlib.artist import Artist
    from matplotlib.axes import Axes
    from matplotlib.text import Text
    from numpy.typing import NDArray

MOST_PAIRS = 15


@dataclass(frozen=True, slots=True)
class ValueRow:
    """One row: a value with its limits between a label and a text.

    ``index`` is the place in the ranking of the model whose mark the row bears; ``key`` names the
    drawn parts, so that a page can hide them.
    """

    label: str
    value: tuple[float | None, float | None, float | None]
    text: str
    index: int
    key: str


@chart
def forest(
    results: Results, ax: Axes = NEW_AXES, *, margin: float | None = None, names: Names = None
) -> None:
    """Draw the paired differences on the primary metric, better minus worse, the largest first, each with its interval.

    Of very many pairs those with the model that ranks first.

    Parameters
    ----------
    margin
        Half width of the region of practical equivalence; that of the results if None. Shaded where there is one.

    Examples
    --------
    >>> import evalreport as er
    >>> from evalreport import plots
    >>> labels = {"forest": {"y_pred": [1, 0, 1, 1]}, "logreg": {"y_pred": [0, 0, 1, 0]}}
    >>> results = er.evaluate(labels, truth=[1, 0, 1, 0], resamples=100)
    >>> plots.forest(results).get_xlabel()
    'Difference in accuracy'
    """
    rows = difference_rows(results, names)
    margin = results.options.get("margin") if margin is None else margin
    if margin is not None:
        ax.axvspan(-margin, margin, color=FAINT, linewidth=0, zorder=0)
    ax.axvline(0.0, color=MUTED, linewidth=0.9, linestyle=DASHED, zorder=1)
    _draw_rows(ax, rows, say("chart.difference", metric=primary_words(results)), width=2.6)


def _draw_rows(ax: Axes, rows: Sequence[ValueRow], axis_label: str, *, width: float = 2.0) -> None:
    for place, row in enumerate(rows):
        parts = [
            *draw_value(ax, row.value, place, row.index, width=width),
            write_beside(ax, place, row.label),
        ]
        if row.text:
            parts.append(write_beside(ax, place, row.text, right=True))
        name_parts(parts, row.key)
    lay_rows(ax, len(rows), axis_label)


def difference_rows(results: Results, names: Names = None) -> list[ValueRow]:
    """Return the differences on the primary metric with their intervals, better minus worse, the largest first."""
    facts, pairs = Facts(results), _pairs(results, ranked(results))
    primary = facts.called(results.shown_metric)
    step = facts.sign(primary)  # of a loss the second model less the first
    found = [facts.comparison(primary, *pair[::step]) for pair in pairs]
    decimals = decimals_of(quarter(r.low, r.high) for r in found if r is not None)
    known = [
        (*pair, r) for pair, r in zip(pairs, found, strict=True) if r is not None and r.difference is not None
    ]
    rows: list[ValueRow] = []
    for a, b, shown in sorted(known, key=lambda each: -abs(each[2].difference or 0.0)):
        text = number(shown.difference, decimals, signed=True)
        verdict = facts.verdict(a, b)
        if verdict is not None and verdict.verdict not in ("better", "worse"):
            text += f" {say(f'chart.pair.{verdict.verdict}')}"
        label = name_of(names, a) + ("" if results.baseline is not None else f" \u2212 {name_of(names, b)}")
        i, j = place_of_model(results, a), place_of_model(results, b)
        key = f"m{i}--{len(rows)}" if results.baseline is not None else f"m{i}_m{j}--{len(rows)}"
        rows.append(ValueRow(label, (shown.difference, shown.low, shown.high), text, i, key))
    return rows


def _pairs(results: Results, models: Sequence[str]) -> list[tuple[str, str]]:
    """Return the pairs that are drawn: those with the baseline, else all, or (of many) those with the first model."""
    if results.baseline is not None:
        return [(m, results.baseline) for m in models if m != results.baseline and results.baseline in models]
    pairs = list(combinations(models, 2))
    return pairs if len(pairs) <= MOST_PAIRS else [(models[0], model) for model in models[1 : MOST_PAIRS + 1]]


@chart
def critical_differences(results: Results, ax: Axes = NEW_AXES, *, names: Names = None) -> None:
    """Draw average ranks on the primary metric after Demsar (2006): the best on the left, labels on both sides.

    Bars join the undecided models, which share a letter. The critical difference is on top.
    """
    records, groups = _ranks_of(results), groups_of(results)
    critical_difference = records[0].critical_difference if records else None
    highest = max(len(records), 2)
    ax.set_xlim(1 - 0.05 * (highest - 1), highest + 0.05 * (highest - 1))
    depth = _labels(ax, results, names) + 0.6 * len(groups)
    for place, group in enumerate(
        sorted(groups, key=lambda group: min(records[i].average_rank for i in group))
    ):
        at = -0.45 - 0.6 * place
        low, high = (extreme(records[i].average_rank for i in group) for extreme in (min, max))
        ax.plot([low, high], [at, at], color=INK, linewidth=2.6, solid_capstyle="butt")
    top = 0.8
    if critical_difference is not None:
        top = 1.9
        _measure(ax, critical_difference, highest)
    ax.plot([1, highest], [0, 0], color=MUTED, linewidth=0.9)
    for tick in range(1, highest + 1):
        ax.plot([tick, tick], [0, 0.14], color=MUTED, linewidth=0.9)
        ax.text(tick, 0.3, str(tick), ha="center", color=MUTED, fontsize=8)
    ax.set_ylim(-depth - 0.6, top)
    ax.set_axis_off()


def _labels(axes: Axes, results: Results, names: Names) -> float:
    """Lead a line from each rank down and out to its label: the better half left, the others right."""
    order = sorted(
        (r.average_rank, name_of(names, r.model), place_of_model(results, r.model))
        for r in _ranks_of(results)
    )
    left = order[: (len(order) + 1) // 2]
    low, high = axes.get_xlim()
    deepest = 0.0
    for side, members in (("left", left), ("right", order[len(left) :][::-1])):
        for step, (rank, label, index) in enumerate(members):
            mark, at = mark_of(index), -1.2 - 0.62 * step - 0.3 * len(order) / 4
            edge, align, toward = (low, "right", -1) if side == "left" else (high, "left", 1)
            parts: list[Artist] = []
            parts += axes.plot([rank, rank, edge], [0, at, at], color=mark.colour, linewidth=1.1)
            parts += axes.plot([rank], [0], marker=mark.marker, color=mark.colour, markersize=5.5)
            parts.append(axes.text(edge + toward * 0.01 * (high - low), at, f"{label} {rank:.2f}", ha=align,
                                   va="center", color=INK, parse_math=False, clip_on=False))  # fmt: skip
            name_parts(parts, f"m{index}--rank")
            deepest = max(deepest, -at)
    return deepest


def _measure(axes: Axes, length: float, highest: int) -> None:
    # A difference longer than the axis is cut there: it separates no two models.
    end = min(1 + length, highest)
    axes.plot([1, end], [1.15, 1.15], color=MUTED, linewidth=1.4, solid_capstyle="butt")
    for x in (1, end):
        axes.plot([x, x], [1.03, 1.27], color=MUTED, linewidth=0.9)
    axes.text((1 + end) / 2, 1.42, f"critical difference {length:.2f}", ha="center", color=MUTED, fontsize=8)


def _ranks_of(results: Results) -> list[AverageRankRecord]:
    return [r for r in results.average_ranks if r.metric == results.shown_metric]


def groups_of(results: Results) -> list[list[int]]:
    """Return the indices of the models that share a letter."""
    records, letters = _ranks_of(results), {r.model: r.letters for r in results.ranking}
    every = sorted(set("".join(letters.values())))
    groups = [[i for i, r in enumerate(records) if letter in letters.get(r.model, "")] for letter in every]
    return [group for group in groups if len(group) > 1]


@dataclass(frozen=True, slots=True)
class Strip:
    """One row: its label, the differences on the single fits, its model's place in the ranking, its key."""

    label: str
    differences: tuple[float, ...]
    index: int
    key: str


@chart
def fold_differences(
    results: Results, ax: Axes = NEW_AXES, *, axis_label: str = "", names: Names = None
) -> None:
    """Draw the differences on the primary metric on single fits, from top to bottom."""
    rows = strips(results, names)
    ax.axvline(0.0, color=MUTED, linewidth=0.9, linestyle=DASHED, zorder=1)
    for place, row in enumerate(rows):
        mark, n = mark_of(row.index), len(row.differences)
        # Points that coincide differ in height: one fold after the other across the row.
        heights = [place + 0.44 * ((i + 0.5) / n - 0.5) for i in range(n)]
        parts: list[Artist] = []
        parts += ax.plot(row.differences, heights, marker=mark.marker, color=mark.colour, linestyle="none",
                          markersize=4.5 if n <= 20 else 2.6, markeredgewidth=0)  # fmt: skip
        mean = sum(row.differences) / n
        parts += ax.plot([mean, mean], [place - 0.34, place + 0.34], color=INK, linewidth=1.6, zorder=4)
        parts.append(write_beside(ax, place, row.label))
        name_parts(parts, f"{row.key}--strip-{place}")
    axis_label = axis_label or say("chart.difference", metric=primary_words(results))
    lay_rows(ax, len(rows), axis_label, margin=0.05)


def strips(results: Results, names: Names = None) -> list[Strip]:
    """Return the differences on single fits, of every pair or (of many) of those with the model that ranks first."""
    folds = values_of_fits(results)
    models = [model for model in ranked(results) if model in folds and None not in folds[model].values()]
    rows = []
    for a, b in _pairs(results, models):
        if folds[a].keys() == folds[b].keys() and len(folds[a]) > 1:  # seeds of other names are no pairs
            both = ((x, folds[b][fit]) for fit, x in folds[a].items())
            differences = tuple(x - y for x, y in both if x is not None and y is not None)
            i, j = place_of_model(results, a), place_of_model(results, b)
            label = f"{name_of(names, a)} \u2212 {name_of(names, b)}"
            rows.append(Strip(label, differences, i, f"m{i}_m{j}"))
    return rows


def values_of_fits(results: Results) -> dict[str, dict[tuple[str | None, str | None], float | None]]:
    """Return every model's values of the primary metric by single fit, in the results' order."""
    found: dict[str, dict[tuple[str | None, str | None], float | None]] = {}
    for record in results.folds:
        if is_metric(record, results.shown_metric):
            found.setdefault(record.model, {})[record.repeat, record.fold] = record.value
    return found


def name_parts(parts: Iterable[Artist], key: str) -> None:
    """Number drawn parts, so that a page can hide them by the key that their ids begin with."""
    for place, part in enumerate(parts):
        part.set_gid(f"{key}-{place}")


def lay_rows(axes: Axes, n: int, axis_label: str, *, margin: float = 0.1) -> None:
    """Lay axes out for rows from top to bottom, each with its own label beside it."""
    axes.set_yticks([])
    axes.set_ylim(max(n, 1) - 0.5 + margin, -0.5 - margin)
    axes.spines["left"].set_visible(False)
    axes.grid(visible=False, axis="y")
    axes.set_xlabel(axis_label, parse_math=False)


def write_beside(axes: Axes, place: float, text: str, *, right: bool = False) -> Text:
    """Write a row's label at the left of the axes, or what it says at the right."""
    return axes.text(
        1.02 if right else -0.02, place, text, ha="left" if right else "right", va="center",
        color=MUTED if right else INK, clip_on=False, parse_math=False, transform=axes.get_yaxis_transform(),
    )  # fmt: skip


@chart
def by_slice(
    results: Results,
    model: str,
    ax: Axes = NEW_AXES,
    *,
    column: str | None = None,
    metric: str | None = None,
    names: Names = None,
) -> None:
    """Draw one model's values within the slices of a column, and over all examples as a line with its band.

    Parameters
    ----------
    column
        One that was sliced by; the first if None.
    metric
        As the command line spells it; the primary metric if None.
    names
        Names of the slice's values; the values if None.
    """
    wanted = metric if metric is not None else results.shown_metric
    chosen, records = _sliced(results, wanted, column)
    flagged = _flagged(results, model, chosen)
    index = place_of_model(results, model)
    rows = [
        ValueRow(
            name_of(names, value), with_limits(record), say("chart.flagged") if value in flagged else "",
            index, f"m{index}--slice-{place}",
        )
        for place, (value, record) in enumerate((v, r) for (name, v), r in records.items() if name == model)
    ]  # fmt: skip
    whole, low, high = with_limits(values_of(results, wanted).get(model))
    if low is not None and high is not None:
        ax.axvspan(low, high, color=FAINT, linewidth=0, zorder=0)
    if whole is not None:
        ax.axvline(whole, color=MUTED, linewidth=0.9, linestyle=DASHED, zorder=1)
    _draw_rows(ax, rows, words(wanted))
    write_title(ax, None, model)


def _sliced(
    results: Results, metric: str, column: str | None
) -> tuple[str, dict[tuple[str, str], MetricRecord]]:
    """Return a column, by default the first, and the values of a metric by model and slice of it."""
    sliced = [(r.slice, r) for r in results.metrics if r.slice is not None and is_metric(r, metric)]
    chosen = column if column is not None else next((place.column for place, _ in sliced), "")
    return chosen, {(r.model, place.value): r for place, r in sliced if place.column == chosen}


def _flagged(results: Results, model: str, column: str) -> set[str]:
    """Return the slices of a column in which a model is shown to differ."""
    of = (model, column)
    return {r.slice.value for r in results.disparities if (r.model, r.slice.column) == of and r.flagged}


LEAST_EXAMPLES = 10
"""Examples below which a period has no mark, and its line a gap."""
MOST_TICKS = 7


@chart
def over_time(
    results: Results,
    ax: Axes = NEW_AXES,
    *,
    column: str | None = None,
    metric: str | None = None,
    names: Names = None,
    highlight: Ids = None,
) -> None:
    """Draw the values of all models over the periods of a column, in their order, with intervals of the first model.

    A marker of the first model is full where the period is shown to differ from the others. A period of fewer than ten
    examples leaves a gap.

    Parameters
    ----------
    column
        One that was sliced by; the first if None.
    metric
        As the command line spells it; the primary metric if None.
    names
        Names of models to write; the models' own if None.
    """
    wanted = metric if metric is not None else results.shown_metric
    chosen, by_period = _sliced(results, wanted, column)
    periods = [value for value in dict.fromkeys(v for _, v in by_period) if not is_special(value)]
    models = shown_models(results, names, highlight)
    for model in reversed(models):
        records = [by_period.get((model.model, period)) for period in periods]
        held = [r is not None and r.value is not None and r.n >= LEAST_EXAMPLES for r in records]
        values = [
            r.value if here and r is not None and r.value is not None else math.nan
            for r, here in zip(records, held, strict=True)
        ]
        look = {"linewidth": 1.4} if model.highlighted else {"color": GREY, "linewidth": 0.8}
        Pen(ax, model.index).line("line", range(len(periods)), values, **look)
        if model is models[0]:
            _draw_first(ax, results, chosen, periods, records, held, model.index)
    _name_periods(ax, periods)
    ax.set_ylabel(primary_words(results) if metric is None else words(metric), parse_math=False)
    if len(models) > 1:
        label_lines(ax, models)


def _draw_first(
    ax: Axes,
    results: Results,
    column: str,
    periods: Sequence[str],
    records: Sequence[MetricRecord | None],
    held: Sequence[bool],
    index: int,
) -> None:
    """Draw the intervals and markers of the first model, and its value on all examples as a dotted line."""
    model, mark = ranked(results)[index], mark_of(index)
    differ = _flagged(results, model, column)
    whole = values_of(results, results.shown_metric).get(model)
    if whole is not None and whole.value is not None:
        ax.axhline(whole.value, color=MUTED, linewidth=0.9, linestyle=DOTTED, zorder=1)
    parts: list[Artist] = []
    for place, (period, record, here) in enumerate(zip(periods, records, held, strict=True)):
        value, low, high = with_limits(record)
        if not here or value is None:
            continue
        if low is not None and high is not None:
            parts += ax.plot(
                [place] * 2, [low, high], color=mark.colour, linewidth=1.6, solid_capstyle="butt"
            )
        parts += ax.plot(
            [place], [value], marker=mark.marker, markersize=6, color=mark.colour, linestyle="none",
            markerfacecolor=mark.colour if period in differ else PAPER,
        )  # fmt: skip
    name_parts(parts, f"m{index}--period")


def _name_periods(ax: Axes, periods: Sequence[str]) -> None:
    """Label the periods, as many as there is room for; every period has its tick."""
    every = max(1, math.ceil(len(periods) / MOST_TICKS))
    ax.set_xticks(range(0, len(periods), every), periods[::every])
    ax.set_xticks(range(len(periods)), minor=True)
    ax.set_xlim(-0.4, max(len(periods) - 0.6, 0.4))
    ax.grid(visible=False, axis="x")


def draw_value(
    axes: Axes,
    found: tuple[float | None, float | None, float | None],
    place: float,
    index: int,
    *,
    width: float = 2.0,
    **look: Any,
) -> list[Artist]:
    """Draw a value with its limits, in the colour and with the marker of a model."""
    value, low, high = found
    mark = mark_of(index)
    parts: list[Artist] = []
    if low is not None and high is not None:
        parts += axes.plot(
            [low, high], [place] * 2, color=mark.colour, linewidth=width, solid_capstyle="butt"
        )
    if value is not None:
        own: dict[str, Any] = {"marker": mark.marker, "color": mark.colour, "markersize": 6.5}
        parts += axes.plot([value], [place], linestyle="none", **own | look)
    return parts


@chart
def values(results: Results, ax: Axes = NEW_AXES, *, metric: str | None = None, names: Names = None) -> None:
    """Draw every model's value with its recommended interval, the model that ranks first on top.

    Overlapping intervals decide nothing: for which of two models is better, draw `forest`.

    Parameters
    ----------
    metric
        As the command line spells it (``f1_macro``, ``recall[class=3]``); the primary metric if None.

    Examples
    --------
    >>> import evalreport as er
    >>> from evalreport import plots
    >>> labels = {"forest": {"y_pred": [1, 0, 1, 1]}, "logreg": {"y_pred": [0, 0, 1, 0]}}
    >>> results = er.evaluate(labels, truth=[1, 0, 1, 0], resamples=100)
    >>> plots.values(results, metric="f1").get_xlabel()
    'F1'
    """
    wanted = metric if metric is not None else results.shown_metric
    values_shown = values_of(results, wanted)
    decimals = decimals_of(record.standard_error for record in values_shown.values())
    rows = []
    for model in (model for model in ranked(results) if model in values_shown):
        record, index = values_shown[model], place_of_model(results, model)
        value, low, high = with_limits(record)
        text = say("chart.no_value")
        if value is not None:
            text = f"{number(value, decimals)} {interval(low, high, decimals)}"
        rows.append(ValueRow(name_of(names, model), (value, low, high), text, index, f"m{index}--value"))
    _draw_rows(ax, rows, words(wanted))


MOST_WRITTEN = 12
PALEST, DEPTH, STEPS = 0.04, 0.56, 12
CODES = (1, 2, 2, 2, 79)  # move, three lines, close
# Characters that fit beside each other under a matrix.
MOST_BESIDE = 24


@chart
def confusion(
    results: Results,
    model: str,
    ax: Axes = NEW_AXES,
    *,
    name: str | None = None,
    labels: Sequence[str] | None = None,
) -> None:
    """Draw one model's confusion matrix; the counts are written where they fit.

    Parameters
    ----------
    labels
        Labels of rows and columns, in the order of the classes; the classes themselves if None.
    """
    counts, outside = _counts(results, model)
    totals = counts.sum(axis=1, keepdims=True)
    shares = np.divide(counts, totals, out=np.zeros_like(counts), where=totals > 0)
    size, width = counts.shape
    colour = mark_of(place_of_model(results, model)).colour
    if size <= MOST_WRITTEN:
        _write_cells(ax, counts, shares, colour)
    else:
        _shade_cells(ax, shares, colour)
    ax.set(
        xlim=(-0.5, max(width, 1) - 0.5), ylim=(max(size, 1) - 0.5, -0.5), xlabel="Predicted", ylabel="True",
        aspect="equal",
    )  # fmt: skip
    write_title(ax, name, model)
    if size <= MOST_WRITTEN:
        shown = [name_of(None, label) for label in results.classes] if labels is None else labels
        ax.set_xticks(range(width), [*shown, *outside], parse_math=False)
        ax.set_yticks(range(size), shown, parse_math=False)
        if size * max(map(len, shown), default=0) > MOST_BESIDE:
            for text in ax.get_xticklabels():
                text.set(rotation=45, ha="right", rotation_mode="anchor")
    ax.grid(visible=False)
    ax.set_facecolor(PAPER)


def _write_cells(axes: Axes, counts: NDArray[np.float64], shares: NDArray[np.float64], colour: str) -> None:
    from matplotlib.patches import Rectangle

    for i, j in np.ndindex(counts.shape):
        alpha = round(float(PALEST + DEPTH * shares[i, j]), 3)
        axes.add_patch(Rectangle((j - 0.5, i - 0.5), 1, 1, facecolor=colour, linewidth=0, alpha=alpha))
        axes.text(j, i, f"{counts[i, j]:,.0f}", ha="center", va="center", color=INK, clip_on=True)


def _shade_cells(axes: Axes, shares: NDArray[np.float64], colour: str) -> None:
    """Shade very many cells in a few steps, those of one step as one path."""
    from matplotlib.patches import PathPatch
    from matplotlib.path import Path

    steps = np.ceil(shares * STEPS).astype(int)
    for step in range(1, STEPS + 1):
        corners = [
            Path(
                [(j - 0.5, i - 0.5), (j + 0.5, i - 0.5), (j + 0.5, i + 0.5), (j - 0.5, i + 0.5), (0, 0)],
                CODES,
            )
            for i, j in np.argwhere(steps == step)
        ]
        if corners:
            alpha = round(PALEST + DEPTH * step / STEPS, 3)
            whole = Path.make_compound_path(*corners)
            axes.add_patch(PathPatch(whole, facecolor=colour, linewidth=0, alpha=alpha))


def _counts(results: Results, model: str) -> tuple[NDArray[np.float64], list[str]]:
    """Count the cells, (classes, answers), and name the answers outside all classes, which come last."""
    cells = [cell for cell in results.confusion if cell.model == model]
    outside = sorted({cell.predicted for cell in cells} - set(results.classes))
    place = {label: i for i, label in enumerate((*results.classes, *outside))}
    counts = np.zeros((len(results.classes), len(place)))
    for cell in cells:
        counts[place[cell.true], place[cell.predicted]] += cell.count
    return counts, outside
