"""The leaderboard: models in rank order, the primary metric and up to three others with their intervals."""

from __future__ import annotations

from dataclasses import dataclass

from evalreport import numbers
from evalreport.report.naming import (
    MetricKey,
    entry,
    family_words,
    label_of,
    level_of_pairs,
    metric_label,
    summary_of,
)
from evalreport.report.view import (
    Cell,
    Model,
    View,
    comparison_between,
    difference_decimals,
    interval_of,
    key_of,
    metric_decimals,
    metric_record,
    overall_keys,
    ranking_record,
)
from evalreport.texts import say

# What a reader asks for next, by task; the first three that the results hold are shown.
COMPANIONS = {
    "binary": ("roc_auc", "f1", "average_precision", "log_loss", "balanced_accuracy", "mcc", "accuracy"),
    "multiclass": ("f1", "balanced_accuracy", "log_loss", "mcc", "cohen_kappa", "accuracy"),
    "regression": ("mae", "r2", "mape", "rmse", "mse"),
}
N_COMPANIONS = 2


@dataclass(frozen=True, slots=True)
class Bar:
    """An interval as places on a scale from 0 to 100."""

    low: float
    width: float
    value: float
    text: str


@dataclass(frozen=True, slots=True)
class Place:
    """One model's row."""

    model: Model
    rank: int | None
    letters: str
    cells: tuple[Cell, ...]
    bar: Bar | None
    difference: Cell | None


@dataclass(frozen=True, slots=True)
class Leaderboard:
    """The table; ``headings`` are those of the metrics, ``abouts`` what each of them is."""

    headings: tuple[str, ...]
    abouts: tuple[str, ...]
    bar_heading: str
    difference_heading: str | None
    rows: tuple[Place, ...]
    note: str


def describe(view: View) -> Leaderboard | None:
    """Lay out the leaderboard."""
    keys = key_metrics(view)
    if not keys:
        return None
    reference = reference_model(view)
    bars = _bars(view)
    rows = tuple(_row(view, model, keys, bars.get(model.id), reference) for model in view.models)
    return Leaderboard(
        headings=tuple(metric_label(key) for key in keys),
        abouts=tuple(_about(key) for key in keys),
        bar_heading=say("leaderboard.bar", metric=view.primary_label),
        difference_heading=None if reference is None else _difference_heading(view, reference),
        rows=rows,
        note=_note(view),
    )


def _about(key: MetricKey) -> str:
    known = entry("metric", key.metric)
    return (
        "" if known is None else f"{summary_of('metric', key.metric)} {metric_label(key)} = {known.formula}"
    )


def key_metrics(view: View) -> tuple[MetricKey, ...]:
    """Give the primary metric and the first few of those that a reader asks for next."""
    keys = overall_keys(view.results)
    filled = {key_of(record) for record in view.results.metrics if record.value is not None}
    wanted = COMPANIONS.get(view.results.task, ())
    others = [
        key
        for name in wanted
        for key in keys[1:]
        if key.metric == name and key.average in (None, "macro") and key in filled
    ]
    return (*keys[:1], *others[:N_COMPANIONS])


def reference_model(view: View) -> Model | None:
    """Give the model that the differences are taken from: the baseline, else the leader."""
    if len(view.models) < 2:
        return None
    return view.models[0] if view.results.baseline is None else view.model(view.results.baseline)


def _difference_heading(view: View, reference: Model) -> str:
    if view.results.baseline is not None:
        return say("leaderboard.versus_baseline")
    return say("leaderboard.versus", model=reference.short)


def metric_cell(view: View, model: Model, key: MetricKey) -> Cell:
    """Give one value with its recommended interval."""
    record = metric_record(view, model.id, key)
    if record is None or record.value is None:
        return Cell(numbers.MISSING, note="" if record is None else record.reason or "")
    decimals = metric_decimals(view, key)
    first = record.intervals[0] if record.intervals else None
    beside = "" if first is None else numbers.interval(first.low, first.high, decimals)
    return Cell(numbers.number(record.value, decimals), beside, record.value, record.reason or "")


def difference_cell(view: View, model: Model, reference: Model) -> Cell:
    """Give a model's difference on the primary metric from the reference."""
    if model is reference:
        return Cell(say("leaderboard.reference"), order=0.0)
    record = comparison_between(view, view.primary, model.id, reference.id)
    if record is None or record.difference is None:
        return Cell(numbers.MISSING)
    decimals = difference_decimals(view, view.primary)
    beside = interval_of(view, record, decimals)
    return Cell(numbers.number(record.difference, decimals, signed=True), beside, record.difference)


def _row(
    view: View, model: Model, keys: tuple[MetricKey, ...], bar: Bar | None, reference: Model | None
) -> Place:
    place = ranking_record(view, model.id)
    return Place(
        model=model,
        rank=None if place is None else place.rank,
        letters="" if place is None else place.letters,
        cells=tuple(metric_cell(view, model, key) for key in keys),
        bar=bar,
        difference=None if reference is None else difference_cell(view, model, reference),
    )


def _bars(view: View) -> dict[str, Bar]:
    """Place every model's interval of the primary metric on one scale that just holds them all."""
    spans = {}
    for model in view.models:
        record = metric_record(view, model.id, view.primary)
        first = record.intervals[0] if record is not None and record.intervals else None
        if record is None or record.value is None or first is None or first.low is None or first.high is None:
            continue
        spans[model.id] = (first.low, record.value, first.high)
    if not spans:
        return {}
    least, most = min(s[0] for s in spans.values()), max(s[2] for s in spans.values())
    width = (most - least) or 1.0
    decimals = metric_decimals(view, view.primary)

    def place(value: float) -> float:
        return round(2 + 96 * (value - least) / width, 2)

    return {
        name: Bar(place(low), round(max(place(high) - place(low), 1.0), 2), place(value),
                  say("report.range", low=numbers.number(low, decimals), high=numbers.number(high, decimals)))
        for name, (low, value, high) in spans.items()
    }  # fmt: skip


def _note(view: View) -> str:
    record = metric_record(view, view.models[0].id, view.primary)
    method = record.intervals[0].method if record is not None and record.intervals else None
    parts = [say("leaderboard.ranked", metric=view.primary_words)]
    if method is not None:
        level = numbers.percent(view.confidence)
        by = label_of("interval", method)
        parts.append(say("leaderboard.brackets", level=level, metric=view.primary_words, method=by))
    if len(view.models) > 1 and any(r.letters for r in view.results.ranking):
        alpha = f"{1 - view.confidence:.4g}"
        correction = str(view.results.options.get("correction", "none"))
        family = family_words(correction, len(view.results.verdicts), alpha)
        parts.append(f"{say('leaderboard.letters')} ({family}.)")
    if len(view.results.verdicts) > 1:
        parts.append(say("leaderboard.differences", level=level_of_pairs(view.results)))
    if any(0 in (verdict.low, verdict.high) for verdict in view.results.verdicts):
        parts.append(say("pairs.at_zero"))
    return " ".join(parts)
