"""Groups of a column: how often each is selected, its ratio to the largest group, recall, and gaps beside chance."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from evalreport import numbers
from evalreport.questions.slices.records import (
    IN_HEADINGS,
    GroupRatioRecord,
    GroupSpreadRecord,
    stand_in_order,
)
from evalreport.report.naming import listed
from evalreport.report.table import Cell, Column, Row, Scale, Stroke, Table, plain_cell, scale_of, stroke
from evalreport.report.view import Model, View
from evalreport.schema.lookups import with_limits
from evalreport.schema.metrics import MetricRecord
from evalreport.texts import say
from evalreport.texts.visible import shorten, visible

RATE, RECALL = IN_HEADINGS
RATIOS = (0.05, 0.1, 0.2, 0.4, 0.6, 0.8, 1.0, 1.25, 1.5, 2.0, 3.0, 5.0, 10.0, 20.0)
SHARES = tuple(i / 20 for i in range(21))
FINE = tuple(i / 100 for i in range(101))
MOST_ROWS, LONGEST = 30, 24
BAND = (0.8, 1.25)
"""The four-fifths rule, drawn where a gate asks for it."""

NAMED = r"(?<![\w-]){}(?![\w-]|\[at_)"
"""A metric in an option or a gate: over all examples or in a slice, not at a threshold of its own."""

Key = tuple[str, str]
"""A column and one of its values."""


@dataclass(frozen=True, slots=True)
class Groups:
    """The groups of all columns by the decisions of one model.

    ``asked``: of selection rate and recall those that the tables of slices show, since an option or a gate names
    them or a heading may speak of them.
    """

    model: Model
    rates: Mapping[Key, MetricRecord]
    recalls: Mapping[Key, MetricRecord]
    ratios: Mapping[Key, GroupRatioRecord]
    spread: tuple[GroupSpreadRecord, ...]
    overall: Mapping[str, MetricRecord]
    asked: frozenset[str]

    def is_reference(self, key: Key) -> bool:
        """Return whether it is the largest group of its column, to which the others are compared."""
        return any((r.column, r.reference) == key for r in self.ratios.values())

    def stands_out(self, key: Key) -> bool:
        """Return whether the interval of its ratio, or of one to it, leaves 1 out, each by itself."""
        return any(
            _leaves_one_out(r) for r in self.ratios.values() if key in ((r.column, r.value), (r.column, r.reference))
        )  # fmt: skip


def groups_of(view: View) -> Groups | None:
    """Return the groups of the first model that decides between two classes; none where no column was sliced by."""
    for model in view.models:
        of_model = [r for r in view.results.group_ratios if r.model == model.id and r.metric in IN_HEADINGS]
        if of_model:
            ratios = [r for r in of_model if r.metric == RATE]
            rates, recalls = (_sliced(view, model, metric) for metric in (RATE, RECALL))
            spread = tuple(r for r in view.results.group_spread if r.model == model.id and r.sd is not None)
            overall = {
                r.metric: r
                for r in view.results.metrics
                if r.slice is None and r.model == model.id and r.label is None
            }
            by_group = {(r.column, r.value): r for r in ratios}
            return Groups(model, rates, recalls, by_group, spread, overall, _asked(view, ratios))
    return None


def _asked(view: View, ratios: Sequence[GroupRatioRecord]) -> frozenset[str]:
    chosen = {
        *map(str, view.results.options.get("metrics") or ()),
        *(gate.gate for gate in view.results.gates),
    }
    named = {
        metric for metric in (RATE, RECALL) if any(re.search(NAMED.format(metric), text) for text in chosen)
    }
    named |= {RATE, RECALL} if any(r.differs for r in ratios) else set()
    return frozenset(named - {view.primary.metric, *({RATE} if not ratios else ())})


def _sliced(view: View, model: Model, metric: str) -> dict[Key, MetricRecord]:
    return {
        (r.slice.column, r.slice.value): r
        for r in view.results.metrics
        if r.slice is not None and r.model == model.id and r.metric == metric and r.label is None
    }


def _leaves_one_out(record: GroupRatioRecord) -> bool:
    return (record.low is not None and record.low > 1) or (record.high is not None and record.high < 1)


# --- findings ---------------------------------------------------------------------------------------------------------


def ratio_finding(groups: Groups, columns: Iterable[str]) -> str:
    """Say the largest ratio of these columns that is shown, with its reference and recall; empty where none is.

    Of periods and bins it speaks only where there is no other column.
    """
    among = list(columns)
    values = {c: [value for column, value in groups.rates if column == c] for c in among}
    unordered = [c for c in among if not stand_in_order(values[c])]
    differing = [
        r for r in groups.ratios.values() if r.differs and r.ratio and r.column in (unordered or among)
    ]
    if not differing:
        return ""
    first = max(differing, key=lambda r: abs(math.log(r.ratio or 1.0)))
    said = {
        "model": groups.model.name, "column": shorten(visible(first.column), LONGEST),
        "value": shorten(visible(first.value), LONGEST), "reference": shorten(visible(first.reference), LONGEST),
        "ratio": first.ratio, "n": first.comparisons, "low": first.simultaneous_low, "high": first.simultaneous_high,
    }  # fmt: skip
    here, there = (groups.recalls.get((first.column, value)) for value in (first.value, first.reference))
    if here is None or there is None or here.value is None or there.value is None:
        return say("segments.differs", **said)
    return say("segments.differs_recall", **said, recall=here.value, other=there.value)


def gap_finding(groups: Groups, columns: Iterable[str]) -> str:
    """Say of the first of these columns with gaps larger than chance gives in which metrics; empty where none has."""
    for column in columns:
        beyond = [r for r in groups.spread if r.column == column and r.beyond]
        if beyond:
            metrics = listed([
                say("segments.gap", metric=say(f"segments.{r.metric}"), gap=r.largest_gap, chance=r.gap_by_noise_all)
                for r in beyond
            ])  # fmt: skip
            name = shorten(visible(column), LONGEST)
            return say("segments.gaps", model=groups.model.name, column=name, metrics=metrics)
    return ""


def no_gap(groups: Groups, column: str) -> str:
    """Say that no gap between a column's groups is shown to be larger than chance gives; empty where one is."""
    of_column = [r for r in groups.spread if r.column == column]
    if not of_column or any(r.beyond for r in of_column):
        return ""
    return say("segments.no_gap", model=groups.model.name)


# --- columns of the table of slices -----------------------------------------------------------------------------------


def columns_of(groups: Groups, *, several: bool) -> tuple[Column, ...]:
    """Return the columns that a table of slices has beside its values, with the model's name beside other models."""
    heads = {
        RATE: ("segments.selected", "segments.selected_by"),
        RECALL: ("segments.recall_head", "segments.recall_of"),
    }
    return tuple(
        Column(say(head[several], model=groups.model.name))
        for metric, head in heads.items()
        if metric in groups.asked
    )


def cells_of(groups: Groups, key: Key) -> tuple[Cell, ...]:
    """Return the cells of one group in these columns: the share selected with its ratio, and recall with its counts."""
    cells = {RATE: _share_cell(groups, key), RECALL: _recall_cell(groups.recalls.get(key))}
    return tuple(cell for metric, cell in cells.items() if metric in groups.asked)


def note_of(groups: Groups) -> str:
    """Explain these columns; nothing where there are none."""
    return say("segments.ratio_note") if RATE in groups.asked else ""


def _share_cell(groups: Groups, key: Key) -> Cell:
    value, ratio = with_limits(groups.rates.get(key))[0], groups.ratios.get(key)
    share = numbers.MISSING if value is None else numbers.rate(value)
    if ratio is None:
        return Cell(share, say("segments.reference") if groups.is_reference(key) else "", strong=False)
    return Cell(share, f"× {_ratio_cell(ratio).text}", strong=_leaves_one_out(ratio))


def _recall_cell(record: MetricRecord | None) -> Cell:
    value = with_limits(record)[0]
    text = numbers.number(value, 2)
    if record is None or value is None or record.trials is None:
        return Cell(text, strong=False)
    counts = say("segments.of", found=round(value * record.trials), n=round(record.trials))
    return Cell(text, counts, strong=False)


def _ratio_cell(record: GroupRatioRecord) -> Cell:
    return plain_cell(record.ratio, record.low, record.high, 2, strong=_leaves_one_out(record))


# --- tables -----------------------------------------------------------------------------------------------------------


def tables_of(view: View, groups: Groups, column: str, names: Mapping[str, str]) -> tuple[Table, ...]:
    """Return a column's groups in the order of ``names``, and its largest gaps beside those by chance."""
    keys = [(column, value) for value in names if (column, value) in groups.rates]
    if not keys:
        return ()
    spread = [r for r in groups.spread if r.column == column]
    return (_groups(view, groups, keys[:MOST_ROWS], names), *((_spread(spread),) if spread else ()))


def _groups(view: View, groups: Groups, keys: Sequence[Key], names: Mapping[str, str]) -> Table:
    gated = any(
        "selection_rate" in gate.gate and ("/" in gate.gate or "*" in gate.gate)
        for gate in view.results.gates
    )
    selected = _share_scale([groups.rates[k] for k in keys], groups.overall.get(RATE))
    recalls = _share_scale(
        [groups.recalls[k] for k in keys if k in groups.recalls], groups.overall.get(RECALL)
    )
    compared = [groups.ratios[k] for k in keys if k in groups.ratios]
    ends = [v for r in compared for v in (r.ratio, r.low, r.high) if v]
    ratios = scale_of(
        [*ends, *(BAND if gated else ())], RATIOS, texts=lambda t: f"{t:g}", transform="log", reference=1.0,
        left=say("segments.less_often"), right=say("segments.more_often"), band=BAND if gated else None,
    )  # fmt: skip
    rows = tuple(Row(None, _cells(groups, key, (selected, ratios, recalls)), names[key[1]]) for key in keys)
    heads = (
        say("calibration.n"), say("segments.selected"), Column("", scale=selected), say("segments.ratio"),
        Column("", scale=ratios), say("segments.recall_head"), Column("", scale=recalls),
    )  # fmt: skip
    notes = (
        say("segments.note", level=numbers.percent(view.confidence)),
        say("segments.shaded") if gated else "",
        say("segments.note_end"),
    )
    title = say("segments.table", model=groups.model.name, column=shorten(visible(keys[0][0]), LONGEST))
    return Table(title, heads, rows, " ".join(filter(None, notes)), look="lined", first=say("segments.group"))


def _share_scale(records: Sequence[MetricRecord], overall: MetricRecord | None) -> Scale:
    ends = [v for r in records for v in with_limits(r)]
    numbers_of_ends = [v for v in ends if v is not None]
    narrow = bool(numbers_of_ends) and max(numbers_of_ends) - min(numbers_of_ends) < 0.2
    dotted = None if overall is None else overall.value
    return scale_of(ends, FINE if narrow else SHARES, texts=lambda t: f"{t:g}", dotted=dotted)


def _cells(groups: Groups, key: Key, scales: tuple[Scale, Scale, Scale]) -> tuple[Cell | Stroke | str, ...]:
    selected, scale, recalls = scales
    rate, recall, ratio, model = (
        groups.rates[key],
        groups.recalls.get(key),
        groups.ratios.get(key),
        groups.model,
    )
    full = groups.stands_out(key)
    value, low, high = with_limits(rate)
    share = numbers.MISSING if value is None else numbers.rate(value)
    if ratio is not None:
        compared = _ratio_cell(ratio)
        place, limits, filled = ratio.ratio or None, (ratio.low or None, ratio.high), _leaves_one_out(ratio)
    else:
        is_reference = groups.is_reference(key)
        compared = Cell(say("segments.reference") if is_reference else numbers.MISSING, strong=False)
        place, limits, filled = 1.0 if is_reference else None, (None, None), full
    share_found, least, most = with_limits(recall)
    counted = _recall_cell(recall)
    return (
        numbers.count(rate.n), share,
        stroke(selected, value, low, high, full=full, title=share, mark=model, grey=not full), compared,
        stroke(scale, place, *limits, full=filled, title=compared.text, mark=model, grey=not full), counted,
        stroke(recalls, share_found, least, most, full=full, title=counted.text, mark=model, grey=not full),
    )  # fmt: skip


def _spread(records: Sequence[GroupSpreadRecord]) -> Table:
    top = max(max(r.largest_gap or 0.0, r.gap_by_noise_all or 0.0) for r in records)
    scale = scale_of([0.0, top], FINE if top < 0.2 else SHARES, texts=lambda t: f"{t:g}")
    heads = (
        say("segments.largest_gap"), say("segments.by_noise"), Column("", scale=scale), say("segments.sd"),
    )  # fmt: skip
    few = sum(r.small_groups or 0 for r in records if r.metric == RATE)
    note = " ".join(filter(None, (say("segments.spread_note"), say("segments.small", n=few) if few else "")))
    title = say("segments.spread", column=shorten(visible(records[0].column), LONGEST))
    rows = tuple(_spread_row(record, scale) for record in records)
    return Table(title, heads, rows, note, look="lined", first=say("segments.metric"))


def _spread_row(record: GroupSpreadRecord, scale: Scale) -> Row:
    gap, beyond = numbers.number(record.largest_gap, 3), record.beyond
    cells = (
        Cell(gap, strong=beyond),
        say("segments.noise", mean=record.gap_by_noise, most=record.gap_by_noise_95),
        stroke(scale, record.largest_gap, box=record.gap_by_noise_all, full=beyond, title=gap),
        plain_cell(record.sd, record.sd_low, record.sd_high, 3),
    )
    return Row(None, cells, say(f"segments.{record.metric}"))
