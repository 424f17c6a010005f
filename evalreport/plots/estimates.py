"""Error estimates side by side: a row an estimator, a mark a model, with its interval."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from evalreport.plots.curves import name_of
from evalreport.plots.style import FAINT, INK, axes_or_new, mark_of
from evalreport.registry import words
from evalreport.results import Results


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


def estimates(
    source: Results | Sequence[EstimatorRow],
    ax: Any | None = None,
    *,
    axis_label: str = "",
    metric: str | None = None,
    names: Mapping[str, str] | None = None,
    legend: bool | None = None,
) -> Any:
    """Draw the estimates of several models, an estimator a row from top to bottom.

    Parameters
    ----------
    source
        Results with error estimates; or rows, in the units of ``axis_label``.
    ax
        Matplotlib axes; new ones if None.
    metric
        Which of the results' is drawn; the first if None.
    names
        What is said for a model; its name if None.
    legend
        Whether there is one of the models; with results if None.

    Returns
    -------
    matplotlib.axes.Axes
        The axes that were drawn on.
    """
    shown: dict[int, str] = {}
    if isinstance(source, Results):
        known = [r.metric for r in source.error_estimates if r.value is not None]
        wanted = metric if metric is not None else (known[0] if known else "")
        rows: Sequence[EstimatorRow] = estimator_rows(source, wanted)
        axis_label = axis_label or words(wanted)
        shown = (
            {i: name_of(names, model) for i, model in enumerate(source.models)} if legend is not False else {}
        )
    else:
        rows = source
    axes = axes_or_new(ax)
    indices = sorted({dot.index for row in rows for dot in row.dots})
    step = 0.62 / max(len(indices), 1)
    for place, row in enumerate(rows):
        for dot in row.dots:
            at = place + step * (indices.index(dot.index) - (len(indices) - 1) / 2)
            mark = mark_of(dot.index)
            parts = []
            if dot.low is not None and dot.high is not None:
                limits = [dot.low, dot.high]
                parts += axes.plot(limits, [at, at], color=mark.colour, linewidth=1.6, solid_capstyle="butt")
            parts += axes.plot(
                [dot.value], [at], marker=mark.marker, color=mark.colour, markersize=5.5, linestyle="none",
                markeredgewidth=0,
            )  # fmt: skip
            for number, part in enumerate(parts):
                part.set_gid(f"{dot.key}--estimate-{place}-{number}")
        axes.text(-0.02, place, row.label, ha="right", va="center", color=INK, clip_on=False,
                  parse_math=False, transform=axes.get_yaxis_transform())  # fmt: skip
    axes.set_yticks([])
    axes.set_ylim(max(len(rows), 1) - 0.5, -0.5)
    for place in range(1, len(rows)):
        axes.axhline(place - 0.5, color=FAINT, linewidth=0.8, zorder=0)
    axes.spines["left"].set_visible(False)
    axes.grid(visible=False, axis="y")
    axes.set_xlabel(axis_label, parse_math=False)
    _legend(axes, {index: name for index, name in shown.items() if index in indices})
    return axes


def _legend(axes: Any, names: Mapping[int, str]) -> None:
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
                i = results.models.index(record.model)
                dots.append(Dot(record.value, record.low, record.high, i, f"m{i}"))
        rows.append(EstimatorRow(words(name), tuple(dots)))
    return rows
