"""What withholding doubtful answers, or looking at the highest scores first, brings."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from evalreport import numbers
from evalreport.plots.calibration import accuracy_rejection
from evalreport.plots.gains import gain, lift
from evalreport.plots.thresholds import sweep
from evalreport.report import curve_wording
from evalreport.report.figures import Figure
from evalreport.report.naming import listed
from evalreport.report.view import Model, View


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


# Name of the figure, of the curve, title, caption, function.
CHARTS: tuple[tuple[str, str, str, str, Callable[..., Any]], ...] = (
    (
        "rejection",
        "accuracy_rejection",
        "Accuracy-rejection curves",
        curve_wording.REJECTION,
        accuracy_rejection,
    ),
    ("sweep", "sweep_f1", "F1 by threshold", curve_wording.SWEEP, sweep),
    ("gain", "gain", "Cumulative gain", curve_wording.GAIN, gain),
    ("lift", "lift", "Lift", curve_wording.LIFT, lift),
)


def describe(view: View) -> Gains | None:
    """Lay out the curves; nothing where no model gives scores or probabilities."""
    names = {m.id: m.short for m in view.models}
    figures = []
    for name, curve, title, caption, plot in CHARTS:
        drawn = {c.model for c in view.results.curves if c.curve == curve}
        if name == "sweep":
            drawn &= {c.model for c in view.results.curves if c.curve == "reliability"}
        if drawn:
            said = f"{title} of {listed([m.short for m in view.models if m.id in drawn], 12)}."
            figures.append(_figure(view, name, title, said, caption, plot, names))
    if not figures:
        return None
    headings, rows = _risks(view)
    note = curve_wording.rejection_table(numbers.percent(view.confidence)) if rows else ""
    return Gains(tuple(figures), headings, rows, note)


def _figure(
    view: View,
    name: str,
    title: str,
    said: str,
    caption: str,
    plot: Callable[..., Any],
    names: dict[str, str],
) -> Figure:
    return Figure(
        name=name, title=title, description=said, caption=caption, width=4.4, height=3.4,
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
        "Area" if at is None else f"Error rate on the surest {numbers.percent(at)}" for _, at in places
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
