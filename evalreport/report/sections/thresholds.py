"""Thresholds: what each model finds, and at how many false alarms, at its own threshold and at those of criteria."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from evalreport import numbers
from evalreport.report.characters import shorten, visible
from evalreport.report.naming import MetricKey, in_sentence, metric_label
from evalreport.report.view import Cell, Model, Row, View, text_of
from evalreport.results import OperatingPointRecord
from evalreport.texts import has, say

MOST_SENTENCES, LONGEST = 6, 20
COMPARED = (("best", None, "f1"), ("fixed_fpr", 0.01, ""), ("fixed_fpr", 0.1, ""), ("fixed_recall", 0.6, ""),
            ("fixed_recall", 0.9, ""))  # fmt: skip
"""The criteria that have a column, by name, rate and metric; all others stand in the folded table."""
READ = ("fixed_fpr", 0.1, "")
"""The criterion that the heading speaks of."""


@dataclass(frozen=True, slots=True)
class Found:
    """One model at one threshold: positives found and false alarms; or why there is no such threshold."""

    found: str
    alarms: str
    reason: str = ""


@dataclass(frozen=True, slots=True)
class FoundRow:
    """One model's row."""

    model: Model
    cells: tuple[Found, ...]


@dataclass(frozen=True, slots=True)
class Thresholds:
    """What the section shows; ``every`` (criteria by models) and what follows it are folded away."""

    heading: str
    heads: tuple[str, ...]
    rows: tuple[FoundRow, ...]
    note: str
    models: tuple[Model, ...]
    every: tuple[Row, ...]
    every_note: str
    curves: tuple[str, ...]
    changes: tuple[str, ...]


def describe(view: View) -> Thresholds | None:
    """Lay out the table of models and criteria; nothing where no threshold was looked for."""
    points = view.results.operating_points
    if not points:
        return None
    known = {(p.model, p.criterion, p.at, p.metric if p.criterion == "best" else ""): p for p in points}
    keys = [key for key in COMPARED if any(own[1:] == key for own in known)]
    models = [m for m in view.models if any(p.model == m.id for p in points)]
    decided = bool(view.results.confusion)
    given = {m.id: (_as_given(view, m),) if decided else () for m in models}
    rows = tuple(
        FoundRow(m, (*given[m.id], *(_found(known.get((m.id, *key))) for key in keys))) for m in models
    )
    first = points[0]
    positives, negatives = first.tp + first.fn, first.fp + first.tn
    label = shorten(visible(view.results.positive or ""), LONGEST)
    fixed = {m: p for (m, *key), p in known.items() if tuple(key) == READ}
    return Thresholds(
        heading=_heading_of(view, fixed),
        heads=(*((say("evidence.as_given"),) if decided else ()), *(_heading(key) for key in keys)),
        rows=rows,
        note=say(
            "evidence.thresholds" if decided else "evidence.thresholds_chosen",
            label=label,
            positives=round(positives),
            negatives=round(negatives),
        ),
        models=tuple(models),
        every=_every(view, models),
        every_note=say("thresholds.best_note", level=numbers.percent(view.confidence)),
        curves=_first([text_of(view, r.text) for r in view.results.dominance]),
        changes=_first([text_of(view, r.text) for r in view.results.threshold_changes]),
    )


def _first(sentences: Sequence[str]) -> tuple[str, ...]:
    left = len(sentences) - MOST_SENTENCES
    more = (say("evidence.more_sentences", n=left),) if left > 0 else ()
    return (*sentences[:MOST_SENTENCES], *more)


def _heading_of(view: View, fixed: dict[str, OperatingPointRecord]) -> str:
    """Say who finds most within the rate of false alarms that is read off."""
    order = sorted((m for m in view.models if m.id in fixed), key=lambda m: -fixed[m.id].tp)
    if not order:
        return ""
    found = [round(fixed[m.id].tp) for m in order]
    total = round(fixed[order[0].id].tp + fixed[order[0].id].fn)
    said = {"rate": READ[1], "first": order[0].short, "found": found[0], "total": total}
    if len(order) == 1:
        finding = say("finding.threshold_one", **said)
    elif found[0] == found[-1]:
        finding = say("finding.threshold_same", **said)
    elif found[1] == found[-1]:
        finding = say("finding.threshold_two", n=len(order) - 1, rest=found[-1], last=order[-1].short, **said)
    else:
        finding = say("finding.threshold", low=found[-1], high=found[1], **said)
    return say("evidence.headed", section=say("heading.thresholds"), finding=finding)


def _as_given(view: View, model: Model) -> Found:
    cells = [
        c for c in view.results.confusion if c.model == model.id and c.predicted == view.results.positive
    ]
    if not cells:
        return Found("", "", numbers.MISSING)
    tp, fp = (
        round(sum(c.count for c in cells if (c.true == view.results.positive) is right))
        for right in (True, False)
    )
    return Found(numbers.count(tp), numbers.count(fp))


def _found(point: OperatingPointRecord | None) -> Found:
    if point is None or point.threshold is None:
        return Found("", "", numbers.MISSING)
    if not point.tn and point.fp:
        return Found("", "", say("evidence.flag_all"))
    return Found(numbers.count(round(point.tp)), numbers.count(round(point.fp)))


def _heading(key: tuple[str, float | None, str]) -> str:
    criterion, at, metric = key
    if at is None:
        return say("evidence.best", metric=in_sentence(metric_label(MetricKey(metric))))
    return say(f"evidence.{criterion}", rate=at)


def _every(view: View, models: Sequence[Model]) -> tuple[Row, ...]:
    """Lay out criteria by models: the threshold, what it finds at how many false alarms, and the value there."""
    known = {(p.criterion, p.at, p.metric, p.model): p for p in view.results.operating_points}
    rows = []
    for criterion, at, metric in dict.fromkeys(key[:3] for key in known):
        own = has(f"thresholds.criterion.{criterion}")
        label = say(f"thresholds.criterion.{criterion}") if own else _heading((criterion, at, metric))
        if at is not None and not own:
            label = say(
                "thresholds.and_value", label=label, metric=in_sentence(metric_label(MetricKey(metric)))
            )
        cells = tuple(_at(view, known.get((criterion, at, metric, model.id))) for model in models)
        rows.append(Row(None, cells, label))
    return tuple(rows)


def _at(view: View, point: OperatingPointRecord | None) -> Cell:
    if point is None:
        return Cell(numbers.MISSING)
    found, alarms = numbers.count(point.tp), numbers.count(point.fp)
    value = f"{numbers.number(point.value)} {numbers.interval(point.low, point.high)}".strip()
    return Cell(_threshold(view, point), f"{found} / {alarms}", below=value)


def _threshold(view: View, point: OperatingPointRecord) -> str:
    """Write a threshold so that it is told from the scores beside it."""
    if point.threshold is None:
        return say("thresholds.no_call")
    scores = [e for r in view.results.score_histograms if r.model == point.model for e in r.edges]
    return numbers.to_digits(point.threshold, numbers.digits_apart(scores))
