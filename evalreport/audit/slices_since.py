"""Which slice fell since the accepted run: every slice against the same slice then."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, replace
from typing import Any

from evalreport.audit.evidence import Fresh
from evalreport.audit.looks import is_worse, share_of_look, unresolved
from evalreport.audit.reference import Past, Reference
from evalreport.audit.since import Present, Since, since
from evalreport.audit_records import AuditRecord
from evalreport.comparisons.multiplicity import adjust
from evalreport.metrics.quantities import Quantity, parse
from evalreport.records import MetricRecord
from evalreport.results import Results
from evalreport.texts import Message, Text

MOST_JUDGED = 40
"""Slices that are compared in full, those that fell most; the others count in the correction all the same."""


def fallen_slices(now: Present, past: Past) -> Results:
    """Ask of every slice of every model how its primary metric changed since the accepted run."""
    reference, fresh = past.references.get("accepted"), past.fresh
    if reference is None or fresh is None:
        return now.results
    quantity = parse(now.results.primary_metric, now.predictions.task, now.results.classes)
    wanted = (quantity.metric, quantity.average, quantity.label)
    rows = [
        row
        for row in now.results.metrics
        if row.slice is not None and (row.metric, row.average, row.label) == wanted
    ]
    if not rows:
        return now.results
    chosen = _largest_changes(rows, reference.results["metrics"])
    found = [(row, since(reference, now, row.model, quantity, within=row.slice)) for row in chosen]
    records = _judged(found, len(rows), now, quantity, reference, fresh)
    return replace(now.results, audit=(*now.results.audit, *records))


def _largest_changes(
    rows: Sequence[MetricRecord], stored: Sequence[Mapping[str, Any]]
) -> Sequence[MetricRecord]:
    """Return the rows whose value changed most; in their order."""
    if len(rows) <= MOST_JUDGED:
        return rows
    then = {
        (r["model"], r["metric"], r["average"], r["label"], *r["slice"].values()): r["value"]
        for r in stored
        if r["slice"] is not None
    }

    def change(row: MetricRecord) -> float:
        assert row.slice is not None
        old = then.get((row.model, row.metric, row.average, row.label, *asdict(row.slice).values()))
        return -1.0 if old is None or row.value is None else abs(row.value - old)

    kept = sorted(range(len(rows)), key=lambda k: -change(rows[k]))[:MOST_JUDGED]
    return [rows[k] for k in sorted(kept)]


def _judged(
    found: Sequence[tuple[MetricRecord, Since]],
    family: int,
    now: Present,
    quantity: Quantity,
    reference: Reference,
    fresh: Fresh,
) -> list[AuditRecord]:
    """Adjust by Holm over all slices and models, those that were not compared counting as p = 1, and for the looks."""
    tested = [change.p_value for _, change in found if change.p_value is not None]
    adjusted = iter(adjust([*tested, *[1.0] * (family - len(found))], "holm"))
    share, alpha = share_of_look(fresh.look), 1 - now.options.confidence
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
                run=reference.run.id,
                look=fresh.look,
                test=change.test,
                statistic=None,
                p_value=change.p_value,
                p_adjusted=p,
                effect="difference",
                effect_size=change.difference,
                low=change.low,
                high=change.high,
                alarm=alarm,
                text=_text(quantity, change, fell=alarm),
                reason=change.reason or unclear,
            )
        )
    return records


def _text(quantity: Quantity, change: Since, *, fell: bool) -> Text:
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
