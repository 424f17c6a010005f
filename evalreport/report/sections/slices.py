"""Slices: values by subgroup, which differ from the rest, which are too small to be judged."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial

from evalreport import numbers
from evalreport.plots.curves import with_limits
from evalreport.plots.pictures import Draw
from evalreport.plots.slices import SliceValue, slice_values
from evalreport.records import DisparityRecord, MetricRecord
from evalreport.report.characters import distinct_names, shorten, visible
from evalreport.report.figures import Figure
from evalreport.report.naming import MetricKey, in_sentence, listed, metric_label
from evalreport.report.sections.leaderboard import key_metrics
from evalreport.report.view import Model, View, key_of, metric_decimals, metric_record, text_of
from evalreport.texts import Text, named, say

Panel = tuple[Model, tuple[SliceValue, ...]]

MOST_PANELS = 6
PANELS_A_ROW = 3
LONGEST_LABEL = 26


def figures_of(
    view: View,
    column: str,
    place: int,
    names: Mapping[str, str],
    found: tuple[Sequence[MetricRecord], Sequence[DisparityRecord]],
) -> tuple[Figure, ...]:
    """Describe the figures of one column on the primary metric, each a row of panels: no figure outgrows a page.

    Parameters
    ----------
    names
        The slices' names as they are shown, by value, in order.
    found
        The metrics within the slices, and their tests against the other examples.
    """
    records, rest = found
    of_primary = {(r.model, r.slice.value): r for r in records if r.slice and key_of(r) == view.primary}
    if all(r.value is None for r in of_primary.values()):
        return ()
    tested = {(r.model, r.slice.value): r for r in rest}
    shown = view.models[:MOST_PANELS]
    panels = [(model, _rows(view, model, names, of_primary, tested)) for model in shown]
    limits = _limits(view, panels)
    caption = say("slices.figure")
    if len(view.models) > len(shown):
        caption += " " + say("report.first_of", shown=len(shown), n=len(view.models))
    starts = range(0, len(panels), PANELS_A_ROW)
    return tuple(
        _figure(view, column, f"slices-{place}-{row}", panels[i : i + PANELS_A_ROW], limits,
                caption if i + PANELS_A_ROW >= len(panels) else "")
        for row, i in enumerate(starts)
    )  # fmt: skip


def _figure(
    view: View,
    column: str,
    name: str,
    panels: Sequence[Panel],
    limits: tuple[float, float] | None,
    caption: str,
) -> Figure:
    title = say("slices.by", metric=view.primary_label, column=shorten(column))
    draw = tuple(_panel(view, model, rows, limits, labelled=i == 0) for i, (model, rows) in enumerate(panels))
    # The last row has as many places as the others, so that all panels have one size.
    columns = min(len(view.models), PANELS_A_ROW)
    n_rows = len(panels[0][1])
    return Figure(
        name=name,
        title=title,
        description=_description(title, panels),
        caption=caption,
        draw=draw,
        width={1: 5.0, 2: 7.0, 3: 9.0}[columns],
        height=0.85 + 0.185 * n_rows,
        columns=columns,
    )


def _rows(
    view: View,
    model: Model,
    names: Mapping[str, str],
    records: dict[tuple[str, str], MetricRecord],
    tested: dict[tuple[str, str], DisparityRecord],
) -> tuple[SliceValue, ...]:
    found = []
    for value, name in names.items():
        record, test = records.get((model.id, value)), tested.get((model.id, value))
        found_value, low, high = with_limits(record)
        word = ""
        if test is not None and test.flagged and test.difference:
            word = named("chip", "better" if (test.difference > 0) == view.greater_is_better else "worse")
        found.append(
            SliceValue(
                label=name,
                value=found_value,
                low=low,
                high=high,
                word=word,
                judged=test is None or test.p_value is not None or not test.reason,
            )
        )
    return tuple(found)


def _limits(view: View, panels: Sequence[tuple[Model, Sequence[SliceValue]]]) -> tuple[float, float] | None:
    """Return one scale for all panels, so that they can be compared."""
    ends = [
        end for _, rows in panels for row in rows for end in (row.value, row.low, row.high) if end is not None
    ]
    ends += [
        record.value
        for model, _ in panels
        if (record := metric_record(view, model.id, view.primary)) is not None and record.value is not None
    ]
    if not ends:
        return None
    low, high = min(ends), max(ends)
    margin = 0.04 * (high - low) or 0.05 * (abs(high) or 1.0)
    return low - margin, high + margin


def _panel(
    view: View,
    model: Model,
    rows: tuple[SliceValue, ...],
    limits: tuple[float, float] | None,
    *,
    labelled: bool,
) -> Draw:
    return partial(
        slice_values, rows, index=model.index, key=model.key, title=model.short, axis_label=view.primary_label,
        whole=with_limits(metric_record(view, model.id, view.primary)), limits=limits, labelled=labelled,
    )  # fmt: skip


def _description(title: str, panels: Sequence[Panel]) -> str:
    flagged = [
        say("slices.described_flagged", slice=row.label, word=row.word, model=model.short)
        for model, rows in panels
        for row in rows
        if row.word
    ]
    said = say("curves.described", title=title, names=listed([model.short for model, _ in panels], 12))
    flags = (
        say("slices.described_flags", slices=listed(flagged, 12)) if flagged else say("slices.described_none")
    )
    return f"{said} {flags}"


MOST_SENTENCES = 8
MOST_SMALL = 12
MOST_NAMED = 4
MODELS_ON_PAPER = 4
MOST_ROWS_ON_PAPER = 24
MOST_SLICES_ON_PAPER = 12
"""Of columns with more slices a PDF shows the primary metric only."""


@dataclass(frozen=True, slots=True)
class Cell:
    """One model's value in one slice; ``tone`` colours it and ``word`` says the same."""

    value: str
    beside: str = ""
    word: str = ""
    tone: str = ""
    order: float | None = None
    note: str = ""


@dataclass(frozen=True, slots=True)
class Row:
    """One slice; ``n`` is its number of examples, ``note`` why it is not judged."""

    name: str
    n: str
    cells: tuple[Cell, ...]
    note: str = ""


@dataclass(frozen=True, slots=True)
class Table:
    """One metric by slice; on paper ``parts`` hold a few models each."""

    title: str
    models: tuple[Model, ...]
    rows: tuple[Row, ...]

    @property
    def parts(self) -> tuple[Table, ...]:
        """The same table, a few models at a time, so that each fits a page."""
        count = -(-len(self.models) // MODELS_ON_PAPER)
        size = -(-len(self.models) // count)
        return tuple(
            Table(
                self.title,
                self.models[i : i + size],
                tuple(Row(r.name, r.n, r.cells[i : i + size], r.note) for r in self.rows),
            )
            for i in range(0, len(self.models), size)
        )


@dataclass(frozen=True, slots=True)
class DifferenceRow:
    """How one slice differs, for one model on the primary metric."""

    name: str
    model: Model
    rest: Cell
    p: str
    best: Cell
    ratio: Cell
    remark: str
    flagged: bool


@dataclass(frozen=True, slots=True)
class Column:
    """One column that was sliced by."""

    title: str
    how: str
    figures: tuple[Figure, ...]
    flags: tuple[str, ...]
    more: str
    small: tuple[str, ...]
    turned: tuple[str, ...]
    primary: Table
    others: tuple[Table, ...]
    differences: tuple[DifferenceRow, ...]

    @property
    def on_paper(self) -> tuple[DifferenceRow, ...]:
        """The rows that stand in a PDF: flagged ones first."""
        return tuple(sorted(self.differences, key=lambda row: not row.flagged))[:MOST_ROWS_ON_PAPER]

    @property
    def others_on_paper(self) -> tuple[Table, ...]:
        """The other metrics that stand in a PDF."""
        return self.others if len(self.primary.rows) <= MOST_SLICES_ON_PAPER else ()


@dataclass(frozen=True, slots=True)
class Slices:
    """What the section shows."""

    columns: tuple[Column, ...]
    note: str
    small_note: str
    differences_note: str

    @property
    def figures(self) -> tuple[Figure, ...]:
        """All figures, in order."""
        return tuple(figure for column in self.columns for figure in column.figures)


def describe(view: View) -> Slices | None:
    """Lay out every column that was sliced by; nothing where none was."""
    sliced = [r for r in view.results.metrics if r.slice is not None]
    names = list(dict.fromkeys(r.slice.column for r in sliced if r.slice is not None))
    if not names:
        return None
    columns = tuple(_column(view, name, place, sliced) for place, name in enumerate(names))
    family = [r for r in view.results.disparities if r.reference == "rest"]
    return Slices(columns, _note(view, family), say("slices.small"), say("slices.differences"))


def summary_line(view: View) -> str:
    """Say in one line which slices are flagged; empty where nothing was sliced by."""
    family = [r for r in view.results.disparities if r.reference == "rest"]
    if not family or _blocked(view):
        return ""
    flagged = [r for r in family if r.flagged]
    tested = sum(r.p_adjusted is not None for r in family)
    if not flagged:
        return say("slices.none_flagged", n=tested) if tested else say("slices.none_large")
    groups: dict[tuple[str, str, str], list[str]] = {}
    for r in sorted(flagged, key=lambda r: -abs(r.difference or 0.0)):
        groups.setdefault((r.slice.column, r.slice.value, word_of(view, r)), []).append(
            text_of(view, r.model)
        )
    names = distinct_names(list(dict.fromkeys(value for _, value, _ in groups)))
    shown = [
        say(
            "slices.flagged_slice",
            column=column,
            value=names[value],
            word=named("chip", word),
            models=listed(models, 3),
        )
        for (column, value, word), models in groups.items()
    ]
    key, more = (
        "slices.flagged_and_more" if len(shown) > MOST_NAMED else "slices.flagged",
        len(shown) - MOST_NAMED,
    )
    return say(key, metric=view.primary_words, slices="; ".join(shown[:MOST_NAMED]), n=more)


def _column(view: View, name: str, place: int, sliced: Sequence[MetricRecord]) -> Column:
    records = [r for r in sliced if r.slice is not None and r.slice.column == name]
    values = list(dict.fromkeys(r.slice.value for r in records if r.slice is not None))
    disparities = [r for r in view.results.disparities if r.slice.column == name and _is_primary(view, r)]
    rest = [r for r in disparities if r.reference == "rest"]
    flagged = sorted((r for r in rest if r.flagged), key=lambda r: -abs(r.difference or 0.0))
    found = next((f.why for f in view.results.found if f.what == f"slices of {name}"), "")
    names = distinct_names(values)
    tables = [_table(view, key, names, records, rest) for key in key_metrics(view)]
    more = len(flagged) - MOST_SENTENCES
    return Column(
        title=visible(name),
        how=visible(found),
        figures=figures_of(
            view, visible(name), place, distinct_names(values, LONGEST_LABEL), (records, rest)
        ),
        flags=tuple(text_of(view, r.text or "") for r in flagged[:MOST_SENTENCES]),
        more=say("slices.more_flagged", n=more) if more > 0 else "",
        small=_small(view, rest, names),
        turned=tuple(
            text_of(view, w.text)
            for w in view.results.warnings
            if w.code == "order_reversed_in_slices" and w.about[-1:] == (name,)
        ),
        primary=tables[0],
        others=tuple(tables[1:]),
        differences=_differences(view, disparities, names),
    )


def _is_primary(view: View, record: DisparityRecord) -> bool:
    return MetricKey(record.metric, record.average, record.label) == view.primary


def _small(view: View, rest: Sequence[DisparityRecord], names: Mapping[str, str]) -> tuple[str, ...]:
    """Name the slices that are too small to be judged, each once, with the first model's reason."""
    reasons: dict[str, list[Text]] = {}
    for record in rest:
        if record.p_value is None and record.reason:
            reasons.setdefault(record.slice.value, []).append(record.reason)
    found = []
    for value, given in reasons.items():
        text = f"{names[value]}: {visible(given[0])}"
        if len(given) < len(view.models):
            text = say("slices.some_models", text=text, some=len(given), n=len(view.models))
        found.append(text)
    more = len(found) - MOST_SMALL
    return (*found[:MOST_SMALL], *([say("slices.more_small", n=more)] if more > 0 else []))


def _table(
    view: View,
    key: MetricKey,
    names: Mapping[str, str],
    records: Sequence[MetricRecord],
    rest: Sequence[DisparityRecord],
) -> Table:
    decimals = metric_decimals(view, key)
    of_key = {(r.slice.value, r.model): r for r in records if r.slice is not None and key_of(r) == key}
    tested = {(r.slice.value, r.model): r for r in rest} if key == view.primary else {}
    rows = []
    for value, name in names.items():
        found = {m.id: of_key.get((value, m.id)) for m in view.models}
        cells = tuple(_cell(view, found[m.id], tested.get((value, m.id)), decimals) for m in view.models)
        counts = sorted({r.n for r in found.values() if r is not None})
        n = "" if not counts else "–".join(map(numbers.count, dict.fromkeys((counts[0], counts[-1]))))
        note = next(
            (t.reason for (v, _), t in tested.items() if v == value and t.p_value is None and t.reason), ""
        )
        rows.append(Row(name, n, cells, visible(note)))
    return Table(metric_label(key), view.models, tuple(rows))


def _cell(view: View, record: MetricRecord | None, tested: DisparityRecord | None, decimals: int) -> Cell:
    if record is None or record.value is None:
        return Cell(numbers.MISSING, note="" if record is None else visible(record.reason or ""))
    first = record.intervals[0] if record.intervals else None
    beside = "" if first is None else numbers.interval(first.low, first.high, decimals)
    tone = word_of(view, tested)
    word = named("chip", tone) if tone else ""
    note = visible(record.reason or "")
    return Cell(numbers.number(record.value, decimals), beside, word, tone, record.value, note)


def word_of(view: View, tested: DisparityRecord | None) -> str:
    """Say of a flagged slice whether it is ``better`` or ``worse`` than the rest; empty where it is not flagged."""
    if tested is None or not tested.flagged or not tested.difference:
        return ""
    return "better" if (tested.difference > 0) == view.greater_is_better else "worse"


def _differences(
    view: View, disparities: Sequence[DisparityRecord], names: Mapping[str, str]
) -> tuple[DifferenceRow, ...]:
    by_place: dict[tuple[str, str], dict[str, DisparityRecord]] = {}
    for record in disparities:
        by_place.setdefault((record.slice.value, record.model), {})[record.reference] = record
    decimals = numbers.decimals_of(
        (r.high - r.low) / 4 for r in disparities if r.low is not None and r.high is not None
    )
    models = {m.id: m for m in view.models}
    return tuple(
        _difference_row(view, models[model], names[value], found, decimals)
        for (value, model), found in by_place.items()
        if model in models
    )


def _difference_row(
    view: View, model: Model, name: str, found: Mapping[str, DisparityRecord], decimals: int
) -> DifferenceRow:
    rest, best = found.get("rest"), found.get("best")
    nothing = Cell(numbers.MISSING)
    own_best = best is None and rest is not None and rest.p_value is not None
    return DifferenceRow(
        name=name,
        model=model,
        rest=nothing if rest is None else _difference(rest, decimals),
        p="" if rest is None or rest.p_adjusted is None else numbers.p_value(rest.p_adjusted),
        best=Cell(say("slices.the_best"))
        if own_best
        else nothing
        if best is None
        else _difference(best, decimals),
        ratio=nothing if best is None else _ratio(best),
        remark=(named("chip", word) if (word := word_of(view, rest)) else "")
        or ("" if rest is None or rest.p_value is not None else visible(rest.reason or "")),
        flagged=rest is not None and rest.flagged,
    )


def _difference(record: DisparityRecord, decimals: int) -> Cell:
    text = numbers.number(record.difference, decimals, signed=True)
    beside = numbers.interval(record.low, record.high, decimals, signed=True)
    return Cell(text, beside, order=record.difference)


def _ratio(record: DisparityRecord) -> Cell:
    beside = numbers.interval(record.ratio_low, record.ratio_high, 2)
    return Cell(numbers.number(record.ratio, 2), beside, order=record.ratio)


def _note(view: View, family: Sequence[DisparityRecord]) -> str:
    tested = [r for r in family if r.p_adjusted is not None]
    correction = str(view.results.options.get("correction", "holm"))
    level = numbers.percent(round(tested[0].level, 4)) if tested else ""
    tests = {r.test for r in tested}
    # Of a column with two values each slice is the other's rest: the same test, written twice.
    if not tested:
        return f"{say('slices.none_tested')} {say('slices.not_caused')}"
    if correction == "none":
        adjusted = say("slices.unadjusted", level=level)
    else:
        by, alpha = named("correction", correction), f"{1 - view.confidence:.4g}"
        adjusted = say("slices.adjusted", correction=by, alpha=alpha, level=level)
    how = listed([named("slices.test", name) for name in sorted(tests, key=str) if name is not None])
    metric = in_sentence(view.primary_label)
    said = [say("slices.tested", n=len(tested), metric=metric, tests=how, adjusted=adjusted)]
    if not any(r.flagged for r in tested) and not _blocked(view):
        said.append(say("slices.none_differs"))
    return " ".join([*said, say("slices.not_caused")])


def _blocked(view: View) -> bool:
    """Say whether a blocker took the flags, so that a slice without one means nothing."""
    return any(warning.level == "blocker" for warning in view.results.warnings)
