"""Gates: a condition on a metric, a paired difference or a count; pass, fail, or undecided by the interval.

A gate passes where a two-sided interval is wholly on the right side of the limit, fails where it is wholly on the
wrong side, and is undecided else: data that fit both answers give neither. The sides of the interval err equally.

A proportion of independent examples that count the same is decided by Clopper and Pearson's limits, the only ones that
miss in at most (1 - confidence) / 2 on either side at every number of examples and every limit; everything else by its
recommended interval; a difference on the primary metric by the interval that a verdict on this pair alone would have,
so that ``a - b > 0`` and that verdict never contradict each other; at another bar than 0 a difference of two shares of
the same examples by Tango's score limits, which hold at any bar. Within a slice it is the slice's own values that
decide. How a gate is written: ``gates/conditions.py``.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from itertools import permutations
from typing import cast

from evalreport.comparisons.decisions import agreeing, decides
from evalreport.errors import UsageError
from evalreport.extensions import files_of_rooms
from evalreport.gates.conditions import OF_AUDITS, Gate, Term, parse
from evalreport.gates.deciding import Limited, decide_by_limits, decided_within, gate_record, outcome_of
from evalreport.intervals import INTERVALS
from evalreport.intervals.proportions import clopper_pearson_limits, quantile, tango_limits, wilson_limits
from evalreport.metrics.quantities import parse as parse_metric
from evalreport.metrics.registry import Quantity, definition
from evalreport.numbers import decimals_of
from evalreport.options import Task
from evalreport.questions.ranks.records import ChosenValueRecord
from evalreport.questions.slices.group_ratios import ratio_limits
from evalreport.registry import unknown_name
from evalreport.schema.comparisons import ComparisonRecord
from evalreport.schema.decisions import CUT, ChosenLimits, GateRecord
from evalreport.schema.metrics import Interval, MetricRecord, Slice
from evalreport.schema.pairs import negated
from evalreport.schema.results import Results
from evalreport.texts import Message, Text, parts
from evalreport.texts.labels import in_sentence

__all__ = ["decide", "decide_gates", "parse"]

_MOST_DECIMALS = 12
_MOST_TIMES = 1000
_MANY_TIMES = 20


def decide_gates(
    results: Results, expressions: Sequence[str], *, since: Callable[[Gate], GateRecord] | None = None
) -> Results:
    """Decide gates, and return the results with them in the order in which they were written.

    Parameters
    ----------
    since
        Decides the gates that are about an earlier run; None: there is no history.

    Raises
    ------
    UsageError
        A gate that cannot be parsed, or about a model, metric or comparison that the results do not hold; or about an
        earlier run, where there is no history.
    """
    gates = [parse(text, models=results.models) for text in expressions]
    for gate in gates if since is None else ():
        if gate.reference is not None or gate.every_night:
            what = "every night" if gate.reference is None else f"what was {gate.reference}"
            raise UsageError(
                f"gate {gate.text!r}: {what} is known to a history: use `evalreport audit MODELS --history URL`"
            )
        if gate.count in OF_AUDITS:
            raise UsageError(
                f"gate {gate.text!r}: {gate.count} are counted by an audit: use `evalreport audit MODELS --history URL`"
            )
    decided = [
        since(gate)
        if since is not None and (gate.reference is not None or gate.every_night)
        else decide(gate, results)
        for gate in gates
    ]
    blocker = next((warning for warning in results.warnings if warning.level == "blocker"), None)
    if blocker is not None:
        # With a blocker no metric passes; a failure remains, and a count needs no verdict.
        why = Message("audit.not_decided", why=blocker.text)
        decided = [
            replace(record, outcome="undecided", text=parts(record.text, why))
            if gate.terms and record.outcome == "pass"
            else record
            for gate, record in zip(gates, decided, strict=True)
        ]
    return replace(results, gates=tuple(decided))


def decide(gate: Gate, results: Results) -> GateRecord:
    """Decide one gate by an interval.

    Raises
    ------
    UsageError
        A metric or comparison that the results do not hold.
    """
    of_rooms = (room.decide(gate, results) for room in files_of_rooms("gates"))
    if (of_room := next(filter(None, of_rooms), None)) is not None:
        return cast(GateRecord, of_room)
    if not gate.terms:
        return _decide_count(gate, results)
    record = _decide_best(gate, results) if gate.terms[0].best else _decide_value(gate, results)
    chosen_here = definition(quantity_of(gate, gate.terms[0], results)).chosen_here
    if record.outcome == "undecided" and results.design == "test-set" and not chosen_here:
        needs = what_it_needs(record, gate.limit, results.n)
        record = record if needs is None else replace(record, text=parts(record.text, needs))
    return record


def what_it_needs(record: GateRecord, limit: float, n: int) -> Message | None:
    """Say how many times as many examples as ``n`` would decide a gate, if the value stayed as it is.

    An interval's width goes with one over the square root of the number of examples, so that its side towards the
    limit has to shrink to the distance between value and limit.

    Examples
    --------
    >>> record = GateRecord(
    ...     gate="a.accuracy >= 0.9", outcome="undecided", value=0.92, low=0.88, high=0.95, text=""
    ... )
    >>> str(what_it_needs(record, 0.9, 500))
    'about 4 times as many examples would decide it, if the value stayed the same'
    """
    value, low, high = record.value, record.low, record.high
    if value is None or low is None or high is None:
        return None
    gap, side = abs(value - limit), value - low if value > limit else high - value
    if gap == 0 or (times := (side / gap) ** 2) > _MOST_TIMES:
        return Message("gates.too_near")
    if times > _MANY_TIMES:
        return Message("gates.too_near_with", needed=times * n)
    times = max(times, 1.1)
    return Message("gates.times_as_many", times=times, decimals=1 if times < 3 else 0)


def _decide_best(gate: Gate, results: Results) -> GateRecord:
    """Decide a gate on the model that leads, by its limits as one that was chosen among those that may be best."""
    leader = leader_of(results)
    if leader is None:
        return gate_record(gate, "undecided", Message("gates.no_best"))
    term = replace(gate.terms[0], model=leader, best=False)
    metric = metric_record(gate, term, results)
    if results.chosen is None:
        record = decided_by(gate, metric.value, judging_interval(metric), reason=metric.reason)
        return replace(record, text=parts(Message("gates.best", model=leader), record.text))
    value = _chosen_value(gate, term, results)
    if value is None:
        raise gate.wrong(term, "the chosen model's value is computed in the run that is given the gate")
    limits = Interval(
        method=value.method, level=value.level, low=value.low, high=value.high, reason=value.reason
    )
    record = decided_by(gate, value.value, limits, reason=metric.reason)
    code = "gates.chosen_of_all" if _any_behind(results) else "gates.chosen"
    text = Message(code, model=leader, among=results.chosen.among)
    return replace(record, text=parts(text, record.text), chosen=_chosen_limits(value, results.chosen.among))


def _any_behind(results: Results) -> bool:
    """Say whether one of the models that the leader was chosen among is behind another."""
    among = set() if results.chosen is None else set(results.chosen.models)
    return any(v.verdict in ("better", "worse") and set(v.about) <= among for v in results.verdicts)


def leader_of(results: Results) -> str | None:
    """Return the model that leads on the primary metric; None where no metric ranks the models."""
    if results.ranking and results.ranking[0].value is not None and not results.is_blocked:
        return results.ranking[0].model
    return None


def _chosen_value(gate: Gate, term: Term, results: Results) -> ChosenValueRecord | None:
    """Find the limits of the leader as a model that was chosen."""
    wanted, within = quantity_of(gate, term, results), slice_of(gate, term, results)
    for row in results.chosen_values:
        quantity = Quantity(row.metric, row.average, row.label)  # type: ignore[arg-type]
        if (row.model, row.slice, quantity) == (term.model, within, wanted):
            return row
    return None


def _chosen_limits(value: ChosenValueRecord, among: int) -> ChosenLimits:
    return ChosenLimits(among=among, level=value.level, low=value.low, high=value.high)


def _with_chosen(gate: Gate, record: GateRecord, results: Results) -> GateRecord:
    """Add, to a gate on a model by name that leads, what it is worth as one that was chosen."""
    (term,) = gate.terms
    if results.chosen is None or term.model != results.chosen.model:
        return record
    value = _chosen_value(gate, term, results)
    if value is None or value.low is None or value.high is None:
        return record
    half = (value.high - value.low) / 2
    upwards = gate.comparator in (">", ">=")
    said = Message(
        f"gates.named_at_{'least' if upwards else 'most'}{'_of_all' if _any_behind(results) else ''}",
        among=results.chosen.among,
        limit=value.low if upwards else value.high,
        half=half,
    )
    return replace(record, text=parts(record.text, said), chosen=_chosen_limits(value, results.chosen.among))


def _decide_value(gate: Gate, results: Results) -> GateRecord:
    if len(gate.terms) == 1:
        metric = metric_record(gate, gate.terms[0], results)
        record = decided_by(gate, metric.value, judging_interval(metric), reason=metric.reason)
        return _with_chosen(gate, record, results)
    if gate.of_models:
        return _decide_ratio_of_models(gate, results)
    if gate.ratio:
        return _decide_ratio(gate, results)
    (row, sign), quantity = _comparison_record(gate, results), quantity_of(gate, gate.terms[0], results)
    if definition(quantity).inference.of_squares and gate.limit != 0:
        raise UsageError(
            f"gate {gate.text!r}: a difference of {quantity.spelled} is one of squares: its only bar is 0"
        )
    interval = Interval(
        method=row.interval_method or "", level=row.level, low=row.low, high=row.high, reason=row.reason
    )
    decided = None
    shares = limits_of_shares(row.details, row.difference, row.level) if gate.limit != 0 else None
    if shares is not None:
        interval = shares
    elif quantity.spelled == results.primary_metric:
        interval, decided = as_verdict(interval, row.difference, row.p_value)
    if sign < 0:
        interval = replace(interval, low=negated(interval.high), high=negated(interval.low))
    value = row.difference if sign > 0 else negated(row.difference)
    return decided_by(gate, value, interval, decided=decided)


def _decide_ratio_of_models(gate: Gate, results: Results) -> GateRecord:
    """Decide the ratio of two models' values by its limits, which ``gates/ratios.py`` computed."""
    first, second = gate.terms
    if gate.limit <= 0:
        raise gate.wrong(second, "a ratio is held against a number above 0")
    quantity, within = place_of_pair(gate, results)
    for row in results.metric_ratios:
        if (row.a, row.b, row.slice) == (first.model, second.model, within) and Quantity.of(row) == quantity:
            return decide_by_limits(gate, Limited(row.ratio, row.low, row.high, row.reason), gate.limit)
    raise gate.wrong(first, "the ratio of two models is computed in the run that is given the gate")


def _decide_ratio(gate: Gate, results: Results) -> GateRecord:
    """Decide the ratio of two groups by x - k y against 0, its limits from those of both groups (Zou and Donner 2008).

    Shares of independent examples have Wilson's limits; else an error of each group, and z.
    """
    first, second = (metric_record(gate, term, results) for term in gate.terms)
    limits = ratio_limits(*(_limited(record) for record in (first, second)))
    value = None if not second.value or first.value is None else first.value / second.value
    if value is None or limits is None:
        return gate_record(gate, "undecided", Message("gates.no_ratio"), value=value)
    low, high = limits
    text = Message("gates.ratio", value=value, low=low, high=high if high is not None else math.inf)
    return decided_within(gate, Limited(value, low, high), text)


def _limited(record: MetricRecord) -> tuple[float, float, float] | None:
    """Return a group's value with its limits: Wilson's of a share of independent examples, else value -+ z errors."""
    if record.value is None or not record.intervals:
        return None
    level = (record.of_gates or record.intervals[0]).level
    if record.trials is not None:
        low, high = wilson_limits(round(record.value * record.trials), record.trials, level)
        return record.value, low, high
    if record.standard_error is None:
        return None
    half = quantile(level) * record.standard_error
    return record.value, record.value - half, record.value + half


def judging_interval(metric: MetricRecord) -> Interval:
    """Return the interval that a gate on a value is decided by: exact for proportions, else the recommended one."""
    if not metric.intervals:
        return Interval(method="", level=0.0, reason=metric.reason, low=None, high=None)
    first = metric.of_gates or metric.intervals[0]
    if metric.trials is None or metric.value is None:
        return first
    low, high = clopper_pearson_limits(round(metric.value * metric.trials), metric.trials, first.level)
    return Interval(method="clopper_pearson", level=first.level, low=low, high=high)


def as_verdict(limits: Interval, difference: float | None, p_value: float | None) -> tuple[Interval, bool]:
    """Return the interval that a verdict on this pair alone would have, and whether it would be decided."""
    decided = decides(difference, p_value, limits, 1 - limits.level)
    return agreeing(limits, difference, decided=decided), decided


def limits_of_shares(counts: Mapping[str, float], difference: float | None, level: float) -> Interval | None:
    """Return Tango's score limits of a difference of two shares of the same examples, which hold at any bar.

    Parameters
    ----------
    counts
        The details of McNemar's test: ``n``, ``only_a`` and ``only_b``; None is returned without them, and where the
        difference is not that of these shares.
    """
    if not {"n", "only_a", "only_b"} <= {*counts} or difference is None:
        return None
    n, first, second = counts["n"], counts["only_a"], counts["only_b"]
    if abs(second - first - n * difference) < abs(first - second - n * difference):
        first, second = second, first  # shares of what is wrong
    if abs(first - second - n * difference) > SAME_COUNT:
        return None
    low, high = tango_limits(first, second, n, level)
    return Interval(method="tango", level=level, low=low, high=high)


SAME_COUNT = 1e-6
"""Numbers of examples that differ by no more are the same."""


def quantity_of(gate: Gate, term: Term, results: Results) -> Quantity:
    """Read the metric as ``--metric`` does: its name, average and class."""
    try:
        return parse_metric(term.spelling, cast(Task, results.task), results.classes)
    except UsageError as error:
        raise gate.wrong(term, str(error)) from None


def metric_record(gate: Gate, term: Term, results: Results) -> MetricRecord:
    """Find the model's value of the metric, over all examples or in the slice that the gate names."""
    wanted = quantity_of(gate, term, results)
    within = slice_of(gate, term, results)
    for row in results.metrics:
        if row.model == term.model and row.slice == within and Quantity.of(row) == wanted:
            return row
    if within is not None and term.label is not None:
        raise gate.wrong(
            term,
            f"{term.spelling} is not computed for {term.model}; add -m {term.spelling}: single classes within slices"
            " are computed where they are named",
        )
    raise gate.wrong(
        term,
        f"{term.spelling} is not computed for {term.model}; add -m {term.spelling}, or leave -m out to compute every"
        " metric",
    )


def place_of_pair(gate: Gate, results: Results) -> tuple[Quantity, Slice | None]:
    """Return the metric and the slice of a gate on two models; refuse one that has no value of a model."""
    for term in gate.terms:
        metric_record(gate, term, results)
    return quantity_of(gate, gate.terms[0], results), slice_of(gate, gate.terms[0], results)


def slice_of(gate: Gate, term: Term, results: Results) -> Slice | None:
    """Find the slice that a gate is about; two columns in either order."""
    if not term.slices:
        return None
    known = {row.slice: None for row in results.metrics if row.slice is not None}
    names = " and ".join(column for column, _ in term.slices)
    wanted = [
        Slice(column="*".join(column for column, _ in order), value=joined)
        for order in permutations(term.slices)
        for joined in _joined([value for _, value in order])
    ]
    for candidate in wanted:
        if candidate in known:
            return candidate
    columns = {candidate.column for candidate in wanted}
    values = [found.value for found in known if found.column in columns]
    if not values:
        raise gate.wrong(term, f"there are no slices of {names}: add --slice {wanted[0].column}")
    raise gate.wrong(term, unknown_name(f"value of {names}", wanted[0].value, values))


def _joined(values: Sequence[str]) -> tuple[str, ...]:
    """Return how a pair of values may be written: bare, or in quotes where that is needed to tell pairs apart."""
    quoted = ['"' + value.replace("\\", "\\\\").replace('"', '\\"') + '"' for value in values]
    return " * ".join(values), " * ".join(quoted)


def _comparison_record(gate: Gate, results: Results) -> tuple[ComparisonRecord, int]:
    """Find the recommended comparison of the two models, and 1 or -1 for its orientation."""
    first, second = gate.terms
    wanted, within = place_of_pair(gate, results)
    pair = {first.model, second.model}
    rows = [
        row for row in results.comparisons if row.leads and {row.a, row.b} == pair and row.slice == within
    ]
    for row in rows:
        if Quantity.of(row) == wanted:
            return row, 1 if row.a == first.model else -1
    if rows:
        there = "" if within is None else " there"
        name = f"within slices {results.primary_metric} is: name it first, -m" if there else "name another"
        raise gate.wrong(first, f"{first.spelling} is not compared between models{there}; {name}")
    raise UsageError(
        f"gate {gate.text!r}: "
        f"{first.model} and {second.model} are not compared"
        f"; leave --baseline out, or make one of them the baseline"
    )


def _decide_count(gate: Gate, results: Results) -> GateRecord:
    """A count is known exactly, so that its gate is decided at once; an alarm may not be."""
    if gate.count != "n":
        return _decide_audit(gate, results)
    n = float(results.n)
    outcome = outcome_of(gate.comparator, gate.limit, low=n, high=n)
    return gate_record(gate, outcome, Message("gates.n", n=results.n), value=n)


def _decide_audit(gate: Gate, results: Results) -> GateRecord:
    """Count the alarms; a question without an answer may be an alarm or not."""
    by_count = {"alarms": ("worse",), "fallen_slices": ("slice",)}
    rows = [row for row in results.audit if row.question != "worse_this_run"]
    others = {question for questions in by_count.values() for question in questions}
    counted = by_count.get(gate.count)
    rows = [row for row in rows if (row.question in counted if counted else row.question not in others)]
    alarms = sum(row.alarm for row in rows)
    open_ = [row for row in rows if counted and row.reason is not None and not row.alarm]
    outcome = outcome_of(gate.comparator, gate.limit, low=alarms, high=alarms + len(open_))
    text = (
        Message(f"gates.count.{gate.count}", n=alarms) if results.audit else Message("gates.nothing_accepted")
    )
    if outcome == "undecided":
        text = parts(text, Message("gates.open", about=open_[0].about, why=open_[0].reason))
    return gate_record(gate, outcome, text, value=float(alarms))


def decided_by(
    gate: Gate,
    value: float | None,
    limits: Interval,
    *,
    decided: bool | None = None,
    reason: Text | None = None,
) -> GateRecord:
    """Decide a gate on a value by its limits; undecided with the reason where there are none.

    Parameters
    ----------
    decided
        Of a difference on the primary metric: whether its test decides, which settles a limit of 0. A limit that was
        cut there is no part of the interval, and one that was stretched to it reaches beyond.
    """
    low, high = limits.low, limits.high
    if value is None or low is None or high is None:
        said = Message("gates.no_interval", why=limits.reason or reason or Message("gates.not_computed"))
        return gate_record(gate, "undecided", said, value=value, low=low, high=high)
    span = None
    if decided is not None and gate.limit == 0:
        span = (value, value) if decided else (-math.inf, math.inf)
    decimals = decimals_of([(high - low) / 4])
    # A bound close to the gate's limit is not rounded onto it.
    while decimals < _MOST_DECIMALS and any(round(x, decimals) == gate.limit != x for x in (low, high)):
        decimals += 1
    known = INTERVALS[limits.method] if limits.method in INTERVALS else None  # noqa: SIM401 - it answers with a message
    method = limits.method.replace("_", " ") if known is None else in_sentence(known.label)
    key = "gates.value_by_test" if limits.method.endswith(CUT) else "gates.value"
    text = Message(key, value=value, limits=(low, high), method=method, decimals=decimals)
    record = decided_within(gate, Limited(value, low, high), text, span=span)
    if limits.reason is None or known is None or not known.of_fresh_examples:
        return record
    return replace(record, text=parts(record.text, limits.reason))
