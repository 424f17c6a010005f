"""What an audit found, first what changed since the accepted run, and what changed since earlier runs."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial

from evalreport import numbers
from evalreport.plots.control import Nights, audited_values
from evalreport.plots.lookups import quarter
from evalreport.plots.pictures import Figure
from evalreport.report.naming import MetricKey, entry, label_of, metric_label
from evalreport.report.view import Cell, Row, Table, Tables, View, text_of
from evalreport.schema.audit import AuditRecord, HistoryRecord
from evalreport.texts import named, say
from evalreport.texts.labels import sentence_start


def describe(view: View) -> Tables | None:
    """Lay out the changes; nothing where there was no earlier run."""
    records = view.results.history
    if not records:
        return None
    first = records[0]
    label = metric_label(MetricKey(first.metric, first.average, first.label))
    heads = (
        say("history.compared"), say("history.then", metric=label), say("history.now"), say("history.change"),
        say("table.p"), say("history.how"),
    )  # fmt: skip
    rows = tuple(_row(view, record) for record in records)
    table = Table(
        say("history.box", metric=label),
        heads,
        rows,
        say("history.note"),
        kinds=("text", "", "", "", "", "remark"),
    )
    return Tables((table,))


def _row(view: View, record: HistoryRecord) -> Row:
    missing = record.difference is None
    spread = quarter(record.low, record.high)
    decimals = 4 if spread is None else numbers.decimals_of([spread])
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


CHANGES = frozenset({"difference", "from_floor"})
"""Effects in the metric's own units."""
MOST_LINES = 6


def describe_audit(view: View) -> Tables | None:
    """Lay out the questions and answers; nothing where there was no accepted run."""
    records = view.results.audit
    if not records:
        return None
    own = {of: [r for r in records if (r.question in OF_MODELS) == of] for of in (True, False)}
    alarms = {of: sum(r.alarm for r in found) for of, found in own.items()}
    heads = ("audit.about", "audit.answer", "audit.size", "table.test", "audit.p_one", "audit.p_all")
    tables = [
        Table(say(title), tuple(map(say, heads)), tuple(_line(view, r) for r in own[of]), first=say("audit.asked"),
              kinds=("about", "remark", "ours", "ours"))
        for title, of in (("audit.models", True), ("audit.data", False)) if own[of]
    ]  # fmt: skip
    note = say("audit.note", error=numbers.percent(1 - float(view.results.options["confidence"])))
    tables[-1] = replace(tables[-1], note=note)
    return Tables(tuple(tables), say("audit.found", of_models=alarms[True], of_data=alarms[False]))


def describe_nights(view: View) -> Figure | None:
    """Draw the values of the accepted runs and of those since; nothing where there are fewer than three."""
    models = [
        Nights(model.name, model.index, record.values_accepted, record.values_since)
        for record in view.results.evidence
        for model in view.models
        if model.id == record.model and len(record.values_accepted) + len(record.values_since) > 2
    ][:MOST_LINES]
    if not models:
        return None
    names = ", ".join(m.name for m in models)
    return Figure(
        name="audited",
        title=say("audit.values", metric=view.primary_label),
        description=say("audit.values_described", metric=view.primary_label, names=names),
        caption=say("audit.values_caption", metric=view.primary_label),
        draw=(partial(audited_values, models, metric=view.primary_label),),
        width=6.0,  # of a phone it fills the width: the newest run is what matters, and it stands at the right
        height=2.3,
    )


def _line(view: View, record: AuditRecord) -> Row:
    effect = ""
    if record.effect is not None and record.effect_size is not None:
        name = named("audit.effect", record.effect)
        signed = record.effect in CHANGES
        decimals = 4 if signed else {"changed_classes": 0}.get(record.effect, 3)
        effect = f"{name} {numbers.number(record.effect_size, decimals, signed=signed)}"
    answer = text_of(view, record.text)
    cells = (
        text_of(view, record.about),
        Cell(say("audit.alarm"), answer) if record.alarm else answer,
        effect,
        "" if record.test is None else named("audit.test", record.test, label_of("test", record.test)),
        numbers.p_value(record.p_value),
        numbers.p_value(record.p_adjusted),
    )
    return Row(None, cells, named("audit.question", record.question))


OF_MODELS = ("worse", "worse_this_run", "slice")
"""The questions of an audit that are about models; the others are about data."""


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
    """Say the first model's value now and at the accepted run."""
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
    of_right = known is not None and known.scale.share_of_right
    return numbers.share(value, 1.0) if of_right else numbers.to_digits(value)


def _change(view: View, record: AuditRecord) -> str:
    """Say one alarm as a change: from what to what; where the record does not hold both, in its own words."""
    if record.question in ("worse", "worse_this_run"):
        found = next(
            (r for r in view.results.history if r.reference == "accepted" and r.model == record.about), None
        )
        if found is not None and found.difference is not None:
            then, now = _size(view, found.reference_value), _size(view, found.value)
            return say("audit.changed", about=text_of(view, record.about), then=then, now=now)
    details = record.details
    if record.question != "slice" or not {"then", "now"} <= details.keys():
        return f"{named_alarm(view, record)}: {text_of(view, record.text)}."
    then, now = (
        _size(view, details[when]) + (f" (n = {int(details[n]):,})" if (n := f"n_{when}") in details else "")
        for when in ("then", "now")
    )
    slices = {
        f"{r.model}, {r.slice.column} = {r.slice.value}": (r.model, r.slice)
        for r in view.results.metrics
        if r.slice is not None
    }
    model, subgroup = slices[record.about]
    models = {slices[r.about][0] for r in view.results.audit if r.question == "slice"}
    return say(
        "audit.fell_of" if len(models) > 1 else "audit.fell",
        model=text_of(view, model),
        about=text_of(view, sentence_start(f"{subgroup.column} {subgroup.value}")),
        then=then,
        now=now,
    )


def named_alarm(view: View, record: AuditRecord) -> str:
    """Name what an alarm is about."""
    if record.question in OF_MODELS:
        return text_of(view, record.about)
    return f"{named('audit.question', record.question)} {text_of(view, record.about)}".strip()
