"""Curves and calibration: ROC and precision-recall, error rates by threshold, reliability."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from evalreport import numbers
from evalreport.plots.calibration import reliability
from evalreport.plots.curves import MOST_BANDS, MOST_TOLD, precision_recall, prevalence_of, roc
from evalreport.plots.thresholds import error_rates
from evalreport.report.characters import shorten, visible
from evalreport.report.figures import Figure, grid
from evalreport.report.naming import MetricKey, listed, metric_label
from evalreport.report.view import Model, View, metric_decimals, metric_record
from evalreport.texts import say

MOST_CLASSES = 9
MOST_PANELS = 12


@dataclass(frozen=True, slots=True)
class Curves:
    """Figures side by side, figures of many panels, and what is missing and why."""

    beside: tuple[Figure, ...]
    wide: tuple[Figure, ...]
    notes: tuple[str, ...]

    @property
    def figures(self) -> tuple[Figure, ...]:
        """All figures."""
        return (*self.beside, *self.wide)


def describe(view: View) -> Curves | None:
    """Lay out the curves; nothing where no model has scores."""
    curves = view.results.curves
    figures = []
    by_decisions = view.results.positive is not None and bool(view.results.confusion)
    if by_decisions or any(c.curve == "roc" for c in curves):
        caption = say("curves.roc" if any(c.curve == "roc" for c in curves) else "curves.roc_points")
        figures.append(
            _figure(view, "roc", say("curves.roc_title"), "roc_auc", roc, caption + _about_roc(view))
        )
    if any(c.curve == "pr" for c in curves):
        note = say("curves.pr")
        prevalence = prevalence_of(view.results)
        if prevalence is not None:
            note += " " + say("curves.prevalence", share=numbers.percent(round(prevalence, 3)))
        figures.append(
            _figure(view, "pr", say("curves.pr_title"), "average_precision", precision_recall, note)
        )
    panels = [*_error_rates(view), *_reliability(view)]
    if not figures and not panels:
        return None
    wide = [figure for figure in figures if figure.columns > 1]
    return Curves(tuple(f for f in figures if f.columns == 1), (*wide, *panels), _notes(view))


def _figure(view: View, kind: str, title: str, metric: str, plot: Callable[..., Any], caption: str) -> Figure:
    labels = list(dict.fromkeys(c.label for c in view.results.curves if c.curve == kind)) or [None]
    names, has_value = (
        _names(view, MetricKey(metric)),
        any(r.metric == metric and r.value is not None for r in view.results.metrics),
    )
    if has_value and labels == [None]:
        caption += " " + say("curves.legend", metric=metric_label(MetricKey(metric)))
    shown = labels[:MOST_CLASSES]
    more = {"annotated": _annotated(view)} if kind == "roc" and labels == [None] else {}
    titles = {k: say("curves.against_rest", label=shorten(visible(k), 30)) for k in shown if k is not None}

    def draw(label: str | None, legend: bool) -> Callable[[Any], Any]:
        def onto(axes: Any) -> None:
            plot(view.results, axes, label=label, names=names, legend=legend, **more)
            if label is not None:
                axes.set_title(titles[label], fontsize=9, parse_math=False)

        return onto

    if len(labels) > len(shown):
        caption += " " + say("report.first_classes", shown=len(shown), n=len(labels))
    columns = 1 if len(shown) == 1 else 2 if len(shown) in (2, 4) else 3
    rows = -(-len(shown) // columns)
    return Figure(
        name=kind, title=title, description=_description(view, title, names), caption=caption,
        draw=tuple(draw(label, legend=i == 0) for i, label in enumerate(shown)),
        width=4.4 if columns == 1 else 3.3 * columns, height=4.2 if columns == 1 else 3.3 * rows, columns=columns,
        outer=True,
    )  # fmt: skip


def _annotated(view: View) -> str | None:
    """Give the model whose thresholds stand beside its curve: the first in rank that has one."""
    drawn = {c.model for c in view.results.curves if c.curve == "roc" and c.label is None}
    return next((m.id for m in view.models if m.id in drawn), None)


def _about_roc(view: View) -> str:
    of_roc = [c for c in view.results.curves if c.curve == "roc"]
    text = ""
    if any(c.band for c in of_roc):
        text += " " + say("curves.roc_band", level=numbers.percent(view.confidence))
        if len(view.models) > MOST_BANDS:
            text += " " + say("curves.bands_of_two")
    first = _annotated(view)
    if first is not None and view.results.operating_points:
        text += " " + say("curves.roc_thresholds", model=view.model(first).name)
    return text


def _panels(view: View, curve: str) -> tuple[list[Model], str]:
    """Give the models that have such a curve, in rank order, and what the caption says of those left out."""
    drawn = {c.model for c in view.results.curves if c.curve == curve}
    models = [m for m in view.models if m.id in drawn]
    more = len(models) - MOST_PANELS
    return models[:MOST_PANELS], (
        " " + say("report.first_of_all", shown=MOST_PANELS, n=len(models)) if more > 0 else ""
    )


def _error_rates(view: View) -> list[Figure]:
    models, left_out = _panels(view, "far")
    if not models:
        return []
    names = listed([m.short for m in models], 12)
    return [
        grid(
            "error-rates", say("curves.error_rates_title"), say("curves.error_rates_described", names=names),
            say("curves.error_rates") + left_out,
            [_error_panel(view, m) for m in models],
        )
    ]  # fmt: skip


def _error_panel(view: View, model: Model) -> Callable[[Any], Any]:
    return lambda axes: error_rates(view.results, model.id, axes, name=model.short, legend=False)


def _reliability(view: View) -> list[Figure]:
    models, left_out = _panels(view, "reliability")
    if not models:
        return []
    caption = say("curves.reliability")
    if view.results.positive is None:
        caption += " " + say("curves.reliability_of_classes")
    if any(c.curve == "reliability" and c.band for c in view.results.curves):
        caption += " " + say("curves.reliability_limits", level=numbers.percent(view.confidence))
    names = listed([m.short for m in models], 12)
    return [
        grid(
            "reliability", say("curves.reliability_title"), say("curves.reliability_described", names=names),
            caption + left_out, [_reliability_panel(view, m) for m in models],
        )
    ]  # fmt: skip


def _reliability_panel(view: View, model: Model) -> Callable[[Any], Any]:
    return lambda axes: reliability(view.results, model.id, axes, name=model.short)


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
    of = listed([" ".join(names[m.id].split()) for m in view.models if m.id in drawn], 12)
    return say("curves.described", title=title, names=of)


def _notes(view: View) -> tuple[str, ...]:
    drawn = {c.model for c in view.results.curves if c.curve in ("roc", "reliability")}
    missing = [m.name for m in view.models if m.id not in drawn]
    notes = []
    if missing and any(c.curve == "roc" for c in view.results.curves):
        notes.append(say("curves.labels_only", names=listed(missing)))
    if len(view.models) > MOST_TOLD:
        notes.append(say("curves.highlighted"))
    return tuple(notes)
