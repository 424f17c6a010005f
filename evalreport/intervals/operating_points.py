"""Operating points: the thresholds that criteria choose on these data, and what each may give on fresh examples."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from evalreport.curve_records import EQUAL_ERRORS, OperatingPointRecord
from evalreport.engine.tables import Counts
from evalreport.intervals.choice import all_intervals
from evalreport.intervals.curves import LEAST_USED, band
from evalreport.intervals.proportions import wilson_limits
from evalreport.metrics.curves.criteria import Criterion, best_rung
from evalreport.metrics.curves.ladder import Ladder
from evalreport.metrics.curves.tally import FIXED_FPR, FIXED_RECALL, Tally
from evalreport.metrics.estimate import Estimate
from evalreport.metrics.registry import METRICS
from evalreport.metrics.units import Units
from evalreport.numbers import digits_apart
from evalreport.texts import Message, Text, parts

Floats = npt.NDArray[np.float64]

RECHOSEN = "bootstrap_rechosen"
CRITERIA = frozenset({"youden", "closest_topleft", "cost"})
"""Those that are no metric."""
RATES = "wilson_rates"
NO_REPLICATES = Message("limits.few_with_both_classes")


@dataclass(frozen=True, slots=True)
class Limits:
    """An interval, how it was made, and why there is none (or why it is unusual)."""

    low: float | None = None
    high: float | None = None
    method: str | None = None
    reason: Text | None = None


def operating_points(
    tally: Tally,
    criteria: Sequence[Criterion],
    units: Units,
    *,
    level: float,
    eer: Estimate | None = None,
    cost_ratio: float | None = None,
) -> tuple[OperatingPointRecord, ...]:
    """Return every operating point of one ranking.

    Parameters
    ----------
    tally
        What the replicates say; in the order of ``criteria``.
    eer
        The model's equal error rate with its replicates, where the run estimates it.
    """
    ladder = tally.ladder
    found = [
        _best(ladder, criterion, drawn, units, level, cost_ratio)
        for criterion, drawn in zip(criteria, tally.optimism or [np.empty(0)] * len(criteria), strict=True)
    ]
    found.append(_equal_errors(ladder, eer, level))
    found += _at_false_positive_rates(tally, units, level)
    precisions = tally.precision or [np.empty(0)] * len(FIXED_RECALL)
    for recall, replicates in zip(FIXED_RECALL, precisions, strict=True):
        found.append(_at_recall(ladder, recall, replicates, units, level))
    return tuple(found)


def _record(
    ladder: Ladder, rung: int, limits: Limits, *, criterion: str, metric: str, value: float, level: float,
    text: Message, at: float | None = None, details: Mapping[str, float] | None = None,
) -> OperatingPointRecord:  # fmt: skip
    tp, fp, fn, tn = (float(part[rung]) for part in ladder.counts)
    return OperatingPointRecord(
        model=ladder.model,
        criterion=criterion,
        metric=metric,
        at=at,
        threshold=None if rung == 0 else float(ladder.thresholds[rung - 1]),
        value=value,
        low=limits.low,
        high=limits.high,
        level=level,
        method=limits.method,
        tp=tp,
        fp=fp,
        fn=fn,
        tn=tn,
        optimistic=True,
        text=text,
        reason=limits.reason,
        details=details or {},
    )


def _where(ladder: Ladder, rung: int) -> Message:
    """Name a threshold."""
    if rung == 0:
        return Message("operating_point.all_negative")
    every = ladder.thresholds
    digits = digits_apart([float(every[0]), float(every[-1])])
    last = rung == len(ladder.thresholds)
    key = "operating_point.all_positive" if last else "operating_point.threshold"
    return Message(key, threshold=float(every[rung - 1]), digits=digits)


# --- the best threshold by some criterion ----------------------------------------------------------------------------


def _best(
    ladder: Ladder,
    criterion: Criterion,
    optimism: Floats,
    units: Units,
    level: float,
    cost_ratio: float | None,
) -> OperatingPointRecord:
    values = criterion.value(ladder.counts)
    rung, equal = best_rung(values, greater_is_better=criterion.greater_is_better)
    value = float(values[rung])
    used = optimism[~np.isnan(optimism)]
    limits = _rechosen(ladder, criterion, rung, value, used, units, level)
    details = {"thresholds_as_good": float(equal)}
    if len(used):
        details["optimism"] = float(used.mean())
    slope = _slope(ladder, criterion, cost_ratio)
    text = Message(
        "operating_point.best",
        model=ladder.model, what=_what(criterion), value=value, threshold=_where(ladder, rung),
    )  # fmt: skip
    if slope is not None:
        offset = float(ladder.tpr[rung] - slope * ladder.fpr[rung])
        details |= {"slope": slope, "offset": offset}
        line = "operating_point.line_below" if offset < 0 else "operating_point.line"
        text = parts(text, Message(line, slope=slope, offset=abs(offset)))
    text = Message("operating_point.sentence", text=text)
    return _record(
        ladder, rung, limits, criterion=criterion.name, metric=criterion.metric, value=value, level=level,
        text=text, details=details,
    )  # fmt: skip


def _slope(ladder: Ladder, criterion: Criterion, cost_ratio: float | None) -> float | None:
    """Return the slope of the lines along which the criterion does not change, where they are straight."""
    slope = ladder.negatives / ladder.positives
    if criterion.metric == "expected_cost":
        return None if not cost_ratio else slope / cost_ratio
    if criterion.metric not in METRICS:
        return None
    return {"counts": slope, "rates": 1.0, "": None}[METRICS[criterion.metric].iso_slope]


def _what(criterion: Criterion) -> Message:
    if criterion.name in CRITERIA:
        return Message(f"operating_point.{criterion.name}")
    key = "operating_point.highest" if criterion.greater_is_better else "operating_point.lowest"
    return Message(key, metric=METRICS[criterion.metric].phrase)


def _rechosen(
    ladder: Ladder,
    criterion: Criterion,
    rung: int,
    value: float,
    optimism: Floats,
    units: Units,
    level: float,
) -> Limits:
    """Return an interval of what this threshold gives on fresh examples.

    In every replicate the threshold is chosen anew, and its value there compared with its value on the data: by so
    much a chosen value flatters. The interval is the value less the quantiles of that, as in a basic bootstrap.
    """
    if len(optimism) < LEAST_USED:
        return Limits(reason=NO_REPLICATES)
    smallest, largest = np.quantile(optimism, [(1 - level) / 2, (1 + level) / 2], method="weibull")
    least, most = criterion.range
    low, high = (min(max(value - float(by), least), most) for by in (largest, smallest))
    if high - low > 1e-12:
        return Limits(low, high, RECHOSEN)
    if not units.plain:
        return Limits(reason=Message("limits.same_threshold"))
    return _from_rates(ladder, criterion, rung, value, level)


def _from_rates(ladder: Ladder, criterion: Criterion, rung: int, value: float, level: float) -> Limits:
    """Return limits where no replicate differs: both rates at the worse end of Wilson's interval, through the
    definition.
    """
    p, n = ladder.positives, ladder.negatives
    tp = wilson_limits(float(ladder.found[rung]), p, level)[0] * p
    fp = wilson_limits(float(ladder.wrong[rung]), n, level)[1] * n
    counts = Counts(*(np.array([one]) for one in (tp, fp, p - tp, n - fp)))
    other = float(criterion.value(counts)[0])
    return Limits(min(value, other), max(value, other), RATES, Message("limits.rates"))


# --- fixed points of the curve ---------------------------------------------------------------------------------------


def _equal_errors(ladder: Ladder, eer: Estimate | None, level: float) -> OperatingPointRecord:
    beyond = ladder.fpr + ladder.tpr - 1
    last = max(int((beyond >= 0).argmax()), 1)
    share = -beyond[last - 1] / (beyond[last] - beyond[last - 1])
    value = float(ladder.fpr[last - 1] + share * (ladder.fpr[last] - ladder.fpr[last - 1]))
    rung = last if abs(beyond[last]) <= abs(beyond[last - 1]) else last - 1
    limits = Limits(reason=Message("limits.with_metric"))
    if eer is not None and eer.defined:
        first = all_intervals(eer, ("bootstrap_percentile",), level)[0]
        limits = Limits(first.low, first.high, first.method, first.reason)
    where = _where(ladder, rung)
    text = Message("operating_point.equal_errors", model=ladder.model, value=value, threshold=where)
    return _record(
        ladder, rung, limits, criterion=EQUAL_ERRORS, metric="eer", value=value, level=level, text=text
    )


def _at_false_positive_rates(tally: Tally, units: Units, level: float) -> list[OperatingPointRecord]:
    ladder, limits = tally.ladder, band(tally, units, level)
    found = []
    for fpr in FIXED_FPR:
        rung = int(np.searchsorted(ladder.fpr, fpr + 1e-12, side="right")) - 1
        value = float(np.interp(fpr, ladder.fpr, ladder.tpr))
        place = int(np.searchsorted(tally.grid, fpr))
        of = (
            Limits(reason=NO_REPLICATES)
            if limits is None
            else Limits(float(limits[0][place]), float(limits[1][place]), "bootstrap_percentile")
        )
        where = _where(ladder, rung)
        text = Message("operating_point.at_fpr", model=ladder.model, rate=fpr, value=value, threshold=where)
        found.append(
            _record(
                ladder, rung, of, criterion="fixed_fpr", metric="recall", value=value, level=level, text=text,
                at=fpr,
            )
        )  # fmt: skip
    return found


def _at_recall(
    ladder: Ladder, recall: float, replicates: Floats, units: Units, level: float
) -> OperatingPointRecord:
    rung = int((ladder.found >= recall * ladder.positives * (1 - 1e-12)).argmax())
    tp, called = float(ladder.found[rung]), float(ladder.found[rung] + ladder.wrong[rung])
    value = tp / called
    used = replicates[~np.isnan(replicates)]
    limits = Limits(reason=NO_REPLICATES)
    if len(used) >= LEAST_USED:
        low, high = np.quantile(used, [(1 - level) / 2, (1 + level) / 2], method="weibull")
        method = "bootstrap_percentile"
        if high - low <= 1e-12 and units.plain:
            (low, high), method = wilson_limits(tp, called, level), "wilson"
        limits = Limits(float(low), float(high), method)
    where = _where(ladder, rung)
    text = Message("operating_point.at_recall", model=ladder.model, rate=recall, value=value, threshold=where)
    return _record(
        ladder, rung, limits, criterion="fixed_recall", metric="precision", value=value, level=level, text=text,
        at=recall,
    )  # fmt: skip
