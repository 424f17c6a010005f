"""The only source of randomness: streams derived from (seed, purpose, block), so that nothing depends on order.

Neither another metric nor another number of jobs changes a figure: a stream belongs to one purpose and one block
of replicates, and the size of a block depends on the number of units alone. (A further model splits the cells of
the label metrics, and so moves their draws.)
"""

from __future__ import annotations

import math
import zlib
from collections.abc import Callable, Iterator, Sequence
from functools import cache
from typing import TypeAlias, TypeVar

import numpy as np
import numpy.typing as npt
from scipy import special

from evalreport.engine.distributions import exp
from evalreport.engine.parallel import mapped

Bytes = npt.NDArray[np.uint8]
Indices = npt.NDArray[np.int64]
Tile: TypeAlias = tuple[slice, Bytes]
"""Rows next to each other, and how often each was drawn in each of b samples, (rows, b)."""

RATE = 0.9896
SHARES = (96, 95, 47, 15, 3)
"""How many of the 256 values of a byte give the counts 0 to 4: the closest to Poisson(RATE) that eight bits can be.

Of all rates and shares these leave least to be put right: 0.9 % of the counts are drawn again, 1 % of the units
are added.
"""

LARGEST = 24
"""A Poisson(1) count is larger once in 1e25 draws."""

_TILE = 1 << 20
"""Counts made at a time, so that random bytes, comparisons and counts stay in the processor's cache."""

TILE_ROWS = 1 << 17
"""Rows drawn at a time: with 128 samples 16 MB, which stay in the shared cache until they have been added up."""

_SAFE_SUM = 64
"""Up to this many counts are added as bytes: their sum, about as many, passes 255 less than once in 1e60 times."""


def tiles_of(n: int) -> list[slice]:
    """Return the rows of each tile of n >= 1 rows."""
    return [slice(start, min(start + TILE_ROWS, n)) for start in range(0, n, TILE_ROWS)]


def multinomial_tiles(
    n: int,
    size: int,
    generator: np.random.Generator,
    *,
    kept: bool = False,
    memory: list[Bytes] | None = None,
) -> Iterator[Tile]:
    """Yield the tiles of bootstrap samples of n rows: first how many units fall on each, then which rows.

    Parameters
    ----------
    kept
        Whether every tile has memory of its own; else each reuses that of the one before.
    memory
        Where tiles may lie; what is missing is added.
    """
    rows = tiles_of(n)
    buffers = [] if memory is None else memory
    totals = generator.multinomial(n, [(tile.stop - tile.start) / n for tile in rows], size=size)
    for number, tile in enumerate(rows):
        slot, length = number if kept else 0, tile.stop - tile.start
        if slot == len(buffers):
            buffers.append(np.empty(min(n, TILE_ROWS) * size, dtype=np.uint8))
        counts = buffers[slot][: length * size].reshape(length, size)
        _draw(counts, totals[:, number], generator)
        yield tile, counts


def _draw(counts: Bytes, totals: npt.NDArray[np.int64], generator: np.random.Generator) -> None:
    """Fill counts (n, b): the units (b,) of each sample fall on its n rows, every one equally likely."""
    n = len(counts)
    _poisson_bytes(counts.reshape(-1), generator)
    missing = totals - column_sums(counts)
    for sample in np.flatnonzero(missing < 0).tolist():
        take_away(counts[:, sample], -int(missing[sample]), generator)
    missing = np.maximum(missing, 0)
    rows = generator.integers(0, n, size=int(missing.sum()))
    samples = np.repeat(np.arange(len(missing)), missing)
    np.add.at(counts.reshape(-1), rows * len(missing) + samples, np.uint8(1))


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
    """Fill ``counts`` (n,) with Poisson(RATE): bytes settle 0 to 4, then a few counts are drawn again."""
    n = len(counts)
    larger = np.empty(min(n, _TILE), dtype=np.bool_)
    edges = np.cumsum(SHARES)[:-1].astype(np.uint8)
    for start in range(0, n, _TILE):
        tile = counts[start : start + _TILE]
        above = larger[: len(tile)]
        uniform = random_bytes(generator, len(tile))
        np.greater_equal(uniform, edges[0], out=tile.view(np.bool_))
        for edge in edges[1:]:
            np.greater_equal(uniform, edge, out=above)
            np.add(tile, above.view(np.uint8), out=tile)
    again = generator.poisson(n * _redrawn())
    for count in np.flatnonzero(again).tolist():
        counts[generator.integers(0, n, size=again[count])] = count


def random_bytes(generator: np.random.Generator, size: int) -> Bytes:
    """Draw bytes (size,): those of ``integers`` with eight bits, in an eighth of the time.

    Examples
    --------
    >>> random_bytes(np.random.default_rng(0), 3).tolist()
    [95, 130, 194]
    >>> np.random.default_rng(0).integers(0, 256, size=3, dtype=np.uint8).tolist()
    [95, 130, 194]
    """
    words = generator.integers(0, 1 << 64, size=-(-size // 8), dtype=np.uint64)
    # Little end first on every machine, so that every machine draws the same bytes.
    return words.astype("<u8", copy=False).view(np.uint8)[:size]


@cache
def _redrawn() -> Floats:
    """Return how often a count is set to 0, then to 1, and so on, so that all are Poisson(RATE).

    With D the distribution of the bytes, the largest c with c D <= p leaves p - c D to be drawn anew. A count is set
    to k with probability h_k regardless of its value, k ascending, and the last setting stays: so p_k = c D_k +
    h_k prod_(j > k) (1 - h_j), solved from the largest k down. Counts are set by a Poisson number of uniform
    draws, so that counts are independent; at rate -ln(1 - h) each is met at least once with probability h.
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
    return rates


def take_away(sample: Bytes, surplus: int, generator: np.random.Generator) -> None:
    """Remove ``surplus`` of the sample's units, every set of that size being equally likely."""
    ends = np.cumsum(sample, dtype=np.int64)
    units = generator.choice(int(ends[-1]), surplus, replace=False, shuffle=False)
    np.subtract.at(sample, np.searchsorted(ends, units, side="right"), np.uint8(1))


Floats = npt.NDArray[np.float64]
T = TypeVar("T")

MANY_ROWS = 2_000
"""From this many rows on, Poisson bytes are faster than drawing row numbers and counting them."""

_CELLS_IN_A_BLOCK = 1 << 20
"""Weights drawn at once (8 MB as float64): bounds memory for any number of replicates."""

_BYTES_IN_A_BLOCK = 1 << 30
"""The same where weights are bytes: up to 128 replicates, more of few rows, or 16 of more than 64 million, whose bytes
are 1 GB where not one tile alone is in memory. Each block goes through all rows, so that few replicates cost as much as
many.
"""


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


def _byte_blocks(n: int, n_resamples: int) -> list[tuple[int, int]]:
    several = _CELLS_IN_A_BLOCK // n
    at_most = several - several % 16 if several >= 128 else max(16, min(128, _BYTES_IN_A_BLOCK // n))
    sizes: list[int] = []
    while left := n_resamples - sum(sizes):
        # The last blocks are smaller, so that threads finish at about the same time; of few rows calls cost more.
        smaller = at_most if several >= 128 else max(16, at_most // 4)
        sizes.append(min(left, at_most if left > 2 * at_most else smaller))
    return list(enumerate(sizes))


def of_row_bytes(
    function: Callable[[int, Iterator[Tile]], T], n: int, n_resamples: int, *, seed: int, kept: bool = False
) -> Iterator[T]:
    """Yield a function of the draws of rows in bytes, block by block.

    Parameters
    ----------
    function
        Of the number of samples and their tiles, all of which it must take; their memory is used again by the next
        block, so what it returns must not share it.
    kept
        Whether tiles hold until the block ends, not only until the next one is asked for.
    """
    spare: list[list[Bytes]] = []

    def of_block(numbered: tuple[int, int]) -> T:
        block, size = numbered
        memory = spare.pop() if spare else []
        drawn = stream(seed, "bootstrap rows", block)
        value = function(size, multinomial_tiles(n, size, drawn, kept=kept, memory=memory))
        spare.append(memory)
        return value

    return mapped(of_block, _byte_blocks(n, n_resamples))


def in_floats(tiles: Sequence[Tile]) -> Iterator[Floats]:
    """Yield the counts of all tiles as (b', n) float64, few replicates at a time; transposed views."""
    n, size = tiles[-1][0].stop, tiles[0][1].shape[1]
    step = max(1, _CELLS_IN_A_BLOCK // n, min(16, 16 * _CELLS_IN_A_BLOCK // n))
    for start in range(0, size, step):
        weights = np.empty((n, min(step, size - start)))
        for rows, counts in tiles:
            weights[rows] = counts[:, start : start + step]
        yield weights.T


def weights_of_rows(tiles: Sequence[Tile], rows: Indices) -> Iterator[Floats]:
    """Yield how often some rows (m,) were drawn, (b', m) float64, few replicates at a time.

    Examples
    --------
    >>> tiles = [(slice(0, 2), np.array([[1], [2]], np.uint8)), (slice(2, 3), np.array([[5]], np.uint8))]
    >>> [weights.tolist() for weights in weights_of_rows(tiles, np.array([2, 0]))]
    [[[5.0, 1.0]]]
    """
    tile, size = np.searchsorted([own.stop for own, _ in tiles], rows, side="right"), tiles[0][1].shape[1]
    step = max(1, _CELLS_IN_A_BLOCK // max(len(rows), 1))
    for start in range(0, size, step):
        weights = np.empty((len(rows), min(step, size - start)))
        for number, (own, counts) in enumerate(tiles):
            weights[tile == number] = counts[rows[tile == number] - own.start, start : start + step]
        yield np.ascontiguousarray(weights.T)


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
    if n >= MANY_ROWS:
        memory: list[Bytes] = []
        for block, size in _byte_blocks(n, n_resamples):
            drawn = stream(seed, purpose, block)
            yield from in_floats(list(multinomial_tiles(n, size, drawn, kept=True, memory=memory)))
        return
    for block, size in blocks(n_resamples, n):
        yield _counted_rows(n, seed, purpose, block, size).astype(np.float64)


def _counted_rows(n: int, seed: int, purpose: str, block: int, size: int) -> Bytes:
    """Draw row numbers and count them: (size, n), of fewer than ``MANY_ROWS`` rows."""
    drawn = stream(seed, purpose, block).integers(0, n, size=(size, n))
    drawn += np.arange(size)[:, None] * n
    return np.bincount(drawn.ravel(), minlength=size * n).reshape(size, n).astype(np.uint8)


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
