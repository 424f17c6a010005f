"""Bootstrap weights of many rows, fast: multinomial(n, 1/n) from Poisson(1) bytes whose total is then made n.

Independent Poisson(1) counts, given their total S, are multinomial(S, 1/n). Adding n - S units to uniform rows, or
taking S - n uniformly chosen *drawn units* away, makes them multinomial(n, 1/n): exactly, not approximately.
"""

from __future__ import annotations

from functools import cache

import numpy as np
import numpy.typing as npt
from scipy import special

Bytes = npt.NDArray[np.uint8]

_BITS = 16
_ESCAPE = 255


def uniform_multinomial(n: int, size: int, generator: np.random.Generator) -> Bytes:
    """Draw ``size`` bootstrap samples of n rows.

    Parameters
    ----------
    n
        Rows, >= 1.
    size
        Samples.

    Returns
    -------
    (size, n) uint8
        How often each row was drawn; every sample sums to n.

    Examples
    --------
    >>> weights = uniform_multinomial(50, 3, np.random.default_rng(0))
    >>> weights.sum(axis=1).tolist()
    [50, 50, 50]
    """
    weights = _poisson_bytes((size, n), generator)
    excess = weights.sum(axis=1, dtype=np.int64) - n
    for sample, surplus in zip(weights, excess.tolist(), strict=True):
        if surplus > 0:
            _take_away(sample, surplus, generator)
        elif surplus < 0:
            np.add.at(sample, generator.integers(0, n, size=-surplus), 1)
    return weights


@cache
def _thresholds() -> tuple[Bytes, npt.NDArray[np.float64]]:
    """Return the count that 16 random bits settle (or the escape code) and the Poisson(1) distribution function."""
    below = special.pdtr(np.arange(20), 1.0)
    edges = np.arange((1 << _BITS) + 1) / (1 << _BITS)
    low, high = (np.searchsorted(below, edges[k : k + (1 << _BITS)], side="right") for k in (0, 1))
    # The last interval's upper edge is 1, where the distribution function ends.
    settled = (low == high) & (np.arange(1 << _BITS) < (1 << _BITS) - 1)
    return np.where(settled, low, _ESCAPE).astype(np.uint8), below


def _poisson_bytes(shape: tuple[int, int], generator: np.random.Generator) -> Bytes:
    """Draw Poisson(1) counts by inversion: 16 random bits settle nearly all, the rest get 53 more."""
    table, below = _thresholds()
    words = generator.integers(0, 1 << 64, size=-(-shape[0] * shape[1] // 4), dtype=np.uint64, endpoint=False)
    bits = words.view(np.uint16)[: shape[0] * shape[1]]
    counts = table[bits]
    escaped = np.flatnonzero(counts == _ESCAPE)
    uniform = (bits[escaped] + generator.random(len(escaped))) / (1 << _BITS)
    counts[escaped] = np.searchsorted(below, uniform, side="right")
    return counts.reshape(shape)


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
