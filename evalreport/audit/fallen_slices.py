"""The question which slices became worse since the accepted runs, by the one-run alarm of each."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

from evalreport.audit.past import NewExamples, Past
from evalreport.audit.run_alarm import Comparison
from evalreport.audit.run_values import Measured, class_shares, value_on_new
from evalreport.audit.sequential_test import (
    Spending,
    accepted_runs,
    accepted_values,
    change_limits,
    compare_values,
    fall_on_same,
    on_same_examples,
    spending_of,
)
from evalreport.comparisons.adjustment import adjust
from evalreport.history.run_differences import (
    ChangeLimits,
    ModelChange,
    Present,
    Reference,
    change_on_shared,
    change_since,
    rows_inside,
)
from evalreport.metrics.quantities import parse
from evalreport.metrics.registry import Quantity
from evalreport.predictions.arrays import Mask
from evalreport.predictions.table import Predictions
from evalreport.schema.audit import AuditRecord
from evalreport.schema.metrics import MetricRecord, limit_fields
from evalreport.schema.results import Results
from evalreport.texts import Message, Text

MOST_JUDGED = 40
"""The slices whose values changed most are compared; the correction counts all of them."""


def fallen_slices(now: Present, past: Past) -> Results:
    """Answer for every slice of every model whether its primary metric became worse since the accepted runs."""
    reference, new = past.references.get("accepted"), past.new_examples
    if reference is None or new is None:
        return now.results
    quantity = parse(now.results.shown_metric, now.predictions.task, now.results.classes)
    rows = [r for r in now.results.metrics if r.slice is not None and Quantity.of(r) == quantity]
    if not rows:
        return now.results
    same = on_same_examples(now, past)
    falls = []
    for row in _largest_changes(rows, reference.results.metrics):
        change = change_since(reference, now, row.model, quantity, within=row.slice)
        fall = (
            _fall_on_same(reference, now, row, quantity, change)
            if same
            else _fall(now, past, new, row, quantity)
        )
        falls.append((row, fall.change or change, fall))
    records = _records(falls, len(rows), quantity, reference.run.id, new.look, spending_of(now, past))
    return replace(now.results, audit=(*now.results.audit, *records))


@dataclass(frozen=True, slots=True)
class Fall:
    """The one-sided p-value of a slice's fall, and its test; ``reason``: why there is no p-value.

    ``change``: with the mean of the accepted runs, where that is what is compared.
    """

    test: str | None = None
    p_value: float | None = None
    reason: Text | None = None
    change: ModelChange | None = None


def _fall_on_same(
    reference: Reference, now: Present, row: MetricRecord, quantity: Quantity, change: ModelChange
) -> Fall:
    """Compare a slice pair by pair with the accepted run."""
    if not change.paired:
        change = change_on_shared(reference, now, row.model, quantity, within=row.slice)
    p = fall_on_same(change, quantity, now)
    return Fall(change.test, p, change.reason if p is None else None)


def _fall(now: Present, past: Past, new: NewExamples, row: MetricRecord, quantity: Quantity) -> Fall:
    """Compare a slice's value on new examples with its values at the accepted runs."""
    place = row.slice
    assert place is not None
    if new.reason is not None:
        return Fall(reason=new.reason)

    def within(predictions: Predictions) -> Mask | None:
        return rows_inside(predictions, place, now.options)

    runs = accepted_runs(now, past, new, within)
    shares = class_shares([(own, rows) for own, _, rows in runs], now.options)
    own, inside = now.predictions, within(now.predictions)
    today = value_on_new(own, row.model, quantity, now.options, new.new, within=inside, shares=shares)
    if not isinstance(today, Measured):
        return Fall(reason=today)
    values = accepted_values(now, runs, row.model, quantity, shares)
    accepted = [value for value in values if isinstance(value, Measured)]
    if not accepted:
        return Fall(reason=Message("night.none_accepted", why=next(iter(values), Message("night.lost"))))
    compared = compare_values(accepted, today, now)
    if not isinstance(compared, Comparison):
        return Fall(reason=compared)
    then = math.fsum(v.value.value for v in accepted) / len(accepted)
    change = ModelChange(
        value=today.value.value,
        reference_value=then,
        difference=today.value.value - then,
        limits=ChangeLimits(*change_limits(accepted, today, compared, now.options.confidence)),
        how=Message("slice_since.accepted", n=len(accepted)),
        sizes=(sum(v.value.n for v in accepted), today.value.n),
    )
    return Fall("run_alarm", compared.p_value, change=change)


def _largest_changes(rows: Sequence[MetricRecord], stored: Sequence[MetricRecord]) -> Sequence[MetricRecord]:
    """Return the rows whose values changed most, in their order."""
    if len(rows) <= MOST_JUDGED:
        return rows
    then = {(r.model, Quantity.of(r), r.slice): r.value for r in stored}

    def change(row: MetricRecord) -> float:
        old = then.get((row.model, Quantity.of(row), row.slice))
        return -1.0 if old is None or row.value is None else abs(row.value - old)

    kept = sorted(range(len(rows)), key=lambda k: -change(rows[k]))[:MOST_JUDGED]
    return [rows[k] for k in sorted(kept)]


def _records(
    found: Sequence[tuple[MetricRecord, ModelChange, Fall]],
    family: int,
    quantity: Quantity,
    run: int,
    look: int,
    spending: Spending,
) -> list[AuditRecord]:
    """Adjust by Holm over all slices and models (p = 1 where not compared) and for the place of this run."""
    tested = [fall.p_value for _, _, fall in found if fall.p_value is not None]
    adjusted = iter(adjust([*tested, *[1.0] * (family - len(found))], "holm"))
    records = []
    for row, change, fall in found:
        uncut = None if fall.p_value is None else spending.adjusted(next(adjusted), models=1)
        p = None if uncut is None else min(1.0, uncut)
        alarm = p is not None and p <= spending.alpha
        assert row.slice is not None
        records.append(
            AuditRecord(
                question="slice",
                about=f"{row.model}, {row.slice.column} = {row.slice.value}",
                run=run,
                look=look,
                test=fall.test,
                p_value=fall.p_value,
                p_adjusted=p,
                effect="difference",
                effect_size=change.difference,
                **limit_fields(change),
                alarm=alarm,
                text=_text(quantity, change, fell=alarm),
                reason=fall.reason or change.reason,
                details=_then_and_now(change),
            )
        )
    return records


def _then_and_now(change: ModelChange) -> dict[str, float]:
    """Return both values, and the numbers of examples if these are not the same examples."""
    details = change.then_and_now
    if details and change.sizes is not None:
        details |= {"n_then": change.sizes[0], "n_now": change.sizes[1]}
    return details


def _text(quantity: Quantity, change: ModelChange, *, fell: bool) -> Text:
    if change.value is None or change.reference_value is None:
        return change.reason or Message("slice_since.not_compared")
    values = {"now": change.value, "then": change.reference_value, "decimals": 4}
    key = "slice_since.fell" if fell else "slice_since.value"
    return Message(key, metric=quantity.spelled, how=change.how, **values)
