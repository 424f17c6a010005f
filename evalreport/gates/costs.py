"""Gates on costs: a model's figure against a number, or two models' by the interval of their ratio."""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass, replace

from evalreport.errors import UsageError
from evalreport.gates.conditions import CostFigure, Gate, Term, cost_of, wrong
from evalreport.gates.judgement import gate_record, outcome_of
from evalreport.numbers import decimals_of
from evalreport.registry import unknown_name
from evalreport.schema.costs import CostRatioRecord, CostRecord
from evalreport.schema.decisions import GateRecord
from evalreport.schema.results import Results
from evalreport.texts import Message, Text, parts

RATIOS = ("mean", "per_success", "sum")


@dataclass(frozen=True, slots=True)
class _Limited:
    """A figure with its limits; ``exact``: it is known exactly, or all costs are the same."""

    value: float | None
    low: float | None
    high: float | None
    reason: Text | None = None
    exact: bool = False


def decide_cost(gate: Gate, results: Results) -> GateRecord:
    """Decide a gate on costs: by the limits, at once where the figure is known exactly.

    Without the limit that it needs a gate cannot pass; it can fail by the other one.

    Raises
    ------
    UsageError
        A cost that the results do not hold, or two models' medians or 95th percentiles.
    """
    if len(gate.terms) == 1:
        return _decided(gate, _of_model(gate, gate.terms[0], results), gate.limit)
    first, second = gate.terms
    found = cost_of(first.metric)
    if found is None or found != cost_of(second.metric):
        raise wrong(gate.text, second.metric_at, "both sides need the same cost")
    column, figure = found
    if figure not in RATIOS:
        raise wrong(gate.text, second.metric_at, f"the {figure} of a cost is held against a number only")
    if not gate.ratio and gate.limit != 0:
        bar = f"{first.model}.{first.metric} <= 1.1 * {second.model}.{second.metric}"
        raise UsageError(f"gate {gate.text!r}: two models' costs are compared by their ratio: write {bar}")
    if first.model == second.model:
        raise wrong(gate.text, second.metric_at, "a ratio of costs is of two models, not of two groups of one")
    return _decided(gate, _of_pair(gate, column, figure, results), gate.limit if gate.ratio else 1.0)


def _of_model(gate: Gate, term: Term, results: Results) -> _Limited:
    """Find the figure that one term names."""
    column, figure = cost_of(term.metric) or ("", "mean")
    record = _record(gate, term, column, results)
    if figure == "sum":
        return _Limited(record.sum, record.sum, record.sum, exact=True)
    if figure == "mean":
        exact = record.alike or record.mean == 0
        return _Limited(record.mean, record.low, record.high, record.reason, exact=exact)
    if figure == "per_success":
        low, high = record.per_success_low, record.per_success_high
        return _Limited(record.per_success, low, high, record.reason)
    if figure == "median":
        return _Limited(record.median, record.median_low, record.median_high, record.reason)
    return _Limited(record.p95, record.p95_low, record.p95_high, record.reason)


def _record(gate: Gate, term: Term, column: str, results: Results) -> CostRecord:
    own = [r for r in results.costs if r.model == term.model and r.column == column]
    if not own:
        known = list(dict.fromkeys(r.column for r in results.costs if r.model == term.model))
        if not known:
            raise wrong(
                gate.text,
                term.metric_at,
                f"{term.model} has no costs: a column of numbers named cost, latency or tokens, or --cost COLUMN",
            )
        raise wrong(gate.text, term.metric_at, unknown_name("cost", column, known))
    for record in own:
        if record.slice is None and not term.slices:
            return _at_look(record)
        if record.slice is not None and _is_slice(term, record.slice.column, record.slice.value):
            return _at_look(record)
    raise wrong(gate.text, term.metric_at, f"there is no such slice of {column}")


def _at_look(record: CostRecord) -> CostRecord:
    """Return a record with the limits that gates are decided by: those of the look, where there are several."""
    return record if record.of_gates is None else replace(record, **asdict(record.of_gates))


def _is_slice(term: Term, column: str, value: str) -> bool:
    orders = (term.slices, term.slices[::-1])
    return any(
        ("*".join(c for c, _ in order), " * ".join(v for _, v in order)) == (column, value)
        for order in orders
        if order
    )


def _of_pair(gate: Gate, column: str, figure: CostFigure, results: Results) -> _Limited:
    """Find the ratio of two models' figures, turned round where the records hold the other one."""
    a, b = gate.terms
    if figure == "sum":
        first, second = (_record(gate, term, column, results).sum for term in (a, b))
        ratio = None if second == 0 else first / second
        return _Limited(ratio, ratio, ratio, Message("costs.all_zero"), exact=ratio is not None)
    within, _ = (_record(gate, term, column, results).slice for term in (a, b))
    for row in results.cost_ratios:
        if (row.column, row.slice, row.a, row.b) == (column, within, a.model, b.model):
            return _ratio(row, figure)
        if (row.column, row.slice, row.a, row.b) == (column, within, b.model, a.model):
            return _turned(_ratio(row, figure))
    raise UsageError(
        f"gate {gate.text!r}: {a.model} and {b.model} are not compared; leave --baseline out, or make one of them the"
        " baseline"
    )


def _ratio(row: CostRatioRecord, figure: CostFigure) -> _Limited:
    if figure == "mean":
        return _Limited(row.ratio, row.low, row.high, row.reason, exact=row.alike)
    return _Limited(row.per_success_ratio, row.per_success_low, row.per_success_high, row.per_success_reason)


def _turned(found: _Limited) -> _Limited:
    def inverted(x: float | None) -> float | None:
        return None if not x else 1 / x

    low, high = inverted(found.high), inverted(found.low)
    return _Limited(inverted(found.value), low, high, found.reason, found.exact)


def _decided(gate: Gate, found: _Limited, limit: float) -> GateRecord:
    value = found.value
    unknown = Message("gates.no_interval", why=found.reason or Message("gates.not_computed"))
    if value is None:
        return gate_record(gate, "undecided", unknown)
    if found.exact:
        outcome = outcome_of(gate.comparator, limit, low=value, high=value)
        return gate_record(gate, outcome, Message("gates.cost_exact", value=value), value=value)
    low, high = found.low, found.high
    if low is None and high is None:
        return gate_record(gate, "undecided", unknown, value=value)
    span = (-math.inf if low is None else low, math.inf if high is None else high)
    outcome = outcome_of(gate.comparator, limit, low=span[0], high=span[1])
    sides = [value if low is None else low, value if high is None else high]
    decimals = decimals_of([(sides[1] - sides[0]) / 4])
    key = (
        "gates.cost" if None not in (low, high) else "gates.cost_from" if high is None else "gates.cost_up_to"
    )
    text: Text = Message(
        key, value=value, limits=tuple(sides), low=sides[0], high=sides[1], decimals=decimals
    )
    if outcome == "undecided":
        why = found.reason if None in (low, high) else None
        text = parts(text, Message("gates.both_answers") if why is None else why)
    return gate_record(gate, outcome, text, value=value, low=low, high=high)
