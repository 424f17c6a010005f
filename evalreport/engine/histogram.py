"""Rank metrics of very many rows: a histogram of (bin, class) by replicate, with corrections from the full data.

A replicate's area or average precision is computed from the weights of positives and negatives in a few thousand
bins of neighbouring scores. What happens inside a bin is taken from the full data, so on the data themselves the
values are exact, and only the replicates' variation inside bins is lost; its share of the variance is reported.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from scipy import sparse

from evalreport.engine.ranks import Order

Floats = npt.NDArray[np.float64]

BINS_BY_CLASS = 4096
"""Bins cut at quantiles of the positives, and as many at quantiles of the negatives."""


@dataclass(frozen=True, slots=True)
class Bins:
    """Runs of neighbouring groups of tied scores, best first.

    Attributes
    ----------
    columns
        (n, 2 G) float32 sparse: one at the bin of a positive example, at G + bin of a negative one.
    of_row
        (n,) bin of each row.
    wins
        (G,) share of the (positive, negative) pairs inside a bin that the positive wins, ties counting one half.
    ahead_positive, ahead_negative
        (G,) mean share of the bin's positives, and of its negatives, at or above one of its positives.
    correction
        (G,) full-data contribution of a bin to the average precision, by what the shares above give.
    """

    columns: sparse.csr_array
    of_row: npt.NDArray[np.int64]
    wins: Floats
    ahead_positive: Floats
    ahead_negative: Floats
    correction: Floats


def bins_of(order: Order, weights: Floats) -> Bins:
    """Cut a model's sorted scores into bins.

    Edges lie at quantiles of the positives *and* of the negatives, spaced by the arcsine of the square root of the
    share, so that both ends are fine down to single examples; a large group of ties has a bin of its own.

    Parameters
    ----------
    weights
        (n,) example weights of the data.
    """
    g = len(order.thresholds)
    place = np.where(order.positive, order.group, g + order.group)
    by_group = np.bincount(place, weights=weights, minlength=2 * g).astype(np.float64)
    positives, negatives = by_group[:g], by_group[g:]
    bin_of_group = _bin_of_group(positives, negatives)
    of_row = bin_of_group[order.group]
    n_bins, n = int(bin_of_group[-1]) + 1, len(of_row)
    column = np.where(order.positive, of_row, n_bins + of_row)
    columns = sparse.csr_array(
        (np.ones(n, dtype=np.float32), column, np.arange(n + 1)), shape=(n, 2 * n_bins)
    )
    return Bins(columns, of_row, *_inside(positives, negatives, bin_of_group))


def _bin_of_group(positives: Floats, negatives: Floats) -> npt.NDArray[np.int64]:
    edge = np.zeros(len(positives), dtype=bool)
    for counts in (positives, negatives):
        total = counts.sum()
        if total > 0:
            before = np.clip((np.cumsum(counts) - counts) / total, 0, 1)
            cell = np.floor(BINS_BY_CLASS * 2 / np.pi * np.arcsin(np.sqrt(before)))
            edge[1:] |= cell[1:] != cell[:-1]
            large = counts > total / BINS_BY_CLASS
            edge |= large
            edge[1:] |= large[:-1]
    return np.cumsum(edge) - int(edge[0])


def _inside(
    positives: Floats, negatives: Floats, bin_of_group: npt.NDArray[np.int64]
) -> tuple[Floats, Floats, Floats, Floats]:
    """Summarise what happens inside the bins on the full data: see ``Bins``."""

    def by_bin(values: Floats) -> Floats:
        return np.bincount(bin_of_group, weights=values).astype(np.float64)

    p, n = by_bin(positives), by_bin(negatives)
    found, wrong = np.cumsum(positives), np.cumsum(negatives)
    before_p, before_n = np.cumsum(p) - p, np.cumsum(n) - n
    inside_p, inside_n = found - before_p[bin_of_group], wrong - before_n[bin_of_group]
    beaten = n[bin_of_group] - inside_n + negatives / 2
    wins = _share(by_bin(positives * beaten), p * n, 0.5)
    ahead_p = _share(by_bin(positives * inside_p), p * p, 0.5)
    ahead_n = _share(by_bin(positives * inside_n), p * n, 0.5)
    exact = by_bin(positives * _share(found, found + wrong, 0.0))
    rough = p * _precision(before_p + ahead_p * p, before_n + ahead_n * n)
    return wins, ahead_p, ahead_n, _share(exact, rough, 1.0)


def _share(part: Floats, whole: Floats, otherwise: float) -> Floats:
    return np.where(whole > 0, part / np.where(whole > 0, whole, 1), otherwise)


def _precision(found: Floats, wrong: Floats) -> Floats:
    return found / np.maximum(found + wrong, np.finfo(np.float64).tiny)


def by_row(weights: Floats) -> npt.NDArray[np.float32]:
    """Lay weights (b, n) out as (n, b) in single precision, which holds whole numbers up to 2^24 exactly."""
    return np.ascontiguousarray(weights.astype(np.float32).T)


def bin_weights(by_row: npt.NDArray[np.float32], bins: Bins) -> tuple[Floats, Floats]:
    """Return the weight of positives and of negatives in each bin, each (G, b), under weights ``by_row`` (n, b)."""
    sums = np.asarray(bins.columns.T @ by_row, dtype=np.float64)
    g = len(bins.wins)
    return sums[:g], sums[g:]


def binned_roc_auc(bins: Bins, positives: Floats, negatives: Floats) -> Floats:
    """Return the area under the ROC curve from the weights (G, b) of the bins; nan where a class is missing."""
    below = negatives.sum(axis=0) - np.cumsum(negatives, axis=0)
    won = (positives * (below + bins.wins[:, None] * negatives)).sum(axis=0)
    pairs = positives.sum(axis=0) * negatives.sum(axis=0)
    return np.where(pairs > 0, won / np.where(pairs > 0, pairs, 1), np.nan)


def binned_average_precision(bins: Bins, positives: Floats, negatives: Floats) -> Floats:
    """Return the average precision from the weights (G, b) of the bins; nan where no positive is drawn."""
    found = np.cumsum(positives, axis=0) - (1 - bins.ahead_positive[:, None]) * positives
    wrong = np.cumsum(negatives, axis=0) - (1 - bins.ahead_negative[:, None]) * negatives
    total = positives.sum(axis=0)
    value = (positives * bins.correction[:, None] * _precision(found, wrong)).sum(axis=0)
    return np.where(total > 0, value / np.where(total > 0, total, 1), np.nan)


def variance_lost(bins: Bins, derivative: Floats, positive: npt.NDArray[np.bool_]) -> float:
    """Return the share of the influence values' variance that lies inside (bin, class), which replicates lose.

    Parameters
    ----------
    derivative
        (n,) exact derivatives of the metric by an example's weight.
    """
    code = np.where(positive, bins.of_row, len(bins.wins) + bins.of_row)
    counts = np.bincount(code)
    means = np.bincount(code, weights=derivative) / np.maximum(counts, 1)
    total = float((derivative**2).sum())
    return float(((derivative - means[code]) ** 2).sum()) / total if total > 0 else 0.0
