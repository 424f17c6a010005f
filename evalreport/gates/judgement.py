"""The outcome of a condition by an interval, and its record."""

from __future__ import annotations

from typing import Literal

from evalreport.gates.conditions import MIRRORED, Comparator, Gate
from evalreport.schema.decisions import GateRecord
from evalreport.texts import Text

Outcome = Literal["pass", "fail", "undecided"]


def outcome_of(comparator: Comparator, limit: float, *, low: float, high: float) -> Outcome:
    """Return pass where the whole closed interval fulfils the condition, fail where none of it does.

    Examples
    --------
    >>> outcome_of(">=", 0.9, low=0.9, high=0.95), outcome_of(">", 0.9, low=0.9, high=0.95)
    ('pass', 'undecided')
    """
    if comparator in ("<", "<="):
        return outcome_of(MIRRORED[comparator], -limit, low=-high, high=-low)
    if low > limit or (comparator == ">=" and low == limit):
        return "pass"
    if high < limit or (comparator == ">" and high == limit):
        return "fail"
    return "undecided"


def gate_record(
    gate: Gate,
    outcome: Outcome,
    text: Text,
    *,
    value: float | None = None,
    low: float | None = None,
    high: float | None = None,
) -> GateRecord:
    """Return the record of a gate, with the value and the limits that decided it."""
    return GateRecord(gate=gate.text, outcome=outcome, value=value, low=low, high=high, text=text)
