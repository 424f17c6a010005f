"""Intervals from influence values: normal, Student's t, and those of the area under the ROC curve."""

from __future__ import annotations

import math

import numpy as np

from evalreport.engine.distributions import root, t_quantile
from evalreport.intervals.proportions import quantile
from evalreport.intervals.registry import Bounds, interval
from evalreport.metrics.estimate import Estimate

NOT_SMOOTH = Bounds(None, None, "not a smooth function of the examples: no influence values")
NO_SPREAD = "every example has the same influence: the standard error is 0, so this interval has no width"


@interval(
    "Normal approximation", "smooth", source="delta method by influence values; Efron (1982), chapter 6"
)
def normal(estimate: Estimate, level: float) -> Bounds:
    """Value plus or minus z standard errors, the standard error from influence values with divisor n (Wald)."""
    if estimate.derivative is None:
        return NOT_SMOOTH
    error = estimate.standard_error
    if error is None:
        return Bounds(None, None, "one cluster: no estimate of the spread")
    half = quantile(level) * error
    return Bounds(estimate.value - half, estimate.value + half, NO_SPREAD if error == 0 else None)


@interval("Student's t", "mean", source="Student (1908), Biometrika 6:1")
def t(estimate: Estimate, level: float) -> Bounds:
    """Mean plus or minus t standard errors, n - 1 degrees of freedom (G - 1 with clusters)."""
    if estimate.derivative is None:
        return NOT_SMOOTH
    error = estimate.corrected_error
    if error is None:
        return Bounds(None, None, "one example (or one cluster): no estimate of the spread")
    half = t_quantile((1 + level) / 2, estimate.n_units - 1) * error
    return Bounds(estimate.value - half, estimate.value + half, NO_SPREAD if error == 0 else None)


MOST_BY_CONVENTION = 0.05
"""Above this share of folds on which a metric is 0/0, their mean does not stand for the value of all of them."""

FAR_FROM_POOLED = (
    "the mean over folds is so far from the value of all folds together that its interval leaves that out: the folds"
    " are too small for this metric"
)


@interval("Corrected t over folds", "fits", source="Nadeau and Bengio (2003), Mach Learn 52:239, equation 11")
def corrected_t(estimate: Estimate, level: float) -> Bounds:
    """Mean over folds plus or minus t errors whose variance has the factor 1/J + n_test/n_train for shared training."""
    assert estimate.fits is not None
    values, ratio = estimate.fits.values, estimate.fits.test_train_ratio
    if len(values) < 2 or np.isnan(values).any():
        if estimate.fits.n_test.max() <= 1:
            return Bounds(None, None, "a fold of one example has no value of this metric")
        return Bounds(None, None, "fewer than two folds, or a fold in which the value is undefined")
    if estimate.fits.by_convention > MOST_BY_CONVENTION * len(values) and not estimate.is_difference:
        share = f"{estimate.fits.by_convention} of {len(values)} folds"
        return Bounds(
            None, None, f"0/0 on {share}, which count 0: their mean is too low to stand for the value"
        )
    error = math.sqrt((1 / len(values) + ratio) * float(values.var(ddof=1)))
    half = t_quantile((1 + level) / 2, len(values) - 1) * error
    centre = float(values.mean())
    if not estimate.is_difference and abs(estimate.value - centre) > half > 0:
        return Bounds(None, None, FAR_FROM_POOLED)
    return Bounds(centre - half, centre + half)


FEW_OF_A_CLASS = Bounds(None, None, "fewer than two examples of a class: no variance of the placements")


@interval("DeLong", "auc", source="DeLong, DeLong and Clarke-Pearson (1988), Biometrics 44:837")
def delong(estimate: Estimate, level: float) -> Bounds:
    """Area under the ROC curve plus or minus z standard errors of the placement values."""
    error = estimate.delong_error
    if error is None:
        return FEW_OF_A_CLASS
    half = quantile(level) * error
    reason = "the placement values have no spread: this interval has no width" if error == 0 else None
    return Bounds(estimate.value - half, estimate.value + half, reason)


@interval("DeLong on the logit scale", "auc", source="Qin and Hotilovac (2008), Stat Methods Med Res 17:207")
def logit(estimate: Estimate, level: float) -> Bounds:
    """Area under the ROC curve: DeLong's standard error on the logit scale, mapped back."""
    error, value = estimate.delong_error, estimate.value
    if error is None:
        return FEW_OF_A_CLASS
    if not 0 < value < 1 or error == 0:
        return Bounds(
            None, None, "the logit is infinite at an area of 0 or 1, and has no width without spread"
        )
    centre = math.log(value / (1 - value))
    half = quantile(level) * error / (value * (1 - value))
    return Bounds(1 / (1 + math.exp(half - centre)), 1 / (1 + math.exp(-half - centre)))


@interval("Newcombe's score interval", "auc", source="Newcombe (2006), Stat Med 25:559, method 5")
def newcombe_auc(estimate: Estimate, level: float) -> Bounds:
    """Area under the ROC curve: all values whose own (exponential-model) variance does not reject the observed one."""
    assert estimate.positive is not None
    p = int(estimate.positive.sum())
    n = int(len(estimate.positive) - p)
    z, value, mean_size = quantile(level), estimate.value, (p + n) / 2 - 1

    def excess(area: float) -> float:
        variance = area * (1 - area) / (p * n)
        variance *= 1 + mean_size * ((1 - area) / (2 - area) + area / (1 + area))
        return (value - area) ** 2 - z * z * variance

    # At 0 and 1 the value itself is a root; the limit is the other one.
    low = 0.0 if value == 0 else root(excess, 0, min(value, 1 - 1e-12), tolerance=1e-14)
    high = 1.0 if value == 1 else root(excess, max(value, 1e-12), 1, tolerance=1e-14)
    return Bounds(low, high)
