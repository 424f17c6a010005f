"""Draws of weights over examples, and the statistics under them: cells, moments, ranks, derivatives.

A metric is a function of weights (``..., n``) over examples. The modules here turn weights into the sufficient
statistics of the three families (margins of confusion tables, weighted sums of columns, weights along sorted scores)
and give the derivative with respect to one example's weight. What they keep of earlier results is kept as follows.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Generic, TypeVar

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]
T = TypeVar("T")


class LastUse(Generic[T]):
    """A cache of one result: that of the last weights.

    Metrics of one model are evaluated one after another on the same block of weights, so remembering one block
    is enough, and nothing but time depends on it. The weights are compared by identity and held, so that no
    other array can take their place.
    """

    __slots__ = ("_last",)

    def __init__(self) -> None:
        self._last: tuple[Floats, T] | None = None

    def get(self, weights: Floats, compute: Callable[[Floats], T]) -> T:
        """Return ``compute(weights)``, remembered where the weights are the last ones."""
        last = self._last
        if last is None or last[0] is not weights:
            last = (weights, compute(weights))
            self._last = last
        return last[1]

    def forget(self) -> None:
        """Free the last weights and their result."""
        self._last = None
