"""Calibration: curves without bins, level and spread with intervals, grades, and the parts of the Brier score."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial

from evalreport import numbers
from evalreport.headline import (
    Finding,
    calibration_findings,
    calibration_heading,
    calibration_of_others,
    worst_of_models,
)
from evalreport.plots.calibration import (
    calibration_curve,
    calibration_curves,
    end_of_axis,
    mostly_low,
    share_above,
)
from evalreport.plots.pictures import Figure
from evalreport.questions.calibration.records import CalibrationRecord, CalibrationTableRecord
from evalreport.report.naming import listed
from evalreport.report.scales import Column, LinedRow, LinedTable, scale_of, stroke
from evalreport.report.view import View
from evalreport.schema.results import Results
from evalreport.texts import say
from evalreport.texts.visible import shorten, visible

MOST_PANELS, MOST_ROWS, LEAST_EVENTS, LONGEST = 3, 12, 10, 20
WIDTH, HEIGHT = 4.2, 3.6
RATIOS = (0.02, 0.05, 0.1, 0.2, 0.33, 0.5, 0.67, 0.8, 1.0, 1.25, 1.5, 2.0, 3.0, 5.0, 10.0, 20.0, 50.0)
SLOPES = (-2.0, -1.0, 0.0, 0.25, 0.5, 0.75, 1.0, 1.25, 1.5, 2.0, 3.0, 4.0, 6.0)
RATES = (0.0, 0.001, 0.01, 0.02, 0.05, 0.1, 0.2, 0.3, 0.4, 0.6, 0.8, 1.0)


@dataclass(frozen=True, slots=True)
class CalibrationSection:
    """Panels with their note, the board of models or classes, tables of grades, and the parts of the Brier score."""

    heading: str
    about: str
    figures: tuple[Figure, ...]
    note: str
    board: LinedTable
    grades: tuple[LinedTable, ...]
    parts: LinedTable | None


Shown = tuple[str, str | None]
"""A model and its class; None: a binary task."""


def describe(view: View) -> CalibrationSection | None:
    """Lay out the calibration of all models; nothing where no model gives probabilities."""
    found = calibration_findings(view.results)
    if not found:
        return None
    names = view.names

    def name(model: str) -> str:
        return names[model]

    first = found[0].record
    others = [str(text) for text in calibration_of_others(found, name)]
    events = say("calibration.events", n=round(first.n), events=round(first.observed))
    if first.label is not None:
        classes = len({f.record.label for f in found})
        events = say("calibration.examples", n=round(first.n), classes=classes)
    kinds = {(f.record.model, f.record.label): f.kind for f in found}
    order = [f.record.model for f in worst_of_models(found)]
    shown = _shown(view.results, found)
    curves = calibration_curves(view.results, shown)
    about = [". ".join(others) + "." if others else "", events]
    if not any(curve.low for curve in curves) and curves:
        about.append(say("calibration.no_band"))
    if first.observed < LEAST_EVENTS:
        about.append(say("calibration.few_events", n=round(first.observed)))
    heading = str(calibration_heading(found, name))
    return CalibrationSection(
        heading=say("calibration.section", finding=heading),
        about=" ".join(filter(None, about)),
        figures=_figures(view, shown, kinds),
        note=_note(view, shown),
        board=_board(view, found),
        grades=_grades(view, order, by_class=first.label is not None),
        parts=_parts(view, order, by_class=first.label is not None),
    )


def _shown(results: Results, found: Sequence[Finding]) -> list[Shown]:
    """Return the panels: the gravest models; of several classes the heading's and those with the smallest p-values.

    Of many classes only some have a curve.
    """
    enough = [
        f
        for f in found
        if f.record.observed >= LEAST_EVENTS
        and calibration_curves(results, [(f.record.model, f.record.label)])
    ]
    if enough and enough[0].record.label is not None:
        enough = [enough[0], *sorted(enough[1:], key=lambda f: _p_value(f.record))]
    return [(f.record.model, f.record.label) for f in enough][:MOST_PANELS]


def _p_value(record: CalibrationRecord) -> float:
    return 1.0 if record.p_value is None else record.p_value


def _figures(view: View, shown: Sequence[Shown], kinds: Mapping[Shown, str]) -> tuple[Figure, ...]:
    curves = calibration_curves(view.results, shown)
    if not curves:
        return ()
    end, root = end_of_axis(curves), mostly_low(curves)
    figures = []
    for place, (model, label) in enumerate(shown):
        name = view.model(model).name
        whose = (
            name
            if label is None
            else say("calibration.of_class", model=name, label=shorten(visible(label), LONGEST))
        )
        kind = kinds[model, label]
        title = say(f"calibration.panel_{kind}", model=whose)
        draw = partial(
            calibration_curve, view.results, model, label=label, name="", end=end, root=root,
            level=kind in ("too_high", "too_low"),
        )  # fmt: skip
        figures.append(
            Figure(
                name=f"calibration-{place}",
                title=title,
                caption="",
                width=WIDTH,
                height=HEIGHT,
                description=say("calibration.described", model=whose),
                draw=(draw,),
            )
        )
    return tuple(figures)


def _note(view: View, shown: Sequence[Shown]) -> str:
    curves = calibration_curves(view.results, shown)
    if not curves:
        return ""
    end = end_of_axis(curves)
    above = [round(share_above(curve, end) * sum(curve.count or ())) for curve in curves]
    level = numbers.percent(view.confidence)
    texts = [
        say("calibration.note", level=level)
        if any(c.low for c in curves)
        else say("calibration.note_no_band")
    ]
    if any(above):
        texts.append(say("calibration.not_drawn", n=listed([numbers.count(n) for n in above]), end=end))
    return " ".join(texts)


def _rows(view: View, found: Sequence[Finding]) -> list[Finding]:
    """Return the rows of the board: models, or of several classes each model's classes, the smallest p first."""
    order = {m.id: m.index for m in view.models}
    if found[0].record.label is None:
        return sorted(found, key=lambda f: order[f.record.model])
    return sorted(found, key=lambda f: (_p_value(f.record), order[f.record.model]))


def _board(view: View, every: Sequence[Finding]) -> LinedTable:
    by_class = every[0].record.label is not None
    shown = _rows(view, every)[:MOST_ROWS] if by_class else _rows(view, every)
    records = [f.record for f in shown]
    ratios = scale_of(
        [v for r in records for v in (r.observed_expected, r.observed_expected_low, r.observed_expected_high) if v],
        RATIOS, texts=lambda t: f"{t:g}", transform=math.log, reference=1.0,
        left=say("calibration.too_high_side"), right=say("calibration.too_low_side"),
    )  # fmt: skip
    slopes = scale_of(
        [v for r in records for v in (r.slope, r.slope_low, r.slope_high)], SLOPES, texts=lambda t: f"{t:g}",
        reference=1.0, left=say("calibration.over_side"), right=say("calibration.under_side"),
    )  # fmt: skip
    rows = []
    for finding in shown:
        record = finding.record
        model, label = view.model(record.model), view.model(record.model).name
        if record.label is not None:
            label = say(
                "calibration.of_class", model=model.name, label=shorten(visible(record.label), LONGEST)
            )
        ratio = _with_limits(
            record.observed_expected, record.observed_expected_low, record.observed_expected_high
        )
        slope = _with_limits(record.slope, record.slope_low, record.slope_high)
        strong = {"too_high": {2}, "too_low": {2}, "overconfident": {5}, "underconfident": {5}, "shape": {7}}
        rows.append(
            LinedRow(
                label=label,
                index=model.index,
                symbol=model.symbol,
                key=model.key,
                strong=frozenset(strong.get(finding.kind, ())),
                cells=(
                    _sum(record.expected),
                    _sum(record.observed),
                    ratio,
                    stroke(
                        ratios,
                        record.observed_expected or None,
                        record.observed_expected_low or None,
                        record.observed_expected_high,
                        title=ratio,
                    ),
                    _with_limits(record.citl, record.citl_low, record.citl_high),
                    slope,
                    stroke(slopes, record.slope, record.slope_low, record.slope_high, title=slope),
                    numbers.p_value(finding.p_adjusted),
                ),
            )
        )
    columns = (
        Column(head=say("calibration.predicted")), Column(head=say("calibration.observed")),
        Column(head=say("calibration.ratio")), Column(head="", scale=ratios), Column(head=say("calibration.citl")),
        Column(head=say("calibration.slope")), Column(head="", scale=slopes), Column(head="p"),
    )  # fmt: skip
    return LinedTable(
        title=say("calibration.board"), first=say("table.model"), columns=columns, rows=tuple(rows),
        note=_board_note(view, every, records),
    )  # fmt: skip


def _board_note(view: View, every: Sequence[Finding], records: Sequence[CalibrationRecord]) -> str:
    """Say what stands under the board: the level, the family of its p-values, and what it leaves out."""
    by_class = every[0].record.label is not None
    many = len({r.model for r in records})
    notes = [say("calibration.board_note", level=numbers.percent(view.confidence))]
    notes.append(say("calibration.board_holm", n=many) if many > 1 and not by_class else "")
    if by_class:
        notes.append(say("calibration.board_classes", n=len(every)))
    if len(every) > len(records):
        notes.append(say("calibration.board_cut", shown=len(records), n=len(every)))
    left_out = sum(r.left_out for r in records)
    notes.append(say("calibration.left_out", n=left_out) if left_out else "")
    return " ".join(filter(None, notes))


def _sum(value: float) -> str:
    return numbers.count(round(value)) if value >= 10 else f"{value:.1f}"


def _with_limits(value: float | None, low: float | None, high: float | None) -> str:
    if value is None and low is None and high is None:
        return numbers.MISSING
    limits = "" if low is None and high is None else f" [{numbers.number(low, 2)}, {numbers.number(high, 2)}]"
    return f"{numbers.number(value, 2)}{limits}"


def _grades(view: View, order: Sequence[str], *, by_class: bool) -> tuple[LinedTable, ...]:
    """Return one table a model, the heading's first: grades in their order, or deciles of risk.

    Of several classes they are about the largest probability, and whether that class is the true one.
    """
    named = view.results.options.get("grade")
    tables = []
    for model in order:
        rows = [r for r in view.results.calibration_table if r.model == model and r.slice is None]
        if rows:
            column = None if named is None else str(named)
            tables.append(_grade_table(view, model, rows, column, by_class=by_class))
    return tuple(tables)


def _grade_table(
    view: View, model: str, rows: Sequence[CalibrationTableRecord], column: str | None, *, by_class: bool
) -> LinedTable:
    shown = view.model(model)
    root = sum(r.predicted < 0.2 for r in rows) >= 0.7 * len(rows)
    values = [v for r in rows for v in (r.predicted, r.observed, r.high)]
    rates = scale_of(values, RATES, texts=lambda t: f"{100 * t:g}", transform=math.sqrt if root else float)
    outside = [r for r in rows if _outside(r)]
    lined = [
        LinedRow(
            label=r.grade, index=shown.index, symbol=shown.symbol, strong=frozenset({2} if _outside(r) else ()),
            cells=(
                numbers.count(r.n), numbers.count(round(r.observed * r.n)), numbers.rate(r.predicted),
                numbers.rate(r.observed),
                stroke(rates, r.observed, r.low, r.high, bar=r.predicted,
                       title=f"{numbers.rate(r.predicted)}, {numbers.rate(r.observed)}"),
                numbers.MISSING if r.p_value is None else f"{r.p_value:.4f}",
            ),
        )
        for r in rows
    ]  # fmt: skip
    high = [r.grade for r in outside if r.predicted > r.observed]
    low = [r.grade for r in outside if r.predicted < r.observed]
    what = say("calibration.by_grade", column=column) if column else say("calibration.by_decile")
    if by_class:
        own = (
            say("calibration.by_grade_of_largest", column=column) if column else say("calibration.by_largest")
        )
        what = say("calibration.of_largest", what=own)
    if high and not low:
        finding = say(
            "calibration.grades_high", model=shown.name, n=len(high), total=len(rows), names=listed(high, 10)
        )
    elif low and not high:
        finding = say(
            "calibration.grades_low", model=shown.name, n=len(low), total=len(rows), names=listed(low, 10)
        )
    elif outside:
        finding = say("calibration.grades_both", model=shown.name, high=listed(high, 10), low=listed(low, 10))
    elif all(row.low is None for row in rows):
        finding = shown.name
    else:
        finding = say("calibration.grades_inside", model=shown.name, total=len(rows))
    events = "calibration.right_head" if by_class else "calibration.events_head"
    heads = ("calibration.n", events, "calibration.predicted", "calibration.observed")
    columns = (
        *(Column(head=say(key)) for key in heads),
        Column(head=say("calibration.marks", symbol=shown.symbol), scale=rates),
        Column(head=say("calibration.jeffreys")),
    )  # fmt: skip
    note = say(
        "calibration.grades_note" if any(r.p_value is not None for r in rows) else "calibration.grades_no_p"
    )
    first = say("calibration.grade" if column else "calibration.decile")
    return LinedTable(title=f"{what}: {finding}", first=first, columns=columns, rows=tuple(lined), note=note)


def _outside(row: CalibrationTableRecord) -> bool:
    return row.low is not None and row.high is not None and not row.low <= row.predicted <= row.high


def _parts(view: View, order: Sequence[str], *, by_class: bool) -> LinedTable | None:
    """Return what is gained by ranking and lost to miscalibration, in percent of the Brier score's uncertainty."""
    whole = {r.model: r for r in view.results.calibration if r.slice is None and r.label is None}
    records = [whole[m] for m in order if m in whole and whole[m].unc and whole[m].mcb is not None]
    if not records:
        return None
    skill = {r.model: (r.dsc or 0.0) / (r.unc or 1.0) for r in records}
    lost = {r.model: (r.mcb or 0.0) / (r.unc or 1.0) for r in records}
    chance = {r.model: None if r.mcb_expected is None else r.mcb_expected / (r.unc or 1.0) for r in records}
    most = max([*skill.values(), *lost.values()])
    ticks = (0.0, 0.01, 0.02, 0.05, 0.1, 0.2, 0.3, 0.4, 0.6, 0.8, 1.0)
    least = min([0.0, *(skill[own] - lost[own] for own in skill)])
    below = tuple(-tick for tick in reversed(ticks[1:])) if least < 0 else ()
    scale = scale_of(
        [least, most], (*below, *ticks), texts=lambda t: f"{100 * t:g}", reference=0.0 if below else None
    )
    rows = []
    for record in records:
        model, own = view.model(record.model), record.model
        by_chance = chance[own]
        cells = (
            f"{100 * skill[own]:.1f}", f"{100 * lost[own]:.1f}",
            numbers.MISSING if by_chance is None else f"{100 * by_chance:.1f}",
            stroke(scale, skill[own] - lost[own], box=skill[own],
                   title=say("calibration.parts_title", gained=skill[own], lost=lost[own])),
            numbers.number(100 * (skill[own] - lost[own]), 1),
        )  # fmt: skip
        rows.append(
            LinedRow(label=model.name, index=model.index, symbol=model.symbol, key=model.key, cells=cells)
        )
    first = records[0].model
    title = say(
        "calibration.parts", model=view.model(first).name, gained=100 * skill[first], lost=100 * lost[first]
    )
    return LinedTable(
        title=say("calibration.parts_of_largest", finding=title) if by_class else title,
        first=say("table.model"),
        columns=(
            Column(head=say("calibration.gained")), Column(head=say("calibration.lost")),
            Column(head=say("calibration.by_chance")), Column(head="", scale=scale),
            Column(head=say("calibration.left")),
        ),
        rows=tuple(rows),
        note=say("calibration.parts_note", uncertainty=records[0].unc),
    )  # fmt: skip
