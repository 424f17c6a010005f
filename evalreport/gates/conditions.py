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
from typing import Literal, NoReturn, cast

from evalreport.errors import UsageError
from evalreport.metrics.registry import METRICS
from evalreport.numbers import MINUS, count
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
OF_QUESTIONS = frozenset(("regressions", "questions_below"))
CostFigure = Literal["mean", "median", "p95", "sum", "per_success"]
_COST = re.compile(r"(\w+)_(mean|median|p95|sum|per_success)")

_NUMBER = r"[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?"
_A_NUMBER = re.compile(_NUMBER)
_METRIC = re.compile(r"[A-Za-z0-9_]+(?:[@^][0-9]+)?")
_PARAMETERS = ("at", "at_fpr", "at_rate", "at_recall", "at_coverage", "level", "q")
"""Numbers that a metric may have in brackets."""
_OF_INTERVALS = ("coverage", "interval_score", "interval_width", "pinball")
"""Metrics whose number is a level or a quantile."""
_COUNT = r"\s*(n|alarms|drifts|fallen_slices)\s*"
_COUNT_FIRST, _COUNT_LAST = re.compile(rf"{_COUNT}(?=[<>=!])"), re.compile(rf"{_COUNT}$")
_QUOTED = re.compile(r'"((?:[^"\\]|\\.)*)"')
_KEY = re.compile(r'\s*("(?:[^"\\]|\\.)*"|[^",=\[\]]+)=')
_EARLIER = re.compile(
    rf"(?:(?P<times>{_NUMBER})\s*[*×]\s*)?(?P<run>accepted|last)\b\s*(?:(?P<sign>[+\-−])\s*(?=[\d.]))?"
)
_EVERY_NIGHT = re.compile(r"\s*\b(every)\s+night\s*$")
_BOUND = rf"\s*((?:{_NUMBER}\s*[*×]\s*)?(?:accepted|last)\b(?:\s*[+\-−]\s*{_NUMBER})?|{_NUMBER})\s*"
_BOUND_FIRST = re.compile(rf"{_BOUND}(?=[<>=!]+(?![<>=!]|{_BOUND}$))")
_COMPARATOR = re.compile(r"\s*(>=|<=|>|<|==|!=|=)\s*")
_MINUS_OR_OVER = re.compile(r"\s*([-−/÷])\s*")
_TIMES = re.compile(rf"({_NUMBER})\s*[*×]\s*")
_ALONE = re.compile(r"(?![0-9])\w+(?:[@^][0-9]+)?(?=\[|\s*[<>=/÷*×\-−]|\s*$)")
"""A metric without its model, which may be left out where there is one."""
_MISSPELT = re.compile(r"[^\W\d][^\s.<>=]*\.[^\W\d]")
_COMPARATORS: dict[str, Comparator] = {">=": ">=", ">": ">", "<=": "<=", "<": "<"}
MIRRORED: dict[Comparator, Comparator] = {">=": "<=", ">": "<", "<=": ">=", "<": ">"}
"""The comparator after the two sides are exchanged."""
MOST_COLUMNS = 2
_REGRESSIONS = re.compile(r"regressions\s*\(\s*")
_BELOW = re.compile(rf"questions_below\s*\(\s*({_NUMBER})\s*\)")
_COMMA, _CLOSING = re.compile(r"\s*,\s*"), re.compile(r"\s*\)")
_SPACE, _DOT = re.compile(r"\s*"), re.compile(r"\.")


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
    terms: tuple[Term, ...] = ()
    comparator: Comparator = ">="
    limit: float = 0.0
    reference: Earlier | None = None
    count: Count = "n"
    every_night: bool = False
    ratio: bool = False
    times: bool = False
    about: tuple[str, ...] = ()
    floor: float = 0.0

    def wrong(self, term: Term, problem: str) -> UsageError:
        """Return the error that a term of it is wrong, with its place."""
        return wrong(self.text, term.metric_at, problem)

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
    gate = _Reader(text, known, 0, len(text)).gate()
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


_PRODUCT = re.compile(rf"(.+?)\s*(>=|<=|>|<)\s*({_NUMBER})\s*[*×](?!\s*(?:accepted|last)\s*$)\s*(.+)")


def as_ratio(text: str) -> str:
    """Write a gate on a multiple of another group as the ratio that decides it; any other gate as it is.

    Examples
    --------
    >>> as_ratio("a.f1[sex=f] >= 0.8 * a.f1[sex=m]"), as_ratio("a.f1 >= 0.8")
    ('a.f1[sex=f] / a.f1[sex=m] >= 0.8', 'a.f1 >= 0.8')
    """
    match = _PRODUCT.fullmatch(text.strip())
    return text if match is None else f"{match[1]} / {match[4]} {match[2]} {match[3]}"


_SIDES = re.compile(r"""((?:"[^"]*"|[^<>"])*?)\s*(>=|<=|>|<)\s*(.*)""", re.DOTALL)
"""A gate: its left side, in which a quoted name may hold any sign, the sign, and the right side."""
SIGNS = {">=": "≥", "<=": "≤"}


def sides(text: str) -> tuple[str, str, str]:
    """Divide a gate into what it is about, the sign and the bar; without a sign it is all of the first.

    Examples
    --------
    >>> sides("forest.accuracy >= 0.9"), sides("0.9 <= forest.accuracy")
    (('forest.accuracy', '≥', '0.9'), ('forest.accuracy', '≥', '0.9'))
    """
    match = _SIDES.fullmatch(as_ratio(text))
    if match is None:
        return text, "", ""
    left, comparator, right = match[1].strip(), _COMPARATORS[match[2]], match[3].strip()
    if re.fullmatch(_BOUND, left):
        left, comparator, right = right, MIRRORED[comparator], left
    return left, SIGNS.get(comparator, comparator), right


def needs_of(sign: str, bar: str) -> str:
    """Write what a gate needs as a sentence does: true minus signs, and a whole number as a count.

    Examples
    --------
    >>> needs_of(">", "-0.02"), needs_of("≥", "accepted - 0.05"), needs_of("≥", "0.95 * b-2.f1"), needs_of("≤", "60000")
    ('> −0.02', '≥ accepted − 0.05', '≥ 0.95 * b-2.f1', '≤ 60,000')
    """
    bar = count(int(bar)) if bar.isdigit() else bar
    return re.sub(r" -(?=[ .\d])", f" {MINUS}", f"{sign} {bar}")


def asks_an_audit(text: str, *, models: Sequence[str]) -> bool:
    """Say whether a gate is about earlier runs, or counts what only an audit asks; not where it cannot be read.

    Examples
    --------
    >>> [asks_an_audit(gate, models=["a"]) for gate in ("alarms < 1", "accepted <= a.f1", "a.f1 > 0.5", "n >= 10")]
    [True, True, False, False]
    """
    return any(
        gate.reference is not None or gate.every_night or gate.count in OF_AUDITS
        for gate in parsed([text], models)
    )


@dataclass(slots=True)
class _Reader:
    """A gate's text, the models that it may name, the longest first, and from where to where it is still to be read."""

    text: str
    known: Sequence[str]
    at: int
    stop: int

    def gate(self) -> Gate:
        """Read a subject and what it is held against, in either order."""
        bound = None if self.begins_term() else self.take(_BOUND_FIRST)
        if bound is None:
            subject = self.subject(_COUNT_FIRST)
            subject = replace(subject, comparator=self.comparator())
            return self.compared(subject) or self.bounded(subject)
        comparator = MIRRORED[self.comparator()]
        subject = replace(self.subject(_COUNT_LAST), comparator=comparator)
        self.end()
        return replace(self, at=bound.start(1), stop=bound.end()).bounded(subject)

    # --- the two sides ----------------------------------------------------------------------------------------------

    def subject(self, counted: re.Pattern[str]) -> Gate:
        """Read a count, a model's metric, or two models' with minus or over between them; no condition yet."""
        count = self.take(counted)
        if count is not None:
            return Gate(self.text, count=cast(Count, count[1]))
        self.take(_SPACE)
        of_questions = self.questions()
        if of_questions is not None:
            return of_questions
        first, sign = self.term(), self.take(_MINUS_OR_OVER)
        if sign is None:
            return Gate(self.text, (first,))
        at, second, ratio = self.at, self.term(), sign[1] in "/÷"
        self.check_pair(first, second, at, ratio=ratio)
        return Gate(self.text, (first, second), ratio=ratio)

    def questions(self) -> Gate | None:
        """Read ``regressions(NEW, OLD)`` or ``[MODEL.]questions_below(X)``; None where neither is here."""
        if self.take(_REGRESSIONS) is not None:
            new = self.model_in_a_list()
            if self.take(_COMMA) is None:
                raise self.wrong("expected regressions(NEW, OLD)")
            at, old = self.at, self.model_in_a_list()
            if self.take(_CLOSING) is None:
                raise self.wrong("expected ')' after the second model")
            if new == old:
                raise self.wrong(f"regressions need two models, and both are {new!r}", at)
            return Gate(self.text, count="regressions", about=(new, old))
        start = self.at
        about: tuple[str, ...] = ()
        if _BELOW.match(self.text, start) is None and "questions_below" in self.text[start:]:
            about = (self.model(),)
            self.take(_DOT)
        below = self.take(_BELOW)
        if below is None:
            self.at = start
            return None
        floor = float(below[1])
        if not 0 < floor <= 1:
            raise self.wrong("a floor is a share of passes, above 0 and at most 1", below.start(1))
        return Gate(self.text, count="questions_below", about=about, floor=floor)

    def compared(self, gate: Gate) -> Gate | None:
        """Read another model's value, or a multiple of it; None where a number or an earlier run is here."""
        start, times = self.at, self.take(_TIMES)
        at = self.at
        multiple = times is not None and _EARLIER.match(self.text, at) is None
        if len(gate.terms) != 1 or not (multiple or self.begins_term()):
            self.at = start
            return None
        second = self.term()
        self.check_pair(gate.terms[0], second, at, ratio=times is not None)
        self.end()
        limit = 0.0 if times is None else float(times[1])
        return replace(gate, terms=(*gate.terms, second), limit=limit, ratio=times is not None)

    def bounded(self, gate: Gate) -> Gate:
        """Read a number, or an earlier run's value with a number added or as a multiple."""
        start = self.at
        earlier = None if gate.count in OF_QUESTIONS else self.take(_EARLIER)
        gate = replace(gate, limit=self.number()) if earlier is None else self.since(gate, earlier, start)
        night = self.take(_EVERY_NIGHT)
        if night is not None:
            if len(gate.terms) != 1 or gate.terms[0].slices or earlier is not None:
                raise self.wrong(
                    "every night asks for one model's metric over all its examples, and a number",
                    night.start(1),
                )
            if cost_of(gate.terms[0].metric) is not None:
                raise self.wrong(
                    "every night is about the primary metric: hold a cost against a number, or accepted or last",
                    night.start(1),
                )
        self.end()
        return replace(gate, every_night=night is not None)

    def since(self, gate: Gate, earlier: re.Match[str], start: int) -> Gate:
        """Return a gate against an earlier run's value, of which all but a number to be added is read."""
        run, sign = earlier["run"], earlier["sign"]
        if gate.count != "n":
            raise self.wrong(f"{gate.count} already compares with the accepted run: give a number", start)
        if len(gate.terms) > 1:
            raise self.wrong(
                f"the difference of two models has no {run} value: gate one model", earlier.start("run")
            )
        gate = replace(gate, reference=cast(Earlier, run))
        if earlier["times"] is not None:
            factor = float(earlier["times"])
            if sign is not None:
                raise self.wrong(f"a multiple of {run} takes no + or −", earlier.start("sign"))
            if not (factor > 0 and math.isfinite(factor)):
                raise self.wrong("an earlier value is multiplied by a number above 0", start)
            return replace(gate, limit=factor, times=True)
        if sign is not None:
            size = self.number()
            return replace(gate, limit=size if sign == "+" else 0.0 - size)
        if self.text[self.at : self.stop].strip() and _EVERY_NIGHT.match(self.text, self.at) is None:
            raise self.wrong(f"expected + or - and a number after {run}, or nothing")
        return gate

    def number(self) -> float:
        """Read a finite number."""
        number = self.take(_A_NUMBER)
        if number is None:
            raise self.wrong(
                "expected a number, such as 0.9, another model's metric, or accepted or last (runs of a history)"
            )
        if not math.isfinite(float(number[0])):
            raise self.wrong(f"{number[0]} is too large", number.start())
        return float(number[0])

    def comparator(self) -> Comparator:
        """Read >=, >, <= or <."""
        match = self.take(_COMPARATOR)
        if match is None:
            raise self.wrong("expected one of >=, >, <=, < and a number")
        if match[1] not in _COMPARATORS:
            raise self.wrong(
                f"{match[1]!r} can never be decided by an interval; use >=, >, <= or <", match.start(1)
            )
        return _COMPARATORS[match[1]]

    # --- models, metrics, brackets ----------------------------------------------------------------------------------

    def begins_term(self) -> bool:
        """Say whether a model's metric begins here, its name known, in quotes or misspelt."""
        if self.begins_only_metric() and _EARLIER.match(self.text, self.at) is None:
            return True
        return self.sees(*self.with_dots(), '"') or _MISSPELT.match(self.text, self.at) is not None

    def begins_only_metric(self) -> bool:
        """Say whether a metric of the only model begins here, its model left out."""
        return len(self.known) == 1 and _ALONE.match(self.text, self.at) is not None

    def term(self) -> Term:
        """Read MODEL.METRIC with its brackets; of the only model the metric may be there alone."""
        longer = (name for name in self.with_dots() if len(name) > len(BEST) + 1)
        best = self.sees(BEST + ".") and not self.sees(*longer)
        if best:
            model, self.at = BEST, self.at + len(BEST)
        elif self.begins_only_metric() and not self.sees(*self.with_dots(), '"'):
            return self.metric(self.known[0])
        else:
            model = self.model()
        if self.take(_DOT) is None:
            raise self.wrong(f"expected '.' and a metric after the model {model!r}")
        return replace(self.metric(model), best=best)

    def metric(self, model: str) -> Term:
        """Read a metric with its brackets: its numbers, a class, and columns with their values."""
        name = self.take(_METRIC)
        if name is None:
            raise self.wrong("expected the name of a metric")
        metric, label = name[0], None
        columns: dict[str, str] = {}
        while self.sees("["):
            start = self.at
            own, given = self.brackets()
            for key in [key for key in given if key in _PARAMETERS and _has_number(name[0], key, given[key])]:
                metric = f"{metric}[{key}={given.pop(key)}]"
            if (own is not None and label is not None) or given.keys() & columns.keys():
                raise self.wrong("the same key stands there twice", start)
            label, columns = (label if own is None else own), columns | given
            if len(columns) > MOST_COLUMNS:
                raise self.wrong(f"at most {MOST_COLUMNS} columns at once", start)
        return Term(model, metric, label, name.start(), tuple(columns.items()))

    def brackets(self) -> tuple[str | None, dict[str, str]]:
        """Read ``[class=LABEL,COLUMN=VALUE]``; return the class, and the columns with their values."""
        label: str | None = None
        columns: dict[str, str] = {}
        start = self.at
        while self.at == start or self.sees(","):
            self.at += 1
            key = self.take(_KEY)
            if key is None:
                raise self.wrong(
                    "expected [class=LABEL], [COLUMN=VALUE] or several of them with commas", start
                )
            value, of_class = self.value(), key[1].strip() == "class"
            name = _unquoted(key[1]) if key[1].startswith('"') else key[1].strip()
            if name in columns or (of_class and label is not None):
                raise self.wrong(f"{name!r} stands there twice", key.start(1))
            if of_class:
                label = value
            else:
                columns[name] = value
        if not self.sees("]"):
            raise self.wrong("expected ']' after the class or the column's value")
        self.at += 1
        return label, columns

    def value(self) -> str:
        """Read a value: in quotes, or up to the bracket or a comma that another ``KEY=`` follows."""
        if self.sees('"'):
            return self.quoted()
        start, closing = self.at, self.text.find("]", self.at)
        end = len(self.text) if closing < 0 else closing
        commas = (at for at in range(start, end) if self.text[at] == "," and _KEY.match(self.text, at + 1))
        self.at = next(commas, end)
        return self.text[start : self.at]

    def model(self) -> str:
        """Read a model: in quotes, or the longest known name that a dot follows."""
        if self.sees('"'):
            start, name = self.at, self.quoted()
            if name not in self.known:
                raise self.wrong(unknown_name("model", name, list(self.known)), start)
            return name
        for name in self.known:
            if self.sees(name + "."):
                self.at += len(name)
                return name
        return self.refuse_model()

    def refuse_model(self) -> NoReturn:
        """Refuse a text that begins with no known model."""
        word = re.compile(r"[^.\s<>=]*").match(self.text, self.at)
        written, rest = word[0] if word else "", self.text.strip()
        if not written:
            raise self.wrong("expected MODEL.METRIC or n")
        if written in self.known:
            raise self.wrong(
                f"expected a dot and a metric after the model: {written}.METRIC", self.at + len(written)
            )
        if self.known and written in METRICS:
            example = f"{self.known[-1]}.{written}"
            raise self.wrong(f"{written} is a metric: name the model before it, as in {example}")
        if self.known and not re.search("[<>=]", rest) and re.search(r"[.@]", rest):
            raise self.wrong(say("gate_ends.no_condition", rest=repr(rest), example=self.known[-1]))
        raise self.wrong(unknown_name("model", written, sorted(self.known)))

    def model_in_a_list(self) -> str:
        """Read a model before a comma or a bracket: in quotes, or the longest known name."""
        if self.sees('"'):
            return self.model()
        for name in self.known:
            if self.sees(name) and re.match(r"\s*[,)]", self.text[self.at + len(name) :]):
                self.at += len(name)
                return name
        written = self.text[self.at :].partition(")")[0].partition(",")[0].strip()
        raise self.wrong(unknown_name("model", written, sorted(self.known)))

    def quoted(self) -> str:
        """Read a text in double quotes, in which a backslash takes the next character as it is."""
        match = self.take(_QUOTED)
        if match is None:
            raise self.wrong("a quote is opened and not closed")
        return _unquoted(match[0])

    # --- reading on, and refusing -----------------------------------------------------------------------------------

    def take(self, pattern: re.Pattern[str]) -> re.Match[str] | None:
        """Read what fits a pattern; nothing where the text here does not."""
        match = pattern.match(self.text, self.at, self.stop)
        if match is not None:
            self.at = match.end()
        return match

    def sees(self, *starts: str) -> bool:
        """Say whether the text goes on with one of these."""
        return self.text.startswith(starts, self.at)

    def with_dots(self) -> Iterator[str]:
        """Yield the known models as they are written before a metric."""
        return (name + "." for name in self.known)

    def check_pair(self, first: Term, second: Term, at: int, *, ratio: bool) -> None:
        """Refuse two sides that are not one metric, of two models on the same examples or of one in two groups."""
        one_model, kind = first.model == second.model, "ratio" if ratio else "difference"
        of_first, of_second = dict(first.slices), dict(second.slices)
        if one_model and not ratio:
            raise self.wrong(f"a difference needs two models, and both are {first.model!r}", at)
        if first.spelling != second.spelling:
            raise self.wrong(f"a {kind} needs one metric, not {first.spelling} and {second.spelling}", at)
        if not one_model and of_first != of_second:
            raise self.wrong("a difference needs the same examples on both sides", at)
        if one_model and (not of_first or of_first.keys() != of_second.keys() or of_first == of_second):
            raise self.wrong("a ratio needs two groups of the same column, such as [sex=f] and [sex=m]", at)

    def end(self) -> None:
        """Refuse whatever is left."""
        self.take(_SPACE)
        rest = self.text[self.at : self.stop].rstrip()
        if not rest:
            return
        several = rest.split()[0] in ("and", "&&", "&") or rest[0] in ";,"
        key = "percent" if rest == "%" else "several" if several else "end"
        raise self.wrong(say(f"gate_ends.{key}", rest=repr(rest)))

    def wrong(self, problem: str, at: int | None = None) -> UsageError:
        """Return the error of a gate that is wrong here, or at another character."""
        return wrong(self.text, self.at if at is None else at, problem)


def _has_number(metric: str, key: str, value: str) -> bool:
    """Say whether a key in brackets is the number of a metric: ``level`` and ``q`` may be columns, too."""
    return key not in ("level", "q") or (
        metric in _OF_INTERVALS and _A_NUMBER.fullmatch(value.strip()) is not None
    )


def _unquoted(text: str) -> str:
    return re.sub(r"\\(.)", r"\1", text[1:-1])


def _check_best(gate: Gate) -> None:
    """Refuse a gate on the best model that is no metric against a number."""
    term = gate.terms[0]
    if len(gate.terms) > 1 or gate.reference is not None or gate.every_night:
        raise gate.wrong(
            term,
            'the best model is held against a number, such as best.accuracy >= 0.9; a model called best is "best"',
        )
    if cost_of(term.metric) is not None:
        raise gate.wrong(term, "name the model whose costs are meant: best is by quality alone")


def wrong(text: str, at: int, problem: str) -> UsageError:
    """Return the error of a gate that is wrong at a character, counted from 0."""
    return UsageError(f"gate {text!r}, character {at + 1}: {problem}")
