"""Every test that was made, of the primary metric and of the others."""

from __future__ import annotations

from dataclasses import dataclass, replace

from evalreport import numbers
from evalreport.records import ComparisonRecord
from evalreport.report.characters import visible
from evalreport.report.naming import MetricKey, label_of, metric_label
from evalreport.report.view import Model, View, comparison_between, difference_decimals, interval_of, key_of
from evalreport.texts import say

MOST_PAPER_ROWS = 150


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


def fitting(rows: tuple[TestRow, ...], most: int = MOST_PAPER_ROWS) -> tuple[TestRow, ...]:
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
