"""The primary metric as charts see it: its words, its values, and every pair in either direction."""

from __future__ import annotations

from dataclasses import dataclass

from evalreport.records import ComparisonRecord, FoldRecord, MetricRecord
from evalreport.registry import words
from evalreport.results import Results


@dataclass(frozen=True, slots=True)
class Paired:
    """What is settled of a pair: a - b with its one interval, the adjusted p-value, the verdict seen from b."""

    difference: float
    low: float | None
    high: float | None
    p: float | None
    verdict: str | None


def ranked(results: Results) -> list[str]:
    """Give the models, the first in rank first; those without a rank follow by name."""
    rank = {record.model: record.rank for record in results.ranking}
    return sorted(results.models, key=lambda model: (rank.get(model, len(rank) + 1), model))


def primary_words(results: Results) -> str:
    """Give the primary metric's name as words."""
    return words(results.primary_metric)


def spelled(record: MetricRecord | ComparisonRecord | FoldRecord) -> str:
    """Give a record's metric as the command line spells it."""
    text = record.metric + (f"_{record.average}" if record.average else "")
    return text + (f"[class={record.label}]" if record.label is not None else "")


def is_metric(record: MetricRecord | ComparisonRecord | FoldRecord, metric: str) -> bool:
    """Say whether a record is about a metric; a bare name means the overall or averaged value."""
    return spelled(record) == metric or (record.label is None and record.metric == metric)


def values_of(results: Results, metric: str) -> dict[str, MetricRecord]:
    """Give every model's value of a metric on all examples."""
    found: dict[str, MetricRecord] = {}
    for record in results.metrics:
        if record.slice is None and is_metric(record, metric):
            found.setdefault(record.model, record)
    return found


def paired_on_primary(results: Results, a: str, b: str) -> Paired | None:
    """Give what the recommended test and the verdict say of a - b; None where they were not compared."""
    tests = (
        r
        for r in results.comparisons
        if r.recommended and r.slice is None and is_metric(r, results.primary_metric) and {r.a, r.b} == {a, b}
    )
    record = next(tests, None)
    if record is None or record.difference is None:
        return None
    turned = record.a == b
    verdict = next((v for v in results.verdicts if set(v.about) == {a, b}), None)
    low, high = _turned(record.low, record.high, turned)
    word = None
    if verdict is not None:
        around = verdict.about[0] == b
        low, high = _turned(verdict.low, verdict.high, around)
        other = {"better": "worse", "worse": "better", "non-inferior": "undecided"}
        word = other.get(verdict.verdict, verdict.verdict) if around else verdict.verdict
    p = record.p_adjusted if record.p_adjusted is not None else record.p_value
    difference = 0.0 - record.difference if turned else record.difference
    return Paired(difference, low, high, p, word)


def _turned(low: float | None, high: float | None, turned: bool) -> tuple[float | None, float | None]:
    if not turned:
        return low, high
    return None if high is None else 0.0 - high, None if low is None else 0.0 - low
