"""What an audit found, first what changed since the accepted run, and what changed since earlier runs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial

from evalreport import numbers
from evalreport.plots.control import Nights, audited_values
from evalreport.plots.pictures import Figure
from evalreport.report.naming import MetricKey, label_of, listed, metric_label
from evalreport.report.table import Cell, Row, Table, Tables, headings
from evalreport.report.view import Model, View, text_of
from evalreport.schema.audit import AuditRecord, HistoryRecord
from evalreport.schema.lookups import quarter
from evalreport.texts import named, say


def describe(view: View) -> Tables | None:
    """Lay out the changes; nothing where there was no earlier run."""
    records = [r for r in view.results.history if r.status != "gone"]
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
        headings(heads, "unbroken,number,number,number,number,remark"),
        rows,
        say("history.note"),
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
    heads = ("audit.about", "audit.answer", "audit.size", "table.test", "audit.p_one", "audit.p_all")
    tables = [
        Table(say(title), headings(map(say, heads), "about,remark,ours,ours"), tuple(_line(view, r) for r in own[of]),
              first=say("audit.asked"))
        for title, of in (("audit.models", True), ("audit.data", False)) if own[of]
    ]  # fmt: skip
    note = say("audit.note", error=numbers.percent(1 - float(view.results.options["confidence"])))
    tables[-1] = replace(tables[-1], note=note)
    return Tables(
        tuple(tables), say("audit.found", models=_fallen(view, own[True]), data=_changed(own[False]))
    )


def _fallen_models(view: View) -> list[Model]:
    """Return the models about which there is an alarm, by rank."""
    alarms = {str(r.about) for r in view.results.audit if r.question == "worse" and r.alarm}
    return [model for model in view.models if model.id in alarms]


def _fallen(view: View, records: Sequence[AuditRecord]) -> str:
    models = listed([m.name for m in _fallen_models(view)])
    slices = sum(r.alarm for r in records if r.question == "slice")
    if models:
        return say("audit.fell_in_slices" if slices else "audit.fell", models=models, n=max(slices, 1))
    return say("audit.slices_fell", n=slices) if slices else say("audit.no_model_fell")


def _changed(records: Sequence[AuditRecord]) -> str:
    alarms = sum(r.alarm for r in records)
    return say("audit.data_changed", n=alarms) if alarms else say("audit.no_data_changed")


def describe_nights(view: View) -> Figure | None:
    """Draw the values of the accepted runs and of those since; nothing where there are fewer than three."""
    fallen = _fallen_models(view)
    models = [
        Nights(model.name, model.index, record.values_accepted, record.values_since, model in fallen)
        for record in view.results.evidence
        for model in view.models
        if model.id == record.model and len(record.values_accepted) + len(record.values_since) > 2
    ][:MOST_LINES]
    if not models:
        return None
    names = ", ".join(m.name for m in models)
    return Figure(
        name="audited",
        title=say(
            "audit.values_fell" if fallen else "audit.values",
            metric=view.primary_label,
            models=listed([m.name for m in fallen]),
        ),
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
        Cell(f"{say('audit.alarm')}:", answer) if record.alarm else answer,
        effect,
        "" if record.test is None else named("audit.test", record.test, label_of("test", record.test)),
        numbers.p_value(record.p_value),
        numbers.p_value(record.p_adjusted),
    )
    return Row(None, cells, named("audit.question", record.question))


OF_MODELS = ("worse", "worse_this_run", "slice")
"""The questions of an audit that are about models; the others are about data."""
