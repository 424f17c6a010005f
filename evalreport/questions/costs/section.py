"""What quality costs: one picture, one sentence, and a table for each column of costs, overall and by slice."""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import partial

from evalreport import numbers
from evalreport.plots.pictures import Figure
from evalreport.questions.costs.charts import costs_drawn, is_logarithmic, quality_against_cost
from evalreport.questions.costs.records import CostRatioRecord, CostRecord, ratio_between
from evalreport.report.table import Cell, Row, Table, Tables, plain_cell
from evalreport.report.view import View
from evalreport.texts import say
from evalreport.texts.visible import distinct_names, visible

WIDTH, HEIGHT = 4.4, 3.9
MOST_SLICES, MOST_MODELS, LONGEST = 24, 4, 26
"""Slices and models of a table by slice, and characters of a slice's name."""


def describe(view: View) -> Tables | None:
    """Lay out the costs; nothing where no model gives any."""
    columns = list(dict.fromkeys(r.column for r in view.results.costs if r.slice is None))
    if not columns:
        return None
    return Tables(
        heading=say("costs.heading", sentence=sentence(view, columns[0])),
        text=_about(view, columns[0]),
        figures=_figure(view, columns[0]),
        tables=(
            *(_table(view, column) for column in columns),
            *(_by_slice(view, column, by) for column in columns for by in _sliced_by(view, column)),
        ),
        note=_note(view, columns[0]),
    )


def summary_line(view: View) -> str:
    """Return the heading of the section as a sentence; nothing where there are no costs."""
    columns = list(dict.fromkeys(r.column for r in view.results.costs if r.slice is None))
    return say("costs.heading", sentence=sentence(view, columns[0])) + "." if columns else ""


def _overall(view: View, column: str) -> list[CostRecord]:
    """Return the records of a column, by the models' ranks."""
    by_model = {r.model: r for r in view.results.costs if r.column == column and r.slice is None}
    return [by_model[m.id] for m in view.models if m.id in by_model]


def sentence(view: View, column: str) -> str:
    """Say what the cheaper of two models costs, after what is known of their quality."""
    records = _overall(view, column)
    pair = _told(view, column, records)
    if pair is None:
        own = min(records, key=lambda r: r.mean)
        mean = plain_cell(own.mean, own.low, own.high, _decimals([own])).text
        return say("costs.mean_alone", model=view.model(own.model).name, column=visible(column), mean=mean)
    a, b = pair
    ratio = ratio_between(view.results.cost_ratios, column, a, b)
    assert ratio is not None
    first, second = view.model(a).name, view.model(b).name
    verdict = None if view.results.is_blocked else view.verdict(a, b)
    if verdict is not None and verdict.verdict in ("equivalent", "non-inferior"):
        margin, costs = view.results.options.get("margin"), _verb(column, ratio)
        key = "costs.told_equivalent" if verdict.verdict == "equivalent" else "costs.told_non_inferior"
        return say(key, a=first, b=second, margin=margin, costs=costs)
    costs = _verb(column, ratio, second)
    if verdict is None:
        return say("costs.told_alone", a=first, costs=costs)
    if verdict.verdict == "undecided":
        return say("costs.told_undecided", a=first, costs=costs, metric=view.primary_words)
    ahead = first if verdict.verdict == "better" else second
    return say("costs.told_ahead", a=first, costs=costs, ahead=ahead, metric=view.primary_words)


def _told(view: View, column: str, records: Sequence[CostRecord]) -> tuple[str, str] | None:
    """Return the pair of the sentence: the cheapest model that is no worse than the reference, else the cheapest.

    The reference is the baseline, else the first in rank, else the first by name.
    """
    models = [r.model for r in records]
    reference = view.results.baseline if view.results.baseline in models else models[0]
    ratios = {r.model: ratio_between(view.results.cost_ratios, column, r.model, reference) for r in records}
    with_ratio = {model for model, ratio in ratios.items() if ratio is not None and ratio.ratio is not None}
    others = sorted((r for r in records if r.model in with_ratio), key=lambda r: (r.mean, r.model))
    if not others:
        return None
    own = next(r for r in records if r.model == reference)
    for other in others:
        told = None if view.results.is_blocked else view.verdict(other.model, reference)
        if told is not None and told.verdict == "equivalent" and own.mean < other.mean:
            return reference, other.model
        if told is not None and told.verdict in ("equivalent", "non-inferior", "better"):
            return other.model, reference
    if own.mean < others[0].mean:
        return reference, others[0].model
    return others[0].model, reference


def _verb(column: str, ratio: CostRatioRecord, other: str = "") -> str:
    """Say that a model costs so many times as much, with the limits: 0.16 times as much (0.15 to 0.18)."""
    key = column if column in ("cost", "latency", "tokens") else "other"
    assert ratio.ratio is not None
    decimals, limits = max(1 - math.floor(math.log10(ratio.ratio)), 0), ""
    value = numbers.number(ratio.ratio, decimals)
    if ratio.low is not None and ratio.high is not None:
        # A limit beside 1 does not look as if it were 1.
        while decimals < numbers.MOST_DECIMALS and any(
            round(x, decimals) == 1 != x for x in (ratio.low, ratio.high)
        ):
            decimals += 1
        low, high = (numbers.number(x, decimals) for x in (ratio.low, ratio.high))
        limits = say("costs.limits", low=low, high=high)
    than = say("costs.as_of", model=other) if other else ""
    return say(f"costs.verb.{key}", value=value, than=than, limits=limits, column=visible(column))


def _about(view: View, column: str) -> str:
    """Say how many questions there are, and the quality of the models."""
    records = _overall(view, column)
    several = len({r.n for r in records}) > 1 or view.results.options.get("join") == "independent"
    questions = say("costs.questions_of_each" if several else "costs.questions", n=records[0].n)
    return f"{questions} · {say('costs.of_column', column=_named(records[0]))}"


def _figure(view: View, column: str) -> tuple[Figure, ...]:
    records = costs_drawn(view.results, column)
    if not records:
        return ()
    unit = records[0].unit
    key = "costs.axis_log" if is_logarithmic(records) else "costs.axis"
    axis = say(key, column=visible(column), unit=f", {visible(unit)}" if unit else "")
    title = say("costs.picture", metric=view.primary_label, level=numbers.percent(view.confidence))
    draw = partial(
        quality_against_cost, view.results, column=column, names=view.short, greater_is_better=view.greater_is_better,
        axis_label=axis,
    )  # fmt: skip
    return (
        Figure(
            name="quality-against-cost", title=title, caption="", width=WIDTH, height=HEIGHT, description=title,
            draw=(draw,),
        ),
    )  # fmt: skip


def _reference(view: View, records: Sequence[CostRecord]) -> str | None:
    """Return the model that the ratios of the table are to: the baseline, else the dearest."""
    if len(records) < 2:
        return None
    models = [r.model for r in records]
    if view.results.baseline is not None:
        return view.results.baseline if view.results.baseline in models else None
    return max(records, key=lambda r: (r.mean, r.model)).model


def _table(view: View, column: str) -> Table:
    records = _overall(view, column)
    reference = _reference(view, records)
    decimals = _decimals(records)
    rows = []
    for record in records:
        model = view.model(record.model)
        value = view.value_of(model, view.primary)
        cells: list[str | Cell] = [
            numbers.number(value, view.digits(view.primary)),
            plain_cell(record.mean, record.low, record.high, decimals, strong=True),
            numbers.number(record.median, decimals),
            _p95(record, decimals),
            _per_success(record, decimals),
        ]
        if reference is not None:
            ratio = ratio_between(view.results.cost_ratios, column, record.model, reference)
            cells.append("1" if record.model == reference else _times(ratio))
        rows.append(Row(model, tuple(cells), off=record.undominated is False))
    named = (say(f"costs.head.{head}") for head in ("mean", "median", "p95", "per_success"))
    heads = [view.primary_label, *named]
    if reference is not None:
        heads.append(say("costs.head.ratio", model=view.model(reference).name))
    return Table(say("costs.table", column=_named(records[0])), tuple(heads), tuple(rows), look="lined")


def _sliced_by(view: View, column: str) -> list[str]:
    """Return the columns that costs are sliced by."""
    own = (r.slice for r in view.results.costs if r.column == column and r.slice is not None)
    return list(dict.fromkeys(within.column for within in own))


def _by_slice(view: View, column: str, by: str) -> Table:
    """Return the mean of each model in each slice, and the ratios to the model that the table above has them to."""
    overall = _overall(view, column)
    models = [view.model(r.model) for r in overall][:MOST_MODELS]
    reference = _reference(view, overall)
    others = [] if reference is None else [m for m in models if m.id != reference]
    own = [
        r for r in view.results.costs if r.column == column and r.slice is not None and r.slice.column == by
    ]
    known = {(r.slice, r.model): r for r in own}
    slices = list(dict.fromkeys(r.slice for r in own if r.slice is not None))
    shown, decimals = slices[:MOST_SLICES], _decimals(own)
    names = distinct_names([within.value for within in shown], LONGEST)
    rows = []
    for within in shown:
        found = [known.get((within, m.id)) for m in models]
        cells = [
            Cell(numbers.MISSING, strong=False) if r is None else plain_cell(r.mean, r.low, r.high, decimals)
            for r in found
        ]
        if reference is not None:
            cells += [
                _times(ratio_between(view.results.cost_ratios, column, m.id, reference, within))
                for m in others
            ]
        rows.append(Row(None, tuple(cells), names[within.value]))
    heads = [m.name for m in models]
    if reference is not None:
        to = view.model(reference).name
        heads += [say("costs.head.ratio_of", a=m.name, b=to) for m in others]
    left = len(slices) - len(shown)
    title, note = say("costs.table_by", column=_named(overall[0]), by=visible(by)), ""
    if left:
        note = say("costs.slices_left", n=left)
    return Table(title, tuple(heads), tuple(rows), note, look="lined", first=say("table.slice"))


def _named(record: CostRecord) -> str:
    """Return the name of a column of costs with its unit."""
    column, unit = visible(record.column), record.unit
    return say("costs.in_unit", column=column, unit=visible(unit)) if unit else column


def _decimals(records: Sequence[CostRecord]) -> int:
    """Return decimals that show three digits of the largest mean and two of the smallest."""
    means = [record.mean for record in records if record.mean > 0]
    if not means:
        return 0
    largest, smallest = (math.floor(math.log10(of)) for of in (max(means), min(means)))
    return max(2 - largest, 1 - smallest, 0)


def _p95(record: CostRecord, decimals: int) -> Cell:
    """Write the 95th percentile: with both limits, from the lower one, or alone."""
    if record.p95_low is not None and record.p95_high is None:
        low = say("costs.from", low=numbers.number(record.p95_low, decimals))
        return Cell(numbers.number(record.p95, decimals), f"[{low}]", strong=False)
    return plain_cell(record.p95, record.p95_low, record.p95_high, decimals)


def _per_success(record: CostRecord, decimals: int) -> str:
    if record.per_success is not None:
        return numbers.number(record.per_success, decimals)
    return say("costs.none") if record.successes == 0 else numbers.MISSING


def _times(ratio: CostRatioRecord | None) -> Cell:
    if ratio is None or ratio.ratio is None:
        return Cell(numbers.MISSING, strong=False)
    decimals = max(2, 1 - math.floor(math.log10(ratio.ratio)))
    return plain_cell(ratio.ratio, ratio.low, ratio.high, decimals)


def _note(view: View, column: str) -> str:
    records = _overall(view, column)
    texts = []
    if any(r.undominated is not None for r in records) and len(records) > 1:
        texts.append(say("costs.note_steps"))
    texts.append(say("costs.note_per_success"))
    reference = _reference(view, records)
    if reference is not None:
        texts.append(say("costs.note_ratio", model=view.model(reference).name))
    texts += [str(w.text) for w in view.results.warnings if w.code == "rare_costs"]
    return " ".join(texts)
