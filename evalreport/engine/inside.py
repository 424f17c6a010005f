"""What a histogram leaves out: the part of the influence values that lies inside bins, measured and, if needed, added.

To first order a replicate's value is the histogram's plus the sum over examples of weight times the part of the
derivative that differs from the mean of its (bin, class). Where that part is a negligible share of the variance it
is left out; where it is not, as in the difference of two models that differ only inside bins, it is added.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations_with_replacement

import numpy as np
import numpy.typing as npt

from evalreport.engine.histogram import Bins
from evalreport.engine.portable import dot

Floats = npt.NDArray[np.float64]

NEGLIGIBLE_SHARE = 1e-5
"""Of the variance: left out, it makes the replicates 0.003 standard errors wrong, root mean square."""

FIRST_ORDER_SHARE = 1e-4
"""Up to so large a share the first order is all that matters: replicates stay within 0.02 standard errors."""

_TILE = 1 << 13


@dataclass(frozen=True, slots=True)
class Slopes:
    """The derivatives (n,) of one metric, by model, with each one's bins and its means by code; None: no bins."""

    derivatives: Sequence[Floats]
    bins: Sequence[Bins | None]
    means: Sequence[Floats | None]

    def inside(self, j: int) -> Floats:
        """Return the differences (n,) of a model's derivatives from the means of their bins and classes."""
        derivative, bins, means = self.derivatives[j], self.bins[j], self.means[j]
        if bins is None or means is None:
            return derivative
        found = np.empty_like(derivative)
        for start in range(0, len(derivative), _TILE):
            tile = slice(start, start + _TILE)
            np.subtract(derivative[tile], means[bins.code[tile]], out=found[tile])
        return found

    def square_inside(self, j: int) -> float:
        """Return the sum of the squares of ``inside(j)``: of all derivatives, less that of the means."""
        bins, means = self.bins[j], self.means[j]
        square = dot(self.derivatives[j], self.derivatives[j])
        if bins is None or means is None:
            return square
        return max(square - float((bins.examples * means**2).sum()), 0.0)


def slopes_of(derivatives: Sequence[Floats], bins: Sequence[Bins | None]) -> Slopes:
    """Take the means of derivatives by bin and class."""
    means = [None if b is None else b.means(d) for d, b in zip(derivatives, bins, strict=True)]
    return Slopes(derivatives, bins, means)


def shares(slopes: Slopes) -> dict[tuple[int, int], float]:
    """Return the share of the variance inside bins: of each model (j, j), and of each difference of two (i, j).

    Where a bound from the two models' shares is negligible, the bound stands for the share of their difference.
    """
    found = {}
    own = [(slopes.square_inside(j), dot(d, d)) for j, d in enumerate(slopes.derivatives)]
    for i, j in combinations_with_replacement(range(len(own)), 2):
        (part, whole), (other, of_other) = own[i], own[j]
        if i != j:
            a, b = slopes.derivatives[i], slopes.derivatives[j]
            part = (math.sqrt(part) + math.sqrt(other)) ** 2
            whole += of_other - 2 * dot(a, b)
            # Models may be so like each other that rounding is all that the subtraction of squares leaves.
            if whole < 1e-6 * of_other or part > NEGLIGIBLE_SHARE * whole:
                part, whole = (_square(slopes.inside(i) - slopes.inside(j)), _square(a - b))
        found[i, j] = part / whole if whole > 0 else 0.0
    return found


def _square(values: Floats) -> float:
    return dot(values, values)
