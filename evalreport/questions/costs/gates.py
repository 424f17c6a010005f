"""Gates on costs: a model's figure against a number, or two models' by the interval of their ratio."""

from __future__ import annotations

from dataclasses import asdict, replace

from evalreport.errors import UsageError
from evalreport.gates.conditions import CostFigure, Gate, Term, cost_of
from evalreport.gates.deciding import Limited, decide_by_limits
from evalreport.gates.outcomes import slice_of
from evalreport.questions.costs.interval import NO_VARIATION
from evalreport.questions.costs.records import CostRatioRecord, CostRecord, ratio_between
from evalreport.registry import unknown_name
from evalreport.schema.decisions import GateRecord
from evalreport.schema.results import Results
from evalreport.texts import Message

RATIOS = ("mean", "per_success", "sum")


def decide(gate: Gate, results: Results) -> GateRecord | None:
    """Decide a gate on costs: by the limits, at once where the figure is known exactly; None for any other gate.

    Without the limit that it needs a gate cannot pass; it can fail by the other one.

    Raises
    ------
    UsageError
        A cost that the results do not hold, or two models' medians or 95th percentiles.
    """
    if not gate.terms or cost_of(gate.terms[0].metric) is None:
        return None
    if len(gate.terms) == 1:
        return decide_by_limits(gate, figure_of_model(gate, gate.terms[0], results), gate.limit)
    first, second = gate.terms
    cost = cost_of(first.metric)
    if cost is None or cost != cost_of(second.metric):
        raise gate.wrong(second, "both sides need the same cost")
    column, figure = cost
    if figure not in RATIOS:
        raise gate.wrong(second, f"the {figure} of a cost is held against a number only")
    if not gate.ratio and gate.limit != 0:
        raise UsageError(
            f"gate {gate.text!r}: two models' costs are compared by their ratio: write "
            f"{first.model}.{first.metric} <= 1.1 * {second.model}.{second.metric}"
        )
    if first.model == second.model:
        raise gate.wrong(second, "a ratio of costs is of two models, not of two groups of one")
    return decide_by_limits(gate, _of_pair(gate, column, figure, results), gate.limit if gate.ratio else 1.0)


def figure_of_model(gate: Gate, term: Term, results: Results) -> Limited:
    """Find the figure that one term names.

    Raises
    ------
    UsageError
        A cost, or a slice, that the results do not hold.
    """
    column, figure = cost_of(term.metric) or ("", "mean")
    record = _record(gate, term, column, results)
    if figure == "sum":
        return Limited(record.sum, record.sum, record.sum, exact=True)
    value, reason = getattr(record, figure), getattr(record, f"{figure}_reason")
    alike = record.alike or record.mean == 0 if figure == "mean" else reason == NO_VARIATION
    of = "" if figure == "mean" else f"{figure}_"
    low, high = getattr(record, f"{of}low"), getattr(record, f"{of}high")
    return Limited(value, low, high, reason, exact=alike and value is not None)


def _record(gate: Gate, term: Term, column: str, results: Results) -> CostRecord:
    own = [r for r in results.costs if r.model == term.model and r.column == column]
    if not own:
        known = list(dict.fromkeys(r.column for r in results.costs if r.model == term.model))
        if not known:
            raise gate.wrong(
                term,
                f"{term.model} has no costs: a column of numbers named cost, latency or tokens, or --cost COLUMN",
            )
        raise gate.wrong(term, unknown_name("cost", column, known))
    within = slice_of(gate, term, results)
    record = next((r for r in own if r.slice == within), None)
    if record is None:
        raise gate.wrong(term, f"there is no such slice of {column}")
    return _at_look(record)


def _at_look(record: CostRecord) -> CostRecord:
    """Return a record with the limits that gates are decided by: those of the look, where there are several."""
    return record if record.of_gates is None else replace(record, **asdict(record.of_gates))


def _of_pair(gate: Gate, column: str, figure: CostFigure, results: Results) -> Limited:
    """Find the ratio of two models' figures, turned round where the records hold the other one."""
    a, b = gate.terms
    if figure == "sum":
        first, second = (_record(gate, term, column, results).sum for term in (a, b))
        ratio = None if second == 0 else first / second
        return Limited(ratio, ratio, ratio, Message("costs.all_zero"), exact=ratio is not None)
    within, _ = (_record(gate, term, column, results).slice for term in (a, b))
    row = ratio_between(results.cost_ratios, column, a.model, b.model, within)
    if row is not None:
        return _ratio(row, figure)
    raise UsageError(
        f"gate {gate.text!r}: {a.model} and {b.model} are not compared; leave --baseline out, or make one of them the"
        " baseline"
    )


def _ratio(row: CostRatioRecord, figure: CostFigure) -> Limited:
    if figure == "mean":
        return Limited(row.ratio, row.low, row.high, row.reason, exact=row.alike)
    exact = row.per_success_ratio is not None and row.per_success_reason == NO_VARIATION
    low, high = row.per_success_low, row.per_success_high
    return Limited(row.per_success_ratio, low, high, row.per_success_reason, exact=exact)
