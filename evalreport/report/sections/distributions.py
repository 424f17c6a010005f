"""How predictions are distributed: scores by class; predicted against true values, residuals, calibration of values."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

from evalreport import numbers
from evalreport.plots.regression import predicted_true, residuals, value_calibration
from evalreport.plots.scores import score_histogram
from evalreport.report.figures import Figure, grid
from evalreport.report.naming import listed
from evalreport.report.view import Model, View
from evalreport.texts import named, say

MOST_PANELS = 12


@dataclass(frozen=True, slots=True)
class Distributions:
    """The figures, each with a panel for every model."""

    figures: tuple[Figure, ...]


def describe(view: View) -> Distributions | None:
    """Lay out the figures; nothing where the results hold neither scores nor values."""
    figures: list[Figure] = []
    scored = _models(view, {record.model for record in view.results.score_histograms})
    if scored:
        figures.append(_figure(view, "scores", score_histogram, scored))
    valued = _models(view, {record.model for record in view.results.residuals})
    if valued:
        level = numbers.percent(view.confidence)
        limited = any(low is not None for record in view.results.residuals for low in record.bin_low)
        bins = say("distributions.bins", level=level) if limited else ""
        figures += [
            _figure(view, "predicted-true", predicted_true, valued),
            _figure(view, "residuals", residuals, valued),
            _figure(view, "value-calibration", value_calibration, valued, also=bins),
        ]
    return Distributions(tuple(figures)) if figures else None


def _models(view: View, held: set[str]) -> list[Model]:
    return [model for model in view.models if model.id in held]


def _figure(
    view: View, name: str, plot: Callable[..., Any], models: list[Model], *, also: str = ""
) -> Figure:
    shown = models[:MOST_PANELS]
    title = named("distributions.title", name)
    parts = [named("distributions.caption", name), also]
    if len(models) > len(shown):
        parts.append(say("report.first_of_all", shown=len(shown), n=len(models)))
    names = listed([model.short for model in shown], MOST_PANELS)
    return grid(
        name,
        title,
        say("curves.described", title=title, names=names),
        " ".join(filter(None, parts)),
        [partial(_draw, view, plot, model) for model in shown],
        shared=True,
    )


def _draw(view: View, plot: Callable[..., Any], model: Model, axes: Any) -> Any:
    return plot(view.results, model.id, axes, name=model.short)
