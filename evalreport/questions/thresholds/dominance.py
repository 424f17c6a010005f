"""Which of two ROC curves is above the other, and where they cross."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import combinations

import numpy as np

from evalreport.engine.parallel import mapped
from evalreport.intervals.at_rates import FEWEST_ALARMS, at_fpr_difference
from evalreport.metrics.at_rates import cumulative_groups
from evalreport.metrics.sample import Sample
from evalreport.metrics.threshold_counts import ThresholdCounts
from evalreport.metrics.views import Scored
from evalreport.numbers import to_digits
from evalreport.predictions.arrays import Floats, Mask
from evalreport.questions.thresholds.curves import Curves
from evalreport.questions.thresholds.records import DominanceRecord, Relation
from evalreport.texts import Message, Value, plain, sentences, shortened

CLEAR = 0.05
"""Curves cross clearly if each is higher than the other by this much somewhere."""

MOST_POINTS = 20_000
"""Two curves are compared at their corners, at most at this many of them."""

MOST_CROSSINGS = 50

MOST_NAMED = 3

ZERO = 1e-12

AT = (0.02, 0.05, *(k / 10 for k in range(1, 10)))
"""False positive rates at which two curves are compared by a test."""

ALPHA = 0.05
"""How often a model may be called ahead somewhere, in either direction, where it is not."""

MOST_EXACT, MOST_GROUPS = 20_000, 4096
"""Scores of more examples are compared in groups, so many."""


def dominance_records(
    curves: Sequence[Curves], samples: Sequence[Sample], reference: str | None
) -> tuple[DominanceRecord, ...]:
    """Return which ROC curve of each pair of models is above the other, and where they cross; then labels as points.

    Parameters
    ----------
    curves, samples
        One of all models; one a model where each has examples of its own.
    reference
        The model that each pair holds; with None every pair is compared.
    """
    points = [
        record
        for of_sample, sample in zip(curves, samples, strict=True)
        for record in point_dominance(sample, of_sample.roc)
        if reference in (None, record.a, record.b)
    ]
    drawn = [curve for of_sample in curves for curve in of_sample.roc]
    scores = scores_of(samples[0]) if len(samples) == 1 else {}
    return (*dominance(drawn, scores, reference=reference), *points)


def scores_of(sample: Sample) -> dict[str, Scored]:
    """Return the models' scores where examples are independent and weigh the same; nothing elsewhere."""
    predictions = sample.predictions
    if predictions.task != "binary" or predictions.design != "test-set" or not sample.units.plain:
        return {}
    if predictions.scores is not None or predictions.multiplicity is not None:
        return {}
    positive = np.asarray(predictions.y_true == predictions.positive_code, dtype=np.float64)
    return {m.name: Scored(m.score, positive) for m in predictions.models if m.score is not None}


def dominance(
    drawn: Sequence[ThresholdCounts], scores: Mapping[str, Scored], *, reference: str | None = None
) -> tuple[DominanceRecord, ...]:
    """Compare the ROC curves of every pair of models; those of single classes are left out."""
    pairs = list(combinations([one for one in drawn if one.label is None], 2))
    if reference is not None:
        pairs = [pair for pair in pairs if reference in (pair[0].model, pair[1].model)]
    most = MOST_POINTS if len(pairs) <= 200 else MOST_POINTS // 10
    return tuple(mapped(lambda pair: _of_pair(*pair, most, scores), pairs))


def _of_pair(
    a: ThresholdCounts, b: ThresholdCounts, most: int, scores: Mapping[str, Scored]
) -> DominanceRecord:
    rates, gap = _gaps(a, b, most)
    up, down = (float(max(side.max(), 0.0)) for side in (gap, -gap))
    relation: Relation = "crosses" if up and down else "above" if up else "below" if down else "same"
    clear, both = min(up, down) >= CLEAR, [scores[m] for m in (a.model, b.model) if m in scores]
    record = DominanceRecord(
        a=a.model, b=b.model, curve="roc", relation=relation, a_most=up, b_most=down, clear=clear,
        a_most_at=float(rates[gap.argmax()]) if up else None, b_most_at=float(rates[gap.argmin()]) if down else None,
        crossings=tuple(_crossings(rates, gap)[:MOST_CROSSINGS]),
        clear_crossings=tuple(_clear_crossings(rates, gap)[:MOST_CROSSINGS]) if clear else (),
        decided=decided_both_ways(*both) if clear and len(both) == 2 else None, text=plain(""),
    )  # fmt: skip
    return replace(record, text=_text(record))


def decided_both_ways(first: Scored, second: Scored) -> bool:
    """Say whether each of two models is shown to find more than the other at some rate of false alarms.

    The pointwise differences of recall at ``AT`` have limits by ``at_fpr_mover``; each side errs at ``ALPHA`` over
    the number of rates. Of many examples scores are pooled into ``MOST_GROUPS`` quantiles.

    Examples
    --------
    One model finds half of the positives without a false alarm, and no more; the second has them in the middle.

    >>> positive = np.repeat([1.0, 0.0], 400)
    >>> half = np.r_[np.linspace(9, 8, 200), np.linspace(-8, -9, 200), np.linspace(1, -1, 400)]
    >>> middle = np.r_[np.linspace(1.2, 0.2, 400), np.linspace(2, -2, 400)]
    >>> decided_both_ways(Scored(half, positive), Scored(middle, positive))
    True
    >>> decided_both_ways(Scored(half, positive), Scored(half + 1e-3 * np.sin(np.arange(800)), positive))
    False
    """
    level, negatives = 1 - 2 * ALPHA / len(AT), float((1 - first.y).sum())
    if not 0 < negatives < len(first.y):
        return False
    a, b = pooled(first.score), pooled(second.score)
    rates = [rate for rate in AT if negatives * rate >= FEWEST_ALARMS]
    gaps = recalls_at(first.y, a, rates) - recalls_at(first.y, b, rates)
    sides = sorted(
        ([rate for rate, gap in zip(rates, side * gaps, strict=True) if gap > 0], side) for side in (1, -1)
    )

    def ahead(at: Sequence[float], side: int) -> bool:
        limits = (at_fpr_difference(first.y, a, b, rate, level) for rate in at)
        return any(low > 0 if side > 0 else high < 0 for low, high, *_ in limits)

    return all(ahead(at, side) for at, side in sides)


def recalls_at(y: Floats, score: Floats, rates: Sequence[float]) -> Floats:
    """Return the recall at the last threshold whose false positive rate is within each rate."""
    tp, fp = cumulative_groups(score, y)
    return np.asarray(tp[np.searchsorted(fp, np.array(rates) * fp[-1] + 1e-9, side="right") - 1] / tp[-1])


def pooled(score: Floats) -> Floats:
    """Return scores, or their quantile groups where there are many."""
    if len(score) <= MOST_EXACT:
        return score
    edges = np.unique(np.quantile(score, np.arange(1, MOST_GROUPS) / MOST_GROUPS))
    return np.searchsorted(edges, score, side="right").astype(np.float64)


def _gaps(a: ThresholdCounts, b: ThresholdCounts, most: int) -> tuple[Floats, Floats]:
    """Return false positive rates, twice each, and the difference of the polygons just before and at each."""
    rates = np.union1d(*(_some(one.fpr, most // 2) for one in (a, b)))
    before, at = (
        function(rates, a.fpr, a.tpr) - function(rates, b.fpr, b.tpr) for function in (_lower, np.interp)
    )
    gap = np.stack([before, at], axis=1).ravel()
    gap[np.abs(gap) <= ZERO] = 0.0
    return np.repeat(rates, 2), gap


def _some(rates: Floats, most: int) -> Floats:
    if len(rates) <= most:
        return rates
    return rates[np.linspace(0, len(rates) - 1, most).round().astype(np.int64)]


def _lower(rates: Floats, x: Floats, y: Floats) -> Floats:
    """Return the lower end where the polygon rises straight up, of which `np.interp` gives the upper one."""
    first = np.minimum(np.searchsorted(x, rates, side="left"), len(x) - 1)
    return np.where(x[first] == rates, y[first], np.interp(rates, x, y))


def _turns(gap: Floats, counted: Mask) -> Iterator[tuple[int, int]]:
    """Yield the neighbours among the counted places between which the sign of a difference changes."""
    places = np.flatnonzero(counted)
    turns = np.flatnonzero(np.sign(gap[places[1:]]) != np.sign(gap[places[:-1]]))
    return zip(places[turns].tolist(), places[turns + 1].tolist(), strict=True)


def _crossings(rates: Floats, gap: Floats) -> list[float]:
    """Return where the sign of a piecewise straight difference changes."""
    crossings = []
    for i, j in _turns(gap, gap != 0):
        if j > i + 1:
            crossings.append(float(rates[i + 1]))  # the curves meet here before they part again
        else:
            share = gap[i] / (gap[i] - gap[j])
            crossings.append(float(rates[i] + share * (rates[j] - rates[i])))
    return crossings


def _clear_crossings(rates: Floats, gap: Floats) -> list[float]:
    """Return a crossing for every change from a stretch where one is clearly higher to one where the other is."""
    crossings = []
    for i, j in _turns(gap, np.abs(gap) >= CLEAR):
        between = _crossings(rates[i : j + 1], gap[i : j + 1])
        crossings.append(between[len(between) // 2])
    return crossings


def _text(record: DominanceRecord) -> Message:
    a, b = record.a, record.b
    up, down = (record.a_most, record.a_most_at), (record.b_most, record.b_most_at)
    if record.relation == "same":
        return Message("roc_curves.same", a=a, b=b)
    if record.relation != "crosses":
        upper, lower, most = (a, b, up) if record.relation == "above" else (b, a, down)
        return Message("roc_curves.above", upper=upper, lower=lower, lead=_lead(most))
    rates = _rates(record.clear_crossings if record.clear else record.crossings)
    if not record.clear:
        higher, most, other, least = (a, up, b, down) if up[0] >= down[0] else (b, down, a, up)
        leads = {"higher": higher, "lead": _lead(most), "other": other, "least": least[0]}
        return Message("roc_curves.cross_hardly", a=a, b=b, rates=rates, **leads)
    text = Message("roc_curves.cross", a=a, b=b, rates=rates, lead_of_a=_lead(up), lead_of_b=_lead(down))
    return text if record.decided else sentences(text, Message("roc_curves.not_decided"))


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
            fpr, tpr = (float(table[true, code] / rows[true]) for true in (1 - code, code))
            points[name] = (fpr, tpr)
    for name, (fpr, tpr) in points.items():
        for other in ranked.values():
            gap = tpr - float(np.interp(fpr, other.fpr, other.tpr))
            yield _point(name, other.model, gap, fpr)
    for (a, (fpr_a, tpr_a)), (b, (fpr_b, tpr_b)) in combinations(points.items(), 2):
        better, worse = (fpr_a <= fpr_b and tpr_a >= tpr_b), (fpr_a >= fpr_b and tpr_a <= tpr_b)
        if better != worse:
            upper, lower = (a, b) if better else (b, a)
            gap = tpr_a - tpr_b
            relation: Relation = "above" if better else "below"
            yield DominanceRecord(
                a=a, b=b, curve="points", relation=relation, a_most=max(gap, 0.0), b_most=max(-gap, 0.0),
                text=Message("roc_points.no_worse", upper=upper, lower=lower),
            )  # fmt: skip


def _point(a: str, b: str, gap: float, fpr: float) -> DominanceRecord:
    gap = 0.0 if abs(gap) <= ZERO else gap
    relation: Relation = "above" if gap > 0 else "below" if gap < 0 else "same"
    lead: dict[str, Value] = {"gap": abs(gap)} if gap else {}
    text = Message(f"roc_points.{relation}", a=a, b=b, rate=fpr, **lead)
    return DominanceRecord(
        a=a, b=b, curve="roc_point", relation=relation, a_most=max(gap, 0.0), b_most=max(-gap, 0.0), text=text,
        a_most_at=fpr if gap > 0 else None, b_most_at=fpr if gap < 0 else None,
    )  # fmt: skip
