"""The debiased calibration error: how far bin means lie from their probabilities, without what chance adds."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt

from evalreport.calibration.limits import NO_LIMITS, Limits
from evalreport.engine.distributions import normal_quantile
from evalreport.engine.ranks import mid_ranks
from evalreport.predictions.arrays import Floats, Mask

BINS, LEAST = 10, 20
"""Bins of about equal size, by rank; with fewer examples there is no error."""


def bins_by_rank(p: Floats) -> npt.NDArray[np.uint8]:
    """Return the bin 0 to 9 of each probability p (n,) by its rank, tied ones together: deciles of risk.

    Examples
    --------
    >>> bins_by_rank(np.array([0.3, 0.1, 0.1, 0.9])).tolist()
    [6, 2, 2, 8]
    """
    n = len(p)
    return np.minimum(BINS - 1, np.floor(BINS * (mid_ranks(p) - 0.5) / n)).astype(np.uint8)


@dataclass(frozen=True)
class Binned:
    """One model's residuals y - p by bin.

    Attributes
    ----------
    p, y, bin
        (n,) probability, outcome and bin of each example.
    count, sums, squares, least
        (10,) examples, sums of residuals and of their squares, mean p (1 - p).
    """

    p: Floats
    y: Floats
    bin: npt.NDArray[np.uint8]
    count: Floats
    sums: Floats
    squares: Floats
    least: Floats

    @property
    def n(self) -> int:
        """All examples."""
        return len(self.p)

    @property
    def r(self) -> Floats:
        """Residuals (n,)."""
        return self.y - self.p

    @property
    def filled(self) -> Mask:
        """Which bins (10,) hold two examples or more."""
        return np.asarray(self.count >= 2)

    @cached_property
    def variance(self) -> Floats:
        """Variance (10,) of a residual in each bin, at least mean p (1 - p)."""
        held = self.filled
        count = np.where(held, self.count, 2)
        spread = (self.squares - self.sums**2 / np.where(held, self.count, 1)) / (count - 1)
        return np.asarray(np.where(held, np.maximum(spread, self.least), 0.0))

    @cached_property
    def value(self) -> float:
        """T: unbiased for the sum over bins of their share times the squared mean residual."""
        held = self.filled
        parts = np.where(held, (self.sums**2 - self.squares) / np.where(held, self.count - 1, 1), 0.0)
        return float(parts.sum()) / self.n

    @cached_property
    def pulls(self) -> Floats:
        """Each example's residual times the mean of the other residuals in its bin, (n,)."""
        r = self.r
        others = (self.sums[self.bin] - r) / np.maximum(self.count[self.bin] - 1, 1)
        return np.asarray(np.where(self.filled[self.bin], r * others, 0.0))


def binned(p: Floats, y: Floats) -> Binned | None:
    """Put examples into bins of about equal size; None for fewer than 20, or where no bin holds two.

    Parameters
    ----------
    p, y
        (n,) probabilities and outcomes, 0 or 1.
    """
    n = len(p)
    if n < LEAST:
        return None
    where, r = bins_by_rank(p), y - p
    count = np.bincount(where, minlength=BINS).astype(np.float64)
    if not (count >= 2).any():
        return None
    sums, squares, least = (
        np.bincount(where, weights=values, minlength=BINS).astype(np.float64)
        for values in (r, r * r, p * (1 - p))
    )
    return Binned(p, y, where, count, sums, squares, least / np.maximum(count, 1))


def squared_error_limits(found: Binned, level: float) -> tuple[float, float]:
    """Return limits of the squared error, cut at 0: all theta with (T - theta)^2 <= z^2 (A theta + V0)."""
    held, n, z2 = found.filled, found.n, normal_quantile((1 + level) / 2) ** 2
    count, s2 = found.count[held], found.variance[held]
    mean, share = found.sums[held] / count, found.count[held] / n
    v0 = 2 / n**2 * float((count / (count - 1) * s2**2).sum())
    m = float((share * mean**2).sum())
    if m > 0:
        a = float(4 * (share * mean**2 * s2).sum() + (share * (mean**2) ** 2).sum() - m**2) / (n * m)
    else:
        a = 4 * float(s2.max()) / n
    t = found.value
    half = math.sqrt(max(z2 * (z2 * a * a / 4 + a * t + v0), 0.0))
    return max(t + z2 * a / 2 - half, 0.0), max(t + z2 * a / 2 + half, 0.0)


def calibration_error(found: Binned) -> float:
    """Return the root of the squared error, 0 where that is negative."""
    return math.sqrt(max(found.value, 0.0))


def difference_limits(a: Binned, b: Binned, level: float) -> Limits:
    """Return limits of the difference of two models' squared errors on the same examples."""
    if a.n != b.n:
        return NO_LIMITS
    u = a.pulls - b.pulls
    v1 = float((2 * u).var()) / a.n
    shared = np.bincount(a.bin * BINS + b.bin, weights=a.r * b.r, minlength=BINS * BINS).reshape(BINS, BINS)
    counts = np.maximum(a.count, 1)[:, None] * np.maximum(b.count, 1)[None, :]
    held = a.filled[:, None] & b.filled[None, :]
    own = sum(float((one.variance[one.filled] ** 2).sum()) for one in (a, b))
    vn = 2 / a.n**2 * (own - 2 * float(np.where(held, shared**2 / counts, 0.0).sum()))
    half = normal_quantile((1 + level) / 2) * math.sqrt(max(v1, vn, 0.0))
    difference = a.value - b.value
    return difference - half, difference + half
