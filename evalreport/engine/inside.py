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


def inside_bins(bins: Bins, derivative: Floats, means: Floats) -> Floats:
    """Return each derivative's difference (n,) from the mean of its bin and class, ``bins.means(derivative)``."""
    inside = np.empty_like(derivative)
    for start in range(0, len(derivative), _TILE):
        tile = slice(start, start + _TILE)
        inside[tile] = derivative[tile] - means[bins.code[tile]]
    return inside


def shares(derivatives: Sequence[Floats], inside: Sequence[Floats]) -> dict[tuple[int, int], float]:
    """Return the share of the variance inside bins: of each model (j, j), and of each difference of two (i, j).

    Parameters
    ----------
    derivatives
        (n,) each, of one metric by model.
    inside
        What ``inside_bins`` gives for each.
    """
    found = {}
    own = [(_dot(part, part), _dot(whole, whole)) for part, whole in zip(inside, derivatives, strict=True)]
    for (i, a), (j, b) in combinations_with_replacement(enumerate(derivatives), 2):
        part, whole = own[i]
        if i != j:
            part = own[i][0] + own[j][0] - 2 * _dot(inside[i], inside[j])
            whole = own[i][1] + own[j][1] - 2 * _dot(a, b)
            if whole < 1e-3 * (own[i][1] + own[j][1]):
                # So like each other that little is left of the squares: subtracted first.
                part, whole = (_dot(d, d) for d in (inside[i] - inside[j], a - b))
        found[i, j] = part / whole if whole > 0 else 0.0
    return found


def _dot(a: Floats, b: Floats) -> float:
    # Not by BLAS, which adds in another order on another number of threads.
    return float(np.einsum("i,i->", a, b))


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
