"""What withholding doubtful answers, or looking at the highest scores first, brings."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from evalreport import numbers
from evalreport.plots.calibration import accuracy_rejection
from evalreport.plots.gains import gain, lift
from evalreport.plots.thresholds import sweep
from evalreport.report.figures import Figure
from evalreport.report.naming import listed
from evalreport.report.view import Model, View
from evalreport.texts import named, say


@dataclass(frozen=True, slots=True)
class Row:
    """One model's line: texts in the order of the headings."""

    model: Model
    cells: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Gains:
    """The figures, and the numbers of the accuracy-rejection curves."""

    figures: tuple[Figure, ...]
    headings: tuple[str, ...]
    rows: tuple[Row, ...]
    note: str


# Name of the figure, of the curve, function.
CHARTS: tuple[tuple[str, str, Callable[..., Any]], ...] = (
    ("rejection", "accuracy_rejection", accuracy_rejection),
    ("sweep", "sweep_f1", sweep),
    ("gain", "gain", gain),
    ("lift", "lift", lift),
)


def describe(view: View) -> Gains | None:
    """Lay out the curves; nothing where no model gives scores or probabilities."""
    names = {m.id: m.short for m in view.models}
    figures = []
    for name, curve, plot in CHARTS:
        drawn = {c.model for c in view.results.curves if c.curve == curve}
        if name == "sweep":
            drawn &= {c.model for c in view.results.curves if c.curve == "reliability"}
        if drawn:
            of = listed([m.short for m in view.models if m.id in drawn], 12)
            figures.append(_figure(view, name, of, plot, names))
    if not figures:
        return None
    headings, rows = _risks(view)
    note = say("gains.note", level=numbers.percent(view.confidence)) if rows else ""
    return Gains(tuple(figures), headings, rows, note)


def _figure(view: View, name: str, of: str, plot: Callable[..., Any], names: dict[str, str]) -> Figure:
    title = named("gains.title", name)
    return Figure(
        name=name, title=title, description=say("curves.described", title=title, names=of),
        caption=named("gains.caption", name), width=4.4, height=3.4,
        draw=(lambda axes: plot(view.results, ax=axes, names=names),),
    )  # fmt: skip


def _risks(view: View) -> tuple[tuple[str, ...], tuple[Row, ...]]:
    known = {
        (s.model, s.quantity, s.at): s
        for s in view.results.curve_summaries
        if s.curve == "accuracy_rejection"
    }
    places = list(dict.fromkeys((quantity, at) for _, quantity, at in known))
    headings = tuple(
        say("gains.area") if at is None else say("gains.risk", share=numbers.percent(at)) for _, at in places
    )
    rows = []
    for model in view.models:
        cells = [known.get((model.id, *place)) for place in places]
        if any(cell is not None for cell in cells):
            rows.append(
                Row(
                    model,
                    tuple(
                        ""
                        if cell is None
                        else f"{numbers.number(cell.value)} {numbers.interval(cell.low, cell.high)}".strip()
                        for cell in cells
                    ),
                )
            )
    return headings, tuple(rows)
