"""Operating points: the thresholds that criteria choose on these data, with intervals for fresh examples."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial

import numpy as np

from evalreport.engine.distributions import sample_quantiles
from evalreport.intervals.choice import all_intervals
from evalreport.intervals.chosen_thresholds import LEAST_USED, NO_REPLICATES, on_fresh_examples, rechosen
from evalreport.intervals.proportions import wilson_limits
from evalreport.metrics.chosen_threshold import Rechosen, all_rechosen, at_chosen, best_index
from evalreport.metrics.curves import Points, rejection_area, right_at_coverage
from evalreport.metrics.estimate import Estimate
from evalreport.metrics.evidence import AtChosen
from evalreport.metrics.metric import ClassCounts, Margins
from evalreport.metrics.operating_points import USUAL_RATES, Criterion, CurveReplicates, FixedRates
from evalreport.metrics.registry import METRICS
from evalreport.metrics.threshold_counts import Forecasts, ThresholdCounts
from evalreport.numbers import digits_apart
from evalreport.predictions.arrays import Floats
from evalreport.questions.thresholds.records import (
    EQUAL_ERRORS,
    CurveRecord,
    CurveSummaryRecord,
    OperatingPointRecord,
)
from evalreport.samplings import Sampling
from evalreport.schema.metrics import Interval, limit_fields
from evalreport.texts import Message, Text, parts

COVERAGES = (0.9, 0.8, 0.5)
"""Shares of the examples answered at which the risk is stated."""


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


def with_band(record: CurveRecord, grid: Floats, limits: Band) -> CurveRecord:
    """Add the band, limits (T,) at rates (T,), to an ROC curve, read at the curve's own false positive rates."""
    low, high = (tuple(np.interp(record.x, grid, side).tolist()) for side in limits)
    return replace(record, low=low, high=high, band="pointwise")


def with_bin_limits(record: CurveRecord, points: Points, units: Sampling, level: float) -> CurveRecord:
    """Add Wilson's interval of the observed frequency to each bin; none where examples are not independent."""
    if points.count is None or points.successes is None or not units.plain:
        return record
    limits = [
        wilson_limits(float(x), float(n), level) for x, n in zip(points.successes, points.count, strict=True)
    ]
    low, high = (tuple(one[side] for one in limits) for side in (0, 1))
    return replace(record, low=low, high=high, band="pointwise")


def rejection_summaries(given: Forecasts, units: Sampling, level: float) -> tuple[CurveSummaryRecord, ...]:
    """Return the area under the accuracy-rejection curve, and the risk at fixed coverages with Wilson's interval."""
    if given.confidence is None:
        return ()
    kept, right = given.kept_and_right[1:]
    total = float(kept[-1])
    area = rejection_area(kept, right)
    of_curve = partial(CurveSummaryRecord, model=given.model, curve="accuracy_rejection", label=None)
    records = [of_curve(quantity="area", value=area, at=None)]
    for coverage in COVERAGES:
        n = coverage * total
        wrong = n - float(right_at_coverage(kept, right, np.array([coverage]))[0])
        risk = of_curve(quantity="risk", at=coverage, value=wrong / n, reason=Message("limits.not_binomial"))
        if units.plain:
            low, high = wilson_limits(min(max(wrong, 0.0), n), n, level)
            risk = replace(risk, low=low, high=high, level=level, method="wilson", reason=None)
        records.append(risk)
    return tuple(records)


RECHOSEN = rechosen.__name__
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
    for recall, replicates in zip(rates.finds, precisions, strict=True):
        points.append(_at_recall(counts, recall, replicates, units, level))
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
