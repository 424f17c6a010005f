"""Gates: a condition on a metric, a paired difference or a count; pass, fail, or undecided by the interval.

    forest.accuracy >= 0.90
    forest.f1_macro - logreg.f1_macro > -0.01
    "C4.5".recall[class=3] >= 0.8
    n >= 500

A gate on a metric passes where the two-sided interval of the recommended method lies wholly on the right
side of the limit, fails where it lies wholly on the wrong side, and is undecided else: data that fit both
answers give neither.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Literal, cast

from evalreport import numbers
from evalreport.errors import UsageError
from evalreport.keys import Task
from evalreport.records import ComparisonRecord, GateRecord, MetricRecord
from evalreport.registry import unknown_name
from evalreport.results import Results

Outcome = Literal["pass", "fail", "undecided"]
Comparator = Literal[">=", ">", "<=", "<"]

_COMPARATOR = re.compile(r"\s*(>=|<=|>|<|==|!=|=)\s*")
_NUMBER = re.compile(r"[+-]?(\d+(\.\d*)?|\.\d+)([eE][+-]?\d+)?")
_METRIC = re.compile(r"[A-Za-z0-9_]+")
_MOST_DECIMALS = 12
_COUNT = re.compile(r"\s*n\s*(?=[<>=!])")
_COMPARATORS: dict[str, Comparator] = {">=": ">=", ">": ">", "<=": "<=", "<": "<"}


@dataclass(frozen=True, slots=True)
class Term:
    """One model's metric as a gate spells it: ``forest.recall[class=3]``."""

    model: str
    metric: str
    label: str | None
    metric_at: int
    """Where the metric begins in the gate's text, counted from 0."""

    @property
    def spelling(self) -> str:
        """The metric with its class."""
        return self.metric if self.label is None else f"{self.metric}[class={self.label}]"


@dataclass(frozen=True, slots=True)
class Gate:
    """One parsed gate.

    Attributes
    ----------
    text
        As it was written.
    terms
        None: the count ``n``. One: a model's metric. Two: the first minus the second.
    comparator, limit
        The condition.
    """

    text: str
    terms: tuple[Term, ...]
    comparator: Comparator
    limit: float


def judge(results: Results, expressions: Sequence[str]) -> Results:
    """Decide gates, and return the results with them in the order in which they were written.

    Raises
    ------
    UsageError
        A gate that cannot be parsed, or about a model, metric or comparison that the results do not hold.
    """
    gates = [parse(text, models=results.models) for text in expressions]
    decided = [decide(gate, results) for gate in gates]
    blockers = [warning for warning in results.warnings if warning.level == "blocker"]
    if blockers:
        # What takes the verdict lets no metric pass; a failure stands, and a count needs no verdict.
        decided = [
            _blocked(record, blockers[0].text) if gate.terms and record.outcome == "pass" else record
            for gate, record in zip(gates, decided, strict=True)
        ]
    return replace(results, gates=tuple(decided))


def _blocked(record: GateRecord, why: str) -> GateRecord:
    return replace(record, outcome="undecided", text=f"{record.text}; not decided: {why}")


def parse(text: str, *, models: Iterable[str]) -> Gate:
    """Parse one gate.

    Parameters
    ----------
    text
        ``MODEL.METRIC >= X``, ``MODEL.METRIC - MODEL.METRIC > X`` or ``n >= N``; also ``<=`` and ``<``. A
        model may stand in double quotes; without them the longest known name wins.
    models
        The known names.

    Raises
    ------
    UsageError
        What is wrong, and at which character (counted from 1).

    Examples
    --------
    >>> gate = parse("a.b.f1 - a.f1 > -0.01", models=["a", "a.b"])
    >>> [term.model for term in gate.terms], gate.comparator, gate.limit
    (['a.b', 'a'], '>', -0.01)
    """
    known = sorted(models, key=lambda name: (-len(name), name))
    count = _COUNT.match(text)
    if count:
        terms: tuple[Term, ...] = ()
        at = count.end()
    else:
        first, at = _term(text, len(text) - len(text.lstrip()), known)
        terms = (first,)
        minus = re.compile(r"\s*[-−]\s*").match(text, at)
        if minus:
            second, at = _term(text, minus.end(), known)
            terms = (first, second)
            _check_difference(text, first, second, at=minus.end())
    comparator, at = _comparator(text, at)
    return Gate(text, terms, comparator, _limit(text, at))


def decide(gate: Gate, results: Results) -> GateRecord:
    """Decide one gate by the interval of the recommended method.

    Raises
    ------
    UsageError
        A metric or comparison that the results do not hold.
    """
    if not gate.terms:
        return _decide_count(gate, results)
    if len(gate.terms) == 1:
        metric = _metric_record(gate, gate.terms[0], results)
        interval = metric.intervals[0] if metric.intervals else None
        low, high = (interval.low, interval.high) if interval else (None, None)
        reason = (interval.reason if interval else None) or metric.reason
        return _record(
            gate, metric.value, low, high, method=interval.method if interval else None, reason=reason
        )
    row, sign = _comparison_record(gate, results)
    low, high = (row.low, row.high) if sign > 0 else (_negative(row.high), _negative(row.low))
    value = row.difference if sign > 0 else _negative(row.difference)
    return _record(gate, value, low, high, method=row.interval_method, reason=row.reason)


def outcome_of(comparator: Comparator, limit: float, *, low: float, high: float) -> Outcome:
    """Return pass where the whole closed interval fulfils the condition, fail where none of it does.

    Examples
    --------
    >>> outcome_of(">=", 0.9, low=0.9, high=0.95), outcome_of(">", 0.9, low=0.9, high=0.95)
    ('pass', 'undecided')
    """
    if comparator in ("<", "<="):
        mirrored: Comparator = ">" if comparator == "<" else ">="
        return outcome_of(mirrored, -limit, low=-high, high=-low)
    if low > limit or (comparator == ">=" and low == limit):
        return "pass"
    if high < limit or (comparator == ">" and high == limit):
        return "fail"
    return "undecided"


def _term(text: str, start: int, known: Sequence[str]) -> tuple[Term, int]:
    """Parse MODEL.METRIC from the start; return it and where it ends."""
    model, at = _model(text, start, known)
    if not text.startswith(".", at):
        raise _wrong(text, at, f"expected '.' and a metric after the model {model!r}")
    name = _METRIC.match(text, at + 1)
    if name is None:
        raise _wrong(text, at + 1, "expected the name of a metric")
    at = name.end()
    if not text.startswith("[", at):
        return Term(model, name[0], None, name.start()), at
    if not text.startswith("[class=", at):
        raise _wrong(text, at, "expected [class=LABEL]")
    label, at = _label(text, at + len("[class="))
    return Term(model, name[0], label, name.start()), at


def _model(text: str, start: int, known: Sequence[str]) -> tuple[str, int]:
    """Parse a model: in quotes, or the longest known name that a dot follows."""
    if text.startswith('"', start):
        name, at = _quoted(text, start)
        if name not in known:
            raise _wrong(text, start, unknown_name("model", name, list(known)))
        return name, at
    for name in known:
        if text.startswith(name + ".", start):
            return name, start + len(name)
    word = re.compile(r"[^.\s<>=]*").match(text, start)
    written = word[0] if word else ""
    if not written:
        raise _wrong(text, start, "expected MODEL.METRIC or n")
    raise _wrong(text, start, unknown_name("model", written, sorted(known)))


def _quoted(text: str, start: int) -> tuple[str, int]:
    """Parse a text in double quotes, in which a backslash takes the next character as it is."""
    match = re.compile(r'"((?:[^"\\]|\\.)*)"').match(text, start)
    if match is None:
        raise _wrong(text, start, "a quote is opened and not closed")
    return re.sub(r"\\(.)", r"\1", match[1]), match.end()


def _label(text: str, start: int) -> tuple[str, int]:
    """Parse the class of ``[class=...]``, in quotes or up to the bracket."""
    if text.startswith('"', start):
        label, at = _quoted(text, start)
    else:
        at = text.find("]", start)
        label, at = (text[start:], len(text)) if at < 0 else (text[start:at], at)
    if not text.startswith("]", at):
        raise _wrong(text, at, "expected ']' after the class")
    return label, at + 1


def _check_difference(text: str, first: Term, second: Term, *, at: int) -> None:
    if first.model == second.model:
        raise _wrong(text, at, f"a difference needs two models, and both are {first.model!r}")
    if first.spelling != second.spelling:
        problem = f"a difference needs one metric, not {first.spelling} and {second.spelling}"
        raise _wrong(text, at, problem)


def _comparator(text: str, at: int) -> tuple[Comparator, int]:
    match = _COMPARATOR.match(text, at)
    if match is None:
        raise _wrong(text, at, "expected one of >=, >, <=, < and a number")
    sign = match[1]
    if sign not in _COMPARATORS:
        raise _wrong(
            text, match.start(1), f"{sign!r} can never be decided by an interval; use >=, >, <= or <"
        )
    return _COMPARATORS[sign], match.end()


def _limit(text: str, at: int) -> float:
    number = _NUMBER.match(text, at)
    if number is None:
        raise _wrong(text, at, "expected a number, such as 0.9")
    rest = text[number.end() :]
    if rest.strip():
        start = number.end() + len(rest) - len(rest.lstrip())
        raise _wrong(text, start, f"expected the end of the gate, not {rest.strip()!r}")
    limit = float(number[0])
    if not math.isfinite(limit):
        raise _wrong(text, at, f"{number[0]} is too large")
    return limit


def _wrong(text: str, at: int, problem: str) -> UsageError:
    return UsageError(f"gate {text!r}, character {at + 1}: {problem}")


def _quantity(gate: Gate, term: Term, results: Results) -> tuple[str, str | None, str | None]:
    """Read the metric as ``--metric`` does: its name, average and class."""
    from evalreport.metrics.quantities import parse as parse_metric

    try:
        quantity = parse_metric(term.spelling, cast(Task, results.task), results.classes)
    except UsageError as error:
        raise _wrong(gate.text, term.metric_at, str(error)) from None
    return quantity.metric, quantity.average, quantity.label


def _metric_record(gate: Gate, term: Term, results: Results) -> MetricRecord:
    """Find the model's overall value of the metric."""
    wanted = _quantity(gate, term, results)
    rows = [row for row in results.metrics if row.model == term.model and row.slice is None]
    for row in rows:
        if (row.metric, row.average, row.label) == wanted:
            return row
    remedy = f"add -m {term.spelling}, or leave -m out to compute every metric"
    raise _wrong(gate.text, term.metric_at, f"{term.spelling} is not computed for {term.model}; {remedy}")


def _comparison_record(gate: Gate, results: Results) -> tuple[ComparisonRecord, int]:
    """Find the recommended comparison of the two models, and 1 or -1 for its orientation."""
    first, second = gate.terms
    for term in gate.terms:
        _metric_record(gate, term, results)
    wanted = _quantity(gate, first, results)
    pair = {first.model, second.model}
    rows = [row for row in results.comparisons if row.recommended and {row.a, row.b} == pair]
    for row in rows:
        if (row.metric, row.average, row.label) == wanted and row.slice is None:
            return row, 1 if row.a == first.model else -1
    if rows:
        raise _wrong(
            gate.text, first.metric_at, f"{first.spelling} is not compared between models; name another"
        )
    problem = f"{first.model} and {second.model} are not compared"
    raise UsageError(f"gate {gate.text!r}: {problem}; leave --baseline out, or make one of them the baseline")


def _decide_count(gate: Gate, results: Results) -> GateRecord:
    """A count is known exactly, so that its gate is decided at once."""
    n = float(results.n)
    outcome = outcome_of(gate.comparator, gate.limit, low=n, high=n)
    return GateRecord(gate.text, outcome, n, None, None, f"n = {results.n}")


def _record(
    gate: Gate,
    value: float | None,
    low: float | None,
    high: float | None,
    *,
    method: str | None,
    reason: str | None,
) -> GateRecord:
    if value is None or low is None or high is None:
        return GateRecord(
            gate.text, "undecided", value, low, high, f"no interval: {reason or 'not computed'}"
        )
    outcome = outcome_of(gate.comparator, gate.limit, low=low, high=high)
    note = "; the data fit both answers" if outcome == "undecided" else ""
    decimals = numbers.decimals_of([(high - low) / 4])
    # A bound must not look as if it stood on the gate's limit when it stands beside it.
    while decimals < _MOST_DECIMALS and any(round(x, decimals) == gate.limit != x for x in (low, high)):
        decimals += 1
    found = f"{numbers.number(value, decimals)} {numbers.interval(low, high, decimals)} by {method}"
    return GateRecord(gate.text, outcome, value, low, high, found + note)


def _negative(number: float | None) -> float | None:
    # 0.0 - x, because -0.0 would stand in results.json.
    return None if number is None else 0.0 - number
