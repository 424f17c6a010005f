"""The looks at a comparison that may be repeated: what each spent, what it decided, and which are still to come."""

from __future__ import annotations

from evalreport import numbers
from evalreport.report.table import Row, Table, Tables, headings
from evalreport.report.view import View
from evalreport.texts import in_words, say

MOST_SHOWN = 6
"""Of more looks the last two, this one, the next and the last are shown."""


def describe(view: View) -> Tables | None:
    """Lay out the looks; nothing where there is one look only, or none was declared."""
    looks = view.results.looks
    if looks is None or looks.looks < 2:
        return None
    total = 1 - view.confidence
    rows, before, decided = [], 0.0, 0
    pairs = len(view.results.verdicts)
    for one in looks.earlier:
        rows.append(_row(say("looks.look", look=one.look), numbers.count(one.n), one.spent - before, one.level,
                         _decided(one.decided, decided, pairs)))  # fmt: skip
        before, decided = one.spent, one.decided
    now = sum(record.decided_at is not None for record in view.results.verdicts)
    here = len(rows)
    rows.append(_row(say("looks.this", look=looks.look), numbers.count(looks.n), looks.spent - before, looks.level,
                     _decided(now, decided, pairs)))  # fmt: skip
    before = looks.spent
    for planned in looks.planned:
        label = say("looks.planned", look=planned.look)
        rows.append(_row(label, numbers.count(planned.n), planned.spent - before, planned.level, ""))
        before = planned.spent
    if len(rows) > MOST_SHOWN:
        kept = {here - 2, here - 1, here, here + 1, len(rows) - 1}
        rows = [row for place, row in enumerate(rows) if place in kept]
    heads = tuple(map(say, ("looks.examples", "looks.spends", "looks.level", "looks.decided")))
    spent = f"{100 * looks.spent:.2g}"
    heading = say("looks.heading", look=in_words(looks.look), looks=in_words(looks.looks), spent=spent,
                  total=f"{round(100 * total, 8):g}")  # fmt: skip
    note = say("looks.note", looks=looks.looks)
    table = Table(
        say("looks.box"),
        headings(heads, "number,number,number,text"),
        tuple(rows),
        note,
        first=say("looks.first"),
    )
    return Tables((table,), heading=heading)


def _row(label: str, n: str, spends: float, level: float, decided: str) -> Row:
    return Row(None, (n, numbers.rate(max(spends, 0.0)), numbers.level(level), decided), label)


def _decided(now: int, before: int, pairs: int) -> str:
    new = now - before
    text = say("looks.pairs_decided", now=now, pairs=pairs)
    return text if before == 0 or new <= 0 else f"{text}: {say('looks.new', n=new)}"
