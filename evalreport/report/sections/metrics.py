"""All metrics by family, each with its intervals by every method, single classes, and every test that was made."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial

from evalreport import numbers
from evalreport.plots.pairs import confusion
from evalreport.records import ComparisonRecord, MetricRecord
from evalreport.report.characters import distinct_names, visible
from evalreport.report.figures import Figure
from evalreport.report.naming import MetricKey, entry, label_of, listed, metric_label, registry, summary_of
from evalreport.report.sections.leaderboard import key_metrics
from evalreport.report.view import (
    Model,
    View,
    comparison_between,
    difference_decimals,
    interval_of,
    key_of,
    metric_decimals,
    overall_keys,
    text_of,
)
from evalreport.texts import has, named, say

MOST_TEST_ROWS = 1500
# What a PDF in full detail prints of each table, so that twelve models stay readable; a page shows the whole.
MOST_PAPER_ROWS = 500
MOST_PAPER_ROWS_OF_CLASSES = 150
OTHERS = ("normal", "bootstrap_percentile", "bootstrap_bca")


@dataclass(frozen=True, slots=True)
class IntervalCell:
    """One interval's text; ``method`` only where it is not its column's or block's, ``note`` says why there is none."""

    text: str
    method: str
    note: str


@dataclass(frozen=True, slots=True)
class MetricRow:
    """One model's value with its intervals: the recommended one, then one for each further column.

    ``formula`` is the definition with this model's counts filled in; ``order`` is what a sorted table goes by.
    """

    model: Model
    value: str
    order: float | None
    intervals: tuple[IntervalCell, ...]
    standard_error: str
    n: str
    note: str
    formula: str


@dataclass(frozen=True, slots=True)
class MetricGroup:
    """One metric with all models.

    ``is_key`` where a brief report keeps it, ``is_open`` where a page shows it open, ``on_paper`` where there is
    room for it in the PDF's full detail. ``method`` is the recommended interval's; ``baselines`` is what rules
    reach that need no model, in one line.
    """

    name: str
    average: str
    label: str
    summary: str
    definition: str
    method: str
    rows: tuple[MetricRow, ...]
    baselines: str
    is_key: bool
    is_open: bool
    on_paper: bool = True


@dataclass(frozen=True, slots=True)
class Family:
    """Metrics that are given the same: decisions, scores, probabilities, values."""

    title: str
    note: str
    groups: tuple[MetricGroup, ...]
    rest_title: str


@dataclass(frozen=True, slots=True)
class Metrics:
    """What the section shows; ``methods`` heads the further interval columns.

    ``missing`` says what has no value, ``cut`` what the PDF leaves out for want of room.
    """

    level: str
    methods: tuple[str, ...]
    families: tuple[Family, ...]
    classes: tuple[MetricGroup, ...]
    primary_tests: tuple[TestRow, ...]
    other_tests: tuple[TestRow, ...]
    primary_on_paper: tuple[TestRow, ...]
    other_on_paper: tuple[TestRow, ...]
    notes: tuple[str, ...]
    tests_note: str
    missing: tuple[str, ...] = ()
    cut: str = ""


def describe(view: View) -> Metrics | None:
    """Lay out every metric."""
    keys = overall_keys(view.results)
    if not keys:
        return None
    others = _other_methods(view)
    labelled = [r for r in view.results.metrics if r.label is not None and r.slice is None]
    class_keys = list(dict.fromkeys(key_of(r) for r in labelled))
    headlines = frozenset(name for name, metric in registry("metric").items() if metric.headline)
    primary, other = tests_of(view, headlines)
    # Exploratory rows are hundreds, and decide nothing: they are shown where tests were asked for.
    asked = bool(view.results.options.get("tests"))
    untold = say("metrics.exploratory_elsewhere") if other and not asked else ""
    other, shared = without_shared_remark(other if asked else ())
    valued = {key_of(r) for r in view.results.metrics if r.value is not None} | {view.primary}
    families = _families(view, [key for key in keys if key in valued], others)
    families, cut = _with_room(families)
    classes = _fitting(tuple(_group(view, key, others) for key in class_keys), MOST_PAPER_ROWS_OF_CLASSES)
    cut += [group.label for group in classes if not group.on_paper]
    return Metrics(
        level=numbers.percent(view.confidence),
        methods=tuple(label_of("interval", name) for name in others),
        families=families,
        classes=classes,
        primary_tests=primary,
        other_tests=other[:MOST_TEST_ROWS],
        primary_on_paper=fitting(primary),
        other_on_paper=fitting(tuple(row for row in other if row.recommended)),
        notes=tuple(filter(None, (say("metrics.limits"), _rules(view), untold))),
        tests_note=" ".join(
            [say("methods.exploratory"), *([say("metrics.unless_said", remark=shared)] if shared else [])]
        ),
        missing=_missing(view, [key for key in keys if key not in valued]),
        cut=f"{say('report.left_out', names=', '.join(cut))} {say('report.cut')}" if cut else "",
    )


def _families(view: View, keys: list[MetricKey], others: tuple[str, ...]) -> tuple[Family, ...]:
    """Group the metrics by what they are given; the primary metric's family stands first."""
    members: dict[str, list[MetricGroup]] = {}
    for key in keys:
        members.setdefault(_family_of(key), []).append(_group(view, key, others))
    return tuple(_family(name, groups) for name, groups in members.items())


def _family(name: str, groups: list[MetricGroup]) -> Family:
    known = name if has(f"metrics.family.{name}") else "other"
    title, note = say(f"metrics.family.{known}"), say(f"metrics.family_note.{known}")
    if not any(group.is_open for group in groups):
        return Family(title, note, tuple(groups), _rest_title(groups))
    # The headline metrics stand first, in the order of the registry, as do the others below them.
    ordered = tuple(sorted(groups, key=lambda group: not group.is_open))
    return Family(title, note, ordered, _rest_title([group for group in ordered if not group.is_open]))


def _with_room(families: tuple[Family, ...]) -> tuple[tuple[Family, ...], list[str]]:
    """Mark what the PDF has room for, headline metrics first, and name what it has not."""
    # One budget for all families, so that a long first one takes nothing from the headlines of the next.
    every = [group for family in families for group in family.groups]
    ordered = tuple(sorted(every, key=lambda group: (not group.is_open, group.average not in ("", "macro"))))
    kept = {id(g): f.on_paper for g, f in zip(ordered, _fitting(ordered, MOST_PAPER_ROWS), strict=True)}
    marked = tuple(
        replace(f, groups=tuple(replace(g, on_paper=kept[id(g)]) for g in f.groups)) for f in families
    )
    return marked, [group.label for group in every if not kept[id(group)]]


def _fitting(groups: tuple[MetricGroup, ...], most_rows: int) -> tuple[MetricGroup, ...]:
    """Mark the groups that fit into a number of rows, in their order; a headline metric always does."""
    marked, used = [], 0
    for group in groups:
        used += len(group.rows)
        marked.append(replace(group, on_paper=group.is_open or used <= most_rows))
    return tuple(marked)


def _rest_title(groups: list[MetricGroup]) -> str:
    return say("metrics.more", n=len(groups), names=", ".join(group.label for group in groups))


def _family_of(key: MetricKey) -> str:
    known = entry("metric", key.metric)
    return "other" if known is None else str(known.heading)


def _missing(view: View, keys: list[MetricKey]) -> tuple[str, ...]:
    """Say which metrics no model has a value of, together where the reason is the same."""
    by_reason: dict[str, list[str]] = {}
    for key in keys:
        reasons = [
            r.reason for r in view.results.metrics if key_of(r) == key and r.slice is None and r.reason
        ]
        by_reason.setdefault(text_of(view, reasons[0]) if reasons else "", []).append(metric_label(key))
    return tuple(
        say("metrics.not_computed_why", names=listed(labels, 12), reason=reason)
        if reason
        else say("metrics.not_computed", names=listed(labels, 12))
        for reason, labels in by_reason.items()
    )


def _rules(view: View) -> str:
    """Say once what the rules do that need no model."""
    texts = {named("metrics.rule", r.name, visible(r.name)): visible(r.text) for r in view.results.baselines}
    said = [say("metrics.rule_said", name=name, text=text) for name, text in texts.items()]
    return say("metrics.rules", rules="; ".join(said)) if said else ""


def _other_methods(view: View) -> tuple[str, ...]:
    """Give the methods that get a column: those of nearly every metric; special ones stand first in their row."""
    seen = {i.method for r in view.results.metrics for i in r.intervals}
    asked = tuple(str(name) for name in view.results.options.get("intervals") or ())
    special = {name for name in seen if (known := entry("interval", name)) and known.of_one_metric}
    wanted = tuple(sorted(seen - special)) if asked else OTHERS
    return tuple(name for name in wanted if name in seen)


def _group(view: View, key: MetricKey, others: tuple[str, ...]) -> MetricGroup:
    known = entry("metric", key.metric)
    decimals = metric_decimals(view, key)
    by_model = {r.model: r for r in view.results.metrics if key_of(r) == key and r.slice is None}
    first = [r.intervals[0].method for r in by_model.values() if r.intervals]
    # What most rows share is said once; a row that differs (at the edge of the range) says so itself.
    usual = max(first, key=first.count, default=None)
    rows = tuple(
        _row(view, model, by_model[model.id], others, usual=usual, decimals=decimals)
        for model in view.models
        if model.id in by_model
    )
    is_key = key in key_metrics(view)
    named = bool(view.results.options.get("metrics"))
    headline = known is not None and known.headline and key.average in (None, "macro")
    return MetricGroup(
        name=key.metric,
        average=key.average or "",
        label=metric_label(key),
        summary=summary_of("metric", key.metric),
        definition="" if known is None else str(known.formula),
        method=label_of("interval", usual),
        rows=rows,
        baselines=_baselines(view, key, decimals),
        is_key=is_key,
        is_open=key.label is None and (is_key or named or headline),
    )


def _baselines(view: View, key: MetricKey, decimals: int) -> str:
    return " · ".join(
        f"{named('metrics.rule', r.name, visible(r.name))} {numbers.number(r.value, decimals)}"
        for r in view.results.baselines
        if MetricKey(r.metric, r.average, r.label) == key
    )


def _row(
    view: View,
    model: Model,
    record: MetricRecord,
    others: tuple[str, ...],
    *,
    usual: str | None,
    decimals: int,
) -> MetricRow:
    first = record.intervals[0].method if record.intervals else None
    leading = _interval_cell(record, first, decimals, said=usual)
    value = numbers.number(record.value, decimals)
    return MetricRow(
        model=model,
        value=value,
        order=record.value,
        intervals=(leading, *(_interval_cell(record, name, decimals, said=name) for name in others)),
        standard_error=numbers.number(record.standard_error, decimals + 1),
        n=numbers.count(record.n),
        note=text_of(view, record.reason or ""),
        formula=f"{record.formula} = {value}" if record.formula else "",
    )


def _interval_cell(
    record: MetricRecord, method: str | None, decimals: int, *, said: str | None
) -> IntervalCell:
    found = next((i for i in record.intervals if i.method == method), None)
    if found is None or method is None:
        return IntervalCell(numbers.MISSING, "", "")
    text = numbers.interval(found.low, found.high, decimals) or numbers.MISSING
    return IntervalCell(
        text, "" if method == said else label_of("interval", method), visible(found.reason or "")
    )


MOST_PAPER_TEST_ROWS = 150


@dataclass(frozen=True, slots=True)
class TestRow:
    """One test of one pair."""

    a: Model
    b: Model | None
    metric: str
    test: str
    difference: str
    interval: str
    statistic: str
    p: str
    adjusted: str
    remark: str
    recommended: bool


def fitting(rows: tuple[TestRow, ...], most: int = MOST_PAPER_TEST_ROWS) -> tuple[TestRow, ...]:
    """Give what a PDF in full detail prints: all, else the recommended tests, of as many metrics as there is room."""
    if len(rows) <= most:
        return rows
    kept: list[TestRow] = []
    recommended = [row for row in rows if row.recommended]
    for metric in dict.fromkeys(row.metric for row in recommended):
        of_metric = [row for row in recommended if row.metric == metric]
        if len(kept) + len(of_metric) > most and kept:
            break
        kept += of_metric
    return tuple(kept[:most])


def without_shared_remark(rows: tuple[TestRow, ...]) -> tuple[tuple[TestRow, ...], str]:
    """Take out of the rows the remark that most of them bear, and give it to be said once."""
    remarks = [row.remark for row in rows]
    shared = max(dict.fromkeys(remarks), key=remarks.count, default="")
    if 2 * remarks.count(shared) <= len(rows):
        return rows, ""
    return tuple(replace(row, remark="") if row.remark == shared else row for row in rows), shared


def tests_of(view: View, first: frozenset[str]) -> tuple[tuple[TestRow, ...], tuple[TestRow, ...]]:
    """Give the tests of the primary metric, and those of the other metrics, metrics named ``first`` before others."""
    primary: list[TestRow] = []
    other: list[TestRow] = []
    decimals: dict[MetricKey, int] = {}
    models = {model.id: model for model in view.models}
    for record in sorted(view.results.comparisons, key=lambda record: record.metric not in first):
        if record.slice is not None:
            continue
        key = key_of(record)
        if key not in decimals:
            decimals[key] = difference_decimals(view, key)
        shown = _with_one_interval(view, record) if key == view.primary else record
        row = _test_row(view, models, shown, decimals[key])
        (primary if key == view.primary else other).append(row)
    return tuple(primary), tuple(other)


def _with_one_interval(view: View, record: ComparisonRecord) -> ComparisonRecord:
    """Give a test of the primary metric with its pair's one interval, beside the test that decides; the others none."""
    if record.b is None or not view.results.verdicts:
        return record
    deciding = comparison_between(view, view.primary, record.a, record.b) if record.recommended else None
    return replace(record, low=None, high=None) if deciding is None else deciding


def _test_row(view: View, models: dict[str, Model], record: ComparisonRecord, decimals: int) -> TestRow:
    degrees = "" if record.df is None else f" (df {numbers.statistic(record.df)})"
    remark = record.reason or record.caution or ""
    return TestRow(
        a=models[record.a],
        b=None if record.b is None else models[record.b],
        metric=metric_label(key_of(record)),
        test=label_of("test", record.test),
        difference=numbers.number(record.difference, decimals, signed=record.b is not None),
        interval=numbers.interval(record.low, record.high, decimals)
        if record.b is None
        else interval_of(view, record, decimals),
        statistic=numbers.statistic(record.statistic) + degrees,
        p=numbers.p_value(record.p_value),
        adjusted="" if record.p_adjusted is None else numbers.p_value(record.p_adjusted),
        remark=say("metrics.recommended") if record.recommended and not remark else visible(remark),
        recommended=record.recommended,
    )


MOST_CLASSES_IN_TABLE = 15
MOST_HEAT_MAPS = 9
LEAST_SIZE = 4.4  # inches, of the only matrix: as wide as other single panels
LONGEST_LABEL, LONGEST_OF_THREE = 16, 8


@dataclass(frozen=True, slots=True)
class Count:
    """One cell; ``step`` from 0 to 5 is how dark it is by its share of the row."""

    count: str
    share: str
    step: int
    correct: bool


@dataclass(frozen=True, slots=True)
class MatrixRow:
    """One true class."""

    label: str
    cells: tuple[Count, ...]
    total: str


@dataclass(frozen=True, slots=True)
class Matrix:
    """One model's matrix."""

    model: Model
    rows: tuple[MatrixRow, ...]


@dataclass(frozen=True, slots=True)
class Confusion:
    """What the section shows: tables for few classes, heat maps for three or more."""

    labels: tuple[str, ...]
    """Of the columns: the classes, and what counts as wrong because it is missing."""
    matrices: tuple[Matrix, ...]
    figure: Figure | None
    note: str


def describe_confusion(view: View) -> Confusion | None:
    """Lay out the matrices of every model that has one."""
    models = [m for m in view.models if any(c.model == m.id for c in view.results.confusion)]
    if not models or not view.results.classes:
        return None
    classes = view.results.classes
    answers = tuple(dict.fromkeys((*classes, *(cell.predicted for cell in view.results.confusion))))
    shown = distinct_names(answers, 24)
    few = len(classes) <= MOST_CLASSES_IN_TABLE
    matrices = tuple(_matrix(view, model, shown) for model in models) if few else ()
    figure = _figure(view, models) if len(classes) > 2 else None
    note = say("confusion.note") if few else say("confusion.many_classes")
    return Confusion(tuple(shown.values()), matrices, figure, note)


def _matrix(view: View, model: Model, shown: dict[str, str]) -> Matrix:
    cells = {(c.true, c.predicted): c.count for c in view.results.confusion if c.model == model.id}
    rows = []
    for true in view.results.classes:
        counts = [cells.get((true, predicted), 0.0) for predicted in shown]
        total = sum(counts)
        row = tuple(
            Count(
                numbers.count(count),
                numbers.share(count, total),
                round(5 * count / total) if total else 0,
                predicted == true,
            )
            for predicted, count in zip(shown, counts, strict=True)
        )
        rows.append(MatrixRow(shown[true], row, numbers.count(total)))
    return Matrix(model, tuple(rows))


def _figure(view: View, models: list[Model]) -> Figure:
    drawn = models[:MOST_HEAT_MAPS]
    labels = tuple(distinct_names(view.results.classes, LONGEST_LABEL).values())
    longest = max(map(len, labels))
    columns = min(len(drawn), 3 if longest <= LONGEST_OF_THREE else 2)
    # Labels stand left of the matrix and, slanted, below it.
    size = 2.4 + 0.08 * min(len(labels), 12) + 0.06 * longest
    return Figure(
        name="confusion",
        title=say("confusion.title"),
        description=say("confusion.described", names=", ".join(m.name for m in drawn)),
        caption=say("confusion.caption"),
        draw=tuple(
            partial(confusion, view.results, model.id, name=model.short, labels=labels) for model in drawn
        ),
        width=max(size * columns, LEAST_SIZE),
        height=max(size * -(-len(drawn) // columns), LEAST_SIZE if columns == 1 else 0),
        columns=columns,
    )
