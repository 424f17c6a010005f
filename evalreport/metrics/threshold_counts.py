"""Counts at every threshold, exact and in replicates."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property, partial

import numpy as np
from scipy import sparse

from evalreport.engine.counts import Counts
from evalreport.engine.draws import blocks, stream
from evalreport.engine.ranks import Order, descending_order, group_weights, running_weights
from evalreport.metrics.replicates import MOST_DRAWN
from evalreport.predictions.arrays import Floats, Indices, Mask, required
from evalreport.samplings import Sampling

MOST_BINS = 256
"""Rankings of at most this many distinct scores are not cut."""
CELLS_BY_CLASS = 128
"""Bins cut at quantiles of the positives, and as many at quantiles of the negatives."""
MOST_WEIGHTS = 400_000_000
"""Row weights drawn at most: clusters or weights on very many rows have fewer replicates."""
LEAST_RESAMPLES = 200


@dataclass(frozen=True)
class ThresholdCounts:
    """The positives and negatives at or above each distinct threshold of one ranking.

    Attributes
    ----------
    model, label
        Whose ranking; the class against the rest where there are several, else None.
    thresholds
        (g,) the distinct scores, greatest first: examples at or above one are predicted positive.
    found, wrong
        (g + 1,) weight of positives and of negatives predicted positive, beginning with 0 above every score.
    order
        The ranking itself, for replicates by row; None where it is known by its histogram.
    """

    model: str
    label: str | None
    thresholds: Floats
    found: Floats
    wrong: Floats
    order: Order | None = None

    @property
    def of_rows(self) -> bool:
        """Whether the rank of each row is known, and not only the histogram."""
        return self.order is not None

    @property
    def positives(self) -> float:
        """Weight of the positives."""
        return float(self.found[-1])

    @property
    def negatives(self) -> float:
        """Weight of the negatives."""
        return float(self.wrong[-1])

    @cached_property
    def fpr(self) -> Floats:
        """False positive rates (g + 1,)."""
        return np.asarray(self.wrong / self.wrong[-1])

    @cached_property
    def tpr(self) -> Floats:
        """True positive rates (g + 1,)."""
        return np.asarray(self.found / self.found[-1])

    @cached_property
    def hull(self) -> Indices:
        """Indices (h,) of the corners of the upper convex hull."""
        return hull_corners(self.found, self.wrong)

    @property
    def steps(self) -> Floats:
        """Thresholds (g + 1,): nan first, which no score reaches."""
        return np.concatenate([[np.nan], self.thresholds])

    def at(self, index: int) -> Counts:
        """Return TP, FP, FN and TN at one index of ``found``."""
        tp, fp = self.found[index], self.wrong[index]
        return Counts(tp, fp, self.found[-1] - tp, self.wrong[-1] - fp)

    def values(self, function: Callable[[Counts], Floats]) -> Floats:
        """Evaluate a function of TP, FP, FN and TN at each threshold, (g + 1,)."""
        return function(counts_at(self.found, self.wrong))


def hull_corners(found: Floats, wrong: Floats) -> Indices:
    """Return the indices of the upper hull's corners, from none to all: the blocks of the isotonic regression.

    Parameters
    ----------
    found, wrong
        (g + 1,) running weights from 0; both rise.

    References
    ----------
    Fawcett and Niculescu-Mizil (2007), Mach Learn 68:97.
    """
    from scipy.optimize import isotonic_regression

    weights = np.diff(found) + np.diff(wrong)
    held = np.flatnonzero(weights > 0)
    fit = isotonic_regression(np.diff(found)[held] / weights[held], weights=weights[held], increasing=False)
    # Neighbouring blocks of one slope are one piece of the hull.
    slopes = fit.x[fit.blocks[:-1]]
    last = np.append(slopes[:-1] - slopes[1:] > 1e-12, True)
    return np.concatenate([[0], held[fit.blocks[1:][last] - 1] + 1])


def counts_at(found: Floats, wrong: Floats) -> Counts:
    """Return TP, FP, FN, TN from running weights (g, ...) whose last entry along the first axis is everything."""
    return Counts(found, wrong, found[-1] - found, wrong[-1] - wrong)


def count_thresholds(
    order: Order, *, model: str = "", label: str | None = None, weights: Floats | None = None
) -> ThresholdCounts:
    """Count along a ranking.

    Parameters
    ----------
    weights
        (n,) example weights; None: every example weighs 1.
    """
    return ThresholdCounts(model, label, order.thresholds, *running_weights(weights, order), order)


@dataclass(frozen=True)
class Forecasts:
    """The probabilities that a model gives, and whether what they forecast happened.

    Attributes
    ----------
    p, came_true
        (n,) probability of the positive class and whether it was that; of several classes the most probable one.
    confidence, right
        (n,) probability that the model gives to its own answer, and whether the answer is right; None without one.
    weights
        (n,) what each example counts as.
    """

    model: str
    p: Floats
    came_true: Mask
    confidence: Floats | None
    right: Mask | None
    weights: Floats

    @cached_property
    def kept_and_right(self) -> tuple[Floats, Floats, Floats]:
        """Distinct confidences, greatest first, and the weight kept, and right, at or above each: (m,) each."""
        order = descending_order(required(self.confidence), required(self.right))
        rights, wrongs = group_weights(self.weights, order)
        # Examples of weight 0 are no step along the curve.
        held = rights + wrongs > 0
        right, wrong = np.cumsum(rights[held]), np.cumsum(wrongs[held])
        return order.thresholds[held], right + wrong, right


def visible_points(x: Floats, y: Floats, most: int) -> Indices:
    """Return the indices of at most ``most`` points whose polyline looks like the whole.

    Corners are kept and points on straight runs dropped; if too many are left, points are spread evenly along
    the way from the first to the last. Axes may have any scale; ``x`` and ``y`` are (n,).
    """
    moves = (np.diff(x) != 0) | (np.diff(y) != 0)
    if not moves.all() and moves.any():
        # A point that appears twice would seem to lie on a straight run, both times.
        distinct = np.flatnonzero(np.concatenate([[True], moves]))
        visible = distinct[visible_points(x[distinct], y[distinct], most)]
        visible[-1] = len(x) - 1
        return np.asarray(visible)
    keep = np.ones(len(x), dtype=bool)
    x, y = _to_unit(x), _to_unit(y)
    dx, dy = np.diff(x), np.diff(y)
    keep[1:-1] = np.abs(dx[:-1] * dy[1:] - dy[:-1] * dx[1:]) > 1e-15
    corners = np.flatnonzero(keep)
    if len(corners) <= most:
        return corners
    way = np.concatenate([[0.0], np.cumsum(np.abs(np.diff(x[corners])) + np.abs(np.diff(y[corners])))])
    stops = np.searchsorted(way, np.linspace(0, way[-1], most), side="left")
    return np.asarray(corners[np.unique(np.minimum(stops, len(corners) - 1))])


def _to_unit(values: Floats) -> Floats:
    low, high = values.min(initial=np.inf), values.max(initial=-np.inf)
    # Halved first: the distance of two huge scores may be more than a double holds.
    span = high / 2 - low / 2
    return np.asarray((values / 2 - low / 2) / span) if span > 0 else np.zeros_like(values)


@dataclass(frozen=True, slots=True)
class Coarse:
    """A ranking cut into bins.

    Attributes
    ----------
    indices
        (G + 1,) indices of ``counts.found``: 0, then that of the lowest threshold of each bin.
    """

    counts: ThresholdCounts
    indices: Indices

    @property
    def size(self) -> int:
        """Bins G."""
        return len(self.indices) - 1

    @property
    def bins(self) -> Indices:
        """Bin of each row, (n,)."""
        return np.repeat(np.arange(self.size), np.diff(self.indices))[required(self.counts.order).group]

    @property
    def found(self) -> Floats:
        """Running weights of the positives on the data themselves, (G + 1,)."""
        return self.counts.found[self.indices]

    @property
    def wrong(self) -> Floats:
        """Running weights of the negatives on the data themselves, (G + 1,)."""
        return self.counts.wrong[self.indices]


@dataclass(frozen=True, slots=True)
class Replicate:
    """Some replicates of one ranking: ``found`` and ``wrong``, (G + 1, b), in weights from none to all."""

    found: Floats
    wrong: Floats

    @property
    def usable(self) -> Mask:
        """Which replicates hold both classes, (b,)."""
        return np.asarray((self.found[-1] > 0) & (self.wrong[-1] > 0))


def arcsine_shares(cells: int) -> Floats:
    """Return the shares (cells,) at which cells begin that are of equal width in the arcsine of their square root."""
    return np.asarray(np.sin(np.arange(cells) * (np.pi / 2 / cells)) ** 2)


def coarse(counts: ThresholdCounts) -> Coarse:
    """Cut a ranking into bins.

    Edges lie at quantiles of the positives *and* of the negatives, spaced by the arcsine of the square root of the
    share, so that both ends are fine down to single examples.
    """
    g = len(counts.thresholds)
    last = np.ones(g, dtype=bool)
    if g > MOST_BINS:
        last[:] = False
        edges = np.append(arcsine_shares(CELLS_BY_CLASS), 1.0)
        for share in (counts.fpr, counts.tpr):
            # A bin ends before each threshold that is the first at or beyond an edge.
            first, passed = np.unique(np.searchsorted(share, edges), return_counts=True)
            last[first[(first >= 1) & (first <= g)] - 1] = True
            # A large group of ties has a bin of its own.
            last[first[(first >= 2) & (first <= g) & (passed > 1)] - 2] = True
        last[-1] = True
    return Coarse(counts, np.concatenate([[0], np.flatnonzero(last) + 1]))


def replicates(
    cut: Sequence[Coarse], units: Sampling, n_resamples: int, *, seed: int
) -> Iterator[tuple[int, list[Callable[[], Replicate]]]]:
    """Yield the size of each block of replicates, and for each ranking the function that makes them.

    Units are drawn, by the same stream as for every other metric; of more than 10,000 single examples the counts of
    the bins, by model.
    """
    if (units.plain and units.n > MOST_DRAWN) or not all(one.counts.of_rows for one in cut):
        counts = [np.concatenate([np.diff(one.found), np.diff(one.wrong)]) for one in cut]
        # A quarter of a block at once stays in the processor's cache.
        for block, size in blocks(n_resamples, 4 * max(map(len, counts), default=1)):
            yield size, [partial(_drawn, cells, units, size, seed, block) for cells in counts]
        return
    size = max(LEAST_RESAMPLES, MOST_WEIGHTS // max(units.n, 1))
    columns = [_columns(one, units) for one in cut]
    for multiplicities in units.unit_draws(min(n_resamples, size), seed=seed):
        drawn = np.ascontiguousarray(multiplicities.T)
        yield len(multiplicities), [partial(_of_units, table, drawn) for table in columns]


def _columns(one: Coarse, units: Sampling) -> sparse.csr_array:
    """Return (2 G, units): what each unit adds to the positives, then to the negatives, of each bin."""
    bins = one.bins
    column = np.where(required(one.counts.order).positive, bins, one.size + bins)
    n = len(column)
    rows = sparse.csr_array((np.ones(n), column, np.arange(n + 1)), shape=(n, 2 * one.size))
    return sparse.csr_array(units.gather(rows).T)


def _of_units(table: sparse.csr_array, drawn: Floats) -> Replicate:
    return _added_up(np.asarray(table @ drawn))


def _drawn(cells: Floats, units: Sampling, size: int, seed: int, block: int) -> Replicate:
    # Streams by purpose, not by model: another name moves no draw.
    generator = stream(seed, "bootstrap curves", block)
    half = len(cells) // 2
    parts = [cells] if units.strata is None else [cells[:half], cells[half:]]
    sums = [generator.multinomial(round(p.sum()), p / p.sum(), size=size) for p in parts]
    return _added_up(np.concatenate(sums, axis=1).T.astype(np.float64))


def _added_up(sums: Floats) -> Replicate:
    """Turn sums by bin (2 G, b) into running ones."""
    half = len(sums) // 2
    running = np.zeros((2, half + 1, sums.shape[1]))
    np.cumsum(sums.reshape(2, half, -1), axis=1, out=running[:, 1:])
    return Replicate(running[0], running[1])


def tpr_at(replicate: Replicate, fpr: Floats) -> Floats:
    """Return the true positive rate (b, T) of each replicate's polygon at false positive rates (T,).

    Where the curve rises straight up its upper end counts; nan where a replicate lacks a class.
    """
    hits, wrong = np.ascontiguousarray(replicate.found.T), np.ascontiguousarray(replicate.wrong.T)
    values = np.full((len(hits), len(fpr)), np.nan)
    usable = np.flatnonzero(replicate.usable)
    if len(usable):
        # All polygons in one, one after the other; what rounding puts just below a step is at it.
        first = usable[:, None] * (2 * wrong[:, -1].max())
        wanted = np.minimum(fpr * (1 + 1e-12), 1) * wrong[usable, -1:] + first
        hits, wrong = hits[usable], wrong[usable] + first
        values[usable] = np.interp(wanted, wrong.ravel(), hits.ravel()) / hits[:, -1:]
    return values


def precision_at_recall(replicate: Replicate, recall: float) -> Floats:
    """Return the precision (b,) at the highest threshold that finds at least this share of the positives."""
    enough = replicate.found >= recall * replicate.found[-1] * (1 - 1e-12)
    first = np.maximum(enough.argmax(axis=0), 1)[None, :]
    tp = np.take_along_axis(replicate.found, first, axis=0)[0]
    called = tp + np.take_along_axis(replicate.wrong, first, axis=0)[0]
    return np.where(replicate.usable & (called > 0), tp / np.where(called > 0, called, 1), np.nan)
