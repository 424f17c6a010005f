"""Gates about an earlier run: decided by the interval of the difference, paired where the examples are the same.

    forest.accuracy >= accepted - 0.02
    forest.recall[sex=f] >= last - 0.05
    n >= accepted - 100

The gate's value is the difference now - then, and its limit is what is added to the earlier value.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import cast

from evalreport import numbers
from evalreport.audit.gates import decided_by, metric_record, outcome_of, quantity_of, slice_of
from evalreport.audit.reference import Past, Reference
from evalreport.audit.since import Present, since
from evalreport.conditions import Gate
from evalreport.metrics.quantities import Quantity
from evalreport.metrics.registry import Average
from evalreport.records import GateRecord


def decider(now: Present, past: Past) -> Callable[[Gate], GateRecord]:
    """Return what decides the gates of this run about earlier ones."""

    def decide(gate: Gate) -> GateRecord:
        assert gate.reference is not None
        reference = past.references.get(gate.reference)
        if reference is None:
            return _without_reference(gate, now, past)
        return _against_value(gate, now, reference) if gate.terms else _against_count(gate, now, reference)

    return decide


def _without_reference(gate: Gate, now: Present, past: Past) -> GateRecord:
    """Pass where there is no earlier run yet: a series that could not begin would never have one."""
    assert gate.reference is not None
    for term in gate.terms:
        metric_record(gate, term, now.results)
    if gate.reference in past.pruned:
        text = f"run {past.pruned[gate.reference]}, which it was compared with, was pruned"
        return GateRecord(gate.text, "undecided", None, None, None, text)
    none = "no run was accepted yet" if gate.reference == "accepted" else "no earlier run exited 0"
    return GateRecord(
        gate.text, "pass", None, None, None, f"{none}: nothing to compare with, so that the series can begin"
    )


def _against_value(gate: Gate, now: Present, reference: Reference) -> GateRecord:
    term = gate.terms[0]
    metric_record(gate, term, now.results)
    metric, average, label = quantity_of(gate, term, now.results)
    quantity = Quantity(metric, cast(Average | None, average), label)
    within = slice_of(gate, term, now.results)
    found = since(reference, now, term.model, quantity, within=within)
    record = decided_by(
        gate, found.difference, found.low, found.high, method=found.method, reason=found.reason
    )
    then = ""
    if found.value is not None and found.reference_value is not None:
        values = numbers.number(found.value, 4), numbers.number(found.reference_value, 4)
        then = f"; {values[0]} now, {values[1]} at {reference.spoken}"
    return replace(record, text=f"{record.text}{then}" + (f"; {found.how}" if found.how else ""))


def _against_count(gate: Gate, now: Present, reference: Reference) -> GateRecord:
    """Both counts are known exactly, so that the gate is decided at once."""
    then = int(reference.results["n"])
    change = float(now.results.n - then)
    outcome = outcome_of(gate.comparator, gate.limit, low=change, high=change)
    text = f"n = {now.results.n} now, {then} at {reference.spoken}"
    return GateRecord(gate.text, outcome, change, None, None, text)
