"""Limits of curves: bands around ROC curves, intervals of a reliability diagram's bins, risk at a coverage."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import numpy.typing as npt

from evalreport.curve_records import CurveRecord, CurveSummaryRecord
from evalreport.intervals.proportions import wilson_limits
from evalreport.metrics.curves.forecasts import rejection_area, right_at_coverage
from evalreport.metrics.curves.ladder import Forecasts
from evalreport.metrics.curves.registry import Points
from evalreport.metrics.curves.tally import Tally
from evalreport.metrics.units import Units
from evalreport.texts import Message

Floats = npt.NDArray[np.float64]

LEAST_USED = 50
"""With fewer replicates that hold both classes there is no band."""

COVERAGES = (0.9, 0.8, 0.5)
"""Shares of the examples answered at which the risk is stated."""


def band(tally: Tally, units: Units, level: float) -> tuple[Floats, Floats] | None:
    """Return pointwise limits (T,) of the true positive rate at each false positive rate of the grid.

    Bootstrap percentiles, widened where they are narrower than Wilson's interval of that rate among the positives:
    a rate at a threshold fixed beforehand varies by that much alone, so a band is never of zero width. None with too
    few replicates.
    """
    used = tally.tpr[~np.isnan(tally.tpr).any(axis=1)]
    if len(used) < LEAST_USED:
        return None
    low, high = np.quantile(used, [(1 - level) / 2, (1 + level) / 2], axis=0, method="weibull")
    if units.plain:
        positives = tally.ladder.positives
        rates = np.interp(tally.grid, tally.ladder.fpr, tally.ladder.tpr)
        limits = [wilson_limits(rate * positives, positives, level) for rate in np.clip(rates, 0, 1)]
        low, high = np.minimum(low, [one for one, _ in limits]), np.maximum(high, [one for _, one in limits])
    return low, high


def with_band(record: CurveRecord, tally: Tally, units: Units, level: float) -> CurveRecord:
    """Put the band beside an ROC curve, read at the curve's own false positive rates."""
    limits = band(tally, units, level)
    if limits is None:
        return record
    low, high = (tuple(np.interp(record.x, tally.grid, side).tolist()) for side in limits)
    return replace(record, low=low, high=high, band="pointwise")


def with_bin_limits(record: CurveRecord, points: Points, units: Units, level: float) -> CurveRecord:
    """Put Wilson's interval of the share that came true beside each bin; none where examples are not independent."""
    if points.count is None or points.successes is None or not units.plain:
        return record
    limits = [
        wilson_limits(float(x), float(n), level) for x, n in zip(points.successes, points.count, strict=True)
    ]
    low, high = (tuple(one[side] for one in limits) for side in (0, 1))
    return replace(record, low=low, high=high, band="pointwise")


def rejection_summaries(given: Forecasts, units: Units, level: float) -> tuple[CurveSummaryRecord, ...]:
    """Return the area under the accuracy-rejection curve, and the risk at fixed coverages with Wilson's interval."""
    if given.confidence is None:
        return ()
    kept, right = given.kept_and_right[1:]
    total = float(kept[-1])
    area = rejection_area(kept, right)
    found = [CurveSummaryRecord(given.model, "accuracy_rejection", None, "area", None, area)]
    for coverage in COVERAGES:
        n = coverage * total
        wrong = n - float(right_at_coverage(kept, right, np.array([coverage]))[0])
        low, high = wilson_limits(min(max(wrong, 0.0), n), n, level) if units.plain else (None, None)
        found.append(
            CurveSummaryRecord(
                given.model, "accuracy_rejection", None, "risk", coverage, wrong / n, low, high,
                None if low is None else level, None if low is None else "wilson",
                None if units.plain else Message("limits.not_binomial"),
            )
        )  # fmt: skip
    return tuple(found)
