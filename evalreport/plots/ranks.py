"""Critical-difference diagram: average ranks on a line, and bars over the models that are not told apart."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from evalreport.plots.curves import name_of
from evalreport.plots.style import INK, MUTED, axes_or_new, mark_of
from evalreport.results import Results


@dataclass(frozen=True, slots=True)
class Ranked:
    """One model: its average rank (1 the best), its label, its place in canonical order, the key of its parts."""

    label: str
    rank: float
    index: int
    key: str


def critical_differences(
    source: Results | Sequence[Ranked],
    ax: Any | None = None,
    *,
    groups: Sequence[Sequence[int]] = (),
    critical_difference: float | None = None,
    names: Mapping[str, str] | None = None,
) -> Any:
    """Draw average ranks after Demsar (2006): the best on the left, labels on both sides.

    Parameters
    ----------
    source
        Results with average ranks on the primary metric; or models in any order.
    ax
        Matplotlib axes; new ones if None.
    groups
        Places in the source of those that a bar joins: the models that are not told apart. Those of results are the
        models that share a letter.
    critical_difference
        Drawn as a measure above the axis where given, or where the results hold one.
    names
        What is said for a model; its name if None.

    Returns
    -------
    matplotlib.axes.Axes
        The axes that were drawn on.
    """
    if isinstance(source, Results):
        models: Sequence[Ranked] = ranks_of(source, names)
        groups = groups or groups_of(source)
        records = [r for r in source.average_ranks if r.metric == source.primary_metric]
        if critical_difference is None and records:
            critical_difference = records[0].critical_difference
    else:
        models = source
    axes = axes_or_new(ax)
    highest = max(len(models), 2)
    axes.set_xlim(1 - 0.05 * (highest - 1), highest + 0.05 * (highest - 1))
    depth = _labels(axes, models) + 0.6 * len(groups)
    for place, group in enumerate(sorted(groups, key=lambda group: min(models[i].rank for i in group))):
        at = -0.45 - 0.6 * place
        low, high = (extreme(models[i].rank for i in group) for extreme in (min, max))
        axes.plot([low, high], [at, at], color=INK, linewidth=2.6, solid_capstyle="butt")
    top = 0.8
    if critical_difference is not None:
        top = 1.9
        _measure(axes, critical_difference, highest)
    axes.plot([1, highest], [0, 0], color=MUTED, linewidth=0.9)
    for tick in range(1, highest + 1):
        axes.plot([tick, tick], [0, 0.14], color=MUTED, linewidth=0.9)
        axes.text(tick, 0.3, str(tick), ha="center", color=MUTED, fontsize=8)
    axes.set_ylim(-depth - 0.6, top)
    axes.set_axis_off()
    return axes


def _labels(axes: Any, models: Sequence[Ranked]) -> float:
    """Lead a line from each rank down and out to its label: the better half left, the others right."""
    order = sorted(range(len(models)), key=lambda i: (models[i].rank, models[i].label))
    left = order[: (len(order) + 1) // 2]
    low, high = axes.get_xlim()
    deepest = 0.0
    for side, members in (("left", left), ("right", order[len(left) :][::-1])):
        for step, i in enumerate(members):
            model, mark = models[i], mark_of(models[i].index)
            at = -1.2 - 0.62 * step - 0.3 * len(models) / 4
            edge, align, toward = (low, "right", -1) if side == "left" else (high, "left", 1)
            parts = axes.plot([model.rank, model.rank, edge], [0, at, at], color=mark.colour, linewidth=1.1)
            parts += axes.plot([model.rank], [0], marker=mark.marker, color=mark.colour, markersize=5.5)
            text = f"{model.label} {model.rank:.2f}"
            parts.append(axes.text(edge + toward * 0.01 * (high - low), at, text, ha=align, va="center",
                                   color=INK, parse_math=False, clip_on=False))  # fmt: skip
            for number, part in enumerate(parts):
                part.set_gid(f"{model.key}--rank-{number}")
            deepest = max(deepest, -at)
    return deepest


def _measure(axes: Any, length: float, highest: int) -> None:
    # A difference longer than the axis is cut there: no two models are told apart by it.
    end = min(1 + length, highest)
    axes.plot([1, end], [1.15, 1.15], color=MUTED, linewidth=1.4, solid_capstyle="butt")
    for x in (1, end):
        axes.plot([x, x], [1.03, 1.27], color=MUTED, linewidth=0.9)
    axes.text((1 + end) / 2, 1.42, f"critical difference {length:.2f}", ha="center", color=MUTED, fontsize=8)


def ranks_of(results: Results, names: Mapping[str, str] | None = None) -> list[Ranked]:
    """Give the average ranks on the primary metric, models in the results' order."""
    records = [r for r in results.average_ranks if r.metric == results.primary_metric]
    places = [results.models.index(record.model) for record in records]
    return [
        Ranked(name_of(names, record.model), record.average_rank, place, f"m{place}")
        for record, place in zip(records, places, strict=True)
    ]


def groups_of(results: Results) -> list[list[int]]:
    """Give the places of the models that share a letter."""
    records = [r for r in results.average_ranks if r.metric == results.primary_metric]
    letters = {r.model: r.letters for r in results.ranking}
    every = sorted(set("".join(letters.values())))
    groups = [[i for i, r in enumerate(records) if letter in letters.get(r.model, "")] for letter in every]
    return [group for group in groups if len(group) > 1]
