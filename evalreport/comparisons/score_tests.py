"""Score tests of equal precision, F1 and balanced accuracy of two models on the same examples.

The variance of the difference is taken where both models have the same value, as the null hypothesis says. So it is not
0 where a model is right or wrong on nearly all of its trials, which is where the swap test rejects too often.
"""

from __future__ import annotations

import math
from functools import lru_cache

import numpy as np

from evalreport.comparisons.label_pairs import PairedRecalls, PairedTrials
from evalreport.comparisons.registry import Outcome, Pair, comparison_test, probability
from evalreport.engine.distributions import normal_tail, root
from evalreport.predictions.arrays import Floats, required
from evalreport.texts import Message

EQUAL = 1e-12
"""Shares, which lie in [0, 1], that are closer than this are equal: the rest is rounding."""


@comparison_test("Weighted generalised score", "trials", beside=("bootstrap_difference",))
def score_precision(pair: Pair) -> Outcome:
    """Difference of two precisions over its error at their pooled value, which counts examples that both flag.

    D = TP_A/n_A - TP_B/n_B, P = (TP_A + TP_B)/(n_A + n_B), n_A and n_B the examples that each model flags,
    V = P (1 - P)(1/n_A + 1/n_B) - 2 (s (1 - P)^2 + r P^2)/(n_A n_B) with s right and r wrong ones among those that
    both flag, Z = D/sqrt(V). NPV is the precision of the other class.

    References
    ----------
    Kosinski (2013), Stat Med 32:964, the weighted generalised score statistic.
    """
    assert pair.trials is not None
    (right_a, right_b), (flagged_a, flagged_b) = pair.trials.successes, pair.trials.trials
    if not flagged_a or not flagged_b:
        return Outcome(None, None, reason=Message("reason.flags_nothing"))
    pooled = (right_a + right_b) / (flagged_a + flagged_b)
    wrong_both, right_both = float(pair.trials.counts[1, 1]), float(pair.trials.counts[2, 2])
    shared = right_both * (1 - pooled) ** 2 + wrong_both * pooled**2
    variance = pooled * (1 - pooled) * (1 / flagged_a + 1 / flagged_b) - 2 * shared / (flagged_a * flagged_b)
    return _by_score(pair, right_a / flagged_a - right_b / flagged_b, variance)


@comparison_test("Pooled score", "overlap", beside=("bootstrap_difference",))
def score_f1(pair: Pair) -> Outcome:
    """Difference of two F1 values over its error at their pooled value; the same p-value for the Jaccard index.

    Undefined where a model has neither a hit nor an error, so that its F1 is 0/0.
    """
    assert pair.trials is not None
    if not all(pair.trials.trials):
        return Outcome(None, None, reason=Message("reason.no_overlap"))
    return _by_score(pair, *pooled_f1(pair.trials))


def pooled_f1(trials: PairedTrials) -> tuple[float, float]:
    """Return the difference of two F1 values and its variance where both have the pooled value theta.

    With d = TP + FP + FN and D = d + TP by model, theta = 2 (TP_A + TP_B)/(D_A + D_B). An example's residual is
    2 - 2 theta for a hit, -theta for an error and 0 for a true negative; its mean square among the d examples is
    s2 = J (2 - 2 theta)^2 + (1 - J) theta^2 with J = theta/(2 - theta). C is the sum of the products of the two
    models' residuals: V = d_A s2/D_A^2 + d_B s2/D_B^2 - 2 C/(D_A D_B).

    Parameters
    ----------
    trials
        Of the Jaccard index; each model has one or more.

    Returns
    -------
    F1 of the first model less that of the second, and V, which may be below 0 where the two lie far apart.
    """
    (hits_a, hits_b), (d_a, d_b) = trials.successes, trials.trials
    whole_a, whole_b = d_a + hits_a, d_b + hits_b
    theta = 2 * (hits_a + hits_b) / (whole_a + whole_b)
    hit, jaccard = 2 - 2 * theta, theta / (2 - theta)
    square = jaccard * hit**2 + (1 - jaccard) * theta**2
    counts = trials.counts
    products = counts[2, 2] * hit**2 + counts[1, 1] * theta**2 - (counts[1, 2] + counts[2, 1]) * hit * theta
    variance = d_a * square / whole_a**2 + d_b * square / whole_b**2 - 2 * products / (whole_a * whole_b)
    return 2 * hits_a / whole_a - 2 * hits_b / whole_b, float(variance)


def has_pooled_variance(trials: PairedTrials) -> bool:
    """Whether the test of F1 can be had: its variance is above 0, or the values are equal or undefined."""
    if not all(trials.trials):
        return True
    difference, variance = pooled_f1(trials)
    return variance > 0 or abs(difference) < EQUAL


@comparison_test("Score test of class recalls", "recalls", beside=("bootstrap_difference",))
def score_recalls(pair: Pair) -> Outcome:
    """Difference of two means of class recalls over its error where both means are equal, by restricted likelihood.

    Given its size n, a class is a trinomial of examples that only the first model has right (p), only the second (q),
    both or neither. V = sum (p + q - (p - q)^2)/n / K^2 at the most likely p and q with sum (p - q) = 0. With one
    class this is McNemar's chi-squared test.

    References
    ----------
    Tango (1998), Stat Med 17:891, the restricted estimate of one class.
    """
    recalls = required(pair.recalls)
    apart = recalls.only_first - recalls.only_second
    if not (recalls.only_first + recalls.only_second).any():
        return Outcome(0.0, 1.0)
    p, q = restricted_shares(recalls)
    k = len(recalls.examples)
    variance = float(((p + q - (p - q) ** 2) / recalls.examples).sum()) / k**2
    return _by_score(pair, float((apart / recalls.examples).sum()) / k, variance)


STEPS = 60
"""Newton's steps at most: each doubles the digits that are right."""


def restricted_shares(recalls: PairedRecalls) -> tuple[Floats, Floats]:
    """Return the most likely p and q by class, (K,) each, whose differences add up to 0.

    With a multiplier L each class maximises b log p + c log q + r log(1 - p - q) + L (p - q), b, c and r its examples
    of the three kinds. The sum of p - q rises in L.
    """
    counts = recalls.only_first, recalls.only_second, recalls.examples
    return _restricted_shares(*(tuple(part.tolist()) for part in counts))


@lru_cache(maxsize=8)
def _restricted_shares(*counts: tuple[float, ...]) -> tuple[Floats, Floats]:
    """Return the shares; several metrics of a pair, one after the other, have the same counts."""
    recalls = PairedRecalls(*map(np.array, counts))
    most = 4.0 * float(recalls.examples.max())

    def apart(multiplier: float) -> float:
        p, q = _shares_at(multiplier, recalls)
        return float((p - q).sum())

    return _shares_at(root(apart, -most, most, tolerance=1e-16 * most), recalls)


def _shares_at(multiplier: float, recalls: PairedRecalls) -> tuple[Floats, Floats]:
    """Return the p and q of each class at a multiplier L: p = b/(mu - L), q = c/(mu + L).

    mu > |L| is the root of b/(mu - L) + c/(mu + L) + r/mu = 1, which falls in mu and is convex: Newton's steps from
    below rise to it. By Jensen's inequality it is at least n + (b - c) L/n. Where a count is 0, its share may be above
    0 only at the end mu = |L|.
    """
    b, c, n = recalls.only_first, recalls.only_second, recalls.examples
    r = n - b - c
    size = abs(multiplier)
    mu = np.max(
        [b + multiplier, c - multiplier, r, np.full(len(n), size), n + (b - c) * multiplier / n], axis=0
    )
    counts, shifts = np.stack([b, c, r]), np.array([[-multiplier], [multiplier], [0.0]])
    held = counts > 0
    for _ in range(STEPS):
        shares = np.divide(counts, mu + shifts, out=np.zeros_like(counts), where=held)
        slopes = np.divide(shares, mu + shifts, out=np.zeros_like(counts), where=held)
        above = shares.sum(axis=0) - 1
        moved = np.where(above > 0, mu + above / slopes.sum(axis=0), mu)
        if (moved == mu).all():
            break
        mu = moved
    p, q, _ = shares
    if multiplier > 0:
        at_end = (b == 0) & (c / (2 * size) + r / size <= 1)
        q = np.where(at_end, c / (2 * size), q)
        p = np.where(at_end, 1 - q - r / size, p)
    elif multiplier < 0:
        at_end = (c == 0) & (b / (2 * size) + r / size <= 1)
        p = np.where(at_end, b / (2 * size), p)
        q = np.where(at_end, 1 - p - r / size, q)
    return p, q


def _by_score(pair: Pair, difference: float, variance: float) -> Outcome:
    """Divide a difference by its error, by the normal distribution; the sign is that of the metric's difference."""
    if abs(difference) < EQUAL:
        return Outcome(0.0, 1.0)
    if variance <= 0:
        return Outcome(None, None, reason=Message("reason.no_spread"))
    statistic = abs(difference) / math.sqrt(variance)
    return Outcome(math.copysign(statistic, pair.difference.value), probability(2 * normal_tail(statistic)))
