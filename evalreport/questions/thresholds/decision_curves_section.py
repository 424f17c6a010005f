"""Decision curves: net benefit over the declared thresholds, differences, interventions avoided; no verdict."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from itertools import groupby
from typing import TYPE_CHECKING

import numpy as np

from evalreport import numbers
from evalreport.plots.calibration import interventions_avoided, net_benefit, net_benefit_difference
from evalreport.plots.pictures import Figure
from evalreport.questions.thresholds.records import DecisionCurveRecord
from evalreport.report.table import Cell, Column, Row, Table, Tables, plain_cell
from evalreport.report.view import View
from evalreport.schema.pairs import seen_from
from evalreport.texts import say

if TYPE_CHECKING:
    from matplotlib.axes import Axes

Pair = tuple[str, str]
Points = Sequence[DecisionCurveRecord]

WIDTH, HEIGHT = 4.4, 3.6
LEAST_STEPS, MOST_ROWS, MOST_MODELS, MOST_IN_A_LINE = 3, 6, 4, 2
ALL, NONE, OPEN = "", "0", "?"
"""Stand for treating all, treating none and no curve that is shown to be the highest, among the names of models."""


def describe(view: View) -> Tables | None:
    """Lay out the decision curves; nothing where no range of thresholds was declared."""
    records = view.results.decision_curves
    if not records:
        return None
    by_model: dict[str, list[DecisionCurveRecord]] = {}
    for record in records:
        by_model.setdefault(record.model, []).append(record)
    order = [m.id for m in view.models if m.id in by_model]
    thresholds = [r.threshold for r in by_model[order[0]]]
    by_threshold = list(zip(*(by_model[m] for m in order), strict=True))
    seen, highest = [_highest(points) for points in by_threshold], _shown_highest(view, by_threshold)
    middle = len(thresholds) // 2
    told = sorted(order, key=lambda m: -seen.count(m))[:2]
    leader, pair = told[0], _pair(view, told)
    at = by_model[leader][middle]
    runs = _runs(view, highest, thresholds)
    limits = "" if at.low is None else say("decision_curve.limits", low=at.low, high=at.high)
    heading = say(
        "decision_curve.heading", runs=runs, at=at.threshold, model=view.short[leader], value=at.net_benefit,
        limits=limits,
    )  # fmt: skip
    cases = tuple(
        say(
            f"decision_curve.per_thousand{'_of_other' if place else ''}",
            model=view.short[m],
            n=round(1000 * by_model[m][middle].net_benefit),
        )
        for place, m in enumerate(order[:MOST_MODELS])
    )
    about = say("decision_curve.about", n=view.results.n, share=at.prevalence, at=at.threshold, cases=cases)
    difference = "" if pair is None else say("decision_curve.note_difference")
    notes = (say("decision_curve.note", level=numbers.percent(view.confidence)), difference)
    note = " ".join(filter(None, (*notes, say("decision_curve.note_end"))))
    return Tables(
        heading=heading, text=about, figures=_figures(view, told, pair), note=note,
        tables=(_table(view, by_model, order, told, pair, highest),),
    )  # fmt: skip


def _highest(points: Points) -> str:
    """Return which curve is the highest at a threshold: a model's, treat all's or treat none's."""
    values = [(p.net_benefit, p.model) for p in points] + [(points[0].treat_all, ALL), (0.0, NONE)]
    return max(values, key=lambda one: one[0])[1]


def _shown_highest(view: View, by_threshold: Sequence[Points]) -> list[str]:
    """Return the curve that is shown to be above every other one at each threshold; ``OPEN`` where none is."""
    sides = {(r.a, r.b, r.threshold): r.above for r in view.results.decision_curve_differences}

    def above(a: str, b: str, at: float) -> bool:
        return sides.get((a, b, at), 0) > 0 or sides.get((b, a, at), 0) < 0

    names = []
    for points in by_threshold:
        at, name = points[0].threshold, OPEN
        for point in points:
            above_others = all(above(point.model, p.model, at) for p in points if p is not point)
            if point.above_none > 0 and point.above_all > 0 and above_others:
                name = point.model
        if all(p.above_all < 0 for p in points) and points[0].all_above_none > 0:
            name = ALL
        if all(p.above_none < 0 for p in points) and points[0].all_above_none < 0:
            name = NONE
        names.append(name)
    return names


def _runs(view: View, highest: Sequence[str], thresholds: Sequence[float]) -> str:
    """Say over which part of the range a curve is shown to be the highest; short parts are not named."""
    grouped = groupby(zip(highest, thresholds, strict=True), key=lambda pair: pair[0])
    runs = [(name, [threshold for _, threshold in run]) for name, run in grouped]
    least = min(LEAST_STEPS, len(thresholds))
    named = [run for run in runs if run[0] != OPEN and len(run[1]) >= least]
    if not named:
        return say("decision_curve.none_highest")
    key = "decision_curve.throughout" if len(runs) == 1 else "decision_curve.from_to"
    texts = [say(key, name=_name(view, name), low=run[0], high=run[-1]) for name, run in named]
    return texts[0] if len(runs) == 1 else say("decision_curve.parts", parts="; ".join(texts))


def _name(view: View, name: str) -> str:
    keys = {OPEN: "open", ALL: "treat_all", NONE: "treat_none"}
    return say(f"decision_curve.{keys[name]}") if name in keys else view.short[name]


def _figures(view: View, told: Sequence[str], pair: Pair | None) -> tuple[Figure, ...]:
    names = view.short

    def figure(name: str, title: str, draw: Callable[[Axes], object]) -> Figure:
        return Figure(
            name=name, title=title, caption="", width=WIDTH, height=HEIGHT, description=title, draw=(draw,)
        )

    draw = partial(net_benefit, view.results, names=names, banded=told)
    figures = [figure("net-benefit", say("decision_curve.net_benefit"), draw)]
    if pair is not None:
        title = say("decision_curve.difference", a=names[pair[0]], b=names[pair[1]])
        draw = partial(net_benefit_difference, view.results, pair)
        figures.append(figure("net-benefit-difference", title, draw))
    title = say("decision_curve.avoided")
    draw = partial(interventions_avoided, view.results, names=names, banded=told)
    return (*figures, figure("interventions-avoided", title, draw))


def _pair(view: View, told: Sequence[str]) -> Pair | None:
    known = {frozenset((r.a, r.b)) for r in view.results.decision_curve_differences}
    baseline = view.results.baseline
    if baseline is not None and len(told) > 1:
        other = next((m for m in told if m != baseline), told[0])
        return (other, baseline) if frozenset((other, baseline)) in known else None
    return (told[0], told[1]) if len(told) > 1 and frozenset(told) in known else None


def _table(
    view: View,
    by_model: dict[str, list[DecisionCurveRecord]],
    order: Sequence[str],
    told: Sequence[str],
    pair: Pair | None,
    highest: Sequence[str],
) -> Table:
    points = by_model[order[0]]
    places = np.unique(
        np.linspace(0, len(points) - 1, min(MOST_ROWS, len(points))).round().astype(int)
    ).tolist()
    leader = told[0]
    models = [m for m in order if m in told or len(order) <= MOST_MODELS][:MOST_MODELS]
    rows = []
    for place in places:
        at = points[place].threshold
        cells: list[str | Cell] = [numbers.number(points[place].treat_all, 3)]
        for model in models:
            r = by_model[model][place]
            cells.append(plain_cell(r.net_benefit, r.low, r.high, 3))
        if pair is not None:
            cells.append(_difference(view, pair, at))
        cells.append(_name(view, highest[place]))
        r = by_model[leader][place]
        low, high = (None if v is None else 100 * v for v in (r.avoided_low, r.avoided_high))
        cells.append(plain_cell(100 * r.avoided, low, high, 0))
        rows.append(Row(None, tuple(cells), f"{100 * at:.3g} %"))
    heads = [say("decision_curve.treat_all_head"), *(view.model(m).name for m in models)]
    if pair is not None:
        heads.append(say("decision_curve.difference", a=view.short[pair[0]], b=view.short[pair[1]]))
    look = "lined" + (" below" if len(models) > MOST_IN_A_LINE else "")
    return Table(
        say("decision_curve.table", n=len(rows)),
        (
            *heads, Column(say("decision_curve.highest"), "text"),
            say("decision_curve.avoided_by", model=view.short[leader]),
        ),
        tuple(rows), say("decision_curve.table_note"), look=look, first=say("decision_curve.threshold"),
    )  # fmt: skip


def _difference(view: View, pair: Pair, at: float) -> Cell:
    """Write the difference of a pair's net benefits at a threshold."""
    for record in view.results.decision_curve_differences:
        if record.threshold == at and {record.a, record.b} == set(pair):
            seen = seen_from(pair[0], record)
            return plain_cell(seen.difference, seen.low, seen.high, 3)
    return Cell(numbers.MISSING, strong=False)
