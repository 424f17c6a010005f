"""Operating points: the thresholds that criteria choose on these data, with intervals for fresh examples."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np

from evalreport.engine.counts import Counts
from evalreport.engine.distributions import sample_quantiles
from evalreport.engine.parallel import mapped
from evalreport.intervals.choice import all_intervals
from evalreport.intervals.chosen_thresholds import LEAST_USED, NO_REPLICATES, on_fresh_examples
from evalreport.intervals.chosen_thresholds import rechosen as rechosen_limits
from evalreport.intervals.proportions import wilson_limits
from evalreport.metrics.chosen_threshold import (
    MOST_CHOSEN,
    Rechosen,
    all_rechosen,
    at_chosen,
    best_index,
    rechosen,
)
from evalreport.metrics.curves import by_counts, has_a_best_threshold
from evalreport.metrics.estimate import Estimate
from evalreport.metrics.evidence import AtChosen
from evalreport.metrics.metric import ClassCounts, Margins
from evalreport.metrics.registry import METRICS, Quantity, definition
from evalreport.metrics.threshold_counts import (
    Replicate,
    ThresholdCounts,
    coarse,
    precision_at_recall,
    replicates,
    tpr_at,
    visible_points,
)
from evalreport.numbers import digits_apart
from evalreport.predictions.arrays import Floats
from evalreport.questions.thresholds.records import EQUAL_ERRORS, OperatingPointRecord
from evalreport.samplings import Sampling
from evalreport.schema.metrics import Interval, limit_fields
from evalreport.texts import Message, Text, parts

ALWAYS = ("accuracy", "f1", "mcc")
"""Metrics whose best threshold is always looked for."""


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
    chosen = [
        _of_metric(name) for name in dict.fromkeys((*ALWAYS, *(n for n in named if n not in own), *own))
    ]
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


def _of_metric(name: str) -> Criterion:
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


Band = tuple[Floats, Floats]
"""Pointwise limits (T,) of the true positive rate."""


def band(resampled: CurveReplicates, units: Sampling, level: float) -> Band | None:
    """Return pointwise limits (T,) of the true positive rate at each false positive rate of the grid.

    Bootstrap percentiles, widened where they are narrower than Wilson's interval of that rate among the positives:
    a rate at a threshold fixed beforehand varies by that much alone, so a band is never of zero width. None with too
    few replicates.
    """
    used = resampled.tpr[~np.isnan(resampled.tpr).any(axis=1)]
    if len(used) < LEAST_USED:
        return None
    low, high = sample_quantiles(used, [(1 - level) / 2, (1 + level) / 2])
    if units.plain:
        positives = resampled.counts.positives
        rates = np.interp(resampled.grid, resampled.counts.fpr, resampled.counts.tpr)
        limits = [wilson_limits(rate * positives, positives, level) for rate in np.clip(rates, 0, 1)]
        low, high = np.minimum(low, [one for one, _ in limits]), np.maximum(high, [one for _, one in limits])
    return low, high


RECHOSEN = rechosen_limits.__name__
CRITERIA = frozenset({"youden", "closest_topleft", "cost"})
"""Those that are no metric."""


def _no_limits(level: float, reason: Text | None) -> Interval:
    return Interval(method="", level=level, low=None, high=None, reason=reason)


def operating_points(
    resampled: CurveReplicates,
    criteria: Sequence[Criterion],
    units: Sampling,
    limits: Band | None,
    *,
    level: float,
    eer: Estimate | None = None,
    cost_ratio: float | None = None,
    rates: FixedRates = USUAL_RATES,
) -> tuple[OperatingPointRecord, ...]:
    """Return every operating point of one ranking.

    Parameters
    ----------
    resampled
        Its replicates, in the order of ``criteria``.
    limits
        The band of its ROC curve.
    eer
        The model's equal error rate with its replicates, where the run estimates it.
    """
    counts = resampled.counts
    points = [
        _best(counts, criterion, drawn, units, level, cost_ratio)
        for criterion, drawn in zip(
            criteria, resampled.rechosen or [all_rechosen(())] * len(criteria), strict=True
        )
    ]
    points.append(_equal_errors(counts, eer, level))
    points += [_at_false_positive_rate(resampled, limits, fpr, level) for fpr in rates.alarms]
    precisions = resampled.precision or [np.empty(0)] * len(rates.finds)
    for recall, drawn in zip(rates.finds, precisions, strict=True):
        points.append(_at_recall(counts, recall, drawn, units, level))
    return tuple(points)


def _record(
    counts: ThresholdCounts, index: int, limits: Interval, *, criterion: str, metric: str, value: float,
    text: Message, at: float | None = None, details: Mapping[str, float] | None = None,
) -> OperatingPointRecord:  # fmt: skip
    return OperatingPointRecord(
        model=counts.model,
        criterion=criterion,
        metric=metric,
        at=at,
        threshold=None if index == 0 else float(counts.thresholds[index - 1]),
        value=value,
        **limit_fields(limits),
        level=limits.level,
        method=limits.method or None,
        **dict(zip(("tp", "fp", "fn", "tn"), map(float, counts.at(index)), strict=True)),
        optimistic=True,
        text=text,
        reason=limits.reason,
        details=details or {},
    )


def _where(counts: ThresholdCounts, index: int) -> Message:
    """Name a threshold."""
    if index == 0:
        return Message("operating_point.all_negative")
    every = counts.thresholds
    digits = digits_apart([float(every[0]), float(every[-1])])
    last = index == len(counts.thresholds)
    key = "operating_point.all_positive" if last else "operating_point.threshold"
    return Message(key, threshold=float(every[index - 1]), digits=digits)


# --- the best threshold by some criterion ----------------------------------------------------------------------------


def _best(
    counts: ThresholdCounts,
    criterion: Criterion,
    drawn: Rechosen,
    units: Sampling,
    level: float,
    cost_ratio: float | None,
) -> OperatingPointRecord:
    values = counts.values(criterion.value)
    index, equal = best_index(values, greater_is_better=criterion.greater_is_better)
    value = float(values[index])
    chosen = at_chosen(counts, criterion.value, index, drawn, units)
    limits = _on_fresh_examples(chosen, criterion, value, level)
    details = {"thresholds_as_good": float(equal)}
    if len(chosen.optimism):
        details["optimism"] = float(chosen.optimism.mean())
        details["expected"] = value - details["optimism"]
    slope = _slope(counts, criterion, cost_ratio)
    text = Message(
        "operating_point.best",
        model=counts.model, what=_what(criterion), value=value, threshold=_where(counts, index),
    )  # fmt: skip
    if slope is not None:
        offset = float(counts.tpr[index] - slope * counts.fpr[index])
        details |= {"slope": slope, "offset": offset}
        line = "operating_point.line_below" if offset < 0 else "operating_point.line"
        text = parts(text, Message(line, slope=slope, offset=abs(offset)))
    if limits.reason is not None and limits.low is not None:
        text = parts(text, limits.reason)
    text = Message("operating_point.sentence", text=text)
    return _record(
        counts, index, limits, criterion=criterion.name, metric=criterion.metric, value=value, text=text,
        details=details,
    )  # fmt: skip


def _slope(counts: ThresholdCounts, criterion: Criterion, cost_ratio: float | None) -> float | None:
    """Return the slope of the lines along which the criterion does not change, where they are straight."""
    slope = counts.negatives / counts.positives
    if criterion.metric == "expected_cost":
        return None if not cost_ratio else slope / cost_ratio
    if criterion.metric not in METRICS:
        return None
    computation = METRICS[criterion.metric].computation
    iso_slope = computation.iso_slope if isinstance(computation, ClassCounts | Margins) else ""
    return {"counts": slope, "rates": 1.0, "": None}[iso_slope]


def _what(criterion: Criterion) -> Message:
    if criterion.name in CRITERIA:
        return Message(f"operating_point.{criterion.name}")
    key = "operating_point.highest" if criterion.greater_is_better else "operating_point.lowest"
    return Message(key, metric=METRICS[criterion.metric].display.phrase)


def _on_fresh_examples(chosen: AtChosen, criterion: Criterion, value: float, level: float) -> Interval:
    """Return limits of this threshold's value on fresh examples, cut to the criterion's range."""
    bounds = on_fresh_examples(chosen, value, level)
    if bounds.low is None or bounds.high is None:
        return _no_limits(level, bounds.reason)
    least, most = criterion.range
    low, high = (min(max(limit, least), most) for limit in (bounds.low, bounds.high))
    return Interval(method=RECHOSEN, level=level, low=low, high=high, reason=bounds.reason)


# --- fixed points of the curve ---------------------------------------------------------------------------------------


def _equal_errors(counts: ThresholdCounts, eer: Estimate | None, level: float) -> OperatingPointRecord:
    beyond = counts.fpr + counts.tpr - 1
    last = max(int((beyond >= 0).argmax()), 1)
    share = -beyond[last - 1] / (beyond[last] - beyond[last - 1])
    value = float(counts.fpr[last - 1] + share * (counts.fpr[last] - counts.fpr[last - 1]))
    index = last if abs(beyond[last]) <= abs(beyond[last - 1]) else last - 1
    limits = _no_limits(level, Message("limits.with_metric"))
    if eer is not None and eer.defined:
        limits = all_intervals(eer, ("bootstrap_percentile",), level)[0]
    where = _where(counts, index)
    text = Message("operating_point.equal_errors", model=counts.model, value=value, threshold=where)
    return _record(counts, index, limits, criterion=EQUAL_ERRORS, metric="eer", value=value, text=text)


def _at_false_positive_rate(
    resampled: CurveReplicates, limits: Band | None, fpr: float, level: float
) -> OperatingPointRecord:
    counts = resampled.counts
    index = int(np.searchsorted(counts.fpr, fpr + 1e-12, side="right")) - 1
    value = float(np.interp(fpr, counts.fpr, counts.tpr))
    of = _no_limits(level, NO_REPLICATES)
    if limits is not None:
        low, high = (float(limit[np.searchsorted(resampled.grid, fpr)]) for limit in limits)
        of = Interval(method="bootstrap_percentile", level=level, low=low, high=high)
    where = _where(counts, index)
    text = Message("operating_point.at_fpr", model=counts.model, rate=fpr, value=value, threshold=where)
    return _record(counts, index, of, criterion="fixed_fpr", metric="recall", value=value, text=text, at=fpr)


def _at_recall(
    counts: ThresholdCounts, recall: float, replicates: Floats, units: Sampling, level: float
) -> OperatingPointRecord:
    index = int((counts.found >= recall * counts.positives * (1 - 1e-12)).argmax())
    tp, called = float(counts.found[index]), float(counts.found[index] + counts.wrong[index])
    value = tp / called
    used = replicates[~np.isnan(replicates)]
    limits = _no_limits(level, NO_REPLICATES)
    if len(used) >= LEAST_USED:
        low, high = sample_quantiles(used, [(1 - level) / 2, (1 + level) / 2])
        method = "bootstrap_percentile"
        if high - low <= 1e-12 and units.plain:
            (low, high), method = wilson_limits(tp, called, level), "wilson"
        limits = Interval(method=method, level=level, low=float(low), high=float(high))
    where = _where(counts, index)
    text = Message("operating_point.at_recall", model=counts.model, rate=recall, value=value, threshold=where)
    return _record(
        counts, index, limits, criterion="fixed_recall", metric="precision", value=value, text=text, at=recall
    )  # fmt: skip
