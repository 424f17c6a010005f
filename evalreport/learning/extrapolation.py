"""A power law through a learning curve: error = a + b n^-c, fitted, checked, and carried a little beyond the data."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from evalreport.algorithm_records import LearningFitRecord
from evalreport.engine.distributions import chi2_tail
from evalreport.engine.draws import bootstrap_rows
from evalreport.engine.portable import dot, exp, log
from evalreport.texts import Message

Floats = npt.NDArray[np.float64]
Codes = npt.NDArray[np.int64]

LEAST_SIZES = 4
"""Three numbers are fitted: with fewer sizes nothing would be left to check the fit by."""
REDRAWN = 400
EXPONENTS = np.array([0.02 * 150.0 ** (k / 240) for k in range(241)])
LEAST_P = 0.01
"""Below this p-value of the lack of fit the law is refused."""
FEW_FITS = 5
"""With fewer fits at each size their own variation cannot be drawn."""


@dataclass(frozen=True, slots=True)
class PointLosses:
    """The losses at one training size ``x``: (m,) each with its example and its fit (0 to ``n_fits`` - 1)."""

    x: float
    losses: Floats
    example: Codes
    fit: Codes
    n_fits: int


def extrapolated(
    model: str,
    metric: str,
    points: Sequence[PointLosses],
    *,
    level: float,
    seed: int,
    margin: float | None = None,
) -> LearningFitRecord:
    """Fit a + b n^-c to a learning curve, and say what it gives at twice the largest size.

    The points' covariance comes from drawing examples and fits again, the same draws at every size; the fit is
    generalised least squares with it, for each c on a grid, and with a at least 0.

    Parameters
    ----------
    points
        In rising order of size.
    margin
        Where declared: the size is sought at which the fitted error is lower than at the largest size by so much.

    Returns
    -------
    LearningFitRecord
        With a reason instead of numbers where there are too few sizes, the error does not fall, or the law does not
        fit (chi-squared, S - 3 degrees of freedom).
    """
    sizes = np.array([point.x for point in points])
    if len(sizes) < LEAST_SIZES:
        return _refused(model, metric, level, Message("extrapolation.few_sizes", least=LEAST_SIZES))
    values = np.array([float(point.losses.mean()) for point in points])
    drawn = redrawn_errors(points, seed)
    away = drawn - drawn.mean(axis=0)
    covariance = np.einsum("bs,bt->st", away, away) / (REDRAWN - 1)
    scale = float(np.trace(covariance)) / len(sizes)
    if scale <= 0:
        return _refused(model, metric, level, Message("extrapolation.constant"))
    # A ridge of one part in a thousand: draws of few examples leave the covariance nearly singular.
    root = cholesky(covariance + 1e-3 * scale * np.eye(len(sizes)))
    fit = power_law(sizes, values[None, :], root)
    a, b, c, misfit = (float(part[0]) for part in fit)
    p = chi2_tail(misfit, len(sizes) - 3)
    reason = _why_not(b, c, p)
    if reason is not None:
        return _refused(model, metric, level, reason)
    again = power_law(sizes, drawn, root)
    tails = ((1 - level) / 2, (1 + level) / 2)
    at = 2 * float(sizes[-1])
    ahead = again[0] + again[1] * exp(-again[2] * math.log(at))
    low, high = (float(np.quantile(ahead, tail)) for tail in tails)
    needed, needed_low, needed_high = _needed(fit, again, float(sizes[-1]), margin, tails)
    return LearningFitRecord(
        model=model,
        metric=metric,
        a=a,
        b=b,
        c=c,
        a_low=float(np.quantile(again[0], tails[0])),
        a_high=float(np.quantile(again[0], tails[1])),
        at=at,
        predicted=a + b * at**-c,
        low=low,
        high=high,
        level=level,
        needed=needed,
        needed_low=needed_low,
        needed_high=needed_high,
    )


def _refused(model: str, metric: str, level: float, reason: Message) -> LearningFitRecord:
    return LearningFitRecord(model, metric, *(None,) * 9, level=level, reason=reason)


def _why_not(b: float, c: float, p: float) -> Message | None:
    if b <= 0:
        return Message("extrapolation.not_falling")
    if p < LEAST_P:
        return Message("extrapolation.no_fit", p=p)
    if c >= EXPONENTS[-2]:
        return Message("extrapolation.flat")
    if c <= EXPONENTS[1]:
        return Message("extrapolation.straight")
    return None


def power_law(sizes: Floats, values: Floats, root: Floats) -> tuple[Floats, Floats, Floats, Floats]:
    """Fit a + b n^-c to each row of values (B, S); ``root`` is the Cholesky factor of their covariance.

    Returns
    -------
    a, b, c, misfit
        (B,) each; misfit is the weighted sum of squares at the best exponent.

    Examples
    --------
    A curve without error is found again:

    >>> n = np.array([50.0, 100.0, 200.0, 400.0, 800.0])
    >>> c = float(EXPONENTS[150])
    >>> found = power_law(n, (0.1 + 2 * n**-c)[None, :], np.eye(5))
    >>> [round(float(part[0]), 6) for part in found[:2]], bool(found[2][0] == c)
    ([0.1, 2.0], True)
    """
    whitened = solved(root, values.T)
    ones, logs = solved(root, np.ones((len(sizes), 1)))[:, 0], log(sizes / sizes[0])
    square = dot(ones, ones)
    of_ones = np.einsum("s,sb->b", ones, whitened) / square
    best = [np.zeros(len(values)), np.zeros(len(values)), np.zeros(len(values)), np.full(len(values), np.inf)]
    for c in EXPONENTS:
        falling = solved(root, exp(-c * logs)[:, None])[:, 0]
        shared = dot(falling, ones) / square
        apart = falling - shared * ones
        b = np.einsum("s,sb->b", apart, whitened) / dot(apart, apart)
        a = of_ones - shared * b
        # An error below 0 is none: where a would be negative, it is 0.
        alone = np.einsum("s,sb->b", falling, whitened) / dot(falling, falling)
        a, b = np.where(a < 0, 0.0, a), np.where(a < 0, alone, b)
        misfit = ((whitened - ones[:, None] * a - falling[:, None] * b) ** 2).sum(axis=0)
        better = misfit < best[3]
        for part, new in zip(best, (a, b * sizes[0] ** c, np.full(len(values), c), misfit), strict=True):
            part[better] = new[better]
    return best[0], best[1], best[2], best[3]


def cholesky(matrix: Floats) -> Floats:
    """Return the lower triangular L (S, S) with L L' = a positive definite matrix, in one fixed order of sums."""
    root = np.zeros_like(matrix)
    for j in range(len(matrix)):
        root[j:, j] = matrix[j:, j] - np.einsum("ik,k->i", root[j:, :j], root[j, :j])
        root[j:, j] /= np.sqrt(root[j, j])
    return root


def solved(root: Floats, right: Floats) -> Floats:
    """Return X (S, B) with root X = right, for a lower triangular root."""
    found = np.array(right, dtype=np.float64)
    for j in range(len(root)):
        found[j] = (found[j] - np.einsum("k,kb->b", root[j, :j], found[:j])) / root[j, j]
    return found


def redrawn_errors(points: Sequence[PointLosses], seed: int) -> Floats:
    """Return (B, S) errors with examples and fits drawn again, the same draws at every point.

    So they vary with the test examples and, from five fits on, with what each fit was trained on.
    """
    examples = np.unique(np.concatenate([point.example for point in points]))
    n_fits = min(point.n_fits for point in points)
    by_example = np.concatenate(list(bootstrap_rows(len(examples), REDRAWN, seed=seed)))
    by_fit = np.ones((REDRAWN, max(point.n_fits for point in points)))
    if n_fits >= FEW_FITS and all(point.n_fits == n_fits for point in points):
        by_fit = np.concatenate(list(bootstrap_rows(n_fits, REDRAWN, seed=seed + 1)))
    found = np.empty((REDRAWN, len(points)))
    for s, point in enumerate(points):
        place = np.searchsorted(examples, point.example)
        for b in range(REDRAWN):
            weights = by_example[b, place] * by_fit[b, point.fit]
            total = weights.sum()
            found[b, s] = dot(weights, point.losses) / total if total else point.losses.mean()
    return found


def _needed(
    fit: tuple[Floats, Floats, Floats, Floats],
    again: tuple[Floats, Floats, Floats, Floats],
    largest: float,
    margin: float | None,
    tails: tuple[float, float],
) -> tuple[float | None, float | None, float | None]:
    """Return the size at which the fitted error is lower by the margin, with its limits; None where it never is."""
    if margin is None:
        return None, None, None
    values = []
    for _, b, c, _ in (fit, again):
        # a + b n^-c = a + b N^-c - margin, so n = (N^-c - margin / b)^(-1/c); never where that is not positive.
        rest = exp(-c * math.log(largest)) - margin / np.maximum(b, 1e-300)
        with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
            values.append(np.where((b > 0) & (rest > 0), exp(-log(np.maximum(rest, 1e-300)) / c), np.inf))
    sizes = (
        float(values[0][0]),
        *(float(np.quantile(values[1], t, method="inverted_cdf")) for t in tails),
    )
    needed, low, high = (size if np.isfinite(size) else None for size in sizes)
    return needed, low, high
