"""Numbers in bins with readable names: edges from the data at round places, or as the user gives them."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from evalreport.data.predictions import Floats

MOST_DECIMALS = 15


def quantile_edges(values: Floats, n_bins: int) -> tuple[float, ...]:
    """Return inner edges of up to ``n_bins`` bins of about equal size, rounded as far as that moves no bin's sense.

    Parameters
    ----------
    values
        (n,) finite numbers, at least one.
    n_bins
        Bins wanted, at least 1. Where many values are equal there are fewer: equal values stay in one bin.

    Returns
    -------
    tuple of float
        Ascending; a bin goes from one edge, included, to the next, not included.

    Examples
    --------
    >>> quantile_edges(np.arange(100.0), 4)
    (25.0, 50.0, 75.0)
    >>> quantile_edges(np.array([0.0, 0.0, 0.0, 1.0]), 4)
    (1.0,)
    """
    ordered = np.sort(values)
    places = np.ceil(np.arange(1, n_bins) * len(ordered) / n_bins).astype(np.int64)
    edges = np.unique(ordered[places[places < len(ordered)]])
    edges = edges[edges > ordered[0]]
    if not len(edges) or all_whole(ordered):
        return tuple(map(float, edges))
    # Two digits finer than the spread are as many as a reader wants, if they keep every bin filled.
    spread = float(ordered[-1] - ordered[0])
    if not math.isfinite(spread):
        return tuple(map(float, edges))
    for decimals in range(max(2 - math.floor(math.log10(spread)), 0), MOST_DECIMALS):
        rounded = np.unique(np.round(edges, decimals))
        codes = bin_codes(ordered, rounded)
        if len(rounded) == len(edges) and len(np.unique(codes)) == len(edges) + 1:
            return tuple(map(float, rounded))
    return tuple(map(float, edges))


def bin_codes(values: Floats, edges: Sequence[float] | Floats) -> npt.NDArray[np.int64]:
    """Return which bin each value falls into: 0 below the first edge, and so on."""
    return np.searchsorted(np.asarray(edges, dtype=np.float64), values, side="right").astype(np.int64)


def bin_names(edges: Sequence[float], *, whole: bool) -> tuple[str, ...]:
    """Name the bins in words that need no quotes on a command line.

    Parameters
    ----------
    whole
        Whether all values are whole numbers, so that the last one inside a bin can be named.

    Examples
    --------
    >>> bin_names((18.0, 40.0), whole=True)
    ('under 18', '18 to 39', '40 or over')
    >>> bin_names((0.25, 0.5), whole=False)
    ('under 0.25', '0.25 to under 0.5', '0.5 or over')
    """
    if not edges:
        return ("all",)
    names = [f"under {spelled(edges[0])}"]
    for low, high in itertools.pairwise(edges):
        if whole and float(low).is_integer() and float(high).is_integer():
            last = f"{spelled(low)} to {spelled(high - 1)}" if high - low > 1 else spelled(low)
            names.append(last)
        else:
            names.append(f"{spelled(low)} to under {spelled(high)}")
    return (*names, f"{spelled(edges[-1])} or over")


def all_whole(values: Floats) -> bool:
    """Say whether all values are whole numbers, each of them exactly one."""
    return bool((np.abs(values) < 2.0**53).all() and (values == np.floor(values)).all())


def spelled(number: float) -> str:
    """Spell a number so that it reads back as itself.

    Examples
    --------
    >>> spelled(40.0), spelled(0.1), spelled(-0.0)
    ('40', '0.1', '0')
    """
    if number == 0:
        return "0"
    return str(int(number)) if abs(number) < 2.0**53 and float(number).is_integer() else repr(float(number))
