"""Compare one run's value with those of the accepted runs, allowing for how much runs differ by themselves."""

from __future__ import annotations

import math
import statistics
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import pairwise

import numpy as np

from evalreport.engine.distributions import exp, log_choose, t_tail
from evalreport.predictions.arrays import Floats

LEAST_BETWEEN = 0.02
"""Standard deviation between runs that is always allowed for, in the metric's units or as a share of the value."""
ENOUGH_TO_ESTIMATE = 5
"""Accepted runs from which on the standard deviation between runs is estimated from them."""
HORIZONS = ((3.0, 365), (15.0, 52), (math.inf, 12))
"""Runs a year, by the median distance of runs in days: below 3, below 15, more."""


def share_of_run(t: int, horizon: int) -> float:
    """Return the share of the permitted error that the t-th compared run spends: s_t = 1 / (2 t (t + 1)) + 1 / (2 H).

    The shares of a year's H runs add up to less than 1. Half is spent early, so that the first runs have power; the
    other half evenly.

    Examples
    --------
    >>> [round(1 / share_of_run(t, 52)) for t in (1, 4, 26, 52)]
    [4, 29, 97, 102]
    """
    return 0.5 / (t * (t + 1)) + 0.5 / horizon


def horizon_of(times: Sequence[datetime]) -> int:
    """Return how many runs a year of a series holds: 365, 52 or 12, by the median distance of its runs as recorded.

    Where a clock was set back the distance is not known, which counts as 365.

    Examples
    --------
    >>> horizon_of([datetime(2026, 3, day) for day in (2, 9, 16)])
    52
    """
    days = [(after - before).total_seconds() / 86400 for before, after in pairwise(times)]
    distance = statistics.median(days) if days and min(days) >= 0 else 0.0
    return next(runs for limit, runs in HORIZONS if distance < limit)


@dataclass(frozen=True, slots=True, kw_only=True)
class Scale:
    """What the comparison needs to know of a metric.

    Attributes
    ----------
    greater_is_better
        None: neither direction is better, and any change counts.
    least, greatest
        The smallest and the largest possible value.
    squared
        Whether it is a mean of squares without an upper bound, such as MSE.
    sd_of_rows
        The standard deviation of the rows, where the value is their mean and rows are of either sign.
    """

    greater_is_better: bool | None
    least: float
    greatest: float
    squared: bool = False
    sd_of_rows: float | None = None

    @property
    def best(self) -> float | None:
        """The best possible value; None: there is none."""
        end = {True: self.greatest, False: self.least, None: math.inf}[self.greater_is_better]
        return end if math.isfinite(end) else None

    @property
    def bounded(self) -> bool:
        """Whether the values cannot be arbitrarily bad."""
        return math.isfinite(self.least) and math.isfinite(self.greatest)


def least_between(reference: float, of: Scale) -> float:
    """Return tau_0, the standard deviation between runs that is allowed for where nothing better is known.

    Half of the distance from the best value, at most 0.02. Of losses without an upper bound 2 % of the reference (of
    squares 4 %), of means of any values 2 % of their size, of values of either sign 5 % of the rows' spread.

    Examples
    --------
    >>> least_between(0.99, Scale(greater_is_better=True, least=0.0, greatest=1.0))
    0.0050000000000000044
    >>> least_between(4.2, Scale(greater_is_better=False, least=0.0, greatest=math.inf))
    0.084
    """
    best = of.best
    if best is not None and (of.bounded or best != 0):
        return min(LEAST_BETWEEN, abs(best - reference) / 2)
    if best is None and of.bounded:
        return LEAST_BETWEEN
    if of.sd_of_rows is not None:
        return 0.05 * of.sd_of_rows
    return (2 if of.squared else 1) * LEAST_BETWEEN * abs(reference)


def promised_between(reference: float, of: Scale) -> float:
    """Return the standard deviation between runs up to which the alarm's error was measured to hold.

    tau_0; near the best value half of it.

    Examples
    --------
    >>> promised_between(0.98, Scale(greater_is_better=True, least=0.0, greatest=1.0))
    0.0050000000000000044
    """
    best = of.best
    if best is not None and (of.bounded or best != 0):
        return min(LEAST_BETWEEN, abs(best - reference) / 4)
    return least_between(reference, of)


@dataclass(frozen=True, slots=True, kw_only=True)
class Comparison:
    """One run's value beside those of the accepted runs.

    Attributes
    ----------
    reference
        The mean of the accepted values.
    fall
        By how much the value is worse (negative: better); its size where neither direction is better.
    least, estimated
        tau_0, and the standard deviation between the accepted runs beyond sampling (None: fewer than five of them).
    between
        The standard deviation between runs that is allowed for, tau.
    promised
        That up to which the error rate holds: the declared one, else ``promised_between``.
    standard_error
        Of the fall, runs' differences included.
    """

    reference: float
    fall: float
    least: float
    estimated: float | None
    between: float
    promised: float
    standard_error: float
    z: float
    df: int
    p_value: float


def compare_run(
    accepted: Sequence[tuple[float, float]],
    now: tuple[float, float],
    *,
    of: Scale,
    least_n: int,
    between_runs: float | None = None,
    exact_p_value: float | None = None,
) -> Comparison:
    """Compare a run with accepted runs of other examples.

    SE^2 = se^2 + sum se_i^2 / A^2 + tau^2 (1 + 1 / A), z = fall / SE, p = P(T_(k - 1) >= z). The errors se_i of the
    accepted values are those on the side of the fall: a small run that is perfect may well be a lucky one.

    Parameters
    ----------
    accepted, now
        Values with their standard errors; at least one accepted run.
    least_n
        k, the smallest number of rows (of a metric of classes: of the rarest class) of these runs; at least 2.
    between_runs
        Declared standard deviation between runs; None: estimated from five accepted runs on, and at least tau_0.
    exact_p_value
        Of a share, one-sided by Fisher's test: the greater p-value counts. None: another metric.

    Examples
    --------
    >>> accuracy = Scale(greater_is_better=True, least=0.0, greatest=1.0)
    >>> found = compare_run([(0.9, 0.0095)], (0.78, 0.0131), of=accuracy, least_n=1000)
    >>> round(found.z, 2), round(found.p_value, 5)
    (3.68, 0.00012)
    >>> small = compare_run([(1.0, 0.124)], (0.8, 0.009), of=accuracy, least_n=12, exact_p_value=0.0347)
    >>> round(small.p_value, 4)
    0.068
    """
    count = len(accepted)
    reference = math.fsum(value for value, _ in accepted) / count
    sampling = [error**2 for _, error in accepted]
    least, estimated = least_between(reference, of), None
    if count >= ENOUGH_TO_ESTIMATE:
        spread = math.fsum((value - reference) ** 2 for value, _ in accepted) / (count - 1)
        estimated = math.sqrt(max(0.0, spread - math.fsum(sampling) / count))
    between = max(least, estimated or 0.0) if between_runs is None else between_runs
    variance = now[1] ** 2 + math.fsum(sampling) / count**2 + between**2 * (1 + 1 / count)
    error = math.sqrt(variance)
    change = now[0] - reference
    fall = abs(change) if of.greater_is_better is None else -change if of.greater_is_better else change
    z, df = fall / error, least_n - 1
    sides = 2 if of.greater_is_better is None else 1
    return Comparison(
        reference=reference,
        fall=fall,
        least=least,
        estimated=estimated,
        between=between,
        promised=promised_between(reference, of) if between_runs is None else between_runs,
        standard_error=error,
        z=z,
        df=df,
        p_value=max(sides * t_tail(z, df), exact_p_value or 0.0),
    )


THREE_ERRORS = 0.00135
"""The one-sided p-value of three standard errors, beyond which a change is said without an alarm."""


def moved(worse: float, better: float) -> int:
    """Return -1 (1) where the p-value of a change for the worse (better) is beyond three standard errors, else 0.

    Examples
    --------
    >>> moved(0.0004, 0.9996), moved(0.02, 0.98), moved(0.9999, 0.0001)
    (-1, 0, 1)
    """
    return -1 if worse <= THREE_ERRORS else 1 if better <= THREE_ERRORS else 0


def one_sided(p_value: float, *, worse: bool) -> float:
    """Return the p-value of a change for the worse, from a two-sided one.

    Examples
    --------
    >>> one_sided(0.04, worse=True), one_sided(0.04, worse=False)
    (0.02, 0.98)
    """
    return p_value / 2 if worse else 1 - p_value / 2


def same_rows_between_runs(fall: float, error: float, n: int, between_runs: float) -> float:
    """Return the p-value of a fall on the same examples, where runs differ by themselves by a declared amount.

    z = fall / sqrt(se^2 + 2 X^2), p = P(T_(n - 1) >= z).
    """
    return t_tail(fall / math.sqrt(error**2 + 2 * between_runs**2), n - 1)


NEGLIGIBLE = 1e-30
"""Probabilities at an end below this are left out."""


def fall_midp(accepted: Floats, now: Floats) -> float:
    """Return the one-sided mid-p of a fall: the successes of the accepted runs, given those of both together.

    Within a class, the accepted successes are hypergeometric where nothing changed; their sum over the classes has the
    convolution of these distributions. p = P(sum > observed) + P(sum = observed) / 2.

    Parameters
    ----------
    accepted, now
        (k, 2) successes and trials of each class.

    Examples
    --------
    12 of 12, then 1,600 of 2,000: half of Fisher's one-sided 0.069.

    >>> round(fall_midp(np.array([[12.0, 12.0]]), np.array([[1600.0, 2000.0]])), 4)
    0.0347
    """
    chances, least = np.ones(1), 0
    for (right, trials), (right_now, trials_now) in zip(np.rint(accepted), np.rint(now), strict=True):
        total = right + right_now
        k = np.arange(max(0.0, total - trials_now), min(trials, total) + 1)
        logs = log_choose(trials, k) + log_choose(trials_now, total - k)
        logs -= log_choose(trials + trials_now, total)
        own = exp(logs)
        there = np.flatnonzero(own > NEGLIGIBLE)
        chances = np.convolve(chances, own[there[0] : there[-1] + 1])
        least += int(k[there[0]])
    place = int(np.rint(accepted[:, 0].sum())) - least
    if place < 0:
        return 1.0
    return float(min(1.0, chances[place + 1 :].sum() + chances[place : place + 1].sum() / 2))
