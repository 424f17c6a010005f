"""Which of two ROC curves is above the other, and where they cross."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import combinations

import numpy as np

from evalreport.engine.parallel import mapped
from evalreport.metrics.sample import Sample
from evalreport.metrics.threshold_counts import ThresholdCounts
from evalreport.numbers import to_digits
from evalreport.predictions.arrays import Floats
from evalreport.questions.thresholds.curves import Curves, RocCurve
from evalreport.questions.thresholds.records import DominanceRecord, Relation
from evalreport.texts import Message, Value, plain, sentences, shortened

CLEAR = 0.05
"""Curves cross clearly if each is higher than the other by this much somewhere."""

MOST_POINTS = 20_000
"""Two curves are compared at their corners, at most at this many of them."""

MOST_CROSSINGS = 50

MOST_NAMED = 3

ZERO = 1e-12


def dominance_records(
    curves: Sequence[Curves], samples: Sequence[Sample], baseline: str | None
) -> tuple[DominanceRecord, ...]:
    """Return which ROC curve of each pair of models is above the other, and where they cross; then labels as points.

    Parameters
    ----------
    curves, samples
        One of all models; one a model where each has examples of its own.
    """
    points = [
        record
        for one, sample in zip(curves, samples, strict=True)
        for record in point_dominance(sample, [curve.counts for curve in one.roc])
    ]
    return (*dominance([curve for one in curves for curve in one.roc], baseline=baseline), *points)


def dominance(drawn: Sequence[RocCurve], *, baseline: str | None = None) -> tuple[DominanceRecord, ...]:
    """Compare the ROC curves of every pair of models; those of single classes are left out."""
    pairs = list(combinations([one for one in drawn if one.counts.label is None], 2))
    if baseline is not None:
        pairs = [pair for pair in pairs if baseline in (pair[0].counts.model, pair[1].counts.model)]
    most = MOST_POINTS if len(pairs) <= 200 else MOST_POINTS // 10
    return tuple(mapped(lambda pair: _of_pair(*pair, most), pairs))


def _of_pair(a: RocCurve, b: RocCurve, most: int) -> DominanceRecord:
    rates, gap = _gaps(a.counts, b.counts, most)
    up, down = (float(max(side.max(), 0.0)) for side in (gap, -gap))
    relation: Relation = "crosses" if up and down else "above" if up else "below" if down else "same"
    record = DominanceRecord(
        a=a.counts.model,
        b=b.counts.model,
        curve="roc",
        relation=relation,
        crossings=tuple(_crossings(rates, gap)[:MOST_CROSSINGS]),
        a_most=up,
        a_most_at=float(rates[gap.argmax()]) if up else None,
        b_most=down,
        b_most_at=float(rates[gap.argmin()]) if down else None,
        clear=min(up, down) >= CLEAR,
        text=plain(""),
    )
    if record.clear:
        beyond = [_beyond(one, other, rates, side) for one, other, side in ((a, b, gap), (b, a, -gap))]
        record = replace(
            record,
            clear_crossings=tuple(_clear_crossings(rates, gap)[:MOST_CROSSINGS]),
            beyond_bands=None if None in beyond else all(beyond),
        )
    return replace(record, text=_text(record))


def _beyond(upper: RocCurve, lower: RocCurve, rates: Floats, gap: Floats) -> bool | None:
    """Return whether one curve is clearly higher somewhere, with each curve outside the other's band."""
    if upper.band is None or lower.band is None:
        return None
    high = np.interp(rates, lower.band[0], lower.band[2])
    low = np.interp(rates, upper.band[0], upper.band[1])
    tpr_upper, tpr_lower = (_upper(one.counts.fpr, one.counts.tpr, rates) for one in (upper, lower))
    return bool(((gap >= CLEAR) & (tpr_upper > high) & (tpr_lower < low)).any())


def _gaps(a: ThresholdCounts, b: ThresholdCounts, most: int) -> tuple[Floats, Floats]:
    """Return false positive rates, twice each, and the difference of the polygons just before and at each."""
    rates = np.union1d(*(_some(one.fpr, most // 2) for one in (a, b)))
    before, at = (
        function(a.fpr, a.tpr, rates) - function(b.fpr, b.tpr, rates) for function in (_lower, _upper)
    )
    gap = np.stack([before, at], axis=1).ravel()
    gap[np.abs(gap) <= ZERO] = 0.0
    return np.repeat(rates, 2), gap


def _some(rates: Floats, most: int) -> Floats:
    if len(rates) <= most:
        return rates
    return rates[np.linspace(0, len(rates) - 1, most).round().astype(np.int64)]


def _upper(x: Floats, y: Floats, rates: Floats) -> Floats:
    """Return the upper end where the polygon rises straight up."""
    return np.interp(rates, x, y)


def _lower(x: Floats, y: Floats, rates: Floats) -> Floats:
    """Return the lower end where the polygon rises straight up."""
    first = np.minimum(np.searchsorted(x, rates, side="left"), len(x) - 1)
    return np.where(x[first] == rates, y[first], np.interp(rates, x, y))


def _crossings(rates: Floats, gap: Floats) -> list[float]:
    """Return where the sign of a piecewise straight difference changes."""
    held = np.flatnonzero(gap)
    turns = np.flatnonzero(np.sign(gap[held[1:]]) != np.sign(gap[held[:-1]]))
    found = []
    for i, j in zip(held[turns], held[turns + 1], strict=True):
        if j > i + 1:
            found.append(float(rates[i + 1]))  # the curves meet here before they part again
        else:
            share = gap[i] / (gap[i] - gap[j])
            found.append(float(rates[i] + share * (rates[j] - rates[i])))
    return found


def _clear_crossings(rates: Floats, gap: Floats) -> list[float]:
    """Return a crossing for every change from a stretch where one is clearly higher to one where the other is."""
    held = np.flatnonzero(np.abs(gap) >= CLEAR)
    turns = np.flatnonzero(np.sign(gap[held[1:]]) != np.sign(gap[held[:-1]]))
    found = []
    for i, j in zip(held[turns], held[turns + 1], strict=True):
        between = _crossings(rates[i : j + 1], gap[i : j + 1])
        found.append(between[len(between) // 2])
    return found


def _text(record: DominanceRecord) -> Message:
    a, b = record.a, record.b
    up, down = (record.a_most, record.a_most_at), (record.b_most, record.b_most_at)
    if record.relation == "same":
        return Message("roc_curves.same", a=a, b=b)
    if record.relation != "crosses":
        upper, lower, most = (a, b, up) if record.relation == "above" else (b, a, down)
        return Message("roc_curves.above", upper=upper, lower=lower, lead=_lead(most))
    if not record.clear:
        higher, most, other, least = (a, up, b, down) if up[0] >= down[0] else (b, down, a, up)
        return Message(
            "roc_curves.cross_hardly",
            a=a,
            b=b,
            rates=_rates(record.crossings),
            higher=higher,
            lead=_lead(most),
            other=other,
            least=least[0],
        )
    rates = _rates(record.clear_crossings)
    text = Message("roc_curves.cross", a=a, b=b, rates=rates, lead_of_a=_lead(up), lead_of_b=_lead(down))
    return text if record.beyond_bands else sentences(text, Message("roc_curves.within_bands"))


def _lead(most: tuple[float, float | None]) -> Message:
    return Message("roc_curves.lead", most=most[0], rate=most[1])


def _rates(crossings: Sequence[float]) -> Value:
    return shortened([to_digits(one) for one in crossings], MOST_NAMED)


def point_dominance(sample: Sample, rankings: Sequence[ThresholdCounts]) -> Iterator[DominanceRecord]:
    """Compare models that give labels only, as points, with the curves of the others and with each other."""
    ranked = {one.model: one for one in rankings if one.label is None}
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
            yield _point(name, other.model, gap, fpr)
    for (a, (fpr_a, tpr_a)), (b, (fpr_b, tpr_b)) in combinations(points.items(), 2):
        better, worse = (fpr_a <= fpr_b and tpr_a >= tpr_b), (fpr_a >= fpr_b and tpr_a <= tpr_b)
        if better != worse:
            upper, lower = (a, b) if better else (b, a)
            text = Message("roc_points.no_worse", upper=upper, lower=lower)
            gap = tpr_a - tpr_b
            relation: Relation = "above" if better else "below"
            up, down = max(gap, 0.0), max(-gap, 0.0)
            yield DominanceRecord(
                a=a, b=b, curve="points", relation=relation, a_most=up, b_most=down, text=text
            )


def _point(a: str, b: str, gap: float, fpr: float) -> DominanceRecord:
    gap = 0.0 if abs(gap) <= ZERO else gap
    relation: Relation = "above" if gap > 0 else "below" if gap < 0 else "same"
    lead: dict[str, Value] = {"gap": abs(gap)} if gap else {}
    text = Message(f"roc_points.{relation}", a=a, b=b, rate=fpr, **lead)
    up, down = max(gap, 0.0), max(-gap, 0.0)
    return DominanceRecord(
        a=a,
        b=b,
        curve="roc_point",
        relation=relation,
        a_most=up,
        a_most_at=fpr if up else None,
        b_most=down,
        b_most_at=fpr if down else None,
        text=text,
    )
