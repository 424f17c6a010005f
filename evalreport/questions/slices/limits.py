"""Limits of the difference and the ratio of two values, and the tests that they do not differ.

Proportions keep binomial arithmetic: Wilson's limits of the two groups, squared and added; everything else goes by
influence values.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from evalreport.comparisons.registry import probability
from evalreport.engine.distributions import Array, dot, exp, log_choose, t_tail
from evalreport.intervals.proportions import wilson_limits
from evalreport.intervals.registry import Bounds
from evalreport.intervals.student import half_width
from evalreport.metrics.estimate import Estimate
from evalreport.metrics.registry import Quantity
from evalreport.metrics.sample import Sample
from evalreport.predictions.arrays import Floats, Indices, required
from evalreport.samplings import StudentError, two_sets
from evalreport.texts import Message


@dataclass(frozen=True, slots=True)
class Shares:
    """Sums over units of squared influence on one quantity: of the slice, of a reference, and of both.

    In order of time the sums are over cosine series of all units. Each side's derivatives include the factors of its
    own units (``engine.counts``): u / (u - 1), for clusters CR2.

    Attributes
    ----------
    own, shared, inside
        Over the slice's units: D_s^2, D_s D, D^2; D is the reference's derivative.
    outside
        D^2 over the reference's other units.
    df, df_outside
        Degrees of freedom of the slice's units and of those of the other examples; None for fewer than two.
    apart
        Whether no unit has examples both inside the slice and outside it, so that the two vary independently.
    """

    own: float
    shared: float
    inside: float
    outside: float
    df: float | None
    df_outside: float | None
    apart: bool

    def contrast(self, a: float = 1.0, b: float = 1.0) -> StudentError | None:
        """Return the error of a (slice) - b (reference); None where there are too few units for one.

        The degrees of freedom are Welch's and Satterthwaite's: for two means this is Welch's t. Where units belong to
        both sides, the fewer of the two sides'.
        """
        within = max(a * a * self.own - 2 * a * b * self.shared + b * b * self.inside, 0.0)
        outside = b * b * self.outside
        if self.df is None or self.df_outside is None:
            return None
        if not self.apart:
            return StudentError(math.sqrt(within + outside), min(self.df, self.df_outside))
        sides = StudentError(math.sqrt(within), self.df), StudentError(math.sqrt(outside), self.df_outside)
        return two_sets.welch(*sides)

    def predicted(self) -> StudentError | None:
        """Return the error of slice - reference that the reference alone predicts, as if the slice were like it.

        None where units belong to both sides.
        """
        if not self.apart or self.df is None or self.df_outside is None:
            return None
        ratio = (self.df_outside + 1) / (self.df + 1)
        return StudentError(math.sqrt((self.inside + self.outside) * (1 + ratio)), self.df_outside)


# --- a slice against the other examples -------------------------------------------------------------------------------


def shares_of_rest(
    part: Sample,
    rest: Sample,
    whole: Sample,
    positions: tuple[Indices, Indices],
    model: str,
    quantity: Quantity,
) -> Shares | None:
    """Sum the influence values of a slice and of the examples outside it.

    Parameters
    ----------
    positions
        The rows of ``part`` and of ``rest`` in ``whole``.
    """
    own, other, of_all = (sample.estimates[model, quantity] for sample in (part, rest, whole))
    if own.influence is None or other.influence is None or own.sampling.only_sums:
        return None
    if {"independent", "one_task", "no_gold"} <= own.sampling.meets:
        (inside, df), (outside, df_outside) = _variance(own), _variance(other)
        return Shares(inside, 0.0, 0.0, outside, df, df_outside, apart=True)
    units, n_units = unit_codes(whole, of_all)
    sides = list(zip((part, rest), (own, other), positions, strict=True))
    by_unit = [_in_units(sample, value, units[rows], n_units) for sample, value, rows in sides]
    first, second = (whole.units.series_sums(derivative) for derivative in by_unit)
    if first is not None and second is not None:
        return _in_series(first, second)
    sampling = of_all.sampling if of_all.over_datasets else whole.units
    sizes = [
        np.bincount(units[rows], whole.units.base[rows], n_units).astype(np.float64) for rows in positions
    ]
    if of_all.over_datasets:
        sizes = [np.sign(size) for size in sizes]
    freedoms = [sampling.freedom(size) for size in sizes]
    factors = [1.0 if found is None else found.factors for found in freedoms]
    mine, theirs = (values * np.sqrt(factor) for values, factor in zip(by_unit, factors, strict=True))
    touched, beyond = (size > 0 for size in sizes)
    return Shares(
        own=dot(mine, mine),
        shared=dot(mine, theirs),
        inside=dot(theirs[touched], theirs[touched]),
        outside=dot(theirs[~touched], theirs[~touched]),
        df=None if freedoms[0] is None else freedoms[0].df,
        df_outside=None if freedoms[1] is None else freedoms[1].df,
        apart=not bool((touched & beyond).any()),
    )


def _variance(estimate: Estimate) -> tuple[float, float | None]:
    """Return the variance of a value of independent examples, and its degrees of freedom; None of fewer than two."""
    student = estimate.robust
    return (0.0, None) if student is None else (student.error**2, student.df)


def _in_series(first: Floats, second: Floats) -> Shares | None:
    """Sum squares and products of two values of one series in time: of their cosine series, as ``hac_t`` does.

    The examples of the slice are neighbours of the others, so that the two values depend on each other.
    """
    if not len(first):
        return None
    df = float(len(first))
    return Shares(dot(first, first), dot(first, second), dot(second, second), 0.0, df, df, apart=False)


def unit_codes(sample: Sample, estimate: Estimate) -> tuple[Indices, int]:
    """Return which unit each row of a sample belongs to, and how many units there are."""
    if estimate.over_datasets:
        parts = sample.rows.layout.pooled
        return parts.codes, parts.count
    if sample.units.cluster is not None:
        return sample.units.cluster, sample.units.count
    return np.arange(sample.predictions.n), sample.predictions.n


def _in_units(part: Sample, estimate: Estimate, units: Indices, n_units: int) -> Floats:
    """Return a slice's derivatives by the units of the whole, (n_units,); ``units``: that of each row of the slice."""
    codes, count = unit_codes(part, estimate)
    unit_of = np.empty(count, dtype=np.int64)
    unit_of[codes] = units
    return np.bincount(unit_of, weights=required(estimate.derivative), minlength=n_units).astype(np.float64)


NOT_SMOOTH = Message("disparity.not_smooth")
NO_OTHERS = Message("disparity.few_others")
HALF = 0.5
EQUAL = 1e-7
"""Tables whose probabilities differ by a smaller share are equally probable."""
SPREAD_OF_MIDP = 12.0
"""Tables further than this many standard deviations from the mean have a probability below 1e-30."""


@dataclass(frozen=True, slots=True)
class Successes:
    """Successes and trials of two disjoint groups."""

    x1: float
    n1: float
    x2: float
    n2: float

    @property
    def proportions(self) -> tuple[float, float]:
        """Both groups' shares of successes."""
        return self.x1 / self.n1, self.x2 / self.n2


# --- proportions ----------------------------------------------------------------------------------------------------


def proportions_ratio(both: Successes, level: float) -> Bounds:
    """Return limits of p1 / p2 for independent groups from their Wilson limits (Donner and Zou 2012).

    The limits are the roots R of (p1 - R p2)^2 = (p1 - l1)^2 + R^2 (u2 - p2)^2 and its mirror image.

    References
    ----------
    Donner and Zou (2012), Stat Methods Med Res 21:347.
    """
    p1, p2 = both.proportions
    (l1, u1), (l2, u2) = wilson_limits(both.x1, both.n1, level), wilson_limits(both.x2, both.n2, level)
    middle = p1 * p2
    lower_root = math.sqrt(max(middle**2 - u2 * (2 * p2 - u2) * l1 * (2 * p1 - l1), 0.0))
    low = l1 * (2 * p1 - l1) / (middle + lower_root) if middle + lower_root > 0 else 0.0
    curvature = l2 * (2 * p2 - l2)
    if curvature <= 0:
        return Bounds(low, None, Message("disparity.no_upper_ratio"))
    upper_root = math.sqrt(max(middle**2 - curvature * u1 * (2 * p1 - u1), 0.0))
    return Bounds(low, (middle + upper_root) / curvature)


def fisher(both: Successes, *, ties: float = HALF) -> float:
    """Test that two groups have the same proportion: Fisher's exact test, by default with mid-p.

    Given the margins the first group's successes are hypergeometric; tables less probable than the observed one count,
    those of equal probability by ``ties``: 1 for the exact p-value, one half for mid-p (Lancaster 1961; Agresti 2013,
    section 3.5.5).

    Examples
    --------
    >>> round(fisher(Successes(3, 4, 1, 4)), 4), round(fisher(Successes(3, 4, 1, 4), ties=1), 4)
    (0.2571, 0.4857)
    """
    x, n1, n2 = round(both.x1), round(both.n1), round(both.n2)
    successes, total = x + round(both.x2), n1 + n2
    mean = n1 * successes / total
    spread = math.sqrt(mean * (1 - successes / total) * n2 / max(total - 1, 1))
    reach = SPREAD_OF_MIDP * spread + 1
    low, high = max(0, successes - n2, math.floor(mean - reach)), min(n1, successes, math.ceil(mean + reach))
    # Tables between these and an x outside them are more probable than x: none of them is rarer.
    outcomes = np.union1d(np.arange(low, high + 1), [x])
    log_p = _log_hypergeometric(outcomes, n1, n2, successes)
    return _rarer(log_p, float(log_p[np.searchsorted(outcomes, x)]), ties)


def smallest_fisher(both: Successes, *, ties: float = HALF) -> float:
    """Return the smallest p-value that any outcome could have, given both groups' sizes and all successes together.

    That of the table with all successes, or as few as possible, in one group.
    """
    n1, n2 = round(both.n1), round(both.n2)
    successes = round(both.x1) + round(both.x2)
    ends = np.array([max(0, successes - n2), min(n1, successes)])
    log_p = _log_hypergeometric(np.unique(ends), n1, n2, successes)
    return _rarer(log_p, float(log_p.min()), ties)


def _rarer(log_p: Floats, observed: float, ties: float) -> float:
    equal = np.abs(log_p - observed) <= EQUAL
    rarer = (log_p < observed) & ~equal
    return probability(float(exp(log_p[rarer]).sum() + ties * exp(log_p[equal]).sum()))


def _log_hypergeometric(x: Array, n1: int, n2: int, successes: int) -> Floats:
    """Return the logarithm of the chance that x of the successes are among the first n1."""
    return log_choose(n1, x) + log_choose(n2, successes - x) - log_choose(n1 + n2, successes)


def testable(smallest: Sequence[float], alpha: float) -> tuple[list[bool], int]:
    """Select the tests that could be significant at all, by their smallest possible p-values (Tarone).

    K is the smallest k for which at most k tests could reach alpha / k; those that could reach alpha / K are kept. The
    selection rests on margins alone, so that Holm's correction over the kept ones holds the family-wise error of exact
    p-values.

    Returns
    -------
    kept, k
        Which tests are kept; K.

    References
    ----------
    Tarone (1990), Biometrics 46:515.

    Examples
    --------
    >>> testable([0.001, 0.02, 0.2], 0.05)
    ([True, True, False], 2)
    """
    k = next(k for k in range(1, len(smallest) + 2) if sum(p <= alpha / k for p in smallest) <= k)
    return [p <= alpha / k for p in smallest], k


# A name that begins with "test" is no test.
testable.__test__ = False  # type: ignore[attr-defined]


# --- by influence values --------------------------------------------------------------------------------------------


def influence_ratio(ratio: float, contrast: StudentError, level: float) -> Bounds:
    """Return limits of a ratio of positive values: t standard errors on the logarithmic scale.

    Parameters
    ----------
    contrast
        Of the logarithms: D_s / value_s - D / value.
    """
    half = half_width(contrast, level)
    if half > 700:  # beyond, the limits are no numbers any more
        return Bounds(0.0, None, Message("disparity.wide_ratio"))
    return Bounds(ratio * math.exp(-half), ratio * math.exp(half))


def welch(difference: float, contrast: StudentError) -> float:
    """Test that two groups have the same value: Student's t with Welch's degrees of freedom."""
    if contrast.error <= 0:
        return 1.0
    return probability(2 * t_tail(abs(difference) / contrast.error, contrast.df))
