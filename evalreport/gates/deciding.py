"""The outcome of a condition by an interval, and its record."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal

from evalreport.gates.conditions import MIRRORED, Comparator, Gate
from evalreport.numbers import decimals_of
from evalreport.schema.decisions import GateRecord
from evalreport.texts import Message, Text, parts

Outcome = Literal["pass", "fail", "undecided"]

ROUNDING = 1e-12
"""A figure that is known exactly is at its bar within this share of it: three costs of 0.1 are 0.3."""


@dataclass(frozen=True, slots=True)
class Limited:
    """A figure with its limits; ``exact``: it is known exactly, or all costs are the same."""

    value: float | None
    low: float | None
    high: float | None
    reason: Text | None = None
    exact: bool = False


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


def decided_within(
    gate: Gate,
    found: Limited,
    text: Message,
    *,
    limit: float | None = None,
    span: tuple[float, float] | None = None,
    why: Text | None = None,
) -> GateRecord:
    """Decide a gate on a figure by its limits; one that is missing rules nothing out.

    Parameters
    ----------
    limit
        What the figure is held against, where that is not the gate's own number.
    span
        All values that are not ruled out, where these are not those between the limits.
    why
        Why it is open, where that is not for both answers are possible.
    """
    low, high = found.low, found.high
    least, most = span or (-math.inf if low is None else low, math.inf if high is None else high)
    bar = gate.limit if limit is None else limit
    outcome = outcome_of(gate.comparator, bar, low=least, high=most)
    said: Text = text if outcome != "undecided" else parts(text, why or Message("gates.both_answers"))
    return gate_record(gate, outcome, said, value=found.value, low=low, high=high)


def decide_by_limits(gate: Gate, found: Limited, limit: float) -> GateRecord:
    """Decide a gate on a figure by its limits, of which one may be missing.

    Without the limit that it needs a gate cannot pass; it can fail by the other one.
    """
    value, low, high = found.value, found.low, found.high
    if value is not None and found.exact:
        at = limit if math.isclose(value, limit, rel_tol=ROUNDING) else value
        outcome = outcome_of(gate.comparator, limit, low=at, high=at)
        return gate_record(gate, outcome, Message("gates.cost_exact", value=value), value=value)
    if value is None or (low is None and high is None):
        unknown = Message("gates.no_interval", why=found.reason or Message("gates.not_computed"))
        return gate_record(gate, "undecided", unknown, value=value)
    ends = (value if low is None else low, value if high is None else high)
    decimals = decimals_of([(ends[1] - ends[0]) / 4])
    key = "gates.cost_up_to" if low is None else "gates.cost_from" if high is None else "gates.cost"
    text = Message(key, value=value, limits=ends, low=ends[0], high=ends[1], decimals=decimals)
    return decided_within(gate, found, text, limit=limit, why=found.reason if None in (low, high) else None)
