"""Who is above whom: how the ROC curves of two models lie to each other, a line for each pair."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from evalreport import numbers
from evalreport.curve_records import DominanceRecord
from evalreport.report.view import Model, View, text_of
from evalreport.texts import say

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


def describe(view: View) -> Above | None:
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
