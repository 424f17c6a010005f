"""What a histogram leaves out: the part of the influence values that lies inside bins, measured and, if needed, added.

To first order a replicate's value is the histogram's plus the sum over examples of weight times the part of the
derivative that differs from the mean of its (bin, class). Where that part is a negligible share of the variance it
is left out; where it is not, as in the difference of two models that differ only inside bins, it is added.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations_with_replacement

import numpy as np
import numpy.typing as npt

from evalreport.engine.histogram import Bins
from evalreport.engine.multinomial import Bytes

Floats = npt.NDArray[np.float64]
Singles = npt.NDArray[np.float32]

NEGLIGIBLE_SHARE = 1e-5
"""Of the variance: left out, it makes the replicates 0.003 standard errors wrong, root mean square."""

FIRST_ORDER_SHARE = 1e-4
"""Up to so large a share the first order is all that matters: replicates stay within 0.02 standard errors."""

_TILE = 1 << 13


def inside_bins(bins: Bins, derivative: Floats) -> Singles:
    """Return each derivative's difference (n,) from the mean of its bin and class."""
    counts = np.bincount(bins.code, minlength=len(bins.first_cell) - 1)
    means = np.bincount(bins.code, weights=derivative, minlength=len(counts)) / np.maximum(counts, 1)
    return np.asarray(derivative - means[bins.code], dtype=np.float32)


def shares(derivatives: Sequence[Floats], inside: Sequence[Singles]) -> dict[tuple[int, int], float]:
    """Return the share of the variance inside bins: of each model (j, j), and of each difference of two (i, j).

    Parameters
    ----------
    derivatives
        (n,) each, of one metric by model.
    inside
        What ``inside_bins`` gives for each.
    """
    found = {}
    for (i, a), (j, b) in combinations_with_replacement(enumerate(derivatives), 2):
        part, whole = (inside[i], a) if i == j else (inside[i] - inside[j], a - b)
        whole_square = _square(whole)
        found[i, j] = _square(part) / whole_square if whole_square > 0 else 0.0
    return found


def _square(values: Floats | Singles) -> float:
    return float(np.dot(values, values))


def column_sums(columns: Singles, weights: Bytes) -> Floats:
    """Return the weighted sums (p, b) of columns (p, n) under bootstrap counts (n, b).

    Products are in single precision over a few thousand rows at a time, added up in double precision.
    """
    n, size = weights.shape
    sums = np.zeros((len(columns), size))
    tile = np.empty((_TILE, size), dtype=np.float32)
    for start in range(0, n, _TILE):
        rows = weights[start : start + _TILE]
        part = tile[: len(rows)]
        np.copyto(part, rows)
        sums += columns[:, start : start + _TILE] @ part
    return sums
