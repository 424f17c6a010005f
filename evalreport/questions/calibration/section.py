"""Calibration: curves without bins, level and spread with intervals, grades, and the parts of the Brier score."""

from __future__ import annotations

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
from evalreport.report.table import Cell, Column, Row, Scale, Table, plain_cell, scale_of, stroke
from evalreport.report.view import Model, View
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
    board: Table
    grades: tuple[Table, ...]
    parts: Table | None


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


def _board(view: View, every: Sequence[Finding]) -> Table:
    by_class = every[0].record.label is not None
    shown = _rows(view, every)[:MOST_ROWS] if by_class else _rows(view, every)
    records = [f.record for f in shown]
    ratios = scale_of(
        [v for r in records for v in (r.observed_expected, r.observed_expected_low, r.observed_expected_high) if v],
        RATIOS, texts=lambda t: f"{t:g}", transform="log", reference=1.0,
        left=say("calibration.too_high_side"), right=say("calibration.too_low_side"),
    )  # fmt: skip
    slopes = scale_of(
        [v for r in records for v in (r.slope, r.slope_low, r.slope_high)], SLOPES, texts=lambda t: f"{t:g}",
        reference=1.0, left=say("calibration.over_side"), right=say("calibration.under_side"),
    )  # fmt: skip
    rows = tuple(_board_row(view, finding, ratios, slopes) for finding in shown)
    heads = (
        say("calibration.predicted"), say("calibration.observed"), say("calibration.ratio"),
        Column("", scale=ratios), say("calibration.citl"), say("calibration.slope"), Column("", scale=slopes), "p",
    )  # fmt: skip
    return Table(say("calibration.board"), heads, rows, _board_note(view, every, records), look="lined")


def _board_row(view: View, finding: Finding, ratios: Scale, slopes: Scale) -> Row:
    r, model = finding.record, view.model(finding.record.model)
    label = ""
    if r.label is not None:
        label = say("calibration.of_class", model=model.name, label=shorten(visible(r.label), LONGEST))
    level, spread = (
        finding.kind in ("too_high", "too_low"),
        finding.kind in ("overconfident", "underconfident"),
    )
    low, high = r.observed_expected_low, r.observed_expected_high
    ratio = plain_cell(r.observed_expected, low, high, 2, strong=level)
    slope = plain_cell(r.slope, r.slope_low, r.slope_high, 2, strong=spread)
    cells = (
        _sum(r.expected),
        _sum(r.observed),
        ratio,
        stroke(ratios, r.observed_expected or None, low or None, high, title=ratio.text, mark=model),
        plain_cell(r.citl, r.citl_low, r.citl_high, 2),
        slope,
        stroke(slopes, r.slope, r.slope_low, r.slope_high, title=slope.text, mark=model),
        Cell(numbers.p_value(finding.p_adjusted), strong=finding.kind == "shape"),
    )
    return Row(model, cells, label)


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


def _grades(view: View, order: Sequence[str], *, by_class: bool) -> tuple[Table, ...]:
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
) -> Table:
    shown = view.model(model)
    root = sum(r.predicted < 0.2 for r in rows) >= 0.7 * len(rows)
    values = [v for r in rows for v in (r.predicted, r.observed, r.high)]
    rates = scale_of(values, RATES, texts=lambda t: f"{100 * t:g}", transform="root" if root else "linear")
    finding = _grades_finding(
        shown.name, rows, [r for r in rows if _shown_outside(r, len(rows), 1 - view.confidence)]
    )
    what = say("calibration.by_grade", column=column) if column else say("calibration.by_decile")
    if by_class:
        of = (
            say("calibration.by_grade_of_largest", column=column) if column else say("calibration.by_largest")
        )
        what = say("calibration.of_largest", what=of)
    events = "calibration.right_head" if by_class else "calibration.events_head"
    heads = (
        say("calibration.n"), say(events), say("calibration.predicted"), say("calibration.observed"),
        Column(say("calibration.marks", symbol=shown.symbol), scale=rates), say("calibration.jeffreys"),
    )  # fmt: skip
    return Table(
        f"{what}: {finding}",
        heads,
        tuple(_grade_row(shown, r, rates) for r in rows),
        say(
            "calibration.grades_note"
            if any(r.p_value is not None for r in rows)
            else "calibration.grades_no_p"
        ),
        look="lined",
        first=say("calibration.grade" if column else "calibration.decile"),
    )


def _grade_row(model: Model, r: CalibrationTableRecord, rates: Scale) -> Row:
    title = f"{numbers.rate(r.predicted)}, {numbers.rate(r.observed)}"
    cells = (
        numbers.count(r.n),
        numbers.count(round(r.observed * r.n)),
        Cell(numbers.rate(r.predicted), strong=_outside(r)),
        numbers.rate(r.observed),
        stroke(rates, r.observed, r.low, r.high, bar=r.predicted, title=title, mark=model),
        numbers.MISSING if r.p_value is None else f"{r.p_value:.4f}",
    )
    return Row(model, cells, r.grade)


def _grades_finding(
    model: str, rows: Sequence[CalibrationTableRecord], outside: Sequence[CalibrationTableRecord]
) -> str:
    """Say which grades are off, by a test over all of them."""
    high = [r.grade for r in outside if r.predicted > r.observed]
    low = [r.grade for r in outside if r.predicted < r.observed]
    if high and low:
        return say("calibration.grades_both", model=model, high=listed(high, 10), low=listed(low, 10))
    if outside:
        names, key = (high, "calibration.grades_high") if high else (low, "calibration.grades_low")
        return say(key, model=model, n=len(names), total=len(rows), names=listed(names, 10))
    if all(row.low is None for row in rows):
        return model
    return say("calibration.grades_inside", model=model, total=len(rows))


def _shown_outside(row: CalibrationTableRecord, rows: int, alpha: float) -> bool:
    """Say whether a grade is off by the test of all rows together (Bonferroni, two-sided)."""
    return row.p_value is not None and 2 * min(row.p_value, 1 - row.p_value) * rows <= alpha


def _outside(row: CalibrationTableRecord) -> bool:
    return row.low is not None and row.high is not None and not row.low <= row.predicted <= row.high


def _parts(view: View, order: Sequence[str], *, by_class: bool) -> Table | None:
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
        model = view.model(record.model)
        gained, miscalibrated, by_chance = skill[model.id], lost[model.id], chance[model.id]
        title = say("calibration.parts_title", gained=gained, lost=miscalibrated)
        cells = (
            f"{100 * gained:.1f}",
            f"{100 * miscalibrated:.1f}",
            numbers.MISSING if by_chance is None else f"{100 * by_chance:.1f}",
            stroke(scale, gained - miscalibrated, box=gained, title=title, mark=model),
            numbers.number(100 * (gained - miscalibrated), 1),
        )
        rows.append(Row(model, cells))
    first = records[0].model
    title = say(
        "calibration.parts", model=view.model(first).name, gained=100 * skill[first], lost=100 * lost[first]
    )
    heads = (
        say("calibration.gained"), say("calibration.lost"), say("calibration.by_chance"), Column("", scale=scale),
        say("calibration.left"),
    )  # fmt: skip
    note = say("calibration.parts_note", uncertainty=records[0].unc)
    title = say("calibration.parts_of_largest", finding=title) if by_class else title
    return Table(title, heads, tuple(rows), note, look="lined")
