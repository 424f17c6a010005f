"""Thresholds by criterion: positives found and false alarms of each model."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from evalreport import numbers
from evalreport.questions.thresholds.options import shares_of
from evalreport.questions.thresholds.records import OperatingPointRecord
from evalreport.report.naming import metric_label
from evalreport.report.table import Cell, Row, Table
from evalreport.report.view import Model, View
from evalreport.schema.lookups import confusion_of, outcomes_of
from evalreport.schema.metrics import Quantity
from evalreport.schema.results import Results
from evalreport.texts import named, say
from evalreport.texts.labels import in_sentence
from evalreport.texts.visible import shorten, visible

MOST_SENTENCES, LONGEST = 6, 20
ALARMS, FINDS = (0.01, 0.1), (0.6, 0.9)
"""Rates of false alarms and shares found that have a column where none were named; others are in the folded table."""
READ = 0.1
"""The rate of false alarms that the heading speaks of, where none was named."""
MOST_MODELS = 6
"""Models whose every criterion is listed, the first in rank."""


@dataclass(frozen=True, slots=True)
class Thresholds:
    """What the section shows; ``every`` criterion by models and what follows it are folded away."""

    heading: str
    compared: Table
    note: str
    every: Table
    every_note: str
    lists: tuple[tuple[str, tuple[str, ...]], ...]
    """Titles with sentences."""


def describe(view: View) -> Thresholds | None:
    """Lay out the table of models and criteria; nothing where no threshold was looked for."""
    points = view.results.operating_points
    if not points:
        return None
    first, decided = points[0], bool(view.results.confusion)
    models = tuple(m for m in view.models if any(p.model == m.id for p in points))
    known = {(p.criterion, p.at, p.metric if p.criterion == "best" else "", p.model): p for p in points}
    keys = [key for key in compared_keys(view.results) if any(own[:3] == key for own in known)]
    heads = (*((say("evidence.as_given"),) if decided else ()), *map(_heading, keys))
    rows = []
    for model in models:
        given = (_as_given(view, model),) if decided else ()
        rows.append(Row(model, (*given, *(_found_at(view, known.get((*key, model.id))) for key in keys))))
    listed = models[:MOST_MODELS]
    every, first_column = _by_criterion(view, listed), say("evidence.found_alarms")
    read = (alarms_of(view.results) or (READ,))[-1]
    more = say("thresholds.models_cut", shown=len(listed), n=len(models)) if len(listed) < len(models) else ""
    return Thresholds(
        heading=_heading_of(
            view, read, {p.model: p for p in points if (p.criterion, p.at) == ("fixed_fpr", read)}
        ),
        compared=Table(say("heading.thresholds"), heads, tuple(rows), look="found", first=first_column),
        note=say(
            "evidence.thresholds" if decided else "evidence.thresholds_chosen",
            label=shorten(visible(view.results.positive or ""), LONGEST),
            positives=round(first.tp + first.fn),
            negatives=round(first.fp + first.tn),
        ),
        every=Table(
            say("evidence.every_threshold"), listed, every, look="metrics", first=say("thresholds.chosen_by")
        ),
        every_note=f"{say('thresholds.best_note', level=numbers.percent(view.confidence))} {more}".strip(),
        lists=tuple(
            (say(title), _first([view.text(record.text) for record in records]))
            for title, records in (
                ("thresholds.who_is_above", view.results.dominance),
                ("thresholds.another", view.results.threshold_changes),
            )
            if records
        ),
    )


def compared_keys(results: Results) -> list[tuple[str, float | None, str]]:
    """Return the criteria that have a column, by name, rate and metric: those that were named in place of the usual."""
    alarms = alarms_of(results) or ALARMS
    finds = shares_of(results.options.get("finds")) or FINDS
    return [
        ("best", None, "f1"), *(("fixed_fpr", at, "") for at in alarms), *(("fixed_recall", at, "") for at in finds)
    ]  # fmt: skip


def alarms_of(results: Results) -> tuple[float, ...]:
    """Return the rates of false alarms that were named."""
    return shares_of(results.options.get("alarms"))


def _first(sentences: Sequence[str]) -> tuple[str, ...]:
    left = len(sentences) - MOST_SENTENCES
    more = (say("evidence.more_sentences", n=left),) if left > 0 else ()
    return (*sentences[:MOST_SENTENCES], *more)


def _heading_of(view: View, rate: float, fixed: dict[str, OperatingPointRecord]) -> str:
    """Say who finds most within the rate of false alarms that is read off."""
    order = sorted((m for m in view.models if m.id in fixed), key=lambda m: -fixed[m.id].tp)
    if not order:
        return ""
    counts = [round(fixed[m.id].tp) for m in order]
    total = round(fixed[order[0].id].tp + fixed[order[0].id].fn)
    known = {"rate": rate, "first": order[0].name, "found": counts[0], "total": total}
    if len(order) == 1:
        finding = say("finding.threshold_one", **known)
    elif counts[0] == counts[-1]:
        finding = say("finding.threshold_same", **known)
    elif counts[1] == counts[-1]:
        finding = say(
            "finding.threshold_two", n=len(order) - 1, rest=counts[-1], last=order[-1].name, **known
        )
    else:
        finding = say("finding.threshold", low=counts[-1], high=counts[1], **known)
    if counts[0] != counts[-1]:
        finding = view.unless_decided(finding, order[0], order[-1])
    return say("evidence.headed", section=say("heading.thresholds"), finding=finding)


def _as_given(view: View, model: Model) -> Cell:
    """Count the positives found and the false alarms of a model's own decisions."""
    positive = view.results.positive
    if not any(predicted == positive for _, predicted in confusion_of(view.results, model.id)):
        return Cell(numbers.MISSING)
    tp, fp, *_ = outcomes_of(view.results, model.id, positive)
    return _counted(tp, fp)


def _found_at(view: View, point: OperatingPointRecord | None) -> Cell:
    if point is None or point.threshold is None:
        return Cell(numbers.MISSING)
    if not point.tn and point.fp:
        return Cell("", say("evidence.flag_all"))
    at = say("evidence.at_threshold", threshold=_threshold(view, point))
    return replace(_counted(point.tp, point.fp), below=(at,))


def _counted(found: float, alarms: float) -> Cell:
    return Cell(numbers.count(round(found)), f"/ {numbers.count(round(alarms))}")


def _heading(key: tuple[str, float | None, str]) -> str:
    criterion, at, metric = key
    if at is None:
        return say("evidence.best", metric=in_sentence(metric_label(Quantity(metric))))
    return say(f"evidence.{criterion}", rate=at)


def _by_criterion(view: View, models: Sequence[Model]) -> tuple[Row, ...]:
    """Lay out criteria by models: the threshold, what it finds at how many false alarms, and the value there."""
    known = {(p.criterion, p.at, p.metric, p.model): p for p in view.results.operating_points}
    rows = []
    for criterion, at, metric in dict.fromkeys(key[:3] for key in known):
        label = named("thresholds.criterion", criterion, "")
        if not label:
            label = _heading((criterion, at, metric))
            if at is not None:
                words = in_sentence(metric_label(Quantity(metric)))
                label = say("thresholds.and_value", label=label, metric=words)
        cells = tuple(_at(view, known.get((criterion, at, metric, model.id))) for model in models)
        rows.append(Row(None, cells, label))
    return tuple(rows)


def _at(view: View, point: OperatingPointRecord | None) -> Cell:
    if point is None:
        return Cell(numbers.MISSING)
    hits, alarms = numbers.count(point.tp), numbers.count(point.fp)
    value = f"{numbers.number(point.value)} {numbers.interval(point.low, point.high)}".strip()
    if "expected" in point.details and point.low is not None:
        fresh = numbers.number(point.details["expected"])
        value = say(
            "thresholds.expect",
            value=numbers.number(point.value),
            expected=fresh,
            limits=numbers.interval(point.low, point.high),
        )
    return Cell(_threshold(view, point), f"{hits} / {alarms}", below=(value,))


def _threshold(view: View, point: OperatingPointRecord) -> str:
    """Write a threshold with enough digits to distinguish it from neighbouring scores."""
    if point.threshold is None:
        return say("thresholds.no_call")
    scores = [e for r in view.results.score_histograms if r.model == point.model for e in r.edges]
    return numbers.to_digits(point.threshold, numbers.digits_apart(scores))
