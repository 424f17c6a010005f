"""Limits of a mean over examples and replicates, both of which are drawn: about the algorithm, not about these fits."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from evalreport.engine.counts import by_kurtosis
from evalreport.engine.distributions import t_quantile
from evalreport.intervals.losses import turned
from evalreport.predictions.arrays import Floats, Indices, Mask
from evalreport.questions.algorithms.replicates import NEGLIGIBLE, Spread, limited, spread_of
from evalreport.samplings.seeds import SeedTerm, crossed

LEAST_REPLICATES = 10
"""With fewer replicates nothing is said about the algorithm: how far its fits vary is hardly known."""

WIDER, MORE_SKEWED = 1, 5
"""Over K: by how much ten to thirty replicates understate their spread and skewness (docs/promises.md)."""

Limits = tuple[float | None, float | None]


@dataclass(frozen=True, slots=True)
class Moments:
    """What a mean's limits go by: variance and degrees of freedom of each part, and the third cumulant of the mean.

    ``by_kurtosis``: the degrees of freedom of the replicates, no more than the kurtosis of their values allows.
    """

    term: SeedTerm
    by_kurtosis: float
    third: float


def over_both(
    contributions: Floats, given: Mask, cluster: Indices | None, level: float, limits: tuple[float, float]
) -> Limits:
    """Return limits of the mean over examples of each example's mean over replicates.

    The variance over examples and the replicates' own part are added as for training seeds (``samplings.seeds``); the
    limits are the outer of Student's t and of Hall's map with the replicates' degrees of freedom by the kurtosis,
    since the losses of replicates that move together are skewed: squares of one number each. Few squares rarely hold a
    large one: half-widths are 1 + 1 / K and the third moment 1 + 5 / K times as large. Without it 7.4 % miss at K = 10.

    Parameters
    ----------
    contributions, given
        (K, n) what is averaged, and where it is.
    limits
        The range of the mean, to which the limits are cut.

    Returns
    -------
    low, high
        None with fewer than ten replicates, or one example.
    """
    by_example, of_replicates = moments(contributions, given)
    spread = spread_of(by_example, cluster)
    if len(given) < LEAST_REPLICATES or spread is None:
        return None, None
    mean = float(by_example.mean())
    both = crossed(spread.error**2, spread.by.df, [of_replicates.term])
    if both.error <= NEGLIGIBLE * abs(mean):
        precision = limited(spread, mean, level, limits)
        return precision.low, precision.high
    term = of_replicates.term
    tails = SeedTerm(term.observed, term.expected, of_replicates.by_kurtosis, term.df_expected)
    heavy = crossed(spread.error**2, spread.by.df, [tails])
    quantile = (1 + level) / 2
    half = t_quantile(quantile, both.df)
    third = float((spread.deviations**3).sum()) / len(by_example) ** 3
    third += (1 + MORE_SKEWED / len(given)) * of_replicates.third
    lowest, highest = turned(t_quantile(quantile, heavy.df), third / both.error**3)
    error = (1 + WIDER / len(given)) * both.error
    low, high = mean - max(half, lowest) * error, mean - min(-half, highest) * error
    return float(np.clip(low, *limits)), float(np.clip(high, *limits))


def moments(contributions: Floats, given: Mask) -> tuple[Floats, Moments]:
    """Return each example's mean (n,), and how the mean of all moves with the replicates, by leaving each one out.

    Leaving out replicate k moves the mean by psi_k = (1/n) sum_i (z_ki - z_i) / (K_i - 1) over its examples. With every
    prediction there, the variance (K - 1)/K sum psi^2 is s_c^2 / K, and that of the residuals MSR / (n K).

    Examples
    --------
    Three replicates that differ by 1 and 2 on both examples: s_c^2 / K = 1 / 3, nothing of it due to the examples.

    >>> z = np.array([[0.0, 1.0], [1.0, 2.0], [2.0, 3.0]])
    >>> term = moments(z, np.ones((3, 2), bool))[1].term
    >>> round(term.observed, 12), term.expected
    (0.333333333333, 0.0)
    """
    (k, n), count = given.shape, given.sum(axis=0)
    by_example = np.where(given, contributions, 0.0).sum(axis=0) / count
    deviations = np.where(given & (count > 1), contributions - by_example, 0.0)
    parts = deviations / np.maximum(count - 1, 1)
    psi = parts.sum(axis=1) / n
    shared = parts.sum(axis=1) / np.maximum((given / np.maximum(count - 1, 1)).sum(axis=1), NEGLIGIBLE)
    residuals = np.where(given, deviations - shared[:, None], 0.0) / np.maximum(count - 1, 1)
    factor = (k - 1) / k
    observed = factor * float((psi**2).sum())
    expected = factor * float((residuals**2).sum()) / (n * max(n - 1, 1))
    term = SeedTerm(observed, expected, k - 1.0, max(n - 1.0, 1.0) * (k - 1.0))
    if k < 3 or observed == 0:
        return by_example, Moments(term, k - 1.0, 0.0)
    own = (term.variance / observed) ** 1.5
    third = own * float((psi**3).sum()) * (k - 1) ** 2 / (k * (k - 2))
    apart = psi - psi.mean()
    square = float((apart**2).mean())
    kurtosis = float((apart**4).mean()) / square**2 if square > 0 else 1.0
    return by_example, Moments(term, by_kurtosis(k - 1.0, k, kurtosis), third)


def of_bias(
    spread: Spread | None, replicates_error: float, shared: float, n_replicates: int, level: float
) -> Limits:
    """Return limits of a mean of squares of mean errors, with the replicates' Monte Carlo error added, not cut at 0.

    Where all errors move together by a mean of variance v, the variance of (b + move)^2 grows with b^2 by 4 v: the
    upper limit x solves (x - bias)^2 = t^2 (error^2 + 4 v (x - bias)), as Wilson's does. The lower one is Student's.

    Parameters
    ----------
    replicates_error
        Monte Carlo error of the mean over replicates.
    shared
        v, the replicates' own part of the variance of the mean error.
    """
    if spread is None or n_replicates < LEAST_REPLICATES:
        return None, None
    both = crossed(
        spread.error**2, spread.by.df, [SeedTerm(replicates_error**2, 0.0, n_replicates - 1.0, 1.0)]
    )
    quantile = t_quantile((1 + level) / 2, both.df)
    middle = 2 * shared * quantile**2
    half = float(np.hypot(middle, quantile * both.error))
    return spread.mean - quantile * both.error, spread.mean + middle + half
