"""All metrics with their intervals by every method, single classes, and every test that was made."""

from __future__ import annotations

from dataclasses import dataclass

from evalreport import numbers
from evalreport.records import ComparisonRecord, MetricRecord
from evalreport.report import wording
from evalreport.report.characters import visible
from evalreport.report.naming import MetricKey, entry, label_of, listed, metric_label
from evalreport.report.sections.leaderboard import key_metrics
from evalreport.report.view import (
    Model,
    View,
    difference_decimals,
    key_of,
    metric_decimals,
    overall_keys,
    text_of,
)

MOST_TEST_ROWS = 1500
OTHERS = ("normal", "bootstrap_percentile", "bootstrap_bca")


@dataclass(frozen=True, slots=True)
class IntervalCell:
    """One interval's text and method; ``note`` is the reason where there is none."""

    text: str
    method: str
    note: str


@dataclass(frozen=True, slots=True)
class MetricRow:
    """One model's value with its intervals: the recommended one, then one for each further column."""

    model: Model
    value: str
    standard_error: str
    intervals: tuple[IntervalCell, ...]
    note: str
    formula: str


BASELINES = {
    "majority_class": "majority class",
    "random_prevalence": "random guess",
    "random_even": "even guess",
    "mean_truth": "mean of the truth",
}


@dataclass(frozen=True, slots=True)
class BaselineRow:
    """What a rule that needs no model would have; ``text`` says what the rule does."""

    name: str
    value: str
    text: str


@dataclass(frozen=True, slots=True)
class MetricGroup:
    """One metric with all models and the rules that need no model; ``is_key`` where a brief report keeps it."""

    name: str
    label: str
    summary: str
    rows: tuple[MetricRow, ...]
    is_key: bool
    baselines: tuple[BaselineRow, ...] = ()


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


@dataclass(frozen=True, slots=True)
class Metrics:
    """What the section shows; ``methods`` heads the further interval columns, ``missing`` says what has no value."""

    level: str
    methods: tuple[str, ...]
    groups: tuple[MetricGroup, ...]
    classes: tuple[MetricGroup, ...]
    primary_tests: tuple[TestRow, ...]
    other_tests: tuple[TestRow, ...]
    note: str
    tests_note: str
    missing: tuple[str, ...] = ()


def describe(view: View) -> Metrics | None:
    """Lay out every metric."""
    keys = overall_keys(view.results)
    if not keys:
        return None
    others = _other_methods(view)
    labelled = [r for r in view.results.metrics if r.label is not None and r.slice is None]
    class_keys = list(dict.fromkeys(key_of(r) for r in labelled))
    primary, other = _tests(view)
    short = set(key_metrics(view))
    valued = {key_of(r) for r in view.results.metrics if r.value is not None} | {view.primary}
    return Metrics(
        level=numbers.percent(view.confidence),
        methods=tuple(label_of("interval", name) for name in others),
        groups=tuple(_group(view, key, others, key in short) for key in keys if key in valued),
        classes=tuple(_group(view, key, others, False) for key in class_keys),
        primary_tests=primary,
        other_tests=other[:MOST_TEST_ROWS],
        note=wording.METRIC_LIMITS,
        tests_note=wording.EXPLORATORY,
        missing=_missing(view, [key for key in keys if key not in valued]),
    )


def _missing(view: View, keys: list[MetricKey]) -> tuple[str, ...]:
    """Say which metrics no model has a value of, together where the reason is the same."""
    by_reason: dict[str, list[str]] = {}
    for key in keys:
        reasons = [
            r.reason for r in view.results.metrics if key_of(r) == key and r.slice is None and r.reason
        ]
        by_reason.setdefault(text_of(view, reasons[0]) if reasons else "", []).append(metric_label(key))
    return tuple(
        f"{wording.NOT_COMPUTED}{listed(labels, 12)}{f'; {reason}' if reason else ''}."
        for reason, labels in by_reason.items()
    )


def _other_methods(view: View) -> tuple[str, ...]:
    """Give the methods that get a column: those of nearly every metric; special ones stand first in their row."""
    seen = {i.method for r in view.results.metrics for i in r.intervals}
    asked = tuple(str(name) for name in view.results.options.get("intervals") or ())
    wanted = tuple(sorted(seen - {"delong", "wilson_f1"})) if asked else OTHERS
    return tuple(name for name in wanted if name in seen)


def _group(view: View, key: MetricKey, others: tuple[str, ...], is_key: bool) -> MetricGroup:
    known = entry("metric", key.metric)
    decimals = metric_decimals(view, key)
    by_model = {r.model: r for r in view.results.metrics if key_of(r) == key and r.slice is None}
    rows = tuple(
        _row(view, model, by_model[model.id], others, decimals)
        for model in view.models
        if model.id in by_model
    )
    summary = "" if known is None else str(known.summary)
    return MetricGroup(key.metric, metric_label(key), summary, rows, is_key, _baselines(view, key, decimals))


def _baselines(view: View, key: MetricKey, decimals: int) -> tuple[BaselineRow, ...]:
    return tuple(
        BaselineRow(
            BASELINES.get(r.name, visible(r.name)), numbers.number(r.value, decimals), visible(r.text)
        )
        for r in view.results.baselines
        if MetricKey(r.metric, r.average, r.label) == key
    )


def _row(view: View, model: Model, record: MetricRecord, others: tuple[str, ...], decimals: int) -> MetricRow:
    first = record.intervals[0].method if record.intervals else None
    cells = [_interval_cell(record, first, decimals)] + [
        _interval_cell(record, name, decimals) for name in others
    ]
    return MetricRow(
        model=model,
        value=numbers.number(record.value, decimals),
        standard_error=numbers.number(record.standard_error, decimals + 1),
        intervals=tuple(cells),
        note=text_of(view, record.reason or ""),
        formula=record.formula or "",
    )


def _interval_cell(record: MetricRecord, method: str | None, decimals: int) -> IntervalCell:
    found = next((i for i in record.intervals if i.method == method), None)
    if found is None or method is None:
        return IntervalCell(numbers.MISSING, "", "")
    text = numbers.interval(found.low, found.high, decimals) or numbers.MISSING
    return IntervalCell(text, label_of("interval", method), found.reason or "")


def _tests(view: View) -> tuple[tuple[TestRow, ...], tuple[TestRow, ...]]:
    primary: list[TestRow] = []
    other: list[TestRow] = []
    decimals: dict[MetricKey, int] = {}
    models = {model.id: model for model in view.models}
    for record in view.results.comparisons:
        if record.slice is not None:
            continue
        key = key_of(record)
        if key not in decimals:
            decimals[key] = difference_decimals(view, key)
        row = _test_row(models, record, decimals[key])
        (primary if key == view.primary else other).append(row)
    return tuple(primary), tuple(other)


def _test_row(models: dict[str, Model], record: ComparisonRecord, decimals: int) -> TestRow:
    degrees = "" if record.df is None else f" (df {numbers.statistic(record.df)})"
    remark = record.reason or record.caution or ""
    return TestRow(
        a=models[record.a],
        b=None if record.b is None else models[record.b],
        metric=metric_label(key_of(record)),
        test=label_of("test", record.test),
        difference=numbers.number(record.difference, decimals, signed=record.b is not None),
        interval=numbers.interval(record.low, record.high, decimals, signed=record.b is not None),
        statistic=numbers.statistic(record.statistic) + degrees,
        p=numbers.p_value(record.p_value),
        adjusted="" if record.p_adjusted is None else numbers.p_value(record.p_adjusted),
        remark="recommended" if record.recommended and not remark else visible(remark),
        recommended=record.recommended,
    )
