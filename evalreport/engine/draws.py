"""The only source of randomness: streams derived from (seed, purpose, block), so that nothing depends on order.

Neither another metric nor another number of jobs changes a figure: a stream belongs to one purpose and one block
of replicates, and the size of a block depends on the number of units alone. (A further model splits the cells of
the label metrics, and so moves their draws.)
"""

from __future__ import annotations

import zlib
from collections.abc import Iterator

import numpy as np
import numpy.typing as npt

from evalreport.engine.multinomial import Bytes, uniform_multinomial

Floats = npt.NDArray[np.float64]

MANY_ROWS = 20_000
"""From so many rows on, Poisson bytes are faster than drawing row numbers and counting them."""

_CELLS_IN_A_BLOCK = 1 << 20
"""Weights drawn at once (8 MB as float64): bounds memory whatever the number of replicates."""

_BYTES_IN_A_BLOCK = 1 << 26
"""The same where weights are bytes: 64 MB, or 8 replicates where there are more than 8 million rows."""


def stream(seed: int, purpose: str, block: int) -> np.random.Generator:
    """Return the generator of one block of one purpose.

    Parameters
    ----------
    seed
        The user's seed, >= 0.
    purpose
        What is drawn ("bootstrap rows"); its CRC-32 enters the seed sequence.
    block
        Number of the block, from 0.

    Returns
    -------
    numpy.random.Generator
        PCG64 on ``SeedSequence(seed, spawn_key=(crc32(purpose), block))``.

    Examples
    --------
    >>> bool(stream(0, "a", 0).integers(1000) == stream(0, "a", 0).integers(1000))
    True
    """
    key = (zlib.crc32(purpose.encode()), block)
    return np.random.Generator(np.random.PCG64(np.random.SeedSequence(seed, spawn_key=key)))


def blocks(n_resamples: int, n_units: int) -> Iterator[tuple[int, int]]:
    """Yield (block number, replicates in it); the size depends on ``n_units`` alone, not on the machine."""
    n_units = max(n_units, 1)
    # Very many rows: still several replicates side by side, as long as they fit into 128 MB.
    several = min(16, 16 * _CELLS_IN_A_BLOCK // n_units)
    size = max(1, min(n_resamples, max(_CELLS_IN_A_BLOCK // n_units, several)))
    for block, start in enumerate(range(0, n_resamples, size)):
        yield block, min(size, n_resamples - start)


def bootstrap_cells(counts: Floats, n_resamples: int, *, seed: int) -> Iterator[Floats]:
    """Yield blocks of bootstrap weights of distinct cells: multinomial(n, counts / n).

    Drawing cells is the same as drawing rows and counting them, at a cost that does not depend on n.

    Parameters
    ----------
    counts
        (u,) how often each distinct cell occurs; their sum is n.

    Yields
    ------
    (b, u) float64
        Multiplicity of each *cell* in each replicate; rows sum to n.
    """
    n = round(float(counts.sum()))
    probabilities = counts / counts.sum()
    for block, size in blocks(n_resamples, len(counts)):
        draws = stream(seed, "bootstrap cells", block).multinomial(n, probabilities, size=size)
        yield draws.astype(np.float64)


def bootstrap_rows(n: int, n_resamples: int, *, seed: int) -> Iterator[Floats]:
    """Yield blocks of bootstrap weights of rows: multinomial(n, 1/n), as (b, n) float64."""
    yield from _uniform_multinomial(n, n_resamples, seed=seed, purpose="bootstrap rows")


def bootstrap_row_bytes(
    n: int, n_resamples: int, *, seed: int, purpose: str = "bootstrap rows"
) -> Iterator[Bytes]:
    """Yield the same draws of at least ``MANY_ROWS`` rows as they are made: (n, b) uint8, replicates side by side.

    Every block lies in the same memory: it holds until the next one is asked for.
    """
    at_most = max(1, min(n_resamples, max(8, min(64, _BYTES_IN_A_BLOCK // n))))
    memory = np.empty(n * at_most, dtype=np.uint8)
    for block, start in enumerate(range(0, n_resamples, at_most)):
        size = min(at_most, n_resamples - start)
        yield uniform_multinomial(n, size, stream(seed, purpose, block), out=memory)


def in_floats(weights: Bytes) -> Iterator[Floats]:
    """Yield weights (n, b) of bytes as (b', n) float64, few replicates at a time; transposed views."""
    n, size = weights.shape
    step = max(1, _CELLS_IN_A_BLOCK // n, min(16, 16 * _CELLS_IN_A_BLOCK // n))
    for start in range(0, size, step):
        yield weights[:, start : start + step].astype(np.float64, order="C").T


def bootstrap_clusters(n_clusters: int, n_resamples: int, *, seed: int) -> Iterator[Floats]:
    """Yield blocks (b, G) of the multiplicities of whole clusters: multinomial(G, 1/G)."""
    yield from _uniform_multinomial(n_clusters, n_resamples, seed=seed, purpose="bootstrap clusters")


def _uniform_multinomial(n: int, n_resamples: int, *, seed: int, purpose: str) -> Iterator[Floats]:
    if n >= MANY_ROWS:
        for weights in bootstrap_row_bytes(n, n_resamples, seed=seed, purpose=purpose):
            yield from in_floats(weights)
        return
    for block, size in blocks(n_resamples, n):
        generator = stream(seed, purpose, block)
        drawn = generator.integers(0, n, size=(size, n))
        drawn += np.arange(size)[:, None] * n
        counts = np.bincount(drawn.ravel(), minlength=size * n)
        yield counts.reshape(size, n).astype(np.float64)


def bootstrap_rows_within(strata: npt.NDArray[np.int64], n_resamples: int, *, seed: int) -> Iterator[Floats]:
    """Yield blocks (b, n) of row weights drawn within strata: every stratum keeps its number of rows."""
    for block, size in blocks(n_resamples, len(strata)):
        weights = np.zeros((size, len(strata)))
        for stratum in np.unique(strata):
            rows = np.flatnonzero(strata == stratum)
            generator = stream(seed, f"bootstrap rows of stratum {stratum}", block)
            weights[:, rows] = generator.multinomial(len(rows), np.full(len(rows), 1 / len(rows)), size=size)
        yield weights


def bootstrap_cells_within(
    counts: Floats, strata: npt.NDArray[np.int32], n_resamples: int, *, seed: int
) -> Iterator[Floats]:
    """Yield blocks (b, u) of weights of distinct cells drawn within strata: every stratum keeps its total."""
    for block, size in blocks(n_resamples, len(counts)):
        weights = np.zeros((size, len(counts)))
        for stratum in np.unique(strata):
            cells = np.flatnonzero(strata == stratum)
            total = counts[cells].sum()
            generator = stream(seed, f"bootstrap cells of stratum {stratum}", block)
            weights[:, cells] = generator.multinomial(round(float(total)), counts[cells] / total, size=size)
        yield weights


def swaps(n: int, n_resamples: int, *, seed: int) -> Iterator[Floats]:
    """Yield blocks of fair coins, one a row: (b, n) float64 of 0 and 1, for the paired swap test."""
    for block, size in blocks(n_resamples, n):
        bits = np.unpackbits(
            stream(seed, "swap rows", block).integers(0, 256, size=(size, (n + 7) // 8), dtype=np.uint8),
            axis=1,
            count=n,
        )
        yield bits.astype(np.float64)
