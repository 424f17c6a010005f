"""ROC and precision-recall curves; for several classes each against the rest."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from evalreport import numbers
from evalreport.plots.curves import MOST_IN_LEGEND, precision_recall, prevalence_of, roc
from evalreport.report import wording
from evalreport.report.characters import shorten, visible
from evalreport.report.figures import Figure
from evalreport.report.naming import MetricKey, listed, metric_label
from evalreport.report.view import View, metric_decimals, metric_record

MOST_CLASSES = 9


@dataclass(frozen=True, slots=True)
class Curves:
    """The figures, and what is missing and why."""

    figures: tuple[Figure, ...]
    notes: tuple[str, ...]


def describe(view: View) -> Curves | None:
    """Lay out the curves; nothing where no model has scores."""
    curves = view.results.curves
    figures = []
    by_decisions = view.results.positive is not None and bool(view.results.confusion)
    if by_decisions or any(c.curve == "roc" for c in curves):
        caption = wording.ROC if any(c.curve == "roc" for c in curves) else wording.ROC_POINTS
        figures.append(_figure(view, "roc", "ROC curves", "roc_auc", roc, caption))
    if any(c.curve == "pr" for c in curves):
        note = wording.PR
        prevalence = prevalence_of(view.results)
        if prevalence is not None:
            note += f" Here it is {numbers.percent(round(prevalence, 3))}."
        figures.append(
            _figure(view, "pr", "Precision-recall curves", "average_precision", precision_recall, note)
        )
    if not figures:
        return None
    return Curves(tuple(figures), _notes(view))


def _figure(view: View, kind: str, title: str, metric: str, plot: Callable[..., Any], caption: str) -> Figure:
    labels = list(dict.fromkeys(c.label for c in view.results.curves if c.curve == kind)) or [None]
    names, has_value = (
        _names(view, MetricKey(metric)),
        any(r.metric == metric and r.value is not None for r in view.results.metrics),
    )
    if has_value and labels == [None]:
        caption += f" In the legend: {metric_label(MetricKey(metric))}."
    shown = labels[:MOST_CLASSES]

    def draw(label: str | None, legend: bool) -> Callable[[Any], Any]:
        def onto(axes: Any) -> None:
            plot(view.results, axes, label=label, names=names, legend=legend)
            if label is not None:
                axes.set_title(
                    f"{shorten(visible(label), 30)} against the rest", fontsize=9, parse_math=False
                )

        return onto

    if len(labels) > len(shown):
        caption += f" The first {len(shown)} of {len(labels)} classes; the others stand in results.json."
    columns = 1 if len(shown) == 1 else 2 if len(shown) in (2, 4) else 3
    rows = -(-len(shown) // columns)
    return Figure(
        name=kind, title=title, description=_description(view, title, names), caption=caption,
        draw=tuple(draw(label, legend=i == 0) for i, label in enumerate(shown)),
        width=4.4 if columns == 1 else 3.3 * columns, height=4.2 if columns == 1 else 3.3 * rows, columns=columns,
    )  # fmt: skip


def _names(view: View, key: MetricKey) -> dict[str, str]:
    decimals = min(metric_decimals(view, key), 3)
    names = {}
    for model in view.models:
        record = metric_record(view, model.id, key)
        value = (
            "" if record is None or record.value is None else f" ({numbers.number(record.value, decimals)})"
        )
        names[model.id] = model.short + value
    return names


def _description(view: View, title: str, names: dict[str, str]) -> str:
    drawn = {c.model for c in view.results.curves}
    return f"{title} of {listed([' '.join(names[m.id].split()) for m in view.models if m.id in drawn], 12)}."


def _notes(view: View) -> tuple[str, ...]:
    drawn = {c.model for c in view.results.curves}
    missing = [m.name for m in view.models if m.id not in drawn]
    notes = []
    if missing:
        notes.append(f"{listed(missing)}: labels only, so a point and no curve, and no area under one.")
    if len(view.models) > MOST_IN_LEGEND:
        notes.append(
            "Too many models for a legend in the figure: marks and colours are those of the leaderboard."
        )
    return tuple(notes)
