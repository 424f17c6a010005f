"""The looks at a comparison that may be repeated: what each spent, what it decided, and which are still to come."""

from __future__ import annotations

from evalreport import numbers
from evalreport.questions.looks.records import EarlierLook, LookRecord, PlannedLook
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
    now = sum(record.decided_at is not None for record in view.results.verdicts)
    steps: list[tuple[str, EarlierLook | LookRecord | PlannedLook, int | None]] = [
        *((say("looks.look", look=one.look), one, one.decided) for one in looks.earlier),
        (say("looks.this", look=looks.look), looks, now),
        *((say("looks.planned", look=one.look), one, None) for one in looks.planned),
    ]
    rows, spent, decided, here = [], 0.0, 0, len(looks.earlier)
    for label, step, so_far in steps:
        spends, level = numbers.rate(max(step.spent - spent, 0.0)), numbers.level(step.level)
        text = "" if so_far is None else _decided(so_far, decided, len(view.results.verdicts))
        rows.append(Row(None, (numbers.count(step.n), spends, level, text), label))
        spent, decided = step.spent, so_far or 0
    if len(rows) > MOST_SHOWN:
        kept = {here - 2, here - 1, here, here + 1, len(rows) - 1}
        rows = [row for place, row in enumerate(rows) if place in kept]
    heads = tuple(map(say, ("looks.examples", "looks.spends", "looks.level", "looks.decided")))
    heading = say(
        "looks.heading", look=in_words(looks.look), looks=in_words(looks.looks), spent=f"{100 * looks.spent:.2g}",
        total=f"{round(100 * (1 - view.confidence), 8):g}",
    )  # fmt: skip
    note = say("looks.note", looks=looks.looks)
    table = Table(
        say("looks.box"),
        headings(heads, "number,number,number,text"),
        tuple(rows),
        note,
        first=say("looks.first"),
    )
    return Tables((table,), heading=heading)


def _decided(now: int, before: int, pairs: int) -> str:
    new = now - before
    text = say("looks.pairs_decided", now=now, pairs=pairs)
    return text if before == 0 or new <= 0 else f"{text}: {say('looks.new', n=new)}"
