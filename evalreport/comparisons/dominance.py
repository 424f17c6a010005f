"""Is one model's ROC curve above another's everywhere, or do they cross, and where?

Who dominates in ROC space dominates in precision-recall space as well, and the other way round (Davis and Goadrich
2006, theorem 3.2), so one relation serves both.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import combinations

import numpy as np
import numpy.typing as npt

from evalreport.curve_records import DominanceRecord, Relation
from evalreport.metrics.curves.ladder import Ladder
from evalreport.metrics.sample import Sample
from evalreport.numbers import count, number, significant

Floats = npt.NDArray[np.float64]

CLEAR = 0.05
"""Curves cross clearly where each is higher than the other by so much somewhere."""

MOST_POINTS = 20_000
"""Two curves are compared at their own corners, or at so many of them."""

MOST_CROSSINGS = 50
MOST_NAMED = 3
ZERO = 1e-12


def dominance(ladders: Sequence[Ladder], *, baseline: str | None = None) -> tuple[DominanceRecord, ...]:
    """Return how the ROC curves of every pair of rankings lie to each other; of several classes none."""
    ranked = [one for one in ladders if one.label is None]
    pairs = list(combinations(ranked, 2))
    if baseline is not None:
        pairs = [pair for pair in pairs if baseline in (pair[0].model, pair[1].model)]
    most = MOST_POINTS if len(pairs) <= 200 else MOST_POINTS // 10
    return tuple(_of_pair(a, b, most) for a, b in pairs)


def _of_pair(a: Ladder, b: Ladder, most: int) -> DominanceRecord:
    place, gap = _gaps(a, b, most)
    up, down = float(max(gap.max(), 0.0)), float(max(-gap.min(), 0.0))
    up, down = (0.0 if one <= ZERO else one for one in (up, down))
    crossings = _crossings(place, gap) if up and down else []
    relation: Relation = "crosses" if up and down else "above" if up else "below" if down else "same"
    up_at = float(place[gap.argmax()]) if up else None
    down_at = float(place[gap.argmin()]) if down else None
    clear = min(up, down) >= CLEAR
    text = _text(a.model, b.model, relation, crossings, (up, up_at), (down, down_at))
    return DominanceRecord(
        a.model, b.model, "roc", None, relation, tuple(crossings[:MOST_CROSSINGS]), up, up_at, down, down_at,
        clear, text,
    )  # fmt: skip


def _gaps(a: Ladder, b: Ladder, most: int) -> tuple[Floats, Floats]:
    """Return false positive rates, twice each, and the difference of the polygons just before and at each."""
    places = np.union1d(a.fpr, b.fpr)
    if len(places) > most:
        places = places[np.unique(np.linspace(0, len(places) - 1, most).round().astype(np.int64))]
    before, at = (
        function(a.fpr, a.tpr, places) - function(b.fpr, b.tpr, places) for function in (_lower, _upper)
    )
    gap = np.stack([before, at], axis=1).ravel()
    gap[np.abs(gap) <= ZERO] = 0.0
    return np.repeat(places, 2), gap


def _upper(x: Floats, y: Floats, places: Floats) -> Floats:
    """Return the upper end where the polygon rises straight up."""
    return np.interp(places, x, y)


def _lower(x: Floats, y: Floats, places: Floats) -> Floats:
    """Return the lower end where the polygon rises straight up."""
    first = np.minimum(np.searchsorted(x, places, side="left"), len(x) - 1)
    return np.where(x[first] == places, y[first], np.interp(places, x, y))


def _crossings(place: Floats, gap: Floats) -> list[float]:
    """Return where the sign of a piecewise straight difference changes."""
    held = np.flatnonzero(gap)
    turns = np.flatnonzero(np.sign(gap[held[1:]]) != np.sign(gap[held[:-1]]))
    found = []
    for i, j in zip(held[turns], held[turns + 1], strict=True):
        if j > i + 1:
            found.append(float(place[i + 1]))  # the curves meet here before they part again
        else:
            share = gap[i] / (gap[i] - gap[j])
            found.append(float(place[i] + share * (place[j] - place[i])))
    return found


def _text(
    a: str,
    b: str,
    relation: Relation,
    crossings: Sequence[float],
    up: tuple[float, float | None],
    down: tuple[float, float | None],
) -> str:
    if relation == "same":
        return f"The ROC curves of {a} and {b} are the same."
    if relation != "crosses":
        upper, lower, most = (a, b, up) if relation == "above" else (b, a, down)
        return f"The ROC curve of {upper} is above that of {lower} everywhere, {_by(most)}."
    times = f"{_rates(crossings)}"
    if min(up[0], down[0]) < CLEAR:
        higher, most, other, least = (a, up, b, down) if up[0] >= down[0] else (b, down, a, up)
        return (
            f"The ROC curves of {a} and {b} cross at {times}, but not clearly: {higher} is higher {_by(most)},"
            f" {other} by at most {number(least[0])}."
        )
    text = f"The ROC curves of {a} and {b} cross at {times}: {a} is higher {_by(up)}, {b} {_by(down)}; so which is"
    return text + " better depends on the false positive rate that is acceptable."


def _by(most: tuple[float, float | None]) -> str:
    assert most[1] is not None
    return f"by up to {number(most[0])} (at FPR {significant(most[1])})"


def _rates(crossings: Sequence[float]) -> str:
    named = [significant(one) for one in crossings[:MOST_NAMED]]
    more = len(crossings) - len(named)
    if more:
        return f"FPR {', '.join(named)} and {count(more)} more"
    return "FPR " + (named[0] if len(named) == 1 else f"{', '.join(named[:-1])} and {named[-1]}")


# --- models that give labels only are points -------------------------------------------------------------------------


def point_dominance(sample: Sample, ladders: Sequence[Ladder]) -> Iterator[DominanceRecord]:
    """Yield how the points of models that give labels only lie to the curves of the others, and to each other."""
    ranked = {one.model: one for one in ladders if one.label is None}
    predictions = sample.predictions
    if predictions.task != "binary" or sample.tables is None or predictions.positive is None:
        return
    if predictions.design != "test-set":
        return
    code, points = predictions.positive_code, {}
    for name, table in zip(sample.label_models, sample.tables.tables, strict=True):
        rows = table.sum(axis=1)
        if name not in ranked and rows.min() > 0:
            points[name] = (
                float(table[1 - code, code] / rows[1 - code]),
                float(table[code, code] / rows[code]),
            )
    for name, (fpr, tpr) in points.items():
        for other in ranked.values():
            gap = tpr - float(np.interp(fpr, other.fpr, other.tpr))
            yield _point(name, other.model, "roc_point", gap, fpr, "the ROC curve of ")
    for (a, (fpr_a, tpr_a)), (b, (fpr_b, tpr_b)) in combinations(points.items(), 2):
        better, worse = (fpr_a <= fpr_b and tpr_a >= tpr_b), (fpr_a >= fpr_b and tpr_a <= tpr_b)
        if better != worse:
            upper, lower = (a, b) if better else (b, a)
            text = f"The decisions of {upper} are no worse than those of {lower} in either rate."
            gap = tpr_a - tpr_b
            yield DominanceRecord(
                a, b, "points", None, "above" if better else "below", (), max(gap, 0.0), None, max(-gap, 0.0),
                None, False, text,
            )  # fmt: skip


def _point(a: str, b: str, curve: str, gap: float, fpr: float, of: str) -> DominanceRecord:
    gap = 0.0 if abs(gap) <= ZERO else gap
    relation: Relation = "above" if gap > 0 else "below" if gap < 0 else "same"
    where = {"above": "above", "below": "below", "same": "on"}[relation]
    text = f"The decisions of {a} (FPR {significant(fpr)}) lie {where} {of}{b}"
    text += f", by {number(abs(gap))} in TPR." if gap else "."
    up, down = max(gap, 0.0), max(-gap, 0.0)
    return DominanceRecord(
        a, b, curve, None, relation, (), up, fpr if up else None, down, fpr if down else None, False, text
    )
