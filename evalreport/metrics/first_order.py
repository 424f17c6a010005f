"""Bootstrap replicates of means over pairs of examples to first order, where what that leaves out does not matter."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np

from evalreport.engine.distributions import (
    Array,
    Whole,
    column_sums,
    dot,
    ratio,
    whole_numbers,
    zero_where_undefined,
)
from evalreport.metrics.estimate import Estimate
from evalreport.metrics.metric import Pairs, RowWise
from evalreport.metrics.registry import definition
from evalreport.metrics.row_data import Key, RowData
from evalreport.predictions.arrays import Floats, Indices

MOST_LEFT_OUT = 0.05
"""Of the standard deviation: so much in what is left out changes the width of an interval by a thousandth."""


@dataclass(frozen=True, slots=True)
class FirstOrder:
    """Values plus what each class adds: the mean derivative over its examples, and that of its share of the draws.

    Attributes
    ----------
    values
        By key, the value under the data's own weights.
    against_rest
        By key, the place in ``classes`` of the one class that is set against all others; None where every class is.
    classes
        The rows of each class.
    inside
        By class, each key's derivative less its mean in the class, as whole numbers, and their unit; then ones.
    means
        By class, each key's mean derivative.
    """

    values: Mapping[Key, float]
    against_rest: Mapping[Key, int | None]
    classes: Sequence[Indices]
    inside: Sequence[Sequence[tuple[Whole, float]]]
    means: Sequence[Sequence[float]]

    @classmethod
    def of(cls, data: RowData, estimates: Mapping[Key, Estimate], keys: Sequence[Key]) -> FirstOrder:
        """Prepare the replicates of quantities (at least one) whose pairs are of the same classes."""
        pairs = _pairs(keys[0])
        assert pairs is not None
        codes = pairs.classes(data.states[keys[0]][0])
        held = np.unique(codes).tolist()
        classes = [np.flatnonzero(codes == code) for code in held]
        of_one = {key: pairs.against_rest(data.states[key][0]) for key in keys if (pairs := _pairs(key))}
        places = {key: None if code is None else held.index(code) for key, code in of_one.items()}
        slopes = [_derivative(estimates[key]) for key in keys]
        means = [[float(slope[rows].mean()) for slope in slopes] for rows in classes]
        inside = [
            [whole_numbers(slope[rows] - mean) for slope, mean in zip(slopes, own, strict=True)]
            + [(np.ones(len(rows), np.int32), 1.0)]
            for rows, own in zip(classes, means, strict=True)
        ]
        return cls({key: estimates[key].value for key in keys}, places, classes, inside, means)

    def replicates(self, tiles: Sequence[tuple[slice, Array]]) -> dict[Key, Floats]:
        """Return each quantity's values (b,) under weights of rows in tiles (rows, b); nan without a class it needs."""
        size = tiles[0][1].shape[1]
        found = {key: np.full(size, value) for key, value in self.values.items()}
        drawn = np.empty((len(self.classes), size))
        for j, (rows, inside, means) in enumerate(zip(self.classes, self.inside, self.means, strict=True)):
            ends = np.searchsorted(rows, [tile.stop for tile, _ in tiles])
            own = [
                counts[some - tile.start]
                for (tile, counts), some in zip(tiles, np.split(rows, ends[:-1]), strict=True)
            ]
            *sums, drawn[j] = column_sums([numbers for numbers, _ in inside], np.concatenate(own))
            share = zero_where_undefined(ratio(len(rows), drawn[j]))
            for values, (_, unit), mean, inner in zip(found.values(), inside, means, sums, strict=False):
                values += unit * inner * share + mean * drawn[j]
        for key, place in self.against_rest.items():
            needed = drawn if place is None else (drawn[place], drawn.sum(axis=0) - drawn[place])
            found[key][np.min(needed, axis=0) == 0] = np.nan
        return found


def held_to_first_order(
    data: RowData, estimates: Mapping[Key, Estimate], keys: Sequence[Key]
) -> dict[Key, float]:
    """Return the quantities whose replicates need no more than the first order, and what that leaves out of each.

    Returns
    -------
    dict
        By key, the standard deviation of what is left out as a share of the replicates'. Empty unless it is small for
        every such quantity, and for every difference of two models: they are functions of the same pairs.
    """
    if data.source != "histograms" or not data.one_by_one:
        return {}
    weights = data.units.base[None, :]
    paired = {key: pairs for key in keys if (pairs := _pairs(key)) and estimates[key].derivative is not None}
    left_out = {key: math.sqrt(pairs.left_out(data.states[key][0], weights)) for key, pairs in paired.items()}
    slopes = {key: _derivative(estimates[key]) for key in paired}
    shares = {key: _share(left_out[key], slopes[key]) for key in paired}
    of_differences = (
        _share(math.hypot(left_out[a], left_out[b]), slopes[a] - slopes[b])
        for a, b in combinations(paired, 2)
        if a[1] == b[1]
    )
    small = all(share <= MOST_LEFT_OUT for share in (*shares.values(), *of_differences))
    return shares if small else {}


def _pairs(key: Key) -> Pairs | None:
    computation = definition(key[1]).computation
    found = computation.many_rows if isinstance(computation, RowWise) else None
    return found if isinstance(found, Pairs) else None


def _derivative(estimate: Estimate) -> Floats:
    """Return the derivative; 0 where the standard error is: what is left of a perfect or constant model is rounding."""
    assert estimate.derivative is not None
    return np.zeros_like(estimate.derivative) if estimate.standard_error == 0 else estimate.derivative


def _share(left_out: float, slopes: Floats) -> float:
    """Return a standard deviation as a share of the first order's; 0 of what does not vary: all scores are the same."""
    first = math.sqrt(dot(slopes, slopes))
    return left_out / first if first else 0.0
