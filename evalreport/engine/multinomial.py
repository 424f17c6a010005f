"""Bootstrap weights of many rows, fast: multinomial(n, 1/n) from Poisson bytes whose total is then made n.

Independent Poisson counts, given their total S, are multinomial(S, 1/n). Adding n - S units to uniform rows, or
taking S - n uniformly chosen *drawn units* away, makes them multinomial(n, 1/n): exactly, not approximately. The
rate is a little below 1, so that units are nearly always missing, and adding is the cheaper of the two.
"""

from __future__ import annotations

import math
from functools import cache

import numpy as np
import numpy.typing as npt
from scipy import special

from evalreport.engine.portable import exp

Bytes = npt.NDArray[np.uint8]

RATE = 0.9896
SHARES = (96, 95, 47, 15, 3)
"""How many of 256 random bytes stand for the counts 0 to 4: the closest to Poisson(RATE) that eight bits can be.

Of all rates and shares these leave least to be put right: 0.9 % of the counts are drawn again, 1 % of the units
are added.
"""

LARGEST = 24
"""A Poisson(1) count is larger once in 1e25 draws."""

_TILE = 1 << 18
"""Counts made at a time, so that random bytes, comparisons and counts stay in the processor's cache."""

_SAFE_SUM = 64
"""So many counts are added as bytes: their sum, about as many, passes 255 less than once in 1e60 times."""


def uniform_multinomial(
    n: int, size: int, generator: np.random.Generator, *, out: Bytes | None = None
) -> Bytes:
    """Draw ``size`` bootstrap samples of n rows.

    Parameters
    ----------
    n
        Rows, >= 1.
    size
        Samples.
    out
        Memory for at least n ``size`` counts, to be used again and again; fresh memory costs as much as the draws.

    Returns
    -------
    (n, size) uint8
        How often each row was drawn; every sample (column) sums to n.

    Examples
    --------
    >>> weights = uniform_multinomial(50, 3, np.random.default_rng(0))
    >>> weights.sum(axis=0).tolist()
    [50, 50, 50]
    """
    counts = np.empty(n * size, dtype=np.uint8) if out is None else out[: n * size]
    _poisson_bytes(counts, generator)
    weights = counts.reshape(n, size)
    missing = n - column_sums(weights)
    for sample in np.flatnonzero(missing < 0).tolist():
        _take_away(weights[:, sample], -int(missing[sample]), generator)
    missing = np.maximum(missing, 0)
    places = generator.integers(0, n, size=int(missing.sum())) * size
    places += np.repeat(np.arange(size), missing)
    np.add.at(counts, places, np.uint8(1))
    return weights


def column_sums(weights: Bytes) -> npt.NDArray[np.int64]:
    """Add up bootstrap counts (n, b) by column, (b,), many rows at a time."""
    n, size = weights.shape
    whole = n - n % _SAFE_SUM
    sums = weights[whole:].sum(axis=0, dtype=np.int64)
    step = _SAFE_SUM * max(_TILE // (_SAFE_SUM * size), 1)
    for start in range(0, whole, step):
        # Rows that lie far apart are added, so that the inner loop is long.
        rows = weights[start : min(start + step, whole)].reshape(_SAFE_SUM, -1)
        sums += np.add.reduce(rows, axis=0, dtype=np.uint8).reshape(-1, size).sum(axis=0, dtype=np.int64)
    return np.asarray(sums)


def _poisson_bytes(counts: Bytes, generator: np.random.Generator) -> None:
    """Fill ``counts`` (n,) with Poisson(RATE): bytes settle 0 to 4, then a few places are drawn again."""
    n = len(counts)
    larger = np.empty(min(n, _TILE), dtype=np.bool_)
    edges = np.cumsum(SHARES)[:-1].astype(np.uint8)
    for start in range(0, n, _TILE):
        tile = counts[start : start + _TILE]
        above = larger[: len(tile)]
        words = generator.integers(0, 1 << 64, size=-(-len(tile) // 8), dtype=np.uint64, endpoint=False)
        # Little end first on every machine, so that every machine draws the same counts.
        uniform = words.astype("<u8", copy=False).view(np.uint8)[: len(tile)]
        np.greater_equal(uniform, edges[0], out=tile.view(np.bool_))
        for edge in edges[1:]:
            np.greater_equal(uniform, edge, out=above)
            np.add(tile, above.view(np.uint8), out=tile)
    for count, rate in enumerate(_redrawn()):
        again = int(generator.poisson(n * rate))
        counts[generator.integers(0, n, size=again)] = count


@cache
def _redrawn() -> tuple[float, ...]:
    """Return how often a place is set to 0, then to 1, and so on, so that Poisson(RATE) is what comes out.

    With D the distribution of the bytes, the largest c with c D <= p leaves p - c D to be drawn anew. A place is set
    to k with probability h_k whatever stands there, k ascending, and the last setting stays: so p_k = c D_k +
    h_k prod_(j > k) (1 - h_j), solved from the largest k down. Places are set by a Poisson number of uniform
    draws, so that places are independent; at rate -ln(1 - h) each is met at least once with probability h.
    """
    k = np.arange(LARGEST + 1)
    wanted = exp(special.xlogy(k, RATE) - RATE - special.gammaln(k + 1))
    bytes_give = np.zeros(LARGEST + 1)
    bytes_give[: len(SHARES)] = np.array(SHARES) / 256
    kept = (wanted[: len(SHARES)] / bytes_give[: len(SHARES)]).min()
    rates, later = np.zeros(LARGEST + 1), 1.0
    for count in k[::-1]:
        chance = max(wanted[count] - kept * bytes_give[count], 0.0) / later
        rates[count] = -math.log1p(-chance)
        later *= 1 - chance
    return tuple(rates.tolist())


def _take_away(sample: Bytes, surplus: int, generator: np.random.Generator) -> None:
    """Remove ``surplus`` units, each drawn one equally likely: rows are accepted in proportion to their count."""
    largest = int(sample.max())
    while surplus:
        tries = max(32, int(1.1 * largest * surplus))
        rows = generator.integers(0, len(sample), size=tries)
        heights = generator.random(tries) * largest
        accepted = np.flatnonzero(heights < sample[rows])
        rows, heights = rows[accepted], heights[accepted]
        repeated = len(np.unique(rows)) < len(rows)
        if not repeated:
            taken = rows[:surplus]
            sample[taken] -= 1
            surplus -= len(taken)
            continue
        # A row met again holds one unit less by then.
        for row, height in zip(rows.tolist(), heights.tolist(), strict=True):
            if surplus and height < sample[row]:
                sample[row] -= 1
                surplus -= 1
