"""Bootstrap replicates of ROC curves: where each stands at given false positive rates, and what is best on each.

Scores are cut into a few hundred bins of neighbours first, so that a replicate is two short running sums.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from scipy import sparse

from evalreport.engine.draws import blocks, stream
from evalreport.engine.histogram import arcsine_shares
from evalreport.metrics.curves.ladder import Ladder
from evalreport.metrics.units import Units

Floats = npt.NDArray[np.float64]
Indices = npt.NDArray[np.int64]

MOST_BINS = 256
"""Rankings of at most so many distinct scores are not cut."""

CELLS_BY_CLASS = 128
"""Bins cut at quantiles of the positives, and as many at quantiles of the negatives."""

MOST_ROWS = 20_000
"""Up to so many rows the replicates are those of all other metrics; above, the bins' counts are drawn."""

MOST_WEIGHTS = 400_000_000
"""Row weights drawn at most: clusters or weights on very many rows have fewer replicates."""

LEAST_RESAMPLES = 200


@dataclass(frozen=True, slots=True)
class Coarse:
    """A ladder with few rungs.

    Attributes
    ----------
    rungs
        (G + 1,) places in the whole ladder: 0, then the lowest threshold of each bin.
    bins
        (n,) bin of each row.
    """

    ladder: Ladder
    rungs: Indices
    bins: Indices

    @property
    def size(self) -> int:
        """Bins G."""
        return len(self.rungs) - 1

    @property
    def found(self) -> Floats:
        """Running weights of the positives on the data themselves, (G + 1,)."""
        return self.ladder.found[self.rungs]

    @property
    def wrong(self) -> Floats:
        """Running weights of the negatives on the data themselves, (G + 1,)."""
        return self.ladder.wrong[self.rungs]


@dataclass(frozen=True, slots=True)
class Replicate:
    """Some replicates of one ladder: ``found`` and ``wrong``, (G + 1, b), in weights from none to all."""

    found: Floats
    wrong: Floats

    @property
    def usable(self) -> npt.NDArray[np.bool_]:
        """Which replicates hold both classes, (b,)."""
        return np.asarray((self.found[-1] > 0) & (self.wrong[-1] > 0))


def coarse(ladder: Ladder) -> Coarse:
    """Cut a ranking into bins.

    Edges lie at quantiles of the positives *and* of the negatives, spaced by the arcsine of the square root of the
    share, so that both ends are fine down to single examples.
    """
    g = len(ladder.thresholds)
    last = np.ones(g, dtype=bool)
    if g > MOST_BINS:
        last[:] = False
        edges = np.append(arcsine_shares(CELLS_BY_CLASS), 1.0)
        for share in (ladder.fpr, ladder.tpr):
            cell = np.searchsorted(edges, share, side="right")
            last |= cell[1:] != cell[:-1]
            # A large group of ties has a bin of its own.
            last[:-1] |= np.diff(cell)[1:] > 1
        last[-1] = True
    rungs = np.concatenate([[0], np.flatnonzero(last) + 1])
    bin_of_group = np.cumsum(last) - last
    return Coarse(ladder, rungs, bin_of_group[ladder.order.group])


def replicates(
    cut: Sequence[Coarse], units: Units, n_resamples: int, *, seed: int
) -> Iterator[list[Replicate]]:
    """Yield blocks of replicates of every ladder, the same draws for all of them.

    Up to 20,000 rows, and wherever examples weigh differently or come in clusters, units are drawn, by the same
    stream as for every other metric; else the bins' counts themselves, by model.
    """
    if units.n > MOST_ROWS and units.plain:
        yield from _from_counts(cut, units, n_resamples, seed=seed)
        return
    size = max(LEAST_RESAMPLES, MOST_WEIGHTS // max(units.n, 1))
    columns = [_columns(one, units) for one in cut]
    for multiplicities in units.unit_draws(min(n_resamples, size), seed=seed):
        drawn = np.ascontiguousarray(multiplicities.T)
        yield [_added_up(np.asarray(table @ drawn)) for table in columns]


def _columns(one: Coarse, units: Units) -> sparse.csr_array:
    """Return (2 G, units): what each unit adds to the positives, then to the negatives, of each bin."""
    place = np.where(one.ladder.order.positive, one.bins, one.size + one.bins)
    n = len(place)
    rows = sparse.csr_array((np.ones(n), place, np.arange(n + 1)), shape=(n, 2 * one.size))
    return sparse.csr_array(units.gather(rows).T)


def _added_up(sums: Floats) -> Replicate:
    """Turn sums by bin (2 G, b) into running ones."""
    half = len(sums) // 2
    running = np.zeros((2, half + 1, sums.shape[1]))
    np.cumsum(sums.reshape(2, half, -1), axis=1, out=running[:, 1:])
    return Replicate(running[0], running[1])


def _from_counts(
    cut: Sequence[Coarse], units: Units, n_resamples: int, *, seed: int
) -> Iterator[list[Replicate]]:
    counts = [np.concatenate([np.diff(one.found), np.diff(one.wrong)]) for one in cut]
    for block, size in blocks(n_resamples, max(map(len, counts), default=1)):
        drawn = []
        for cells in counts:
            # Streams by purpose, not by model: another name moves no draw.
            generator = stream(seed, "bootstrap curves", block)
            half = len(cells) // 2
            parts = [cells] if units.strata is None else [cells[:half], cells[half:]]
            sums = [generator.multinomial(round(p.sum()), p / p.sum(), size=size) for p in parts]
            drawn.append(_added_up(np.concatenate(sums, axis=1).T.astype(np.float64)))
        yield drawn


def tpr_at(replicate: Replicate, fpr: Floats) -> Floats:
    """Return the true positive rate (b, T) of each replicate's polygon at false positive rates (T,).

    Where the curve rises straight up its upper end counts; nan where a replicate lacks a class.
    """
    found, wrong = np.ascontiguousarray(replicate.found.T), np.ascontiguousarray(replicate.wrong.T)
    values = np.full((len(found), len(fpr)), np.nan)
    for b in np.flatnonzero(replicate.usable):
        values[b] = np.interp(fpr * wrong[b, -1], wrong[b], found[b]) / found[b, -1]
    return values


def precision_at_recall(replicate: Replicate, recall: float) -> Floats:
    """Return the precision (b,) at the highest threshold that finds at least this share of the positives."""
    enough = replicate.found >= recall * replicate.found[-1] * (1 - 1e-12)
    place = np.maximum(enough.argmax(axis=0), 1)[None, :]
    tp = np.take_along_axis(replicate.found, place, axis=0)[0]
    called = tp + np.take_along_axis(replicate.wrong, place, axis=0)[0]
    return np.where(replicate.usable & (called > 0), tp / np.where(called > 0, called, 1), np.nan)
