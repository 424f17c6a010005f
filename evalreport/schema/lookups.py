"""What charts and the report look up in results: models by rank, values of a metric, pairs in either direction."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterable, Mapping, Sequence

from evalreport.registry import words
from evalreport.schema.comparisons import ComparisonRecord
from evalreport.schema.decisions import VerdictRecord
from evalreport.schema.metrics import FoldRecord, MetricRecord
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


def unordered(*models: str) -> tuple[str, ...]:
    """Return the key of a pair of models, whichever is named first."""
    return tuple(sorted(models))


@dataclasses.dataclass(frozen=True, slots=True)
class PairRecords:
    """The leading comparisons over all examples, and the verdicts, by the pair of models that they are about."""

    comparisons: Mapping[tuple[str, ...], Sequence[ComparisonRecord]]
    verdicts: Mapping[tuple[str, ...], Sequence[VerdictRecord]]

    @classmethod
    def of(cls, results: Results) -> PairRecords:
        """Sort the records of results by pair."""
        comparisons: dict[tuple[str, ...], list[ComparisonRecord]] = {}
        verdicts: dict[tuple[str, ...], list[VerdictRecord]] = {}
        for row in results.comparisons:
            if row.leads and row.slice is None and row.b is not None:
                comparisons.setdefault(unordered(row.a, row.b), []).append(row)
        for verdict in results.verdicts:
            verdicts.setdefault(unordered(*verdict.about), []).append(verdict)
        return cls(comparisons, verdicts)


def comparison_between(
    pairs: PairRecords, a: str, b: str, *, about: Callable[[ComparisonRecord], bool], decided: bool
) -> ComparisonRecord | None:
    """Return the recommended comparison a - b, turned round where the results hold b - a.

    Parameters
    ----------
    about
        Whether a comparison is on the metric in question.
    decided
        Whether that is the primary one: then the limits are the pair's one interval, that of the verdict.
    """
    record = next(filter(about, pairs.comparisons.get(unordered(a, b), ())), None)
    if record is None:
        return None
    seen = record if record.a == a else turned(record)
    verdict = verdict_between(pairs.verdicts.get(unordered(a, b), ()), a, b) if decided else None
    if verdict is None:
        return seen
    then = seen.difference if verdict.difference is None else verdict.difference
    return dataclasses.replace(seen, difference=then, level=verdict.level, low=verdict.low, high=verdict.high)


def turned(record: ComparisonRecord) -> ComparisonRecord:
    """Return a comparison seen from its other model."""
    assert record.b is not None
    low, high = negated(record.high), negated(record.low)
    return dataclasses.replace(
        record, a=record.b, b=record.a, difference=negated(record.difference), low=low, high=high
    )


def negated(value: float | None) -> float | None:
    """Turn a value round, where there is one; 0 has no sign."""
    return None if value is None else 0.0 - value


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
