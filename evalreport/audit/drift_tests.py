"""Whether two samples have the same distribution: tests with effect sizes, of counts and of numbers.

Pure functions of arrays. The first sample is the reference, the second is what is asked about.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from evalreport.engine.distributions import chi2_tail
from evalreport.engine.portable import dot, exp, log
from evalreport.engine.ranks import mid_ranks
from evalreport.engine.signed_ranks import signed_rank_tail
from evalreport.texts import Message, Text

Floats = npt.NDArray[np.float64]

LEAST_EXPECTED = 5.0
"""Expected counts below this are too small for chi-square (Cochran 1954): rare values are counted together."""
BINS = 10
"""Bins of the population stability index: deciles of the reference."""
SMOOTHING = 0.5
"""Added to each count of the index, which is infinite where a count is 0."""


@dataclass(frozen=True, slots=True)
class Drift:
    """What a test of two samples found; ``reason`` says why there is none.

    ``effect`` names ``effect_size``; ``details`` holds further sizes by name.
    """

    test: str | None = None
    statistic: float | None = None
    p_value: float | None = None
    effect: str | None = None
    effect_size: float | None = None
    details: Mapping[str, float] = field(default_factory=dict)
    reason: Text | None = None


def of_counts(then: npt.NDArray[Any], now: npt.NDArray[Any]) -> Drift:
    """Compare two samples of categories by their counts (k,): chi-square, or Fisher's exact test of two categories.

    Cramer's V is sqrt(chi2 / n) of the 2 x k table: 0.1 is small, 0.3 medium, 0.5 large (Cohen 1988). Categories that
    are expected too rarely are counted together; where only two are left and one is too rare, the test is exact.

    Examples
    --------
    >>> found = of_counts(np.array([50, 50]), np.array([30, 70]))
    >>> found.test, round(found.statistic, 3), round(found.p_value, 4), round(found.effect_size, 3)
    ('chi_square', 8.333, 0.0039, 0.204)
    """
    then, now = np.asarray(then, dtype=np.float64), np.asarray(now, dtype=np.float64)
    there = then + now > 0
    then, now = then[there], now[there]
    if not then.sum() or not now.sum():
        return Drift(reason=Message("drift.empty"))
    if len(then) < 2:
        return Drift(effect="cramers_v", effect_size=0.0, reason=Message("drift.one_value"))
    whole = _chi_square(then, now)
    v = math.sqrt(whole / (then.sum() + now.sum()))
    sizes = {"psi": stability_index(then, now)}
    then, now = _pooled(then, now)
    if len(then) < 2:
        return Drift(effect="cramers_v", effect_size=v, details=sizes, reason=Message("drift.too_few"))
    if len(then) == 2 and _expected(then, now).min() < LEAST_EXPECTED:
        return Drift("fisher_exact", None, fisher_exact(then, now), "cramers_v", v, sizes)
    statistic = _chi_square(then, now)
    p = chi2_tail(statistic, len(then) - 1)
    return Drift("chi_square", statistic, _never_zero(p), "cramers_v", v, sizes)


def of_numbers(then: Floats, now: Floats) -> Drift:
    """Compare two samples of numbers: Kolmogorov-Smirnov; the Wasserstein distance in standard deviations of the first.

    The p-value is Stephens' (1970, J R Stat Soc B 32:115) form of the limit; with ties it is too large.
    """
    then, now = np.sort(then[np.isfinite(then)]), np.sort(now[np.isfinite(now)])
    if not len(then) or not len(now):
        return Drift(reason=Message("drift.empty"))
    every = np.concatenate([then, now])
    at_then = np.searchsorted(then, every, side="right") / len(then)
    at_now = np.searchsorted(now, every, side="right") / len(now)
    statistic = float(np.abs(at_then - at_now).max())
    spread = float(then.std())
    distance = wasserstein(then, now)
    sizes = {"wasserstein": distance, "psi": stability_of_numbers(then, now)}
    standardised = distance / spread if spread > 0 else None
    return Drift(
        "kolmogorov_smirnov",
        statistic,
        _never_zero(kolmogorov_tail(statistic, len(then), len(now))),
        "wasserstein_sd",
        standardised,
        sizes,
        None if standardised is not None else Message("drift.no_spread"),
    )


def of_pairs(then: Floats, now: Floats) -> Drift:
    """Compare numbers of the same examples: Wilcoxon's signed ranks, zeros dropped."""
    difference = now - then
    difference = difference[np.isfinite(difference) & (difference != 0)]
    spread = float(np.nanstd(then))
    size = float(np.nanmean(np.abs(now - then))) / spread if spread > 0 else None
    if not len(difference):
        return Drift("wilcoxon", 0.0, 1.0, "mean_change_sd", 0.0)
    above = float(mid_ranks(np.abs(difference))[difference > 0].sum())
    p = min(1.0, 2 * min(signed_rank_tail(difference), signed_rank_tail(-difference)))
    return Drift("wilcoxon", above, _never_zero(p), "mean_change_sd", size)


def fisher_exact(then: Floats, now: Floats) -> float:
    """Return the two-sided p-value of Fisher's exact test of a 2 x 2 table: the tables that are no more likely."""
    (a, b), (c, d) = then, now
    row, column, n = a + b, a + c, a + b + c + d
    k = np.arange(max(0, row + column - n), min(row, column) + 1)
    logs = _log_choose(column, k) + _log_choose(n - column, row - k) - _log_choose(n, row)
    chances = exp(logs)
    return float(min(1.0, chances[chances <= chances[k == a][0] * (1 + 1e-7)].sum()))


def kolmogorov_tail(statistic: float, n: int, m: int) -> float:
    """Return P(D >= statistic) of two samples of the same continuous distribution."""
    from scipy.special import kolmogorov

    effective = math.sqrt(n * m / (n + m))
    return float(kolmogorov((effective + 0.12 + 0.11 / effective) * statistic))


def wasserstein(then: Floats, now: Floats) -> float:
    """Return the area between two distribution functions, from sorted samples: the first Wasserstein distance."""
    every = np.sort(np.concatenate([then, now]))
    left = every[:-1]
    at_then = np.searchsorted(then, left, side="right") / len(then)
    at_now = np.searchsorted(now, left, side="right") / len(now)
    return dot(np.abs(at_then - at_now), np.diff(every))


def stability_index(then: Floats, now: Floats) -> float:
    """Return the population stability index of counts: sum (q - p) ln(q / p), with 0.5 added to each count.

    By custom below 0.1 nothing to speak of, above 0.25 another population. It grows by chance in small samples, so it
    is a size and not a test.
    """
    p, q = then + SMOOTHING, now + SMOOTHING
    p, q = p / p.sum(), q / q.sum()
    return dot(q - p, log(q / p))


def stability_of_numbers(then: Floats, now: Floats) -> float:
    """Return the population stability index over the deciles of the reference, from sorted samples."""
    edges = np.unique(np.quantile(then, np.arange(1, BINS) / BINS))
    counts = [
        np.bincount(np.searchsorted(edges, sample, side="left"), minlength=len(edges) + 1)
        for sample in (then, now)
    ]
    return stability_index(counts[0].astype(np.float64), counts[1].astype(np.float64))


def _expected(then: Floats, now: Floats) -> Floats:
    totals = np.array([then.sum(), now.sum()])
    return np.asarray(np.outer(totals, then + now) / totals.sum(), dtype=np.float64)


def _chi_square(then: Floats, now: Floats) -> float:
    expected = _expected(then, now)
    return float(((np.stack([then, now]) - expected) ** 2 / expected).sum())


def _pooled(then: Floats, now: Floats) -> tuple[Floats, Floats]:
    """Count the categories that are expected too rarely together, with the next rarest where that is still too few."""
    order = np.argsort(then + now, kind="stable")
    then, now = then[order], now[order]
    least = _expected(then, now).min(axis=0)
    k = int((least < LEAST_EXPECTED).sum())
    while 0 < k < len(then) - 1 and least[:k].sum() < LEAST_EXPECTED:
        k += 1
    if k < 2 or len(then) == 2:
        return then, now
    k = min(k, len(then) - 1)
    return np.append(then[:k].sum(), then[k:]), np.append(now[:k].sum(), now[k:])


def _log_choose(n: Any, k: Any) -> Any:
    from scipy.special import gammaln

    return gammaln(n + 1.0) - gammaln(k + 1.0) - gammaln(n - k + 1.0)


def _never_zero(p: float) -> float:
    return max(float(p), math.ulp(0.0))
