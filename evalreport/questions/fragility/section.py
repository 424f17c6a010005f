"""A small box for the statistician: how many examples would undo each verdict."""

from __future__ import annotations

from evalreport import numbers
from evalreport.questions.fragility.records import FragilityRecord
from evalreport.report.table import Cell, Row, Table, Tables, headings
from evalreport.report.view import View
from evalreport.texts import Message, say

MOST_ROWS = 6
NEVER = Message("fragility.never")


def describe(view: View) -> Tables | None:
    """Lay out the decided pairs, the most fragile first; nothing where none is decided, or nothing is known of any."""
    records = sorted(view.results.fragility, key=lambda r: (r.turned is None, r.turned or 0))
    if all(record.turned is None and record.reason != NEVER for record in records):
        return None
    rows = tuple(_row(view, record) for record in records[:MOST_ROWS])
    cut = say("fragility.cut", shown=MOST_ROWS, n=len(records)) if len(records) > MOST_ROWS else ""
    heads = (say("fragility.turned"), say("fragility.of"), say("fragility.method"))
    note = f"{say('fragility.note')} {cut}".strip()
    table = Table(
        say("fragility.box"), headings(heads, "number,number,text"), rows, note, first=say("table.pair")
    )
    return Tables((table,))


def _row(view: View, record: FragilityRecord) -> Row:
    a, b = sorted((view.model(record.a), view.model(record.b)), key=lambda model: model.index)
    how = view.text(record.reason or "") if record.method is None else say(f"fragility.{record.method}")
    turned = numbers.MISSING if record.turned is None else numbers.count(record.turned)
    cells = (Cell(turned), numbers.count(record.of), how)
    return Row(None, cells, say("differences.pair", a=a.name, b=b.name), f"{a.key} {b.key}")
