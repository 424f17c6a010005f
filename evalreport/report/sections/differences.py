"""Sizes of the differences, agreement of the models, values of single fits."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from itertools import groupby
from statistics import fmean, stdev

from evalreport import numbers
from evalreport.plots.pairs import fold_differences, strips, values_of_fits
from evalreport.plots.pictures import Figure
from evalreport.report.naming import entry
from evalreport.report.table import Cell, Row, Table, Tables, pair_row
from evalreport.report.view import View
from evalreport.schema.comparisons import EffectRecord
from evalreport.schema.pairs import inverted, negated, seen_from
from evalreport.texts import group_of, has, named, say

VALUE = ("value", "low", "high")
SIGNED = frozenset({"cohen_g", "cohen_d", "rank_biserial"})
SHARING = frozenset({"cross-validation", "5x2cv", "repeated-holdout", "bootstrap"})
"""Designs whose fits share training data."""
MOST_PAIRS = 100


def describe_differences(view: View) -> Tables | None:
    """Lay out the section; nothing where no pair has a size and no model has several fits."""
    effects, heads, sizes = _sizes(view)
    fit_heads, fits = _fits(view)
    if not (sizes or fits):
        return None
    kind = named("differences.fits", view.results.design, say("differences.fits.other"))
    size, agreed = say("differences.sizes"), say("differences.agreement")
    pair, agreement = say("table.pair"), _agreement(view)
    notes = [text for effect, text in group_of("differences.size_note").items() if effect in effects]
    note = " ".join([say("differences.sizes_note"), *notes])
    tables = (
        Table(say("differences.fits_title", kind=kind), fit_heads, fits, look="fits"),
        Table(size, heads, sizes[:MOST_PAIRS], note, look="sizes", first=pair, sortable=True),
        Table(agreed, _agreed(view), agreement[:MOST_PAIRS], look="sizes", first=pair, sortable=True),
    )
    return Tables(
        heading=say("heading.differences" if len(view.models) > 1 else "heading.fits"),
        figures=_figures(view, kind),
        tables=tuple(table for table in tables if table.rows),
        note=say("report.cut") if max(len(sizes), len(agreement)) > MOST_PAIRS else "",
    )


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
    if places[record.a] < places[record.b] or record.value is None:
        return record
    odds = record.effect == "odds_ratio_discordant"
    of_share = record.effect == "probability_of_superiority"
    by = inverted if odds else _complement if of_share else negated
    seen = seen_from(record.b, record, VALUE, by=by)
    return replace(seen, low=seen.low or 0.0) if odds else seen


def _complement(share: float | None) -> float | None:
    return None if share is None else 1 - share


def _head(effect: str, unit: str) -> str:
    label = named("differences.size", effect, effect.replace("_", " "))
    key = f"differences.unit.{unit}"
    return label + (f" ({say(key)})" if has(key) else "")


def _size(view: View, record: EffectRecord | None) -> Cell:
    if record is None or record.value is None:
        return Cell(numbers.MISSING, note="" if record is None else view.text(record.text))
    per_cases = record.effect.endswith("_per_1000")
    if per_cases:  # fewer errors of the first model are to its favour, as everything positive is
        record = seen_from(record.b, record, VALUE)
    signed = per_cases or record.effect in SIGNED
    decimals = 1 if per_cases else 3 if record.effect == "probability_of_superiority" else 2
    beside = numbers.interval(record.low, record.high, decimals, signed=signed)
    if record.effect == "odds_ratio_discordant" and record.high is None and record.low is not None:
        beside = f"[{numbers.number(record.low, decimals)}, ∞]"
    return Cell(numbers.number(record.value, decimals, signed=signed), beside, record.value)


def _agreed(view: View) -> tuple[str, ...]:
    known = entry("metric", view.results.agreement[0].metric) if view.results.agreement else None
    labels = known is not None and known.needs == "labels"
    word = say("differences.right" if labels else "differences.outcome_1")
    ways = ("only_first", "only_second", "neither")
    return (say("differences.both", word=word), *(say(f"differences.{way}") for way in ways))


def _agreement(view: View) -> tuple[Row, ...]:
    """Count the examples that both models of a pair get right, only one, or neither, better model first."""
    rows = []
    for record in view.results.agreement:
        a, b, only_a, only_b = view.model(record.a), view.model(record.b), record.only_a, record.only_b
        if b.index < a.index:
            a, b, only_a, only_b = b, a, only_b, only_a
        counts = (record.both, only_a, only_b, record.neither)
        cells = tuple(Cell(numbers.count(count), numbers.share(count, sum(counts))) for count in counts)
        label = say("differences.pair", a=a.name, b=b.name)
        rows.append((a.index, b.index, Row(None, cells, label, f"{a.key} {b.key}")))
    return tuple(row for *_, row in sorted(rows, key=lambda found: found[:2]))


def _fits(view: View) -> tuple[tuple[str, ...], tuple[Row, ...]]:
    folds, digits = values_of_fits(view.results), view.digits(view.primary)
    sources = list(dict.fromkeys(r.source for r in view.results.variance if _is_primary(view, r.metric)))
    rows = []
    for model in view.models:
        values = [v for v in folds.get(model.id, {}).values() if v is not None]
        if len(values) < 2:
            continue
        cells = [numbers.number(f(values), digits) for f in (fmean, min, max)]
        cells.insert(1, numbers.number(stdev(values), digits.finer))
        for source in sources:
            found = [r.value for r in view.results.variance
                     if (r.model, r.source) == (model.id, source) and _is_primary(view, r.metric)]  # fmt: skip
            cells.append(numbers.number(found[0] ** 0.5, digits.finer) if found else numbers.MISSING)
        rows.append(Row(model, (numbers.count(len(values)), *cells)))
    columns = ("number", "mean", "standard_deviation", "lowest", "highest")
    heads = (say(f"differences.{column}") for column in columns)
    return (*heads, *(say("differences.spread", source=source) for source in sources)), tuple(rows)


def _is_primary(view: View, metric: str) -> bool:
    return metric in (view.results.shown_metric, view.primary.metric)


def _figures(view: View, kind: str) -> tuple[Figure, ...]:
    """Draw the differences on single fits, of every pair or (of many) those with the leader."""
    rows = strips(view.results, view.short)
    if not rows:
        return ()
    axis_label = say("differences.axis", metric=view.primary_words)
    shared = f" {say('differences.shared')}" if view.results.design in SHARING else ""
    described = "; ".join(
        say("differences.strip", pair=r.label, value=numbers.number(fmean(r.differences), 4, signed=True))
        for r in rows
    )
    return (
        Figure(
            name="strip", title=say("differences.title", metric=view.primary_words, kind=kind), description=described,
            caption=say("differences.caption", metric=view.primary_words, kind=kind) + shared,
            draw=(partial(fold_differences, view.results, axis_label=axis_label, names=view.short),),
            width=6.2, height=0.6 + 0.34 * max(len(rows), 2),
        ),
    )  # fmt: skip
