"""What charts and the report look up in results: models by rank, values of a metric, pairs in either direction."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable

from evalreport.registry import words
from evalreport.schema.comparisons import ComparisonRecord
from evalreport.schema.decisions import VerdictRecord
from evalreport.schema.metrics import FoldRecord, MetricRecord
from evalreport.schema.pairs import negated
from evalreport.schema.results import Results
from evalreport.texts.visible import visible


def ranked(results: Results) -> list[str]:
    """Return the models, the first in rank first; those without a rank follow. As given where there is no verdict."""
    if results.is_blocked:
        return list(results.models)
    rank = {record.model: record.rank for record in results.ranking}
    return sorted(
        results.models, key=lambda model: (rank.get(model, len(rank) + 1), results.models.index(model))
    )


def shown_behind(results: Results) -> set[str]:
    """Return the models that are shown to be behind some other one, not always the first: none of them may be best."""
    return {record.model for record in results.rank_sets if not record.may_be_best}


def place_of_model(results: Results, model: str) -> int:
    """Return a model's place in the ranking, from 0 on: its colour, its marker and the key of its parts go by it."""
    return ranked(results).index(model)


def primary_words(results: Results) -> str:
    """Return the primary metric's name as words."""
    column = results.primary_column
    return words(results.shown_metric) if column is None else visible(column)


def is_metric(record: MetricRecord | ComparisonRecord | FoldRecord, metric: str) -> bool:
    """Return whether a record is about a metric; a bare name means the overall or averaged value."""
    spelled = record.metric + (f"_{record.average}" if record.average else "")
    spelled += f"[class={record.label}]" if record.label is not None else ""
    return spelled == metric or (record.label is None and record.metric == metric)


def with_limits(record: MetricRecord | None) -> tuple[float | None, float | None, float | None]:
    """Return a value with the lower and the upper limit of its first interval; None for what there is not."""
    if record is None:
        return None, None, None
    first = record.intervals[0] if record.intervals else None
    return record.value, None if first is None else first.low, None if first is None else first.high


def values_of(results: Results, metric: str) -> dict[str, MetricRecord]:
    """Return every model's value of a metric on all examples."""
    values: dict[str, MetricRecord] = {}
    for record in results.metrics:
        if record.slice is None and is_metric(record, metric):
            values.setdefault(record.model, record)
    return values


def confusion_of(results: Results, model: str) -> dict[tuple[str, str], float]:
    """Count a model's examples by their true and predicted class."""
    return {(c.true, c.predicted): c.count for c in results.confusion if c.model == model}


def outcomes_of(results: Results, model: str, positive: str | None) -> tuple[float, float, float, float]:
    """Count a model's true and false positives, then its false and true negatives, of one class against the rest."""
    cells = confusion_of(results, model)
    tp, fp, fn, tn = (
        sum(n for (t, p), n in cells.items() if (t == positive, p == positive) == kind)
        for kind in ((True, True), (False, True), (True, False), (False, False))
    )
    return tp, fp, fn, tn


def true_counts(results: Results) -> dict[str, float]:
    """Count the examples of each true class, which are the same for every model."""
    counts: dict[str, float] = {}
    for cell in results.confusion:
        if cell.model == results.confusion[0].model:
            counts[cell.true] = counts.get(cell.true, 0.0) + cell.count
    return counts


def tested_pairs(comparisons: Iterable[ComparisonRecord], metric: str) -> set[frozenset[str]]:
    """Return the pairs for which a metric's leading test has a p-value: the family that is corrected."""
    return {
        frozenset((record.a, record.b))
        for record in comparisons
        if record.recommended and record.slice is None and record.p_value is not None
        and record.b is not None and is_metric(record, metric)
    }  # fmt: skip


def quarter(low: float | None, high: float | None) -> float | None:
    """Return a quarter of an interval's width, which is about a standard error."""
    return None if low is None or high is None else (high - low) / 4


def verdict_between(records: Iterable[VerdictRecord], a: str, b: str) -> VerdictRecord | None:
    """Return the verdict of a seen from b, turned round where the records hold b seen from a."""
    for record in records:
        if record.about == (a, b):
            return record
        if record.about == (b, a):
            # Seen from the other side, "not worse by more than the margin" leaves everything open.
            other = {"better": "worse", "worse": "better", "non-inferior": "undecided"}
            return dataclasses.replace(
                record,
                about=(a, b),
                verdict=other.get(record.verdict, record.verdict),  # type: ignore[arg-type]
                low=negated(record.high),
                high=negated(record.low),
                difference=negated(record.difference),
            )
    return None
