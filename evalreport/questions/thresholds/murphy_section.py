"""Who is ahead at every cost ratio: Murphy curves, the difference of two, and a table of all."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from itertools import groupby

from evalreport import numbers
from evalreport.plots.curves import FIRST, MOST_TOLD, contenders
from evalreport.plots.pictures import Figure
from evalreport.plots.scores import murphy, murphy_difference
from evalreport.questions.thresholds.records import MurphyDifferenceRecord
from evalreport.report.table import Cell, Column, Row, Table, Tables, plain_cell
from evalreport.report.view import View
from evalreport.texts import say

WIDTH, HEIGHT = 4.8, 3.4


def describe(view: View) -> Tables | None:
    """Lay out who is ahead at every cost ratio; nothing without two models that give probabilities."""
    records = {r.a: r for r in view.results.murphy_differences}
    order = [m.id for m in view.models if m.id in records]
    if not order:
        return None
    reference = records[order[0]].b
    name, first = view.model(reference).name, order[0]
    finding = _finding(view, reference, [records[m] for m in order])
    names, near = view.short, contenders(view.results)
    highlight = {*(near if len(near) <= MOST_TOLD else near[:FIRST]), reference, first}
    of_pair = {"a": name, "b": view.model(first).name}
    figures = (
        Figure(
            name="murphy", title=say("murphy.curves"), caption="", width=WIDTH, height=HEIGHT,
            description=say("murphy.described", finding=finding),
            draw=(partial(murphy, view.results, names=names, highlight=highlight),),
        ),
        Figure(
            name="murphy-difference", title=say("murphy.difference", **of_pair), caption="", width=WIDTH, height=HEIGHT,
            description=say("murphy.described_difference", **of_pair, finding=_of_pair(view, records[first])),
            draw=(partial(murphy_difference, view.results, (reference, first), names=names),),
        ),
    )  # fmt: skip
    level, of = numbers.percent(view.confidence), len(records[first].threshold)
    pairs = round((1 - view.confidence) / (1 - records[first].level) / of)
    why = say("murphy.of_baseline" if view.results.baseline == reference else "murphy.of_lowest")
    note = say("murphy.note", a=name, why=why, level=level, thresholds=of, pairs=say("murphy.pairs", n=pairs))
    table = _table(view, name, [records[m] for m in order])
    return Tables((table,), heading=say("murphy.title", finding=finding), figures=figures, note=note)


def _finding(view: View, reference: str, records: Sequence[MurphyDifferenceRecord]) -> str:
    if len(records) == 1:
        return _of_pair(view, records[0])
    ahead, behind = (sum(bool(_spans(r, side)) for r in records) for side in (1, -1))
    key = {(1, 1): "both_of", (1, 0): "ahead_of", (0, 1): "behind_of"}.get(
        (ahead > 0, behind > 0), "open_of_many"
    )
    return say(f"murphy.{key}", a=view.model(reference).name, n=len(records), ahead=ahead, behind=behind)


def _of_pair(view: View, record: MurphyDifferenceRecord) -> str:
    names = {"a": view.model(record.b).name, "b": view.model(record.a).name}
    ahead, behind = (_spans(record, side) for side in (1, -1))
    if ahead and behind:
        return say("murphy.both", **names, ahead=ahead, behind=behind)
    if not ahead and not behind:
        return say("murphy.open", **names)
    return say("murphy.ahead" if ahead else "murphy.behind", **names, where=ahead or behind)


def _spans(record: MurphyDifferenceRecord, side: int) -> str:
    """Return the thresholds at which the reference is shown to be ahead (1), or behind (-1), in percent."""
    limits = zip(record.threshold, record.low if side > 0 else record.high, strict=True)
    shown = groupby(limits, key=lambda pair: pair[1] is not None and side * pair[1] > 0)
    runs = [[at for at, _ in run] for there, run in shown if there]
    return ", ".join(
        say("murphy.span", first=f"{100 * run[0]:.3g}", last=f"{100 * run[-1]:.3g}")
        if len(run) > 1
        else say("murphy.single", at=f"{100 * run[0]:.3g}")
        for run in runs
    )


def _table(view: View, name: str, records: Sequence[MurphyDifferenceRecord]) -> Table:
    rows = []
    for record in records:
        place = max(range(len(record.threshold)), key=lambda k: abs(record.difference[k]))
        cell = plain_cell(record.difference[place], record.low[place], record.high[place], 4)
        where = say("murphy.at", at=record.threshold[place])
        ahead, behind = (_spans(record, side) or numbers.MISSING for side in (1, -1))
        cells = (ahead, behind, Cell(cell.value, f"{cell.beside} {where}".strip(), strong=False))
        rows.append(Row(view.model(record.a), cells))
    heads = (
        Column(say("murphy.head_ahead", a=name), "text"), Column(say("murphy.head_behind"), "text"),
        say("murphy.greatest", a=name),
    )  # fmt: skip
    return Table(say("murphy.table", a=name), heads, tuple(rows), look="lined")
