"""Refuse a bar that no value of the metric can reach, before anything is computed."""

from __future__ import annotations

from collections.abc import Sequence

from evalreport.errors import UsageError
from evalreport.gates.conditions import Gate, cost_of, parse, wrong
from evalreport.metrics.quantities import parse as parse_metric
from evalreport.metrics.registry import definition
from evalreport.options import Task


def require_reachable(
    expressions: Sequence[str], models: Sequence[str], task: Task, classes: Sequence[str]
) -> None:
    """Refuse gates whose bar lies beyond the range of what they are about; others are decided with the results.

    Raises
    ------
    UsageError
        With the range.
    """
    for text in expressions:
        try:
            gate = parse(text, models=models)
            reach = _range(gate, task, classes)
        except UsageError:
            continue  # the gate's decision reports the error
        if reach is None:
            continue
        low, high = reach
        limit, at = gate.limit, gate.terms[0].metric_at if gate.terms else 0
        above, below = gate.comparator in (">", ">="), gate.comparator in ("<", "<=")
        strict = gate.comparator in (">", "<")
        if (above and (limit > high or (strict and limit == high))) or (
            below and (limit < low or (strict and limit == low))
        ):
            raise wrong(
                gate.text, at, f"no value can be {gate.comparator} {limit:g}: {_said(gate, low, high)}"
            )


def _range(gate: Gate, task: Task, classes: Sequence[str]) -> tuple[float, float] | None:
    """Return the least and the greatest value of what a gate is about."""
    infinite = float("inf")
    if not gate.terms:
        return None if gate.reference is not None else (0.0, infinite)
    if gate.times or gate.ratio:
        return 0.0, infinite
    term = gate.terms[0]
    if cost_of(term.metric) is not None:
        return None
    scale = definition(parse_metric(term.spelling, task, tuple(classes))).scale
    low, high = scale.range_of(task)
    if len(gate.terms) == 2 or gate.reference is not None:
        return low - high, high - low
    return low, high


def _said(gate: Gate, low: float, high: float) -> str:
    what = gate.terms[0].spelling if gate.terms else gate.count
    if len(gate.terms) == 2 and not gate.ratio:
        what = f"a difference of {what}"
    elif gate.ratio or gate.times:
        what = "a ratio"
    elif gate.terms and gate.reference is not None:
        what = f"a change of {what}"
    if high == float("inf"):
        return f"{what} is at least {low:g}"
    if low == -float("inf"):
        return f"{what} is at most {high:g}"
    return f"{what} lies between {low:g} and {high:g}"
