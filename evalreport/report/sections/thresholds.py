"""Thresholds: what models give at their best ones and at fixed rates, who is above whom, what another one changes."""

from __future__ import annotations

from dataclasses import dataclass

from evalreport import numbers
from evalreport.curve_records import OperatingPointRecord
from evalreport.report.naming import MetricKey, in_sentence, metric_label
from evalreport.report.sections import dominance
from evalreport.report.view import Model, View, text_of
from evalreport.texts import has, say

MOST_IN_TABLE = 24


@dataclass(frozen=True, slots=True)
class Cell:
    """One value with what stands beside it (its interval) and below it (its threshold)."""

    value: str
    beside: str
    below: str


@dataclass(frozen=True, slots=True)
class Row:
    """One model's line."""

    model: Model
    cells: tuple[Cell, ...]


@dataclass(frozen=True, slots=True)
class Table:
    """Models by criteria."""

    title: str
    headings: tuple[str, ...]
    rows: tuple[Row, ...]
    note: str


@dataclass(frozen=True, slots=True)
class CountRow:
    """One threshold with its four counts."""

    model: Model
    criterion: str
    threshold: str
    counts: tuple[str, str, str, str]


@dataclass(frozen=True, slots=True)
class Thresholds:
    """What the section shows."""

    tables: tuple[Table, ...]
    counts: tuple[CountRow, ...]
    above: dominance.Above | None
    changes: tuple[str, ...]


FIXED = ("fixed_fpr", "fixed_recall")


def describe(view: View) -> Thresholds | None:
    """Lay out operating points, dominance and changed thresholds; nothing where there is neither."""
    results = view.results
    if not (results.operating_points or results.dominance or results.threshold_changes):
        return None
    best = [p for p in results.operating_points if p.criterion not in FIXED]
    fixed = [p for p in results.operating_points if p.criterion in FIXED]
    level = numbers.percent(view.confidence)
    tables = []
    if best:
        tables.append(
            _table(view, say("thresholds.best_title"), best, say("thresholds.best_note", level=level))
        )
    if fixed:
        tables.append(_table(view, say("thresholds.fixed_title"), fixed, say("thresholds.fixed_note")))
    return Thresholds(
        tables=tuple(tables),
        counts=tuple(
            _counts(view, p) for p in best if p.model in {m.id for m in view.models[:MOST_IN_TABLE]}
        ),
        above=dominance.describe(view),
        changes=tuple(text_of(view, record.text) for record in results.threshold_changes),
    )


Key = tuple[str, str, float | None]


def _key(point: OperatingPointRecord) -> Key:
    return point.criterion, point.metric, point.at


def _table(view: View, title: str, points: list[OperatingPointRecord], note: str) -> Table:
    keys = list(dict.fromkeys(_key(point) for point in points))
    known = {(point.model, _key(point)): point for point in points}
    models = [m for m in view.models if any(point.model == m.id for point in points)]
    rows = tuple(
        Row(
            m,
            tuple(
                _cell(view, known[m.id, key]) if (m.id, key) in known else Cell("", "", "") for key in keys
            ),
        )
        for m in models[:MOST_IN_TABLE]
    )
    if len(models) > MOST_IN_TABLE:
        note += " " + say("report.first_of_all", shown=MOST_IN_TABLE, n=len(models))
    return Table(title, tuple(_heading(key) for key in keys), rows, note)


def _cell(view: View, point: OperatingPointRecord) -> Cell:
    at = say("thresholds.at", threshold=_threshold(view, point))
    return Cell(numbers.number(point.value), numbers.interval(point.low, point.high), at)


def _threshold(view: View, point: OperatingPointRecord) -> str:
    """Write a threshold so that it is told from the scores beside it."""
    if point.threshold is None:
        return say("thresholds.no_call")
    scores = [e for r in view.results.score_histograms if r.model == point.model for e in r.edges]
    return numbers.to_digits(point.threshold, numbers.digits_apart(scores))


def _heading(key: Key) -> str:
    criterion, metric, at = key
    if criterion in FIXED:
        assert at is not None
        rate = say("thresholds.fpr" if criterion == "fixed_fpr" else "thresholds.recall")
        label = metric_label(MetricKey(metric))
        return say(
            "thresholds.fixed", metric=label, rate=rate, share=numbers.percent(at).replace(" ", "\u00a0")
        )
    if has(f"thresholds.criterion.{criterion}"):
        return say(f"thresholds.criterion.{criterion}")
    return say("thresholds.best", metric=in_sentence(metric_label(MetricKey(metric))))


def _counts(view: View, point: OperatingPointRecord) -> CountRow:
    counts = (point.tp, point.fp, point.fn, point.tn)
    a, b, c, d = (numbers.count(n) for n in counts)
    return CountRow(view.model(point.model), _heading(_key(point)), _threshold(view, point), (a, b, c, d))
