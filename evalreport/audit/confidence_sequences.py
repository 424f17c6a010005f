"""Confidence sequences for means of bounded losses: limits that hold at every look at once, however often one looks.

Somebody who bets against a hypothetical mean m, fairly if m is true, multiplies a stake of 1 beyond 1 / alpha at *any*
time with probability at most alpha (Ville's inequality). So the means against which no fortune was made make a
confidence sequence. The bets here are constants, mixed over a grid, so that no order of examples changes a figure.

References
----------
Waudby-Smith and Ramdas (2024), J R Stat Soc B 86:1 (betting, grid Kelly); Shin, Ramdas and Rinaldo (2024), New Engl J
Stat Data Sci 2:229 (starting anew at each time, for changes); Clopper and Pearson (1934), Biometrika 26:404.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from evalreport.engine.distributions import beta_quantile

Floats = npt.NDArray[np.float64]

BETS = 0.5 ** np.arange(1, 9)
"""Shares of the stake that are bet: from a half, for a loss that rises by half of what it can, to 1/256."""
BOLD_BETS = np.concatenate([[0.98, 0.75], BETS])
"""For limits of one mean: where losses vary little, nearly the whole stake may be bet on a mean that is lower."""
LATTICE = 50
"""Losses that are not 0 or 1 are kept as weights of the multiples of 1 / LATTICE beside them."""
LOOKS_A_YEAR = 365
TOLERANCE = 1e-9


@dataclass(frozen=True, slots=True)
class Evidence:
    """Losses in [0, 1], condensed: distinct ``levels``, rising, and how many losses stand at each (``weights``)."""

    levels: Floats
    weights: Floats

    @property
    def n(self) -> float:
        """Number of losses."""
        return float(self.weights.sum())

    @property
    def mean(self) -> float:
        """Their mean; nan where there are none."""
        return float(self.weights @ self.levels) / self.n if len(self.levels) else math.nan

    @property
    def mirrored(self) -> Evidence:
        """The same of 1 - loss."""
        return Evidence(1 - self.levels[::-1], self.weights[::-1])


def condense(losses: Floats) -> Evidence:
    """Condense losses (n,) in [0, 1]; exact where all are 0 or 1, else careful.

    A loss between two multiples of 1/50 becomes weights of both that keep its mean. The logarithm of what a bet returns
    is concave in the loss, so no bet returns more on the condensed losses than on the losses themselves: limits become
    wider, never narrower.

    Examples
    --------
    >>> condense(np.array([0.0, 1.0, 0.0])).weights.tolist(), condense(np.array([0.25])).levels.tolist()
    ([2.0, 1.0], [0.24, 0.26])
    """
    place = np.clip(losses, 0, 1) * LATTICE
    below = np.floor(place).astype(np.int64)
    part = place - below
    weights = np.zeros(LATTICE + 2)
    weights += np.bincount(below, weights=1 - part, minlength=LATTICE + 2)
    weights += np.bincount(below + 1, weights=part, minlength=LATTICE + 2)
    kept = np.flatnonzero(weights[: LATTICE + 1] > 0)
    return Evidence(kept.astype(np.float64) / LATTICE, weights[kept])


def together(parts: Sequence[Evidence]) -> Evidence:
    """Add up evidence."""
    if not parts:
        return Evidence(np.empty(0), np.empty(0))
    levels, table = _table(parts)
    return Evidence(levels, table.sum(axis=0))


def share_of_look(look: int) -> float:
    """Return the share of the permitted error that is spent at a look, counted from 1; all shares add up to 1.

    Half goes as 1 / (k (k + 1)), so that the first looks see something, half evenly over the 365 looks of a year, half
    of that over those of the next, and so on, so that a change late in the year is not paid for dearly.

    Examples
    --------
    >>> [round(1 / share_of_look(look)) for look in (1, 7, 30, 365)]
    [4, 104, 818, 1452]
    """
    year = (look - 1) // LOOKS_A_YEAR
    return 0.5 / (look * (look + 1)) + 0.5 / (LOOKS_A_YEAR * 2.0 ** min(year + 1, 1000))


def log_wealth(looks: Sequence[tuple[int, Evidence]], mean: float) -> float:
    """Return the logarithm of what bets against "no look had a mean loss above ``mean``" have made of a stake of 1.

    At look s a share of the stake, ``share_of_look(s)``, begins to bet, and goes on to the present: whenever the mean
    rises, some share began just then. That costs log(1 / share) and makes a change visible that a mean over everything
    would hide.

    Parameters
    ----------
    looks
        Their numbers, rising, each with the losses that were new at it.
    mean
        In (0, 1).
    """
    if not looks:
        return 0.0
    levels, table = _table([evidence for _, evidence in looks])
    shares = np.array([share_of_look(look) for look, _ in looks])
    # 1 + f (x - m) / m, equation (23) of Waudby-Smith and Ramdas with their bet lambda = f / m.
    returns = np.log1p(np.outer(BETS, levels - mean) / mean) @ table.T
    since = np.cumsum(returns[:, ::-1], axis=1)[:, ::-1]
    logs = since + np.log(shares / len(BETS))
    reserve = max(1.0 - float(shares.sum()), 0.0)
    logs = np.append(logs.ravel(), math.log(reserve) if reserve > 0 else -math.inf)
    return float(np.logaddexp.reduce(logs))


def level_reached(looks: Sequence[tuple[int, Evidence]], alpha: float) -> float:
    """Return the lower confidence sequence, at 1 - alpha, of the highest mean loss that any look has had.

    With probability 1 - alpha it never lies above that, at whatever number of looks. 0 where nothing is known.

    Examples
    --------
    >>> good, bad = condense(np.repeat([0.0, 1.0], [95, 5])), condense(np.repeat([0.0, 1.0], [60, 40]))
    >>> round(level_reached([(1, good), (2, good)], 0.05), 2), round(level_reached([(1, good), (2, bad)], 0.05), 2)
    (0.01, 0.23)
    """
    return _largest_refuted(lambda mean: log_wealth(looks, mean), alpha)


def mean_limits(evidence: Evidence, alpha: float) -> tuple[float, float]:
    """Return the confidence sequence, at 1 - alpha, of the mean of all losses so far.

    Half of the stake bets that the mean is higher, half that it is lower, always with the same grid of shares.
    """
    half = alpha / 2
    return _below(evidence, half), 1 - _below(evidence.mirrored, half)


def highest_mean(evidence: Evidence, alpha: float) -> float:
    """Return an upper limit, at 1 - alpha, of the mean behind one sample that was looked at once.

    Of zeros and ones the exact one (Clopper and Pearson); else the betting limit, which holds for any losses in [0, 1].
    """
    if not np.isin(evidence.levels, (0.0, 1.0)).all():
        return 1 - _below(evidence.mirrored, alpha)
    failures, n = evidence.n * evidence.mean, evidence.n
    return 1.0 if failures == n else float(beta_quantile(1 - alpha, failures + 1, n - failures))


def _below(evidence: Evidence, alpha: float) -> float:
    """Return the largest mean that bets from the first example on refute as too low."""

    def log_capital(mean: float) -> float:
        returns = np.log1p(np.outer(BOLD_BETS, evidence.levels - mean) / mean) @ evidence.weights
        return float(np.logaddexp.reduce(returns)) - math.log(len(BOLD_BETS))

    return _largest_refuted(log_capital, alpha) if evidence.n else 0.0


def _largest_refuted(log_capital: Callable[[float], float], alpha: float) -> float:
    """Return the largest mean against which 1 / alpha was made: what is made falls as the mean rises."""
    goal, low, high = -math.log(alpha), 0.0, 1.0
    if log_capital(TOLERANCE) < goal:
        return 0.0
    while high - low > TOLERANCE:
        middle = (low + high) / 2
        low, high = (middle, high) if log_capital(middle) >= goal else (low, middle)
    return low


def _table(parts: Sequence[Evidence]) -> tuple[Floats, Floats]:
    """Put evidence on common levels (l,); return them and the weights (looks, l)."""
    levels = np.unique(np.concatenate([part.levels for part in parts]))
    table = np.zeros((len(parts), len(levels)))
    for row, part in zip(table, parts, strict=True):
        row[np.searchsorted(levels, part.levels)] = part.weights
    return levels, table
