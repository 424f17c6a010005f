"""Calibration: curves without bins, level and spread with intervals, grades, and the parts of the Brier score."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import groupby

from evalreport import numbers
from evalreport.plots.calibration import (
    calibration_curve,
    calibration_curves,
    end_of_axis,
    mostly_low,
    share_above,
)
from evalreport.plots.pictures import Figure
from evalreport.plots.scores import miscalibration_discrimination
from evalreport.plots.style import MARKS
from evalreport.questions.calibration.findings import (
    Finding,
    calibration_findings,
    calibration_heading,
    calibration_of_others,
)
from evalreport.questions.calibration.records import CalibrationRecord, CalibrationTableRecord
from evalreport.questions.thresholds.records import CurveRecord
from evalreport.report.naming import listed
from evalreport.report.table import (
    Cell,
    Column,
    Row,
    Scale,
    Sketch,
    Table,
    Tables,
    plain_cell,
    scale_of,
    sketch,
    stroke,
)
from evalreport.report.view import Model, View
from evalreport.texts import named, say
from evalreport.texts.visible import shorten, visible

MOST_PANELS, MOST_ROWS, MOST_LARGE, LEAST_EVENTS, LONGEST = 3, 12, 6, 10, 20
WIDTH, HEIGHT = 4.2, 3.6
LEAST_SPAN = 3
"""Grades in a row that are written as the first and the last."""
PLANE = 4.8, 3.4
"""Width and height, in inches, of a figure with names beside it."""
RATES = (0.0, 0.001, 0.01, 0.02, 0.05, 0.1, 0.2, 0.3, 0.4, 0.6, 0.8, 1.0)


@dataclass(frozen=True, slots=True)
class CalibrationDetails:
    """Larger curves with their note, deciles of risk, and the parts of the Brier score with their plane."""

    panels: tuple[Figure, ...]
    note: str
    grades: tuple[Table, ...]
    parts: Table | None
    cut: str
    plane: Figure | None

    @property
    def figures(self) -> tuple[Figure, ...]:
        """All pictures of the section."""
        return (*self.panels, *((self.plane,) if self.plane else ()))


Shown = tuple[str, str | None]
"""A model and its class; None: a binary task."""


def describe(view: View) -> Tables | None:
    """Lay out the calibration of all models; nothing where no model gives probabilities.

    A table of models or classes with their curves, of a single model its figure; then tables of grades that were named.
    """
    findings = calibration_findings(view.results, [model.id for model in view.models])
    if not findings:
        return None
    name = view.short.__getitem__
    first = findings[0].record
    others = [str(text) for text in calibration_of_others(findings, name)]
    events = say("calibration.events", total=round(first.n), n=round(first.observed))
    if first.label is not None:
        classes = len({f.record.label for f in findings})
        events = say("calibration.examples", n=round(first.n), classes=classes)
    alone = _panels(view, findings) if len(findings) == 1 else ()  # the only figure is as large as others
    about = [". ".join(others) + "." if others else "", events]
    curves = calibration_curves(view.results, [(f.record.model, f.record.label) for f in findings])
    if curves and not any(curve.low for curve in curves):
        about.append(say("calibration.no_band"))
    if first.observed < LEAST_EVENTS:
        about.append(say("calibration.few_events", n=round(first.observed)))
    heading, by_class = str(calibration_heading(findings, name)), first.label is not None
    of_grades = view.results.options.get("grade") is not None
    return Tables(
        (_board(view, findings), *(_grades(view, by_class=by_class) if of_grades else ())),
        heading=say("calibration.section", finding=heading),
        text=" ".join(filter(None, about)),
        figures=_figures(view, alone, findings),
        note=_note(view, alone),
    )


def describe_details(view: View) -> CalibrationDetails | None:
    """Lay out what a reader may look up: curves, deciles and parts of the Brier score of the models that may lead."""
    findings = calibration_findings(view.results, [model.id for model in view.models])
    if not findings:
        return None
    by_class, of_grades = findings[0].record.label is not None, view.results.options.get("grade") is not None
    panels = () if len(findings) == 1 else _panels(view, findings)
    tables = () if of_grades else _grades(view, by_class=by_class)
    cut = say("calibration.details_cut", n=len(tables), number=len(tables)) if len(tables) > 1 else ""
    parts, figures = _parts(view, by_class=by_class), _figures(view, panels, findings)
    if not panels and not tables and parts is None:
        return None
    return CalibrationDetails(figures, _note(view, panels), tables[:1], parts, cut, _plane(view))


def _has_curve(view: View, finding: Finding) -> bool:
    """Return whether a model (and class) has a curve: of a single probability it is a point."""
    curves = calibration_curves(view.results, [(finding.record.model, finding.record.label)])
    return finding.record.observed >= LEAST_EVENTS and any(len(set(curve.x)) > 1 for curve in curves)


def _panels(view: View, found: Sequence[Finding]) -> tuple[Shown, ...]:
    """Return the larger curves: those of the first models of the board, or of the first rows of classes."""
    rows = (f.record for f in _rows(view, found) if _has_curve(view, f))
    return tuple((r.model, r.label) for r in rows)[:MOST_PANELS]


def _figures(view: View, shown: Sequence[Shown], found: Sequence[Finding]) -> tuple[Figure, ...]:
    kinds = {(f.record.model, f.record.label): f.kind for f in found}
    curves = calibration_curves(view.results, shown)
    if not curves:
        return ()
    end, root = end_of_axis(curves), mostly_low(curves)
    figures = []
    for place, (model, label) in enumerate(shown):
        whose, kind = _whose(view, model, label), kinds[model, label]
        draw = partial(
            calibration_curve, view.results, model, label=label, name="", end=end, root=root,
            level=kind in ("too_high", "too_low"),
        )  # fmt: skip
        figures.append(
            Figure(
                name=f"calibration-{place}", title=say(f"calibration.panel_{kind}", model=whose), caption="",
                width=WIDTH, height=HEIGHT, description=say("calibration.described", model=whose), draw=(draw,),
            )
        )  # fmt: skip
    return tuple(figures)


def _whose(view: View, model: str, label: str | None) -> str:
    """Name a model, of several classes with the class."""
    name = view.model(model).name
    if label is None:
        return name
    return say("calibration.of_class", model=name, label=shorten(visible(label), LONGEST))


def _note(view: View, shown: Sequence[Shown]) -> str:
    curves = calibration_curves(view.results, shown)
    if not curves:
        return ""
    end = end_of_axis(curves)
    above = [round(share_above(curve, end) * sum(curve.count or ())) for curve in curves]
    level = numbers.percent(view.confidence)
    texts = [
        say("calibration.note" if any(c.low for c in curves) else "calibration.note_no_band", level=level)
    ]
    if any(above):
        texts.append(say("calibration.not_drawn", n=listed([numbers.count(n) for n in above]), end=end))
    return " ".join(texts)


def _rows(view: View, found: Sequence[Finding]) -> list[Finding]:
    """Return the rows of the board: models, or of several classes the heading's, then the smallest p first."""
    order = {m.id: m.index for m in view.models}
    if found[0].record.label is None:
        return sorted(found, key=lambda f: order[f.record.model])
    p = {id(f): 1.0 if f.record.p_value is None else f.record.p_value for f in found}
    return [found[0], *sorted(found[1:], key=lambda f: (p[id(f)], order[f.record.model]))]


def _board(view: View, every: Sequence[Finding]) -> Table:
    by_class = every[0].record.label is not None
    rows = _rows(view, every)[:MOST_ROWS] if by_class else _rows(view, every)
    drawn = [] if len(every) == 1 else [f for f in rows if _has_curve(view, f)]
    curves = calibration_curves(view.results, [(f.record.model, f.record.label) for f in drawn])
    end, root = (end_of_axis(curves), mostly_low(curves)) if curves else (1.0, False)
    sketched = zip(drawn, curves, strict=True)
    sketches = {id(f): _sketch(view, f, curve, end, root=root) for f, curve in sketched}
    heads = (
        *((Column(say("calibration.curve"), "sketch"),) if drawn else ()), say("calibration.predicted"),
        say("calibration.observed"), say("calibration.ratio"), say("calibration.slope"),
        Column(say("calibration.verdict"), "text"),
    )  # fmt: skip
    table = tuple(_board_row(view, finding, sketches.get(id(finding)), drawn=bool(drawn)) for finding in rows)
    axes = []
    if curves:
        level = numbers.percent(view.confidence)
        axes = [say("calibration.sketches", end=end, axes=say("calibration.of_root") if root else "")]
        axes += [say("calibration.sketches_band", level=level)] if any(c.low for c in curves) else []
    note = " ".join((*axes, _board_note(view, every, [f.record for f in rows])))
    look = "lined" + (" small" if len(rows) > MOST_LARGE else "")
    return Table(say("calibration.board"), heads, table, note, look=look)


def _sketch(view: View, finding: Finding, curve: CurveRecord, end: float, *, root: bool) -> Sketch:
    """Lay out a small curve in its band."""
    scale: Callable[[float], float] = math.sqrt if root else float
    held = [i for i, x in enumerate(curve.x) if x <= end + 1e-12]
    low, high = (tuple(side[i] for i in held) if side else () for side in (curve.low, curve.high))
    line = tuple((scale(curve.x[i]), scale(curve.y[i])) for i in held)
    known = [
        (x, a, b) for (x, _), a, b in zip(line, low, high, strict=False) if a is not None and b is not None
    ]
    band = (*((x, scale(b)) for x, _, b in known), *((x, scale(a)) for x, a, _ in reversed(known)))
    beyond = tuple(
        a is not None and b is not None and not a - 1e-12 <= curve.y[i] <= b + 1e-12
        for i, a, b in zip(held, low, high, strict=False)
    )
    model = view.model(finding.record.model)
    title = say("calibration.described", model=model.name)
    return sketch(line, band, beyond, top=scale(end), title=title, mark=model)


def _board_row(view: View, finding: Finding, curve: Sketch | None, *, drawn: bool) -> Row:
    r, model = finding.record, view.model(finding.record.model)
    label = "" if r.label is None else _whose(view, r.model, r.label)
    of_level = finding.kind in ("too_high", "too_low")
    of_slope = finding.kind in ("overconfident", "underconfident")
    p = "" if finding.p_adjusted is None else numbers.p_phrase(finding.p_adjusted)
    cells = (
        *((curve or "",) if drawn else ()),
        _sum(r.expected),
        _sum(r.observed),
        plain_cell(
            r.observed_expected, r.observed_expected_low, r.observed_expected_high, 2, strong=of_level
        ),
        plain_cell(r.slope, r.slope_low, r.slope_high, 2, strong=of_slope),
        Cell(
            named("calibration.word", finding.kind),
            p,
            look="wrong" if finding.off else "",
            strong=finding.off,
        ),
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


def _grades(view: View, *, by_class: bool) -> tuple[Table, ...]:
    """Return one table a model, the heading's first: grades in their order, or deciles of risk.

    Of several classes they are about the largest probability, and whether that class is the true one.
    """
    grade = view.results.options.get("grade")
    tables = []
    for model in view.models:
        rows = [r for r in view.results.calibration_table if r.model == model.id and r.slice is None]
        if rows:
            column = None if grade is None else str(grade)
            tables.append(_grade_table(view, model, rows, column, by_class=by_class))
    return tuple(tables)


def _grade_table(
    view: View, shown: Model, rows: Sequence[CalibrationTableRecord], column: str | None, *, by_class: bool
) -> Table:
    root = sum(r.predicted < 0.2 for r in rows) >= 0.7 * len(rows)
    values = [v for r in rows for v in (r.predicted, r.observed, r.high)]
    rates = scale_of(values, RATES, texts=lambda t: f"{100 * t:g}", transform="root" if root else "linear")
    outside = [r for r in rows if _shown_outside(r, len(rows), 1 - view.confidence)]
    finding = _grades_finding(shown.name, rows, outside, deciles=column is None)
    what = say("calibration.by_grade" if column else "calibration.by_decile", column=column)
    if by_class:
        of = "calibration.by_grade_of_largest" if column else "calibration.by_largest"
        what = say("calibration.of_largest", what=say(of, column=column))
    events = "calibration.right_head" if by_class else "calibration.events_head"
    heads = (
        say("calibration.n"), say(events), say("calibration.predicted"), say("calibration.observed"),
        Column(say("calibration.marks", symbol=shown.symbol), scale=rates), say("calibration.jeffreys"),
    )  # fmt: skip
    note = say(f"calibration.grades_{'note' if any(r.p_value is not None for r in rows) else 'no_p'}")
    first, made = (
        say(f"calibration.{'grade' if column else 'decile'}"),
        tuple(_grade_row(shown, r, rates) for r in rows),
    )
    return Table(f"{what}: {finding}", heads, made, note, look="lined", first=first)


def _grade_row(model: Model, r: CalibrationTableRecord, rates: Scale) -> Row:
    title = f"{numbers.rate(r.predicted)}, {numbers.rate(r.observed)}"
    p = numbers.p_value(_two_sided(r))
    side = say(f"calibration.side_{'high' if r.predicted > r.observed else 'low'}") if _outside(r) else ""
    cells = (
        numbers.count(r.n),
        numbers.count(round(r.observed * r.n)),
        Cell(numbers.rate(r.predicted), strong=_outside(r)),
        numbers.rate(r.observed),
        stroke(rates, r.observed, r.low, r.high, bar=r.predicted, title=title, mark=model),
        Cell(p, side, look="wrong" if side else "", strong=False),
    )
    return Row(model, cells, r.grade)


def _grades_finding(
    model: str,
    rows: Sequence[CalibrationTableRecord],
    outside: Sequence[CalibrationTableRecord],
    *,
    deciles: bool,
) -> str:
    """Say which grades are off, by a test over all of them."""
    too_high, too_low = (
        {id(r) for r in outside if (r.predicted > r.observed) is side} for side in (True, False)
    )
    high, low = (_spans(rows, marked, deciles=deciles) for marked in (too_high, too_low))
    if high and low:
        return say("calibration.grades_both", model=model, high=high, low=low)
    if outside:
        return say(f"calibration.grades_{'high' if high else 'low'}", model=model, names=high or low)
    if all(row.low is None for row in rows):
        return model
    return say("calibration.grades_inside", model=model, total=len(rows))


def _shown_outside(row: CalibrationTableRecord, rows: int, alpha: float) -> bool:
    """Say whether a grade is off by its interval, and by the test of all rows together (Bonferroni, two-sided)."""
    p = _two_sided(row)
    return p is not None and _outside(row) and p * rows <= alpha


def _two_sided(row: CalibrationTableRecord) -> float | None:
    """Return the p-value that agrees with a row's interval: no event is no sign of a rate that is too low."""
    p = row.p_value
    if p is None:
        return None
    too_low, too_high = p if row.observed > 0 else 1.0, 1 - p if row.observed < 1 else 1.0
    return min(1.0, 2 * min(too_low, too_high))


def _spans(rows: Sequence[CalibrationTableRecord], marked: set[int], *, deciles: bool) -> str:
    """List the marked grades, those that follow each other by the first and the last: ``deciles 1, 3 to 5 and 9``."""
    runs = groupby(rows, key=lambda row: id(row) in marked)
    texts: list[str] = []
    for names in ([row.grade for row in run] for there, run in runs if there):
        long = len(names) >= LEAST_SPAN
        texts += [say("calibration.span", first=names[0], last=names[-1])] if long else names
    runs_of_names = listed(texts, 10)
    if not deciles or not marked:
        return runs_of_names
    return say("calibration.of_deciles", n=len(marked), names=runs_of_names)


def _outside(row: CalibrationTableRecord) -> bool:
    return row.low is not None and row.high is not None and not row.low <= row.predicted <= row.high


def _parts(view: View, *, by_class: bool) -> Table | None:
    """Return what is gained by ranking and lost to miscalibration, in percent of the Brier score's uncertainty."""
    whole = {r.model: r for r in view.results.calibration if r.slice is None and r.label is None}
    ranked = (whole[m.id] for m in view.models if m.id in whole)
    records = [r for r in ranked if r.unc and r.mcb is not None]
    if not records:
        return None
    shares = [((r.dsc or 0.0) / (r.unc or 1.0), (r.mcb or 0.0) / (r.unc or 1.0)) for r in records]
    most = max(map(max, shares))
    ticks = (0.0, 0.01, 0.02, 0.05, 0.1, 0.2, 0.3, 0.4, 0.6, 0.8, 1.0)
    least = min(0.0, *(gained - lost for gained, lost in shares))
    below = tuple(-tick for tick in reversed(ticks[1:])) if least < 0 else ()
    scale = scale_of(
        [least, most], (*below, *ticks), texts=lambda t: f"{100 * t:g}", reference=0.0 if below else None
    )
    rows = []
    for record, (gained, lost) in zip(records, shares, strict=True):
        model = view.model(record.model)
        chance, title = record.mcb_expected, say("calibration.parts_title", gained=gained, lost=lost)
        cells = (
            f"{100 * gained:.1f}",
            f"{100 * lost:.1f}",
            numbers.MISSING if chance is None else f"{100 * (chance / (record.unc or 1.0)):.1f}",
            stroke(scale, gained - lost, box=gained, title=title, mark=model),
            numbers.number(100 * (gained - lost), 1),
        )
        rows.append(Row(model, cells))
    first, (gained, lost) = records[0], shares[0]
    known = {"model": view.model(first.model).name, "gained": 100 * gained, "lost": 100 * lost}
    title = say("calibration.parts", **known)
    if first.mcb_expected is not None:
        title = say(
            "calibration.parts_chance", **known, chance=100 * (first.mcb_expected / (first.unc or 1.0))
        )
    heads = (
        say("calibration.gained"), say("calibration.lost"), say("calibration.by_chance"),
        Column(say("calibration.skill"), scale=scale), say("calibration.left"),
    )  # fmt: skip
    note = say("calibration.parts_note", uncertainty=records[0].unc)
    title = say("calibration.parts_of_largest", finding=title) if by_class else title
    return Table(title, heads, tuple(rows), note, look="lined")


def _plane(view: View) -> Figure | None:
    """Describe the plane of two models or more that give probabilities."""
    parts = [
        r.model
        for r in view.results.calibration
        if r.slice is None and r.label is None and r.unc and r.mcb is not None
    ]
    if len(parts) < 2:
        return None
    highlight = parts if len(parts) <= len(MARKS) else None
    return Figure(
        name="miscalibration-discrimination", title=say("calibration.plane"), caption=say("calibration.plane_note"),
        width=PLANE[0], height=PLANE[1], description=say("calibration.plane_described"),
        draw=(partial(miscalibration_discrimination, view.results, names=view.short, highlight=highlight),),
    )  # fmt: skip
