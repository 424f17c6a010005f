"""What an audit found, and what changed since earlier runs."""

from __future__ import annotations

from dataclasses import dataclass

from evalreport import numbers
from evalreport.records import HistoryRecord
from evalreport.report.naming import MetricKey, entry, label_of, metric_label
from evalreport.report.view import Row, View, text_of
from evalreport.results import AuditRecord
from evalreport.texts import Message, coded, has, named, say


@dataclass(frozen=True, slots=True)
class History:
    """What the section shows."""

    metric: str
    rows: tuple[Row, ...]
    note: str


def describe(view: View) -> History | None:
    """Lay out the changes; nothing where there was no earlier run."""
    records = view.results.history
    if not records:
        return None
    first = records[0]
    label = metric_label(MetricKey(first.metric, first.average, first.label))
    return History(label, tuple(_row(view, record) for record in records), say("history.note"))


def _row(view: View, record: HistoryRecord) -> Row:
    missing = record.difference is None
    decimals = 4
    if record.low is not None and record.high is not None:
        decimals = numbers.decimals_of([(record.high - record.low) / 4])
    difference = numbers.number(record.difference, decimals, signed=True)
    if record.low is not None:
        difference += f" {numbers.interval(record.low, record.high, decimals, signed=True)}"
    test = "" if record.p_value is None else f"{label_of('test', record.test)}; "
    run = named("history.run", record.reference)
    cells = (
        say("history.reference", reference=run, run=record.run, date=record.time[:10]),
        numbers.number(record.reference_value, decimals),
        numbers.number(record.value, decimals),
        numbers.MISSING if missing else difference,
        numbers.p_value(record.p_value),
        text_of(view, f"{test}{record.reason if record.reason and missing else record.text}"),
    )
    return Row(None, cells, view.model(record.model).name)


@dataclass(frozen=True, slots=True)
class Changed:
    """What an audit has to say first: what changed most since the accepted run, or that nothing did."""

    text: str
    about: str
    alarm: bool


def headline(view: View) -> Changed | None:
    """Say what changed since the accepted run; nothing where this is no audit of an accepted run."""
    records = view.results.audit
    if not records:
        return None
    look = say("audit.look", look=records[0].look, run=records[0].run, examples=numbers.count(view.results.n))
    alarms = sorted(
        (r for r in records if r.alarm), key=lambda r: (r.question not in OF_MODELS, r.question != "slice")
    )
    if not alarms:
        return Changed(say("audit.nothing_changed", value=_now(view)), look, False)
    first = alarms[0]
    texts = [_change(view, first)]
    if len(alarms) > 1:
        texts.append(say("audit.more_alarms", n=len(alarms) - 1))
    return Changed(" ".join(texts), f"{_now(view)} · {look}", True)


def _now(view: View) -> str:
    """Say where the first model stands now, and where it stood at the accepted run."""
    found = next((r for r in view.results.history if r.reference == "accepted" and r.value is not None), None)
    if found is None:
        return say("report.examples", n=view.results.n)
    known = {"model": view.model(found.model).name, "metric": view.primary_words}
    now, then = (_size(view, value) for value in (found.value, found.reference_value))
    return say("audit.now", now=now, then=then, **known)


def _size(view: View, value: float | None) -> str:
    """Write a share of right answers in percent, any other value with three digits."""
    if value is None:
        return numbers.MISSING
    known = entry("metric", view.primary.metric)
    of_right = known is not None and known.share_of_right
    return numbers.share(value, 1.0) if of_right else numbers.to_digits(value)


def _change(view: View, record: AuditRecord) -> str:
    """Say one alarm as a change: from what to what; where the record does not hold both, in its own words."""
    code, params = coded(record.text)
    about = record.about.split(" = ")[-1] if record.question == "slice" else record.about
    now, then = params.get("now"), params.get("then")
    if code != "slice_since.fell" or not isinstance(now, float) or not isinstance(then, float):
        return f"{_named(view, record)}: {text_of(view, record.text)}."
    how = coded(params["how"])[1] if isinstance(params.get("how"), Message) else {}  # type: ignore[arg-type]
    sizes = [_size(view, value) for value in (then, now)]
    for i, name in enumerate(("then", "now")):
        if isinstance(how.get(name), int):
            sizes[i] += f" (n = {how[name]:,})"
    many = len({r.about.split(",")[0] for r in view.results.audit if r.question == "slice"}) > 1
    model = record.about.split(",")[0]
    return say(
        "audit.fell_of" if many else "audit.fell",
        model=text_of(view, model),
        about=text_of(view, about),
        then=sizes[0],
        now=sizes[1],
    )


CHANGES = frozenset({"difference", "from_floor"})
"""Effects in the metric's own units."""
OF_MODELS = ("worse", "worse_this_run", "slice")


@dataclass(frozen=True, slots=True)
class Line:
    """One question and its answer."""

    question: str
    about: str
    answer: str
    effect: str
    test: str
    p: str
    adjusted: str
    alarm: bool


@dataclass(frozen=True, slots=True)
class Table:
    """The questions of one kind."""

    title: str
    lines: tuple[Line, ...]


@dataclass(frozen=True, slots=True)
class Audit:
    """What the section shows: a sentence, what is alarming, the tables, how to read them."""

    headline: str
    loud: tuple[str, ...]
    tables: tuple[Table, ...]
    note: str


def describe_audit(view: View) -> Audit | None:
    """Lay out the questions and answers; nothing where there was no accepted run."""
    records = view.results.audit
    if not records:
        return None
    kinds = ((say("audit.models"), True), (say("audit.data"), False))
    tables = tuple(
        Table(title, tuple(_line(view, r) for r in records if (r.question in OF_MODELS) == of_models))
        for title, of_models in kinds
    )
    loud = tuple(f"{_named(view, r)}: {text_of(view, r.text)}" for r in records if r.alarm)
    headline = "audit.headline_loud" if loud else "audit.headline_quiet"
    return Audit(
        headline=say(headline, n=len(loud), look=records[0].look, run=records[0].run),
        loud=loud,
        tables=tuple(table for table in tables if table.lines),
        note=say("audit.note", error=numbers.percent(1 - float(view.results.options["confidence"]))),
    )


def _line(view: View, record: AuditRecord) -> Line:
    effect = ""
    if record.effect is not None and record.effect_size is not None:
        name = named("audit.effect", record.effect)
        signed = record.effect in CHANGES
        decimals = 4 if signed else {"changed_classes": 0}.get(record.effect, 3)
        effect = f"{name} {numbers.number(record.effect_size, decimals, signed=signed)}"
    return Line(
        question=named("audit.question", record.question),
        about=text_of(view, record.about),
        answer=text_of(view, record.text),
        effect=effect,
        test=_test(record.test),
        p=numbers.p_value(record.p_value),
        adjusted=numbers.p_value(record.p_adjusted),
        alarm=record.alarm,
    )


def _test(name: str | None) -> str:
    return (
        named("audit.test", name)
        if name is not None and has(f"audit.test.{name}")
        else label_of("test", name)
    )


def _named(view: View, record: AuditRecord) -> str:
    if record.question in OF_MODELS:
        return text_of(view, record.about)
    return f"{named('audit.question', record.question)} {text_of(view, record.about)}".strip()
