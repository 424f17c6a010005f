"""Gates about an earlier run: decided by the interval of the difference, paired where the examples are the same.

    forest.accuracy >= accepted - 0.02
    forest.recall[sex=f] >= last - 0.05
    n >= accepted - 100
    forest.accuracy >= 0.88 every night

The gate's value is the difference now - then, and its limit is what is added to the earlier value. A gate about every
night fails where the alarm over nights has refuted it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from evalreport.audit.gates import (
    Outcome,
    as_verdict,
    decided_by,
    metric_record,
    outcome_of,
    quantity_of,
    slice_of,
)
from evalreport.audit.reference import Past, Reference
from evalreport.audit.since import Present, since
from evalreport.conditions import Gate
from evalreport.records import GateRecord, Interval
from evalreport.texts import Message, parts


def decider(now: Present, past: Past) -> Callable[[Gate], GateRecord]:
    """Return what decides the gates of this run about earlier ones."""

    def decide(gate: Gate) -> GateRecord:
        if gate.every_night:
            return _about_every_night(gate, now)
        assert gate.reference is not None
        reference = past.references.get(gate.reference)
        if reference is None:
            return _without_reference(gate, now, past)
        return _against_value(gate, now, reference) if gate.terms else _against_count(gate, now, reference)

    return decide


def _about_every_night(gate: Gate, now: Present) -> GateRecord:
    """Fail where the bets against the declared floor are an alarm: what was not refuted passes."""
    (term,) = gate.terms
    metric_record(gate, term, now.results)
    found = [row for row in now.results.audit if (row.question, row.about) == ("worse", term.model)]
    if not found:
        return GateRecord(gate.text, "pass", None, None, None, Message("gates.none_accepted"))
    (row,) = found
    if row.effect != "from_floor" or row.effect_size is None:
        text = parts(Message("gates.no_night"), row.text)
        return GateRecord(gate.text, "undecided", None, None, None, text)
    outcome: Outcome = "fail" if row.alarm else "pass"
    return GateRecord(gate.text, outcome, row.effect_size + gate.limit, None, None, row.text)


def _without_reference(gate: Gate, now: Present, past: Past) -> GateRecord:
    """Pass where there is no earlier run yet: a series that could not begin would never have one."""
    assert gate.reference is not None
    for term in gate.terms:
        metric_record(gate, term, now.results)
    if gate.reference in past.pruned:
        text = Message("gates.pruned", run=past.pruned[gate.reference])
        return GateRecord(gate.text, "undecided", None, None, None, text)
    none = Message("gates.none_accepted" if gate.reference == "accepted" else "gates.none_passed")
    return GateRecord(gate.text, "pass", None, None, None, none)


def _against_value(gate: Gate, now: Present, reference: Reference) -> GateRecord:
    term = gate.terms[0]
    metric_record(gate, term, now.results)
    quantity = quantity_of(gate, term, now.results)
    within = slice_of(gate, term, now.results)
    found = since(reference, now, term.model, quantity, within=within)
    level = now.options.confidence
    limits, decided = Interval(found.method or "", level, found.low, found.high, found.reason), None
    if found.p_value is not None and quantity.spelled == now.results.primary_metric:
        limits, decided = as_verdict(limits, found.difference, found.p_value)
    record = decided_by(gate, found.difference, limits, decided=decided)
    said = [record.text]
    if found.value is not None and found.reference_value is not None:
        then = {"then": found.reference_value, "run": reference.spoken}
        said.append(Message("gates.now_and_then", now=found.value, **then, decimals=4))
    return replace(record, text=parts(*said, *([found.how] if found.how else [])))


def _against_count(gate: Gate, now: Present, reference: Reference) -> GateRecord:
    """Both counts are known exactly, so that the gate is decided at once."""
    then = int(reference.results["n"])
    change = float(now.results.n - then)
    outcome = outcome_of(gate.comparator, gate.limit, low=change, high=change)
    text = Message("gates.n_now_and_then", now=now.results.n, then=then, run=reference.spoken)
    return GateRecord(gate.text, outcome, change, None, None, text)
