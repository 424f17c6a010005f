"""What an audit found, first what changed since the accepted run, and what changed since earlier runs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial

from evalreport import numbers
from evalreport.plots.control import Nights, audited_values
from evalreport.plots.pictures import Figure
from evalreport.report.naming import label_of, listed, metric_label
from evalreport.report.table import Cell, Row, Table, Tables, headings
from evalreport.report.view import Model, View
from evalreport.schema.audit import AuditRecord, HistoryRecord
from evalreport.schema.lookups import quarter
from evalreport.schema.metrics import Quantity
from evalreport.texts import named, say


def _changes(view: View) -> tuple[Table, ...]:
    """Lay out the changes since earlier runs; nothing where there were none."""
    records = [r for r in view.results.history if r.status != "gone"]
    if not records:
        return ()
    first = records[0]
    label = metric_label(Quantity.of(first))
    heads = (
        say("history.compared"), say("history.then", metric=label), say("history.now"), say("history.change"),
        say("table.p"), say("history.how"),
    )  # fmt: skip
    rows = tuple(_row(view, record) for record in records)
    columns = headings(heads, "unbroken,number,number,number,number,remark")
    return (Table(say("history.box", metric=label), columns, rows, say("history.note")),)


def _row(view: View, record: HistoryRecord) -> Row:
    spread = quarter(record.low, record.high)
    decimals = 4 if spread is None else numbers.decimals_of([spread])
    difference = numbers.number(record.difference, decimals, signed=True)
    if record.low is not None:
        difference += f" {numbers.interval(record.low, record.high, decimals, signed=True)}"
    why = record.reason if record.reason and record.difference is None else record.text
    test = "" if record.p_value is None else f"{label_of('test', record.test)}; "
    run = named("history.run", record.reference)
    cells = (
        say("history.reference", reference=run, run=record.run, date=record.time[:10]),
        numbers.number(record.reference_value, decimals), numbers.number(record.value, decimals), difference,
        numbers.p_value(record.p_value), view.text(f"{test}{why}"),
    )  # fmt: skip
    return Row(None, cells, view.model(record.model).name)


CHANGES = frozenset({"difference", "from_floor"})
"""Effects in the metric's own units."""
MOST_LINES = 6
MOST_SLICES = 24
"""Rows of slices of a model on the page; slices with an alarm come first."""


def describe_audit(view: View) -> Tables | None:
    """Lay out the audit in one table: a row a model, its slices below it, and what is said of the data."""
    records = view.results.audit
    if not records:
        return None
    compared = [r for r in records if r.question == "worse"]
    accepted = next((n for r in compared if (n := r.details.get("accepted_nights"))), 1)
    heads = (say("audit.then", n=int(accepted)), *map(say, ("audit.now", "audit.change", "audit.verdict")))
    rows = [row for model in view.models for row in _rows_of(view, model)]
    data = [r for r in records if r.question not in OF_MODELS]
    table = Table(
        say("audit.table", metric=view.primary_label),
        headings(heads, "number,number,number,text"),
        (*rows, *_data_rows(view, data)),
        _reference(view, compared),
        look="lined",
        first=view.primary_label,
    )
    alarms = sum(r.alarm for r in data)
    changed = say("audit.data_changed", n=alarms) if alarms else say("audit.no_data_changed")
    return Tables((table,), say("audit.found", models=_fallen(view), data=changed))


def _reference(view: View, compared: Sequence[AuditRecord]) -> str:
    """Say what the changes are against, and what the alarm promises."""
    nights = ("accepted_nights" in r.details or r.test == "night_bet" for r in compared if r.details)
    key = "audit.reference" if all(nights) else "audit.reference_of_pairs"
    return say(key, error=numbers.percent(1 - view.confidence))


def _rows_of(view: View, model: Model) -> list[Row]:
    """Return the row of a model and those of its slices, the alarms first."""
    records = view.results.audit
    whole = next((r for r in records if r.question == "worse" and r.about == model.id), None)
    if whole is None:
        return [Row(model, ("", "", "", say("audit.new")))]
    details = whole.details
    low, high = details.get("change_low"), details.get("change_high")
    cells = _values(details.get("then"), details.get("now"), low, high)
    new = any(r.model == model.id and r.status == "new" for r in view.results.history)
    rows = [Row(model, (*cells, say("audit.new") if new else _verdict_of(whole)))]
    slices = [r for r in records if r.question == "slice" and r.about.partition(", ")[0] == model.id]
    slices.sort(key=lambda r: not r.alarm)
    for record in slices[:MOST_SLICES]:
        cells = _values(record.details.get("then"), record.details.get("now"), record.low, record.high)
        n = record.details.get("n_now")
        place = view.text(record.about.partition(", ")[2].replace(" = ", " "))
        label = say("audit.slice", place=place, n=int(n)) if n else say("audit.slice_alone", place=place)
        verdict = Cell(say("audit.alarm")) if record.alarm else _undecided(record)
        rows.append(Row(None, (*cells, verdict), label, key=model.key, off=not record.alarm))
    if len(slices) > MOST_SLICES:
        more = say("audit.further_slices", n=len(slices) - MOST_SLICES)
        rows.append(Row(None, (more,), "", key=model.key, off=True))
    return rows


def _values(
    then: float | None, now: float | None, low: float | None, high: float | None
) -> tuple[str, str, str]:
    """Write both values and the change, with the decimals of its limits."""
    if then is None or now is None:
        return numbers.MISSING, numbers.MISSING, numbers.MISSING
    spread = quarter(low, high)
    decimals = 3 if spread is None else numbers.decimals_of([spread])
    change = numbers.number(now - then, decimals, signed=True)
    if low is not None and high is not None:
        change += f" {numbers.interval(low, high, decimals, signed=True)}"
    return numbers.number(then, decimals), numbers.number(now, decimals), change


def _verdict_of(record: AuditRecord) -> Cell | str:
    """Say in a few words what the first sentence says of the model."""
    if record.alarm:
        of = {"night_alarm": "_lasting", "night_bet": "_floor"}.get(record.test or "", "")
        return Cell(say(f"audit.alarm{of}", look=int(record.details.get("change_look", record.look))))
    moved = int(record.details.get("moved", 0))
    return say({-1: "audit.worse_no_alarm", 1: "audit.better"}[moved]) if moved else _undecided(record)


def _undecided(record: AuditRecord) -> str:
    return say("audit.not_compared") if record.p_value is None else say("audit.no_alarm")


def _data_rows(view: View, records: Sequence[AuditRecord]) -> list[Row]:
    """Return a row for each alarm about the data, and one for the rest."""
    rows = [
        Row(None, (Cell(f"{say('audit.alarm')}: {_fact(view, r)}"),), say("audit.data"))
        for r in records
        if r.alarm
    ]
    calm = " · ".join(_fact(view, r) for r in records if not r.alarm)
    if calm:
        rows.append(Row(None, (calm,), "" if rows else say("audit.data"), off=True))
    return rows


def _fact(view: View, record: AuditRecord) -> str:
    """Say one fact about the data: what it is about, and the answer."""
    known = {m.id: m.name for m in view.models}
    about = record.about if record.about in ("", "truth", "column") else known.get(record.about, record.about)
    name = named("audit.question", record.question)
    whose = "" if about in ("", "truth") else f" {view.text(about)}"
    return f"{name}{whose}: {view.text(record.text)}"


def describe_tests(view: View) -> Tables | None:
    """Lay out how the answers of an audit were tested, and the changes since earlier runs, for the appendix."""
    records = view.results.audit
    own = {of: [r for r in records if (r.question in OF_MODELS) == of] for of in (True, False)}
    heads = ("audit.about", "audit.answer", "audit.size", "table.test", "audit.p_one", "audit.p_all")
    tables = [
        Table(say(title), headings(map(say, heads), "about,remark,ours,ours"), tuple(_line(view, r) for r in own[of]),
              first=say("audit.asked"))
        for title, of in (("audit.models", True), ("audit.data_tests", False)) if own[of]
    ]  # fmt: skip
    if tables:
        note = say("audit.note", error=numbers.percent(1 - view.confidence))
        tables[-1] = replace(tables[-1], note=note)
    tables += _changes(view)
    return Tables(tuple(tables)) if tables else None


def _fallen_models(view: View) -> list[Model]:
    """Return the models about which there is an alarm, by rank."""
    alarms = {str(r.about) for r in view.results.audit if r.question == "worse" and r.alarm}
    return [model for model in view.models if model.id in alarms]


def _fallen(view: View) -> str:
    models = listed([m.name for m in _fallen_models(view)])
    slices = sum(r.alarm for r in view.results.audit if r.question == "slice")
    if models:
        return say("audit.fell_in_slices" if slices else "audit.fell", models=models, n=max(slices, 1))
    return say("audit.slices_fell", n=slices) if slices else say("audit.no_model_fell")


def describe_nights(view: View) -> Figure | None:
    """Draw the values of the accepted runs and of those since; nothing where there are fewer than three."""
    fallen = _fallen_models(view)
    models = [
        Nights(
            model.name, model.index, record.values_accepted, record.values_since, model in fallen,
            (*record.errors_accepted, *record.errors_since),
        )
        for record in view.results.evidence
        for model in view.models
        if model.id == record.model and len(record.values_accepted) + len(record.values_since) > 2
    ][:MOST_LINES]  # fmt: skip
    if not models:
        return None
    metric, key = view.primary_label, "audit.values_fell" if fallen else "audit.values"
    return Figure(
        name="audited", title=say(key, metric=metric, models=listed([m.name for m in fallen])),
        description=say("audit.values_described", metric=metric, names=", ".join(m.name for m in models)),
        caption=say("audit.values_caption", metric=metric), draw=(partial(audited_values, models, metric=metric),),
        width=6.0,  # of a phone it fills the width: the newest run is what matters, and it stands at the right
        height=2.3,
    )  # fmt: skip


def _line(view: View, record: AuditRecord) -> Row:
    effect = ""
    if record.effect is not None and record.effect_size is not None:
        name = named("audit.effect", record.effect)
        signed = record.effect in CHANGES
        decimals = 4 if signed else {"changed_classes": 0}.get(record.effect, 3)
        effect = f"{name} {numbers.number(record.effect_size, decimals, signed=signed)}"
    answer = view.text(record.text)
    cells = (
        view.text(record.about),
        Cell(f"{say('audit.alarm')}:", answer) if record.alarm else answer,
        effect,
        "" if record.test is None else named("audit.test", record.test, label_of("test", record.test)),
        numbers.p_value(record.p_value),
        numbers.p_value(record.p_adjusted),
    )
    return Row(None, cells, named("audit.question", record.question))


OF_MODELS = ("worse", "worse_this_run", "slice")
"""The questions of an audit that are about models; the others are about data."""
