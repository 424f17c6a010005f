"""Bootstrap intervals, all from the same replicates; the acceleration comes from influence values, not n refits."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
from scipy import special

from evalreport.intervals.normal import NOT_SMOOTH
from evalreport.intervals.proportions import quantile
from evalreport.intervals.registry import Bounds, interval
from evalreport.metrics.estimate import Estimate
from evalreport.texts import Message

Floats = npt.NDArray[np.float64]

NO_WIDTH = Message("limits.bootstrap_no_width")


def _quantiles(estimate: Estimate, probabilities: Floats) -> tuple[float, float] | None:
    """Return order statistics at (B + 1) p, interpolated (Davison and Hinkley 1997, section 5.2.1)."""
    if estimate.replicates is None or len(estimate.replicates_used) < 2:
        return None
    low, high = np.quantile(estimate.replicates_used, probabilities, method="weibull")
    return float(low), float(high)


def _why_not(estimate: Estimate) -> Bounds:
    """Say why there are no bootstrap limits."""
    if estimate.replicates is None:
        return Bounds(None, None, Message("limits.not_resampled"))
    return Bounds(None, None, Message("limits.few_replicates"))


def _equal_tails(level: float) -> Floats:
    return np.array([(1 - level) / 2, (1 + level) / 2])


@interval(
    "Bootstrap percentile", "bootstrap", source="Efron (1979); Davison and Hinkley (1997), section 5.3.1"
)
def bootstrap_percentile(estimate: Estimate, level: float) -> Bounds:
    """Quantiles of the bootstrap replicates."""
    limits = _quantiles(estimate, _equal_tails(level))
    if limits is None:
        return _why_not(estimate)
    return Bounds(*limits, NO_WIDTH if limits[0] == limits[1] else None)


@interval("Basic bootstrap", "bootstrap", source="Davison and Hinkley (1997), equation 5.6")
def bootstrap_basic(estimate: Estimate, level: float) -> Bounds:
    """Quantiles of the replicates, reflected at the value; covers badly near a boundary."""
    limits = _quantiles(estimate, _equal_tails(level))
    if limits is None:
        return _why_not(estimate)
    low, high = 2 * estimate.value - limits[1], 2 * estimate.value - limits[0]
    return Bounds(low, high, NO_WIDTH if low == high else None)


@interval("Bootstrap normal", "bootstrap", source="Davison and Hinkley (1997), equation 5.5")
def bootstrap_normal(estimate: Estimate, level: float) -> Bounds:
    """Bias-corrected value plus or minus z standard deviations of the replicates."""
    if estimate.replicates is None or len(estimate.replicates_used) < 2:
        return _why_not(estimate)
    centre = 2 * estimate.value - float(estimate.replicates_used.mean())
    half = quantile(level) * float(estimate.replicates_used.std(ddof=1))
    return Bounds(centre - half, centre + half, NO_WIDTH if half == 0 else None)


@interval(
    "Bootstrap BCa",
    "bootstrap",
    source="Efron (1987), J Am Stat Assoc 82:171; Efron and Tibshirani (1993), equations 14.9 to 14.15",
)
def bootstrap_bca(estimate: Estimate, level: float) -> Bounds:
    """Quantiles of the replicates, corrected for bias and for acceleration (skewness of the influence values)."""
    if estimate.derivative is None:
        return NOT_SMOOTH
    if estimate.replicates is None or len(estimate.replicates_used) < 2:
        return _why_not(estimate)
    acceleration = estimate.acceleration
    if acceleration is None:
        percentile = bootstrap_percentile(estimate, level)
        return Bounds(percentile.low, percentile.high, percentile.reason or Message("limits.no_acceleration"))
    share = _share_below(estimate)
    if not 0 < share < 1:
        return Bounds(None, None, Message("limits.infinite_bias"))
    z0 = special.ndtri(share)
    z = z0 + np.array([-1, 1]) * quantile(level)
    # Where a z reaches 1 the corrected point has run off to infinity; beyond, the formula would come back from the
    # other side.
    stretch = 1 - acceleration * z
    corrected = np.where(stretch > 0, z / np.where(stretch > 0, stretch, 1), np.copysign(np.inf, z))
    adjusted = special.ndtr(z0 + corrected)
    limits = _quantiles(estimate, adjusted)
    assert limits is not None
    return Bounds(*limits, NO_WIDTH if limits[0] == limits[1] else None)


def _share_below(estimate: Estimate) -> float:
    """Share of replicates below the value; those equal to it, up to rounding, count half."""
    used = estimate.replicates_used
    tied = np.isclose(used, estimate.value, rtol=1e-12, atol=1e-14)
    return float(((used < estimate.value) & ~tied).mean() + tied.mean() / 2)
