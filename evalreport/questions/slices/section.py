"""Slices: a table a column, the worst slice first; which differ from the rest, which are too small to be tested."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial

from evalreport import numbers
from evalreport.headline.facts import is_cut
from evalreport.plots.pairs import LEAST_EXAMPLES, over_time
from evalreport.plots.pictures import Figure
from evalreport.questions.slices import group_tables as segments
from evalreport.questions.slices.records import DisparityRecord, are_periods, distinct_tests, stand_in_order
from evalreport.report.naming import listed
from evalreport.report.sections.leaderboard import key_metrics
from evalreport.report.sections.tasks import TASK
from evalreport.report.table import (
    Cell,
    Column,
    Row,
    Scale,
    Stroke,
    Table,
    difference_scale,
    headings,
    limited_cell,
    stroke,
    value_cell,
)
from evalreport.report.view import OF_SLICES, Model, View, limits_at_zero
from evalreport.schema.lookups import quarter
from evalreport.schema.metrics import MetricRecord, Quantity
from evalreport.texts import Text, coded, named, say
from evalreport.texts.labels import in_sentence
from evalreport.texts.visible import distinct_names, visible

MOST_ROWS, MOST_MODELS, MOST_SMALL, MOST_NAMED, LONGEST = 24, 6, 12, 4, 26
MOST_CHARTS = 3
"""Columns of dates that are drawn over time."""


@dataclass(frozen=True, slots=True)
class Sliced:
    """One column that was sliced by: every model's values, and the gaps of the model that ranks first.

    ``findings``: what stands above the table, such as an order that turns round; ``figure``: the values over time,
    where the slices are periods.
    """

    title: str
    how: str
    findings: tuple[str, ...]
    table: Table
    details: tuple[Table, ...]
    figure: Figure | None = None


@dataclass(frozen=True, slots=True)
class Slices:
    """What the section shows."""

    heading: str
    columns: tuple[Sliced, ...]
    note: str

    @property
    def figures(self) -> tuple[Figure, ...]:
        """The charts over time."""
        return tuple(column.figure for column in self.columns if column.figure is not None)


def describe(view: View) -> Slices | None:
    """Lay out every column that was sliced by; nothing where none was."""
    sliced = [r for r in view.results.metrics if r.slice is not None]
    names = list(dict.fromkeys(r.slice.column for r in sliced if r.slice is not None))
    if view.results.suite and not any(r.slice.column == TASK for r in view.results.disparities):
        names = [name for name in names if name != TASK]  # the tasks have a section of their own
    if not names:
        return None
    family, groups = _against_rest(view), segments.groups_of(view)
    finding = "" if _blocked(view) else _finding(view, family, groups, names)
    columns = [_column(view, name, sliced, groups, finding) for name in names]
    values = {name: {r.slice.value for r in sliced if r.slice and r.slice.column == name} for name in names}
    over_time = [p for p, name in enumerate(names) if len(values[name]) > 2 and are_periods([*values[name]])]
    for number, place in enumerate(over_time[:MOST_CHARTS]):
        columns[place] = replace(columns[place], figure=_over_time(view, names[place], number))
    plain = say("heading.slices")
    heading = say("evidence.headed", section=plain, finding=finding) if finding else plain
    return Slices(heading, tuple(columns), _note(view, family))


def _over_time(view: View, column: str, number: int) -> Figure:
    """Return the values of all models over the periods of a column."""
    metric = view.digits(view.primary).headed(view.primary_label)
    known = {"metric": metric, "column": visible(column)}
    return Figure(
        name=f"over-time-{number}", title=say("evidence.over_time", **known), width=9.0, height=2.6,
        caption=say(
            "evidence.over_time_note", model=view.models[0].name, level=numbers.percent(view.confidence),
            least=LEAST_EXAMPLES,
        ),
        description=say("evidence.over_time_described", **known),
        draw=(partial(over_time, view.results, column=column, names=view.short),),
    )  # fmt: skip


def _finding(
    view: View, family: Sequence[DisparityRecord], groups: segments.Groups | None, columns: Sequence[str]
) -> str:
    """Name the worst slice, else a group that is selected more often, else gaps larger than chance gives."""
    tested = [r for r in family if r.p_adjusted is not None]
    turned = next((w for w in view.results.warnings if w.code == "order_reversed_in_slices"), None)
    if turned is not None and tested:
        return say("finding.slices_turned", column=visible(turned.about[-1]))
    worst = _worst(view, tested)
    of_groups = ""
    if groups is not None:
        of_groups = segments.ratio_finding(groups, columns) or segments.gap_finding(groups, columns)
    if worst or of_groups or not tested:
        return worst or of_groups
    return say(f"finding.{'slices_better' if any(r.flagged for r in tested) else 'slices_none'}")


def _worst(view: View, tested: Sequence[DisparityRecord]) -> str:
    """Say which slice differs most for the worse, of the model that ranks first if it has one; else nothing."""
    worse = [r for r in tested if word_of(view, r) == "worse"]
    if not worse:
        return ""
    own = [r for r in worse if r.model == view.models[0].id] or worse
    worst = max(own, key=lambda r: abs(r.difference or 0.0))
    value = next(
        (r.value for r in view.results.metrics
         if r.slice == worst.slice and r.model == worst.model and Quantity.of(r) == view.primary), None,
    )  # fmt: skip
    if value is None or worst.difference is None:
        return ""
    here, rest = map(view.digits(view.primary).at_most(3).single, (value, value - worst.difference))
    return say(
        "finding.slices_worst", column=visible(worst.slice.column), value=visible(worst.slice.value),
        metric=view.primary_words, model=view.model(worst.model).name, here=here, rest=rest,
    )  # fmt: skip


def _notes(view: View, n: int, shown: int, *, in_order: bool) -> list[str]:
    """Say what the table of a column shows, and how much of it is cut."""
    n_models = len(view.models)
    about = "evidence.slices_in_order" if in_order else "evidence.slices"
    cut = "evidence.slices_last" if in_order else "evidence.slices_cut"
    return [
        say(about, model=view.models[0].name, metric=view.digits(view.primary).headed(view.primary_label)),
        say(cut, shown=shown, n=n) if shown < n else "",
        say("evidence.models_cut", shown=MOST_MODELS, n=n_models) if n_models > MOST_MODELS else "",
    ]


def _column(
    view: View, name: str, sliced: Sequence[MetricRecord], groups: segments.Groups | None, finding: str
) -> Sliced:
    records = [r for r in sliced if r.slice is not None and r.slice.column == name]
    values = list(dict.fromkeys(r.slice.value for r in records if r.slice is not None))
    own = [r for r in _against_rest(view) if r.slice.column == name]
    rest = {(r.slice.value, r.model): r for r in own}
    first, models = view.models[0], view.models[:MOST_MODELS]
    sign = 1.0 if view.greater_is_better else -1.0
    # The worst first; those that are not tested, then those without a value, at the end.
    valued = {v: r for v in values if (r := rest.get((v, first.id))) is not None and r.difference is not None}
    behind = {v: (r.p_value is None, sign * (r.difference or 0.0)) for v, r in valued.items()}
    in_order = stand_in_order(values)
    order = values if in_order else sorted(values, key=lambda v: behind.get(v, (True, math.inf)))
    shown = order[-MOST_ROWS:] if in_order else order[:MOST_ROWS]
    drawn = [valued[v] for v in shown if v in valued]
    ends = [sign * end for r in drawn for end in (r.difference, r.low, r.high) if end is not None]
    scale = difference_scale(
        ends if any(ends) else [-1.0, 1.0], left=say("evidence.worse_side"), right=say("evidence.better_side"),
        power=view.digits(view.primary).power,
    )  # fmt: skip
    names = distinct_names(values, LONGEST)
    on_primary = {
        (r.slice.value, r.model): r for r in records if r.slice is not None and Quantity.of(r) == view.primary
    }
    further = {v: segments.cells_of(groups, (name, v)) if groups else () for v in shown}
    rows = tuple(_row(view, v, names[v], models, on_primary, rest, scale, further[v]) for v in shown)
    n_models, small = len(view.models), _small(view, list(rest.values()), names)
    notes = _notes(view, len(order), len(shown), in_order=in_order)
    notes += [say("evidence.beside_fallen") if _column_fell(view, first.id, name) else ""]
    notes += [small, *((segments.note_of(groups), segments.no_gap(groups, name)) if groups else ())]
    title = visible(name)
    heads: tuple[str | Model | Column, ...] = (
        "n", *models, Column(say("evidence.from_rest", model=first.name), scale=scale),
        say("evidence.difference"), *(segments.columns_of(groups, several=n_models > 1) if groups else ()),
    )  # fmt: skip
    of_groups = () if groups is None or _blocked(view) else (
        segments.ratio_finding(groups, [name]), segments.gap_finding(groups, [name]),
    )  # fmt: skip
    return Sliced(
        title=title,
        how=visible(next((f.why for f in view.results.found if f.what == f"slices of {name}"), "")),
        findings=(
            *(
                view.text(w.text)
                for w in view.results.warnings
                if w.code == "order_reversed_in_slices" and w.about[-1:] == (name,)
            ),
            *(say("segments.sentence", finding=text) for text in of_groups if text and text != finding),
        ),
        table=Table(
            title, heads, rows, " ".join(filter(None, notes)), look="slices", first=say("table.slice"), cut=0
        ),
        details=(
            _differences(view, own, names, title),
            *(segments.tables_of(view, groups, name, {v: names[v] for v in order}) if groups else ()),
            *(_values(view, key, names, records, title) for key in key_metrics(view)),
        ),
    )


def _row(
    view: View,
    value: str,
    name: str,
    models: Sequence[Model],
    on_primary: Mapping[tuple[str, str], MetricRecord],
    rest: Mapping[tuple[str, str], DisparityRecord],
    scale: Scale,
    of_groups: Sequence[Cell],
) -> Row:
    counts = sorted({r.n for (v, _), r in on_primary.items() if v == value})
    n = "\u2013".join(map(numbers.count, dict.fromkeys((counts[0], counts[-1])))) if counts else ""
    decimals = view.digits(view.primary)
    cells = []
    for model in models:
        record, tone = on_primary.get((value, model.id)), shown_word(view, rest.get((value, model.id)))
        text = numbers.MISSING if record is None else numbers.number(record.value, decimals)
        word, look = (named("chip", tone), f"cell-{tone}") if tone else ("", "")
        cells.append(Cell(text, word, look=look, strong=False))
    note = next((t.reason for (v, _), t in rest.items() if v == value and t.p_value is None and t.reason), "")
    size, drawn = _gap(view, rest.get((value, models[0].id)), name, scale, models[0], grey=bool(note))
    counted = Cell(n, look="muted", strong=False)
    label = Cell(name, note=visible(note), strong=False)
    return Row(None, (counted, *cells, drawn, size, *of_groups), label, off=bool(note))


def _gap(
    view: View, record: DisparityRecord | None, name: str, scale: Scale, model: Model, *, grey: bool
) -> tuple[str, Stroke]:
    """Write the slice less the other examples, and draw it, turned so that right is better."""
    if record is None or record.difference is None:
        return numbers.MISSING, stroke(scale, None, title=f"{name}: {numbers.MISSING}")
    sign = 1.0 if view.greater_is_better else -1.0
    limits = sorted(sign * end for end in (record.low, record.high) if end is not None)
    decimals = view.digits(view.primary)
    text = numbers.number(record.difference + 0.0, decimals, signed=True)
    title, (low, high) = f"{name}: {text}", limits if len(limits) == 2 else (None, None)
    if low is not None:
        title += f" {numbers.interval(record.low, record.high, decimals, signed=True)}"
    if record.p_adjusted is not None:
        title += f", {numbers.p_phrase(record.p_adjusted)}"
    return text, stroke(scale, sign * record.difference, low, high, title=title, mark=model, grey=grey)


def _values(
    view: View, key: Quantity, names: Mapping[str, str], records: Sequence[MetricRecord], column: str
) -> Table:
    """Return one metric by slice and model, each with its interval."""
    decimals, models = view.digits(key), view.models[:MOST_MODELS]
    by_group = {(r.slice.value, r.model): r for r in records if r.slice is not None and Quantity.of(r) == key}

    rows = tuple(
        Row(None, tuple(value_cell(by_group.get((value, m.id)), decimals) for m in models), name)
        for value, name in names.items()
    )
    title = say("slices.by", metric=decimals.headed(view.label(key)), column=column)
    heads = tuple(m.name for m in models)
    return Table(title, heads, rows, look="points", first=say("table.slice"))


def _differences(view: View, own: Sequence[DisparityRecord], names: Mapping[str, str], column: str) -> Table:
    """Return how each slice differs from the rest, for every model on the primary metric."""
    by_place = {(record.model, record.slice.value): record for record in own}
    power = view.digits(view.primary).power
    errors = (quarter(r.low, r.high) for r in own)
    digits = view.digits(view.primary) if power else numbers.Digits(numbers.decimals_of(errors))
    rows = []
    for model in view.models:
        for value, name in names.items():
            record = by_place.get((model.id, value))
            if record is None:
                continue
            excluded = 0.0 if is_cut(record) else None
            difference = limited_cell(
                record.difference, record.low, record.high, digits, signed=True, excluded=excluded
            )
            p = "" if record.p_adjusted is None else numbers.p_value(record.p_adjusted)
            word = shown_word(view, record)
            reason = "" if record.p_value is not None else visible(record.reason or "")
            rows.append(Row(model, (name, difference, p, named("chip", word) if word else reason)))
    heads = (
        say("table.slice"), digits.headed(say("slices.others")), say("table.adjusted"), say("table.remark"),
    )  # fmt: skip
    note = " ".join(filter(None, (say("slices.differences"), limits_at_zero(own, OF_SLICES))))
    return Table(
        say("slices.differences_by", column=column), headings(heads, "text,number,number,remark"),
        tuple(rows), note, look="points",
    )  # fmt: skip


def _against_rest(view: View) -> list[DisparityRecord]:
    """Return the differences from the other examples on the primary metric; earlier results hold others beside them."""
    return [r for r in view.results.disparities if r.reference == "rest" and Quantity.of(r) == view.primary]


def _small(view: View, rest: Sequence[DisparityRecord], names: Mapping[str, str]) -> str:
    """Name the slices that are too small to be tested, each once, those with the same reason together."""
    by_slice: dict[str, list[Text]] = {}
    for record in rest:
        if record.p_value is None and record.reason:
            by_slice.setdefault(record.slice.value, []).append(record.reason)
    by_reason: dict[str, list[str]] = {}
    for value, reasons in list(by_slice.items())[:MOST_SMALL]:
        reason = visible(reasons[0])
        if len(reasons) < len(view.models):
            reason = say("slices.some_models", text=reason, some=len(reasons), n=len(view.models))
        by_reason.setdefault(reason, []).append(names[value])
    if not by_reason:
        return ""
    texts = [
        say("slices.small_reason", names=listed(some), reason=reason) for reason, some in by_reason.items()
    ]
    more = len(by_slice) - MOST_SMALL
    texts += [say("slices.more_small", n=more)] if more > 0 else []
    return say("slices.small", listed="; ".join(texts))


def word_of(view: View, tested: DisparityRecord | None) -> str:
    """Say of a flagged slice whether it is ``better`` or ``worse`` than the rest; empty where it is not flagged."""
    if tested is None or not tested.flagged or not tested.difference:
        return ""
    return "better" if (tested.difference > 0) == view.greater_is_better else "worse"


def shown_word(view: View, tested: DisparityRecord | None) -> str:
    """Say what ``word_of`` does, but nothing of a slice that is better than a rest with a slice that fell.

    The other slices of the column may be as they were before.
    """
    word = word_of(view, tested)
    if word != "better" or tested is None:
        return word
    return "" if _column_fell(view, tested.model, tested.slice.column) else word


def _column_fell(view: View, model: str, column: str) -> bool:
    """Say whether an audit raised an alarm about a model in a slice of a column."""
    place = f"{model}, {column} = "
    return any(r.question == "slice" and r.alarm and r.about.startswith(place) for r in view.results.audit)


def summary_line(view: View) -> str:
    """Say in one line which slices are flagged, the worse ones first; empty where nothing was sliced by."""
    family = _against_rest(view)
    if not family or _blocked(view):
        return ""
    flagged = [r for r in family if r.flagged]
    tested = distinct_tests(family)
    if not flagged:
        of_sums = any(coded(r.reason or "")[0] == "disparity.of_sums" for r in family)
        untested = say("slices.none_judged" if of_sums else "slices.none_large")
        return say("slices.none_flagged", n=tested) if tested else untested
    # Beside a slice in which a model is worse, the others of the column are better than a rest that holds it.
    pulled = {(r.model, r.slice.column) for r in flagged if word_of(view, r) == "worse"}
    left = [r for r in flagged if word_of(view, r) == "worse" or (r.model, r.slice.column) not in pulled]
    all_worse = len(left) < len(flagged) and all(word_of(view, r) == "worse" for r in left)
    groups: dict[tuple[str, str, str], list[str]] = {}
    for r in sorted(left, key=lambda r: (word_of(view, r) != "worse", -abs(r.difference or 0.0))):
        groups.setdefault((r.slice.column, r.slice.value, word_of(view, r)), []).append(view.text(r.model))
    names = distinct_names(list(dict.fromkeys(value for _, value, _ in groups)))
    each = "slices.worse_slice" if all_worse else "slices.flagged_slice"
    shown = [
        say(each, column=column, value=names[value], word=named("chip", word), models=listed(models, 3))
        for (column, value, word), models in groups.items()
    ]
    more = len(shown) - MOST_NAMED
    key = f"slices.{'worse' if all_worse else 'flagged'}{'_and_more' if more > 0 else ''}"
    return say(key, metric=view.primary_words, slices="; ".join(shown[:MOST_NAMED]), n=more)


def _note(view: View, family: Sequence[DisparityRecord]) -> str:
    tested = [r for r in family if r.p_adjusted is not None]
    correction = str(view.results.options.get("correction", "holm"))
    level = numbers.percent(round(tested[0].level, 4)) if tested else ""
    tests = {r.test for r in tested}
    if not tested:
        return f"{say('slices.none_tested')} {say('slices.not_caused')}"
    if distinct_tests(family) == 1:
        adjusted = say("slices.one_test", level=level)
    elif correction == "none":
        adjusted = say("slices.unadjusted", level=level)
    else:
        by, alpha = named("correction", correction), f"{1 - view.confidence:.4g}"
        adjusted = say("slices.adjusted", correction=by, alpha=alpha)
    how = listed([named("slices.test", name) for name in sorted(tests, key=str) if name is not None])
    metric = in_sentence(view.primary_label)
    texts = [say("slices.tested", n=distinct_tests(family), metric=metric, tests=how, adjusted=adjusted)]
    if not any(r.flagged for r in tested) and not _blocked(view):
        texts.append(say("slices.none_differs"))
    return " ".join([*texts, say("slices.not_caused")])


def _blocked(view: View) -> bool:
    """Return whether a blocker took the flags, so that a slice without one means nothing."""
    return any(warning.level == "blocker" for warning in view.results.warnings)
