"""Segments: how often each group is selected, its ratio to the largest group, recall, and the spread beside noise."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from evalreport import numbers
from evalreport.questions.slices.records import (
    IN_HEADINGS,
    LEAST_TRIALS,
    GroupRatioRecord,
    GroupSpreadRecord,
    stand_in_order,
)
from evalreport.report.table import Cell, Column, Row, Scale, Table, plain_cell, scale_of, stroke
from evalreport.report.view import Model, View
from evalreport.schema.lookups import with_limits
from evalreport.schema.metrics import MetricRecord
from evalreport.texts import Message, listed, say
from evalreport.texts.labels import sentence_start
from evalreport.texts.visible import shorten, visible

RATE, RECALL = IN_HEADINGS
RATIOS = (0.05, 0.1, 0.2, 0.4, 0.6, 0.8, 1.0, 1.25, 1.5, 2.0, 3.0, 5.0, 10.0, 20.0)
SHARES = tuple(i / 20 for i in range(21))
FINE = tuple(i / 100 for i in range(101))
MOST_ROWS, LONGEST = 30, 24
BAND = (0.8, 1.25)
"""The four-fifths rule, drawn where a gate asks for it."""


@dataclass(frozen=True, slots=True)
class Segments:
    """The groups of every column for the model that ranks first, and how far they differ beside noise."""

    heading: str
    about: str
    groups: Table
    periods: tuple[Table, ...]
    spread: Table | None


def describe(view: View) -> Segments | None:
    """Lay out the groups; nothing where no column was sliced by, or the model gives no labels of two classes."""
    for model in view.models:
        own = [r for r in view.results.group_ratios if r.model == model.id and r.metric == RATE]
        if own:
            return _of_model(view, model, own)
    return None


def _of_model(view: View, model: Model, ratios: Sequence[GroupRatioRecord]) -> Segments:
    rates, recalls = (_sliced(view, model, metric) for metric in (RATE, RECALL))
    columns = list(dict.fromkeys(column for column, _ in rates))
    ordered = [c for c in columns if stand_in_order([v for column, v in rates if column == c])]
    grouped = [c for c in columns if c not in ordered]
    shown = [r for r in ratios if r.column in grouped or not grouped]
    return Segments(
        heading=_heading(shown, recalls),
        about=say("segments.about", n=view.results.n, model=model.name),
        groups=_groups(view, model, grouped or ordered, rates, recalls, ratios),
        periods=tuple(_periods(view, model, c, rates, recalls) for c in ordered) if grouped else (),
        spread=_spread(view, model),
    )


def _sliced(view: View, model: Model, metric: str) -> dict[tuple[str, str], MetricRecord]:
    return {
        (r.slice.column, r.slice.value): r
        for r in view.results.metrics
        if r.slice is not None and r.model == model.id and r.metric == metric and r.label is None
    }


def _differs(record: GroupRatioRecord) -> bool:
    return (record.low is not None and record.low > 1) or (record.high is not None and record.high < 1)


def _heading(
    ratios: Sequence[GroupRatioRecord],
    recalls: dict[tuple[str, str], MetricRecord],
) -> str:
    """Say the largest ratio that is shown, with its reference and recall; or the largest, and that none is shown."""
    known = [
        r for r in ratios
        if r.ratio is not None and r.ratio > 0 and r.simultaneous_low is not None and r.simultaneous_high is not None
    ]  # fmt: skip
    if not known:
        return say("segments.plain")
    differing = [r for r in known if r.differs]
    first = max(differing or known, key=lambda r: abs(math.log(r.ratio or 1.0)))
    said = {
        "column": shorten(visible(first.column), LONGEST), "value": shorten(visible(first.value), LONGEST),
        "reference": shorten(visible(first.reference), LONGEST), "ratio": first.ratio, "n": first.comparisons,
        "low": first.simultaneous_low, "high": first.simultaneous_high,
    }  # fmt: skip
    if not differing:
        return say("segments.none_differs", **said)
    own, other = (recalls.get((first.column, value)) for value in (first.value, first.reference))
    if own is None or other is None or own.value is None or other.value is None:
        return say("segments.differs", **said)
    return say("segments.differs_recall", **said, recall=own.value, other=other.value)


def _groups(
    view: View,
    model: Model,
    columns: Sequence[str],
    rates: dict[tuple[str, str], MetricRecord],
    recalls: dict[tuple[str, str], MetricRecord],
    ratios: Sequence[GroupRatioRecord],
) -> Table:
    by_group = {(r.column, r.value): r for r in ratios}
    references = {(r.column, r.reference) for r in ratios}
    keys = [key for c in columns for key in _by_size(rates, c)][:MOST_ROWS]
    overall = {
        r.metric: r
        for r in view.results.metrics
        if r.slice is None and r.model == model.id and r.label is None
    }
    gated = any(
        "selection_rate" in gate.gate and ("/" in gate.gate or "*" in gate.gate)
        for gate in view.results.gates
    )
    selected = _share_scale([rates[k] for k in keys], overall.get(RATE))
    found = _share_scale([recalls[k] for k in keys if k in recalls], overall.get(RECALL))
    ends = [
        v for k in keys if k in by_group for v in (by_group[k].ratio, by_group[k].low, by_group[k].high) if v
    ]
    scale = scale_of(
        [*ends, *(BAND if gated else ())], RATIOS, texts=lambda t: f"{t:g}", transform="log", reference=1.0,
        left=say("segments.less_often"), right=say("segments.more_often"), band=BAND if gated else None,
    )  # fmt: skip
    rows = [_row(model, key, rates, recalls, by_group, references, (selected, scale, found)) for key in keys]
    heads = (
        say("calibration.n"), say("segments.selected"), Column("", scale=selected), say("segments.ratio"),
        Column("", scale=scale), say("segments.recall_head"), Column("", scale=found),
    )  # fmt: skip
    notes = (
        say("segments.note", level=numbers.percent(view.confidence)),
        say("segments.shaded") if gated else "",
        say("segments.note_end"),
    )
    note = " ".join(filter(None, notes))
    return Table(say("segments.table"), heads, tuple(rows), note, look="lined", first=say("segments.group"))


def _by_size(rates: dict[tuple[str, str], MetricRecord], column: str) -> list[tuple[str, str]]:
    keys = [key for key in rates if key[0] == column]
    return sorted(keys, key=lambda key: -rates[key].n)


def _share_scale(records: Sequence[MetricRecord], overall: MetricRecord | None) -> Scale:
    values = [v for r in records for v in with_limits(r)]
    known = [v for v in values if v is not None]
    candidates = FINE if known and max(known) - min(known) < 0.2 else SHARES
    return scale_of(
        values, candidates, texts=lambda t: f"{t:g}", dotted=None if overall is None else overall.value
    )


def _row(
    model: Model,
    key: tuple[str, str],
    rates: dict[tuple[str, str], MetricRecord],
    recalls: dict[tuple[str, str], MetricRecord],
    by_group: dict[tuple[str, str], GroupRatioRecord],
    references: set[tuple[str, str]],
    scales: tuple[Scale, Scale, Scale],
) -> Row:
    selected, scale, recall_scale = scales
    rate, recall, ratio = rates[key], recalls.get(key), by_group.get(key)
    full = (ratio is not None and _differs(ratio)) or any(
        _differs(r) for r in by_group.values() if (r.column, r.reference) == key
    )
    value, low, high = with_limits(rate)
    share = numbers.MISSING if value is None else numbers.rate(value)
    if ratio is not None:
        said = plain_cell(ratio.ratio, ratio.low, ratio.high, 2, strong=_differs(ratio))
        place, limits, filled = ratio.ratio or None, (ratio.low or None, ratio.high), _differs(ratio)
    else:
        said = Cell(say("segments.reference") if key in references else numbers.MISSING, strong=False)
        place, limits, filled = 1.0 if key in references else None, (None, None), full
    of_recall, recall_low, recall_high = with_limits(recall)
    recalled = numbers.number(of_recall, 2)
    counted = recalled
    if recall is not None and recall.trials is not None and of_recall is not None:
        counted = say("segments.of", hits=round(of_recall * recall.trials), n=round(recall.trials))
    cells = (
        numbers.count(rate.n),
        share,
        stroke(selected, value, low, high, full=full, title=share, mark=model, grey=not full),
        said,
        stroke(scale, place, *limits, full=filled, title=said.text, mark=model, grey=not full),
        counted,
        stroke(
            recall_scale,
            of_recall,
            recall_low,
            recall_high,
            full=full,
            title=recalled,
            mark=model,
            grey=not full,
        ),
    )
    return Row(None, cells, f"{shorten(visible(key[0]), LONGEST)}: {shorten(visible(key[1]), LONGEST)}")


def _periods(
    view: View,
    model: Model,
    column: str,
    rates: dict[tuple[str, str], MetricRecord],
    recalls: dict[tuple[str, str], MetricRecord],
) -> Table:
    """Return the periods, or ordered bins, of a column in their order; one of fewer than ten examples has no mark."""
    keys = [key for key in rates if key[0] == column]
    overall = {
        r.metric: r
        for r in view.results.metrics
        if r.slice is None and r.model == model.id and r.label is None
    }
    selected = _share_scale([rates[k] for k in keys], overall.get(RATE))
    scale = _share_scale([recalls[k] for k in keys if k in recalls], overall.get(RECALL))
    rows = []
    for key in keys[-MOST_ROWS:]:
        value, low, high = with_limits(rates[key])
        recall, recall_low, recall_high = with_limits(recalls.get(key))
        if rates[key].n < LEAST_TRIALS:
            value = low = high = recall = recall_low = recall_high = None
        share, recalled = numbers.MISSING if value is None else numbers.rate(value), numbers.number(recall, 2)
        cells = (
            numbers.count(rates[key].n), share, stroke(selected, value, low, high, title=share, mark=model), recalled,
            stroke(scale, recall, recall_low, recall_high, title=recalled, mark=model),
        )  # fmt: skip
        rows.append(Row(None, cells, shorten(visible(key[1]), LONGEST)))
    ends = [recalls[k].value for k in (keys[0], keys[-1]) if k in recalls]
    title = say("segments.periods", column=shorten(visible(column), LONGEST))
    if len(ends) == 2 and None not in ends:
        title = say("segments.periods_recall", column=shorten(visible(column), LONGEST), first=keys[0][1],
                    last=keys[-1][1], start=ends[0], end=ends[1])  # fmt: skip
    heads = (
        say("calibration.n"), say("segments.selected"), Column("", scale=selected), say("segments.recall_head"),
        Column("", scale=scale),
    )  # fmt: skip
    return Table(title, heads, tuple(rows), say("segments.periods_note"), look="lined", first=visible(column))


def _spread(view: View, model: Model) -> Table | None:
    spreads = [r for r in view.results.group_spread if r.model == model.id and r.sd is not None]
    if not spreads:
        return None
    top = max(max(r.largest_gap or 0.0, r.gap_by_noise_all or 0.0) for r in spreads)
    scale = scale_of([0.0, top], FINE if top < 0.2 else SHARES, texts=lambda t: f"{t:g}")
    rows = [_spread_row(r, scale) for r in spreads]
    seen = [r for r in spreads if r.beyond]
    title = "; ".join(map(str, _beyond_chance(seen))) or say("segments.spread_none")
    heads = (
        say("segments.largest_gap"), say("segments.by_noise"), Column("", scale=scale), say("segments.sd"),
    )  # fmt: skip
    few = sum(r.small_groups or 0 for r in spreads if r.metric == RATE)
    note = " ".join(filter(None, (say("segments.spread_note"), say("segments.small", n=few) if few else "")))
    return Table(title, heads, tuple(rows), note, look="lined", first=say("segments.column_metric"))


def _beyond_chance(seen: Sequence[GroupSpreadRecord]) -> list[Message]:
    """Say column by column which shares differ more than by chance."""
    columns: dict[str, list[str]] = {}
    for record in seen:
        columns.setdefault(record.column, []).append(say(f"segments.{record.metric}"))
    return [
        Message(
            "segments.spread_seen", n=len(metrics), metrics=sentence_start(listed(metrics)), column=visible(column)
        )
        for column, metrics in columns.items()
    ]  # fmt: skip


def _spread_row(record: GroupSpreadRecord, scale: Scale) -> Row:
    gap, beyond = numbers.number(record.largest_gap, 3), record.beyond
    cells = (
        Cell(gap, strong=beyond),
        say("segments.noise", mean=record.gap_by_noise, most=record.gap_by_noise_95),
        stroke(scale, record.largest_gap, box=record.gap_by_noise_all, full=beyond, title=gap),
        plain_cell(record.sd, record.sd_low, record.sd_high, 3),
    )
    return Row(None, cells, f"{shorten(visible(record.column), LONGEST)}, {say(f'segments.{record.metric}')}")
