"""Pairs of models in ranked order, and all models at once."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from functools import partial, reduce

from evalreport import numbers
from evalreport.plots.pairs import critical_differences
from evalreport.records import OmnibusRecord
from evalreport.report.figures import Figure
from evalreport.report.naming import (
    MetricKey,
    family_words,
    label_of,
    level_of_pairs,
    listed,
    metric_label,
    test_in_words,
)
from evalreport.report.view import (
    Model,
    Row,
    Table,
    View,
    comparison_between,
    difference_decimals,
    interval_of,
    text_of,
    verdict_between,
)
from evalreport.texts import in_words, named, say

MOST_OPEN, MOST_DRAWN = 8, 24
"""Pairs of more models are a list, folded away; average ranks of more are not drawn."""


@dataclass(frozen=True, slots=True)
class PairCell:
    """One pair: the row's model better by so much than the column's, with interval, verdict and adjusted p."""

    kind: str
    difference: str
    interval: str
    word: str
    p: str
    column: str


@dataclass(frozen=True, slots=True)
class PairRow:
    """One model beside those that rank below it; the cells before are empty."""

    model: Model
    cells: tuple[PairCell | None, ...]


@dataclass(frozen=True, slots=True)
class Pairs:
    """What the section shows: a table of models by models, or of very many pairs a list."""

    heading: str
    columns: tuple[Model, ...]
    rows: tuple[PairRow, ...]
    listed: Table | None
    notes: tuple[str, ...]


def describe(view: View) -> Pairs | None:
    """Lay out all pairs, or those with the baseline; nothing where there is one model or no comparison."""
    if len(view.models) < 2 or not view.results.verdicts:
        return None
    rows, columns = view.models[:-1], view.models[1:]
    if view.results.baseline is not None:
        columns = (view.model(view.results.baseline),)
        rows = tuple(m for m in view.models if m is not columns[0])
    place = {m.id: i for i, m in enumerate(view.models)}

    def cell(row: Model, column: Model) -> PairCell | None:
        """Give a pair once: where the row's model ranks first, or is compared with the baseline."""
        wanted = view.results.baseline is not None or place[row.id] < place[column.id]
        return _cell(view, row, column) if wanted else None

    made = tuple(PairRow(row, tuple(cell(row, column) for column in columns)) for row in rows)
    many = len(made) * len(columns) > MOST_OPEN**2
    heads = tuple(say(f"evidence.{name}") for name in ("compared", "difference", "interval", "verdict_p"))
    pairs = tuple(
        Row(
            row.model,
            (column.short, c.difference, c.interval, f"{c.word}, {c.p}"),
            key=f"{row.model.key} {c.column}",
        )
        for row in made
        for column, c in zip(columns, row.cells, strict=True)
        if c is not None
    )
    return Pairs(
        say("evidence.headed", section=named("nav", "pairs"), finding=_finding(view)),
        columns,
        made,
        Table(say("pairs.box"), heads, pairs, kinds=("text", "", "", "text"), sortable=True)
        if many
        else None,
        _notes(view),
    )


def _cell(view: View, row: Model, column: Model) -> PairCell | None:
    verdict = verdict_between(view, row.id, column.id)
    record = comparison_between(view, view.primary, row.id, column.id)
    if verdict is None or record is None:
        return None
    decimals = difference_decimals(view, view.primary)
    difference, interval = record.difference, interval_of(view, record, decimals)
    if (
        not view.greater_is_better
    ):  # better minus worse: the loss of the column's model less that of the row's
        record = comparison_between(view, view.primary, column.id, row.id)
        assert record is not None
        difference, interval = record.difference, interval_of(view, record, decimals)
    p = numbers.p_phrase(_p_value(view, row.id, column.id, verdict.verdict))
    shown = numbers.number(difference, decimals, signed=True)
    word = named("evidence.verdict", verdict.verdict)
    return PairCell(verdict.verdict, shown, interval, word, p, column.key)


def _p_value(view: View, a: str, b: str, verdict: str) -> float | None:
    """Give the adjusted p-value of what was decided: where that is equivalence, of the other test of the family."""
    own = [
        r
        for r in view.results.comparisons
        if {r.a, r.b} == {a, b} and r.slice is None and r.metric == view.primary.metric
    ]
    beside = [r for r in own if not r.recommended and r.p_adjusted is not None]
    if verdict == "equivalent" and beside:
        return beside[0].p_adjusted
    leading = next((r for r in own if r.recommended), None)
    return (
        None if leading is None else (leading.p_value if leading.p_adjusted is None else leading.p_adjusted)
    )


def _finding(view: View) -> str:
    """Say how many of the pairs are decided, equivalent and undecided."""
    kinds = {"better": "decided", "worse": "decided"}
    found = Counter(kinds.get(v.verdict, v.verdict) for v in view.results.verdicts)
    total, order = sum(found.values()), ("decided", "equivalent", "non-inferior", "undecided")
    told = [(kind, found[kind]) for kind in order if found[kind]]
    if len(told) == 1:
        return say(f"finding.pairs_all.{told[0][0]}", n=total, number=in_words(total))
    parts = [say(f"finding.pairs_some.{kind}", n=n, number=in_words(n)) for kind, n in told]
    return say("finding.pairs", number=in_words(total), parts=listed(parts))


def _notes(view: View) -> tuple[str, ...]:
    tests = {
        r.test for r in view.results.comparisons
        if r.recommended and r.metric == view.primary.metric and r.slice is None
    }  # fmt: skip
    correction = str(view.results.options.get("correction", "none"))
    family = family_words(correction, len(view.results.verdicts), f"{1 - view.confidence:.4g}")
    labels = sorted(map(test_in_words, tests)) or [""]
    test = reduce(lambda first, last: say("list.and", names=first, last=last), labels)
    notes = [
        say(
            "evidence.pairs",
            metric=view.primary_label,
            test=test,
            family=family,
            level=level_of_pairs(view.results),
        )
    ]
    margin = view.results.options.get("margin")
    if margin is not None:
        notes.append(say("evidence.pairs_margin", margin=f"{margin:g}"))
    notes += [
        say("evidence.all_models", number=in_words(len(o.models)), test=test_in_words(o.test),
            p=numbers.p_phrase(o.p_value))
        for o in view.results.omnibus
        if o.metric == view.primary.metric and o.p_value is not None
    ]  # fmt: skip
    return tuple(notes)


@dataclass(frozen=True, slots=True)
class Omnibus:
    """What the section shows."""

    figure: Figure | None
    table: Table | None


def describe_omnibus(view: View) -> Omnibus | None:
    """Lay out the diagram of average ranks with its tests, and tests that the line below the pairs does not name."""
    records = view.results.omnibus
    figure = _omnibus_figure(view)
    told = all(r.metric == view.primary.metric and r.p_value is not None and not r.caution for r in records)
    if figure is None and told:
        return None
    remarks = any(record.reason or record.caution for record in records)
    rows = tuple(_row(view, record, remarks) for record in records)
    names = (
        "table.metric",
        "omnibus.over",
        "table.statistic",
        "table.p",
        *(("table.remark",) if remarks else ()),
    )
    table = Table(say("omnibus.box"), tuple(map(say, names)), rows, say("omnibus.note"), first=say("table.test"),
                  kinds=("text", "text", "", "", "remark"))  # fmt: skip
    return Omnibus(figure, table if rows else None)


def _row(view: View, record: OmnibusRecord, remarks: bool) -> Row:
    degrees = [numbers.statistic(df) for df in (record.df, record.df2) if df is not None]
    text = numbers.statistic(record.statistic) + (f" (df {', '.join(degrees)})" if degrees else "")
    many = "" if record.blocks is None else f"{numbers.count(record.blocks)} "
    remark = (text_of(view, record.reason or record.caution or ""),) if remarks else ()
    cells = (metric_label(MetricKey(record.metric)), many + named("omnibus.block", record.by), text,
             numbers.p_value(record.p_value), *remark)  # fmt: skip
    return Row(None, cells, label_of("test", record.test))


def _omnibus_figure(view: View) -> Figure | None:
    """Draw the ranks on the primary metric; the bars are the groups of the ranking, so they cannot differ."""
    records = [r for r in view.results.average_ranks if r.metric == view.results.primary_metric]
    if not 2 <= len(records) <= MOST_DRAWN:
        return None
    names = {m.id: m.short for m in view.models}
    where = f"{numbers.count(records[0].blocks)} {named('omnibus.block', records[0].by)}"
    described = "; ".join(
        f"{names[r.model]} {r.average_rank:.2f}" for r in sorted(records, key=lambda r: r.average_rank)
    )
    return Figure(
        name="ranks",
        title=say("omnibus.title", blocks=where),
        description=say("omnibus.description", metric=view.primary_words, ranks=described),
        caption=say("omnibus.caption", metric=view.primary_words, blocks=where)
        + f" {say('omnibus.critical_difference')}",
        draw=(partial(critical_differences, view.results, names=names),),
        width=6.6,
        height=1.3 + 0.2 * len(records),
    )
