"""How thresholds are chosen, and the decisions that another one changes."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np

from evalreport.engine.counts import Counts
from evalreport.engine.distributions import log
from evalreport.engine.parallel import mapped
from evalreport.metrics.chosen_threshold import MOST_CHOSEN, Rechosen, all_rechosen, rechosen
from evalreport.metrics.curves import by_counts, has_a_best_threshold
from evalreport.metrics.metric import ClassCounts
from evalreport.metrics.registry import METRICS, Quantity, definition
from evalreport.metrics.sample import Sample
from evalreport.metrics.threshold_counts import (
    Replicate,
    ThresholdCounts,
    coarse,
    precision_at_recall,
    replicates,
    tpr_at,
    visible_points,
)
from evalreport.predictions.arrays import Floats
from evalreport.predictions.table import ModelOutputs
from evalreport.questions.thresholds.records import CurveSummaryRecord, ThresholdChangeRecord
from evalreport.samplings import Sampling
from evalreport.texts import Message

ALWAYS = ("accuracy", "f1", "mcc")


@dataclass(frozen=True, slots=True)
class FixedRates:
    """False positive rates at which the recall is stated, and recalls at which the precision is."""

    alarms: tuple[float, ...] = (0.01, 0.05, 0.1, 0.2)
    finds: tuple[float, ...] = (0.9, 0.6, 0.3)

    def along_with(self, *, alarms: Sequence[float], finds: Sequence[float]) -> FixedRates:
        """Return these with further rates."""
        return FixedRates(
            tuple(sorted({*self.alarms, *alarms})), tuple(sorted({*self.finds, *finds}, reverse=True))
        )


USUAL_RATES = FixedRates()

MOST_IN_GRID = 120
MOST_BANDS = 60
"""With more curves than this (many classes) none has a band."""


def has_bands(rankings: Sequence[ThresholdCounts]) -> bool:
    """Say whether ROC curves have bands: not those of the classes of several models, which charts show without."""
    of_classes = any(one.label is not None for one in rankings)
    return len(rankings) <= MOST_BANDS and (not of_classes or len({one.model for one in rankings}) == 1)


@dataclass(frozen=True, slots=True)
class Criterion:
    """A way to choose the best threshold.

    Attributes
    ----------
    name
        ``best`` (of a metric), ``youden``, ``closest_topleft`` or ``cost``.
    metric
        What the value is: a registered metric, ``distance`` or ``expected_cost``.
    value
        Function of ``Counts``, each (g + 1, ...), returning (g + 1, ...).
    greater_is_better
        Whether the greatest value is the best.
    range
        Smallest and largest possible value.
    """

    name: str
    metric: str
    value: Callable[[Counts], Floats]
    greater_is_better: bool = True
    range: tuple[float, float] = (0.0, 1.0)


def criteria(quantities: Sequence[Quantity], cost_ratio: float | None) -> tuple[Criterion, ...]:
    """Return the criteria of a run: the usual ones, the metrics that were named, and the cost where it is given.

    Parameters
    ----------
    quantities
        Those that the user named; empty where none was.
    cost_ratio
        Cost of a false negative over that of a false positive.
    """
    named = [q.metric for q in quantities if has_a_best_threshold(definition(q))]
    own = [name for name in METRICS if _criterion_of(name)]
    chosen = [_best(name) for name in dict.fromkeys((*ALWAYS, *(n for n in named if n not in own), *own))]
    chosen.append(Criterion("closest_topleft", "distance", _distance, False, (0.0, float(np.sqrt(2)))))
    if cost_ratio is not None:
        chosen.append(
            Criterion(
                "cost",
                "expected_cost",
                lambda c: np.asarray((c.fp + cost_ratio * c.fn) / (c.tp + c.fp + c.fn + c.tn)),
                False,
                (0.0, max(1.0, cost_ratio)),
            )
        )
    return tuple(chosen)


def _best(name: str) -> Criterion:
    metric = METRICS[name]
    limits = metric.scale.range_of("binary")
    better = bool(metric.scale.greater_is_better)
    return Criterion(_criterion_of(name) or "best", name, partial(by_counts, name), better, limits)


def _criterion_of(name: str) -> str:
    """Return the name in the results of the threshold where a metric is best; empty where it has none of its own."""
    computation = METRICS[name].computation
    return computation.criterion if isinstance(computation, ClassCounts) else ""


def _share(part: Floats, rest: Floats) -> Floats:
    whole = part + rest
    return np.asarray(part / np.where(whole.real > 0, whole, 1))


def _distance(c: Counts) -> Floats:
    """Distance of the point (FPR, TPR) from (0, 1), a perfect classifier."""
    return np.asarray(np.sqrt(_share(c.fp, c.tn) ** 2 + _share(c.fn, c.tp) ** 2))


@dataclass(frozen=True, slots=True)
class CurveReplicates:
    """Bootstrap replicates of one ranking's curve and operating points.

    Attributes
    ----------
    counts
        The ranking.
    grid
        (T,) false positive rates, rising.
    tpr
        (B, T) true positive rates there, nan where a replicate lacks a class; (0, T) without replicates.
    rechosen
        By criterion: the thresholds chosen anew on B' replicates.
    precision
        By recall, (B',): the precision at the highest threshold that reaches it.
    """

    counts: ThresholdCounts
    grid: Floats
    tpr: Floats
    rechosen: tuple[Rechosen, ...]
    precision: tuple[Floats, ...]


def curve_replicates(
    rankings: Sequence[ThresholdCounts],
    units: Sampling,
    criteria: Sequence[Criterion],
    *,
    n_resamples: int,
    seed: int,
    rates: FixedRates = USUAL_RATES,
) -> tuple[CurveReplicates, ...]:
    """Resample every ranking that has a band by the same draws; for several classes only the bands.

    Parameters
    ----------
    n_resamples
        Bootstrap replicates B.
    """
    cut = [coarse(one) for one in rankings]
    grids = [grid_of(one, rates) for one in rankings]
    blocks: list[list[CurveReplicates]] = [[] for _ in cut]

    def of_block(task: tuple[int, Callable[[], Replicate], Sequence[Criterion]]) -> CurveReplicates:
        number, draw, chosen_by = task
        drawn = draw()
        return CurveReplicates(
            rankings[number],
            grids[number],
            tpr_at(drawn, grids[number]),
            tuple(
                rechosen(criterion.value, cut[number], drawn, greater_is_better=criterion.greater_is_better)
                for criterion in chosen_by
            ),
            tuple(precision_at_recall(drawn, recall) for recall in rates.finds if chosen_by),
        )

    def work() -> Iterator[tuple[int, Callable[[], Replicate], Sequence[Criterion]]]:
        done = 0
        for size, block in replicates(cut, units, n_resamples, seed=seed):
            for number, drawn in enumerate(block):
                yield number, drawn, criteria if done < MOST_CHOSEN and rankings[number].label is None else ()
            done += size

    if has_bands(rankings):
        for number, curves in enumerate(mapped(of_block, work())):
            blocks[number % len(cut)].append(curves)
    return tuple(
        _joined(one, grid, of_one) for one, grid, of_one in zip(rankings, grids, blocks, strict=True)
    )


def _joined(counts: ThresholdCounts, grid: Floats, blocks: Sequence[CurveReplicates]) -> CurveReplicates:
    """Join the blocks; thresholds were chosen in the first ones alone."""
    tpr = np.concatenate([np.empty((0, len(grid))), *(block.tpr for block in blocks)])
    chosen = zip(*(block.rechosen for block in blocks if block.rechosen), strict=True)
    precise = zip(*(block.precision for block in blocks if block.precision), strict=True)
    return CurveReplicates(
        counts, grid, tpr, tuple(map(all_rechosen, chosen)), tuple(map(np.concatenate, precise))
    )


def grid_of(counts: ThresholdCounts, rates: FixedRates = USUAL_RATES) -> Floats:
    """Return the false positive rates at which the band is taken: where the curve bends, and the fixed ones."""
    bends = counts.fpr[visible_points(counts.fpr, counts.tpr, MOST_IN_GRID)]
    return np.unique(np.concatenate([bends, rates.alarms]))


DIGITS = 15
"""Of a threshold that was given."""


def threshold_changes(sample: Sample, threshold: float | None) -> tuple[ThresholdChangeRecord, ...]:
    """Return the decisions of each model that would change at another ``threshold``.

    Parameters
    ----------
    threshold
        Of the positive class's probability; of the score where a model gives no probabilities. None: not task for.
    """
    predictions = sample.predictions
    if threshold is None or predictions.task != "binary":
        return ()
    if predictions.y_true is None or predictions.positive is None:
        return ()
    positive = predictions.y_true == predictions.positive_code
    return tuple(
        _change(outputs, positive, predictions.positive_code, sample.units.base, threshold)
        for outputs in predictions.models
    )


def _change(
    outputs: ModelOutputs,
    positive: np.ndarray[tuple[int, ...], np.dtype[np.bool_]],
    code: int,
    weights: np.ndarray[tuple[int, ...], np.dtype[np.float64]],
    threshold: float,
) -> ThresholdChangeRecord:
    score = outputs.score if outputs.proba is None else outputs.proba[:, code]
    name = outputs.name
    if score is None or outputs.present is not None:
        why = Message("threshold_change.labels_only")
        text = Message("threshold_change.sentence", model=name, reason=why)
        return ThresholdChangeRecord(model=name, threshold=threshold, text=text, reason=why)
    after = score >= threshold
    tp, fp, fn, tn = (
        float(weights[part].sum())
        for part in (after & positive, after & ~positive, ~after & positive, ~after & ~positive)
    )
    if outputs.y_pred is None:
        text = Message(
            "threshold_change.raised",
            model=name, threshold=threshold, digits=DIGITS, n=tp + fp, wrong=fp, missed=fn,
        )  # fmt: skip
        why = Message("threshold_change.no_decisions")
        return ThresholdChangeRecord(
            model=name, threshold=threshold, tp=tp, fp=fp, fn=fn, tn=tn, text=text, reason=why
        )
    before = outputs.y_pred == code
    false_alarms = float(weights[before & ~positive].sum()) - fp
    hits = float(weights[before & positive].sum()) - tp
    changed = float(weights[before != after].sum())
    return ThresholdChangeRecord(
        model=name,
        threshold=threshold,
        changed=changed,
        fewer_alarms=false_alarms + hits,
        fewer_false_alarms=false_alarms,
        fewer_hits=hits,
        tp=tp,
        fp=fp,
        fn=fn,
        tn=tn,
        text=_sentence(name, threshold, changed, false_alarms, hits),
    )


def _sentence(name: str, threshold: float, changed: float, false_alarms: float, hits: float) -> Message:
    if not changed:
        return Message("threshold_change.none", model=name, threshold=threshold, digits=DIGITS)
    fewer = false_alarms + hits
    sign = -1 if fewer < 0 or (fewer == 0 and hits < 0) else 1
    sides = Message("threshold_change.sides", n=changed)
    direction = "threshold_change.fewer_alarms" if sign > 0 else "threshold_change.more_alarms"
    alarms = Message(direction, n=abs(fewer))
    if sign * false_alarms < 0 or sign * hits < 0:
        # Decisions that no threshold on this score gives may change both ways.
        return Message(
            "threshold_change.both_ways", model=name, threshold=threshold, digits=DIGITS,
            sides=sides, alarms=alarms, wrong=_change_of(-false_alarms), right=_change_of(-hits),
        )  # fmt: skip
    return Message(
        "threshold_change.one_way", model=name, threshold=threshold, digits=DIGITS,
        sides=sides, alarms=alarms, wrong=abs(false_alarms), right=abs(hits),
    )  # fmt: skip


def _change_of(n: float) -> Message:
    return Message("threshold_change.more" if n > 0 else "threshold_change.fewer", n=abs(n))


AT = (0.9, 0.8)
"""Partial areas are taken where specificity, or sensitivity, is at least this."""

FIRST = (0.1, 0.2)
"""Shares of the examples at which gain and lift are stated."""


def ranking_summaries(counts: ThresholdCounts) -> tuple[CurveSummaryRecord, ...]:
    """Return the numbers of a ranking's curves."""
    fpr, tpr = counts.fpr, counts.tpr
    summaries: list[CurveSummaryRecord] = []

    def add(curve: str, quantity: str, at: float | None, value: float) -> None:
        summaries.append(
            CurveSummaryRecord(
                model=counts.model, curve=curve, label=counts.label, quantity=quantity, at=at, value=value
            )
        )

    for at in AT if counts.label is None else ():
        # For sensitivity the classes change places: the curve is read from its other end.
        for side, x, y in (("specificity", fpr, tpr), ("sensitivity", 1 - tpr[::-1], 1 - fpr[::-1])):
            area = partial_area(x, y, 1 - at)
            add("roc", f"partial_area_{side}", at, area)
            add("roc", f"partial_auc_{side}", at, standardised(area, 1 - at))
    corners = counts.hull
    add("roc_hull", "area", None, float(np.trapezoid(tpr[corners], fpr[corners])))
    add("pr", "area_interpolated", None, interpolated_area(counts))
    if counts.label is None:
        called = (counts.found + counts.wrong) / (counts.positives + counts.negatives)
        for share in FIRST:
            caught = float(np.interp(share, called, tpr))
            add("gain", "found", share, caught)
            add("lift", "lift", share, caught / share)
    return tuple(summaries)


def partial_area(x: Floats, y: Floats, limit: float) -> float:
    """Return the area under a polygon from x = 0 to ``limit``; straight lines join the points.

    ``x`` (g,) rises from 0 and reaches ``limit``; ``y`` (g,) are the heights.
    """
    inside = int(np.searchsorted(x, limit, side="right"))
    end = float(np.interp(limit, x, y))
    xs, ys = np.concatenate([x[:inside], [limit]]), np.concatenate([y[:inside], [end]])
    return float(np.trapezoid(ys, xs))


def standardised(area: float, width: float) -> float:
    """Put a partial area on McClish's (1989) scale: 1/2 for guessing, 1 at best."""
    least, most = width * width / 2, width
    return (1 + (area - least) / (most - least)) / 2


def interpolated_area(counts: ThresholdCounts) -> float:
    """Return the area under the precision-recall curve with false positives rising in line between thresholds.

    Between two thresholds with h = change of FP by change of TP, precision at TP = x is x / (x (1 + h) + c), c = FP - h
    TP: its integral is closed (Davis and Goadrich 2006; Keilwagen, Grosse and Grau 2014).
    """
    before = np.flatnonzero(counts.found[1:] > counts.found[:-1])
    tp0, tp1, fp0, fp1 = (
        part[corner] for part in (counts.found, counts.wrong) for corner in (before, before + 1)
    )
    h = (fp1 - fp0) / (tp1 - tp0)
    c, slope = fp0 - h * tp0, 1 + h
    # The first piece begins at 0 with c = 0: precision is 1 / (1 + h) along it.
    logs = log((slope * tp1 + c) / np.where(slope * tp0 + c > 0, slope * tp0 + c, 1))
    logs = np.where((tp0 == 0) & (fp0 == 0), 0.0, logs)
    return float(((tp1 - tp0) / slope - c / slope**2 * logs).sum() / counts.positives)
