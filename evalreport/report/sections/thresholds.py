"""Thresholds: what models give at their best ones and at fixed rates, who is above whom, what another one changes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from evalreport import numbers
from evalreport.report.naming import MetricKey, in_sentence, metric_label
from evalreport.report.view import Cell, Model, Row, Table, View, text_of
from evalreport.results import DominanceRecord, OperatingPointRecord
from evalreport.texts import has, say

MOST_IN_TABLE = 24


@dataclass(frozen=True, slots=True)
class Thresholds:
    """What the section shows."""

    tables: tuple[Table, ...]
    counts: tuple[Row, ...]
    above: Above | None
    changes: tuple[str, ...]


FIXED = ("fixed_fpr", "fixed_recall")


def describe(view: View) -> Thresholds | None:
    """Lay out operating points, dominance and changed thresholds; nothing where there is neither."""
    results = view.results
    if not (results.operating_points or results.dominance or results.threshold_changes):
        return None
    best = [p for p in results.operating_points if p.criterion not in FIXED]
    fixed = [p for p in results.operating_points if p.criterion in FIXED]
    level = numbers.percent(view.confidence)
    tables = []
    if best:
        tables.append(
            _table(view, say("thresholds.best_title"), best, say("thresholds.best_note", level=level))
        )
    if fixed:
        tables.append(_table(view, say("thresholds.fixed_title"), fixed, say("thresholds.fixed_note")))
    return Thresholds(
        tables=tuple(tables),
        counts=tuple(
            _counts(view, p) for p in best if p.model in {m.id for m in view.models[:MOST_IN_TABLE]}
        ),
        above=describe_dominance(view),
        changes=tuple(text_of(view, record.text) for record in results.threshold_changes),
    )


Key = tuple[str, str, float | None]


def _key(point: OperatingPointRecord) -> Key:
    return point.criterion, point.metric, point.at


def _table(view: View, title: str, points: list[OperatingPointRecord], note: str) -> Table:
    keys = list(dict.fromkeys(_key(point) for point in points))
    known = {(point.model, _key(point)): point for point in points}
    models = [m for m in view.models if any(point.model == m.id for point in points)]
    rows = tuple(
        Row(
            m,
            tuple(_cell(view, known[m.id, key]) if (m.id, key) in known else Cell("") for key in keys),
        )
        for m in models[:MOST_IN_TABLE]
    )
    if len(models) > MOST_IN_TABLE:
        note += " " + say("report.first_of_all", shown=MOST_IN_TABLE, n=len(models))
    return Table(title, tuple(_heading(key) for key in keys), rows, note)


def _cell(view: View, point: OperatingPointRecord) -> Cell:
    at = say("thresholds.at", threshold=_threshold(view, point))
    return Cell(numbers.number(point.value), numbers.interval(point.low, point.high), below=at)


def _threshold(view: View, point: OperatingPointRecord) -> str:
    """Write a threshold so that it is told from the scores beside it."""
    if point.threshold is None:
        return say("thresholds.no_call")
    scores = [e for r in view.results.score_histograms if r.model == point.model for e in r.edges]
    return numbers.to_digits(point.threshold, numbers.digits_apart(scores))


def _heading(key: Key) -> str:
    criterion, metric, at = key
    if criterion in FIXED:
        assert at is not None
        rate = say("thresholds.fpr" if criterion == "fixed_fpr" else "thresholds.recall")
        label = metric_label(MetricKey(metric))
        return say(
            "thresholds.fixed", metric=label, rate=rate, share=numbers.percent(at).replace(" ", "\u00a0")
        )
    if has(f"thresholds.criterion.{criterion}"):
        return say(f"thresholds.criterion.{criterion}")
    return say("thresholds.best", metric=in_sentence(metric_label(MetricKey(metric))))


def _counts(view: View, point: OperatingPointRecord) -> Row:
    counts = (numbers.count(n) for n in (point.tp, point.fp, point.fn, point.tn))
    return Row(view.model(point.model), (_heading(_key(point)), _threshold(view, point), *counts))


MOST_PAIRS = 24
MOST_BRIEF = 3
MOST_NAMED = 3


@dataclass(frozen=True, slots=True)
class Pair:
    """One pair of curves: how they lie, where they cross, by how much each is higher at most."""

    a: Model
    b: Model
    relation: str
    crossings: str
    a_most: str
    b_most: str
    within_bands: str


@dataclass(frozen=True, slots=True)
class Above:
    """The pairs by what they tell, how many of them a brief report shows; sentences about models without scores."""

    pairs: tuple[Pair, ...]
    brief: int
    sentences: tuple[str, ...]
    more: str


def describe_dominance(view: View) -> Above | None:
    """Lay out how curves lie to each other; nothing where there is no pair."""
    records = view.results.dominance
    if not records:
        return None
    place = {model.id: i for i, model in enumerate(view.models)}
    curves = [r for r in records if r.curve == "roc"]
    ordered = sorted(curves, key=lambda r: (_telling(r), *sorted((place[r.a], place[r.b]))))
    points = [r for r in records if r.curve != "roc"]
    left = max(len(curves) - MOST_PAIRS, 0) + max(len(points) - MOST_PAIRS, 0)
    return Above(
        pairs=tuple(_pair(view, record) for record in ordered[:MOST_PAIRS]),
        brief=MOST_BRIEF,
        sentences=tuple(text_of(view, record.text) for record in points[:MOST_PAIRS]),
        more=say("thresholds.more_curves", n=left) if left else "",
    )


def _telling(record: DominanceRecord) -> int:
    """Put what says most first: clear crossings beyond the bands, then one above the other, then the rest."""
    if record.beyond_bands:
        return 0
    if record.relation in ("above", "below"):
        return 1
    return 2 if record.clear else 3


def _pair(view: View, record: DominanceRecord) -> Pair:
    """The model whose curve is above stands first; of crossing ones, the one that ranks first."""
    first = next(model.id for model in view.models if model.id in (record.a, record.b))
    turned = first == record.b if record.relation in ("crosses", "same") else record.relation == "below"
    ends = [
        (record.a, _most(record.a_most, record.a_most_at)),
        (record.b, _most(record.b_most, record.b_most_at)),
    ]
    (a, a_most), (b, b_most) = reversed(ends) if turned else ends
    return Pair(
        a=view.model(a),
        b=view.model(b),
        relation=_relation(record),
        crossings=_rates(record.clear_crossings if record.clear else record.crossings),
        a_most=a_most,
        b_most=b_most,
        within_bands=_bands(record),
    )


def _relation(record: DominanceRecord) -> str:
    if record.relation == "crosses":
        return say("dominance.crosses" if record.clear else "dominance.crosses_hardly")
    return say("dominance.same" if record.relation == "same" else "dominance.above")


def _bands(record: DominanceRecord) -> str:
    if record.beyond_bands is None or not record.clear:
        return numbers.MISSING
    return say("dominance.beyond" if record.beyond_bands else "dominance.within")


def _most(gap: float, at: float | None) -> str:
    if at is None or not gap:
        return numbers.MISSING
    return say("dominance.most", gap=numbers.number(gap), rate=numbers.to_digits(at))


def _rates(crossings: Sequence[float]) -> str:
    if not crossings:
        return numbers.MISSING
    text = ", ".join(numbers.to_digits(one) for one in crossings[:MOST_NAMED])
    left = len(crossings) - MOST_NAMED
    return text if left <= 0 else say("dominance.more_crossings", rates=text, n=left)
