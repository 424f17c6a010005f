"""The question which slices became worse since the accepted run."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, replace

from evalreport.audit.past import Past
from evalreport.audit.sequential_test import is_worse, share_of_look, unresolved
from evalreport.comparisons.adjustment import adjust
from evalreport.history.run_differences import ModelChange, Present, change_since, quantity_of
from evalreport.metrics.quantities import parse
from evalreport.metrics.registry import Quantity
from evalreport.schema.audit import AuditRecord
from evalreport.schema.inputs import JsonObject
from evalreport.schema.metrics import MetricRecord
from evalreport.schema.results import Results
from evalreport.texts import Message, Text

MOST_JUDGED = 40
"""The slices whose values changed most are compared; the correction counts all of them."""


def fallen_slices(now: Present, past: Past) -> Results:
    """Answer for every slice of every model whether its primary metric became worse since the accepted run."""
    reference, new = past.references.get("accepted"), past.new_examples
    if reference is None or new is None:
        return now.results
    quantity = parse(now.results.shown_metric, now.predictions.task, now.results.classes)
    rows = [r for r in now.results.metrics if r.slice is not None and Quantity.of(r) == quantity]
    if not rows:
        return now.results
    chosen = _largest_changes(rows, reference.results["metrics"])
    found = [(row, change_since(reference, now, row.model, quantity, within=row.slice)) for row in chosen]
    records = _records(found, len(rows), now, quantity, reference.run.id, new.look)
    return replace(now.results, audit=(*now.results.audit, *records))


def _largest_changes(rows: Sequence[MetricRecord], stored: Sequence[JsonObject]) -> Sequence[MetricRecord]:
    """Return the rows whose values changed most, in their order."""
    if len(rows) <= MOST_JUDGED:
        return rows
    then = {
        (r["model"], quantity_of(r), *r["slice"].values()): r["value"]
        for r in stored
        if r["slice"] is not None
    }

    def change(row: MetricRecord) -> float:
        assert row.slice is not None
        old = then.get((row.model, Quantity.of(row), *asdict(row.slice).values()))
        return -1.0 if old is None or row.value is None else abs(row.value - old)

    kept = sorted(range(len(rows)), key=lambda k: -change(rows[k]))[:MOST_JUDGED]
    return [rows[k] for k in sorted(kept)]


def _records(
    found: Sequence[tuple[MetricRecord, ModelChange]],
    family: int,
    now: Present,
    quantity: Quantity,
    run: int,
    look: int,
) -> list[AuditRecord]:
    """Adjust by Holm over all slices and models (p = 1 where not compared) and for the looks."""
    tested = [change.p_value for _, change in found if change.p_value is not None]
    adjusted = iter(adjust([*tested, *[1.0] * (family - len(found))], "holm"))
    share, alpha = share_of_look(look), 1 - now.options.confidence
    records = []
    for row, change in found:
        uncut = None if change.p_value is None else next(adjusted) / share
        p = None if uncut is None else min(1.0, uncut)
        worse = is_worse(quantity, change.difference, lower_is_better=now.options.lower_is_better)
        alarm = worse and p is not None and p <= alpha
        unclear = None
        if worse and not alarm and uncut is not None and change.p_value is not None:
            unclear = unresolved(change.test, change.p_value, uncut / alpha, now)
        assert row.slice is not None
        records.append(
            AuditRecord(
                question="slice",
                about=f"{row.model}, {row.slice.column} = {row.slice.value}",
                run=run,
                look=look,
                test=change.test,
                p_value=change.p_value,
                p_adjusted=p,
                effect="difference",
                effect_size=change.difference,
                low=change.low,
                high=change.high,
                alarm=alarm,
                text=_text(quantity, change, fell=alarm),
                reason=change.reason or unclear,
                statistic=None,
                details=_then_and_now(change),
            )
        )
    return records


def _then_and_now(change: ModelChange) -> dict[str, float]:
    """Return both values, and the numbers of examples if these are not the same examples."""
    if change.value is None or change.reference_value is None:
        return {}
    details = {"then": change.reference_value, "now": change.value}
    if change.sizes is not None:
        details |= {"n_then": change.sizes[0], "n_now": change.sizes[1]}
    return details


def _text(quantity: Quantity, change: ModelChange, *, fell: bool) -> Text:
    if change.value is None or change.reference_value is None:
        return change.reason or Message("slice_since.not_compared")
    return Message(
        "slice_since.fell" if fell else "slice_since.value",
        metric=quantity.spelled,
        now=change.value,
        then=change.reference_value,
        how=change.how,
        decimals=4,
    )
