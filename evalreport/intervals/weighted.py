"""The interval of a value in a bounded range whose examples weigh differently."""

from __future__ import annotations

from evalreport.engine.counts import by_kurtosis
from evalreport.engine.distributions import logit_limits, t_quantile
from evalreport.intervals.rankings import NEGLIGIBLE
from evalreport.intervals.registry import Bounds, interval
from evalreport.intervals.student import NO_SPREAD
from evalreport.metrics.estimate import Estimate


@interval(
    "Logit under weights",
    of=Estimate,
    needs=("some_interval", "one_task", "no_gold", "one_set", "influence", "weights", "bounded"),
    source="Qin and Hotilovac (2008), Stat Methods Med Res 17:207, for the area under the ROC curve; degrees of freedom"
    " by the kurtosis: Satterthwaite (1946), Biometrics Bull 2:110; the combination is our own (docs/coverage.md)",
)
def weighted_logit(estimate: Estimate, level: float) -> Bounds:
    """Value in a bounded range on the logit scale, mapped back: Student's t of the weighted influence values.

    With s the value's place in its range [lo, hi] the limits of log(s / (1 - s)) are t errors away, the error being
    that of the value over (hi - lo) s (1 - s). The degrees of freedom are those of ``weighted_t``, or
    2 u / (kurtosis - 1) of the u examples' or clusters' weighted influence values where these are fewer.
    """
    student, (low, high) = estimate.student, estimate.range
    if student is None:
        return Bounds(None, None, estimate.sampling.alone)
    share, error = (estimate.value - low) / (high - low), student.error / (high - low)
    if error == 0 or min(share, 1 - share) <= NEGLIGIBLE:
        same = NO_SPREAD if estimate.sampling.limits_if_same else estimate.sampling.same
        return Bounds(None, None, same)
    df, kurtosis = student.df, estimate.kurtosis
    if kurtosis is not None:
        df = by_kurtosis(df, estimate.sampling.n_units, kurtosis)
    half = t_quantile((1 + level) / 2, df) * error / (share * (1 - share))
    least, most = logit_limits(share, half)
    return Bounds(low + (high - low) * least, low + (high - low) * most)
