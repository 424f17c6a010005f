"""The language of gates: parse a condition.

forest.accuracy >= 0.90
forest.f1_macro - logreg.f1_macro > -0.01
"C4.5".recall[class=3] >= 0.8
forest.recall[sex=f] >= 0.75
forest.recall[class=3,sex=f,region=north] >= 0.7
n >= 500
forest.accuracy >= accepted - 0.02
forest.accuracy >= 0.88 every night
forest.rmse <= ridge.rmse
forest.accuracy >= 0.95 * ridge.accuracy
0.9 <= forest.accuracy
forest.selection_rate[sex=f] / forest.selection_rate[sex=m] >= 0.8
forest.selection_rate[sex=f] >= 0.8 * forest.selection_rate[sex=m]
alarms <= 0
new.cost_mean <= 1.1 * old.cost_mean
new.latency_p95 <= 2
regressions(new, old) <= 0
new.questions_below(0.8) <= 0
best.accuracy >= 0.9
"best".accuracy >= 0.9
champion.cost_mean <= 1.2 * accepted
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Literal, cast

from evalreport.errors import UsageError
from evalreport.metrics.registry import METRICS
from evalreport.registry import unknown_name
from evalreport.texts import say

Comparator = Literal[">=", ">", "<=", "<"]
Earlier = Literal["accepted", "last"]
"""Earlier runs that a history knows: the accepted one, and the last that exited 0."""
Count = Literal["n", "alarms", "drifts", "fallen_slices", "regressions", "questions_below"]
"""Examples; what an audit counts (models worse than accepted, questions of changed data, slices that fell); questions
that got worse, or are below a floor."""
BEST = "best"
"""Without quotes the model that leads on the primary metric; in quotes a model of that name."""
OF_AUDITS = frozenset(("alarms", "drifts", "fallen_slices"))
CostFigure = Literal["mean", "median", "p95", "sum", "per_success"]
_COST = re.compile(r"(\w+)_(mean|median|p95|sum|per_success)")

_COMPARATOR = re.compile(r"\s*(>=|<=|>|<|==|!=|=)\s*")
_NUMBER = re.compile(r"[+-]?(\d+(\.\d*)?|\.\d+)([eE][+-]?\d+)?")
_METRIC = re.compile(r"[A-Za-z0-9_]+(?:[@^][0-9]+)?")
_PARAMETERS = ("at", "at_fpr", "at_rate", "at_recall", "at_coverage", "level", "q")
"""Numbers that a metric may have in brackets."""
_OF_INTERVALS = ("coverage", "interval_score", "interval_width", "pinball")
"""Metrics whose number is a level or a quantile."""
_COUNT = r"\s*(n|alarms|drifts|fallen_slices)\s*"
_COUNT_FIRST, _COUNT_LAST = re.compile(rf"{_COUNT}(?=[<>=!])"), re.compile(rf"{_COUNT}$")
_QUOTED = re.compile(r'"((?:[^"\\]|\\.)*)"')
_KEY = re.compile(r'\s*("(?:[^"\\]|\\.)*"|[^",=\[\]]+)=')
_EARLIER = re.compile(r"(accepted|last)\b\s*(?:([+\-−])\s*(?=[\d.]))?")
_EVERY_NIGHT = re.compile(r"\s+every\s+night\s*$")
_BOUND = (
    rf"\s*((?:{_NUMBER.pattern}\s*[*×]\s*)?(?:accepted|last)\b(?:\s*[+\-−]\s*{_NUMBER.pattern})?"
    rf"|{_NUMBER.pattern})\s*"
)
_BOUND_FIRST = re.compile(rf"{_BOUND}(?=[<>=!]+(?![<>=!]|{_BOUND}$))")
_OVER = re.compile(r"\s*[/÷]\s*")
_TIMES = re.compile(rf"\s*({_NUMBER.pattern})\s*[*×]\s*")
_ALONE = re.compile(r"(?![0-9])\w+(?:[@^][0-9]+)?(?=\[|\s*[<>=/÷*×\-−]|\s*$)")
"""A metric without its model, which may be left out where there is one."""
_MINUS = re.compile(r"\s*[-−]\s*")
_MISSPELT = re.compile(r"[^\W\d][^\s.<>=]*\.[^\W\d]")
_COMPARATORS: dict[str, Comparator] = {">=": ">=", ">": ">", "<=": "<=", "<": "<"}
MIRRORED: dict[Comparator, Comparator] = {">=": "<=", ">": "<", "<=": ">=", "<": ">"}
"""The comparator after the two sides are exchanged."""
MOST_COLUMNS = 2
_REGRESSIONS = re.compile(r"\s*regressions\s*\(\s*")
_BELOW = re.compile(rf"questions_below\s*\(\s*({_NUMBER.pattern})\s*\)")
_COMMA = re.compile(r"\s*,\s*")
_CLOSING = re.compile(r"\s*\)")


@dataclass(frozen=True, slots=True)
class Term:
    """One model's metric as a gate spells it: ``forest.recall[class=3,sex=f]``."""

    model: str
    metric: str
    label: str | None
    metric_at: int
    """Where the metric begins in the gate's text, counted from 0."""
    slices: tuple[tuple[str, str], ...] = ()
    """Columns and their values: the examples that the metric is about; empty: all of them."""
    best: bool = False
    """Whether it is about the model that leads, whoever that is."""

    @property
    def spelling(self) -> str:
        """The metric with its class, as ``--metric`` takes it."""
        return self.metric if self.label is None else f"{self.metric}[class={self.label}]"


@dataclass(frozen=True, slots=True)
class Gate:
    """One parsed gate.

    Attributes
    ----------
    text
        As it was written.
    terms
        None: a count. One: a model's metric. Two: the first minus the second.
    comparator, limit
        The condition.
    reference
        The earlier run whose value the limit is added to; None: the limit is absolute.
    count
        What is counted, where there are no terms.
    every_night
        It is about all nights since the accepted ones together, and the limit is a declared floor.
    ratio
        It is about the first term over the second.
    times
        The earlier run's value is multiplied by the limit, and nothing added.
    about
        Of counted questions: the models, of regressions the new one and the old one; none: all models.
    floor
        Of ``questions_below``: the share of passes.
    """

    text: str
    terms: tuple[Term, ...]
    comparator: Comparator
    limit: float
    reference: Earlier | None = None
    count: Count = "n"
    every_night: bool = False
    ratio: bool = False
    times: bool = False
    about: tuple[str, ...] = ()
    floor: float = 0.0

    @property
    def of_models(self) -> bool:
        """Whether it is about the ratio of two models' values of a metric that is no cost."""
        if not self.ratio:
            return False
        first, second = self.terms
        return first.model != second.model and cost_of(first.metric) is None


def cost_of(metric: str) -> tuple[str, CostFigure] | None:
    """Return the column and the figure of a cost as a gate spells it; None of any other metric.

    Examples
    --------
    >>> cost_of("latency_p95"), cost_of("accuracy")
    (('latency', 'p95'), None)
    """
    match = _COST.fullmatch(metric)
    return None if match is None else (match[1], cast(CostFigure, match[2]))


def parse(text: str, *, models: Iterable[str]) -> Gate:
    """Parse one gate.

    Parameters
    ----------
    text
        ``MODEL.METRIC >= X``, ``MODEL.METRIC - MODEL.METRIC > X`` or ``n >= N``; also ``<=`` and ``<``. Of an audit
        ``alarms``, ``drifts`` and ``fallen_slices`` may stand for ``n``. Instead
        of X also an earlier run's value: ``accepted``, ``accepted - X``, ``last`` or ``last + X``; or another model's:
        ``MODEL.METRIC <= MODEL.METRIC``, which is about their difference. Either side may stand first. After X also
        ``every night``, about one model's metric. Two models, or two groups of one column, may be divided:
        ``A / B >= X``, or ``A >= X * B``. Where there is one model its name may be left out. A model may stand in
        double quotes; without them the longest known name wins. In brackets after the metric: ``class=LABEL`` and the
        values of up to two columns, each in double quotes where it needs them.
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
    >>> parse("a.recall[class=3,sex=f] >= 0.7", models=["a"]).terms[0].slices
    (('sex', 'f'),)
    >>> gate = parse("0.9 <= a.f1", models=["a"])
    >>> gate.comparator, gate.limit
    ('>=', 0.9)
    """
    known = sorted(models, key=lambda name: (-len(name), name))  # the longest first
    gate = _parsed(text, known)
    if any(term.best for term in gate.terms):
        _check_best(gate)
    return gate


def parsed(expressions: Sequence[str], models: Sequence[str]) -> Iterator[Gate]:
    """Yield the gates that can be read; the decision of each other one reports its error."""
    for text in expressions:
        try:
            yield parse(text, models=models)
        except UsageError:
            continue


def _parsed(text: str, known: Sequence[str]) -> Gate:
    of_questions = _gate_on_questions(text, known)
    if of_questions is not None:
        return of_questions
    first = None if _begins_term(text, 0, known) else _BOUND_FIRST.match(text)
    if first is not None:
        mirrored, at = _comparator(text, first.end())
        terms, count, at = _subject(text, at, known, _COUNT_LAST)
        _expect_end(text, at, len(text))
        return _against_bound(text, terms, count, MIRRORED[mirrored], (first.start(1), first.end()))
    terms, count, at = _subject(text, 0, known, _COUNT_FIRST)
    over = _OVER.match(text, at) if len(terms) == 1 else None
    ratio = over is not None
    if over is not None:
        second, at = _term(text, over.end(), known)
        _check_ratio(text, terms[0], second, at=over.end())
        terms = (*terms, second)
    comparator, at = _comparator(text, at)
    if ratio:
        return replace(_against_bound(text, terms, count, comparator, (at, len(text))), ratio=True)
    times = _TIMES.match(text, at)
    of_a_run = times is not None and _is_earlier(text, times.end(), known)
    if times is not None and len(terms) == 1 and not of_a_run:
        second, end = _term(text, times.end(), known)
        _check_ratio(text, terms[0], second, at=times.end())
        _expect_end(text, end, len(text))
        return Gate(text, (*terms, second), comparator, float(times[1]), ratio=True)
    nightly = _EVERY_NIGHT.search(text, at)
    if nightly is not None:
        if len(terms) != 1 or terms[0].slices or _EARLIER.match(text, at) is not None:
            raise wrong(
                text,
                nightly.start() + 1,
                "every night asks for one model's metric over all its examples, and a number",
            )
        if cost_of(terms[0].metric) is not None:
            raise wrong(
                text,
                nightly.start() + 1,
                "every night is about the primary metric: hold a cost against a number, or accepted or last",
            )
        limit = _limit(text, at, nightly.start())
        return Gate(text, terms, comparator, limit, every_night=True)
    if len(terms) == 1 and _begins_term(text, at, known):
        second, end = _term(text, at, known)
        _check_difference(text, terms[0], second, at=at)
        _expect_end(text, end, len(text))
        return Gate(text, (*terms, second), comparator, 0.0)
    return _against_bound(text, terms, count, comparator, (at, len(text)))


_PRODUCT = re.compile(rf"(.+?)\s*(>=|<=|>|<)\s*({_NUMBER.pattern})\s*[*×](?!\s*(?:accepted|last)\s*$)\s*(.+)")


def as_ratio(text: str) -> str:
    """Write a gate on a multiple of another group as the ratio that decides it; any other gate as it is.

    Examples
    --------
    >>> as_ratio("a.f1[sex=f] >= 0.8 * a.f1[sex=m]"), as_ratio("a.f1 >= 0.8")
    ('a.f1[sex=f] / a.f1[sex=m] >= 0.8', 'a.f1 >= 0.8')
    """
    match = _PRODUCT.fullmatch(text.strip())
    return text if match is None else f"{match[1]} / {match[match.lastindex or 1]} {match[2]} {match[3]}"


def terms_of(text: str, *, models: Iterable[str]) -> tuple[Term, ...]:
    """Return the terms of a gate on both sides; none where it cannot be parsed.

    They are computed before the gate is decided; the decision reports errors.
    """
    try:
        return parse(text, models=models).terms
    except UsageError:
        return ()


def asks_an_audit(text: str, *, models: Iterable[str]) -> bool:
    """Say whether a gate is about earlier runs, or counts what only an audit asks; not where it cannot be read.

    Examples
    --------
    >>> [asks_an_audit(gate, models=["a"]) for gate in ("alarms < 1", "accepted <= a.f1", "a.f1 > 0.5", "n >= 10")]
    [True, True, False, False]
    """
    try:
        read = parse(text, models=models)
    except UsageError:
        return False  # it is refused when the gates are decided
    return read.reference is not None or read.every_night or read.count in OF_AUDITS


def _gate_on_questions(text: str, known: Sequence[str]) -> Gate | None:
    """Parse a gate that counts questions; None where it counts none."""
    counted = _counted_questions(text, 0, known)
    if counted is not None:
        count, about, floor, at = counted
        comparator, at = _comparator(text, at)
        return Gate(text, (), comparator, _limit(text, at, len(text)), count=count, about=about, floor=floor)
    first = _BOUND_FIRST.match(text)
    if first is None or _EARLIER.match(text, first.start(1)):
        return None
    mirrored, at = _comparator(text, first.end())
    counted = _counted_questions(text, at, known)
    if counted is None:
        return None
    count, about, floor, at = counted
    _expect_end(text, at, len(text))
    limit = _limit(text, first.start(1), first.end())
    return Gate(text, (), MIRRORED[mirrored], limit, count=count, about=about, floor=floor)


def _counted_questions(
    text: str, start: int, known: Sequence[str]
) -> tuple[Count, tuple[str, ...], float, int] | None:
    """Parse ``regressions(NEW, OLD)`` or ``MODEL.questions_below(X)``; return models, floor and where it ends."""
    opening = _REGRESSIONS.match(text, start)
    if opening is not None:
        new, at = _model_in_a_list(text, opening.end(), known)
        comma = _COMMA.match(text, at)
        if comma is None:
            raise wrong(text, at, "expected regressions(NEW, OLD)")
        old, end = _model_in_a_list(text, comma.end(), known)
        closing = _CLOSING.match(text, end)
        if closing is None:
            raise wrong(text, end, "expected ')' after the second model")
        if new == old:
            raise wrong(text, comma.end(), f"regressions need two models, and both are {new!r}")
        return "regressions", (new, old), 0.0, closing.end()
    at = start + len(text[start:]) - len(text[start:].lstrip())
    about: tuple[str, ...] = ()
    if _BELOW.match(text, at) is None and "questions_below" in text[at:]:
        model, end = _model(text, at, known)
        if not text.startswith(".", end):
            return None
        about, at = (model,), end + 1
    below = _BELOW.match(text, at)
    if below is None:
        return None
    floor = float(below[1])
    if not 0 < floor <= 1:
        raise wrong(text, below.start(1), "a floor is a share of passes, above 0 and at most 1")
    return "questions_below", about, floor, below.end()


def _model_in_a_list(text: str, start: int, known: Sequence[str]) -> tuple[str, int]:
    """Parse a model before a comma or a bracket: in quotes, or the longest known name."""
    if text.startswith('"', start):
        return _model(text, start, known)
    for name in known:
        if text.startswith(name, start) and re.match(r"\s*[,)]", text[start + len(name) :]):
            return name, start + len(name)
    written = re.match(r"[^,)]*", text[start:])
    name = "" if written is None else written[0].strip()
    raise wrong(text, start, unknown_name("model", name, sorted(known)))


def _subject(
    text: str, start: int, known: Sequence[str], counted: re.Pattern[str]
) -> tuple[tuple[Term, ...], Count, int]:
    """Parse the subject of a gate from a character on; return terms or a count, and where it ends."""
    count = counted.match(text, start)
    if count:
        return (), cast(Count, count[1]), count.end()
    first, at = _term(text, start + len(text[start:]) - len(text[start:].lstrip()), known)
    minus = _MINUS.match(text, at)
    if minus is None:
        return (first,), "n", at
    second, at = _term(text, minus.end(), known)
    _check_difference(text, first, second, at=minus.end())
    return (first, second), "n", at


def _check_best(gate: Gate) -> None:
    """Refuse a gate on the best model that is no metric against a number."""
    term = gate.terms[0]
    if len(gate.terms) > 1 or gate.reference is not None or gate.every_night:
        raise wrong(
            gate.text,
            term.metric_at,
            'the best model is held against a number, such as best.accuracy >= 0.9; a model called best is "best"',
        )
    if cost_of(term.metric) is not None:
        raise wrong(
            gate.text, term.metric_at, "name the model whose costs are meant: best is by quality alone"
        )


def _is_best(text: str, at: int, known: Sequence[str]) -> bool:
    """Say whether the word for the model that leads stands at a character, and no longer name."""
    longer = any(len(name) > len(BEST) and text.startswith(name + ".", at) for name in known)
    return text.startswith(BEST + ".", at) and not longer


def _begins_term(text: str, at: int, known: Sequence[str]) -> bool:
    """Say whether a model's metric begins at a character, its name known, in quotes or misspelt."""
    named = any(text.startswith(name + ".", at) for name in known)
    if len(known) == 1 and _alone(text, at) and not _EARLIER.match(text, at):
        return True
    return named or text.startswith('"', at) or _MISSPELT.match(text, at) is not None


def _alone(text: str, at: int) -> bool:
    """Say whether a metric stands at a character without a model."""
    return _ALONE.match(text, at) is not None


def _check_ratio(text: str, first: Term, second: Term, *, at: int) -> None:
    """Refuse a ratio that is not of one metric: of two models on the same examples, or of one in two groups."""
    if first.spelling != second.spelling:
        raise wrong(text, at, f"a ratio needs one metric, not {first.spelling} and {second.spelling}")
    if first.model != second.model:
        _check_difference(text, first, second, at=at)
        return
    of_first, of_second = dict(first.slices), dict(second.slices)
    if not of_first or of_first.keys() != of_second.keys() or of_first == of_second:
        raise wrong(text, at, "a ratio needs two groups of the same column, such as [sex=f] and [sex=m]")


def _term(text: str, start: int, known: Sequence[str]) -> tuple[Term, int]:
    """Parse MODEL.METRIC from the start; return it and where it ends."""
    best = _is_best(text, start, known)
    if best:
        model, at = BEST, start + len(BEST)
    elif len(known) == 1 and not text.startswith((known[0] + ".", '"'), start) and _alone(text, start):
        model, at = known[0], start - 1
    else:
        model, at = _model(text, start, known)
    if at >= start and not text.startswith(".", at):
        raise wrong(text, at, f"expected '.' and a metric after the model {model!r}")
    name = _METRIC.match(text, at + 1)
    if name is None:
        raise wrong(text, at + 1, "expected the name of a metric")
    at = name.end()
    if not text.startswith("[", at):
        return Term(model, name[0], None, name.start(), best=best), at
    metric, label = name[0], None
    columns: dict[str, str] = {}
    while text.startswith("[", at):
        start = at
        own, given, at = _brackets(text, at)
        for key in [key for key in given if key in _PARAMETERS and _has_number(name[0], key, given[key])]:
            metric = f"{metric}[{key}={given.pop(key)}]"
        if (own is not None and label is not None) or given.keys() & columns.keys():
            raise wrong(text, start, "the same key stands there twice")
        label, columns = (label if own is None else own), columns | given
    if len(columns) > MOST_COLUMNS:
        raise wrong(text, start, f"at most {MOST_COLUMNS} columns at once")
    return Term(model, metric, label, name.start(), tuple(columns.items()), best), at


def _has_number(metric: str, key: str, value: str) -> bool:
    """Say whether a key in brackets is the number of a metric: ``level`` and ``q`` may be columns, too."""
    return key not in ("level", "q") or (
        metric in _OF_INTERVALS and _NUMBER.fullmatch(value.strip()) is not None
    )


def _brackets(text: str, start: int) -> tuple[str | None, dict[str, str], int]:
    """Parse ``[class=LABEL,COLUMN=VALUE]``; return the class, the columns with their values, and the end."""
    label: str | None = None
    columns: dict[str, str] = {}
    at = start
    while at == start or text.startswith(",", at):
        key = _KEY.match(text, at + 1)
        if key is None:
            raise wrong(text, start, "expected [class=LABEL], [COLUMN=VALUE] or several of them with commas")
        value, at = _value(text, key.end())
        name = _unquoted(key[1]) if key[1].startswith('"') else key[1].strip()
        if name in columns or (key[1].strip() == "class" and label is not None):
            raise wrong(text, key.start(1), f"{name!r} stands there twice")
        if key[1].strip() == "class":
            label = value
        else:
            columns[name] = value
    if not text.startswith("]", at):
        raise wrong(text, at, "expected ']' after the class or the column's value")
    return label, columns, at + 1


def _value(text: str, start: int) -> tuple[str, int]:
    """Parse a value: in quotes, or up to the bracket or a comma that another ``KEY=`` follows."""
    if text.startswith('"', start):
        return _quoted(text, start)
    end = text.find("]", start)
    end = len(text) if end < 0 else end
    for at in range(start, end):
        if text[at] == "," and _KEY.match(text, at + 1):
            return text[start:at], at
    return text[start:end], end


def _model(text: str, start: int, known: Sequence[str]) -> tuple[str, int]:
    """Parse a model: in quotes, or the longest known name that a dot follows."""
    if text.startswith('"', start):
        name, at = _quoted(text, start)
        if name not in known:
            raise wrong(text, start, unknown_name("model", name, list(known)))
        return name, at
    for name in known:
        if text.startswith(name + ".", start):
            return name, start + len(name)
    word = re.compile(r"[^.\s<>=]*").match(text, start)
    written = word[0] if word else ""
    if not written:
        raise wrong(text, start, "expected MODEL.METRIC or n")
    if written in known:
        raise wrong(
            text, start + len(written), f"expected a dot and a metric after the model: {written}.METRIC"
        )
    if known and written in METRICS:
        raise wrong(
            text, start, f"{written} is a metric: name the model before it, as in {known[-1]}.{written}"
        )
    if known and not re.search("[<>=]", text) and re.search(r"[.@]", text):
        raise wrong(text, start, say("gate_ends.no_condition", rest=repr(text.strip()), example=known[-1]))
    raise wrong(text, start, unknown_name("model", written, sorted(known)))


def _quoted(text: str, start: int) -> tuple[str, int]:
    """Parse a text in double quotes, in which a backslash takes the next character as it is."""
    match = _QUOTED.match(text, start)
    if match is None:
        raise wrong(text, start, "a quote is opened and not closed")
    return _unquoted(match[0]), match.end()


def _unquoted(text: str) -> str:
    return re.sub(r"\\(.)", r"\1", text[1:-1])


def _check_difference(text: str, first: Term, second: Term, *, at: int) -> None:
    if first.model == second.model:
        raise wrong(text, at, f"a difference needs two models, and both are {first.model!r}")
    if first.spelling != second.spelling:
        raise wrong(text, at, f"a difference needs one metric, not {first.spelling} and {second.spelling}")
    if dict(first.slices) != dict(second.slices):
        raise wrong(text, at, "a difference needs the same examples on both sides")


def _comparator(text: str, at: int) -> tuple[Comparator, int]:
    match = _COMPARATOR.match(text, at)
    if match is None:
        raise wrong(text, at, "expected one of >=, >, <=, < and a number")
    sign = match[1]
    if sign not in _COMPARATORS:
        raise wrong(text, match.start(1), f"{sign!r} can never be decided by an interval; use >=, >, <= or <")
    return _COMPARATORS[sign], match.end()


def _against_bound(
    text: str, terms: tuple[Term, ...], count: Count, comparator: Comparator, span: tuple[int, int]
) -> Gate:
    """Return a gate against a number or an earlier run's value, at a span of the text."""
    start, end = span
    times = _TIMES.match(text, start, end)
    if times is not None and (multiple := _EARLIER.match(text, times.end(), end)) is not None:
        return _times_earlier(text, terms, count, comparator, times, multiple, end)
    earlier = _EARLIER.match(text, start, end)
    if earlier is None:
        return Gate(text, terms, comparator, _limit(text, start, end), count=count)
    if count != "n":
        raise wrong(text, start, f"{count} already compares with the accepted run: give a number")
    return Gate(text, terms, comparator, _beyond(text, terms, earlier, end), cast(Earlier, earlier[1]))


def _is_earlier(text: str, at: int, known: Sequence[str]) -> bool:
    """Say whether an earlier run stands at a character, and no model that is called so."""
    return _EARLIER.match(text, at) is not None and not _begins_term(text, at, known)


def _times_earlier(
    text: str,
    terms: tuple[Term, ...],
    count: Count,
    comparator: Comparator,
    times: re.Match[str],
    earlier: re.Match[str],
    end: int,
) -> Gate:
    """Return a gate against a multiple of an earlier run's value."""
    if count != "n":
        raise wrong(text, times.start(), f"{count} already compares with the accepted run: give a number")
    if len(terms) > 1:
        raise wrong(
            text, earlier.start(), f"the difference of two models has no {earlier[1]} value: gate one model"
        )
    if earlier[2] is not None:
        raise wrong(text, earlier.start(2), f"a multiple of {earlier[1]} takes no + or −")
    _expect_end(text, earlier.end(), end)
    factor = float(times[1])
    if not (factor > 0 and math.isfinite(factor)):
        raise wrong(text, times.start(1), "an earlier value is multiplied by a number above 0")
    return Gate(text, terms, comparator, factor, cast(Earlier, earlier[1]), count=count, times=True)


def _beyond(text: str, terms: Sequence[Term], earlier: re.Match[str], end: int) -> float:
    """Parse the number that is added to an earlier run's value; 0 without one."""
    if len(terms) > 1:
        raise wrong(
            text, earlier.start(), f"the difference of two models has no {earlier[1]} value: gate one model"
        )
    if earlier[2] is None and not text[earlier.end() : end].strip():
        return 0.0
    if earlier[2] is None:
        raise wrong(text, earlier.end(), f"expected + or - and a number after {earlier[1]}, or nothing")
    size = _limit(text, earlier.end(), end)
    return size if earlier[2] == "+" else 0.0 - size


def _limit(text: str, at: int, end: int) -> float:
    number = _NUMBER.match(text, at, end)
    if number is None:
        raise wrong(
            text,
            at,
            "expected a number, such as 0.9, another model's metric, or accepted or last (runs of a history)",
        )
    _expect_end(text, number.end(), end)
    limit = float(number[0])
    if not math.isfinite(limit):
        raise wrong(text, at, f"{number[0]} is too large")
    return limit


def _expect_end(text: str, at: int, end: int) -> None:
    rest = text[at:end]
    if rest.strip():
        start = at + len(rest) - len(rest.lstrip())
        key = (
            "percent"
            if rest.strip() == "%"
            else "several"
            if rest.split()[0] in ("and", "&&", "&") or rest.strip()[0] in ";,"
            else "end"
        )
        raise wrong(text, start, say(f"gate_ends.{key}", rest=repr(rest.strip())))


def wrong(text: str, at: int, problem: str) -> UsageError:
    """Return the error of a gate that is wrong at a character, counted from 0."""
    return UsageError(f"gate {text!r}, character {at + 1}: {problem}")
