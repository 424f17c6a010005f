"""Deciding gates about earlier runs: ``accepted``, ``last`` and ``every night``."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace

from evalreport.audit.past import Past
from evalreport.errors import UsageError
from evalreport.gates.conditions import Gate, Term, cost_of
from evalreport.gates.deciding import Limited, Outcome, decide_by_limits, gate_record, outcome_of
from evalreport.gates.outcomes import (
    as_verdict,
    decided_by,
    limits_of_shares,
    metric_record,
    quantity_of,
    slice_of,
)
from evalreport.history.run_differences import (
    PossibleLimits,
    Present,
    Reference,
    change_since,
    has_limits,
    recorded_limits,
    square_and_add,
)
from evalreport.intervals.proportions import wilson_limits
from evalreport.numbers import decimals_of
from evalreport.questions.costs.gates import figure_of_model
from evalreport.questions.slices.group_ratios import ratio_limits
from evalreport.schema.decisions import GateRecord
from evalreport.schema.metrics import Interval
from evalreport.schema.results import Results
from evalreport.texts import Message, parts


def decider(now: Present, past: Past) -> Callable[[Gate], GateRecord]:
    """Return a function that decides this run's gates about earlier runs."""

    def decide(gate: Gate) -> GateRecord:
        if gate.every_night:
            return _about_every_night(gate, now)
        assert gate.reference is not None
        reference = past.references.get(gate.reference)
        if reference is None:
            return _without_reference(gate, now, past)
        if not gate.terms:
            return _against_count(gate, now, reference)
        return (_against_multiple if gate.times else _against_value)(gate, now, reference)

    return decide


def _about_every_night(gate: Gate, now: Present) -> GateRecord:
    """Fail if the bets against the declared floor raise an alarm, else pass."""
    (term,) = gate.terms
    metric_record(gate, term, now.results)
    nights = [row for row in now.results.audit if (row.question, row.about) == ("worse", term.model)]
    if not nights:
        return gate_record(gate, "pass", Message("gates.none_accepted"))
    (row,) = nights
    if row.effect != "from_floor" or row.effect_size is None:
        text = parts(Message("gates.no_night"), row.text)
        return gate_record(gate, "undecided", text)
    outcome: Outcome = "fail" if row.alarm else "pass"
    return gate_record(gate, outcome, row.text, value=row.effect_size + gate.limit)


def _without_reference(gate: Gate, now: Present, past: Past) -> GateRecord:
    """Pass if there is no earlier run yet, so that a series can begin; undecided if its run was pruned."""
    assert gate.reference is not None
    for term in gate.terms:
        if cost_of(term.metric) is None:
            metric_record(gate, term, now.results)
        else:
            figure_of_model(gate, term, now.results)
    if gate.reference in past.pruned:
        text = Message("gates.pruned", run=past.pruned[gate.reference])
        return gate_record(gate, "undecided", text)
    none = Message("gates.none_accepted" if gate.reference == "accepted" else "gates.none_passed")
    return gate_record(gate, "pass", none)


def _against_value(gate: Gate, now: Present, reference: Reference) -> GateRecord:
    term = gate.terms[0]
    if cost_of(term.metric) is not None:
        return _against_cost(gate, term, now, reference)
    metric_record(gate, term, now.results)
    quantity = quantity_of(gate, term, now.results)
    within = slice_of(gate, term, now.results)
    change = change_since(reference, now, term.model, quantity, within=within)
    level = now.options.confidence
    limits = Interval(
        method=change.limits.method or "", level=level, low=change.low, high=change.high, reason=change.reason
    )
    decided = None
    if gate.limit != 0 and (shares := limits_of_shares(change.details, change.difference, level)) is not None:
        limits = shares
    elif change.p_value is not None and quantity.spelled == now.results.shown_metric:
        limits, decided = as_verdict(limits, change.difference, change.p_value)
    record = decided_by(gate, change.difference, limits, decided=decided)
    sentences = [record.text]
    if change.value is not None and change.reference_value is not None:
        then = {"then": change.reference_value, "run": reference.spoken}
        sentences.append(Message("gates.now_and_then", now=change.value, **then, decimals=4))
    if change.sizes and any(row.question == "labels" and row.alarm for row in now.results.audit):
        sentences.append(Message("gates.as_they_are"))
    return replace(record, text=parts(*sentences, *([change.how] if change.how else [])))


def _against_cost(gate: Gate, term: Term, now: Present, reference: Reference) -> GateRecord:
    """Decide a gate on a change of a cost by the limits of both runs, as if their questions were others."""
    both = _both_figures(gate, term, now, reference)
    if isinstance(both, GateRecord):
        return both
    first, second = both.limits
    change = both.now - both.then
    limited = Limited(change, None, None, Message("since.no_interval"), exact=both.exact)
    if not both.exact and has_limits(first) and has_limits(second):
        of_both = square_and_add(first, second)
        limited = Limited(change, of_both.low, of_both.high)
    record = decide_by_limits(gate, limited, gate.limit)
    from_limits = [] if limited.low is None else [Message("since.costs_from_limits")]
    return replace(record, text=parts(record.text, both.told, *from_limits))


def _against_multiple(gate: Gate, now: Present, reference: Reference) -> GateRecord:
    """Decide a gate on a multiple of an earlier value by x - k y against 0: the limits of both, squared and added.

    The value of the record is the ratio x / y. That both runs may have the same examples is not used.
    """
    both = _both_figures(gate, gate.terms[0], now, reference)
    if isinstance(both, GateRecord):
        return both
    first, second = both.limits
    limits = ratio_limits(first, second) if has_limits(first) and has_limits(second) else None
    if limits is None:
        return gate_record(gate, "undecided", parts(Message("gates.no_ratio_then"), both.told))
    low, high = limits[0], math.inf if limits[1] is None else limits[1]
    ratio = both.now / both.then
    outcome = outcome_of(gate.comparator, gate.limit, low=low, high=high)
    text = parts(Message("gates.ratio", value=ratio, low=low, high=high), both.told)
    if outcome == "undecided":
        text = parts(text, Message("gates.both_answers"))
    return gate_record(gate, outcome, text, value=ratio, low=low, high=limits[1])


@dataclass(frozen=True, slots=True)
class _Both:
    """A figure of this run and of the earlier one, with the limits of each and the sentence about both."""

    now: float
    then: float
    limits: tuple[PossibleLimits, PossibleLimits]
    exact: bool
    told: Message


def _both_figures(gate: Gate, term: Term, now: Present, reference: Reference) -> _Both | GateRecord:
    """Return a figure of both runs; a gate stays undecided where one of them has none."""
    figure = _figure(gate, term, now.results)
    try:
        then = _figure(gate, term, reference.results)
    except UsageError:
        then = Limited(None, None, None)
    if figure.value is None or then.value is None:
        missing = Message("reference.this") if figure.value is None else reference.spoken
        why = Message("since.no_cost", run=missing, metric=term.spelling, model=term.model)
        return gate_record(gate, "undecided", Message("gates.no_interval", why=why))
    values = {"now": figure.value, "then": then.value, "run": reference.spoken}
    decimals = max(4, decimals_of([figure.value / 1000, then.value / 1000]))
    told = Message("gates.now_and_then", **values, decimals=decimals)
    limits = (_with_limits(figure), _with_limits(then))
    return _Both(figure.value, then.value, limits, figure.exact and then.exact, told)


def _figure(gate: Gate, term: Term, results: Results) -> Limited:
    """Return a value of a run with its limits: Wilson's of a plain proportion, else those that lead."""
    if cost_of(term.metric) is not None:
        return figure_of_model(gate, term, results)
    record = metric_record(gate, term, results)
    if not record.intervals or record.value is None:
        return Limited(record.value, None, None)
    first = record.of_gates or record.intervals[0]
    if record.trials is None:
        return Limited(*recorded_limits(replace(record, intervals=(first,))))
    hits = round(record.value * record.trials)
    return Limited(record.value, *wilson_limits(hits, record.trials, first.level))


def _with_limits(figure: Limited) -> PossibleLimits:
    value = figure.value
    return (value, value, value) if figure.exact else (value, figure.low, figure.high)


def _against_count(gate: Gate, now: Present, reference: Reference) -> GateRecord:
    """Decide a gate on a change or a multiple of n, which is known exactly."""
    n, then = now.results.n, reference.results.n
    change, needed = float(n - then), gate.limit
    value: float | None = change
    if gate.times:
        change, needed, value = n - gate.limit * then, 0.0, n / then if then else None
    outcome = outcome_of(gate.comparator, needed, low=change, high=change)
    text = Message("gates.n_now_and_then", now=n, then=then, run=reference.spoken)
    return gate_record(gate, outcome, text, value=value)
