"""Pairs of models in ranked order: verdicts, sizes of the differences, agreement; and all models at once."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import partial, reduce
from itertools import groupby
from statistics import fmean, stdev

from evalreport import numbers
from evalreport.plots.pairs import critical_differences, strip, strips, values_of_fits
from evalreport.plots.pictures import Figure
from evalreport.report.naming import (
    MetricKey,
    entry,
    family_words,
    label_of,
    level_of_pairs,
    listed,
    metric_label,
    test_in_words,
)
from evalreport.report.view import (
    Cell,
    Model,
    Row,
    Table,
    View,
    comparison_between,
    difference_decimals,
    interval_of,
    limits_at_zero,
    metric_decimals,
    pair_row,
    text_of,
    verdict_between,
)
from evalreport.schema.comparisons import EffectRecord, OmnibusRecord
from evalreport.texts import group_of, has, in_words, named, say

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
        """Return a pair once: where the row's model ranks first, or is compared with the baseline."""
        wanted = view.results.baseline is not None or place[row.id] < place[column.id]
        return _cell(view, row, column) if wanted else None

    made = tuple(PairRow(row, tuple(cell(row, column) for column in columns)) for row in rows)
    many = len(made) * len(columns) > MOST_OPEN**2
    heads = tuple(say(f"evidence.{name}") for name in ("compared", "difference", "interval", "verdict_p"))
    pairs = tuple(
        Row(
            row.model,
            (column.name, c.difference, c.interval, f"{c.word}, {c.p}"),
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
    # Better minus worse: of a loss, that of the column's model less that of the row's.
    better, worse = (row, column) if view.greater_is_better else (column, row)
    verdict = verdict_between(view, row.id, column.id)
    record = comparison_between(view, view.primary, better.id, worse.id)
    if verdict is None or record is None:
        return None
    decimals = difference_decimals(view, view.primary)
    p = numbers.p_phrase(_p_value(view, row.id, column.id, verdict.verdict))
    shown = numbers.number(record.difference, decimals, signed=True)
    word = named("evidence.verdict", verdict.verdict)
    return PairCell(verdict.verdict, shown, interval_of(view, record, decimals), word, p, column.key)


def _p_value(view: View, a: str, b: str, verdict: str) -> float | None:
    """Return the adjusted p-value of the decision; of equivalence, that of the other test of the family."""
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
    counts = [(kind, found[kind]) for kind in order if found[kind]]
    if len(counts) == 1:
        return say(f"finding.pairs_all.{counts[0][0]}", n=total, number=in_words(total))
    parts = [say(f"finding.pairs_some.{kind}", n=n, number=in_words(n)) for kind, n in counts]
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
    if at_zero := limits_at_zero(view.results.verdicts):
        notes.append(at_zero)
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
    all_named_above = all(
        r.metric == view.primary.metric and r.p_value is not None and not r.caution for r in records
    )
    if figure is None and all_named_above:
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
    where = f"{numbers.count(records[0].blocks)} {named('omnibus.block', records[0].by)}"
    described = "; ".join(
        f"{view.names[r.model]} {r.average_rank:.2f}" for r in sorted(records, key=lambda r: r.average_rank)
    )
    return Figure(
        name="ranks",
        title=say("omnibus.title", blocks=where),
        description=say("omnibus.description", metric=view.primary_words, ranks=described),
        caption=say("omnibus.caption", metric=view.primary_words, blocks=where)
        + f" {say('omnibus.critical_difference')}",
        draw=(partial(critical_differences, view.results, names=view.names),),
        width=6.6,
        height=1.3 + 0.2 * len(records),
    )


SIGNED = frozenset({"cohen_g", "cohen_d", "rank_biserial"})
SHARING = frozenset({"cross-validation", "5x2cv", "repeated-holdout", "bootstrap"})
"""Designs whose fits share training data."""
MOST_PAIRS = 100


@dataclass(frozen=True, slots=True)
class Differences:
    """What the section shows; empty parts are left out."""

    heading: str
    figure: Figure | None
    tables: tuple[Table, ...]
    cut: bool


def describe_differences(view: View) -> Differences | None:
    """Lay out the section; nothing where no pair has a size and no model has several fits."""
    effects, heads, sizes = _sizes(view)
    fit_heads, fits = _fits(view)
    if not (sizes or fits):
        return None
    kind = named("differences.fits", view.results.design, say("differences.fits.other"))
    size, agreed = say("differences.sizes"), say("differences.agreement")
    pair, agreement = say("table.pair"), _agreement(view)
    tables = (
        Table(say("differences.fits_title", kind=kind), fit_heads, fits, look="fits"),
        Table(size, heads, sizes[:MOST_PAIRS], _size_note(effects), look="sizes", first=pair, sortable=True),
        Table(
            agreed, _agreement_heads(view), agreement[:MOST_PAIRS], look="sizes", first=pair, sortable=True
        ),
    )
    return Differences(
        heading=say("heading.differences" if len(view.models) > 1 else "heading.fits"),
        figure=_figure(view, kind),
        tables=tuple(table for table in tables if table.rows),
        cut=max(len(sizes), len(agreement)) > MOST_PAIRS,
    )


# --- sizes ----------------------------------------------------------------------------------------------------------


def _sizes(view: View) -> tuple[list[str], tuple[str, ...], tuple[Row, ...]]:
    """Put the sizes of all pairs into one table; over right and wrong answers, rank-biserial only repeats g."""
    repeated = bool(view.results.agreement)
    shown = [
        r
        for r in view.results.effects
        if not (repeated and r.effect == "rank_biserial" and r.unit == "example")
    ]
    columns = list(dict.fromkeys((r.effect, r.unit) for r in shown))
    rows = []
    places = {m.id: m.index for m in view.models}
    turned = sorted(map(partial(_better_first, places), shown), key=lambda r: (places[r.a], places[r.b]))
    for (a, b), records in groupby(turned, key=lambda r: (r.a, r.b)):
        by_column = {(r.effect, r.unit): r for r in records}
        cells = tuple(_size(view, by_column.get(column)) for column in columns)
        rows.append(pair_row(view.model(a), view.model(b), cells))
    effects = list(dict.fromkeys(effect for effect, _ in columns))
    return effects, tuple(_head(*column) for column in columns), tuple(rows)


def _better_first(places: Mapping[str, int], record: EffectRecord) -> EffectRecord:
    """Turn a size round where the second model ranks before the first: better minus worse."""
    value, low, high = record.value, record.low, record.high
    if places[record.a] < places[record.b] or value is None:
        return record
    if record.effect == "odds_ratio_discordant":
        value, low, high = 1 / value, 1 / high if high else 0.0, 1 / low if low else None
    elif record.effect == "probability_of_superiority":
        value, low, high = 1 - value, _less(1.0, high), _less(1.0, low)
    else:
        value, low, high = 0.0 - value, _less(0.0, high), _less(0.0, low)
    return replace(record, a=record.b, b=record.a, value=value, low=low, high=high)


def _less(whole: float, part: float | None) -> float | None:
    return None if part is None else whole - part


def _size_note(effects: list[str]) -> str:
    """Say what the sizes mean, those that are shown."""
    notes = [text for effect, text in group_of("differences.size_note").items() if effect in effects]
    return " ".join([say("differences.sizes_note"), *notes])


def _head(effect: str, unit: str) -> str:
    label = named("differences.size", effect, effect.replace("_", " "))
    key = f"differences.unit.{unit}"
    return label + (f" ({say(key)})" if has(key) else "")


def _size(view: View, record: EffectRecord | None) -> Cell:
    if record is None or record.value is None:
        return Cell(numbers.MISSING, note="" if record is None else text_of(view, record.text))
    per_cases = record.effect.endswith("_per_1000")
    if per_cases:  # fewer errors of the first model are to its favour, as everything positive is
        record = replace(
            record, value=-record.value, low=_less(0.0, record.high), high=_less(0.0, record.low)
        )
        assert record.value is not None
    signed = per_cases or record.effect in SIGNED
    decimals = 1 if per_cases else 3 if record.effect == "probability_of_superiority" else 2
    beside = numbers.interval(record.low, record.high, decimals, signed=signed)
    if record.effect == "odds_ratio_discordant" and record.high is None and record.low is not None:
        beside = f"[{numbers.number(record.low, decimals)}, ∞]"
    return Cell(numbers.number(record.value, decimals, signed=signed), beside, record.value)


# --- agreement ------------------------------------------------------------------------------------------------------


def _agreement_heads(view: View) -> tuple[str, ...]:
    known = entry("metric", view.results.agreement[0].metric) if view.results.agreement else None
    labels = known is not None and known.needs == "labels"
    word = say("differences.right" if labels else "differences.outcome_1")
    ways = ("only_first", "only_second", "neither")
    return (say("differences.both", word=word), *(say(f"differences.{way}") for way in ways))


def _agreement(view: View) -> tuple[Row, ...]:
    """Count the examples that both models of a pair get right, only one, or neither, better model first."""
    known = {m.id: m for m in view.models}
    rows = []
    for record in view.results.agreement:
        a, b, only_a, only_b = known[record.a], known[record.b], record.only_a, record.only_b
        if b.index < a.index:
            a, b, only_a, only_b = b, a, only_b, only_a
        counts = (record.both, only_a, only_b, record.neither)
        cells = tuple(Cell(numbers.count(count), numbers.share(count, sum(counts))) for count in counts)
        label = say("differences.pair", a=a.name, b=b.name)
        rows.append((a.index, b.index, Row(None, cells, label, f"{a.key} {b.key}")))
    return tuple(row for *_, row in sorted(rows, key=lambda found: found[:2]))


# --- single fits ----------------------------------------------------------------------------------------------------


def _fits(view: View) -> tuple[tuple[str, ...], tuple[Row, ...]]:
    folds, decimals = values_of_fits(view.results), metric_decimals(view, view.primary)
    sources = list(dict.fromkeys(r.source for r in view.results.variance if _is_primary(view, r.metric)))
    rows = []
    for model in view.models:
        values = [v for v in folds.get(model.id, {}).values() if v is not None]
        if len(values) < 2:
            continue
        cells = [numbers.number(f(values), decimals) for f in (fmean, min, max)]
        cells.insert(1, numbers.number(stdev(values), decimals + 1))
        for source in sources:
            found = [r.value for r in view.results.variance
                     if (r.model, r.source) == (model.id, source) and _is_primary(view, r.metric)]  # fmt: skip
            cells.append(numbers.number(found[0] ** 0.5, decimals + 1) if found else numbers.MISSING)
        rows.append(Row(model, (numbers.count(len(values)), *cells)))
    heads = (
        say("differences.number"), say("differences.mean"), say("differences.standard_deviation"),
        say("differences.lowest"), say("differences.highest"),
    )  # fmt: skip
    return (*heads, *(say("differences.spread", source=source) for source in sources)), tuple(rows)


def _is_primary(view: View, metric: str) -> bool:
    return metric in (view.results.primary_metric, view.primary.metric)


def _figure(view: View, kind: str) -> Figure | None:
    """Draw the differences on single fits, of every pair or (of many) those with the leader."""
    rows = strips(view.results, view.names)
    if not rows:
        return None
    axis_label = say("differences.axis", metric=view.primary_words)
    shared = f" {say('differences.shared')}" if view.results.design in SHARING else ""
    described = "; ".join(
        say("differences.strip", pair=r.label, value=numbers.number(fmean(r.differences), 4, signed=True))
        for r in rows
    )
    return Figure(
        name="strip",
        title=say("differences.title", metric=view.primary_words, kind=kind),
        description=described,
        caption=say("differences.caption", metric=view.primary_words, kind=kind) + shared,
        draw=(partial(strip, rows, axis_label=axis_label),),
        width=6.2,
        height=0.6 + 0.34 * max(len(rows), 2),
    )
