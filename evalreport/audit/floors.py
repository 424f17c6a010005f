"""What a gate declares that every night must hold: the floor that the alarm bets against."""

from __future__ import annotations

import math
from dataclasses import dataclass

from evalreport.audit.looks import without_direction
from evalreport.audit.since import Present
from evalreport.conditions import Gate, wrong
from evalreport.conditions import parse as parse_gate
from evalreport.metrics.quantities import Quantity, definition, greater_is_better, parse


@dataclass(frozen=True, slots=True)
class Floor:
    """What a gate declares that every night's expected value is, at least (or at most), and the best value."""

    text: str
    value: float
    best: float


def declared_floors(now: Present, quantity: Quantity) -> dict[str, Floor]:
    """Return the floor of each model that a gate declares.

    Raises
    ------
    UsageError
        A gate about every night that is not about the primary metric in its good direction, is the second about a
        model, or leaves the bets no bound.
    """
    floors: dict[str, Floor] = {}
    for text in now.options.gates:
        gate = parse_gate(text, models=now.results.models)
        if gate.every_night:
            model = gate.terms[0].model
            if model in floors:
                raise wrong(text, 0, f"every night stands there twice about {model}")
            floors[model] = _floor(gate, now, quantity)
    return floors


def _floor(gate: Gate, now: Present, quantity: Quantity) -> Floor:
    term, metric = gate.terms[0], definition(quantity)
    asked = parse(term.spelling, now.predictions.task, now.results.classes)
    if asked != quantity:
        raise wrong(
            gate.text,
            term.metric_at,
            f"every night is about the primary metric, {quantity.spelled}: name it first, -m",
        )
    upwards = gate.comparator in (">=", ">")
    better = greater_is_better(quantity, lower_is_better=now.options.lower_is_better)
    if upwards != better and not without_direction(quantity):
        sign = ">= or >" if better else "<= or <"
        raise wrong(gate.text, 0, f"every night says what {quantity.spelled} must hold: write {sign}")
    bounds = (metric.binary_range or metric.range) if now.predictions.task == "binary" else metric.range
    best = bounds[1] if upwards else bounds[0]
    if not math.isfinite(best) or (gate.limit >= best if upwards else gate.limit <= best):
        end = "greatest" if upwards else "least"
        raise wrong(
            gate.text,
            0,
            f"every night bets between the limit and the {end} value of {quantity.spelled}, {best:g}",
        )
    return Floor(gate.text, gate.limit, best)
