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

MANY_DRAWS, FEW_DRAWS, MOST_WORK = 1000, 200, 2_000_000
"""Draws of the band: the larger number where draws times distinct probabilities stay below the last one."""

FITTED_AT_ONCE = 1 << 16
"""Drawn shares that are fitted in one call: a call by itself takes as long as the fit of a thousand."""

MOST_APART, GROUPS = 20_000, 5_000
"""Above so many distinct probabilities, neighbours are drawn together, in so many groups."""


EVERYWHERE = slice(None)


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
    """Return the mean of (f - y)^2 where a share of y is 1, element by element.

    Parameters
    ----------
    forecast, mean
        (n,) forecasts f and shares of y that are 1, both in [0, 1].
    """
    return np.asarray(mean * (1 - forecast) ** 2 + (1 - mean) * forecast**2)


def log_score(forecast: Floats, mean: Floats) -> Floats:
    """Return the mean of -log of the probability of what happened, with 0 log 0 = 0, element by element.

    Parameters
    ----------
    forecast, mean
        (n,) forecasts and shares of events, both in [0, 1]; natural logarithms, infinite where an impossible event
        happened.
    """
    return np.asarray(-special.xlogy(mean, forecast) - special.xlog1py(1 - mean, -forecast))


@dataclass(frozen=True, slots=True)
class Band:
    """What calibrated probabilities would give.

    Attributes
    ----------
    low, high
        Limits of the curve at each of the probabilities asked for, by itself.
    miscalibration, miscalibration_log
        Mean miscalibration of the Brier score and of the log loss: what chance alone gives.
    """

    low: Floats
    high: Floats
    miscalibration: float
    miscalibration_log: float


def consistency_band(
    p: Floats, count: Floats, *, level: float, seed: int, at: Indices | slice = EVERYWHERE
) -> Band:
    """Draw outcomes from the probabilities and fit each: where 95 % of the curves lie, at each probability by itself.

    Parameters
    ----------
    p, count
        (m,) distinct probabilities, ascending, and how many independent examples have each.
    at
        The positions of the probabilities whose limits are wanted.
    """
    p, count, groups = _drawn_together(p, count)
    n_draws = MANY_DRAWS if len(p) * MANY_DRAWS <= MOST_WORK else FEW_DRAWS
    tail = (1 - level) / 2
    rank = max(int((n_draws + 1) * tail), 1)
    wanted, places = np.unique(groups[at], return_inverse=True)
    kept = np.empty((n_draws, len(wanted)))
    brier = logarithmic = 0.0
    # Scores of given forecasts are straight lines in the mean outcome.
    lines = [(count * (event - rest), dot(count, rest)) for event, rest in _scores_by_outcome(p)]
    done = 0
    for mean in _outcomes(p, count, n_draws, seed):
        fit, weight, curves = _fits(mean, count)
        kept[done : done + len(mean)] = curves[:, wanted]
        done += len(mean)
        of_brier, of_log = (float((mean @ slope).sum()) + start * len(mean) for slope, start in lines)
        # Within a block the mean outcome is the fit.
        brier += of_brier - dot(weight, brier_score(fit, fit))
        logarithmic += of_log - dot(weight, log_score(fit, fit))
    low, high = np.partition(kept, (rank - 1, n_draws - rank), axis=0)[[rank - 1, n_draws - rank]]
    total = float(count.sum()) * n_draws
    return Band(low[places], high[places], brier / total, logarithmic / total)


def _scores_by_outcome(p: Floats) -> list[tuple[Floats, Floats]]:
    """Return the Brier score and the log loss of probabilities (m,) where the event occurs and where it does not.

    What a probability of 0 or 1 rules out is never drawn: it counts 0.
    """
    event, rest = np.where(p > 0, p, 1.0), np.where(p < 1, p, 0.0)
    return [((1 - p) ** 2, p**2), (-special.xlogy(1.0, event), -special.xlog1py(1.0, -rest))]


def _fits(mean: Floats, count: Floats) -> tuple[Floats, Floats, Floats]:
    """Return the fits of several drawn shares (b, m): the values of all blocks, their weights, and the curves (b, m).

    All are fitted in one call: each row is lifted by 2 above the one before, so that no block reaches into the next
    row. Neighbours that do not rise are in one block in any case, and enter the fit as one: most outcomes do not. The
    values are the blocks' own means.
    """
    from scipy.optimize import isotonic_regression

    rises = np.ones(mean.shape, dtype=np.bool_)
    np.greater(mean[:, 1:], mean[:, :-1], out=rises[:, 1:])
    starts = np.flatnonzero(rises)
    sums = np.add.reduceat((count * mean).ravel(), starts)
    weights = np.add.reduceat(np.tile(count, len(mean)), starts)
    fitted = isotonic_regression(sums / weights + 2.0 * (starts // mean.shape[1]), weights=weights)
    # Rounding of sums must not leave a share above 1.
    fit = np.minimum(np.add.reduceat(sums, fitted.blocks[:-1]) / fitted.weights, 1.0)
    sizes = np.diff(starts[fitted.blocks[:-1]], append=mean.size)
    return fit, fitted.weights, np.repeat(fit, sizes).reshape(mean.shape)


def _outcomes(p: Floats, count: Floats, n_draws: int, seed: int) -> Iterator[Floats]:
    """Yield the drawn shares of events, several draws (b, m) at a time."""
    generator, whole = stream(seed, "calibration curve", 0), np.rint(count).astype(np.int64)
    several = np.flatnonzero(whole != 1)
    trials, chance, examples = whole[several], p[several], count[several]
    at_once = max(FITTED_AT_ONCE // len(p), 1)
    for start in range(0, n_draws, at_once):
        mean = np.empty((min(at_once, n_draws - start), len(p)))
        if len(several):
            for row in mean:
                row[:] = generator.random(len(p)) < p
                row[several] = generator.binomial(trials, chance) / examples
        else:
            mean[:] = generator.random(mean.shape) < p
        yield mean


def _drawn_together(p: Floats, count: Floats) -> tuple[Floats, Floats, Indices]:
    """Return probabilities and counts as they are drawn, and which of them each distinct probability is one of."""
    m = len(p)
    if m <= MOST_APART:
        return p, count, np.arange(m)
    groups = (np.arange(m) * GROUPS // m).astype(np.int64)
    of_group = np.bincount(groups, weights=count).astype(np.float64)
    return np.bincount(groups, weights=count * p) / of_group, of_group, groups
