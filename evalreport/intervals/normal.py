"""Intervals by the normal or Student's distribution, by the bootstrap, and over blocks."""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import partial

import numpy as np
from scipy import special

from evalreport.engine.distributions import logit_limits, root, sample_quantiles
from evalreport.engine.ranks import LARGEST_EXACT, equalised, signed_rank_distribution, signed_rank_tail
from evalreport.intervals.proportions import quantile
from evalreport.intervals.registry import OF_AREAS, REPLICATES, Bounds, evidence_of, interval
from evalreport.intervals.student import NO_SPREAD, NOT_SMOOTH, half_width
from evalreport.metrics.counted_rows import MOST_EXPANDED, TooManyRowsError
from evalreport.metrics.difference import Difference
from evalreport.metrics.estimate import Estimate
from evalreport.metrics.evidence import PairedRanking, Ranking
from evalreport.predictions.arrays import Floats
from evalreport.samplings.folds import over_folds
from evalreport.texts import Message


@interval(
    "Normal approximation",
    needs=("some_interval",),
    source="delta method by influence values; Efron (1982), chapter 6",
)
def normal(estimate: Estimate | Difference, level: float) -> Bounds:
    """Value plus or minus z standard errors, the standard error from influence values with divisor n (Wald)."""
    if estimate.influence is None:
        return NOT_SMOOTH
    error = estimate.standard_error
    if error is None:
        return Bounds(None, None, estimate.sampling.alone)
    half = quantile(level) * error
    return Bounds(estimate.value - half, estimate.value + half, NO_SPREAD if error == 0 else None)


MOST_BY_CONVENTION = 0.05
"""Above this share of folds with a metric of 0/0, the mean over folds is no estimate of their pooled value."""


@interval(
    "Corrected t over folds",
    needs=("folds", "train_size"),
    source="Nadeau and Bengio (2003), Mach Learn 52:239, equation 11",
)
def corrected_t(estimate: Estimate | Difference, level: float) -> Bounds:
    """Mean over folds plus or minus t errors whose variance has the factor 1/J + n_test/n_train for shared training."""
    assert estimate.fits is not None
    values = estimate.fits.values
    if len(values) < 2 or np.isnan(values).any():
        if estimate.fits.n_test.max() <= 1:
            return Bounds(None, None, Message("limits.fold_of_one"))
        return Bounds(None, None, Message("limits.few_folds"))
    if estimate.fits.by_convention > MOST_BY_CONVENTION * len(values) and isinstance(estimate, Estimate):
        folds = estimate.fits.by_convention
        return Bounds(None, None, Message("limits.by_convention", folds=folds, total=len(values)))
    half, centre = half_width(over_folds(estimate.fits), level), float(values.mean())
    if isinstance(estimate, Estimate) and abs(estimate.value - centre) > half > 0:
        return Bounds(None, None, Message("limits.far_from_pooled"))
    return Bounds(centre - half, centre + half)


FEW_OF_A_CLASS = Bounds(None, None, Message("limits.few_of_a_class"))


@interval(
    "DeLong",
    of=(Ranking, PairedRanking),
    needs=OF_AREAS,
    source="DeLong, DeLong and Clarke-Pearson (1988), Biometrics 44:837",
)
def delong(estimate: Estimate | Difference, level: float) -> Bounds:
    """Area under the ROC curve plus or minus z standard errors of the placement values."""
    error = estimate.delong_error
    if error is None:
        return FEW_OF_A_CLASS
    half = quantile(level) * error
    reason = Message("limits.no_placement_spread") if error == 0 else None
    return Bounds(estimate.value - half, estimate.value + half, reason)


_of_area = partial(interval, of=Ranking, needs=OF_AREAS)


@_of_area("DeLong on the logit scale", source="Qin and Hotilovac (2008), Stat Methods Med Res 17:207")
def logit(estimate: Estimate, level: float) -> Bounds:
    """Area under the ROC curve: DeLong's standard error on the logit scale, mapped back."""
    error, value = estimate.delong_error, estimate.value
    if error is None:
        return FEW_OF_A_CLASS
    if not 0 < value < 1 or error == 0:
        return Bounds(None, None, Message("limits.infinite_logit"))
    return Bounds(*logit_limits(value, quantile(level) * error / (value * (1 - value))))


@_of_area("Newcombe's score interval", source="Newcombe (2006), Stat Med 25:559, method 5")
def newcombe_auc(estimate: Estimate, level: float) -> Bounds:
    """Area under the ROC curve: all values whose own (exponential-model) variance does not reject the observed one."""
    p, n = evidence_of(estimate, Ranking).class_sizes
    z, value, mean_size = quantile(level), estimate.value, (p + n) / 2 - 1

    def excess(area: float) -> float:
        variance = area * (1 - area) / (p * n)
        variance *= 1 + mean_size * ((1 - area) / (2 - area) + area / (1 + area))
        return (value - area) ** 2 - z * z * variance

    # At 0 and 1 the value itself is a root; the limit is the other one.
    low = 0.0 if value == 0 else root(excess, 0, min(value, 1 - 1e-12), tolerance=1e-14)
    high = 1.0 if value == 1 else root(excess, max(value, 1e-12), 1, tolerance=1e-14)
    return Bounds(low, high)


NO_WIDTH = Message("limits.bootstrap_no_width")


def _few(estimate: Estimate | Difference) -> Bounds | None:
    """Return no limits, with the reason, where there are too few replicates; else None."""
    if estimate.replicates is None:
        return Bounds(None, None, Message("limits.not_resampled"))
    return Bounds(None, None, Message("limits.few_replicates")) if len(estimate.replicates_used) < 2 else None


def _between(estimate: Estimate | Difference, probabilities: Sequence[float]) -> Bounds:
    """Return order statistics of the replicates."""
    if (few := _few(estimate)) is not None:
        return few
    low, high = map(float, sample_quantiles(estimate.replicates_used, probabilities))
    return Bounds(low, high, NO_WIDTH if low == high else None)


def _equal_tails(level: float) -> tuple[float, float]:
    return (1 - level) / 2, (1 + level) / 2


@interval(
    "Bootstrap percentile", needs=REPLICATES, source="Efron (1979); Davison and Hinkley (1997), section 5.3.1"
)
def bootstrap_percentile(estimate: Estimate | Difference, level: float) -> Bounds:
    """Quantiles of the bootstrap replicates."""
    return _between(estimate, _equal_tails(level))


@interval("Basic bootstrap", needs=REPLICATES, source="Davison and Hinkley (1997), equation 5.6")
def bootstrap_basic(estimate: Estimate | Difference, level: float) -> Bounds:
    """Quantiles of the replicates, reflected at the value; covers badly near a boundary."""
    limits = _between(estimate, _equal_tails(level))
    if limits.low is None or limits.high is None:
        return limits
    return Bounds(2 * estimate.value - limits.high, 2 * estimate.value - limits.low, limits.reason)


@interval("Bootstrap normal", needs=REPLICATES, source="Davison and Hinkley (1997), equation 5.5")
def bootstrap_normal(estimate: Estimate | Difference, level: float) -> Bounds:
    """Bias-corrected value plus or minus z standard deviations of the replicates."""
    if (few := _few(estimate)) is not None:
        return few
    centre = 2 * estimate.value - float(estimate.replicates_used.mean())
    half = quantile(level) * float(estimate.replicates_used.std(ddof=1))
    return Bounds(centre - half, centre + half, NO_WIDTH if half == 0 else None)


@interval(
    "Bootstrap BCa",
    needs=REPLICATES,
    source="Efron (1987), J Am Stat Assoc 82:171; Efron and Tibshirani (1993), equations 14.9 to 14.15",
)
def bootstrap_bca(estimate: Estimate | Difference, level: float) -> Bounds:
    """Quantiles of the replicates, corrected for bias and for acceleration (skewness of the influence values)."""
    if estimate.influence is None:
        return NOT_SMOOTH
    if (few := _few(estimate)) is not None:
        return few
    acceleration = estimate.acceleration
    if acceleration is None:
        percentile = bootstrap_percentile(estimate, level)
        why = Message("limits.no_acceleration" if not estimate.sampling.only_sums else "limits.summed")
        return Bounds(percentile.low, percentile.high, percentile.reason or why)
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
    return _between(estimate, adjusted)


NEARLY_EQUAL = 1e-12
"""Replicates that agree with the value to this share of the values compared are equal to it."""


def _share_below(estimate: Estimate | Difference) -> float:
    """Share of replicates below the value; those equal to it, up to rounding, count half."""
    used = estimate.replicates_used
    sides = (estimate.a, estimate.b) if isinstance(estimate, Difference) else (estimate,)
    tied = np.abs(used - estimate.value) <= NEARLY_EQUAL * max(abs(side.value) for side in sides)
    return float(((used < estimate.value) & ~tied).mean() + tied.mean() / 2)


LARGEST_EXACT_UNTIED = 300
"""Up to this many blocks without ties the limits use the exact distribution of the signed rank sum."""


@interval(
    "t over folds, uncorrected",
    needs=("folds",),
    source="Student (1908), Biometrika 6:1; on folds it is too narrow",
)
def cv_t(estimate: Estimate | Difference, level: float) -> Bounds:
    """Mean over folds plus or minus t errors as if the folds were independent, which they are not."""
    assert estimate.fits is not None
    values = estimate.fits.values
    if len(values) < 2 or np.isnan(values).any():
        return Bounds(None, None, Message("limits.few_folds"))
    half, centre = half_width(over_folds(estimate.fits, overlap=False), level), float(values.mean())
    return Bounds(centre - half, centre + half, Message("limits.overlapping"))


@interval(
    "Hodges-Lehmann",
    of=Difference,
    needs=("paired", "few_blocks"),
    source="Hodges and Lehmann (1963), Ann Math Stat 34:598; Hollander and Wolfe, 3.3",
)
def hodges_lehmann(difference: Difference, level: float) -> Bounds:
    """All shifts that the Wilcoxon signed-rank test does not reject, from the averages of two differences."""
    assert difference.rows is not None
    try:
        differences = equalised(difference.rows.expanded(), difference.rows.compared)
    except TooManyRowsError as error:
        return Bounds(None, None, Message("limits.many_differences", n=error.n, most=MOST_EXPANDED))
    m = len(differences)
    tied = m <= LARGEST_EXACT and len(np.unique(differences)) < m
    lower_limit = _limit_with_ties if tied else _limit
    low, least = (lower_limit(turned, level) for turned in (differences, -differences))
    if low is None or least is None:
        return Bounds(None, None, Message("limits.few_differences", total=m, level=level))
    if low == -least:
        return Bounds(None, None, Message("limits.ties"))
    return Bounds(low, -least)


def _averages(differences: Floats) -> Floats:
    """Return the averages of two differences, each with itself too, in ascending order."""
    rows, columns = np.triu_indices(len(differences))
    return np.sort((differences[rows] + differences[columns]) / 2)


def _limit_with_ties(differences: Floats, level: float) -> float | None:
    """Return the lower end of the shifts that the test conditional on ties does not reject; None where it has none.

    Between two neighbouring averages of two differences the ranks, and so the p-value, do not change. With ties it
    need not rise from each of these stretches to the next: so they are looked at from the lowest up.
    """
    averages = np.unique(_averages(differences))
    between = np.concatenate(
        [[averages[0] - (np.ptp(averages) or abs(averages[0]) or 1.0)], (averages[:-1] + averages[1:]) / 2]
    )
    for index, shift in enumerate(between):
        if signed_rank_tail(shift - differences) > (1 - level) / 2 * (1 + 1e-12):
            return float(averages[index - 1]) if index else None
    return float(averages[-1])


def _limit(differences: Floats, level: float) -> float | None:
    """Return the lower limit from the distribution without ties; None where there is none."""
    rank = _rank_of_limit(len(differences), level)
    return None if rank is None else float(_averages(differences)[rank - 1])


def _rank_of_limit(m: int, level: float) -> int | None:
    """Return which of the ordered averages is the lower limit, counted from 1; None where none reaches the level."""
    tail = (1 - level) / 2
    if m > LARGEST_EXACT_UNTIED:
        spread = math.sqrt(m * (m + 1) * (2 * m + 1) / 24)
        return max(1, math.floor(m * (m + 1) / 4 - quantile(level) * spread))
    # The lower limit is the q-th average, q the smallest number with P(V <= q) >= tail; P(V < q) is what it leaves out.
    cumulative = np.cumsum(signed_rank_distribution(tuple(range(1, m + 1))))
    q = int(np.searchsorted(cumulative, tail * (1 - 1e-12)))
    return q if q >= 1 else None
