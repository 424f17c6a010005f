"""The calibration curve without bins (CORP), its consistency band, and the parts of Brier score and log loss."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from scipy import special

from evalreport.calibration.risks import Risks
from evalreport.engine.distributions import dot
from evalreport.engine.draws import stream
from evalreport.predictions.arrays import Floats, Indices

MANY_DRAWS, FEW_DRAWS, MOST_WORK = 1000, 200, 10_000_000
"""Draws of the band: the larger number where draws times distinct probabilities stay below the last one."""

SHARES_AT_ONCE = 1 << 16
"""Drawn shares of events that are held at a time."""

MOST_GROUPS = 20_000
"""Above so many distinct probabilities, neighbours are drawn together."""


@dataclass(frozen=True, slots=True)
class Curve:
    """The isotonic fit of the outcomes on the probabilities.

    Attributes
    ----------
    p, fit, weight
        (m,) distinct probabilities, ascending; the fitted share of events; the examples' weight.
    mean
        Weighted mean outcome of each, (m,).
    """

    p: Floats
    fit: Floats
    weight: Floats
    mean: Floats


def isotonic(risks: Risks) -> Curve:
    """Fit the outcomes by the rising function of the probability that is nearest (pool adjacent violators).

    References
    ----------
    Dimitriadis, Gneiting and Jordan (2021), PNAS 118:e2016191118.
    """
    p, group = np.unique(risks.p, return_inverse=True)
    group = group.ravel()
    weight = np.bincount(group, weights=risks.w, minlength=len(p)).astype(np.float64)
    mean = np.bincount(group, weights=risks.w * risks.y, minlength=len(p)) / np.where(weight > 0, weight, 1)
    return Curve(p, rising(mean, weight), weight, mean)


def rising(mean: Floats, weight: Floats) -> Floats:
    """Return the rising values (m,) that are nearest to means with these weights."""
    from scipy.optimize import isotonic_regression

    # A weight of 0 is refused, and moves nothing.
    return np.asarray(isotonic_regression(mean, weights=np.maximum(weight, 1e-300)).x)


@dataclass(frozen=True, slots=True)
class Parts:
    """The parts of a mean score: score = miscalibration - discrimination + uncertainty."""

    miscalibration: float
    discrimination: float
    uncertainty: float


def parts(curve: Curve, *, logarithmic: bool) -> Parts:
    """Return the parts of the Brier score or the log loss; infinite where a probability rules out what happened."""
    score = log_score if logarithmic else brier_score
    total = float(curve.weight.sum())
    overall = np.full(len(curve.p), dot(curve.weight, curve.mean) / total)
    own, best, none = (
        dot(curve.weight, score(forecast, curve.mean)) / total for forecast in (curve.p, curve.fit, overall)
    )
    return Parts(own - best, none - best, none)


def brier_score(forecast: Floats, mean: Floats) -> Floats:
    """Return the mean of (f - y)^2 where a share of y is 1, element by element."""
    return np.asarray(mean * (1 - forecast) ** 2 + (1 - mean) * forecast**2)


def log_score(forecast: Floats, mean: Floats) -> Floats:
    """Return the mean of -log of the probability of what happened, with 0 log 0 = 0, element by element."""
    return np.asarray(-special.xlogy(mean, forecast) - special.xlog1py(1 - mean, -forecast))


@dataclass(frozen=True, slots=True)
class Band:
    """What calibrated probabilities would give.

    Attributes
    ----------
    low, high
        (m,) limits of the curve at each distinct probability by itself.
    miscalibration, miscalibration_log
        Mean miscalibration of the Brier score and of the log loss: what chance alone gives.
    """

    low: Floats
    high: Floats
    miscalibration: float
    miscalibration_log: float


def consistency_band(p: Floats, count: Floats, *, level: float, seed: int) -> Band:
    """Draw outcomes from the probabilities and fit each: where 95 % of the curves lie, at each probability by itself.

    Parameters
    ----------
    p, count
        (m,) distinct probabilities, ascending, and how many independent examples have each.
    """
    p, count, groups = _drawn_together(p, count)
    n_draws = MANY_DRAWS if len(p) * MANY_DRAWS <= MOST_WORK else FEW_DRAWS
    tail = (1 - level) / 2
    rank = max(int((n_draws + 1) * tail), 1)
    kept = np.empty((n_draws, len(p)))
    brier = logarithmic = 0.0
    for draws, mean in _outcomes(p, count, n_draws, seed):
        fit = kept[draws]
        fit[:] = [rising(one, count) for one in mean]
        for gain in brier_score(p, mean) - brier_score(fit, mean):
            brier += dot(count, gain)
        for gain in log_score(p, mean) - log_score(fit, mean):
            logarithmic += dot(count, gain)
    kept.sort(axis=0)
    total = float(count.sum()) * n_draws
    return Band(kept[rank - 1][groups], kept[n_draws - rank][groups], brier / total, logarithmic / total)


def _outcomes(p: Floats, count: Floats, n_draws: int, seed: int) -> Iterator[tuple[slice, Floats]]:
    """Yield some of the draws at a time, with their shares of events (b, m)."""
    generator, whole = stream(seed, "calibration curve", 0), np.rint(count).astype(np.int64)
    together = max(1, SHARES_AT_ONCE // len(p))
    for first in range(0, n_draws, together):
        draws = slice(first, min(first + together, n_draws))
        yield draws, generator.binomial(whole, p, size=(draws.stop - first, len(p))) / count


def _drawn_together(p: Floats, count: Floats) -> tuple[Floats, Floats, Indices]:
    """Return probabilities and counts as they are drawn, and which of them each distinct probability is one of."""
    m = len(p)
    if m <= MOST_GROUPS:
        return p, count, np.arange(m)
    groups = (np.arange(m) * MOST_GROUPS // m).astype(np.int64)
    of_group = np.bincount(groups, weights=count).astype(np.float64)
    return np.bincount(groups, weights=count * p) / of_group, of_group, groups
