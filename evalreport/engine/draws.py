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

Floats = npt.NDArray[np.float64]
Indices = npt.NDArray[np.int64]
Codes = npt.NDArray[np.integer]

GROUPS = 4096
"""Groups of examples that are drawn in place of very many rows."""

_CELLS_IN_A_BLOCK = 1 << 20
"""Weights drawn at once (8 MB as float64): bounds memory for any number of replicates."""


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

    Drawing cells is the same as drawing rows and counting them, in a time that does not depend on n.

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


def bootstrap_groups(n_groups: int, n_resamples: int, *, seed: int) -> Iterator[Floats]:
    """Yield blocks (b, G) of the multiplicities of random groups of examples: multinomial(G, 1/G)."""
    yield from _uniform_multinomial(n_groups, n_resamples, seed=seed, purpose="bootstrap groups")


def bootstrap_clusters(n_clusters: int, n_resamples: int, *, seed: int) -> Iterator[Floats]:
    """Yield blocks (b, G) of the multiplicities of whole clusters: multinomial(G, 1/G)."""
    yield from _uniform_multinomial(n_clusters, n_resamples, seed=seed, purpose="bootstrap clusters")


def bootstrap_moving_blocks(order: Indices, length: int, n_resamples: int, *, seed: int) -> Iterator[Floats]:
    """Yield blocks (b, n) of weights of rows that are drawn as runs of neighbours in time, n rows in all.

    Every run of ``length`` rows is as likely as any other; the last one drawn is cut so that n rows are drawn.

    Parameters
    ----------
    order
        (n,) the rows in order of time.

    References
    ----------
    Künsch (1989), Ann Stat 17:1217.
    """
    n = len(order)
    runs = -(-n // length)
    last = n - (runs - 1) * length
    for block, size in blocks(n_resamples, n):
        starts = stream(seed, "bootstrap moving blocks", block).integers(0, n - length + 1, size=(size, runs))
        lengths = np.full(runs, length)
        lengths[-1] = last
        first = np.arange(size)[:, None] * (n + 1)
        begun, ended = (
            np.bincount((first + at).ravel(), minlength=size * (n + 1)).reshape(size, n + 1)
            for at in (starts, starts + lengths)
        )
        weights = np.empty((size, n))
        weights[:, order] = np.cumsum(begun - ended, axis=1)[:, :n]
        yield weights


def _uniform_multinomial(n: int, n_resamples: int, *, seed: int, purpose: str) -> Iterator[Floats]:
    """Draw the numbers of units and count them."""
    for block, size in blocks(n_resamples, n):
        drawn = stream(seed, purpose, block).integers(0, n, size=(size, n))
        drawn += np.arange(size)[:, None] * n
        yield np.bincount(drawn.ravel(), minlength=size * n).reshape(size, n).astype(np.float64)


def bootstrap_rows_within(strata: Codes, n_resamples: int, *, seed: int) -> Iterator[Floats]:
    """Yield blocks (b, n) of row weights drawn within strata: every stratum keeps its number of rows."""
    return bootstrap_cells_within(np.ones(len(strata)), strata, n_resamples, seed=seed, purpose="rows")


def bootstrap_cells_within(
    counts: Floats, strata: Codes, n_resamples: int, *, seed: int, purpose: str = "cells"
) -> Iterator[Floats]:
    """Yield blocks (b, u) of weights of distinct cells drawn within strata: every stratum keeps its total."""
    for block, size in blocks(n_resamples, len(counts)):
        weights = np.zeros((size, len(counts)))
        for place, cells in enumerate(_members(strata)):
            total = counts[cells].sum()
            generator = stream(seed, f"bootstrap {purpose} of stratum {place}", block)
            weights[:, cells] = generator.multinomial(round(float(total)), counts[cells] / total, size=size)
        yield weights


def _members(strata: Codes) -> list[Indices]:
    """Return the members of each stratum, in the order in which strata appear: their names move no draw."""
    first = np.sort(np.unique(strata, return_index=True)[1])
    return [np.flatnonzero(strata == strata[at]) for at in first]
